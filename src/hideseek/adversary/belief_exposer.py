"""What chooses its table by what is public, against adversaries who remember every release: planners and playbooks.

The choice is a policy, which every adversary attacks as any other (:class:`BeliefPolicy`); and it can be followed over
any pattern of accesses (:func:`follow_beliefs`), as silence only moves the belief on.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse

from hideseek.adversary.guesses import likeliest_guesses, over_places
from hideseek.adversary.naming import Naming, named, namings_of
from hideseek.errors import broken_rule
from hideseek.model.belief import smoothed
from hideseek.model.belief_chain import BeliefChain, moves_over
from hideseek.model.exposed_walks import Access, Choose, exposed_walks
from hideseek.model.steering import Standing
from hideseek.planning.simulation import without_chance
from hideseek.util.arrays import FloatArray, IntArray
from hideseek.util.best_guess import least_errors
from hideseek.util.checks import whole_number
from hideseek.util.estimates import Estimate

WINDOWS, FEWEST = 2, 8  # of the budget in a run, and walks of one, at least


@dataclass(frozen=True, eq=False)
class Remembered:
    """A choice of tables that keeps the first one for everything that was public.

    A solver that is asked again may give another optimum, and the adversary must follow the table that was drawn from.
    """

    choose: Choose
    _known: dict[bytes, FloatArray] = field(default_factory=dict)

    def __call__(self, standing: Standing) -> FloatArray:
        """The tables [run, state, release], the same whenever they are asked for."""
        keys = standing.key
        first = {key: number for number, key in reversed(list(enumerate(keys))) if key not in self._known}
        if first:
            new = sorted(first.values())
            for number, table in zip(new, self.choose(standing.runs(new)), strict=True):
                self._known[keys[number]] = table
        return np.array([self._known[key] for key in keys])


@dataclass(frozen=True, eq=False)
class BeliefPolicy:
    """The tables that ``choose`` has at what is public, as a policy: its state is what is public before an access.

    ``log`` says whether the choice looks at what is believed of earlier places.
    """

    chain: BeliefChain
    choose: Choose
    log: bool = False

    def __post_init__(self) -> None:
        if self.chain.states.shape[1] != 1 or self.chain.every != 1:
            rule = "one that knows the current place alone, with an access at every step"
            raise broken_rule("chain", "BeliefPolicy", rule, "another")
        object.__setattr__(self, "choose", Remembered(self.choose))

    @property
    def symbols(self) -> int:
        """How many places may be released."""
        return int(self.chain.cost.shape[1])

    def start(self, sequences: int) -> Standing:
        """Before anything is exposed, the long-run distribution is believed."""
        return Standing.first(self.chain, sequences)

    def tables(self, state: Standing) -> tuple[FloatArray, IntArray]:
        """The table of each distinct state."""
        _, first, which = np.unique(state.key, return_index=True, return_inverse=True)
        distinct = state.runs(first)
        # after releases that cannot be made, which are not counted, any table will do
        possible = distinct.belief.any(axis=1, keepdims=True)
        belief = np.where(possible, distinct.belief, self.chain.start)
        return self.choose(replace(distinct, belief=belief)), which.ravel()

    def after(self, state: Standing, exposed: IntArray) -> Standing:
        """Bayes' rule, and the move to the next access."""
        tables, which = self.tables(state)
        return state.exposed(self.chain, tables[which], exposed, log=self.log).moved(self.chain.moves)


@dataclass(frozen=True)
class Exposure:
    """What is left against adversaries who remember every release, on average over the accesses of a run.

    ``filter`` knows the releases so far and ``smoother`` all of the run; ``namings`` says how often the filter names
    each place. ``quality_loss`` and ``worst_loss`` are the mean and the largest expected loss given every release, and
    ``worst_window`` is the largest mean of it over a window of the budget, or over the run where that is shorter.
    ``realised`` is the mean loss of the releases that came.
    """

    filter: Estimate
    smoother: Estimate
    quality_loss: Estimate
    worst_loss: float
    worst_window: float
    realised: Estimate
    namings: tuple[Naming, ...]


