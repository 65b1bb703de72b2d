"""Options say what the functions behind them do."""

from __future__ import annotations

import inspect

import pytest

from hideseek.adversary.label import evaluate
from hideseek.adversary.playbook_label import playbook_label
from hideseek.cli import made_files, many_people, one_access, through_time
from hideseek.cli.inputs import scenario_alone, scenario_of_codebook
from hideseek.errors import ParameterError
from hideseek.experiments import compare, reproduce, study
from hideseek.fleet import Job
from hideseek.planning.simulation import ACCESSES
from hideseek.planning.training import plan
from hideseek.solvers.curve import trade_off
from hideseek.solvers.dispatch import solve
from hideseek.util.choices import Protect

ONCE = [Protect.PLACE, Protect.NEXT]
OPTIONS = {
    "design": ("--planned", "--memory", "--every"),
    "plan": ("--every",),
    "solve": ("--planned",),
    "curve": ("--planned",),
}


def defaults(function):
    return {name: one.default for name, one in inspect.signature(function).parameters.items()}


@pytest.mark.parametrize(
    ("command", "function", "names"),
    [
        (one_access.solve_command, solve, ("tolerance", "time_limit", "radius")),
        (one_access.curve_command, trade_off, ("tolerance", "breakpoints")),
        (made_files.evaluate_command, evaluate, ("accesses", "seed")),
        (made_files.evaluate_command, playbook_label, ("accesses", "seed")),
        (through_time.plan_command, plan, ("outlook", "mode", "discount", "walks", "seed")),
        (many_people.compare_command, compare, ("over", "accesses", "walks", "seed", "workers")),
        (many_people.study_command, study, ("users", "accesses", "over", "privacy", "quality", "seed", "workers")),
        (many_people.reproduce_command, reproduce, ("users", "seed", "workers")),
        (
            many_people.fleet_command,
            Job,
            ("grid", "cell", "box", "h3", "places", "memory", "quality", "over", "cap", "against"),
        ),
    ],
)
def test_defaults_are_those_of_the_function(command, function, names):
    ours, theirs = defaults(command), defaults(function)
    assert {name: ours[name] for name in names} == {name: theirs[name] for name in names}


def test_a_plan_is_simulated_for_as_many_accesses_as_in_python():
    assert defaults(through_time.plan_command)["accesses"] == ACCESSES


def test_a_label_takes_as_many_walks_as_in_python(run):
    told = " ".join(run("evaluate", "--help")[1].replace("│", "").split())
    ours, theirs = (defaults(function)["walks"] for function in (playbook_label, evaluate))
    assert f"with a playbook {ours} if not given, with a codebook {theirs} where" in told


def test_what_lies_between_accesses_is_no_matter_of_one_access():
    for protect in Protect:
        if protect in (Protect.WAY, Protect.BETWEEN):
            with pytest.raises(ParameterError, match="Use design or plan, which look at several accesses"):
                scenario_alone(protect, planned=False)
        else:
            alone = scenario_alone(protect, planned=False)
            assert alone.target == scenario_of_codebook(protect, planned=False, memory=None, every=None).target


@pytest.mark.parametrize("command", ["design", "plan", "solve", "curve"])
@pytest.mark.parametrize(
    ("option", "belongs_to"),
    [("--planned", {"next"}), ("--memory=3", {"place", "way"}), ("--every=3", {"between"})],
)
def test_an_option_that_would_change_nothing_is_refused(run, traces, monkeypatch, command, option, belongs_to):
    """Before any traces are read, where nothing but the options is needed to know it."""
    monkeypatch.setattr("hideseek.game.game.Game.from_scenario", stopped)
    monkeypatch.setattr("hideseek.game.budget.budget_through_time", stopped)
    for protect in ONCE if command in ("solve", "curve") else Protect:
        status, _, err = run(command, traces, "--grid", "3x3", "--protect", protect, option)
        told = " ".join(err.split())
        if not any(option.startswith(one) for one in OPTIONS[command]):
            assert "No such option" in told
        elif protect in belongs_to:
            assert status == 130
        else:
            assert status == 2
            assert f"The option {option.partition('=')[0]} of {command} must be given with --protect " in told
            assert f"Got --protect {protect} instead. Leave it out, or protect something else." in told


def stopped(*_, **__):
    """The options were taken."""
    raise KeyboardInterrupt


@pytest.mark.parametrize("command", ["solve", "curve", "design", "plan"])
def test_the_help_of_protect_lists_what_the_command_accepts(run, command):
    told = run(command, "--help")[1]
    accepted = ONCE if command in ("solve", "curve") else list(Protect)
    assert f"<{'|'.join(accepted)}>" in told
    assert all((f" {one} (" in " ".join(told.split())) == (one in accepted) for one in Protect)


def test_an_access_has_the_same_defaults_as_it_says(run):
    told = " ".join(run("design", "--help")[1].split())
    assert f"--protect between; {scenario_of_codebook(Protect.BETWEEN, False, None, None).every} if not given" in told
    remembered = len(scenario_of_codebook(Protect.WAY, False, None, None).seen)
    assert f"--protect place or way; {remembered} if not given" in told
