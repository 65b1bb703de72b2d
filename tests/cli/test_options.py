"""Options say what the functions behind them do."""

from __future__ import annotations

import inspect

import pytest

from hideseek.adversary.label import evaluate
from hideseek.cli import many_people, one_access, through_time
from hideseek.cli.inputs import scenario_alone, scenario_of_codebook
from hideseek.cli.options import Protect
from hideseek.errors import ParameterError
from hideseek.experiments import compare, reproduce, study
from hideseek.fleet import Job
from hideseek.planning.simulation import ACCESSES
from hideseek.planning.training import plan
from hideseek.solvers.curve import trade_off
from hideseek.solvers.dispatch import solve
from hideseek.traces.formats import FORMATS


def defaults(function):
    return {name: one.default for name, one in inspect.signature(function).parameters.items()}


@pytest.mark.parametrize(
    ("command", "function", "names"),
    [
        (one_access.solve_command, solve, ("tolerance", "time_limit", "radius")),
        (one_access.curve, trade_off, ("tolerance", "breakpoints")),
        (through_time.evaluate_command, evaluate, ("accesses", "walks", "seed")),
        (through_time.plan_command, plan, ("outlook", "mode", "discount", "walks", "seed")),
        (many_people.compare_command, compare, ("accesses", "walks", "seed", "workers")),
        (many_people.study_command, study, ("users", "accesses", "privacy", "quality", "seed", "workers")),
        (many_people.reproduce_command, reproduce, ("users", "seed", "workers")),
        (many_people.fleet_command, Job, ("step", "memory", "gaps", "quality")),
    ],
)
def test_defaults_are_those_of_the_function(command, function, names):
    ours, theirs = defaults(command), defaults(function)
    assert {name: ours[name] for name in names} == {name: theirs[name] for name in names}


def test_a_plan_is_simulated_for_as_many_accesses_as_in_python():
    assert defaults(through_time.plan_command)["accesses"] == ACCESSES


def test_the_help_of_learn_names_every_format():
    told = inspect.get_annotations(one_access.learn)["form"]
    assert all(name in told for name in FORMATS)


def test_what_lies_between_accesses_is_no_matter_of_one_access():
    for protect in Protect:
        if protect in (Protect.TRAJECTORY, Protect.BETWEEN):
            with pytest.raises(ParameterError, match="Use design or plan, which look at several accesses"):
                scenario_alone(protect, "solve")
        else:
            assert scenario_alone(protect, "solve").target == scenario_of_codebook(protect, 0, 1).target
