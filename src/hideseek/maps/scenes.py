"""What a page shows of traces, a profile, a codebook, a plan, a playbook or a label: places, tracks, and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from hideseek.adversary.label import ASSUMPTION, Label
from hideseek.codebook.codebook import Codebook
from hideseek.errors import broken_rule
from hideseek.maps.projection import UNIT, Projection, metres_per_world
from hideseek.maps.releases import Releases, of_codebook, of_plan, of_playbook
from hideseek.maps.tracks import PERSONS, Tracks, tracks_of
from hideseek.metrics.metric import Metric
from hideseek.model.geodesy import distances
from hideseek.model.markov import MarkovProfile
from hideseek.model.profile import DrawnProfile
from hideseek.model.regions import Regions
from hideseek.planning.belief_game import BeliefGame
from hideseek.planning.planner import Planner
from hideseek.playbook.playbook import Measure, Playbook
from hideseek.util.arrays import FloatArray, IntArray
from hideseek.util.display import counted
from hideseek.util.estimates import Estimate
from hideseek.util.harmless import visible
from hideseek.util.time_steps import checked_step

MOST_TOWARDS = 60  # releases, or next places, that the page holds for each place
LEAST = 0.0005  # what is less likely is not shown
MOST_OF_IT, AROUND = 0.9, 0.3  # of the time or of the fixes, which the first view shows with as much around it
SMALLEST = 400.0  # metres that the view spans at least
CHOOSE = "Choose the true place, by pointing or tapping. Shades show how often each place is released from there."
RELEASED = "Released from here"
FIRST = "Releases at the first access, when nothing was released before; later ones depend on them."
SQUARED = ("RMS: the root mean square of the distance to the release.",)
Fact = tuple[str, str]
Box = tuple[int, int, int, int]
KNOWS = {
    "window": "knows the last few releases",
    "filter": "knows every release so far",
    "smoother": "knows the later ones too",
    "viterbi": "knows as much, and guesses one path",
    "predictor": "as the filter, about the next access",
    "in_between": "as the smoother, about places between accesses",
}


@dataclass(frozen=True)
class Place:
    """A place on the page, its numbers in words, and the places that it leads to with their probabilities."""

    name: str
    named: bool
    at: tuple[int, int]
    outline: tuple[int, ...]
    share: float
    facts: tuple[Fact, ...]
    towards: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True)
class Bar:
    """An adversary of a label: what it knows, its expected error with the interval, and how often it is right."""

    name: str
    knows: str
    error: float
    low: float
    high: float
    words: str
    right: str


@dataclass(frozen=True)
class Bars:
    """The errors of a label, below the ceiling and the prior risk."""

    title: str
    bars: tuple[Bar, ...]
    ceiling: float
    ceiling_words: str
    prior_risk: float
    prior_words: str


@dataclass(frozen=True)
class Scene:
    """All that a page shows; positions are in units from ``origin``, in the world of the projection."""

    kind: str
    title: str
    lead: str
    facts: tuple[Fact, ...] = ()
    measure: str = ""
    towards: str = ""
    origin: tuple[float, float] = (0.5, 0.5)
    unit: float = UNIT
    view: Box = (0, 0, 0, 0)
    whole: Box = (0, 0, 0, 0)
    places: tuple[Place, ...] = ()
    persons: tuple[str, ...] = ()
    lines: tuple[tuple[int, tuple[int, ...]], ...] = ()
    bars: Bars | None = None
    notes: tuple[str, ...] = field(default=())


def scene_of_traces(traces: pd.DataFrame) -> Scene:
    """Tracks, and nothing else."""
    latitudes, longitudes = traces["latitude"].to_numpy(), traces["longitude"].to_numpy()
    projection = Projection.around(latitudes, longitudes)
    points = projection.units(latitudes, longitudes)
    tracks = tracks_of(traces, projection)
    first, last = (f"{moment:%Y-%m-%d}" for moment in (traces["tracked_at"].min(), traces["tracked_at"].max()))
    facts = (
        ("people", f"{len(tracks.persons):,}"),
        ("days with fixes (UTC)", f"{traces['tracked_at'].dt.date.nunique():,}"),
        ("from", first),
        ("to", last),
        ("fixes", f"{tracks.fixes:,}"),
        ("total length", in_metres(tracks.metres)),
    )
    rest = (1 - MOST_OF_IT) / 2
    low, high = np.quantile(points, [rest, 1 - rest], axis=0)
    scene = Scene(
        "traces",
        f"Tracks of {counted(len(tracks.persons), 'person')}".replace("persons", "people"),
        "Each line is a way that was taken. The stronger its colour, the more often.",
        facts,
        origin=projection.origin,
        view=box_of(np.array([low, high]), projection, points),
        whole=box_of(points, projection),
    )
    return with_tracks(scene, tracks)


def scene_of_profile(profile: DrawnProfile, traces: pd.DataFrame | None) -> Scene:
    """Places by the share of time spent there; from each, where the person goes next."""
    regions = known_regions(profile.regions)
    share = profile.stationary
    facts: list[list[Fact]] = [
        [("share of time", percent(own)), ("on average", f"{in_time(own * 86_400)} per day")] for own in share
    ]
    moves = np.zeros((len(regions), 0))
    if isinstance(profile, MarkovProfile):
        moves, stay = leaving(profile)
        for own, length in zip(facts, stay, strict=True):
            own.append(("a stay lasts", f"{in_time(length)} on average"))
    names = names_of(regions)
    busiest = int(share.argmax())
    about: tuple[Fact, ...] = (
        ("places", f"{len(regions):,}"),
        ("busiest", f"{names[busiest]}, {percent(share[busiest])}"),
        ("time step", str(getattr(profile, "step", ""))),
    )
    lead = (
        "The stronger its colour, the more time is spent at a place. Choose one to see where the person goes from it."
    )
    scene = Scene("profile", "Where the person is", lead, about, "share of time", "From here the person goes to")
    return with_places(scene, regions, share, facts, moves, traces)


def scene_of_codebook(codebook: Codebook, label: Label | None, traces: pd.DataFrame | None) -> Scene:
    """Places, and what is released from each."""
    done, metric = codebook.deployed, codebook.privacy
    about = (
        ("places", f"{codebook.places:,}"),
        ("adversary's expected error", amount(done.privacy, metric)),
        ("after the worst history", amount(done.worst_privacy, metric)),
        ("quality lost, on average", amount(done.quality_loss, codebook.quality)),
        ("budget", amount(codebook.budget, codebook.quality)),
    )
    when = f"Releases {codebook.occasion(codebook.repeating)}, averaged over what was released before."
    notes = (when, *SQUARED * (codebook.quality.unit == "m²"), ASSUMPTION)
    scene = Scene("codebook", "What a codebook releases", CHOOSE, about, "share of time", RELEASED, notes=notes)
    found = of_codebook(codebook)
    scene = with_releases(scene, codebook.regions, found, (codebook.privacy, codebook.quality), traces)
    return scene if label is None else replace(scene, bars=bars_of(label))


def scene_of_plan(game: BeliefGame, planner: Planner | None, traces: pd.DataFrame | None) -> Scene:
    """Places, and what is released from each at the first access."""
    about = [
        ("places", f"{game.profile.places:,}"),
        ("budget", amount(game.budget, game.quality)),
        ("no mechanism exceeds (ceiling)", amount(game.most, game.privacy)),
    ]
    if planner is not None:
        about[1:1] = [("planner", f"{planner.outlook}, {planner.mode}")]
        about.append(("bound of the planner", amount(planner.bound, game.privacy)))
    notes = (FIRST, *SQUARED * (game.quality.unit == "m²"), ASSUMPTION)
    scene = Scene("plan", "What a plan releases", CHOOSE, tuple(about), "share of time", RELEASED, notes=notes)
    return with_releases(scene, game.profile.regions, of_plan(game, planner), (game.privacy, game.quality), traces)


def scene_of_playbook(playbook: Playbook, traces: pd.DataFrame | None) -> Scene:
    """Places, and what is released from each at the first access."""
    about = (
        ("places", f"{len(playbook.regions):,}"),
        ("tables", f"{len(playbook.anchors):,}"),
        ("budget", amount(playbook.budget, playbook.quality)),
        ("no mechanism exceeds (ceiling)", amount(playbook.most, playbook.privacy)),
    )
    notes = (FIRST, *SQUARED * (playbook.quality.unit == "m²"), ASSUMPTION)
    scene = Scene("playbook", "What a playbook releases", CHOOSE, about, "share of time", RELEASED, notes=notes)
    metrics = playbook.privacy, playbook.quality
    return with_releases(scene, playbook.regions, of_playbook(playbook), metrics, traces)


def scene_of_label(label: Label) -> Scene:
    """A card with the numbers of a label."""
    facts = tuple(
        (name, words)
        for name, words in (
            ("kept of the ceiling", percent_of(label.kept)),
            ("prior risk (no release)", with_unit(label.prior_risk, label.unit)),
            ("loss above the budget", f"at {percent_of(label.over_budget)} of the accesses"),
            ("accesses", f"{label.accesses:,}"),
            ("simulated walks", f"{label.walks:,}" if label.walks else "none: exact"),
        )
    )
    lead = "How wrong the adversaries are on average. Longer bars are better for the person."
    return Scene("label", "The label of a codebook", lead, facts, bars=bars_of(label), notes=(ASSUMPTION,))


def bars_of(label: Label) -> Bars:
    """The adversaries of a label."""
    bars = tuple(
        Bar(
            name.replace("_", " ").replace("viterbi", "Viterbi"),
            KNOWS[name],
            float(error),
            float(error.interval[0]),
            float(error.interval[1]),
            with_unit(error, label.unit),
            "" if error.hit_rate is None else f"; right {percent(error.hit_rate)}",
        )
        for name, error in label.errors.items()
    )
    ceiling, risk = (with_unit(value, label.unit) for value in (label.ceiling, label.prior_risk))
    return Bars("Expected error of each adversary", bars, label.ceiling, ceiling, label.prior_risk, risk)


def with_releases(
    scene: Scene,
    regions: Regions | None,
    found: Releases,
    metrics: tuple[Metric | Measure, Metric | Measure],
    traces: pd.DataFrame | None,
) -> Scene:
    """The scene with its places and what is released from each."""
    known = known_regions(regions)
    privacy, quality = metrics
    metres = distances(known)
    moved = (found.table * metres).sum(axis=1)
    facts: list[list[Fact]] = []
    for place, share in enumerate(found.share):
        own = [
            ("share of time", percent(share)),
            ("release is the truth", percent(found.table[place, place])),
            ("mean displacement", in_metres(moved[place])),
            ("quality lost", amount(found.loss[place], quality)),
            ("expected error of the adversary", amount(found.error[place], privacy)),
        ]
        if found.right is not None:
            own.append(("adversary guesses right", percent(found.right[place])))
        facts.append(own)
    return with_places(scene, known, found.share, facts, found.table, traces)


def with_places(
    scene: Scene,
    regions: Regions,
    share: FloatArray,
    facts: Sequence[Sequence[Fact]],
    towards: FloatArray,
    traces: pd.DataFrame | None,
) -> Scene:
    """The scene with its places, and with tracks under them."""
    projection = Projection.around(*regions.centres.T)
    names, given = names_of(regions), getattr(regions, "names", ()) or [""] * len(regions)
    centres = projection.units(*regions.centres.T)
    outlines = [projection.units(*corners.T) for corners in regions.outlines]
    places = tuple(
        Place(
            names[k],
            bool(given[k]),
            (int(centres[k, 0]), int(centres[k, 1])),
            tuple(outlines[k].ravel().tolist()) if len(outlines[k]) > 2 else (),
            round(float(share[k]), 6),
            tuple(facts[k]),
            most_likely(towards[k]),
        )
        for k in range(len(names))
    )
    busy = np.argsort(-share, kind="stable")
    busy = busy[: int(np.searchsorted(np.cumsum(share[busy]), MOST_OF_IT)) + 1]
    corners = np.vstack(outlines)
    scene = replace(
        scene,
        places=places,
        origin=projection.origin,
        view=box_of(np.vstack([outlines[k] for k in busy]), projection, corners),
        whole=box_of(corners, projection),
    )
    return scene if traces is None else with_tracks(scene, tracks_of(traces, projection))


def with_tracks(scene: Scene, tracks: Tracks) -> Scene:
    """The scene with tracks in it."""
    others = ("others",) if len(tracks.persons) > PERSONS else ()
    return replace(scene, persons=(*map(visible, tracks.persons[:PERSONS]), *others), lines=tracks.lines)


def known_regions(regions: Regions | None) -> Regions:
    """The places on the map; without them there is none."""
    if regions is None:
        hint = "Give its profile regions: a Grid, Places or Hexagons."
        raise broken_rule("thing", "map_page", "something whose places are known", "one without regions", hint)
    return regions


def names_of(regions: Regions) -> list[str]:
    """What the places are called; nothing in it commands a page."""
    names = getattr(regions, "names", ()) or [""] * len(regions)
    return [visible(name) or f"place {k}" for k, name in enumerate(names)]


def leaving(profile: MarkovProfile) -> tuple[FloatArray, FloatArray]:
    """Where the person goes on leaving each place, [from, to]; and how long a stay lasts, in seconds."""
    moves = np.zeros((profile.places, profile.places))
    np.add.at(moves, profile.states[:, -1], profile.state_distribution[:, None] * profile.transition)
    staying = np.diag(moves).copy()
    np.fill_diagonal(moves, 0.0)
    left = moves.sum(axis=1)
    some = np.where(left > 0, left, 1.0)
    stay = checked_step(profile.step, "map_page").total_seconds() * (1 + staying / some)
    return moves / some[:, None], stay


def most_likely(probability: FloatArray) -> tuple[tuple[int, float], ...]:
    """The likeliest places with their probabilities, the likeliest first.

    >>> most_likely(np.array([0.3, 0.0, 0.7]))
    ((2, 0.7), (0, 0.3))
    """
    order = np.argsort(-probability, kind="stable")[:MOST_TOWARDS]
    return tuple((int(k), round(float(probability[k]), 4)) for k in order if probability[k] >= LEAST)


def box_of(points: FloatArray | IntArray, projection: Projection, whole: FloatArray | IntArray | None = None) -> Box:
    """West, north, east and south of some points, in units; never smaller than a few streets.

    Given the ``whole`` map, with what lies around them in it.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    if whole is not None:
        around = AROUND * (high - low).max()
        low, high = np.maximum(low - around, whole.min(axis=0)), np.minimum(high + around, whole.max(axis=0))
    lacking = SMALLEST / (metres_per_world(projection.latitude) * UNIT) - (high - low)
    spare = np.maximum(lacking, 0) / 2
    west, north, east, south = np.rint(np.r_[low - spare, high + spare]).astype(np.int64).tolist()
    return west, north, east, south


