"""Plans on disk: everything comes back, and nothing that is damaged, hostile or of another game is believed."""

from __future__ import annotations

import errno
import itertools
import os
import stat
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from hideseek import (
    HideseekError,
    MarkovProfile,
    ParameterError,
    Places,
    Scenario,
    load_plan,
    load_profile,
    save_plan,
    save_profile,
    synthetic_city,
)
from hideseek.errors import PlanError
from hideseek.metrics import distance, from_function, hamming, squared, total
from hideseek.model.regions import Grid
from hideseek.planning import BeliefGame, follow, plan
from hideseek.planning.plan_file import content_of, plan_from
from hideseek.planning.planner import Proof, for_ever
from hideseek.planning.player import Player
from hideseek.storage.sealed_file import LARGEST
from tests.support.fuzz_sealed import fuzz, plans, put_together, signed, taken_apart, unsigned
from tests.support.tiny_games import game as tiny

REGIONS = Places([46.5, 46.6, 46.7], [6.5, 6.6, 6.5], names=("home", "work", "gym"))
CHAIN = [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.4, 0.0, 0.6]]
PROFILE = MarkovProfile.from_matrix(CHAIN, REGIONS)
GAME = BeliefGame.of(PROFILE, privacy=distance(REGIONS), quality=hamming(), budget=0.2)
PLANNER = plan(GAME, walks=2, discount=0.8, seed=3)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "me.plan"
    save_plan(GAME, PLANNER, path=path)
    return path


def refused(content: bytes, message: str) -> None:
    with pytest.raises(HideseekError, match=message):
        plan_from(memoryview(content))


# --- round trip ---------------------------------------------------------------------------------------------------


def second_order() -> MarkovProfile:
    traces = synthetic_city(people=1, days=3)
    return MarkovProfile.fit(traces, Grid.covering(traces, rows=3, columns=3), order=2)


@pytest.mark.parametrize(
    ("profile", "privacy", "quality", "scenario", "outlook"),
    [
        (PROFILE, distance(REGIONS), squared(distance(REGIONS)), Scenario.sporadic(), "far-sighted"),
        (PROFILE, total(hamming(), weights=[2, 1]), hamming(), Scenario(target=(-1, 0)), "look-ahead"),
        (PROFILE, hamming(), 1 - np.eye(3), Scenario(target=(0, 1), known=(0,)), "plain"),
        (PROFILE, hamming(), from_function(lambda a, b: float(a != b)), Scenario.in_between(2), "secondary"),
        (MarkovProfile.from_matrix(CHAIN), 1 - np.eye(3), hamming(), None, "far-sighted"),
        (second_order(), hamming(), hamming(), Scenario(target=(0,), known=(-1, 0)), "plain"),
    ],
    ids=["squared", "way", "next", "own metric", "no regions", "second order"],
)
def test_everything_comes_back(tmp_path, profile, privacy, quality, scenario, outlook):
    budget = 1e7 if getattr(quality, "unit", "") else 0.2
    game = BeliefGame.of(profile, privacy=privacy, quality=quality, budget=budget, scenario=scenario)
    planner = plan(game, outlook=outlook, discount=0.5, walks=1, seed=7)
    save_plan(game, planner, path=tmp_path / "a.plan")
    again, loaded = load_plan(tmp_path / "a.plan", profile=profile)
    assert (again.scenario, again.budget, again.sha256) == (game.scenario, game.budget, game.sha256)
    for name in ("states", "start", "error", "cost", "moves"):
        np.testing.assert_array_equal(getattr(again, name), getattr(game, name))
    assert (again.profile.step, again.profile.regions) == (profile.step, profile.regions)
    for name in ("outlook", "mode", "discount", "bound", "sha256", "seed"):
        assert getattr(loaded, name) == getattr(planner, name)
    np.testing.assert_array_equal(loaded.cuts, planner.cuts)
    first, second = (Player(one, own).play(game.start) for one, own in ((game, planner), (again, loaded)))
    np.testing.assert_array_equal(first.table, second.table)
    assert content_of(again, loaded) == content_of(game, planner)