def follow_beliefs(
    chain: BeliefChain,
    choose: Choose,
    *,
    accesses: int,
    walks: int,
    waits: IntArray | None = None,
    seed: int = 0,
    log: bool = False,
) -> Exposure:
    """Follow what chooses at the belief along walks, from the first access on.

    Parameters
    ----------
    chain
        How the person moves, the errors and the losses: a game or a playbook that protects one place, the current one
        or, against later readers, an earlier one.
    choose
        Gives the tables [walk, state, release] at what is public; for the belief alone, :func:`at_beliefs`.
    accesses, walks, seed
        How many on each walk; how many walks, at least 2, whose scatter gives the 95 % intervals; and their seed.
    log
        Whether the choice looks at what is believed of earlier places.
    waits
        Steps from each access to the next, [access] for all walks or [walk, access]; by default the scenario's.

    Returns
    -------
    Exposure
        Errors, losses and namings are exact given what was released before each access; the walks decide what was.

    Examples
    --------
    >>> from hideseek.model.exposed_walks import at_beliefs
    >>> from hideseek.model.markov import MarkovProfile
    >>> from hideseek.planning import BeliefGame
    >>> profile = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]])
    >>> game = BeliefGame.of(profile, privacy="hamming", quality="hamming", budget=0.1)
    >>> coin = np.array([[0.9, 0.1], [0.1, 0.9]])
    >>> often = np.random.default_rng(0).geometric(1 / 3, (10, 50))
    >>> found = follow_beliefs(game, at_beliefs(lambda _: coin), accesses=50, walks=10, waits=often)
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
    waits_of = np.broadcast_to(given, (walks, accesses))
    over = {int(wait): moves_over(chain, int(wait)) for wait in np.unique(given)}
    moves = [moves_at(over, waits_of[:, access]) for access in range(accesses)]
    start = Standing.first(chain, walks)
    done = list(exposed_walks(chain, choose, moves, generator, start=start, log=log))
    return exposure_of(chain, done, column, [[over[wait] for wait in own] for own in waits_of.tolist()])


def exposure_of(chain: BeliefChain, done: list[Access], column: int, moves: list[list[FloatArray]]) -> Exposure:
    """What is left on exposed walks, whose states moved by ``moves`` [walk][access]."""
    accesses = len(done)
    judged = Judged(chain, over_places(chain, column), done)
    known = chain.ceiling_cut if column == chain.states.shape[1] - 1 else np.zeros(len(chain.states))
    before = np.array([one.before.belief for one in done]).swapaxes(0, 1)
    filtered = without_chance(judged.errors.T, before @ known - known @ chain.start)
    return Exposure(
        filter=Estimate.mean_of(filtered),
        # on the same walk the two differ by little that is chance
        smoother=Estimate.mean_of(filtered - judged.learned_later(moves)),
        quality_loss=Estimate.mean_of(judged.losses.mean(axis=0)),
        worst_loss=float(judged.losses.max()),
        worst_window=worst_mean(judged.losses, min(chain.window, accesses)),
        realised=Estimate.mean_of(np.mean([chain.cost[one.states, one.releases] for one in done], axis=0)),
        namings=namings_of(judged.named.transpose(1, 2, 0) / accesses, None),
    )


def windows_seen(window: int, accesses: int, walks: int) -> tuple[int, int]:
    """So many accesses and walks; of a longer window several, so that what is saved at first counts for little.

    The walks are fewer then, by as much as they are longer, but enough for an interval.
    """
    longer = max(accesses, WINDOWS * window if window > 1 else 0)
    return longer, max(min(walks, FEWEST), accesses * walks // longer)


def moves_at(over: dict[int, FloatArray], waits: IntArray) -> FloatArray:
    """The moves to the next access, of all walks alike [state, state], or of each [walk, state, state]."""
    first = over[int(waits[0])]
    return first if (waits == waits[0]).all() else np.array([over[int(wait)] for wait in waits])


def worst_mean(losses: FloatArray, window: int) -> float:
    """The largest mean over so many accesses in a row, of losses [access, walk].

    >>> worst_mean(np.array([[1.0], [2.0], [6.0], [0.0]]), 2)
    4.0
    """
    sums = np.cumsum(np.vstack([np.zeros(losses.shape[1]), losses]), axis=0)
    return float((sums[window:] - sums[:-window]).max() / window) if window > 1 else float(losses.max())


def protected_column(chain: BeliefChain) -> int | None:
    """Which known place the adversary guesses, the current one if any will do: naming the true one is no error."""
    places, (states, known) = chain.cost.shape[1], chain.states.shape
    if len(chain.error) != places:
        return None
    named = (
        column for column in reversed(range(known)) if not chain.error[chain.states[:, column], range(states)].any()
    )
    return next(named, None)


class Judged:
    """What exposed walks leave and lose, whatever is released: errors and losses [access, walk]."""

    def __init__(self, chain: BeliefChain, guessed: tuple[sparse.csr_array, FloatArray], done: list[Access]) -> None:
        places, metric = guessed
        self.error, self.done = metric[:, chain.states[:, -1]], done
        walks = len(done[0].states)
        self.errors, self.losses = np.zeros((2, len(done), walks))
        self.named = np.zeros((walks, 3, len(metric)))
        for access, one in enumerate(done):
            for walk, joint in enumerate(one.before.belief[:, :, None] * one.tables):
                self.errors[access, walk] = least_errors(self.error, joint).sum()
                self.losses[access, walk] = np.vdot(chain.cost, joint)  # summed as a device does
                by_place = places @ joint
                self.named[walk] += named(likeliest_guesses(metric, by_place), by_place).sum(axis=2)

    def learned_later(self, moves: list[list[FloatArray]]) -> FloatArray:
        """By how much the smoother's error is below the filter's on each walk, whose states moved by ``moves``."""
        after = np.array([one.after.belief for one in self.done]).swapaxes(0, 1)
        likely = np.array([one.likely for one in self.done]).swapaxes(0, 1)
        found = []
        for known, reading, own in zip(after, likely, moves, strict=True):
            back = [np.eye(known.shape[1]), *(move.T for move in own[:-1])]  # each leads to a state from the one before
            later = np.array(list(smoothed(known[::-1], back[::-1], reading[::-1])))
            # of the releases that came, both: so that the difference has less chance in it
            found.append((least_errors(self.error, known.T) - least_errors(self.error, later.T)[::-1]).mean())
        return np.array(found)
