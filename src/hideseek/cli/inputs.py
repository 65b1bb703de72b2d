"""What the options mean: whose traces, which places, which scenario and game. Imported when a command runs."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pandas as pd

from hideseek.cli.options import GRID, STEP, Protect
from hideseek.cli.terminal import note
from hideseek.errors import broken_rule
from hideseek.experiments.user_days import BAY, CITY, PACIFIC
from hideseek.game.game import Game
from hideseek.metrics.metric import Metric
from hideseek.metrics.named import metric_of
from hideseek.model.markov import MarkovProfile
from hideseek.model.profile import regions_of
from hideseek.model.regions import Grid, Places
from hideseek.model.scenario import Scenario
from hideseek.storage.profile_file import is_profile, load_profile
from hideseek.traces.city import synthetic_city
from hideseek.traces.reading import read_traces
from hideseek.traces.table import check_traces
from hideseek.util.checks import whole_number
from hideseek.util.choices import MetricName
from hideseek.util.private_files import read_plain_file
from hideseek.util.progress import bar

LONGEST_LINE = 256  # characters for a point
LARGEST_PLACES = 2**22  # bytes of their file: about a hundred thousand
COARSER, FEW_PLACES = ("8x20", "6x15", "5x12", "4x10", "3x8"), 30


def traces_of(
    source: Path, user: str | None, command: str, form: str | None = None, one_person: bool = False
) -> tuple[pd.DataFrame, str]:
    """One user's traces, and who that is."""
    with bar("reading the traces"):
        traces = read_traces(source, format=form)
    if one_person:
        return check_traces(traces.assign(user_id=source.stem), command), source.stem
    counts = traces["user_id"].value_counts()
    if user is None:
        user = str(counts.index[0])
        if len(counts) > 1:
            by = traces.attrs["report"].told_apart_by
            note(f"note: {len(counts)} users, told apart by {by}; took {user}, who has the most fixes (see --user)")
    elif user not in counts.index:
        known = ", ".join(map(str, counts.index[:5]))
        raise broken_rule(
            "user", command, f"one of the {len(counts)} users in {source.name}", user, f"For example {known}."
        )
    return traces[traces["user_id"] == user].reset_index(drop=True), user


def profile_of(source: Path, user: str | None, grid: str | None, step: str | None, command: str) -> MarkovProfile:
    """A profile from its file, or learned from traces on the spot."""
    if is_profile(source):
        if user or grid or step:
            way_out = "A profile has its own; learn another one."
            raise broken_rule(
                "user, grid, step", command, "given with traces only", f"the profile {source.name}", way_out
            )
        return load_profile(source)
    traces, _ = traces_of(source, user, command)
    return MarkovProfile.fit(traces, grid_from(grid or GRID, None, traces, command), step=step or STEP)


def coarse_profile_of(source: Path, user: str | None, step: str | None) -> MarkovProfile:
    """A profile from traces, on a grid so coarse that comparing a dozen mechanisms takes less than a minute."""
    traces, _ = traces_of(source, user, "compare")
    for size in (GRID, *COARSER):
        profile = MarkovProfile.fit(traces, grid_from(size, None, traces, "compare"), step=step or STEP)
        if profile.places <= FEW_PLACES:
            break
    if size != GRID:
        note(f"note: took a grid of {size}, with {profile.places} places; a finer one takes minutes (see --grid)")
    return profile


def users_from(
    data: Path | None, users: int, box: str | None, seed: int, command: str
) -> tuple[str, pd.DataFrame, Grid, str]:
    """Whose traces a study takes, in words, with its grid and clock: a synthetic city's where no data is given."""
    if data is None:
        whole_number(users, "users", command)
        return "synthetic people", synthetic_city(max(40, users), days=14, seed=seed), CITY, "0h"
    traces = read_traces(data)
    grid, clock = (BAY, PACIFIC) if box is None else (grid_from(GRID, box, traces, command), "0h")
    return f"users of {data.name}", traces, grid, clock


