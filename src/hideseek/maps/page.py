"""The page: one HTML file with its style, its script and its data, from which no request leaves the machine.

The page's own rules (Content-Security-Policy) forbid every connection, and every script but the one that is in it by
its checksum. Images come from one host if tiles are asked for, and from nowhere else.
"""

from __future__ import annotations

import json
import os
import re
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlsplit

import pandas as pd

from hideseek.adversary.label import Label
from hideseek.codebook.codebook import Codebook
from hideseek.errors import broken_rule
from hideseek.maps.scenes import (
    Bars,
    Fact,
    Scene,
    percent,
    scene_of_codebook,
    scene_of_label,
    scene_of_plan,
    scene_of_playbook,
    scene_of_profile,
    scene_of_traces,
)
from hideseek.model.profile import DrawnProfile
from hideseek.planning.belief_game import BeliefGame
from hideseek.planning.planner import Planner
from hideseek.playbook.playbook import Playbook
from hideseek.traces.table import check_traces
from hideseek.util.boundary import checked
from hideseek.util.display import shown
from hideseek.util.private_files import write_privately

OFFLINE = "default-src 'none'; base-uri 'none'; form-action 'none'"
TILES = re.compile(r"https://[a-z0-9.-]+(:[0-9]{1,5})?/[A-Za-z0-9._~/?&=%@{}+-]*")
REVEALS = ("It shows where a person goes.", "It tells what adversaries learn about a person.")
HEIGHT = 560  # pixels in a notebook
MOST_LISTED = 100  # places beside the map
Mapped = pd.DataFrame | DrawnProfile | Codebook | BeliefGame | tuple[BeliefGame, Planner] | Playbook | Label


@checked
@dataclass(frozen=True, repr=False)
class MapPage:
    """A map as one HTML page, for a notebook or a file. It reveals where a person goes.

    Parameters
    ----------
    html : str
        The page.

    Examples
    --------
    >>> from hideseek import synthetic_city
    >>> page = MapPage(map_page(synthetic_city(people=1, days=1)))
    >>> page.save("map.html")
    >>> page
    MapPage(... kB)
    """

    html: str

    def __repr__(self) -> str:
        return f"MapPage({len(self.html) // 1000} kB)"

    def _repr_html_(self) -> str:
        return (
            f'<iframe sandbox="allow-scripts" title="A map" width="100%" height="{HEIGHT}" frameborder="0" '
            f'srcdoc="{escape(self.html)}"></iframe>'
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, whole or not at all, readable by its owner only.

        Parameters
        ----------
        path : path of a file
            Replaced if it exists.

        Raises
        ------
        OutputError
            If the file cannot be written.
        """
        write_privately(Path(path), self.html.encode())


@checked
def map_page(
    thing: Mapped, *, tracks: pd.DataFrame | None = None, tiles: str | None = None, label: Label | None = None
) -> str:
    """Traces, a profile, a codebook, a plan, a playbook or a label as a map: one HTML page that works offline.

    Parameters
    ----------
    thing : DataFrame, profile, Codebook, BeliefGame, (BeliefGame, Planner), Playbook or Label
        What to show. A label alone has no places, and becomes a card of numbers.
    tracks : pandas.DataFrame, optional
        Traces to draw under the places, as :func:`hideseek.read_traces` gives them.
    tiles : str, optional
        Where images of a background map are: an https address with {z}, {x} and {y}. Whoever answers there learns
        which area is looked at; without it no request leaves the machine.
    label : Label, optional
        The label of a codebook, beside its map.

    Returns
    -------
    str
        The page. The same input gives the same text.

    Raises
    ------
    ParameterError
        Where the thing has no places on a map, or ``tiles`` is no such address.

    Examples
    --------
    >>> from hideseek import MarkovProfile, Places
    >>> places = Places([46.52, 46.53], [6.57, 6.58], names=("home", "work"))
    >>> page = map_page(MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]], places))
    >>> page.startswith("<!doctype html>"), "66.7 %" in page, "http:" in page.replace("http://www.w3.org/2000/svg", "")
    (True, True, False)
    """
    if tracks is not None and isinstance(thing, pd.DataFrame | Label):
        raise broken_rule("tracks", "map_page", "given with places to draw them under", "traces or a label alone")
    if label is not None and not isinstance(thing, Codebook):
        raise broken_rule("label", "map_page", "given with its codebook", type(thing).__name__)
    traces = None if tracks is None else check_traces(tracks, "map_page")
    match thing:
        case pd.DataFrame():
            scene = scene_of_traces(check_traces(thing, "map_page"))
        case Codebook():
            scene = scene_of_codebook(thing, label, traces)
        case BeliefGame():
            scene = scene_of_plan(thing, None, traces)
        case (BeliefGame() as game, Planner() as planner):
            scene = scene_of_plan(game, planner, traces)
        case Playbook():
            scene = scene_of_playbook(thing, traces)
        case Label():
            scene = scene_of_label(thing)
        case _:
            scene = scene_of_profile(thing, traces)
    return html_of(scene, None if tiles is None else tile_address(tiles))


def tile_address(tiles: str) -> str:
    """The address of tiles, refused unless it has one host and nothing that could widen the page's rules."""
    host = urlsplit(tiles).netloc if TILES.fullmatch(tiles) else ""
    places = [tiles.count(name) for name in ("{z}", "{x}", "{y}")]
    if not host or places != [1, 1, 1] or tiles.count("{") != 3 or tiles.count("}") != 3:
        rule = "an https address with {z}, {x} and {y} once each, and nothing else in braces"
        raise broken_rule("tiles", "map_page", rule, repr(tiles))
    return tiles