def test_a_plan_holds_for_the_profile_read_from_its_own_file(tmp_path, file):
    save_profile(PROFILE, tmp_path / "me.json")
    load_plan(file, profile=load_profile(tmp_path / "me.json"))


# --- the bound ------------------------------------------------------------------------------------------------------


def violation(game: BeliefGame, cuts: np.ndarray, discount: float) -> float:
    """How far the value that cuts promise exceeds one of them at some belief, by scipy's program; at most 0 if proved.

    Over all joint distributions x[state, release] at once, whose sums over releases are all beliefs.
    """
    states, releases = game.cost.shape
    width = states * releases

    def rows(errors, height):
        """height[o] - sum_i errors[k, i] x[i, o] <= 0 for every release o and every k."""
        found = np.zeros((len(errors) * releases, width + 2 * releases))
        for k, o in itertools.product(range(len(errors)), range(releases)):
            found[k * releases + o, o:width:releases] = -errors[k]
            found[k * releases + o, width + height * releases + o] = 1
        return found

    budget = np.r_[(game.cost - game.budget).ravel(), np.zeros(2 * releases)]
    below = np.vstack([rows(game.error, 0), rows(cuts @ game.moves.T, 1), budget])
    worst = -np.inf
    for cut in cuts:
        gain = np.r_[np.repeat(-cut, releases), np.ones(releases), np.full(releases, discount)]
        found = linprog(
            -gain,
            A_ub=below,
            b_ub=np.zeros(len(below)),
            A_eq=np.r_[np.ones(width), np.zeros(2 * releases)][None],
            b_eq=[1],
            bounds=[(0, None)] * width + [(None, None)] * 2 * releases,
        )
        worst = max(worst, -found.fun)
    return worst


@pytest.mark.parametrize("name", ["line", "choice", "sacrifice", "next"])
def test_the_bound_of_a_file_is_proved_by_what_the_file_holds(tmp_path, name):
    """The cuts that choose are too few to prove it; those of the proof bound the value at every belief."""
    game = tiny(name)
    planner = plan(game, discount=0.8, walks=3)
    save_plan(game, planner, path=tmp_path / "a.plan")
    again, loaded = load_plan(tmp_path / "a.plan")
    cuts = loaded.proof.cuts(again, 0.8)
    unit = game.error.max()
    assert violation(game, cuts, 0.8) <= 1e-7 * unit  # scipy's tolerance
    assert loaded.bound == pytest.approx(min(game.ceiling.bound, 0.2 * (cuts @ game.start).min()), rel=1e-12)
    assert loaded.bound <= planner.bound * (1 + 1e-12)


def test_a_price_that_swallows_the_error_proves_no_more():
    """Whatever is released costs the whole budget, and so much that a float forgets the adversary's expected error."""
    game = BeliefGame.of(MarkovProfile.from_matrix(CHAIN), privacy=1 - np.eye(3), quality=np.ones((3, 3)), budget=1.0)
    planner = plan(game, walks=1)
    document, tensors = taken_apart(content_of(game, planner))
    part("proof.price", lambda own: own + 1e20)(document, tensors)
    assert plan_from(memoryview(put_together(document, tensors)))[1].bound == pytest.approx(
        game.ceiling.bound, rel=1e-6
    )


def test_the_first_cut_holds_however_little_is_discounted():
    game = tiny("choice")
    for discount in (0.9, 1 - 1e-9, 1 - 1e-15):
        found = for_ever(game.ceiling_cut, game, discount)
        exact = [Fraction(one) for one in found]
        moves = [[Fraction(one) for one in row] for row in game.moves]
        for state, now in enumerate(game.ceiling_cut):
            later = sum(move * one for move, one in zip(moves[state], exact, strict=True)) / sum(moves[state])
            assert exact[state] >= Fraction(now) + Fraction(discount) * later


