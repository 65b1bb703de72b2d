"""What the words of the command line mean: whose traces, which places, which game, what budget."""

from __future__ import annotations

import io
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from hideseek.cli.terminal import note, progress_bar
from hideseek.errors import broken_rule
from hideseek.game.game import Game
from hideseek.metrics import Metric, MetricName, metric_of
from hideseek.model.markov import MarkovProfile
from hideseek.model.profile import regions_of
from hideseek.model.regions import Grid, Places
from hideseek.model.scenario import Scenario
from hideseek.storage.profile_file import is_profile, load_profile
from hideseek.traces.reading import read_traces
from hideseek.traces.table import check_traces
from hideseek.util.private_files import read_plain_file


class Protect(StrEnum):
    """What to protect: this place; this and the next; the same when the route is planned."""

    SPORADIC = "sporadic"
    TRANSITION = "transition"
    PLANNED = "planned"


class Through(StrEnum):
    """What to protect through time: this place; the whole way here; this and the next; planned; between accesses."""

    LOCATION = "location"
    WAY = "way"
    NEXT = "next"
    PLANNED = "planned"
    BETWEEN = "between"


SCENARIOS = {
    Protect.SPORADIC: Scenario.sporadic(),
    Protect.TRANSITION: Scenario.present_future("unknown"),
    Protect.PLANNED: Scenario.present_future("planned"),
}

LONGEST_LINE = 256  # characters for a point
LARGEST_PLACES = 2**22  # bytes of their file: about a hundred thousand
GRID, STEP = "10x25", "5min"
COARSER, FEW_PLACES = ("8x20", "6x15", "5x12", "4x10", "3x8"), 30
BudgetThroughTime = Annotated[
    str, typer.Option(help="Expected loss allowed at an access; with %, of what it takes to tell nothing.")
]
Every = Annotated[int, typer.Option(help="Steps from one access to the next, for between.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, for machines.")]
Source = Annotated[Path, typer.Argument(help="Traces (a file, a folder, an archive), or a profile made by learn.")]
User = Annotated[str | None, typer.Option(help="Whose traces; by default the user with the most fixes.")]
GridSize = Annotated[str | None, typer.Option("--grid", help="ROWSxCOLUMNS around the traces; 10x25 if not given.")]
Step = Annotated[str | None, typer.Option(help="Length of a time step; 5min if not given.")]
ProtectOption = Annotated[Protect, typer.Option("--protect", help=(Protect.__doc__ or "").split(": ")[1])]
ThroughOption = Annotated[Through, typer.Option("--protect", help=(Through.__doc__ or "").split(": ")[1])]
PrivacyOption = Annotated[MetricName, typer.Option("--privacy", help="What the adversary's error is measured in.")]
QualityOption = Annotated[MetricName, typer.Option("--quality", help="What the loss of quality is measured in.")]


def traces_of(
    source: Path, user: str | None, form: str | None = None, one_person: bool = False
) -> tuple[pd.DataFrame, str]:
    """One user's traces, and who that is."""
    with progress_bar("reading the traces"):
        traces = read_traces(source, format=form)
    if one_person:
        return check_traces(traces.assign(user_id=source.stem), "learn"), source.stem
    counts = traces["user_id"].value_counts()
    if user is None:
        user = str(counts.index[0])
        if len(counts) > 1:
            way = traces.attrs["report"].told_apart_by
            note(f"note: {len(counts)} users, told apart by {way}; took {user}, who has the most fixes (see --user)")
    elif user not in counts.index:
        known = ", ".join(map(str, counts.index[:5]))
        raise broken_rule(
            "user", "the command", f"one of the {len(counts)} users in {source.name}", user, f"For example {known}."
        )
    return traces[traces["user_id"] == user].reset_index(drop=True), user


def profile_of(source: Path, user: str | None, grid: str | None, step: str | None) -> MarkovProfile:
    """A profile from its file, or learned from traces on the spot."""
    if is_profile(source):
        if user or grid or step:
            way_out = "A profile has its own; learn another one."
            raise broken_rule(
                "user, grid, step", "the command", "given with traces only", f"with {source.name}", way_out
            )
        return load_profile(source)
    traces, _ = traces_of(source, user)
    return MarkovProfile.fit(traces, grid_from(grid or GRID, None, traces), step=step or STEP)


def coarse_profile_of(source: Path, user: str | None, step: str | None) -> MarkovProfile:
    """A profile from traces, on a grid so coarse that comparing a dozen mechanisms takes less than a minute."""
    traces, _ = traces_of(source, user)
    for size in (GRID, *COARSER):
        profile = MarkovProfile.fit(traces, grid_from(size, None, traces), step=step or STEP)
        if profile.places <= FEW_PLACES:
            break
    if size != GRID:
        note(f"note: took a grid of {size}, with {profile.places} places; a finer one takes minutes (see --grid)")
    return profile


def grid_from(size: str, box: str | None, traces: pd.DataFrame) -> Grid:
    """A grid from words such as 10x25 and 37.55,37.85,-122.55,-122.10."""
    rows, columns = size_from(size)
    return Grid.covering(traces, rows=rows, columns=columns) if box is None else Grid(*box_from(box), rows, columns)


def size_from(text: str) -> tuple[int, int]:
    """Rows and columns of a grid."""
    try:
        rows, columns = (int(part) for part in text.lower().split("x"))
    except ValueError:
        raise broken_rule("grid", "the command", "ROWSxCOLUMNS, such as 10x25", repr(text)) from None
    return rows, columns


def box_from(text: str) -> tuple[float, float, float, float]:
    """Edges of a grid."""
    try:
        south, north, west, east = (float(part) for part in text.split(","))
    except ValueError:
        raise broken_rule("box", "the command", "SOUTH,NORTH,WEST,EAST in degrees", repr(text)) from None
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


def game_of(
    profile: MarkovProfile, protect: Protect, privacy: MetricName, quality: MetricName
) -> tuple[Game, Metric, Metric]:
    """The game that the options describe, at its saturating budget, with its metrics."""
    d_p, d_q = (metric_of(name, regions_of(profile)) for name in (privacy, quality))
    return Game.from_scenario(profile, SCENARIOS[protect], privacy=d_p, quality=d_q), d_p, d_q


def past_of(profile: MarkovProfile) -> tuple[int, ...]:
    """The offsets of the last places, as many as the next one depends on."""
    return tuple(range(1 - profile.memory, 1))


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
