"""Players against everything that could be done, written out: all histories and all tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hideseek import ParameterError, Scenario, plan, solve
from hideseek.metrics import hamming
from hideseek.planning import BeliefGame, Mode, Outlook
from hideseek.planning.player import GIVEN_UP, ROUGH, Player
from tests.oracles.full_program import best_over_histories, best_value
from tests.support.tiny_games import NAMES, SCIPY, beliefs, game, trained


def played_out(player: Player, belief: np.ndarray, accesses: int, discount: float) -> float:
    """The exact discounted privacy of what a planner values most, over all that may be exposed."""
    own, found = player.game, player.best(belief)
    total = found.privacy
    for release in range(found.table.shape[1] if accesses > 1 else 0):
        mass = float(belief @ found.table[:, release])
        if mass > 1e-9:
            after = own.later(own.learned(belief, found.table, release=release))
            total += discount * mass * played_out(player, after, accesses - 1, discount)
    return total


@pytest.mark.parametrize("name", ["two", "choice", "sacrifice", "way", "later"])
def test_play_lies_below_the_cuts_and_near_the_best_over_all_histories(name):
    own, planner = game(name), trained(name)
    accesses = 5 if own.profile.places == 2 and name == "two" else 4
    reached = played_out(Player(own, planner), own.start, accesses, 0.5)
    best = best_over_histories(own, own.start, accesses, 0.5)
    # it plays for all the accesses to come, of which this counts the first few
    rest = 0.5**accesses * own.ceiling.bound / 0.5
    assert best - rest - 4 * ROUGH * own.error.mean() <= reached <= best + SCIPY
    assert reached <= planner.value(own.start) + SCIPY


@pytest.mark.parametrize(("name", "least"), [("choice", 1.3), ("sacrifice", 1.02)])
def test_looking_further_is_worth_more(name, least):
    """By exact enumeration of histories; lexicographic planners lie between."""
    own = game(name)

    def reached(outlook, mode="trade-off"):
        return played_out(Player(own, trained(name, outlook, mode)), own.start, 4, 0.5)

    plain, best, modest = reached("plain"), reached("far-sighted"), reached("far-sighted", "lexicographic")
    assert best > least * plain
    assert best >= modest >= plain
    assert reached("look-ahead") > plain


def test_a_lexicographic_planner_gives_up_what_only_a_sacrifice_brings():
    own = game("sacrifice")
    both = (played_out(Player(own, trained("sacrifice", mode=mode)), own.start, 4, 0.5) for mode in Mode)
    lexicographic, trade_off = both
    assert trade_off > 1.01 * lexicographic


def two_accesses(own: BeliefGame, belief: np.ndarray, table: np.ndarray) -> float:
    """What the next access is worth at best after this table."""
    joint = belief[:, None] * table
    worth = 0.0
    for release in np.flatnonzero(joint.sum(axis=0) > 1e-12):
        mass = joint[:, release].sum()
        worth += mass * best_value(own.error, own.cost, own.budget, joint[:, release] @ own.moves / mass)
    return worth


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("discount", [0.5, 0.95])
def test_looking_ahead_is_the_program_of_two_accesses_written_out(name, discount):
    own = game(name)
    player = Player(own, trained(name, "look-ahead", discount=discount))
    for belief in [own.start, *beliefs(own, 4, seed=1)]:
        found = player.play(belief)
        value = found.privacy + discount * two_accesses(own, belief, found.table)
        best = best_over_histories(own, belief, 2, discount)
        assert best - 4 * ROUGH * own.error.mean() <= value <= best + SCIPY


@pytest.mark.parametrize("name", NAMES)
def test_looking_ahead_lexicographically_is_the_same_among_the_optima(name):
    own = game(name)
    player = Player(own, trained(name, "look-ahead", "lexicographic"))
    for belief in [own.start, *beliefs(own, 4, seed=2)]:
        found = player.play(belief)
        most = best_value(own.error, own.cost, own.budget, belief)
        assert found.privacy >= most * (1 - 2 * GIVEN_UP) - SCIPY
        value = two_accesses(own, belief, found.table)
        best = best_over_histories(own, belief, 2, 1.0, least=most * (1 - GIVEN_UP / 2) - SCIPY)
        assert best - 5 * ROUGH * own.error.mean() / 0.5 <= value <= best + 10 * SCIPY


@pytest.mark.parametrize("outlook", ["look-ahead", "far-sighted"])
def test_a_future_of_no_weight_leaves_the_optimum_of_now(outlook):
    own = game()
    planner = plan(own, outlook=outlook, discount=0)
    assert not len(planner.cuts)
    assert planner.value(own.start) == 0
    player, plain = Player(own, planner), Player(own, plan(own, outlook="plain"))
    for belief in beliefs(own, 5):
        found = player.play(belief)
        np.testing.assert_array_equal(found.table, plain.play(belief).table)
        assert found.privacy == pytest.approx(best_value(own.error, own.cost, own.budget, belief), abs=2e-6)


@pytest.mark.parametrize("outlook", list(Outlook))
@pytest.mark.parametrize("name", ["line", "way"])
def test_lexicographic_planners_never_give_up_privacy_now(outlook, name):
    own = game(name)
    player = Player(own, trained(name, outlook, "lexicographic"))
    for belief in [own.start, *beliefs(own, 6, seed=4), np.eye(len(own.states))[0]]:
        best = solve(own.at(belief)).bound
        found = player.play(belief)
        assert found.privacy >= best * (1 - 3 * GIVEN_UP) - 3e-6 * own.error.mean()
        assert found.loss <= own.budget * (1 + 1e-15)


def test_trade_off_gives_up_privacy_now_where_the_future_pays_for_it():
    own = game("sacrifice")
    player = Player(own, trained("sacrifice", "look-ahead", discount=0.95))
    short = [best_value(own.error, own.cost, own.budget, b) - player.play(b).privacy for b in beliefs(own, 12)]
    assert max(short) > 1e-3
    assert min(short) > -2e-6


def test_the_secondary_criterion_is_the_error_about_the_next_target():
    own = game("sacrifice")
    planner = trained("sacrifice", "secondary")
    assert (planner.mode, planner.discount) == (Mode.LEXICOGRAPHIC, 1.0)
    player = Player(own, planner)
    for belief in beliefs(own, 6):
        found = player.play(belief)
        now = best_value(own.error, own.cost, own.budget, belief)
        left = (own.error @ own.moves.T @ (belief[:, None] * found.table)).min(axis=0).sum()
        best = best_value(
            own.error, own.cost, own.budget, belief, 0.0, 1.0, own.error @ own.moves.T, now * (1 - 1e-6) - SCIPY
        )
        assert left == pytest.approx(best, abs=2 * ROUGH * own.error.mean())


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("outlook", list(Outlook))
@pytest.mark.parametrize(("name", "columns"), [("way", [0, 1]), ("sacrifice", [0])])
def test_knowing_everything_is_playing(name, columns, outlook, mode):
    own = game(name)
    player = Player(own, trained(name, outlook, mode))
    weight = player.planner.discount if player.later is not None else 0.0
    for belief in [own.start, *beliefs(own, 4, seed=5)]:
        found, known = player.best(belief), player.play_knowing(belief, columns)
        assert known.loss <= own.budget * (1 + 1e-12)
        if player.lexicographic or not weight:
            assert known.privacy == pytest.approx(found.privacy, abs=1e-5)
        now = 0.0 if player.lexicographic else 1.0
        cuts = player.cuts @ own.moves.T

        def value(play, now=now, belief=belief, cuts=cuts):
            joint = belief[:, None] * play.table
            return now * play.privacy + weight * (cuts @ joint).min(axis=0).sum() if weight else play.privacy

        assert value(known) == pytest.approx(value(found), abs=3 * ROUGH * own.error.mean())


def test_knowing_less_is_the_best_of_the_tables_that_look_at_less():
    own = BeliefGame.of(
        game("line").profile, privacy=hamming(), quality=hamming(), budget=0.3, scenario=Scenario(target=(-1, 0))
    )
    cuts = np.random.default_rng(0).random((4, len(own.states))) * 5  # a future at odds with now
    planner = replace(plan(own, outlook="far-sighted", discount=0.3, walks=1), cuts=cuts)
    player = Player(own, planner)
    group = (own.states[:, -1] == np.arange(3)[:, None]).astype(float)
    short = []
    for belief in beliefs(own, 10, seed=6):
        found = player.play_knowing(belief, [-1])  # only the place of now
        for place in range(3):
            assert np.ptp(found.table[own.states[:, -1] == place], axis=0).max() == 0
        mass = group @ belief
        error, cost, future = (rows * belief @ group.T / mass for rows in (own.error, own.cost.T, cuts @ own.moves.T))
        best = best_value(error, cost.T, own.budget, mass, 1.0, 0.3, future)
        assert found.privacy + 0.3 * found.future == pytest.approx(best, rel=2e-4)
        short.append(best_value(error, cost.T, own.budget, mass) - found.privacy)
    assert max(short) > 1e-2, "they are at odds"


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("outlook", list(Outlook))
def test_with_a_floor_a_table_has_as_much_privacy_or_there_is_none(outlook, mode):
    own = game("line")
    player = Player(own, trained("line", outlook, mode))
    seen = set()
    for belief in beliefs(own, 12, seed=7):
        best = best_value(own.error, own.cost, own.budget, belief)
        for play in (player.play, lambda law, floor: player.play_knowing(law, [0], floor)):
            found = play(belief, floor=0.2)
            if abs(best - 0.2) > 1e-5:
                assert (found is None) == (best < 0.2)
            assert found is None or found.privacy >= 0.2 * (1 - 1e-7)
            seen.add(found is None)
    assert seen == {True, False}


@pytest.mark.parametrize("outlook", list(Outlook))
@pytest.mark.parametrize("mode", list(Mode))
def test_after_restore_a_play_depends_on_the_belief_alone(outlook, mode):
    own = game("sacrifice")
    planner = trained("sacrifice", outlook, mode, 0.9)
    if planner.outlook is Outlook.LOOK_AHEAD:
        planner = replace(planner, cuts=planner.cuts[:1])  # more will come as it looks
    player = Player(own, planner)
    player.keep()
    laws = beliefs(own, 5, seed=8)
    known = []
    for belief in laws:
        player.restore()
        known.append(player.play(belief))
    for at in (3, 0, 4, 1, 2):
        for belief in laws:
            player.play(belief)
        player.restore()
        np.testing.assert_array_equal(player.play(laws[at]).table, known[at].table)


@pytest.mark.parametrize("belief", [[0.5, 0.5], [0.5, 0.5, 0.5], [2.0, -1.0, 0.0], [np.nan, 0.5, 0.5]])
def test_what_is_no_belief_is_not_played(belief):
    own = game()
    player = Player(own, trained("line"))
    table = np.eye(3)
    for use in (
        player.play,
        lambda law: player.play_knowing(law, [0]),
        own.at,
        own.later,
        lambda law: own.learned(law, table, release=0),
    ):
        with pytest.raises(ParameterError, match="'belief' parameter"):
            use(belief)
