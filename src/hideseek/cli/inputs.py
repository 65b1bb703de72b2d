"""What the options mean: whose traces, which places, which scenario and game. Imported when a command runs."""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pandas as pd

from hideseek.cli.reading import STEP, Reading, names_of
from hideseek.cli.terminal import note, this_command
from hideseek.errors import broken_rule
from hideseek.experiments.user_days import BAY, CITY, PACIFIC
from hideseek.game.game import Game
from hideseek.metrics.metric import Metric
from hideseek.metrics.named import metric_of
from hideseek.model.markov import MarkovProfile
from hideseek.model.profile import regions_of
from hideseek.model.region_choice import COLUMNS, ROWS, RegionChoice
from hideseek.model.regions import Grid, Places, Regions
from hideseek.model.scenario import Scenario
from hideseek.storage.profile_file import is_profile, load_profile
from hideseek.traces.city import synthetic_city
from hideseek.traces.reading import read_traces
from hideseek.traces.table import check_traces
from hideseek.util.checks import whole_number
from hideseek.util.choices import MetricName, Protect
from hideseek.util.private_files import read_plain_file
from hideseek.util.progress import bar

LONGEST_LINE = 256  # characters for a point
LARGEST_PLACES = 2**22  # bytes of their file: about a hundred thousand
COARSER, FEW_PLACES = ((8, 20), (6, 15), (5, 12), (4, 10), (3, 8)), 30


@dataclass(frozen=True, eq=False)
class People:
    """Whom a study is about, in words; their traces, places, time step, and how far their clock is ahead of UTC."""

    who: str
    traces: pd.DataFrame
    regions: Regions
    step: str
    clock: str


def read(source: str, reading: Reading) -> pd.DataFrame:
    """The traces that the options ask for: of everybody, or of one user."""
    with bar("reading the traces"):
        traces = read_traces(source, format=reading.format)
    report = traces.attrs["report"]
    if reading.one_person:
        if reading.user is not None:
            raise broken_rule("user, one_person", this_command(), "given one at a time", "both")
        traces = check_traces(traces.assign(user_id=Path(source).stem), this_command())
        traces.attrs["report"] = report
    elif reading.user is not None:
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
        note(f"note: {len(counts)} users, told apart by {by}; took {user}, who has the most fixes (see --user)")
    return traces[traces["user_id"] == user].reset_index(drop=True), user


def region_choice(reading: Reading) -> RegionChoice:
    """How the map is cut into places, as the options say."""
    return RegionChoice(
        grid=None if reading.grid is None else size_from(reading.grid),
        cell=reading.cell,
        box=None if reading.box is None else box_from(reading.box),
        h3=reading.h3,
        places=None if reading.places is None else places_from(reading.places),
    )


def learned(source: str, reading: Reading, order: int = 1, smoothing: float = 0.0) -> tuple[MarkovProfile, str]:
    """A profile learned from one person's traces, and who that is."""
    choice = region_choice(reading)
    traces, who = one_person_of(source, reading)
    step = reading.step or STEP
    return MarkovProfile.fit(traces, choice.regions(traces), step=step, order=order, smoothing=smoothing), who


def profile_of(source: str, reading: Reading) -> MarkovProfile:
    """A profile from its file, or learned from traces on the spot."""
    if not is_profile(Path(source)):
        return learned(source, reading)[0]
    if reading.said:
        way_out = "A profile has its own places and time step; learn another one."
        rule, got = "given with traces only", f"the profile {Path(source).name}"
        raise broken_rule(names_of(reading.said), this_command(), rule, got, way_out)
    return load_profile(source)


def few_places_of(source: str, reading: Reading) -> MarkovProfile:
    """A profile; one of few places where traces are given and no map, so that a dozen mechanisms take a minute."""
    if is_profile(Path(source)) or region_choice(reading) != RegionChoice():
        return profile_of(source, reading)
    traces, _ = one_person_of(source, reading)
    for rows, columns in ((ROWS, COLUMNS), *COARSER):
        grid = Grid.covering(traces, rows=rows, columns=columns)
        profile = MarkovProfile.fit(traces, grid, step=reading.step or STEP)
        if profile.places <= FEW_PLACES:
            break
    if rows < ROWS:
        size = f"{rows}x{columns}, with {profile.places} places"
        note(f"note: took a grid of {size}; a finer one takes minutes (see --grid)")
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
    choice, zone = region_choice(reading), None if reading.timezone is None else zone_from(reading.timezone)
    traces = read(data, reading)
    if choice != RegionChoice():
        regions = choice.regions(traces)
    else:
        here = BAY.locate(traces["latitude"], traces["longitude"]) >= 0
        regions = BAY if here.mean() > 1 / 2 else choice.regions(traces)
    clock = PACIFIC if regions is BAY else "0h"
    if zone is not None:
        middle = pd.Timestamp(traces["tracked_at"].median())
        ahead = middle.tz_convert(zone).utcoffset()
        clock = f"{(ahead or timedelta()).total_seconds():g}s"
    return People(f"users of {Path(data).name}", traces, regions, step, clock)