def percent(share: float) -> str:
    """A share in percent.

    >>> percent(0.1234), percent(0.2), percent(0.00012), percent(0)
    ('12.3 %', '20 %', '< 0.1 %', '0 %')
    """
    if 0 < share < LEAST:
        return "< 0.1 %"
    return f"{100 * share:.1f} %".replace(".0 %", " %")


def percent_of(share: Estimate) -> str:
    """A share in percent, with half of its interval."""
    low, high = share.interval
    return percent(share) if share.exact else f"{100 * share:.1f} ± {50 * (high - low):.1f} %"


def in_metres(metres: float) -> str:
    """A length.

    >>> in_metres(812.4), in_metres(3456.0), in_metres(0.0)
    ('812 m', '3.46 km', '0 m')
    """
    return (
        f"{metres:.0f} m"
        if metres < 1000
        else f"{metres / 1000:,.3g} km"
        if metres < 1e6
        else f"{metres / 1000:,.0f} km"
    )


def in_time(seconds: float) -> str:
    """A duration.

    >>> in_time(40.0), in_time(600.0), in_time(12_600.0), in_time(200_000.0)
    ('40 s', '10 min', '3.5 h', '2.3 days')
    """
    for unit, length, digits in (("s", 1, 0), ("min", 60, 0), ("h", 3600, 1)):
        if seconds < {"s": 60, "min": 5400, "h": 172_800}[unit]:
            return f"{seconds / length:.{digits}f} {unit}"
    return f"{seconds / 86_400:.1f} days"


def amount(value: float, metric: Metric | Measure) -> str:
    """An error or a loss in words: a share under the Hamming metric, metres where the metric has them.

    >>> from hideseek.metrics import hamming
    >>> amount(0.25, hamming())
    '25 %'
    """
    return percent(value) if metric.name == "Hamming" else with_unit(value, metric.unit)


def with_unit(value: float, unit: str) -> str:
    """A number with its unit; square metres become the metres whose square they are.

    >>> with_unit(250_000.0, "m²"), with_unit(812.4, "m"), with_unit(0.25, "")
    ('500 m RMS', '812 m', '0.25')
    """
    if unit == "m²":
        return f"{in_metres(float(np.sqrt(value)))} RMS"
    return in_metres(value) if unit == "m" else f"{value:.3g} {visible(unit)}".strip()
