"""Whatever is given to a public function, what comes out is an answer or an error of ours that names the parameter."""

from __future__ import annotations

import errno
import inspect
import os
import pickle
import re
import shutil
import types
from contextlib import suppress
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy import sparse

import hideseek as hs
from hideseek import HideseekError, ParameterError, baselines
from hideseek.errors import OutputError
from hideseek.util.limits import refuse_if_too_large
from tests.support.belief_calls import belief_calls
from tests.support.fleets import JOB
from tests.support.place_calls import place_calls
from tests.support.public_names import RESULTS

WRONG = (None, object(), "text", b"x", -1, 1.5, [], {}, [None], lambda: None, np.array(["a"]), float("nan"))
WRONG += (10**400, [10**400], "\ud800", range(10**30))
WRONG += (
    *(np.array(0.5), np.array(0), np.array([]), np.zeros((0, 0)), np.zeros((0, 2)), np.zeros((2, 0))),
    *(np.zeros((2, 2, 2)), np.zeros((3, 3)), np.zeros(3), np.zeros(2), np.full((2, 2), np.nan), np.array([None])),
    *(np.array([0.5, 0.5j]), np.array([[-9]]), np.array([7]), np.array([True]), [[]], [[0], [0, 1]], ((),), set()),
    *(2**62, -(2**63), float("inf"), sparse.csr_array(np.eye(2)), sparse.csr_array((0, 0))),
)
NEVER = (object(), b"x")  # of no type that anything asks for: where an answer would take long
TRACES = hs.synthetic_city(people=2, days=1, seed=2)
HALF = np.array([[0.5, 0.5], [0.5, 0.5]])
APART = 1 - np.eye(2)
SLOW = {"compare", "compare_people", "protect", "run_fleet", "reproduce", "robustness", "study"}
NONE_OF_PLAN = "scenario", "over", "cap", "progress"
EXPERT = {"certify"}  # for solvers of one's own: it is given what a solver claims, and believes nothing of it
PROTOCOLS = {"Policy", "Profile", "Regions"}


@cache
def things() -> types.SimpleNamespace:
    """Small ones of every kind."""
    places = hs.Places([46.52, 46.53], [6.57, 6.58])
    profile = hs.MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]], places)
    metric = hs.metrics.hamming()
    game = hs.Game.from_prior([0.5, 0.5], privacy=APART, quality=APART, budget=0.2)
    repeated = hs.planning.BeliefGame.of(profile, privacy=metric, quality=metric, budget=0.1)
    rows = hs.game.LinearRows.for_each_release([[-1.0, 0.5]], 2)
    return types.SimpleNamespace(
        places=places,
        grid=hs.Grid.covering(TRACES, rows=2, columns=2),
        profile=profile,
        periodic=hs.PeriodicProfile.fit(TRACES, hs.Grid.covering(TRACES, rows=2, columns=2)),
        metric=metric,
        game=game,
        solution=hs.solve(game),
        mechanism=hs.Mechanism(HALF),
        repeated=repeated,
        planner=hs.plan(profile, privacy=metric, quality=metric, budget=0.1, walks=1),
        codebook=hs.design(profile, hs.Scenario.past_present(1), privacy=metric, quality=metric, budget=0.1),
        scenario=hs.Scenario.sporadic(),
        law=hs.model.possible_trajectories(profile, (0,)),
        setting=baselines.Setting(profile, privacy="euclid", quality="euclid"),
        delta=baselines.DeltaLocationSet(profile, epsilon=1.0),
        predictive=baselines.predictive(np.array([[0.0, 0.0], [100.0, 0.0]]), noise=50.0),
        rows=rows,
        within=hs.Game(APART / 2, APART / 2, budget=0.2, rows=rows),
    )


