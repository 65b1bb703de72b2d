"""The page: what it holds, what it cannot be made to do, that it asks nobody for anything, and how it is written."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import stat
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hideseek import MarkovProfile, Places, Scenario, design, evaluate, make_playbook, plan, synthetic_city
from hideseek.errors import OutputError, ParameterError
from hideseek.maps import MapPage, map_page
from hideseek.maps import page as module
from hideseek.metrics import distance, hamming
from hideseek.planning import BeliefGame
from hideseek.util.harmless import visible
from tests.support.map_pages import TWO, Page

GOLDEN = Path(__file__).parents[1] / "golden" / "map_of_places.json"
HOSTILE = (
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "🏠 <!-- ]]> {{scene}} ${1}",
    "\u202etxt.exe",
    "בית",
    "&lt;b&gt; \\u003c \u2028",
)
MATRIX = np.full((7, 7), 0.05) + 0.65 * np.eye(7)
PLACES = Places(46.5 + 0.01 * np.arange(7), 6.5 + 0.02 * np.arange(7) ** 2 / 7, names=HOSTILE)
PROFILE = MarkovProfile.from_matrix(MATRIX, PLACES)
TRACES = synthetic_city(people=2, days=2, seed=1)
BOOK = design(TWO, Scenario.past_present(1), privacy=hamming(), quality=hamming(), budget=0.1)
LABEL = evaluate(BOOK, TWO, accesses=4)
GAME = BeliefGame.of(PROFILE, privacy=distance(PLACES), quality=distance(PLACES), budget=500.0)
PLAYBOOK = make_playbook(GAME, plan(GAME, walks=1), kilobytes=20)
PAGES = {
    "traces": map_page(TRACES),
    "one fix": map_page(TRACES.head(1)),
    "profile": map_page(PROFILE),
    "profile over tracks": map_page(PROFILE, tracks=TRACES),
    "codebook": map_page(BOOK),
    "codebook and label": map_page(BOOK, label=LABEL),
    "game": map_page(GAME),
    "plan": map_page((GAME, plan(GAME, walks=1))),
    "playbook": map_page(PLAYBOOK),
    "label": map_page(LABEL),
}


@pytest.fixture(params=PAGES)
def text(request):
    return PAGES[request.param]


def test_a_page_is_whole_and_says_that_it_is_private(text):
    page = Page(text)
    assert text.startswith("<!doctype html>")
    assert "Keep this page private." in page.words
    tags = [tag for tag, _ in page.elements]
    assert tags.count("main") == tags.count("h1") == tags.count("title") == 1
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {tag for tag, attributes in page.elements if tag == "html" and attributes["lang"] == "en"}
    for tag, attributes in page.elements:
        if tag == "button":
            assert attributes["type"] == "button"


def test_nothing_in_a_page_leads_out_of_it(text):
    page = Page(text)
    for tag, attributes in page.elements:
        assert tag not in ("img", "link", "iframe", "object", "embed", "form", "a", "base"), tag
        assert not {"src", "href", "action", "style"} & set(attributes)
        assert not [name for name in attributes if name.startswith("on")]
    assert "//" not in re.sub(r"//.*|http://www.w3.org/2000/svg", "", page.raw["script"][1])
    assert not re.search(r"https?:|url\(|@import", text.replace("http://www.w3.org/2000/svg", ""))


def test_the_rules_of_a_page_forbid_all_but_its_own_script_and_style(text):
    page = Page(text)
    (style,), (_, script) = page.raw["style"], page.raw["script"]
    own = {name: base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for name, part in
           (("style-src", style), ("script-src", script))}  # fmt: skip
    assert page.policy == {
        "default-src": ["'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
        "style-src": [f"'sha256-{own['style-src']}'"],
        "script-src": [f"'sha256-{own['script-src']}'"],
    }
    assert any("no request leaves this machine" in words for words in page.words)


def test_the_script_makes_no_markup_from_text_and_no_request():
    script = module.part("map.js") + module.part("geometry.js")
    for word in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval", "Function(", "fetch", "XMLHttp",
                 "WebSocket", "sendBeacon", "import(", "localStorage", "cookie"):  # fmt: skip
        assert word not in script
    # a background image is the only thing that is ever loaded, and only where tiles were asked for
    assert script.count(".src") == 1
    assert "if (scene.tiles) drawTiles()" in script


@pytest.mark.parametrize("kind", ["profile", "plan", "profile over tracks"])
def test_hostile_names_are_words_and_nothing_else(kind):
    page = Page(PAGES[kind])
    assert [place["name"] for place in page.scene["places"]] == [visible(name) for name in HOSTILE]
    tags = [tag for tag, _ in page.elements]
    assert tags.count("script") == 2
    assert "img" not in tags
    for name in HOSTILE:
        assert visible(name) in page.words
    assert "\u202e" not in PAGES[kind]
    data = page.raw["script"][0]
    assert data.isascii()
    assert not set("<>&") & set(data), "no browser takes any of it for markup"


def test_hostile_people_are_words_and_nothing_else():
    names = dict(zip(sorted(TRACES["user_id"].unique()), HOSTILE[:2], strict=True))
    page = Page(map_page(TRACES.assign(user_id=TRACES["user_id"].map(names))))
    assert set(HOSTILE[:2]) <= set(page.words)
    assert [tag for tag, _ in page.elements].count("script") == 2


def test_tiles_open_the_page_to_one_host_and_it_says_so():
    page = Page(map_page(PROFILE, tiles="https://tiles.example.org:8443/street/{z}/{x}/{y}.png?key=1"))
    assert page.policy["img-src"] == ["https://tiles.example.org:8443"]
    assert page.policy["default-src"] == ["'none'"]
    assert page.scene["tiles"].startswith("https://tiles.example.org:8443/")
    assert any("come from https://tiles.example.org:8443" in words for words in page.words)
    assert not any("no request leaves" in words for words in page.words)


@pytest.mark.parametrize(
    "tiles",
    [
        "",
        "http://tiles.example.org/{z}/{x}/{y}.png",
        "https://tiles.example.org/{z}/{x}.png",
        "https://{s}.example.org/{z}/{x}/{y}.png",
        "https://me:secret@example.org/{z}/{x}/{y}.png",
        "https://example.org; script-src *//{z}/{x}/{y}",
        "https://example.org/{z}/{x}/{y}'; script-src *",
        "https:///{z}/{x}/{y}",
        "https://example.org/{z}/{x}/{y}/{y}",
        "javascript:alert(1)//{z}{x}{y}",
        "https://example.org/{z}/{x}/{y}\n",
    ],
)
def test_other_addresses_of_tiles_are_refused(tiles):
    with pytest.raises(ParameterError, match="'tiles' parameter of map_page"):
        map_page(PROFILE, tiles=tiles)


def test_the_same_input_gives_the_same_bytes_in_any_order_of_rows():
    shuffled = TRACES.sample(frac=1.0, random_state=0)
    assert map_page(shuffled) == PAGES["traces"]
    assert map_page(PROFILE, tracks=shuffled) == PAGES["profile over tracks"]


def test_the_page_of_a_long_trace_stays_small():
    seconds = np.arange(300_000)
    traces = pd.DataFrame(
        {
            "user_id": "me",
            "tracked_at": pd.Timestamp("2026-01-05", tz="UTC") + pd.to_timedelta(seconds * 60, unit="s"),
            "latitude": 46.5 + 0.1 * np.sin(seconds / 50),
            "longitude": 6.5 + 0.1 * np.cos(seconds / 71),
        }
    )
    assert len(map_page(traces).encode()) < 5_000_000


def test_a_small_page_is_as_it_was():
    """After a wanted change: look at the page, then python -m tests.support.map_pages > the golden file."""
    assert Page(map_page(TWO)).outline == json.loads(GOLDEN.read_text(encoding="utf-8"))


def test_a_page_is_written_for_its_owner_only(tmp_path):
    page = TWO.map()
    page.save(tmp_path / "map.html")
    assert stat.S_IMODE((tmp_path / "map.html").stat().st_mode) == 0o600
    assert (tmp_path / "map.html").read_text(encoding="utf-8") == page.html == map_page(TWO)
    with pytest.raises(OutputError):
        page.save(tmp_path)


def test_a_notebook_shows_the_page_in_a_frame_without_rights():
    (frame,) = re.findall(r"<iframe ([^>]*)>", TWO.map()._repr_html_())
    attributes = dict(re.findall(r'([\w-]+)="([^"]*)"', frame))
    assert attributes["sandbox"] == "allow-scripts"
    assert html.unescape(attributes["srcdoc"]) == map_page(TWO)
    assert repr(TWO.map()) == f"MapPage({len(map_page(TWO)) // 1000} kB)"
    assert isinstance(TWO.map(), MapPage)


def test_results_show_themselves():
    assert BOOK.map().html == PAGES["codebook"]
    assert GAME.map().html == PAGES["game"]
    assert plan(GAME, walks=1).map(GAME).html == PAGES["plan"]
    assert PLAYBOOK.map().html == PAGES["playbook"]
    assert LABEL.map().html == PAGES["label"]
    assert LABEL.map(BOOK).html == PAGES["codebook and label"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: map_page(3), "'thing' parameter of map_page"),
        (lambda: map_page(MarkovProfile.from_matrix([[0.5, 0.5], [0.5, 0.5]])), "something whose places are known"),
        (lambda: map_page(TRACES, tracks=TRACES), "'tracks' parameter of map_page"),
        (lambda: map_page(LABEL, tracks=TRACES), "'tracks' parameter of map_page"),
        (lambda: map_page(PROFILE, label=LABEL), "'label' parameter of map_page must be given with its codebook"),
        (lambda: map_page(TRACES.head(0)), "at least one row"),
        (lambda: map_page(TRACES.assign(latitude=np.nan)), "a finite number in every row"),
        (lambda: map_page(PROFILE, tracks=TRACES.drop(columns="latitude")), "'traces' parameter of map_page"),
    ],
)
def test_what_has_no_map_is_refused_by_name(call, words):
    with pytest.raises(ParameterError, match=words):
        call()
