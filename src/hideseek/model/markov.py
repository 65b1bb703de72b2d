"""Markov chains of any order over places: given, or learned from traces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from hideseek.errors import ReducibleError, broken_rule
from hideseek.model.candidates import Candidate
from hideseek.model.profile import STEP, LearnedProfile, check_past
from hideseek.model.regions import Regions
from hideseek.model.walks import Walk, moves_of, walks_through
from hideseek.util.arrays import FloatArray, IntArray, encoded, frozen, product, summed
from hideseek.util.boundary import checked
from hideseek.util.checks import nonnegative, numbered, scalar, shaped, whole_number
from hideseek.util.limits import refuse_if_too_large
from hideseek.util.time_steps import checked_step, written_step

HIGHEST_ORDER = 61  # so that tuples of two places can be numbered
COUNTED = 1e140  # sequences are counted up to this number, whose square is still a float


@checked
@dataclass(frozen=True, eq=False, repr=False)
class MarkovProfile(LearnedProfile):
    """A Markov chain of some order over places; see :meth:`from_matrix` and :meth:`fit`.

    Attributes
    ----------
    states : (states, order) int array
        The tuples of places that the next place depends on.
    transition : (states, places) float array
        The distribution of the next place after each state; for a chain of order 1, the transition matrix.
    state_distribution : (states,) float array
        The long-run distribution of the states.
    regions : Regions, optional
        The places themselves, where they are known.
    step : str
        The length of a time step, such as "5min".
    candidates : tuple of Candidate
        The models that it was chosen from.
    """

    states: IntArray
    transition: FloatArray
    _: KW_ONLY
    state_distribution: FloatArray
    regions: Regions | None = None
    step: str = STEP
    candidates: tuple[Candidate, ...] = ()

    @classmethod
    def from_matrix(cls, matrix: npt.ArrayLike, regions: Regions | None = None, *, step: str = STEP) -> MarkovProfile:
        """A first-order chain with a given transition matrix.

        Parameters
        ----------
        matrix : ``(places, places)`` array_like
            The probability of every move, [from, to]; every row sums to 1.
        regions : Regions, optional
            The places themselves, one per row of the matrix.
        step : str
            The length of a time step.

        Returns
        -------
        MarkovProfile
            A chain of order 1.

        Raises
        ------
        ParameterError
            Where the matrix is not square, or a row is no distribution.
        ReducibleError
            Where some places cannot be reached from others: there would be no long-run distribution of all places.

        Examples
        --------
        >>> MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]]).stationary.round(6)
        array([0.666667, 0.333333])
        """
        owner = "MarkovProfile.from_matrix"
        table = nonnegative(matrix, "matrix", owner, 2)
        if table.shape[0] != table.shape[1] or len(table) < 2:
            raise broken_rule("matrix", owner, "square, over two or more places", f"the shape {table.shape}")
        total = table.sum(axis=1, keepdims=True)
        if np.abs(total - 1).max() > 1e-6:
            worst = int(np.abs(total - 1).argmax())
            raise broken_rule("matrix", owner, "rows that sum to 1", f"{total[worst, 0]:g} in row {worst}")
        if regions is not None and len(regions) != len(table):
            raise broken_rule("regions", owner, f"{len(table)} places, one per row of 'matrix'", len(regions))
        refuse_large_chain(len(table), len(table), int(np.count_nonzero(table)), "matrix")
        return profile_from_kernel(np.arange(len(table))[:, None], table / total, regions, step, "matrix", owner)

    @classmethod
    def fit(
        cls,
        traces: pd.DataFrame,
        regions: Regions,
        *,
        step: str = STEP,
        order: int = 1,
        close: bool = True,
        smoothing: float = 0.0,
        keep_places: bool = False,
    ) -> MarkovProfile:
        """Learn a chain of some order from traces, over the places that were visited.

        Parameters
        ----------
        traces : pandas.DataFrame
            The fixes of a person, as :func:`hideseek.read_traces` gives them.
        regions : Regions
            The map; only regions that were visited become places, unless ``keep_places``.
        step : str
            The length of a time step, which has one place: that of its first fix.
        order : int
            How many of the last places the next one depends on.
        close : bool
            A finite trace ends where nothing leads on, so it is closed: what follows missing steps follows what came
            before them, and the end leads back to the start. With False, missing steps interrupt.
        smoothing : float
            The share of every move, >= 0 and < 1, that goes anywhere the person goes.
        keep_places : bool
            Keep all regions, so that profiles of different days are over the same places. Those that were not visited
            count as one step, together: a way there and back from where the person is most often.

        Returns
        -------
        MarkovProfile
            The chain over the visited regions, or over all.

        Raises
        ------
        ParameterError
            Where an argument breaks a rule; a ReducibleError where the traces do not return from some places.

        Examples
        --------
        >>> from hideseek.traces.city import synthetic_city
        >>> from hideseek.model.regions import Grid
        >>> traces = synthetic_city(people=1, days=3)
        >>> profile = MarkovProfile.fit(traces, Grid.covering(traces, rows=6, columns=6))
        >>> profile.transition.sum(axis=1).round(9).min()
        np.float64(1.0)
        """
        owner = "MarkovProfile.fit"
        order = whole_number(order, "order", owner, most=HIGHEST_ORDER)
        visited, walks = walks_through(traces, regions, step, owner, keep_places)
        states, kernel = counted_kernel(walks, len(visited), order, close, smoothing, owner)
        try:
            return profile_from_kernel(states, kernel, regions.keep(visited), step, "traces", owner)
        except ReducibleError as error:  # in the numbers of the regions that the caller gave
            raise reducible([visited[place] for place in error.places], "traces", owner) from None

    def __repr__(self) -> str:
        return f"MarkovProfile({self.places} places, order {self.order}, {len(self.states)} states, step {self.step!r})"

    @property
    def facts(self) -> dict[str, object]:
        """What a notebook shows."""
        return {"places": self.places, "order": self.order, "states": len(self.states), "step": self.step}

    @property
    def places(self) -> int:
        """How many places there are."""
        return int(self.transition.shape[1])

    @property
    def order(self) -> int:
        """How many of the last places the next one depends on."""
        return int(self.states.shape[1])

    @property
    def memory(self) -> int:
        """The order, by the name that every profile has."""
        return self.order

    @cached_property
    def stationary(self) -> FloatArray:
        """The long-run distribution of the place."""
        return summed(self.states[:, 0], self.state_distribution, self.places)

    def following(self, past: IntArray, time: int) -> FloatArray:  # noqa: ARG002
        """The distribution of the next place after each of these pasts, [past, place].

        The first places follow the long-run distribution.
        """
        check_past(self, past)
        length = past.shape[1]
        if length == self.order:
            return self.transition[state_index(self.states, past, self.places)]
        starts, index = np.unique(self.states[:, :length], axis=0, return_inverse=True)
        joint = np.zeros((len(starts), self.places))
        np.add.at(joint, (index.ravel(), self.states[:, length]), self.state_distribution)
        joint /= joint.sum(axis=1, keepdims=True)
        return np.asarray(joint[state_index(starts, past, self.places)])


def profile_from_kernel(
    states: IntArray, kernel: FloatArray, regions: Regions | None, step: str, parameter: str, owner: str
) -> MarkovProfile:
    """The chain on tuples of places, refused unless every state leads to every other."""
    length = checked_step(step, owner)
    nonnegative(kernel, parameter, owner, 2)  # its copy is laid out anew, and sums would differ in their last bits
    shaped(states, (len(kernel), None), "states", owner)
    numbered(states, kernel.shape[1], "states", owner)
    distribution = long_run_distribution(state_chain(states, kernel), states, parameter, owner)
    written = step if isinstance(step, str) else written_step(length)
    return MarkovProfile(
        frozen(states), frozen(kernel), state_distribution=frozen(distribution), regions=regions, step=written
    )


def counted_kernel(
    walks: Sequence[Walk], places: int, order: int, close: bool, smoothing: float, owner: str
) -> tuple[IntArray, FloatArray]:
    """The states of a chain of some order and the transitions between them, [state, place], as walks make them."""
    smoothing = scalar(smoothing, "smoothing", owner, "a share, >= 0 and < 1")
    if smoothing >= 1:
        raise broken_rule("smoothing", owner, "a share, >= 0 and < 1", smoothing)
    moves = np.vstack([moves_of(walk, order, close) for walk in walks])
    if not len(moves):
        hint = "Use a longer 'step', a lower 'order', or close=True."
        raise broken_rule("traces", owner, f"traces with {order + 1} steps in a row", "none", hint)
    if places**order >= 2**62:
        raise broken_rule("order", owner, f"low enough to number the tuples of {places} places", order)
    visits = np.bincount(np.concatenate([place for place, _ in walks]), minlength=places).astype(np.float64)
    moves, weight = with_unvisited(moves, visits)
    if smoothing and order > 1:
        what = f"a smoothed chain of order {order} over {places} places"
        refuse_if_too_large(8 * places ** (order + 1), what, parameter="order")
        states = product(places, order)
    else:
        states = np.unique(np.vstack([moves[:, :-1], moves[:, 1:]]), axis=0)
    refuse_large_chain(len(states), places, len(states) * places if smoothing else len(moves), "regions, order")
    kernel = np.zeros((len(states), places))
    np.add.at(kernel, (state_index(states, moves[:, :-1], places), moves[:, -1]), weight)
    total = kernel.sum(axis=1, keepdims=True)
    kernel = np.divide(kernel, total, out=kernel, where=total > 0)
    if smoothing:
        share = np.where(total > 0, smoothing, 1.0)
        kernel = (1 - share) * kernel + share * visits / visits.sum()
    return states, kernel


def with_unvisited(moves: IntArray, visits: FloatArray) -> tuple[IntArray, FloatArray]:
    """Moves and their weights, with ways from the most frequent state to places that were not visited, and back.

    All of these places together count as one visit, also in ``visits``.
    """
    never = np.flatnonzero(visits == 0)
    weight = np.ones(len(moves))
    if not len(never):
        return moves, weight
    states, count = np.unique(moves[:, :-1], axis=0, return_counts=True)
    usual = states[count.argmax()]
    visits[never] = 1 / len(never)
    there = [
        moves_of((np.r_[usual, place, usual], np.arange(2 * len(usual) + 1)), len(usual), False) for place in never
    ]
    extra = np.vstack(there)
    return np.vstack([moves, extra]), np.r_[weight, np.full(len(extra), 1 / len(never))]


def state_index(states: IntArray, vectors: IntArray, places: int) -> IntArray:
    """Which state each vector is."""
    codes, wanted = encoded(states, places), encoded(vectors, places)
    index = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
    if (codes[index] != wanted).any():
        impossible = tuple(int(place) for place in vectors[codes[index] != wanted][0])
        raise broken_rule("past", "MarkovProfile.following", "places in an order that can occur", impossible)
    return index


def refuse_large_chain(states: int, places: int, moves: int, parameter: str) -> None:
    """Refuse a chain whose tables, or whose long-run distribution, would not fit in memory."""
    needed = 8 * (states * (2 * places + 3 * states) + 5 * moves)
    refuse_if_too_large(needed, f"A chain of {states} states over {places} places", parameter=parameter)


def state_chain(states: IntArray, kernel: FloatArray) -> sparse.csr_array:
    """The transitions between tuples of places, [state, state]."""
    row, place = np.nonzero(kernel)
    following = np.c_[states[row, 1:], place]
    index = state_index(states, following, kernel.shape[1])
    return sparse.csr_array((kernel[row, place], (row, index)), shape=(len(states), len(states)))


def possible_ways(profile: MarkovProfile, length: int) -> float:
    """How many sequences of so many places in a row can occur; from some astronomical number on, a lower bound.

    >>> possible_ways(MarkovProfile.from_matrix([[0.5, 0.5], [1.0, 0.0]]), 3)
    5.0
    """
    if length < profile.memory:
        return float(len(np.unique(profile.states[:, :length], axis=0)))
    leads = state_chain(profile.states, profile.transition) > 0
    ways = np.ones(len(profile.states))
    for _ in range(length - profile.memory):
        if ways.sum() > COUNTED:
            break
        ways = leads @ ways
    return float(ways.sum())


def long_run_distribution(chain: sparse.csr_array, states: IntArray, parameter: str, owner: str) -> FloatArray:
    """The stationary distribution of an irreducible chain; a reducible one is refused, with the places that trap it."""
    count, component = connected_components(chain, connection="strong")
    if count > 1:
        start, end = chain.nonzero()
        left = np.unique(component[start[component[start] != component[end]]])
        trap = ~np.isin(component, left)
        raise reducible(np.unique(states[trap, -1]).tolist(), parameter, owner)
    size = len(states)
    refuse_if_too_large(3 * 8 * size**2, f"The long-run distribution of {size} states", parameter=parameter)
    system = chain.toarray().T - np.eye(size)
    system[-1] = 1
    try:
        distribution: FloatArray = np.maximum(np.linalg.solve(system, np.eye(size)[-1]), 0)
    except np.linalg.LinAlgError:
        rule = "a chain whose moves are likely enough to be counted on"
        raise broken_rule(parameter, owner, rule, "one with a move that a number cannot hold") from None
    distribution /= distribution.sum()
    return distribution


def reducible(places: Sequence[int], parameter: str, owner: str) -> ReducibleError:
    """A chain that is trapped in these places, with the ways out of it."""
    # the places that a person goes to stand in the error's field, and not in a message that ends in a log
    named = ": " + ", ".join(map(str, places[:10])) + ", ..." * (len(places) > 10) if parameter == "matrix" else ""
    ways = {
        "traces": "Close the traces (close=True), smooth them (smoothing=0.01), or fit one person at a time.",
        "matrix": "Give every place a way back, if only a small one.",
    }
    got = f"one with {len(places)} places that are not left once entered{named}"
    rule = "a chain in which every place leads to every other"
    return ReducibleError.breaking(parameter, owner, rule, got, ways.get(parameter, ""), places=tuple(places))
