"""The table that every format becomes: its columns by any of their names, their types, and the rules of a row."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from hideseek.errors import broken_rule
from hideseek.util.boundary import checked

COLUMNS = ("user_id", "tracked_at", "latitude", "longitude")

# trackintel's, scikit-mobility's and movingpandas' names, the preferred one first
ALIASES = {
    "user_id": ("user_id", "uid", "user", "traj_id", "trajectory_id"),
    "tracked_at": ("tracked_at", "datetime", "t", "time", "timestamp"),
    "latitude": ("latitude", "lat", "y"),
    "longitude": ("longitude", "lng", "lon", "x"),
    "geometry": ("geometry", "geom"),
}
# No two parts in a row can match the same character: a line that is no point is given up in linear time
POINT = re.compile(
    r"^\s*POINT(?:\s*Z)?\s*\(\s*(?P<longitude>[^\s()]+)\s+(?P<latitude>[^\s()]+)(?:\s[^()]*)?\)\s*$", re.I
)
END = (np.datetime64("9000-01-01") - np.datetime64("1970-01-01")).astype("m8[s]").astype(float)


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
        The columns user_id, tracked_at (UTC), latitude and longitude (degrees), sorted by user and time.

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
        way_out = f"Known names of {lacking[0]}: {ALIASES[lacking[0]]}."
        rule = f"a table with the columns {', '.join(COLUMNS)}"
        raise broken_rule("traces", owner, rule, f"none for {', '.join(lacking)}", way_out)
    if table.empty:
        raise broken_rule("traces", owner, "a table with at least one row", "none")
    typed = with_types(table.iloc[:, list(found.values())].set_axis(list(found), axis=1))
    for column, rule, broken in faults(typed):
        if broken.any():
            got = f"another in row {int(broken.argmax())} (the first is 0)"
            raise broken_rule("traces", owner, f"a table whose {column} is {rule} in every row", got)
    typed.attrs = dict(table.attrs)
    return in_order(typed.reset_index(drop=True))


def located(labels: Iterable[object]) -> dict[str, int]:
    """Return where each column stands, whatever its name."""
    names = [str(label).strip().lower() for label in labels]
    return {column: names.index(alias) for column in ALIASES for alias in ALIASES[column][::-1] if alias in names}


def missing_columns(found: Mapping[str, int]) -> list[str]:
    """Which of the columns stand nowhere; a point stands for latitude and longitude."""
    points = COLUMNS[2:] if "geometry" in found else ()
    return [column for column in COLUMNS if column not in found and column not in points]


def with_types(rows: pd.DataFrame) -> pd.DataFrame:
    """Give the four columns their types; what cannot be converted comes out missing."""
    two_columns = "latitude" in rows and "longitude" in rows
    points = rows if two_columns else rows["geometry"].astype(str).str.extract(POINT)
    columns: dict[str, Any] = {
        "user_id": names_of(rows["user_id"]),
        "tracked_at": pd.DatetimeIndex(times_of(rows["tracked_at"])).tz_localize("UTC"),
        "latitude": numbers_of(points["latitude"]),
        "longitude": numbers_of(points["longitude"]),
    }
    return pd.DataFrame(columns, index=rows.index)


def names_of(users: pd.Series[Any]) -> pd.Series[Any]:
    """User ids as text; what is missing stays so."""
    return users if users.dtype == "str" else users.astype(str).mask(users.isna())


def numbers_of(values: pd.Series[Any]) -> npt.NDArray[np.float64]:
    """Numbers; what is none comes out as NaN."""
    if values.dtype.kind not in "iufO":  # pandas would make numbers of truth values, dates and durations
        return np.full(len(values), np.nan)
    plain = values.astype(object) if values.dtype.kind == "O" else values  # categories are refused otherwise
    return pd.to_numeric(plain, errors="coerce").to_numpy(dtype=float, na_value=np.nan)


def times_of(values: pd.Series[Any]) -> npt.NDArray[np.datetime64]:
    """Read times as UTC: dates of any kind, ISO 8601 text with or without an offset, or unix (milli)seconds."""
    if pd.api.types.is_datetime64_any_dtype(values):
        naive = values if values.dt.tz is None else values.dt.tz_convert(None)
        return naive.to_numpy().astype("M8[us]")
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
    return times


def faults(typed: pd.DataFrame) -> Iterator[tuple[str, str, npt.NDArray[np.bool_]]]:
    """Yield every rule of a row: the column, what it must be, and which rows are not."""
    for column, limit in (("latitude", 90), ("longitude", 180)):
        degrees = typed[column].to_numpy()
        yield column, "a finite number", ~np.isfinite(degrees)
        yield column, f"in [-{limit}, {limit}]", np.abs(degrees) > limit
    times = typed["tracked_at"].dt.tz_localize(None).to_numpy()
    seconds = times.astype("int64") / 1e6
    yield "tracked_at", "a time (ISO 8601 or unix seconds)", np.isnat(times)
    yield "tracked_at", "in 1970 or later and before the year 9000", (seconds < 0) | (seconds >= END)
    users = typed["user_id"]
    yield "user_id", "given", users.isna().to_numpy() | (users.to_numpy(dtype=object) == "")


def sift_blocks(
    blocks: Iterable[pd.DataFrame], label: str, user: str
) -> tuple[pd.DataFrame, Counter[str], str, dict[str, str], bool]:
    """The good rows with their types, the number of the others by reason, where the first of these is, and by user.

    At last, whether the rows are this user's, since they do not say whose they are.
    """
    parts: list[pd.DataFrame] = []
    reasons, first, refused = Counter[str](), "", dict[str, str]()
    named = True
    for found in blocks:
        named = named and ("user_id" not in found or found.empty)
        rows = found if "user_id" in found else found.assign(user_id=user)
        typed, broken = sift(rows)
        if len(typed):
            parts.append(typed)
        bad = np.flatnonzero(broken != "")
        if len(bad):
            reasons.update(broken[bad])
            first = first or f"{label}, {rows.index.name} {rows.index[bad[0]]}: {broken[bad[0]]}"
            new = bad[~rows["user_id"].iloc[bad].duplicated().to_numpy()]
            for whose, rule in zip(names_of(rows["user_id"].iloc[new]).fillna(""), broken[new], strict=True):
                refused.setdefault(whose, rule)
    return pd.concat(parts) if parts else pd.DataFrame(), reasons, first, refused, named


def sift(rows: pd.DataFrame) -> tuple[pd.DataFrame, npt.NDArray[np.object_]]:
    """The good rows with their types, and the first rule that each row breaks, "" where none."""
    reasons = np.full(len(rows), "", dtype=object)
    cut = rows.drop(columns="user_id").isna().all(axis=1).to_numpy()
    reasons[cut] = "row must be of as many fields as its format has"
    typed = with_types(rows[~cut] if cut.any() else rows)
    found = reasons[~cut]
    for column, rule, broken in faults(typed):
        if broken.any():
            found[broken & (found == "")] = f"{column} must be {rule}"
    reasons[~cut] = found
    good = found == ""
    return typed if good.all() else typed[good], reasons


def in_order(table: pd.DataFrame) -> pd.DataFrame:
    """Sort by user and time and keep the first row of each user and instant."""
    user = pd.factorize(table["user_id"].to_numpy(dtype=object), sort=True)[0]
    time = table["tracked_at"].dt.tz_localize(None).to_numpy().astype("int64")
    next_user, later = np.diff(user), np.diff(time) > 0
    if ((next_user > 0) | ((next_user == 0) & later)).all():
        return table
    order = np.lexsort((time, user))  # stable, so that the first in the file comes first
    return table.take(order).drop_duplicates(["user_id", "tracked_at"], ignore_index=True)
