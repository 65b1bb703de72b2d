"""What chooses its table at the belief of an adversary who remembers every release: live planners and playbooks.

The belief is public, so the choice is a policy, which every adversary attacks as any other (:class:`BeliefPolicy`); and
it can be followed over any pattern of accesses (:func:`follow_beliefs`), as silence only moves the belief on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from hideseek.adversary.guesses import likeliest_guesses, over_places
from hideseek.adversary.naming import Naming, named, namings_of
from hideseek.errors import broken_rule
from hideseek.model.belief import smoothed, updated
from hideseek.model.belief_chain import BeliefChain
from hideseek.model.profile import drawn
from hideseek.planning.simulation import without_chance
from hideseek.util.arrays import FloatArray, IntArray
from hideseek.util.best_guess import least_errors
from hideseek.util.checks import whole_number
from hideseek.util.estimates import Estimate

Choose = Callable[[FloatArray], FloatArray]  # from a belief over the states to a table [state, release]


@dataclass(frozen=True, eq=False)
class BeliefPolicy:
    """The tables that ``choose`` has at every belief, as a policy: its state is the belief before the next access.

    A solver that is asked again may give another optimum, and the adversary must follow the table that was drawn from:
    so every belief keeps its first table.
    """

    chain: BeliefChain
    choose: Choose
    _known: dict[bytes, FloatArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.chain.states.shape[1] != 1 or self.chain.every != 1:
            rule = "one that knows the current place alone, with an access at every step"
            raise broken_rule("chain", "BeliefPolicy", rule, "another")

    @property
    def symbols(self) -> int:
        """How many places may be released."""
        return int(self.chain.cost.shape[1])

    def start(self, sequences: int) -> FloatArray:
        """Before anything is exposed, the long-run distribution is believed."""
        return np.tile(self.chain.start, (sequences, 1))

    def tables(self, state: FloatArray) -> tuple[FloatArray, IntArray]:
        """The table of each distinct belief."""
        beliefs, which = np.unique(state, axis=0, return_inverse=True)
        return np.array([self.table(belief) for belief in beliefs]), which.ravel()

    def table(self, belief: FloatArray) -> FloatArray:
        """The table at a belief, the same whenever it is asked for."""
        key = belief.tobytes()
        if key not in self._known:
            # after releases that cannot be made, which are not counted, any table will do
            self._known[key] = self.choose(belief if belief.any() else self.chain.start)
        return self._known[key]

    def after(self, state: FloatArray, exposed: IntArray) -> FloatArray:
        """Bayes' rule, and the move to the next access."""
        tables, which = self.tables(state)
        believed = updated(state.T, tables[which, :, exposed].T)[0].T @ self.chain.moves
        total = believed.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(believed, total, out=np.zeros_like(believed), where=total > 0))


@dataclass(frozen=True)
class Exposure:
    """What is left against adversaries who remember every release, on average over the accesses of a run.

    ``filter`` knows the releases so far and ``smoother`` all of the run; ``namings`` says how often the filter names
    each place. ``quality_loss`` and ``worst_loss`` are the mean and the largest expected loss given every release.
    """

    filter: Estimate
    smoother: Estimate
    quality_loss: Estimate
    worst_loss: float
    namings: tuple[Naming, ...]


