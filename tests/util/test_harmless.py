"""What others wrote (user ids, names of places and files) is shown and never obeyed: terminal, pages, spreadsheets."""

from __future__ import annotations

import csv
import io
import json
import sys
from html import escape

import pandas as pd
import pytest
from matplotlib.text import Text

from hideseek import synthetic_city, trade_off
from hideseek.cli import main
from hideseek.experiments import planner_study, study
from hideseek.experiments.report import Section, Table, html_report
from hideseek.plots.curves import curve_figure
from hideseek.util.harmless import csv_bytes
from tests.support.games import euclid_game
from tests.support.strolls import stroll

CITY = synthetic_city(people=2, days=4, seed=1)
RING, CLEAR, BACKWARDS = "\x07", "\x1b[2J", "\u202e"
EVIL = f"[/home][red]{CLEAR}{RING}\x7f\x9b31m{BACKWARDS}$x$"
SHOWN = r"[/home][red]\x1b[2J\x07\x7f\x9b31m\u202e$x$"
LINK = '=HYPERLINK("http://x")'


@pytest.fixture
def city(tmp_path):
    path = tmp_path / "city.csv"
    CITY.replace({"person-000": EVIL, "person-001": LINK}).to_csv(path, index=False)
    return path


def assert_harmless(*texts):
    """Nothing but printable characters and ends of lines."""
    for text in texts:
        assert all(line.isprintable() for line in text.split("\n"))


def joined(text):
    return "".join(text.split())


def test_names_of_users_places_and_files_are_shown(run, city, tmp_path):
    places = pd.DataFrame({"latitude": [45.02, 45.05], "longitude": [-4.97, -4.92], "name": [f"[/home]{CLEAR}", "[/]"]})
    places.to_csv(tmp_path / "places.csv", index=False)
    evil = EVIL.replace("/", "|")
    status, out, err = run("learn", city, "--places", "places.csv", "--user", EVIL, "--out", f"{evil}.json")
    assert status == 0, err
    assert_harmless(out, err)
    assert joined(out).startswith(SHOWN)
    assert r"[/home]\x1b[2J" in out
    assert f"{SHOWN.replace('/', '|')}.json. It reveals where {SHOWN} goes" in out
    status, out, err = run("solve", f"{evil}.json", "--out", f"{evil}.csv")
    assert status == 0, err
    assert_harmless(out, err)


def test_notes_and_errors_are_shown(run, city, tmp_path):
    more = pd.concat([CITY.assign(user_id=EVIL), CITY])
    more.to_csv(city, index=False)
    status, out, err = run("solve", city, "--grid", "2x2", "--privacy", "hamming", "--quality", "hamming")
    assert status == 0, err
    assert_harmless(out, err)
    assert f"took {SHOWN}, who" in err
    for words in (("solve", city, "--user", f"nobody{EVIL}"), ("learn", f"nowhere{EVIL}"), ("inspect", EVIL)):
        status, out, err = run(*words)
        assert status == 2
        assert_harmless(out, err)
        assert SHOWN in err or SHOWN.replace("\\", r"\\") in err
    (tmp_path / "folder").mkdir()
    CITY.to_csv(tmp_path / "folder" / "good.csv", index=False)
    (tmp_path / "folder" / f"{CLEAR}.csv").write_text(f"user_id,latitude,longitude,tracked_at\n{EVIL},x,y,z\n")
    status, out, err = run("learn", "folder")
    assert status == 0, err
    assert_harmless(out, err)


def test_what_the_command_line_itself_refuses_is_shown(run):
    wrong = (f"--{EVIL}",), ("--protect", EVIL), (EVIL,)
    for words in ((f"un{EVIL}",), ("solve",), *(("solve", "x", *own) for own in wrong)):
        status, out, err = run(*words)
        assert status == 2
        assert_harmless(out, err)
        assert err.startswith("error: ")
        assert err.endswith("--help.\n")
        status, out, _ = run(*words, "--json")
        assert status == 2
        assert json.loads(out)["message"].endswith("--help.")


def test_a_fleet_and_a_comparison_are_shown(run, city, tmp_path):
    folder = tmp_path / f"out{EVIL.replace('/', '|')}"
    few = pd.concat([CITY, CITY.head(2).assign(user_id=EVIL)])
    few.to_csv(city, index=False)
    status, out, err = run("fleet", city, "--out", folder, "--grid", "1x2", "--privacy", "hamming", "--workers", "1")
    assert status == 0, err
    assert_harmless(out, err)
    assert SHOWN.replace("/", "|") in joined(out)
    words = ("--grid", "1x2", "--budget", "20%", "--accesses", "3", "--walks", "4", "--workers", "1")
    status, out, err = run("compare", city, "--user", "person-000", *words, "--out", folder)
    assert status == 0, err
    assert_harmless(out, err)
    assert SHOWN.replace("/", "|") in joined(out)


