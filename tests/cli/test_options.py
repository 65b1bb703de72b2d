"""Options say what the functions behind them do."""

from __future__ import annotations

import inspect

import pytest

from hideseek.adversary.label import evaluate
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


def defaults(function):
    return {name: one.default for name, one in inspect.signature(function).parameters.items()}


@pytest.mark.parametrize(
    ("command", "function", "names"),
    [
        (one_access.solve_command, solve, ("tolerance", "time_limit", "radius")),
        (one_access.curve_command, trade_off, ("tolerance", "breakpoints")),
        (made_files.evaluate_command, evaluate, ("accesses", "walks", "seed")),
        (through_time.plan_command, plan, ("outlook", "mode", "discount", "walks", "seed")),
        (many_people.compare_command, compare, ("accesses", "walks", "seed", "workers")),
        (many_people.study_command, study, ("users", "accesses", "privacy", "quality", "seed", "workers")),
        (many_people.reproduce_command, reproduce, ("users", "seed", "workers")),
        (many_people.fleet_command, Job, ("grid", "cell", "box", "h3", "places", "memory", "quality")),
    ],
)
def test_defaults_are_those_of_the_function(command, function, names):
    ours, theirs = defaults(command), defaults(function)
    assert {name: ours[name] for name in names} == {name: theirs[name] for name in names}


def test_a_plan_is_simulated_for_as_many_accesses_as_in_python():
    assert defaults(through_time.plan_command)["accesses"] == ACCESSES


def test_what_lies_between_accesses_is_no_matter_of_one_access():
    for protect in Protect:
        if protect in (Protect.WAY, Protect.BETWEEN):
            with pytest.raises(ParameterError, match="Use design or plan, which look at several accesses"):
                scenario_alone(protect, planned=False)
        else:
            alone = scenario_alone(protect, planned=False)
            assert alone.target == scenario_of_codebook(protect, planned=False, memory=0, every=1).target


@pytest.mark.parametrize("protect", [one for one in Protect if one is not Protect.NEXT])
def test_a_route_is_planned_only_where_the_next_place_matters(protect):
    with pytest.raises(ParameterError, match="must be given with --protect next"):
        scenario_of_codebook(protect, planned=True, memory=1, every=2)
    planned = scenario_of_codebook(Protect.NEXT, planned=True, memory=1, every=2)
    assert (planned.release, planned.causal) == ((0, 1), False)
