"""Whose traces, and which places: what the options of :class:`hideseek.cli.reading.Reading` mean. Imported when a
command runs.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pandas as pd

from hideseek.cli.reading import STEP, Reading, names_of
from hideseek.cli.terminal import note, this_command
from hideseek.errors import broken_rule
from hideseek.experiments.user_days import BAY, CITY, PACIFIC
from hideseek.metrics.sensitive_places import SensitivePlace, sensitive_place, sensitive_to
from hideseek.model.markov import MarkovProfile
from hideseek.model.own_places import Coverage, coverage, coverage_warnings
from hideseek.model.periodic import PeriodicProfile
from hideseek.model.profile import regions_of
from hideseek.model.region_choice import PAPER, RegionChoice
from hideseek.model.regions import Places, Regions
from hideseek.storage.profile_file import is_profile, load_profile
from hideseek.traces.city import synthetic_city
from hideseek.traces.reading import read_traces
from hideseek.traces.timezones import local_zone
from hideseek.util.checks import whole_number
from hideseek.util.display import counted
from hideseek.util.private_files import read_plain_file
from hideseek.util.progress import bar

LARGEST_PLACES = 2**22  # bytes of their file: about a hundred thousand
ANY = "any"  # accuracy


@dataclass(frozen=True, eq=False)
class Learned:
    """A profile from traces, who that is, and what its places cover."""

    traces: pd.DataFrame
    profile: MarkovProfile
    who: str
    covered: Coverage


@dataclass(frozen=True, eq=False)
class People:
    """Whom a study is about, in words; their traces, places, time step, and how far their clock is ahead of UTC."""

    who: str
    traces: pd.DataFrame
    regions: Regions
    step: str
    clock: str


def reading_of(reading: Reading) -> dict[str, Any]:
    """What the options say to :func:`hideseek.read_traces`."""
    options: dict[str, Any] = {
        "format": reading.format,
        "columns": None if reading.columns is None else columns_from(reading.columns),
        "one_person": reading.one_person,
    }
    if reading.accuracy is not None:
        options["accuracy"] = None if reading.accuracy == ANY else reading.accuracy
    return options


def read(source: str, reading: Reading) -> pd.DataFrame:
    """The traces that the options ask for: of everybody, or of one user."""
    if reading.one_person and reading.user is not None:
        raise broken_rule("user, one_person", this_command(), "given one at a time", "both")
    with bar("reading the traces"):
        traces = read_traces(source, **reading_of(reading))
    report = traces.attrs["report"]
    files = ", ".join(f"{counted(count, 'file')} of {name}" for name, count in report.formats.items())
    note(f"note: {report.read} fix{'es' * (report.read != 1)} in {files}")
    for words in report.notes:
        note(f"note: {words}")
    if reading.user is not None:
        traces = traces[the_user(reading.user, traces, source)].reset_index(drop=True)
    return traces


def the_user(user: str, traces: pd.DataFrame, source: str) -> pd.Series:
    """Which rows are the user's; there must be some."""
    own = traces["user_id"] == user
    if not own.any():
        names = traces["user_id"].value_counts().index
        rule = f"one of the {len(names)} users in {Path(source).name}"
        raise broken_rule("user", this_command(), rule, user, f"For example {', '.join(map(str, names[:5]))}.")
    return own


def one_person_of(source: str, reading: Reading) -> tuple[pd.DataFrame, str]:
    """One person's traces, and who that is."""
    traces = read(source, reading)
    counts = traces["user_id"].value_counts()
    user = str(counts.index[0])
    if len(counts) > 1:
        by = traces.attrs["report"].told_apart_by
        took = f"took {user}, who has the most fixes (see --user and --one-person)"
        note(f"note: {len(counts)} users, told apart by {by}; {took}")
    elif reading.user is None:
        note(f"note: one person, {user}")
    return traces[traces["user_id"] == user].reset_index(drop=True), user


def region_choice(reading: Reading) -> RegionChoice:
    """How the map is cut into places, as the options say."""
    return RegionChoice(
        grid=None if reading.grid is None else size_from(reading.grid),
        cell=reading.cell,
        box=None if reading.box is None else box_from(reading.box),
        h3=reading.h3,
        places=None if reading.places is None else places_from(reading.places),
        about=reading.places_about,
    )


@dataclass(frozen=True, eq=False)
class OnMap:
    """One person's traces, who that is, and the map that they are learned on, perhaps with places to ``keep``."""

    traces: pd.DataFrame
    who: str
    regions: Regions
    areas: Sequence[SensitivePlace]
    step: str
    keep: bool


def on_map(source: str, reading: Reading, sensitive: Sequence[str] = ()) -> OnMap:
    """One person's traces, and the map that the options ask for."""
    choice, areas = region_choice(reading), [sensitive_place(text) for text in sensitive]
    traces, who = one_person_of(source, reading)
    if choice.by_stays:
        note(f"note: {local_zone(traces, reading.timezone)[1]}")
    regions = choice.regions(traces, timezone=reading.timezone, sensitive=areas)
    keep = choice.places is not None and not isinstance(choice.places, Places)  # those of another profile
    return OnMap(traces, who, regions, areas, reading.step or STEP, keep)