def calls(folder):
    """By name: the function or method, and what it takes, every parameter of it."""
    t = things()
    one, belief, walks = np.array([0]), np.array([0.5, 0.5]), np.array([[0, 1, 0]])
    points, generator = t.setting.points, np.random.default_rng(0)
    device = hs.Device(t.codebook, folder / "state")
    file, book, plan = folder / "profile.json", folder / "codebook", folder / "plan"
    hs.save_profile(t.profile, file)
    t.codebook.save(book)
    hs.save_plan(t.repeated, t.planner, path=plan)
    data = folder / "data.csv"
    TRACES.to_csv(data, index=False)
    run = {"accesses": 2, "walks": 2, "seed": 0, "progress": None}
    game = {"privacy": t.metric, "quality": t.metric, "budget": 0.1}
    point = {"latitude": [46.52], "longitude": [6.57]}
    under = {"tracks": TRACES, "tiles": None}
    here = {"latitude": 46.52, "longitude": 6.57, "at": "2026-01-05T08:00:00+00:00"}
    solving = {"tolerance": 1e-6, "time_limit": 10.0}
    many = {"traces": TRACES, "seed": 0, "clock": "0h", "workers": 1, "progress": None}
    return (
        {
            "Alternatives": (
                hs.game.Alternatives,
                {"games": (t.game,), "objective": "average", "weights": np.array([1.0])},
            ),
            "Codebook": (hs.Codebook, {name: getattr(t.codebook, name) for name in hs.Codebook.__dataclass_fields__}),
            "Codebook.after": (t.codebook.after, {"stage": 0, "gap": 1}),
            "Codebook.load": (hs.Codebook.load, {"path": book}),
            "Codebook.map": (t.codebook.map, under),
            "Codebook.metric_document": (t.codebook.metric_document, {"role": "privacy"}),
            "Codebook.occasion": (t.codebook.occasion, {"stage": 0}),
            "Codebook.plot": (t.codebook.plot, {"ax": None}),
            "Codebook.save": (t.codebook.save, {"path": book}),
            "Codebook.simulate": (t.codebook.simulate, {"walks": walks, "words": lambda n: np.zeros(n, np.uint64)}),
            "Codebook.stage_at": (t.codebook.stage_at, {"access": 0}),
            "Codebook.worths": (t.codebook.worths, {}),
            "Device": (hs.Device, {"codebook": t.codebook, "state": folder / "state"}),
            "Device.draw": (device.draw, {"stage": 0, "position": 0, "seen": (), "known": (0,)}),
            "Device.expose": (device.expose, here | {"ahead": ()}),
            "Device.simulate": (device.simulate, {"walks": walks}),
            "Game": (
                hs.Game,
                {
                    "error": APART / 2,
                    "cost": APART / 2,
                    "budget": 0.1,
                    "rows": t.rows,
                    "mass": belief,
                    "units": ("", ""),
                }
                | dict.fromkeys(("guesses", "inputs", "releases"), np.array([[0], [1]])),
            ),
            "Game.from_prior": (
                hs.Game.from_prior,
                {"prior": belief, "privacy": APART, "quality": APART, "budget": 0.1},
            ),
            "Game.from_scenario": (
                hs.Game.from_scenario,
                {"profile": t.profile, "scenario": t.scenario, **game, "distribution": t.law, "seen": ()},
            ),
            "Game.with_budget": (t.game.with_budget, {"budget": 0.2}),
            "Grid": (
                hs.Grid,
                {"south": 0.0, "north": 1.0, "west": 0.0, "east": 1.0, "rows": 2, "columns": 2, "kept": (0, 1)},
            ),
            "Grid.covering": (hs.Grid.covering, {"traces": TRACES, "rows": 2, "columns": 2}),
            "Grid.keep": (t.grid.keep, {"places": [0]}),
            "Grid.locate": (t.grid.locate, point),
            "Grid.nearest": (t.grid.nearest, point),
            "Hexagons": (hs.Hexagons, {"cells": ("881f1d4887fffff",)}),
            "Hexagons.around": (hs.Hexagons.around, point | {"resolution": 8}),
            "Hexagons.covering": (hs.Hexagons.covering, {"traces": TRACES, "resolution": 5}),
            "Hexagons.keep": (hs.Hexagons(("881f1d4887fffff",)).keep, {"places": [0]}),
            "Hexagons.locate": (hs.Hexagons(("881f1d4887fffff",)).locate, point),
            "Hexagons.nearest": (hs.Hexagons(("881f1d4887fffff",)).nearest, point),
            "Job": (
                hs.fleet.Job,
                {"grid": (1, 2), "box": (0.0, 1.0, 0.0, 1.0), "step": "5min"}
                | dict.fromkeys(("cell", "h3", "places", "about", "memory", "cap", "against", "over"))
                | {"privacy": ("hamming",), "quality": "squared", "budgets": ("20%",), "sensitive": ()},
            ),
            "MarkovProfile": (
                hs.MarkovProfile,
                {name: getattr(t.profile, name) for name in hs.MarkovProfile.__dataclass_fields__},
            ),
            "MarkovProfile.fit": (
                hs.MarkovProfile.fit,
                {"traces": TRACES, "regions": t.grid, "step": "5min", "order": 1, "close": True, "smoothing": 0.0}
                | {"keep_places": True},
            ),
            "MarkovProfile.following": (t.profile.following, {"past": np.array([[0]]), "time": 1}),
            "MarkovProfile.from_matrix": (
                hs.MarkovProfile.from_matrix,
                {"matrix": HALF, "regions": t.places, "step": "5min"},
            ),
            "MarkovProfile.map": (t.profile.map, under),
            "MarkovProfile.plot": (t.profile.plot, {"ax": None}),
            "MarkovProfile.probability": (t.profile.probability, {"sequence": (0, 1)}),
            "MarkovProfile.sample": (t.profile.sample, {"steps": 2, "count": 1, "seed": 0}),
            "Mechanism": (
                hs.Mechanism,
                {"distributions": HALF} | dict.fromkeys(("inputs", "releases"), np.array([[0], [1]])),
            ),
            "Metric": (
                hs.Metric,
                {"name": "x", "unit": "m", "between": t.metric.between, "looks_back": False, "recipe": None},
            ),
            "PeriodicProfile": (
                hs.PeriodicProfile,
                {name: getattr(t.periodic, name) for name in hs.PeriodicProfile.__dataclass_fields__},
            ),
            "PeriodicProfile.at": (t.periodic.at, {"time": "08:00"}),
            "PeriodicProfile.following": (t.periodic.following, {"past": np.array([[0]]), "time": 1}),
            "PeriodicProfile.distribution_at": (t.periodic.distribution_at, {"time": 1}),
            "PeriodicProfile.map": (t.periodic.map, under),
            "PeriodicProfile.plot": (t.periodic.plot, {"ax": None}),
            "PeriodicProfile.probability": (t.periodic.probability, {"sequence": (0, 1)}),
            "PeriodicProfile.sample": (t.periodic.sample, {"steps": 2, "count": 1, "seed": 0}),
            "Places": (hs.Places, {"latitudes": [46.52, 46.53], "longitudes": [6.57, 6.58], "names": ("a", "b")}),
            "Places.keep": (t.places.keep, {"places": [0]}),
            "Places.locate": (t.places.locate, point),
            "Places.nearest": (t.places.nearest, point),
            "Planner": (hs.Planner, {name: getattr(t.planner, name) for name in hs.Planner.__dataclass_fields__}),
            "Planner.checked": (t.planner.checked, {"game": t.repeated}),
            "Planner.map": (t.planner.map, {"game": t.repeated} | under),
            "Planner.proved": (t.planner.proved, {"game": t.repeated, "proof": t.planner.proof}),
            "Planner.value": (t.planner.value, {"belief": belief}),
            "LinearRows": (
                hs.game.LinearRows,
                {name: getattr(t.rows, name) for name in hs.game.LinearRows.__dataclass_fields__},
            ),
            "LinearRows.for_each_release": (
                hs.game.LinearRows.for_each_release,
                {"block": [[-1.0, 0.5]], "releases": 2},
            ),
            "Scenario": (
                hs.Scenario,
                {"target": (0,), "seen": (-1,), "release": (0,), "quality": (0,), "known": (0,)}
                | {"causal": False, "every": 1},
            ),
            "Scenario.causal_groups": (hs.Scenario.present_future().causal_groups, {"inputs": np.array([[0, 1]])}),
            "Scenario.in_between": (hs.Scenario.in_between, {"every": 2}),
            "Scenario.past_present": (hs.Scenario.past_present, {"memory": 1, "protect": "place"}),
            "Scenario.present_future": (hs.Scenario.present_future, {"planned": False}),
            "Scenario.sporadic": (hs.Scenario.sporadic, {}),
            "Trajectories": (
                hs.model.Trajectories,
                {"offsets": (0,), "sequences": np.array([[0]]), "probability": np.ones(1)},
            ),
            "Trajectories.at": (t.law.at, {"offsets": (0,)}),
            "Trajectories.given": (t.law.given, {"exposed": {0: 0}, "table": HALF}),
            "attack": (
                hs.adversary.attack,
                {"exposer": t.codebook, "profile": t.profile, "adversary": "window", "privacy": t.metric, "window": 1}
                | {"believes": None}
                | run,
            ),
            "beliefs": (hs.adversary.beliefs, {"codebook": t.codebook, "profile": t.profile, "exposed": [0, 1]}),
            "best_guesses": (hs.adversary.best_guesses, {"game": t.game, "mechanism": t.mechanism}),
            "check_traces": (hs.traces.check_traces, {"table": TRACES, "owner": "test"}),
            "compare": (
                hs.experiments.compare,
                {"profile": t.profile, **game, "rivals": baselines.RIVALS[:1], "workers": 1, "over": "access"} | run,
            ),
            "compare_people": (
                hs.experiments.compare_people,
                {"profiles": {"a": t.profile, "b": t.profile}, "pairs": [("hamming", "hamming")], "budget": 0.1}
                | {"rivals": baselines.RIVALS[:1], "workers": 1, "over": "access"}
                | run,
            ),
            "correlation_aware_error": (
                hs.adversary.correlation_aware_error,
                {"profile": t.profile, "mechanism": t.mechanism, "privacy": t.metric},
            ),
            "design": (
                hs.design,
                {"profile": t.profile, "scenario": hs.Scenario.past_present(1), **game, "first_stages": 2}
                | {"over": "access", "choice": "uninformative", "farsighted": None, "workers": 1, "progress": None},
            ),
            "distance": (hs.metrics.distance, {"regions": t.places}),
            "distances": (hs.model.distances, {"regions": t.places}),
            "evaluate": (
                hs.evaluate,
                {"codebook": t.codebook, "profile": t.profile, "beside": None, "believes": None} | run,
            ),
            "expected_error": (hs.adversary.expected_error, {"game": t.game, "mechanism": t.mechanism, "attack": HALF}),
            "run_fleet": (
                hs.fleet.run_fleet,
                {"data": data, "out": folder / "out", "job": hs.fleet.Job(), "workers": 1, "engine": "joblib"}
                | {"progress": None, "format": None, "columns": None, "accuracy": None, "one_person": False},
            ),
            "follow": (
                hs.planning.follow,
                {"game": t.repeated, "planner": t.planner, "accesses": 10, "walks": 2, "seed": 0, "progress": None},
            ),
            "from_function": (hs.metrics.from_function, {"function": lambda a, b: 0.0, "name": "x", "unit": "m"}),
            "from_matrix": (hs.metrics.from_matrix, {"matrix": APART}),
            "guess_distribution": (hs.adversary.guess_distribution, {"mechanism": t.mechanism, "attack": HALF}),
            "hamming": (hs.metrics.hamming, {}),
            "least_loss": (hs.solvers.least_loss, {"game": t.within, "tolerance": 1e-6}),
            "load_plan": (hs.load_plan, {"path": plan, "profile": t.profile}),
            "load_profile": (hs.load_profile, {"path": file}),
            "map_page": (hs.maps.map_page, {"thing": t.codebook, "label": None} | under),
            "maximum": (hs.metrics.maximum, {"metric": t.metric, "weights": [1.0]}),
            "minimum": (hs.metrics.minimum, {"metric": t.metric, "weights": [1.0]}),
            "plan": (
                hs.plan,
                {"game": t.profile, **game, "outlook": "far-sighted", "mode": "trade-off", "against": "smoother"}
                | {"lag": 1, "discount": 0.5, "walks": 1, "seed": 0}
                | dict.fromkeys(NONE_OF_PLAN),
            ),
            "possible_trajectories": (hs.model.possible_trajectories, {"profile": t.profile, "offsets": (0,)}),
            "prefer": (hs.solvers.prefer, {"solution": t.solution, "second": t.game, "tolerance": 1e-6, "start": None}),
            "read_traces": (
                hs.read_traces,
                {
                    "path": data,
                    "format": "csv",
                    "columns": {"time": "tracked_at"},
                    "accuracy": 200.0,
                    "one_person": True,
                },
            ),
            "reproduce": (
                hs.experiments.reproduce,
                many | {"regions": t.grid, "users": 1, "budgets": (0.2,), "compared": (0.2,), "step": "5min"},
            ),
            "robustness": (
                hs.experiments.robustness,
                many | {"regions": t.grid, "days": (1,), "attacked": 1, "step": "5min"},
            ),
            "save_plan": (hs.save_plan, {"game": t.repeated, "planner": t.planner, "path": plan}),
            "save_profile": (hs.save_profile, {"profile": t.profile, "path": file}),
            "sensitive": (hs.metrics.sensitive, {"metric": t.metric, "weights": {0: 2.0}}),
            "solve": (
                hs.solve,
                dict.fromkeys(("progress", "start", "radius", "hardware", "price"), None)
                | {"game": t.game, "method": "auto"}
                | solving,
            ),
            "solve_worst_case": (hs.solvers.solve_worst_case, {"game": t.game} | solving),
            "speed": (hs.metrics.speed, {"regions": t.places}),
            "squared": (hs.metrics.squared, {"metric": t.metric}),
            "study": (
                hs.experiments.study,
                many
                | {
                    "regions": t.grid,
                    "users": 1,
                    "accesses": 10,
                    "privacy": "hamming",
                    "quality": "hamming",
                    "budgets": (0.2,),
                }
                | {"planners": ("plain", "far-sighted"), "expect": None, "step": "5min", "over": "access"},
            ),
            "synthetic_city": (hs.synthetic_city, {"people": 1, "days": 1, "seed": 0}),
            "tolerant": (hs.metrics.tolerant, {"metric": t.metric, "tolerance": {0: 2.0}}),
            "total": (hs.metrics.total, {"metric": t.metric, "weights": [1.0]}),
            "trade_off": (
                hs.trade_off,
                {"game": t.game, "budgets": [0.1, 0.2], "tolerance": 1e-3, "breakpoints": False, "progress": None},
            ),
            "verify": (hs.verify, {"codebook": t.codebook, "progress": None}),
            "baselines.DeltaLocationSet": (
                baselines.DeltaLocationSet,
                {"profile": t.profile, "epsilon": 1.0, "delta": 0.01},
            ),
            "baselines.DeltaLocationSet.after": (
                t.delta.after,
                {"state": t.delta.start(1), "exposed": one},
            ),
            "baselines.DeltaLocationSet.likely": (t.delta.likely, {"state": t.delta.start(1)}),
            "baselines.DeltaLocationSet.noise_on": (t.delta.noise_on, {"chosen": np.array([True, True])}),
            "baselines.DeltaLocationSet.start": (t.delta.start, {"sequences": 1}),
            "baselines.DeltaLocationSet.tables": (t.delta.tables, {"state": t.delta.start(1)}),
            "baselines.Predictive": (
                baselines.Predictive,
                {"points": points, "epsilon_noise": 1.0, "epsilon_test": 1.0, "threshold": 1.0},
            ),
            "baselines.Predictive.after": (t.predictive.after, {"state": t.predictive.start(1), "exposed": one}),
            "baselines.Predictive.start": (t.predictive.start, {"sequences": 1}),
            "baselines.Predictive.tables": (t.predictive.tables, {"state": t.predictive.start(1)}),
            "baselines.Rival": (
                baselines.Rival,
                {"name": "x", "reference": "y", "dial": "z", "make": lambda s, n: None, "span": lambda s: (0.0, 1.0)},
            ),
            "baselines.Setting": (
                baselines.Setting,
                {"profile": t.profile, "privacy": t.metric, "quality": t.metric},
            ),
            "baselines.blahut_arimoto": (
                baselines.blahut_arimoto,
                {"prior": belief, "loss": APART, "slope": 1.0, "tolerance": 1e-6},
            ),
            "baselines.coin": (baselines.coin, {"game": t.game, "probability": 0.5}),
            "baselines.constant": (baselines.constant, {"game": t.game}),
            "baselines.draw_planar_laplace": (
                baselines.draw_planar_laplace,
                {"points": points, "epsilon": 1.0, "generator": generator},
            ),
            "baselines.exponential": (baselines.exponential, {"distances": APART, "epsilon": 1.0}),
            "baselines.geo_indistinguishable_rows": (
                baselines.geo_indistinguishable_rows,
                {"distance": APART, "epsilon": 1.0, "releases": 2, "dilation": 1.0},
            ),
            "baselines.joint_optimum": (
                baselines.joint_optimum,
                {"setting": t.setting, "epsilon": 0.01, "budget": 1000.0, "dilation": 1.0},
            ),
            "baselines.optimal_geo_indistinguishable": (
                baselines.optimal_geo_indistinguishable,
                {"setting": t.setting, "epsilon": 0.01, "dilation": 1.0},
            ),
            "baselines.planar_laplace": (baselines.planar_laplace, {"points": points, "epsilon": 0.01}),
            "baselines.predictive": (baselines.predictive, {"points": points, "noise": 50.0}),
            "baselines.remapped": (baselines.remapped, {"mechanism": t.mechanism, "game": t.game}),
            "baselines.spanner": (baselines.spanner, {"distance": APART, "dilation": 1.1}),
            "baselines.truth": (baselines.truth, {"game": t.game}),
            "baselines.uniform_squares": (baselines.uniform_squares, {"points": points, "half_side": 50.0}),
            "baselines.with_distortion": (baselines.with_distortion, {"setting": t.setting, "epsilon": 0.01}),
        }
        | place_calls(TRACES, t.grid, t.metric)
        | belief_calls(t.repeated, t.planner, folder)
    )