def test_pruned_cuts_prove_nothing():
    """Somebody who mostly moves: c0 guesses 0 for ever, c1 guesses 1 now and 0 for ever after.

    Where the person is known to be at 1, c1 is the lesser one. Alone it promises that somebody guesses 1 at the next
    access too, where the person is at 0 by then: c1 - c0 = (1, -1), so it is exceeded by 0.8 (0.8 - 0.2) at that
    belief, and by less at all others.
    """
    differ, discount = 1 - np.eye(2), 0.8
    chain = MarkovProfile.from_matrix([[0.2, 0.8], [0.8, 0.2]])
    game = BeliefGame.of(chain, privacy=differ, quality=differ, budget=0.1)
    guesses_then_cuts = [[1, 0, 0, 0], [1, 0, 0, 0], [0, 1, 1, 0], [0, 1, 1, 0]]  # two releases of each cut
    proof = Proof(np.zeros(2), sparse.csr_array(np.array(guesses_then_cuts, float)))
    cuts = proof.cuts(game, discount)
    forever = np.linalg.solve(np.eye(2) - discount * game.moves, [0, 1])
    assert cuts == pytest.approx(np.array([forever, [1, 0] + discount * game.moves @ forever]), abs=1e-6)
    assert violation(game, cuts, discount) <= 1e-7  # scipy's tolerance
    assert violation(game, cuts[1:], discount) == pytest.approx(0.48, abs=1e-6)


def test_cuts_that_promise_little_do_not_lower_the_bound():
    document, tensors = taken_apart(content_of(GAME, PLANNER))
    cuts(lambda own: own / 2)(document, tensors)
    assert plan_from(memoryview(put_together(document, tensors)))[1].bound == pytest.approx(PLANNER.bound, rel=1e-12)


# --- of another game ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changed",
    [
        MarkovProfile.from_matrix([[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.4, 1e-9, 0.6 - 1e-9]], REGIONS),
        MarkovProfile.from_matrix(CHAIN, Places([46.5, 46.6, 46.8], [6.5, 6.6, 6.5], names=("home", "work", "gym"))),
        MarkovProfile.from_matrix(CHAIN, REGIONS, step="10min"),
        MarkovProfile.from_matrix(CHAIN),
        MarkovProfile.from_matrix([[0.7, 0.3], [0.2, 0.8]]),
    ],
    ids=["moves", "places", "step", "no places", "fewer places"],
)
def test_a_profile_that_changed_under_a_stored_plan_is_told(file, changed):
    with pytest.raises(PlanError, match=r"another profile\. Make a new plan"):
        load_plan(file, profile=changed)


def test_a_planner_of_another_game_is_not_written_or_used(tmp_path):
    other = BeliefGame.of(PROFILE, privacy=distance(REGIONS), quality=hamming(), budget=0.3)
    with pytest.raises(PlanError, match="Make a new plan"):
        save_plan(other, PLANNER, path=tmp_path / "a.plan")
    with pytest.raises(PlanError, match="Make a new plan"):
        Player(other, PLANNER)
    assert not list(tmp_path.iterdir())


# --- damage -------------------------------------------------------------------------------------------------------


def test_every_bit_and_every_missing_byte_counts():
    content = bytearray(plans()[3])
    plan_from(memoryview(bytes(content)))
    for at in range(len(content)):
        for bit in range(8):
            content[at] ^= 1 << bit
            with pytest.raises(PlanError):
                plan_from(memoryview(content))
            content[at] ^= 1 << bit
        with pytest.raises(PlanError):
            plan_from(memoryview(content)[:at])