def covered_by(found: OnMap, regions: Regions, timezone: str | None) -> Coverage:
    """What the places of a profile cover, which is told."""
    sensitive_to("hamming", regions, places=found.areas)  # refuses a location at which nobody was
    covered = coverage(found.traces, regions, timezone=timezone)
    note(f"note: {covered}")
    for words in coverage_warnings(covered):
        note(("warning:", "bold yellow"), f" {words}")
    return covered


def learned(source: str, reading: Reading, sensitive: Sequence[str] = ()) -> Learned:
    """A profile that is the same at all times, learned from one person's traces; what it covers is told."""
    found = on_map(source, reading, sensitive)
    profile = MarkovProfile.fit(found.traces, found.regions, step=found.step, keep_places=found.keep)
    return Learned(found.traces, profile, found.who, covered_by(found, regions_of(profile), reading.timezone))


def profile_of(source: str, reading: Reading, sensitive: Sequence[str] = ()) -> MarkovProfile:
    """A profile from its file, or learned from traces on the spot."""
    if not is_profile(Path(source)):
        return learned(source, reading, sensitive).profile
    if reading.said:
        way_out = "A profile has its own places and time step; learn another one."
        rule, got = "given with traces only", f"the profile {Path(source).name}"
        raise broken_rule(names_of(reading.said), this_command(), rule, got, way_out)
    profile = load_profile(source)
    if isinstance(profile, PeriodicProfile):
        rule, way_out = "a profile that is the same at all times", "Learn one with --model first-order."
        raise broken_rule("data", this_command(), rule, f"{Path(source).name}, which follows a clock", way_out)
    return profile


def people_of(data: str | None, reading: Reading, users: int, seed: int) -> People:
    """Whose traces a study takes: of a synthetic city where no data is given."""
    whole_number(users, "users", this_command())
    step = reading.step or STEP
    if data is None:
        if reading.said.keys() - {"step"}:
            named = names_of(reading.said.keys() - {"step"})
            raise broken_rule(named, this_command(), "given with traces only", "no DATA")
        return People("synthetic people", synthetic_city(max(40, users), days=14, seed=seed), CITY, step, "0h")
    choice = region_choice(reading)
    if choice.about is not None:
        way_out = "Many people need places that they share: see --grid, --cell and --h3."
        raise broken_rule("places_about", this_command(), "given to commands about one person", choice.about, way_out)
    traces = read(data, reading)
    if choice.by_stays:
        here = BAY.locate(traces["latitude"], traces["longitude"]) >= 0
        regions = BAY if here.mean() > 1 / 2 else PAPER.regions(traces)
    else:
        regions = choice.regions(traces)
    if regions is BAY and reading.timezone is None:
        return People(f"users of {Path(data).name}", traces, regions, step, PACIFIC)
    zone, words = local_zone(traces, reading.timezone)
    note(f"note: {words}")
    ahead = pd.Timestamp(traces["tracked_at"].median()).tz_convert(zone).utcoffset() or timedelta()
    return People(f"users of {Path(data).name}", traces, regions, step, f"{ahead.total_seconds():g}s")


def columns_from(text: str) -> dict[str, str]:
    """Which column is which, from words such as time=ts,latitude=lat.

    >>> columns_from("time=ts, latitude=lat")
    {'time': 'ts', 'latitude': 'lat'}
    """
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(name.strip() and equals and column.strip() for name, equals, column in pairs):
        rule = "written as time=ts,latitude=lat,longitude=lon,user=device_id"
        raise broken_rule("columns", this_command(), rule, repr(text))
    return {name.strip(): column.strip() for name, _, column in pairs}


def size_from(text: str) -> tuple[int, int]:
    """Rows and columns of a grid."""
    try:
        rows, columns = (int(part) for part in text.lower().split("x"))
    except ValueError:
        raise broken_rule("grid", this_command(), "ROWSxCOLUMNS, such as 10x25", repr(text)) from None
    return rows, columns


def box_from(text: str) -> tuple[float, float, float, float]:
    """Edges of a grid."""
    try:
        south, north, west, east = (float(part) for part in text.split(","))
    except ValueError:
        raise broken_rule("box", this_command(), "SOUTH,NORTH,WEST,EAST in degrees", repr(text)) from None
    return south, north, west, east


def places_from(path: Path) -> Regions:
    """Places from a CSV file, or those of a profile."""
    if is_profile(path):
        return regions_of(load_profile(path))
    try:
        content = io.BytesIO(read_plain_file(path, LARGEST_PLACES))
        table = pd.read_csv(content, usecols=lambda name: name in ("name", "latitude", "longitude"))
        columns = table["latitude"].tolist(), table["longitude"].tolist()
    except (OSError, KeyError, ValueError) as error:  # what pandas raises is a ValueError
        rule = "a CSV file with the columns latitude and longitude, or a profile"
        lacking = isinstance(error, KeyError)
        got = f"{path.name} without the column {error}" if lacking else f"{path.name}, which cannot be read ({error})"
        raise broken_rule("places", this_command(), rule, got) from None
    return Places(*columns, names=tuple(table["name"].astype(str)) if "name" in table else ())