def public():
    """Every public function, constructor and method, by name, with its parameters."""
    found = {}
    for module in (hs, *(value for _, value in inspect.getmembers(hs, inspect.ismodule))):
        prefix = "baselines." if module is baselines else ""
        for name in getattr(module, "__all__", None) or sorted(vars(module)):
            value = getattr(module, name)
            if inspect.isfunction(value) and not name.startswith("_") and name not in EXPERT:
                found[prefix + name] = value
            elif inspect.isclass(value) and value.__module__.startswith("hideseek") and name not in RESULTS | PROTOCOLS:
                if issubclass(value, BaseException | str):
                    continue
                found[prefix + name] = value
                for own, method in inspect.getmembers(
                    value, lambda one: inspect.isfunction(one) or inspect.ismethod(one)
                ):
                    if not own.startswith("_") and own not in getattr(value, "__dataclass_fields__", ()):
                        found[f"{prefix}{name}.{own}"] = method
    return {
        name: [one for one in inspect.signature(value).parameters if one != "self"] for name, value in found.items()
    }


PUBLIC = public()


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return calls(tmp_path_factory.mktemp("boundary"))


def test_the_table_of_calls_is_complete_and_right(table):
    assert {name: sorted(values) for name, (_, values) in table.items()} == {
        name: sorted(values) for name, values in PUBLIC.items()
    }
    for name in table.keys() - SLOW:
        call, values = table[name]
        call(**values)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_a_wrong_value_is_answered_or_refused_by_an_error_of_ours(table, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    call, values = table[name]
    for parameter, value in product(values, NEVER if name in SLOW else WRONG):
        try:
            with suppress(HideseekError):
                call(**values | {parameter: value})
        except Exception as error:
            error.add_note(f"{name}({parameter}={value!r})")
            raise


def test_what_is_refused_is_told_by_its_type_and_not_by_its_value(table):
    expose, values = table["Device.expose"]
    with pytest.raises(ParameterError) as refused:
        expose(**values | {"latitude": "46.5197"})
    assert str(refused.value) == "The 'latitude' parameter of Device.expose must be a number. Got str instead."
    several = "a sequence (each"
    for call, words in (
        (lambda: hs.solve([[1]]), "'game' parameter of solve must be a Game or an Alternatives. Got list"),
        (lambda: hs.load_profile(3), "'path' parameter of load_profile must be the path of a file. Got int"),
        (lambda: hs.metrics.distance(None), "'regions' parameter of distance must be a Regions. Got NoneType"),
        (lambda: hs.Places([0.0], [0.0], names="x"), f"'names' parameter of Places must be {several} text). Got str"),
        (lambda: hs.planning.follow(None, None), "'game' parameter of follow must be a BeliefGame. Got NoneType"),
        (
            lambda: hs.metrics.sensitive(hs.metrics.hamming(), {"home": 2}),
            "a mapping from an integer to a number, a sequence",
        ),
        (lambda: hs.synthetic_city(True), "'people' parameter of synthetic_city must be an integer. Got bool"),
        (
            lambda: hs.plan(**table["plan"][1] | {"progress": lambda done: None}),
            "'progress' parameter of plan must be a function of 3 or None. Got function",
        ),
    ):
        with pytest.raises(ParameterError, match=re.escape(words)):
            call()


def test_help_and_pickles_see_the_function_itself():
    assert list(inspect.signature(hs.solve).parameters)[:2] == ["game", "tolerance"]
    assert hs.solve.__doc__
    assert hs.solve.__name__ == "solve"
    assert pickle.loads(pickle.dumps(hs.solve)) is hs.solve
    game = pickle.loads(pickle.dumps(things().game))
    assert np.array_equal(game.cost, things().game.cost)


@pytest.mark.parametrize("name", sorted(SLOW - {"protect"} | {"design"}))
def test_more_workers_than_any_machine_has_are_refused(table, name):
    call, values = table[name]
    values |= {"reproduce": {"budgets": (0.0, 0.5), "compared": (0.5,)}, "robustness": {"attacked": 2}}.get(name, {})
    with pytest.raises(ParameterError, match="from 1 to 1024"):
        call(**values | {"workers": 10**6})


@pytest.mark.parametrize("exposed", [[5], [-5], [[]], [[0, 1]], [], np.array([np.nan]), 3, -5, np.nan, 10**400])
def test_what_was_never_exposed_is_refused(exposed):
    with pytest.raises(ParameterError, match="'exposed' parameter of beliefs"):
        hs.adversary.beliefs(things().codebook, things().profile, exposed=exposed)


@pytest.mark.parametrize("size", [10**30, 10**400])
def test_a_size_beyond_all_floats_is_refused(size):
    with pytest.raises(hs.errors.SizeError) as refused:
        refuse_if_too_large(size, "This", parameter="people")
    assert refused.value.needed == size


def test_numbers_that_are_not_whole_number_nothing():
    t = things()
    with pytest.raises(ParameterError, match="'exposed' parameter of beliefs"):
        hs.adversary.beliefs(t.codebook, t.profile, exposed=[0, 0.5])
    assert np.array_equal(
        hs.adversary.beliefs(t.codebook, t.profile, exposed=[0.0, 1.0]),
        hs.adversary.beliefs(t.codebook, t.profile, exposed=[0, 1]),
    )
    with pytest.raises(ParameterError, match="'inputs' parameter of Mechanism"):
        hs.Mechanism(HALF, inputs=[[0.5], [1.0]])
    with pytest.raises(ParameterError, match=r"'past' .* whole numbers"):
        t.profile.following(np.array([[0.5]]), 1)


def test_matrices_of_another_game_are_refused():
    t, three = things(), hs.Mechanism(np.eye(3))
    for call, words in (
        (lambda: hs.adversary.best_guesses(t.game, three), "'mechanism' parameter of best_guesses"),
        (lambda: hs.adversary.expected_error(t.game, three), "'mechanism' parameter of expected_error"),
        (
            lambda: hs.adversary.expected_error(t.game, t.mechanism, attack=np.ones(4)),
            r"of the shape \(2, 2\). Got the shape \(4,\)",
        ),
        (lambda: t.repeated.learned([0.5, 0.5], HALF, release=-1), "'release' parameter of BeliefGame.learned"),
    ):
        with pytest.raises(ParameterError, match=words):
            call()


# files


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS])
def test_a_disk_that_is_full_is_told(table, tmp_path, monkeypatch, code):
    def fails(*_):
        raise OSError(code, os.strerror(code))

    t, device = things(), table["Device.expose"]
    monkeypatch.setattr(os, "fsync", fails)
    for call, kind in (
        (lambda: hs.save_profile(t.profile, tmp_path / "p"), OutputError),
        (lambda: t.codebook.save(tmp_path / "c"), hs.errors.CodebookError),
        (lambda: hs.save_plan(t.repeated, t.planner, path=tmp_path / "l"), hs.errors.PlanError),
        (lambda: hs.Device(t.codebook, tmp_path / "s").expose(**device[1]), hs.errors.StateError),
    ):
        with pytest.raises(kind, match=os.strerror(code)):
            call()
    with pytest.raises(OutputError, match=re.escape(str(tmp_path / "p"))):
        hs.save_profile(t.profile, tmp_path / "p")
    assert not [path for path in tmp_path.iterdir() if path.suffix != ".lock"]