def test_users_with_hostile_names_are_studied_compared_and_protected(run, monkeypatch, tmp_path):
    """From the traces to whatever is written: what is active in an id is so nowhere, and no two are taken for one."""
    tag = f"<script>alert(1)</script>[/home]{CLEAR}{BACKWARDS}\n{LINK}"
    shown = r"<script>alert(1)</script>[/home]\x1b[2J\u202e\n" + LINK
    pd.concat([stroll(tag, 4, 1), stroll(LINK, 4, 2)]).to_csv(tmp_path / "street.csv", index=False)
    monkeypatch.setattr(planner_study, "CELLS", 4)
    found = []

    def once(*words, **names):
        found[:] = found or [study(*words, **names, budgets=(0.5,))]
        return found[0]

    monkeypatch.setattr(planner_study, "study", once)
    hamming = ("--privacy", "hamming", "--quality", "hamming", "--workers", "1")
    planned = (
        "study",
        "street.csv",
        "--box",
        "0,0.1,0,1",
        "--users",
        2,
        "--accesses",
        10,
        "--over",
        "1h",
        "--out",
        "study",
    )
    compared = ("compare", "street.csv", "--user", tag, "--grid", "1x2", "--accesses", 2, "--walks", 2, "--over", "1h")
    protected = ("fleet", "street.csv", "--grid", "1x2", "--over", "1h", "--out", "fleet")
    for words in ((*planned, "--planners", "plain,far-sighted"), (*compared, "--out", "compare"), protected):
        for command in (words, (*words, "--json")):
            status, out, err = run(*command, *hamming)
            assert status == 0, err
            assert_harmless(out, err)
    with (tmp_path / "study" / "rows.csv").open(newline="") as stream:
        assert {row["user"] for row in csv.DictReader(stream)} == {shown, f"'{LINK}"}
    assert set(pd.read_parquet(tmp_path / "fleet" / "labels.parquet")["user"]) == {tag, LINK}
    assert escape(shown) in (tmp_path / "study" / "report.html").read_text()
    written = [path for name in ("study", "compare", "fleet") for path in (tmp_path / name).rglob("*")]
    assert_harmless(*(path.name for path in written))
    for path in written:
        if path.suffix in {".csv", ".html"}:
            content = path.read_bytes().decode()
            assert_harmless(content)
            assert path.suffix == ".csv" or "<script>alert" not in content


def test_json_is_exact_and_harmless(run, city):
    status, out, err = run("learn", city, "--user", EVIL, "--grid", "2x2", "--json")
    assert status == 0, err
    assert json.loads(out)["user"] == EVIL
    assert out.isascii()
    assert_harmless(out, err)


@pytest.mark.parametrize("text", [LINK, "+1", "-1", "@x"])
def test_no_cell_of_text_is_a_formula_and_numbers_stay_numbers(text):
    table = pd.DataFrame({"user": [text, "bob"], text: [-1.5, 2.0], "mixed": [-1, None]})
    header, one, two = csv.reader(io.StringIO(csv_bytes(table).decode()))
    assert header == ["user", f"'{text}", "mixed"]
    assert one == [f"'{text}", "-1.5", "-1.0"]
    assert two == ["bob", "2.0", ""]


@pytest.mark.parametrize(
    "text", [f"bob{end}{LINK}" for end in ("\r", "\n", "\r\n", "\v", "\x85", "\u2028", ";", ",", "\t", '"')]
)
def test_no_text_begins_a_cell_of_its_own(text):
    content = csv_bytes(pd.DataFrame({"user": [text]})).decode()
    assert len(content.splitlines()) == 2
    for separator in ",;\t":
        assert len(next(csv.reader(content.splitlines()[1:], delimiter=separator))) == 1


def test_pages_show_what_others_wrote():
    page = html_report(EVIL, EVIL, [Section(EVIL, f"<b>{EVIL}", Table((EVIL,), ((f"<i>{EVIL}",),)))])
    assert_harmless(page)
    assert page.count(SHOWN) == 7
    assert "<b>" not in page
    assert "<i>" not in page


def test_names_in_figures_are_no_formulas():
    figure = curve_figure({r"$\nonsense{$": trade_off(euclid_game(2, 2, 0.5), budgets=[0.1, 0.2])}, "$_$", "$^$")
    figure.draw_without_rendering()


def test_numbers_in_figures_are_no_formulas_either():
    """They would be shown as they are written, since names are."""
    figure = curve_figure({"far": trade_off(euclid_game(2, 2, 1e9), budgets=[2e8, 1e9])}, "m", "m")
    figure.draw_without_rendering()
    assert not [text for text in figure.findobj(Text) if "$" in text.get_text()]


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])  # what Python takes on such terminals
def test_a_terminal_that_knows_ascii_only_is_enough(tmp_path, monkeypatch, errors):
    monkeypatch.chdir(tmp_path)
    synthetic_city(people=1, days=4, seed=1).to_csv(tmp_path / "one.csv", index=False)
    places = pd.DataFrame({"latitude": [45.02, 45.05], "longitude": [-4.97, -4.92], "name": ["Zürich ≤ µ", "Ελλάς"]})
    places.to_csv(tmp_path / "places.csv", index=False)
    learn = ("learn", "one.csv", "--places", "places.csv")
    for words, status in ((learn, 0), ((*learn, "--json"), 0), (("--help",), 0), (("solve", "Ελλάς"), 2)):
        out, err = (io.TextIOWrapper(io.BytesIO(), "ascii", how) for how in (errors, "backslashreplace"))
        monkeypatch.setattr(sys, "argv", ["hideseek", *words])
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        with pytest.raises(SystemExit) as ended:
            main()
        assert (ended.value.code or 0) == status
