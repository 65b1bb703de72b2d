"""Every command that reads traces has the same options for it, which mean the same."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest

from hideseek import Grid, MarkovProfile, load_profile, read_traces
from hideseek.cli.reading import STEP, Reading, names_of
from hideseek.model import distances
from hideseek.model.own_places import ABOUT
from hideseek.model.profile import STEP as OF_PROFILES
from tests.support.two_people import TRACES

READ = ("protect", "learn", "solve", "curve", "design", "plan", "compare", "study", "reproduce", "fleet", "map")
OTHERS = ("demo", "inspect", "evaluate", "expose")


def help_of(run, command):
    """The panels of a command's help, by title, as text."""
    status, out, _ = run(command, "--help")
    assert status == 0
    panels = re.findall(r"╭─ ([\w ]+?) ─+╮\n(.*?)╰", out, re.DOTALL)
    return {title: " ".join(text.replace("│", " ").split()) for title, text in panels}


def test_the_reading_options_and_their_help_are_everywhere_the_same(run):
    told = {command: help_of(run, command)["Reading traces"] for command in READ}
    assert len(set(told.values())) == 1
    shown = re.findall(r"(?<![\w-])(--[a-z0-9-]+)  *(?=[A-Z0-9]|time=)", told["learn"])
    assert [name for name in shown if name in names_of(one.name for one in fields(Reading)).split(", ")] == [
        names_of([one.name]) for one in fields(Reading)
    ]
    for command in OTHERS:
        assert "Reading traces" not in help_of(run, command)


@pytest.mark.parametrize("command", READ)
def test_data_is_an_argument_of_every_command_that_reads_traces(run, command):
    panels = help_of(run, command)
    assert "DATA" in panels["Arguments"]
    assert "--data" not in " ".join(panels.values())


@pytest.mark.parametrize("command", ["", *READ, *OTHERS])
def test_flags_are_shown_without_a_type(run, command):
    words = [command] if command else []
    assert "bool" not in run(*words, "--help")[1]


def test_the_help_names_the_defaults_that_hold(run):
    told = help_of(run, "learn")["Reading traces"]
    defaults = {name: one.default for name, one in inspect.signature(read_traces).parameters.items()}
    assert f"left out; {defaults['accuracy']}" in told
    assert f"about so many; {ABOUT}" in told
    assert STEP == OF_PROFILES


def test_nothing_but_durations_are_called_steps(run):
    for command in (*READ, *OTHERS):
        text = " ".join(" ".join(help_of(run, command).values()).split())
        for before, word in re.findall(r"(\w+) (steps)\b", text, re.IGNORECASE):
            assert (before, word) == ("Time", "steps"), command


def test_cells_are_squares_of_the_size_that_is_asked_for(run, traces):
    status, _, err = run("learn", traces, "--user", "person-001", "--cell", "2km", "--out", "p.json")
    assert status == 0, err
    grid = load_profile("p.json").regions
    whole = Grid(grid.south, grid.north, grid.west, grid.east, rows=grid.rows, columns=grid.columns)
    metres = distances(whole)
    middle = grid.rows // 2 * grid.columns
    # one to the east, and one to the north; the grid is 10 km high, so that widths differ by less than a thousandth
    assert metres[middle, middle + 1] == pytest.approx(2000, rel=1e-3)
    assert metres[middle, middle - grid.columns] == pytest.approx(2000, rel=1e-3)
    own = TRACES[TRACES["user_id"] == "person-001"]
    assert (whole.locate(own["latitude"], own["longitude"]) >= 0).all()


def test_the_same_options_give_the_same_profile_in_every_command(run, traces):
    words = ("--user", "person-000", "--cell", "3km", "--step", "20min")
    assert run("learn", traces, *words, "--out", "p.json")[0] == 0
    profile = load_profile("p.json")
    direct = json.loads(run("solve", traces, *words, "--json")[1])
    assert direct == json.loads(run("solve", "p.json", "--json")[1])
    table = TRACES[TRACES["user_id"] == "person-000"]
    again = MarkovProfile.fit(table, profile.regions, step="20min")
    np.testing.assert_array_equal(profile.transition, again.transition)


@pytest.mark.parametrize("command", ["solve", "curve", "design", "plan", "compare"])
def test_one_person_and_the_others_reach_every_command(run, traces, command):
    """What learn refuses is refused by all of them in the same words."""
    for words in (("--user", "nobody"), ("--cell", "10"), ("--format", "none"), ("--h3", "5", "--cell", "1km")):
        known = run("learn", traces, *words, "--json")[1].replace("of learn", f"of {command}")
        assert json.loads(run(command, traces, *words, "--json")[1]) == json.loads(known)
    split = run(command, traces, "--one-person", "--user", "x", "--json")[1]
    assert "given one at a time" in json.loads(split)["message"]


def test_a_profile_refuses_options_about_traces_by_name(run, traces):
    assert run("learn", traces, "--grid", "4x4")[0] == 0
    for words, named in (
        (("--grid", "5x5"), "option --grid of"),
        (("--one-person", "--step", "10min"), "options --one-person, --step of"),
        (("--timezone", "UTC"), "option --timezone of"),
    ):
        status, out, _ = run("solve", "profile.json", *words, "--json")
        assert status == 2
        assert named in json.loads(out)["message"]
        assert "given with traces only" in json.loads(out)["message"]


def test_places_of_another_profile_are_kept_so_that_two_can_be_compared(run, traces):
    assert run("learn", traces, "--user", "person-000", "--cell", "3km", "--out", "p.json")[0] == 0
    assert run("learn", traces, "--user", "person-001", "--places", "p.json", "--out", "q.json")[0] == 0
    one, other = load_profile("p.json"), load_profile("q.json")
    np.testing.assert_array_equal(one.regions.centres, other.regions.centres)
    assert run("design", "p.json", "--memory", 1, "--out", "c", "--privacy", "hamming", "--quality", "hamming")[0] == 0
    status, _, err = run("evaluate", "c", "p.json", "--as", "q.json", "--accesses", 5, "--walks", 5)
    assert status == 0, err


def test_a_sensitive_place_where_nobody_was_is_refused_when_it_is_learned(run, traces):
    status, _, err = run("learn", traces, "--sensitive", "far=10,10")
    assert status == 2
    assert "option --sensitive of learn must be locations that lie in a place" in " ".join(err.split())


def test_days_are_counted_by_the_clock_of_the_person(run, tmp_path):
    """48 hours from midnight on in Prague are two days there, and touch three in UTC."""
    times = pd.date_range("2024-01-08", periods=576, freq="5min", tz="Europe/Prague").tz_convert("UTC")
    where = np.where(np.arange(576) % 96 < 48, 50.1, 50.2)
    table = pd.DataFrame({"tracked_at": times, "latitude": where, "longitude": 14.4})
    table.to_csv(tmp_path / "two.csv", index=False)
    days = [
        json.loads(run("learn", "two.csv", "--timezone", zone, "--json")[1])["coverage"]["days"]
        for zone in ("Europe/Prague", "UTC")
    ]
    assert days == [2, 3]