def follow_beliefs(
    chain: BeliefChain, choose: Choose, *, accesses: int, walks: int, waits: IntArray | None = None, seed: int = 0
) -> Exposure:
    """Follow what chooses at the belief along walks, from the first access on.

    Parameters
    ----------
    chain
        How the person moves, the errors and the losses: a game or a playbook that protects one place, the current one
        or, against later readers, an earlier one.
    choose
        Gives the table [state, release] at a belief over the states.
    accesses, walks, seed
        How many on each walk; how many walks, at least 2, whose scatter gives the 95 % intervals; and their seed.
    waits
        Steps from each access to the next, [access] for all walks or [walk, access]; by default the scenario's.

    Returns
    -------
    Exposure
        Errors, losses and namings are exact given what was released before each access; the walks decide what was.

    Examples
    --------
    >>> from hideseek.model.markov import MarkovProfile
    >>> from hideseek.planning import BeliefGame
    >>> profile = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]])
    >>> game = BeliefGame.of(profile, privacy="hamming", quality="hamming", budget=0.1)
    >>> often = np.random.default_rng(0).geometric(1 / 3, (10, 50))
    >>> found = follow_beliefs(game, lambda _: np.array([[0.9, 0.1], [0.1, 0.9]]), accesses=50, walks=10, waits=often)
    >>> 0.09 < found.filter <= 0.1, round(found.worst_loss, 9)
    (True, 0.1)
    """
    owner = "follow_beliefs"
    accesses, walks = whole_number(accesses, "accesses", owner), whole_number(walks, "walks", owner, least=2)
    generator = np.random.default_rng(whole_number(seed, "seed", owner, least=0))
    column = protected_column(chain)
    if column is None:
        raise broken_rule("chain", owner, "one that protects the current place", "one that protects others")
    given = np.full(accesses, chain.every) if waits is None else np.asarray(waits)
    if given.shape not in ((accesses,), (walks, accesses)) or given.min() < chain.every:
        rule = f"steps >= {chain.every}, [access] or [walk, access]"
        raise broken_rule("waits", owner, rule, f"the shape {given.shape}")
    moves = {int(wait): moves_over(chain, int(wait)) for wait in np.unique(given)}
    guessed = over_places(chain, column)
    done = [
        _Walk(chain, guessed, choose, [moves[wait] for wait in own.tolist()], generator)
        for own in np.broadcast_to(given, (walks, accesses))
    ]
    known = chain.ceiling_cut if column == chain.states.shape[1] - 1 else np.zeros(len(chain.states))
    aside = np.array([walk.before @ known for walk in done]) - known @ chain.start
    filtered = without_chance(np.array([walk.errors for walk in done]), aside)
    return Exposure(
        filter=Estimate.mean_of(filtered),
        # on the same walk the two differ by little that is chance
        smoother=Estimate.mean_of(filtered - [walk.learned_later for walk in done]),
        quality_loss=Estimate.mean_of(np.array([np.mean(walk.losses) for walk in done])),
        worst_loss=float(max(max(walk.losses) for walk in done)),
        namings=namings_of(np.array([walk.named / accesses for walk in done]).transpose(1, 2, 0), None),
    )


def protected_column(chain: BeliefChain) -> int | None:
    """Which known place the adversary guesses, the current one if any will do: naming the true one is no error."""
    places, (states, known) = chain.cost.shape[1], chain.states.shape
    if len(chain.error) != places:
        return None
    named = (
        column for column in reversed(range(known)) if not chain.error[chain.states[:, column], range(states)].any()
    )
    return next(named, None)


def moves_over(chain: BeliefChain, steps: int) -> FloatArray:
    """The probabilities of the state so many steps after an access, [state, state]."""
    return np.array([chain.later(state, steps=steps) for state in np.eye(len(chain.states))])


class _Walk:
    """A walk of the states that is exposed, with the belief before each access, [access, state]."""

    def __init__(
        self,
        chain: BeliefChain,
        guessed: tuple[sparse.csr_array, FloatArray],
        choose: Choose,
        moves: list[FloatArray],
        generator: np.random.Generator,
    ) -> None:
        self.chain, self.moves = chain, moves
        self.places, self.metric = guessed
        places, self.error = len(self.metric), self.metric[:, chain.states[:, -1]]
        self.errors, self.losses = list[float](), list[float]()
        self.named = np.zeros((3, places))
        before, after, likely = list[FloatArray](), list[FloatArray](), list[FloatArray]()
        belief, state = chain.start, int(drawn(chain.start, generator))
        for move in moves:
            table = choose(belief)
            self.judge(belief, table)
            release = int(drawn(table[state], generator))
            before.append(belief)
            likely.append(table[:, release])
            after.append(updated(belief, likely[-1])[0])
            belief = after[-1] @ move
            belief, state = belief / belief.sum(), int(drawn(move[state], generator))
        self.before, self.after, self.likely = np.array(before), after, likely

    def judge(self, belief: FloatArray, table: FloatArray) -> None:
        """What an access leaves and loses, whatever it will release."""
        joint = belief[:, None] * table
        self.errors.append(float(least_errors(self.error, joint).sum()))
        self.losses.append(float(np.vdot(self.chain.cost, joint)))  # summed as a device does
        by_place = self.places @ joint
        self.named += named(likeliest_guesses(self.metric, by_place), by_place).sum(axis=2)

    @property
    def learned_later(self) -> float:
        """By how much the smoother's error is below the filter's, on average."""
        moves = [move.T for move in self.moves]  # the one to a state comes one place after the one from it
        later = smoothed(self.after[::-1], [np.eye(len(moves[0])), *moves[:-1]][::-1], self.likely[::-1])
        # of the releases that came, both: so that the difference has less chance in it
        then, now = (least_errors(self.error, np.array(list(known)).T) for known in (later, self.after))
        return float(now.mean() - then.mean())
