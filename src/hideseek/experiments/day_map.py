"""A day on a map with a slider, as a part of a page: the truth, what an app was told, what the adversary concludes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from importlib.resources import files

import numpy as np

from hideseek.experiments.exposed_day import ExposedDay
from hideseek.experiments.report import escape
from hideseek.maps.page import harmless_json
from hideseek.maps.projection import Projection
from hideseek.model.regions import Regions
from hideseek.plots.style import COLOURS
from hideseek.util.arrays import FloatArray, IntArray
from hideseek.util.harmless import visible

WIDE, HIGH = 1000.0, 620.0  # of the map, in its own units
AROUND = 0.12  # of the larger side, around what the day is about
ACROSS = 10  # places that are seen side by side from near
NEAR = 0.6  # of the map: where less is enough to see them, it is looked at from near
OTHERS = "#c8d0d8"
THOUSANDTHS = 1000  # a belief is told in them
ROWS = {"true": "You were at", "exposed": "The app was told", "guess": "The adversary says"}
STRIP = 26  # height of a row of the strip


def day_map(day: ExposedDay, regions: Regions, names: Mapping[int, str], sensitive: Collection[int] = ()) -> str:
    """The map; ``names`` are the places that are named on it, and it begins at a ``sensitive`` one."""
    corners, at = on_page(regions, np.unique(np.r_[day.true, day.exposed, day.guess]))
    every = place_names(regions, names)
    data = {
        "minutes": day.minutes.tolist(),
        "true": day.true.tolist(),
        "exposed": day.exposed.tolist(),
        "guess": day.guess.tolist(),
        "belief": [in_thousandths(belief) for belief in day.belief],
        "at": at.round(1).tolist(),
        "names": [visible(name) for name in every],
        "width": WIDE / len(day.true),
        "near": near_width(corners, at),
    }
    parts = {
        "box": f"0 0 {WIDE:g} {HIGH:g}",
        "places": "\n".join([*shapes(corners, at), *(name_at(at[place], every[place]) for place in names)]),
        "first": str(shown_first(day, sensitive)),
        "last": str(len(day.true) - 1),
        "strip": strip_of(day, every, names),
        "data": harmless_json(data),
    }
    page = files("hideseek.experiments").joinpath("day_map.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], page)


def shown_first(day: ExposedDay, sensitive: Collection[int]) -> int:
    """The access to show first: amid a visit to a sensitive place, or else when the adversary is least certain."""
    visits = np.flatnonzero(np.isin(day.true, list(sensitive)))
    return int(visits[len(visits) // 2] if len(visits) else day.belief.max(axis=1).argmin())


def on_page(regions: Regions, about: IntArray) -> tuple[list[FloatArray], FloatArray]:
    """The corners of every place and its centre on the map, which shows these places and what lies around them."""
    projection = Projection.around(*regions.centres.T)
    corners = [projection.units(*outline.T).astype(np.float64) for outline in regions.outlines]
    centres = projection.units(*regions.centres.T).astype(np.float64)
    shown = centres[about]
    low, high = shown.min(axis=0), shown.max(axis=0)
    side = np.maximum(high - low, 1.0) + 2 * AROUND * max((high - low).max(), 1.0)
    scale = min(WIDE / side[0], HIGH / side[1])
    shift = np.array([WIDE, HIGH]) / 2 - scale * (low + high) / 2
    return [scale * points + shift for points in corners], scale * centres + shift


def near_width(corners: list[FloatArray], at: FloatArray) -> float:
    """How much of the map to look at first, so that places are seen; 0 for all, where they are large enough.

    >>> cells = [np.array([[x, y], [x + w, y], [x + w, y + w], [x, y + w]]) for x, y, w in ((0, 0, 20), (500, 300, 20))]
    >>> near_width(cells, np.array([[10.0, 10.0], [510.0, 310.0]]))
    200.0
    >>> near_width([5 * cell for cell in cells], np.array([[50.0, 50.0], [2550.0, 1550.0]]))
    0.0
    """
    sides = [float(np.sqrt(np.ptp(points, axis=0).prod())) for points in corners if len(points) > 2]
    if not sides:  # points: how far the next one is
        apart = np.linalg.norm(at[:, None] - at, axis=2) + np.diag(np.full(len(at), np.inf))
        sides = apart.min(axis=1).tolist()
    near = ACROSS * float(np.median(sides))
    return round(near, 1) if near < NEAR * WIDE else 0.0


def shapes(corners: list[FloatArray], at: FloatArray) -> list[str]:
    """Every place, the largest first, as small ones lie within them; a point becomes a disc."""
    order = np.argsort([-np.ptp(points, axis=0).prod().round(6) for points in corners], kind="stable")
    found = []
    for place in order.tolist():
        if len(corners[place]) > 2:
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners[place])
            drawn = f'<polygon class="{{}}" data-place="{place}" points="{path}"/>'
        else:
            x, y = at[place]
            drawn = f'<circle class="{{}}" data-place="{place}" cx="{x:.1f}" cy="{y:.1f}" r="14"/>'
        found += [drawn.format("ground"), drawn.format("place")]  # small places hide the shade of what is below them
    return found


def name_at(at: FloatArray, name: str) -> str:
    """A name above a place, which keeps its size when the map is looked at from near."""
    return f'<g transform="translate({at[0]:.1f} {at[1]:.1f})"><text class="name" y="-22">{escape(name)}</text></g>'


def place_names(regions: Regions, names: Mapping[int, str]) -> list[str]:
    """What all places are called."""
    given = getattr(regions, "names", ()) or [""] * len(regions)
    return [names.get(place) or given[place] or f"place {place}" for place in range(len(regions))]


def in_thousandths(belief: FloatArray) -> list[list[int]]:
    """The places that are likely, with how likely they are, in thousandths.

    >>> in_thousandths(np.array([0.75, 0.0, 0.25]))
    [[0, 750], [2, 250]]
    """
    whole = np.rint(THOUSANDTHS * belief).astype(np.int64)
    return [[int(place), int(whole[place])] for place in np.flatnonzero(whole)]


def strip_of(day: ExposedDay, names: list[str], first: Iterable[int]) -> str:
    """The whole day at a glance: three rows, in which a colour is a place; these places have one if they occur."""
    rows = [(words, getattr(day, role)) for role, words in ROWS.items()]
    seen = np.bincount(np.concatenate([places for _, places in rows]), minlength=len(names))
    wanted = dict.fromkeys([*first, *np.argsort(-seen, kind="stable").tolist()])
    colours = dict(zip([place for place in wanted if seen[place]], COLOURS, strict=False))
    width, drawn = WIDE / len(day.true), []
    for words, places in rows:
        ends = (np.flatnonzero(np.r_[places[1:] != places[:-1], True]) + 1).tolist()
        parts = "".join(
            f'<rect x="{start * width:.2f}" width="{(end - start) * width:.2f}" height="{STRIP}" '
            f'fill="{colours.get(place, OTHERS)}"><title>{escape(names[place])}</title></rect>'
            for start, end, place in zip([0, *ends[:-1]], ends, places[np.array(ends) - 1].tolist(), strict=True)
        )
        cursor = f'<rect class="cursor" width="3" height="{STRIP}" fill="#1b1f24"/>'
        view = f'viewBox="0 0 {WIDE:g} {STRIP}" preserveAspectRatio="none" aria-hidden="true"'
        drawn.append(f"<p>{words}</p><svg {view}>{parts}{cursor}</svg>")
    keys = [(names[place], colour) for place, colour in colours.items()] + [("elsewhere", OTHERS)]
    key = "".join(f'<span><i style="background:{colour}"></i>{escape(name)}</span>' for name, colour in keys)
    return f'{"".join(drawn)}<div class="keys">{key}</div>'
