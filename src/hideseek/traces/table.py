"""The table that every format becomes: its columns by any of their names, their types, and the rules of a row."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from hideseek.errors import UnusableFileError, broken_rule
from hideseek.util.boundary import checked
from hideseek.util.harmless import visible

COLUMNS = ("user_id", "tracked_at", "latitude", "longitude")
FINISHED = "finished_at"  # of a stretch of time at one place

# trackintel's, scikit-mobility's and movingpandas' names and those of loggers, the preferred one first
ALIASES = {
    "user_id": ("user_id", "uid", "user", "userid", "traj_id", "trajectory_id", "device_id", "device", "person_id"),
    "tracked_at": (
        *("tracked_at", "datetime", "t", "time", "timestamp", "ts", "when", "started_at", "start_time"),
        *("recorded_at", "date_time", "utc"),
    ),
    "latitude": ("latitude", "lat", "y"),
    "longitude": ("longitude", "lng", "lon", "long", "x"),
    "geometry": ("geometry", "geom"),
    FINISHED: (FINISHED, "ended_at", "end_time"),
    "accuracy": ("accuracy", "acc", "horizontal_accuracy", "accuracy_m", "hacc"),
}
# what may stand in brackets after a name: other units, such as radians, would be read wrong
DEGREES = ("°", "º", "deg", "degree", "degrees", "decimal degrees", "dd", "wgs84", "wgs 84")
UNITS = {
    "tracked_at": ("utc", "gmt", "iso 8601", "iso8601", "unix", "s", "ms"),
    "latitude": (*DEGREES, "°n", "deg n", "degrees north"),
    "longitude": (*DEGREES, "°e", "deg e", "degrees east"),
    "accuracy": ("m", "metres", "meters"),
}
UNITS[FINISHED] = UNITS["tracked_at"]
Names = Mapping[str, str]  # by what name a file calls a column of ours
KEYS = {"time": "tracked_at", "user": "user_id", "end": FINISHED} | {column: column for column in ALIASES}
LONGEST_NAME = 40  # characters of a column's that a message repeats
CUT = "row must be of as many fields as its format has"
INACCURATE = "accuracy must be as good as was asked for"
DECIMAL_COMMAS = "decimal_commas"  # among the attributes of raw columns of which it was assumed
SWAPPED = "latitude and longitude look swapped"
OFFSET = re.compile(r"([-+])(\d\d):?(\d\d)?$")  # at the end of a time, which may be shorter than six characters
# No two parts in a row can match the same character: a line that is no point is given up in linear time
POINT = re.compile(
    r"^\s*POINT(?:\s*Z)?\s*\(\s*(?P<longitude>[^\s()]+)\s+(?P<latitude>[^\s()]+)(?:\s[^()]*)?\)\s*$", re.I
)
END = (np.datetime64("2100-01-01") - np.datetime64("1970-01-01")).astype("m8[s]").astype(float)
PERIOD = "in 1970 or later and before the year 2100"  # a time beyond it is a slip, which would be years of one place
LONGEST_STRETCH = np.timedelta64(366, "D")


@checked
def check_traces(table: pd.DataFrame, owner: str) -> pd.DataFrame:
    """Return a table made by hand as :func:`read_traces` would, or raise a ParameterError in the name of ``owner``.

    The names of trackintel, scikit-mobility and movingpandas are understood, and so are points as text or objects.

    Parameters
    ----------
    table : pandas.DataFrame
        The fixes, one per row.
    owner : str
        Who asks, for error messages.

    Returns
    -------
    pandas.DataFrame
        The columns user_id, tracked_at (UTC), latitude and longitude (degrees), sorted by user and time, and
        finished_at (UTC) where some rows are stretches of time, such as trackintel's staypoints.

    Raises
    ------
    ParameterError
        Where a column is missing, or a row breaks a rule.

    Examples
    --------
    >>> table = pd.DataFrame({"uid": [7, 7], "datetime": ["2008-06-10 08:00", "2008-06-10 07:58"],
    ...                       "lat": [37.7, 37.8], "lng": [-122.4, -122.4]})
    >>> check_traces(table, "fit")["latitude"].tolist()
    [37.8, 37.7]
    >>> check_traces(table.assign(lat=95.0), "fit")
    Traceback (most recent call last):
    hideseek.errors.ParameterError: The 'traces' parameter of fit must be a table whose latitude is in [-90, 90]
    in every row. Got another in row 0 (the first is 0) instead.
    """
    if not isinstance(table, pd.DataFrame):
        raise broken_rule("traces", owner, "a pandas DataFrame", type(table).__name__, "See read_traces.")
    found = located(table.columns)
    if "tracked_at" not in found and "tracked_at" in located([table.index.name]):
        table = table.reset_index()  # movingpandas keeps the time in the index
        found = located(table.columns)
    if lacking := missing_columns(found):
        way_out = f"Known names of {lacking[0]}: {', '.join(ALIASES[lacking[0]])}."
        rule = f"a table with the columns {', '.join(COLUMNS)}"
        raise broken_rule("traces", owner, rule, f"none for {', '.join(lacking)}", way_out)
    if table.empty:
        raise broken_rule("traces", owner, "a table with at least one row", "none")
    typed, _ = with_types(table.iloc[:, list(found.values())].set_axis(list(found), axis=1))
    for column, rule, broken in faults(typed):
        if broken.any():
            got = f"another in row {int(broken.argmax())} (the first is 0)"
            hint = f"It seems that {SWAPPED}." if 2 * swapped(typed).sum() > len(typed) else ""
            raise broken_rule("traces", owner, f"a table whose {column} is {rule} in every row", got, hint)
    typed.attrs = dict(table.attrs)
    return in_order(typed.reset_index(drop=True))


def checked_columns(columns: Names | None, owner: str) -> Names | None:
    """Which column of a table is which, by our names of them.

    >>> checked_columns({"time": "ts", "latitude": "lat"}, "read_traces")
    {'tracked_at': 'ts', 'latitude': 'lat'}
    """
    for key, name in (columns or {}).items():
        if key not in KEYS or not isinstance(name, str):
            rule = f"from {', '.join(KEYS)} to names of columns"
            raise broken_rule("columns", owner, rule, f"{key!r}: {name!r}", 'Such as {"time": "ts"}.')
    return None if columns is None else {KEYS[key]: name for key, name in columns.items()}


def located(labels: Iterable[object], columns: Names | None = None) -> dict[str, int]:
    """Return where each column stands, whatever its name; ``columns`` says it of some."""
    labels = list(labels)
    names = [str(label).strip().lower() for label in labels]
    found = {column: names.index(alias) for column in ALIASES for alias in ALIASES[column][::-1] if alias in names}
    if any(name.endswith((")", "]")) for name in names):
        units = [in_round_brackets(name) for name in names]
        for column in [column for column in UNITS if column not in found]:
            known = (f"{alias}({unit})" for alias in ALIASES[column] for unit in UNITS[column])
            if name := next((name for name in known if name in units), None):
                found[column] = units.index(name)
    if columns and "geometry" in columns:
        found = {column: at for column, at in found.items() if column not in COLUMNS[2:]}
    for column, name in (columns or {}).items():
        if name.strip().lower() not in names:
            raise UnusableFileError(f"no column {visible(repr(name))} for {column}; its columns are {listed(labels)}")
        found[column] = names.index(name.strip().lower())
    return found


def in_round_brackets(name: str) -> str:
    """A name of a column with a unit, in one spelling.

    >>> in_round_brackets("lat [°]"), in_round_brackets("lat (°)"), in_round_brackets("lat")
    ('lat(°)', 'lat(°)', 'lat')
    """
    plain, bracket, unit = name.replace("[", "(").replace("]", ")").partition("(")
    return f"{plain.strip()}({unit.rstrip(')').strip()})" if bracket else name


def listed(labels: Sequence[object], most: int = 20) -> str:
    """Names of columns for a message."""
    names = [visible(str(label).strip()[:LONGEST_NAME]) for label in labels[:most]]
    return ", ".join(names) + (f" and {len(labels) - most} more" if len(labels) > most else "")


def accepted(lacking: Sequence[str]) -> str:
    """The columns that a table lacks, each with the names that are known for it."""
    return "; ".join(f"{column} (known as {', '.join(ALIASES[column])})" for column in lacking)


def missing_columns(found: Mapping[str, int]) -> list[str]:
    """Which of the columns stand nowhere; a point stands for latitude and longitude."""
    points = COLUMNS[2:] if "geometry" in found else ()
    return [column for column in COLUMNS if column not in found and column not in points]


def with_types(rows: pd.DataFrame) -> tuple[pd.DataFrame, Times]:
    """Give the columns their types; what cannot be converted comes out missing. And what the times said."""
    two_columns = "latitude" in rows and "longitude" in rows
    points = rows if two_columns else rows["geometry"].astype(str).str.extract(POINT)
    begun = times_of(rows["tracked_at"])
    columns: dict[str, Any] = {
        "user_id": names_of(rows["user_id"]),
        "tracked_at": pd.DatetimeIndex(begun.values).tz_localize("UTC"),
        "latitude": numbers_of(points["latitude"]),
        "longitude": numbers_of(points["longitude"]),
    }
    if FINISHED in rows:
        given = ~(rows[FINISHED].isna() | rows[FINISHED].isin([""])).to_numpy()
        ended = np.where(given, times_of(rows[FINISHED]).values, begun.values)
        columns[FINISHED] = pd.DatetimeIndex(ended).tz_localize("UTC")
    return pd.DataFrame(columns, index=rows.index), begun


def names_of(users: pd.Series[Any]) -> pd.Series[Any]:
    """User ids as text; what is missing stays so."""
    return users if users.dtype == "str" else users.astype(str).mask(users.isna())


def numbers_of(values: pd.Series[Any]) -> npt.NDArray[np.float64]:
    """Numbers; what is none comes out as NaN."""
    if values.dtype.kind not in "iufO":  # pandas would make numbers of truth values, dates and durations
        return np.full(len(values), np.nan)
    plain = values.astype(object) if values.dtype.kind == "O" else values  # categories are refused otherwise
    return pd.to_numeric(plain, errors="coerce").to_numpy(dtype=float, na_value=np.nan)


@dataclass(frozen=True, eq=False)
class Times:
    """Times as UTC, how many of them had no offset, and how many had which, in minutes."""

    values: npt.NDArray[np.datetime64]
    without_offset: int = 0
    offsets: Counter[int] = field(default_factory=Counter)


def times_of(values: pd.Series[Any]) -> Times:
    """Read times as UTC: dates of any kind, ISO 8601 text with or without an offset, or unix (milli)seconds."""
    if pd.api.types.is_datetime64_any_dtype(values):
        aware = values.dt.tz is not None
        naive = values.dt.tz_convert(None) if aware else values
        return Times(naive.to_numpy().astype("M8[us]"), 0 if aware else int(values.notna().sum()))
    numeric = values.dtype.kind in "iuf"
    words = values if numeric else values.astype(str).str.strip()
    # text with a dash inside is a date, and trying it as a number would take most of the time
    seconds = numbers_of(words if numeric else words.mask(words.str.find("-", 1) > 0))
    # 3e11 seconds lie past the year 9999, which some use as a placeholder and which must not pass for milliseconds
    seconds = np.where(np.abs(seconds) > 3e11, seconds / 1000, seconds)
    known = ~np.isnan(seconds)
    times = np.full(len(seconds), "NaT", dtype="M8[us]")
    # clipped only as far as a date that breaks the rule all the same, since more would overflow
    times[known] = np.rint(np.clip(seconds[known], -1, END) * 1e6).astype("int64").astype("M8[us]")
    # pandas 2 gives a time without an offset the offset of the one before it: each kind is parsed by itself
    offset = np.zeros_like(known) if numeric else words.str[10:].str.contains("[-+Zz]").to_numpy(dtype=bool)
    for kind in (~known & offset, ~known & ~offset):
        clockless = words[kind].mask(words.isin(["now", "today"]))  # pandas would take the clock's time
        parsed = pd.to_datetime(clockless, format="ISO8601", utc=True, errors="coerce")
        times[kind] = parsed.dt.tz_localize(None).to_numpy().astype("M8[us]")
    dates = ~known & ~np.isnat(times)
    return Times(times, int((dates & ~offset).sum()), offsets_in(words[dates & offset]))


def offsets_in(words: pd.Series[Any]) -> Counter[int]:
    """How many times have which offset from UTC in minutes; a Z says nothing of where the time was taken."""
    ends = Counter[int]()
    if len(words):
        for end, count in words.str[-6:].value_counts().items():
            if found := OFFSET.search(str(end)):
                sign, hours, minutes = found.groups("0")
                ends[int(f"{sign}1") * (60 * int(hours) + int(minutes))] += int(count)
    return ends


def swapped(typed: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """The rows that are nowhere on Earth, and would be if latitude and longitude changed places."""
    latitude, longitude = (np.abs(typed[column].to_numpy()) for column in COLUMNS[2:])
    found: npt.NDArray[np.bool_] = (latitude > 90) & (latitude <= 180) & (longitude <= 90)
    return found


def faults(typed: pd.DataFrame) -> Iterator[tuple[str, str, npt.NDArray[np.bool_]]]:
    """Yield every rule of a row: the column, what it must be, and which rows are not."""
    for column, limit in (("latitude", 90), ("longitude", 180)):
        degrees = typed[column].to_numpy()
        yield column, "a finite number", ~np.isfinite(degrees)
        yield column, f"in [-{limit}, {limit}]", np.abs(degrees) > limit
    times = typed["tracked_at"].dt.tz_localize(None).to_numpy()
    yield "tracked_at", "a time (ISO 8601 or unix seconds)", np.isnat(times)
    yield "tracked_at", PERIOD, out_of_period(times)
    if FINISHED in typed:
        ends = typed[FINISHED].dt.tz_localize(None).to_numpy()
        fits = (ends >= times) & (ends - times <= LONGEST_STRETCH)
        yield FINISHED, "a time, not before tracked_at and at most 366 days after it", ~fits
        yield FINISHED, PERIOD, out_of_period(ends)
    users = typed["user_id"]
    yield "user_id", "given", users.isna().to_numpy() | (users.to_numpy(dtype=object) == "")


def out_of_period(times: npt.NDArray[np.datetime64]) -> npt.NDArray[np.bool_]:
    """Which times no phone has told."""
    seconds = times.astype("int64") / 1e6
    outside: npt.NDArray[np.bool_] = (seconds < 0) | (seconds >= END)
    return outside


@dataclass(frozen=True)
class Tally:
    """What was counted in some rows; ``+`` is for the rows after them.

    ``reasons`` counts rows by the rule they break, ``first_skipped`` says where the first of them stands and which
    rule that is, ``refused`` has a rule for every user with such a row or an inaccurate one. ``read`` are the good
    ones, between the microseconds of ``span``. Their user is ``named`` by the path, unless the rows say who it is.
    """

    read: int = 0
    inaccurate: int = 0
    without_offset: int = 0
    decimal_commas: int = 0
    swapped: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    offsets: Counter[int] = field(default_factory=Counter)
    first_skipped: str = ""
    refused: dict[str, str] = field(default_factory=dict)
    named: bool = True
    span: tuple[int, int] | None = None

    def __add__(self, other: Tally) -> Tally:
        spans = [span for span in (self.span, other.span) if span]
        return Tally(
            read=self.read + other.read,
            inaccurate=self.inaccurate + other.inaccurate,
            without_offset=self.without_offset + other.without_offset,
            decimal_commas=self.decimal_commas + other.decimal_commas,
            swapped=self.swapped + other.swapped,
            reasons=self.reasons + other.reasons,
            offsets=self.offsets + other.offsets,
            first_skipped=self.first_skipped or other.first_skipped,
            refused=other.refused | self.refused,
            named=self.named and other.named,
            span=(min(first for first, _ in spans), max(last for _, last in spans)) if spans else None,
        )

    @property
    def skipped(self) -> int:
        """How many rows break a rule."""
        return self.reasons.total()

    @property
    def looks_swapped(self) -> bool:
        """Whether most rows would be on Earth only if latitude and longitude changed places."""
        return 2 * self.swapped > self.read + self.skipped


def sift_blocks(
    blocks: Iterable[pd.DataFrame], label: str, user: str, *, accuracy: float | None = None, one_person: bool = False
) -> Iterator[tuple[pd.DataFrame, Tally]]:
    """The good rows of every block with their types, and what was counted.

    Rows that do not say whose they are, are this user's, and of ``one_person`` all are.
    """
    for found in blocks:
        named = one_person or "user_id" not in found or found.empty
        rows = found.assign(user_id=user) if one_person or "user_id" not in found else found
        typed, times, broken = sift(rows)
        bad = np.flatnonzero(broken != "")
        out_of_range = int(swapped(typed).sum())
        if len(bad):
            typed = typed[(broken == "")[broken != CUT]]
        good, refused = len(typed), dict[str, str]()
        if accuracy is not None and "accuracy" in rows:
            metres = numbers_of(rows["accuracy"] if good == len(rows) else rows["accuracy"][broken == ""])
            rough = (metres > accuracy) | (metres < 0)  # a phone says -1 where it does not know its place
            refused = dict.fromkeys(typed["user_id"][rough].unique(), INACCURATE)
            typed = typed[~rough]
        new = bad[~rows["user_id"].iloc[bad].duplicated().to_numpy()]
        whose = names_of(rows["user_id"].iloc[new]).fillna("")
        moments = typed["tracked_at"].dt.tz_localize(None).to_numpy().astype("int64")
        tally = Tally(
            read=len(typed),
            inaccurate=good - len(typed),
            without_offset=times.without_offset,
            decimal_commas=len(typed) if DECIMAL_COMMAS in found.attrs else 0,
            swapped=out_of_range,
            reasons=Counter(broken[bad]),
            offsets=times.offsets,
            first_skipped=f"{label}, {rows.index.name} {rows.index[bad[0]]}: {broken[bad[0]]}" if len(bad) else "",
            refused=refused | dict(zip(whose, broken[new], strict=True)),
            named=named,
            span=(int(moments.min()), int(moments.max())) if len(moments) else None,
        )
        yield typed, tally


def sift(rows: pd.DataFrame) -> tuple[pd.DataFrame, Times, npt.NDArray[np.object_]]:
    """The whole rows with their types, what their times said, and the first rule that each row breaks, "" for none."""
    reasons = np.full(len(rows), "", dtype=object)
    cut = rows.drop(columns="user_id").isna().all(axis=1).to_numpy()
    reasons[cut] = CUT
    typed, times = with_types(rows[~cut] if cut.any() else rows)
    found = reasons[~cut]
    for column, rule, broken in faults(typed):
        if broken.any():
            found[broken & (found == "")] = f"{column} must be {rule}"
    reasons[~cut] = found
    return typed, times, reasons


def joined(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Rows one after the other; where some are stretches of time, the others end when they begin."""
    table = parts[0].reset_index(drop=True) if len(parts) == 1 else pd.concat(parts, ignore_index=True)
    return table.assign(finished_at=table[FINISHED].fillna(table["tracked_at"])) if FINISHED in table else table


def in_order(table: pd.DataFrame) -> pd.DataFrame:
    """Sort by user and time and keep the first row of each user and instant, or the longest where it is a stretch."""
    if FINISHED in table and (table[FINISHED] == table["tracked_at"]).all():
        table = table.drop(columns=FINISHED)
    user = pd.factorize(table["user_id"].to_numpy(dtype=object), sort=True)[0]
    time = table["tracked_at"].dt.tz_localize(None).to_numpy().astype("int64")
    next_user, later = np.diff(user), np.diff(time) > 0
    if ((next_user > 0) | ((next_user == 0) & later)).all():
        return table
    longest = (-table[FINISHED].dt.tz_localize(None).to_numpy().astype("int64"),) if FINISHED in table else ()
    order = np.lexsort((*longest, time, user))  # stable, so that the first in the file comes first
    again = (np.diff(user[order]) == 0) & (np.diff(time[order]) == 0)
    return table.take(order[~np.r_[False, again]]).reset_index(drop=True)  # one copy of a table that may be large
