"""The game between a user and an adversary, as two matrices and a number.

Whatever is protected, seen or released, the prior folds into

    W[g, i] = sum_a Pr(a, i | seen) d_p(g, a)         what the adversary errs by guessing g, weighted
    C[i, o] = sum_q Pr(q, i | seen) d_q(q, o, seen)   the quality lost by releasing o, weighted

and the best mechanism f(o|i) maximises  sum_o min_g sum_i W[g, i] f(o|i)  subject to  sum_{i,o} C[i, o] f(o|i) <= Q.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hideseek.errors import BudgetError, broken_rule
from hideseek.metrics import MetricLike, as_metric
from hideseek.model.profile import Profile
from hideseek.model.scenario import Scenario
from hideseek.model.trajectories import Trajectories, possible_trajectories, summed
from hideseek.util.arrays import FloatArray, IntArray, product, unlabelled
from hideseek.util.boundary import checked
from hideseek.util.checks import distribution, labelled, nonnegative, one_of, scalar, whole_number
from hideseek.util.limits import refuse_if_too_large


@checked
@dataclass(frozen=True, eq=False)
class LinearRows:
    """Extra linear rows on a mechanism: ``lower <= matrix @ f.ravel() <= upper``, f[i, o] laid out row by row.

    Each row is kept in units of its largest coefficient, so that solvers and certificates mean the same by a tolerance.
    ``mend``, where given, turns a row-stochastic table that nearly meets the rows into one that does, to rounding.
    ``block`` is what :meth:`for_each_release` repeats, from which a solver gains much.
    """

    matrix: sparse.csr_array
    lower: FloatArray
    upper: FloatArray
    mend: Callable[[FloatArray], FloatArray] | None = None
    block: sparse.csr_array | None = None

    def __post_init__(self) -> None:
        matrix = sparse_matrix(self.matrix, "matrix", "LinearRows")
        lower, upper = (np.asarray(side, dtype=np.float64) for side in (self.lower, self.upper))
        count = matrix.shape[0]
        if lower.shape != (count,) or upper.shape != (count,):
            rule = f"arrays of {count} numbers, one a row"
            raise broken_rule("lower and upper", "LinearRows", rule, f"{lower.shape} and {upper.shape}")
        wrong = ~(lower <= upper)
        if wrong.any():
            at = int(wrong.argmax())
            raise broken_rule("lower", "LinearRows", "at most 'upper'", f"{lower[at]} and {upper[at]} in row {at}")
        if not np.isfinite(matrix.data).all():
            raise broken_rule("matrix", "LinearRows", "of finite numbers", matrix.data[~np.isfinite(matrix.data)][0])
        largest = abs(matrix).max(axis=1).toarray().ravel()
        unit = 1 / np.where(largest > 0, largest, 1.0)
        scaled = sparse.csr_array(sparse.diags_array(unit) @ matrix)
        for name, value in (("matrix", scaled), ("lower", lower * unit), ("upper", upper * unit)):
            object.__setattr__(self, name, value)

    @classmethod
    def for_each_release(cls, block: npt.ArrayLike | sparse.csr_array, releases: int) -> LinearRows:
        """The same rows for every release:  ``block @ f[:, o] <= 0``, the block being [row, input].

        A constant mechanism must keep them with something to spare: each row's coefficients sum to less than 0. So a
        table that breaks them is mended by mixing it with its mean law, just enough, first in the releases concerned.

        >>> rows = LinearRows.for_each_release([[1, -2], [-2, 1]], releases=3)  # neither more than twice as likely
        >>> rows.matrix.shape, rows.mend(np.array([[0.5, 0.5, 0], [0.2, 0.8, 0]])).round(3).tolist()
        ((6, 6), [[0.472, 0.528, 0.0], [0.236, 0.764, 0.0]])
        """
        owner = "LinearRows.for_each_release"
        whole_number(releases, "releases", owner)
        own = sparse_matrix(block, "block", owner)
        entries = 16 * releases * max(own.nnz, *own.shape)
        refuse_if_too_large(entries, f"LinearRows for each of {releases} releases", "Use fewer releases.")
        largest = abs(own).max(axis=1).toarray().ravel()
        own = sparse.csr_array(sparse.diags_array(1 / np.where(largest > 0, largest, 1.0)) @ own)
        total = own.sum(axis=1)
        if not (total < 0).all():
            rule = "of rows whose coefficients sum to less than 0"
            raise broken_rule("block", owner, rule, f"{total[~(total < 0)][0]} in one of them")

        def mend(table: FloatArray) -> FloatArray:
            """Mix releases, then the whole, with what is released on the mean: no other release moves far."""
            for whole in (False, True):
                mean = table.mean(axis=0)
                broken = np.maximum(own @ table, 0)
                share = np.divide(broken, broken - total[:, None] * mean, out=broken, where=broken > 0)
                most = share.max(initial=0.0) if whole else share.max(axis=0, initial=0.0)
                table = (1 - most) * table + most * mean
                table /= table.sum(axis=1, keepdims=True)
            return table

        matrix = sparse.kron(own, sparse.eye_array(releases), format="csr")
        count = matrix.shape[0]
        return cls(sparse.csr_array(matrix), np.full(count, -np.inf), np.zeros(count), mend, own)


def sparse_matrix(value: npt.ArrayLike | sparse.csr_array, parameter: str, owner: str) -> sparse.csr_array:
    """A matrix of floats with at least one column."""
    rule = "a matrix of numbers with at least one column"
    try:  # by way of numpy, as scipy takes tuples for other things
        matrix = sparse.csr_array(value if sparse.issparse(value) else np.asarray(value), dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise broken_rule(parameter, owner, rule, type(value).__name__) from None
    if matrix.ndim != 2 or not matrix.shape[1]:
        raise broken_rule(parameter, owner, rule, f"the shape {matrix.shape}")
    return matrix


@checked
@dataclass(frozen=True, eq=False)
class Game:
    """One game: ``error`` W[g, i], ``cost`` C[i, o], ``budget`` Q, and any extra rows on the mechanism.

    ``mass`` is the probability of each input, where it is known. ``guesses``, ``inputs`` and ``releases`` say what the
    indices stand for: one row of region numbers for each index, one column for each offset of the scenario.

    >>> game = Game.from_prior([0.5, 0.3, 0.2], 1 - np.eye(3), 1 - np.eye(3), budget=0.1)
    >>> game.prior_risk, game.least_loss, game.saturation
    (0.5, 0.0, 0.5)
    """

    error: FloatArray
    cost: FloatArray
    budget: float
    rows: LinearRows | None = None
    mass: FloatArray = field(default_factory=lambda: np.zeros(0))
    guesses: IntArray = field(default_factory=unlabelled)
    inputs: IntArray = field(default_factory=unlabelled)
    releases: IntArray = field(default_factory=unlabelled)

    def __post_init__(self) -> None:
        error = nonnegative(self.error, "error", "Game", 2)
        cost = nonnegative(self.cost, "cost", "Game", 2)
        if error.shape[1] != cost.shape[0]:
            rule = f"a matrix [inputs, releases] with one row for each of the {error.shape[1]} columns of 'error'"
            raise broken_rule("cost", "Game", rule, f"the shape {cost.shape}")
        budget = scalar(self.budget, "budget", "Game")
        mass = np.asarray(self.mass, dtype=np.float64)
        if mass.size:
            mass = distribution(mass, "mass", "Game")
            if len(mass) != error.shape[1]:
                raise broken_rule("mass", "Game", f"{error.shape[1]} probabilities, one an input", len(mass))
        if self.rows is not None and self.rows.matrix.shape[1] != cost.size:
            rule = f"rows over {cost.size} entries, one for each (input, release)"
            raise broken_rule("rows", "Game", rule, f"{self.rows.matrix.shape[1]}")
        checked = {
            "error": error,
            "cost": cost,
            "budget": budget,
            "mass": mass,
            "guesses": labelled(self.guesses, error.shape[0], "guesses", "Game"),
            "inputs": labelled(self.inputs, error.shape[1], "inputs", "Game"),
            "releases": labelled(self.releases, cost.shape[1], "releases", "Game"),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if budget < self.least_loss:
            if budget < self.least_loss * (1 - 1e-12):
                raise budget_too_small(budget, self.least_loss)
            object.__setattr__(self, "budget", self.least_loss)  # meant, and missed by rounding

    @classmethod
    def from_prior(
        cls, prior: npt.ArrayLike, privacy_metric: npt.ArrayLike, quality_metric: npt.ArrayLike, budget: float
    ) -> Game:
        """The sporadic game: a law over places, d_p[g, a] and d_q[a, o] as matrices.

        >>> Game.from_prior([0.5, 0.5], [[0, 1], [1, 0]], [[0, 2], [2, 0]], budget=0.5).cost
        array([[0., 1.],
               [1., 0.]])
        """
        psi = distribution(prior, "prior", "Game.from_prior")
        d_p = nonnegative(privacy_metric, "privacy_metric", "Game.from_prior", 2)
        d_q = nonnegative(quality_metric, "quality_metric", "Game.from_prior", 2)
        for name, size, shape in (
            ("privacy_metric", d_p.shape[1], "[guesses, places]"),
            ("quality_metric", d_q.shape[0], "[places, releases]"),
        ):
            if size != len(psi):
                raise broken_rule(
                    name, "Game.from_prior", f"a matrix {shape} over the {len(psi)} places of 'prior'", f"{size} places"
                )
        return cls(d_p * psi, d_q * psi[:, None], budget, mass=psi)

    @classmethod
    def from_scenario(
        cls,
        profile: Profile,
        scenario: Scenario,
        privacy: MetricLike,
        quality: MetricLike,
        budget: float | None = None,
        law: Trajectories | None = None,
        seen: Sequence[int] = (),
    ) -> Game:
        """The game of a scenario, when the true places follow ``law`` given what was ``seen``.

        ``law`` defaults to the profile's own, which is right as long as nothing has been seen. Inputs are the known
        places that can occur; the adversary may guess, and the mechanism release, any combination of places. Without a
        ``budget`` the game gets the one that saturates it; :meth:`with_budget` then sets a share of it.

        >>> from hideseek.model.markov import MarkovProfile
        >>> profile = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]])
        >>> game = Game.from_scenario(profile, Scenario.sporadic(), 1 - np.eye(2), 1 - np.eye(2), budget=0.1)
        >>> round(game.prior_risk, 6)
        0.333333
        """
        if len(seen) != len(scenario.seen):
            rule = f"one region for each of the {len(scenario.seen)} seen offsets of the scenario"
            raise broken_rule("seen", "Game.from_scenario", rule, tuple(seen))
        if law is None:
            if scenario.seen:
                way_out = "See Trajectories.given for the law after earlier exposures."
                rule = "the law of the true places given 'seen', in a scenario where something was seen"
                raise broken_rule("law", "Game.from_scenario", rule, None, way_out)
            law = possible_trajectories(profile, scenario.offsets)
        places = profile.places
        if not all(0 <= release < places for release in seen):
            raise broken_rule("seen", "Game.from_scenario", f"regions from 0 to {places - 1}", tuple(seen))
        inputs, mass, targets, target_weight = folded(law, scenario.target, scenario.known)
        _, _, wanted, quality_weight = folded(law, scenario.quality, scenario.known)
        guessed, released = places ** len(scenario.target), places ** len(scenario.release)
        entries = guessed * (len(targets) + len(inputs)) + released * (len(wanted) + 2 * len(inputs))
        entries += 8 * guessed * released  # what a solver keeps for every guess and release
        refuse_if_too_large(8 * entries, f"A game of {len(inputs)} inputs over {places} places in this scenario")
        guesses, releases = product(places, len(scenario.target)), product(places, len(scenario.release))
        history = np.array(seen, dtype=np.int64)
        d_p = as_metric(privacy, "privacy", profile, "Game.from_scenario").between(
            guesses, targets, np.empty(0, np.int64)
        )
        d_q = as_metric(quality, "quality", profile, "Game.from_scenario").between(wanted, releases, history)
        for name, table, shape in (
            ("privacy", d_p, (len(guesses), len(targets))),
            ("quality", d_q, (len(wanted), len(releases))),
        ):
            if table.shape != shape:
                rule = f"a metric that gives a matrix of the shape {shape} here"
                raise broken_rule(name, "Game.from_scenario", rule, f"{table.shape}")
        error, cost = d_p @ target_weight, quality_weight.T @ d_q
        groups = scenario.causal_groups(inputs) if scenario.causal else []
        rows = causal_rows(groups, releases) if groups else None
        enough = float(cost.sum(axis=0).min()) if budget is None else budget
        return cls(error, cost, enough, rows, mass, guesses, inputs, releases)

    def with_budget(self, budget: float) -> Game:
        """The same game for another budget.

        >>> Game.from_prior([0.5, 0.5], 1 - np.eye(2), 1 - np.eye(2), budget=0.1).with_budget(0.3).budget
        0.3
        """
        return replace(self, budget=budget)

    @cached_property
    def prior_risk(self) -> float:
        """What the adversary errs by when he sees nothing: no mechanism gives more privacy than this."""
        return float(self.error.sum(axis=1).min())

    @cached_property
    def least_loss(self) -> float:
        """The expected quality loss of the cheapest release for every input."""
        return float(self.cost.min(axis=1).sum())

    @cached_property
    def saturation(self) -> float:
        """The cost of the cheapest constant release: with this budget the adversary learns nothing."""
        return float(self.cost.sum(axis=0).min())


def folded(
    law: Trajectories, offsets: Sequence[int], known: Sequence[int]
) -> tuple[IntArray, FloatArray, IntArray, sparse.csr_array]:
    """Inputs (known places) and their law; values of the places at some offsets; the joint law [value, input]."""
    inputs, which = np.unique(law.at(known), axis=0, return_inverse=True)
    values, index = np.unique(law.at(offsets), axis=0, return_inverse=True)
    shape = (len(values), len(inputs))
    joint = sparse.csr_array((law.probability, (index.ravel(), which.ravel())), shape=shape)
    return inputs, summed(which, law.probability, len(inputs)), values, joint


def budget_too_small(budget: float, least: float) -> BudgetError:
    """A budget that no mechanism can meet, with the one that can be met."""
    rule = f"at least the least possible loss, {least!r}"
    hint = "Raise the budget, or allow closer releases."
    return BudgetError.breaking("budget", "Game", rule, budget, hint, least=least)


def causal_rows(groups: Sequence[tuple[int, IntArray]], releases: IntArray) -> LinearRows:
    """The law of the releases up to a time must be the same for all inputs that agree up to that time.

    ``groups`` holds pairs (length of the release's prefix, group label of each input), the shortest prefix first.
    """
    levels = []
    parts = []
    for length, label in groups:
        prefix = np.unique(releases[:, :length], axis=0, return_inverse=True)[1].ravel()
        marginal = sparse.csr_array((np.ones(len(releases)), (prefix, np.arange(len(releases)))))
        members = sparse.csr_array((np.ones(len(label)), (label, np.arange(len(label)))))
        first = np.unique(label, return_index=True)[1][label]
        others = np.flatnonzero(first != np.arange(len(label)))
        identity = sparse.eye_array(len(label), format="csr")
        parts.append(sparse.kron(identity[others] - identity[first[others]], marginal, format="csr"))
        levels.append((marginal, members, label))

    def mend(table: FloatArray) -> FloatArray:
        """Give every input its group's mean law of the prefix, keeping its own law of what follows."""
        for marginal, members, label in levels:
            own = table @ marginal.T
            shared = ((members @ own) / members.sum(axis=1)[:, None])[label]
            ratio = np.divide(shared, own, out=np.zeros_like(own), where=own > 0)
            missing = np.where(own > 0, 0, shared) / marginal.sum(axis=1)
            table = table * (ratio @ marginal) + missing @ marginal
        return table

    matrix = sparse.csr_array(sparse.vstack(parts, format="csr"))
    zeros = np.zeros(matrix.shape[0])
    return LinearRows(matrix, zeros, zeros, mend)


class Objective(StrEnum):
    """What one mechanism for several games maximises."""

    AVERAGE = "average"
    MINIMUM = "minimum"


@checked
@dataclass(frozen=True, eq=False)
class Alternatives:
    """One mechanism for several games (priors, histories, services), each with its own budget.

    The paper's alternative quantifications: maximise the ``average`` (weighted by ``weights``, uniform by default)
    or the ``minimum`` privacy over the games. Every game's budget holds. The adversary knows which game is played.

    >>> one = Game.from_prior([0.5, 0.5], 1 - np.eye(2), 1 - np.eye(2), budget=0.2)
    >>> two = Game.from_prior([0.9, 0.1], 1 - np.eye(2), 1 - np.eye(2), budget=0.2)
    >>> Alternatives((one, two), "minimum").weights
    array([0.5, 0.5])
    """

    games: tuple[Game, ...]
    objective: Objective = Objective.AVERAGE
    weights: FloatArray = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        owner = "Alternatives"
        games = tuple(self.games) if isinstance(self.games, Sequence) else (self.games,)
        if not games or not all(isinstance(game, Game) for game in games) or isinstance(self.games, Game):
            got = type(self.games).__name__ if games else "none"
            raise broken_rule("games", owner, "a sequence of at least one game", got)
        for k, game in enumerate(games):
            for name in ("inputs", "releases"):
                if not np.array_equal(getattr(game, name), getattr(games[0], name)):
                    rule = "games with the same inputs and the same releases"
                    raise broken_rule("games", owner, rule, f"other {name} in game {k} than in game 0")
            if not same_rows(game.rows, games[0].rows):
                raise broken_rule(
                    "games", owner, "games with the same extra rows", f"others in game {k} than in game 0"
                )
        objective = one_of(Objective, self.objective, "objective", owner)
        weights = np.asarray(self.weights, dtype=np.float64)
        weights = distribution(weights if weights.size else np.full(len(games), 1 / len(games)), "weights", owner)
        if len(weights) != len(games):
            raise broken_rule("weights", owner, f"{len(games)} numbers, one a game", len(weights))
        for name, value in (("games", games), ("objective", objective), ("weights", weights)):
            object.__setattr__(self, name, value)


def same_rows(one: LinearRows | None, other: LinearRows | None) -> bool:
    """Whether two games have the same extra rows."""
    if one is None or other is None or one is other:
        return one is other
    if one.matrix.shape != other.matrix.shape or (one.matrix != other.matrix).nnz:
        return False
    return np.array_equal(one.lower, other.lower) and np.array_equal(one.upper, other.upper)


def as_alternatives(game: Game | Alternatives) -> Alternatives:
    """A single game is one alternative."""
    if not isinstance(game, Game | Alternatives):
        raise broken_rule("game", "solve", "a Game, or Alternatives", type(game).__name__)
    return game if isinstance(game, Alternatives) else Alternatives((game,))