def zone_from(name: str) -> ZoneInfo:
    """A time zone by its name."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise broken_rule("timezone", this_command(), "a name such as Europe/Zurich", repr(name)) from None


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


def places_from(path: Path) -> Places:
    """Places from a CSV file."""
    try:
        content = io.BytesIO(read_plain_file(path, LARGEST_PLACES))
        table = pd.read_csv(content, usecols=lambda name: name in ("name", "latitude", "longitude"))
        columns = table["latitude"].tolist(), table["longitude"].tolist()
    except (OSError, KeyError, ValueError) as error:  # what pandas raises is a ValueError
        rule = "a CSV file with the columns latitude and longitude"
        raise broken_rule("places", this_command(), rule, f"{path.name} ({type(error).__name__}: {error})") from None
    return Places(*columns, names=tuple(table["name"].astype(str)) if "name" in table else ())


def metrics_of(profile: MarkovProfile, privacy: MetricName, quality: MetricName) -> tuple[Metric, Metric]:
    """The two metrics over a profile's places."""
    regions = regions_of(profile)
    return metric_of(privacy, regions), metric_of(quality, regions)


def scenario_alone(protect: Protect, planned: bool) -> Scenario:
    """What is protected when only one access is looked at."""
    if protect in (Protect.WAY, Protect.BETWEEN):
        way_out = "Use design or plan, which look at several accesses."
        raise broken_rule("protect", this_command(), "place or next, for one access", str(protect), way_out)
    if protect is Protect.NEXT:
        return Scenario.present_future(planned=planned)
    refuse_planned(protect, planned)
    return Scenario.sporadic()


def refuse_planned(protect: Protect, planned: bool) -> None:
    """Refuse a planned route where the next place does not matter."""
    if planned and protect is not Protect.NEXT:
        raise broken_rule("planned", this_command(), "given with --protect next", f"--protect {protect}")


def scenario_of_codebook(protect: Protect, planned: bool, memory: int, every: int) -> Scenario:
    """What a codebook protects, when the adversary remembers so many releases."""
    refuse_planned(protect, planned)
    if protect is Protect.BETWEEN:
        return Scenario.in_between(every)
    if protect is Protect.NEXT:
        return Scenario.present_future(planned=planned)
    return Scenario.past_present(memory, protect=protect)


def scenario_of_plan(protect: Protect, profile: MarkovProfile, every: int) -> Scenario:
    """What a planner protects: it releases one place, and knows as many as the next one depends on."""
    known = tuple(range(1 - profile.memory, 1))
    if protect is Protect.BETWEEN:
        return Scenario.in_between(every)
    if protect is Protect.WAY:
        return Scenario(target=(-1, 0), known=max(known, (-1, 0), key=len))
    return Scenario(target=(0, 1) if protect is Protect.NEXT else (0,), known=known)


def game_of(
    profile: MarkovProfile, scenario: Scenario, privacy: MetricName, quality: MetricName
) -> tuple[Game, Metric, Metric]:
    """The game that the options describe, at its saturating budget, with its metrics."""
    d_p, d_q = metrics_of(profile, privacy, quality)
    return Game.from_scenario(profile, scenario, privacy=d_p, quality=d_q), d_p, d_q


def point_line() -> str:
    """A line from the standard input; empty where there is none that can be read."""
    try:
        return sys.stdin.readline(LONGEST_LINE) if sys.stdin else ""
    except UnicodeDecodeError:
        return ""


def point_from(text: str, parameter: str) -> tuple[float, float]:
    """A point from LATITUDE,LONGITUDE; a wrong one is not repeated in the error."""
    try:
        latitude, longitude = (float(part) for part in text.split(","))
    except ValueError:
        raise broken_rule(parameter, "expose", "LATITUDE,LONGITUDE in degrees", "something else") from None
    return latitude, longitude