def test_names_that_no_file_can_have_are_told(tmp_path):
    t, name, lone, long = things(), f"{tmp_path}/a\0b", f"{tmp_path}/\ud800", tmp_path / ("x" * 300)
    (tmp_path / "file").touch()
    for path in (name, lone, long, tmp_path / "file" / "below"):
        with pytest.raises(HideseekError):
            hs.read_traces(path)
    for path, call in product(
        (name, lone, long, tmp_path, tmp_path / "file" / "below"),
        (
            lambda path: hs.save_profile(t.profile, path),
            t.codebook.save,
            lambda path: hs.save_plan(t.repeated, t.planner, path=path),
            hs.load_profile,
            hs.load_plan,
            hs.Codebook.load,
            lambda path: hs.fleet.run_fleet(path, tmp_path / "file", workers=1),
        ),
    ):
        with pytest.raises(HideseekError):
            call(path)


def test_marks_that_are_no_text_are_done_again(city, undisturbed, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(undisturbed, out)
    (out / "done" / "person-001.json").write_bytes(b'{"user":"\xff"}')
    assert hs.fleet.run_fleet(city, out, job=JOB, workers=1).reused == 3
    (out / "fleet.json").write_bytes(b'{"step":"\xff"}')
    with pytest.raises(ParameterError, match="holds the same job"):
        hs.fleet.run_fleet(city, out, job=JOB, workers=1)