def grid_from(size: str, box: str | None, traces: pd.DataFrame, command: str) -> Grid:
    """A grid from words such as 10x25 and 37.55,37.85,-122.55,-122.10."""
    rows, columns = size_from(size, command)
    return (
        Grid.covering(traces, rows=rows, columns=columns)
        if box is None
        else Grid(*box_from(box, command), rows=rows, columns=columns)
    )


def size_from(text: str, command: str) -> tuple[int, int]:
    """Rows and columns of a grid."""
    try:
        rows, columns = (int(part) for part in text.lower().split("x"))
    except ValueError:
        raise broken_rule("grid", command, "ROWSxCOLUMNS, such as 10x25", repr(text)) from None
    return rows, columns


def box_from(text: str, command: str) -> tuple[float, float, float, float]:
    """Edges of a grid."""
    try:
        south, north, west, east = (float(part) for part in text.split(","))
    except ValueError:
        raise broken_rule("box", command, "SOUTH,NORTH,WEST,EAST in degrees", repr(text)) from None
    return south, north, west, east


def places_from(path: Path) -> Places:
    """Places from a CSV file."""
    try:
        content = io.BytesIO(read_plain_file(path, LARGEST_PLACES))
        table = pd.read_csv(content, usecols=lambda name: name in ("name", "latitude", "longitude"))
        columns = table["latitude"].tolist(), table["longitude"].tolist()
    except (OSError, KeyError, ValueError) as error:  # what pandas raises is a ValueError
        rule = "a CSV file with the columns latitude and longitude"
        raise broken_rule("places", "learn", rule, f"{path.name} ({type(error).__name__}: {error})") from None
    return Places(*columns, names=tuple(table["name"].astype(str)) if "name" in table else ())


def metrics_of(profile: MarkovProfile, privacy: MetricName, quality: MetricName) -> tuple[Metric, Metric]:
    """The two metrics over a profile's places."""
    regions = regions_of(profile)
    return metric_of(privacy, regions), metric_of(quality, regions)


def scenario_alone(protect: Protect, command: str) -> Scenario:
    """What is protected when only one access is looked at."""
    if protect in (Protect.TRAJECTORY, Protect.BETWEEN):
        way_out = "Use design or plan, which look at several accesses."
        raise broken_rule("protect", command, "place, next or planned, for one access", str(protect), way_out)
    if protect is Protect.PLACE:
        return Scenario.sporadic()
    return Scenario.present_future("planned" if protect is Protect.PLANNED else "unknown")


def scenario_of_codebook(protect: Protect, memory: int, every: int) -> Scenario:
    """What a codebook protects, when the adversary remembers so many releases."""
    if protect is Protect.BETWEEN:
        return Scenario.in_between(every)
    if protect is Protect.PLACE:
        return Scenario.past_present(memory)
    if protect is Protect.TRAJECTORY:
        return Scenario.past_present(memory, protect="transition")
    return scenario_alone(protect, "design")


def scenario_of_plan(protect: Protect, profile: MarkovProfile, every: int) -> Scenario:
    """What a planner protects: it releases one place, and knows as many as the next one depends on."""
    known = tuple(range(1 - profile.memory, 1))
    if protect is Protect.BETWEEN:
        return Scenario.in_between(every)
    if protect is Protect.PLACE:
        return Scenario(target=(0,), known=known)
    if protect is Protect.TRAJECTORY:
        return Scenario(target=(-1, 0), known=max(known, (-1, 0), key=len))
    return Scenario(target=(0, 1), known=known) if protect is Protect.NEXT else scenario_alone(protect, "plan")


def game_of(
    profile: MarkovProfile, protect: Protect, privacy: MetricName, quality: MetricName, command: str
) -> tuple[Game, Metric, Metric]:
    """The game that the options describe, at its saturating budget, with its metrics."""
    d_p, d_q = metrics_of(profile, privacy, quality)
    return Game.from_scenario(profile, scenario_alone(protect, command), privacy=d_p, quality=d_q), d_p, d_q


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