def html_of(scene: Scene, tiles: str | None) -> str:
    """The page of a scene; every word in it is escaped."""
    style, script = part("page.css"), part("geometry.js") + part("map.js")
    host = None if tiles is None else f"https://{urlsplit(tiles).netloc}"
    images = "" if host is None else f"; img-src {host}"
    parts = {
        "policy": f"{OFFLINE}; style-src '{digest(style)}'; script-src '{digest(script)}'{images}",
        "title": shown(scene.title),
        "kind": scene.kind,
        "lead": shown(scene.lead),
        "style": style,
        "script": script,
        "legend": legend_html(scene),
        "bars": "" if scene.bars is None else bars_html(scene.bars),
        "facts": facts_html(scene.facts),
        "list": list_html(scene),
        "reveals": REVEALS[scene.kind == "label"],
        "notes": notes_html(scene, host),
        "scene": harmless_json(data_of(scene, tiles)),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], part("page.html"))


def part(name: str) -> str:
    """A file of this package."""
    return files("hideseek.maps").joinpath(name).read_text(encoding="utf-8")


def digest(text: str) -> str:
    """The checksum by which a page lets its own script or style through."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def data_of(scene: Scene, tiles: str | None) -> dict[str, object]:
    """What the script needs."""
    wanted = ("measure", "towards", "origin", "unit", "view", "whole", "lines")
    busiest = max(range(len(scene.places)), key=lambda k: scene.places[k].share, default=None)
    return {
        **{name: getattr(scene, name) for name in wanted},
        "places": [asdict(place) for place in scene.places],
        "first": busiest if scene.kind in ("codebook", "plan", "playbook") else None,
        "tiles": tiles,
    }


def harmless_json(data: object) -> str:
    """JSON that stands in a script element and cannot end it: ASCII, without any of the signs of HTML.

    >>> harmless_json("</script>")
    '"\\\\u003c/script\\\\u003e"'
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def facts_html(facts: Iterable[Fact]) -> str:
    """Names and numbers."""
    rows = "".join(f"<dt>{shown(name)}</dt><dd><bdi>{shown(words)}</bdi></dd>" for name, words in facts)
    return f'<section id="facts"><h2>Numbers</h2><dl>{rows}</dl></section>\n'


def legend_html(scene: Scene) -> str:
    """What the shades mean, and whose tracks have which colour."""
    parts = []
    if scene.places:
        most = max(place.share for place in scene.places)
        # the shade grows with the root of the share, so that half of the bar is a quarter of the most
        ticks = f'<span>0 %</span><span id="half">{percent(most / 4)}</span><span id="most">{percent(most)}</span>'
        parts.append(f'<h2 id="measure">{shown(scene.measure)}</h2><div class="ramp"></div>')
        parts.append(f'<div class="ticks">{ticks}</div>')
    if len(scene.persons) > 1:
        lines = "".join(f"<li>{swatch(k)}<bdi>{shown(name)}</bdi></li>" for k, name in enumerate(scene.persons))
        parts.append(f'<h2>Tracks</h2><ul class="persons">{lines}</ul>')
    return f'<section id="legend">{"".join(parts)}</section>\n' if parts else ""


def swatch(person: int) -> str:
    """The colour of a person's tracks."""
    return f'<svg aria-hidden="true"><rect class="person-{person}" width="100%" height="100%"/></svg>'


def bars_html(found: Bars) -> str:
    """The adversaries of a label, each with its error below the ceiling and the prior risk."""
    full = max(found.prior_risk, found.ceiling, *(bar.error for bar in found.bars)) or 1.0
    marks = "".join(
        f'<line class="{name}" x1="{at:.2f}" x2="{at:.2f}" y1="0" y2="10"/>'
        for name, at in (("ceiling", 100 * found.ceiling / full), ("risk", 100 * found.prior_risk / full))
    )
    rows = "".join(
        f'<div class="bar"><p><span>{shown(bar.name)}</span><span>{shown(bar.words)}</span></p>'
        f'<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="all" width="100" height="10"/>'
        f'<rect class="error" width="{100 * bar.error / full:.2f}" height="10"/>{marks}</svg>'
        f"<small>{shown(bar.knows)}{shown(bar.right)}</small></div>"
        for bar in found.bars
    )
    key = (
        f'<p class="key"><b>|</b> ceiling, which no mechanism exceeds: {shown(found.ceiling_words)}<br>'
        f"<i>|</i> prior risk, without any release: {shown(found.prior_words)}</p>"
    )
    return f'<section id="bars"><h2>{shown(found.title)}</h2>{rows}{key}</section>\n'


def list_html(scene: Scene) -> str:
    """The busiest places as buttons, for the keyboard and for who does not see the map."""
    if not scene.places:
        return ""
    order = sorted(range(len(scene.places)), key=lambda k: -scene.places[k].share)[:MOST_LISTED]
    rows = "".join(
        f'<li><button type="button" data-place="{k}" aria-pressed="false"><bdi>{shown(scene.places[k].name)}</bdi>'
        f"<span>{percent(scene.places[k].share)}</span></button></li>"
        for k in order
    )
    more = "" if len(order) == len(scene.places) else f", the busiest {len(order)}"
    return f'<section id="list"><h2>Places{more}</h2><ol>{rows}</ol></section>\n'


def notes_html(scene: Scene, host: str | None) -> str:
    """What else to know, and whether anybody is asked for anything."""
    network = (
        "It works without a network: no request leaves this machine."
        if host is None
        else f"Its background images come from {host}, which learns the area that is looked at."
    )
    return "".join(f"<p>{shown(note)}</p>" for note in (*scene.notes, network))