@given(st.binary(max_size=200))
@settings(max_examples=50)
def test_arbitrary_bytes_are_refused(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("bytes") / "x.plan"
    path.write_bytes(content)
    with pytest.raises(PlanError, match=r"x\.plan"):
        load_plan(path)


def put(*way):
    *keys, last, value = way

    def change(document, tensors):
        for key in keys:
            document = document[key]
        document[last] = value

    return change


def cuts(change):
    def apply(document, tensors):
        kind, shape, data = tensors["cuts"]
        array = np.array(change(np.frombuffer(data).reshape(shape)), dtype=float)
        tensors["cuts"] = [kind, list(array.shape), array.tobytes()]

    return apply


def part(name, change):
    """A tensor of one dimension, changed."""

    def apply(document, tensors):
        kind, _, data = tensors[name]
        array = np.array(change(np.frombuffer(data, "<f8" if kind == "F64" else "<u4")))
        tensors[name] = [kind, [len(array)], array.tobytes()]

    return apply


def transitions(*at, value):
    def apply(document, tensors):
        kind, shape, data = tensors["transition"]
        array = np.frombuffer(data).reshape(shape).copy()
        array[at] = value
        tensors["transition"] = [kind, shape, array.tobytes()]

    return apply


HOSTILE = {
    "newer": (put("hideseek_plan", 4), "newer hideseek"),
    "a window that it does not have": (put("hideseek_plan", 3), "kind of budget"),
    "a proof in an older version": (put("hideseek_plan", 1), "unknown tensors"),
    "a proof of the next access": (put("outlook", "look-ahead"), "has no proof"),
    "no price": (lambda d, t: t.pop("proof.price"), "price is missing"),
    "a negative price": (part("proof.price", lambda own: own - 1e9), "not positive"),
    "a price without end": (part("proof.price", lambda own: own * np.inf), "not finite|not positive"),
    "negative weights": (part("proof.weight", lambda own: -own), "not positive"),
    "weights that are no numbers": (part("proof.weight", lambda own: own * np.nan), "not finite|not positive"),
    "a proof that rests on itself": (part("proof.column", lambda own: np.full_like(own, 10**6)), "rests on itself"),
    "a release without an answer": (part("proof.start", lambda own: np.r_[own[:1], own[:1], own[2:]]), "no answer"),
    "weights that sum to nothing": (part("proof.weight", lambda own: own / 2), "not a distribution"),
    "weights without end": (part("proof.weight", lambda own: own * 0 + 1.7e308), "not a distribution"),
    "rows that end nowhere": (part("proof.start", lambda own: own[::-1]), "begin and end"),
    "rows cut off": (part("proof.start", lambda own: own[:-1]), "begin and end"),
    "no proof at all": (part("proof.price", lambda own: own[:0]), "begin and end"),
    "a codebook": (lambda d, t: d.update(hideseek_codebook=d.pop("hideseek_plan")), "not that of a plan"),
    "discount": (put("discount", 1.0), "discount"),
    "discount above": (put("discount", 1.5), "not that of a plan"),
    "secondary": (put("outlook", "secondary"), "discount"),
    "outlook": (put("outlook", "psychic"), "not that of a plan"),
    "mode": (put("mode", "both"), "not that of a plan"),
    "bound": (put("bound", -1.0), "not that of a plan"),
    "seed": (put("seed", -1), "not that of a plan"),
    "budget": (put("budget", 0.21), "another"),
    "no budget": (put("budget", 0.0), "another"),
    "game": (put("game", "0" * 64), "another"),
    "scenario": (put("scenario", "every", 3), "another"),
    "long": (put("scenario", "every", 20_000), "spans more"),
    "far": (lambda d, t: d["scenario"].update(target=[0, 20_000], known=[0]), "spans more"),
    "several": (lambda d, t: d["scenario"].update(release=[0, 1], every=2), "releases one place"),
    "metric": (put("privacy", {"type": "metric", "name": "__import__", "arguments": {}}), "does not know"),
    "looks back": (put("quality", {"type": "metric", "name": "speed", "arguments": {"regions": "regions"}}), "earlier"),
    "step": (put("step", "soon"), "step"),
    "regions": (put("regions", None), "does not know"),
    "places": (lambda d, t: [d["regions"][key].pop() for key in ("latitudes", "longitudes", "names")], "one profile"),
    "cuts not finite": (cuts(lambda c: np.where(np.arange(3) == 1, np.nan, c)), "not finite"),
    "cuts infinite": (cuts(lambda c: np.where(np.arange(3) == 1, np.inf, c)), "not finite"),
    "cuts too wide": (cuts(lambda c: np.c_[c, c]), "states"),
    "cuts of the plain": (put("outlook", "plain"), "cuts"),
    "no cuts": (lambda d, t: t.pop("cuts"), "cuts is missing"),
    "more": (lambda d, t: t.update(more=["U32", [0], b""]), "unknown tensors"),
    "not a number": (transitions(0, 0, value=np.nan), "sum to 1"),
    "negative": (transitions(0, slice(2), value=[-0.1, 1.0]), "sum to 1"),
    "other moves": (transitions(0, slice(2), value=[0.6, 0.3]), "another"),
    "trap": (transitions(slice(None), slice(None), value=np.eye(3)), "every place leads"),
    "no states": (lambda d, t: t.update(states=["U32", [0, 1], b""]), "one profile"),
    "state twice": (lambda d, t: t["states"].__setitem__(2, bytes(12)), "twice"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_plan_is_refused_although_its_checksum_is_right(name):
    change, message = HOSTILE[name]
    document, tensors = taken_apart(content_of(GAME, PLANNER))
    change(document, tensors)
    refused(put_together(document, tensors), message)


def test_a_header_is_read_in_one_guise_only():
    content = unsigned(content_of(GAME, PLANNER))
    plan_from(memoryview(signed(content)))
    refused(
        signed(content.replace(b'\\"seed\\":3}', b'\\"seed\\":3 }').replace(b"  ", b" ", 1)), "as hideseek writes it"
    )


def test_nothing_but_a_plan_error_comes_of_hostile_files():
    """A long run: python -m tests.support.fuzz_sealed plan 600"""
    count = fuzz("plan", 400, seed=5)
    assert count["refused"] > 300
    assert count["accepted"] > 0, "harmless changes, such as another seed, are accepted"


# --- files --------------------------------------------------------------------------------------------------------


def test_a_plan_is_for_its_owner_only_and_written_whole_or_not_at_all(file, monkeypatch):
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    before = file.read_bytes()

    def broken(*_):
        raise OSError(errno.ENOSPC, "disk full")

    monkeypatch.setattr("os.fsync", broken)
    with pytest.raises(PlanError, match="cannot be written: disk full"):
        save_plan(GAME, replace(PLANNER, seed=4), path=file)
    monkeypatch.undo()
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_what_is_no_readable_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").touch()
    with (tmp_path / "large").open("wb") as stream:
        stream.truncate(LARGEST + 1)
    for path in ("none", ".", "pipe", "empty", "large", "\0", "/dev/zero"):
        with pytest.raises(PlanError):
            load_plan(tmp_path / path)
    for path in (None, 5):
        with pytest.raises(ParameterError, match="'path' parameter of load_plan"):
            load_plan(path)


def test_what_cannot_be_written_is_refused(tmp_path):
    way = Scenario(target=(-1, 0))
    pairs = from_function(lambda a, b: float(a != b), name="my own")
    game = BeliefGame.of(PROFILE, privacy=pairs, quality=hamming(), budget=0.2, scenario=way)
    with pytest.raises(ParameterError, match=r"'privacy' parameter of save_plan .*my own"):
        save_plan(game, plan(game, outlook="plain"), path=tmp_path / "a.plan")
    elsewhere = BeliefGame.of(PROFILE, privacy=distance(Places([1, 2, 3], [1, 2, 3])), quality=hamming(), budget=0.2)
    with pytest.raises(ParameterError, match="regions of the profile"):
        save_plan(elsewhere, plan(elsewhere, outlook="plain"), path=tmp_path / "a.plan")
    with pytest.raises(ParameterError, match="seed"):
        save_plan(GAME, replace(PLANNER, seed=2**70), path=tmp_path / "a.plan")
    assert not list(tmp_path.iterdir())


def test_a_bound_is_worked_out_and_not_believed(tmp_path):
    """Whatever bound a planner is saved with, the one that is loaded follows from its cuts and its game."""
    profile = MarkovProfile.from_matrix([[0.8, 0.2], [0.3, 0.7]])
    game = BeliefGame.of(profile, privacy=1 - np.eye(2), quality=1 - np.eye(2), budget=0.1)
    planner = plan(game, walks=2)
    save_plan(game, replace(planner, bound=1e-6), path=tmp_path / "forged.plan")
    loaded = load_plan(tmp_path / "forged.plan")[1]
    assert loaded.bound == pytest.approx(planner.bound)
    assert follow(game, loaded, accesses=20).certified <= 1
