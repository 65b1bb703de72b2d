"""The game between a user and an adversary, as two matrices and a number.

Whatever is protected, seen or released, the prior folds into

    W[g, i] = sum_a Pr(a, i | seen) d_p(g, a)         the adversary's error by guessing g, weighted
    C[i, o] = sum_q Pr(q, i | seen) d_q(q, o, seen)   the quality lost by releasing o, weighted

and the best mechanism f(o|i) maximises  sum_o min_g sum_i W[g, i] f(o|i)  subject to  sum_{i,o} C[i, o] f(o|i) <= Q.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hideseek.errors import BudgetError, broken_rule
from hideseek.game.budget import allowed_loss, budget_of
from hideseek.game.folding import OWNER, fold_scenario, true_places
from hideseek.game.linear_rows import LinearRows
from hideseek.metrics.metric import Metric, over_places
from hideseek.metrics.named import MetricLike
from hideseek.metrics.of_places import from_function, hamming
from hideseek.model.profile import Profile
from hideseek.model.scenario import Scenario
from hideseek.model.trajectories import Trajectories
from hideseek.util.arrays import FloatArray, IntArray, unlabelled
from hideseek.util.boundary import checked
from hideseek.util.checks import distribution, labelled, nonnegative, one_of, scalar
from hideseek.util.choices import MetricName
from hideseek.util.display import html_table
from hideseek.util.units import amount, is_square, least_words


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Game:
    """One game between a user and an adversary.

    Parameters
    ----------
    error
        W[g, i], [guesses, inputs]: the adversary's error by guess g at input i, times the probability of i.
    cost
        C[i, o], [inputs, releases]: the quality lost by release o at input i, times the probability of i.
    budget
        Q, the expected quality loss that is allowed, in the unit of ``cost``; at least :attr:`least_loss`.
    rows
        Extra linear rows on the mechanism.
    mass
        [inputs]: the probability of each input, where it is known.
    guesses, inputs, releases
        What the indices stand for: one row of region numbers for each index, one column for each offset of the
        scenario. By default an index stands for itself.
    units
        Of errors and losses, such as "m" and "m²".

    Raises
    ------
    BudgetError
        If the budget is below the least possible loss.
    ParameterError
        If an array is not of these shapes, or holds a number that is negative or not finite.

    Examples
    --------
    >>> Game([[0, 0.4], [0.6, 0]], [[0, 0.6], [0.4, 0]], budget=0.1)
    Game of 2 guesses, 2 inputs and 2 releases
      budget 0.1: least possible loss 0, saturating budget 0.4; prior risk 0.4
    """

    error: FloatArray
    cost: FloatArray
    _: KW_ONLY
    budget: float
    rows: LinearRows | None = None
    mass: FloatArray = field(default_factory=lambda: np.zeros(0))
    guesses: IntArray = field(default_factory=unlabelled)
    inputs: IntArray = field(default_factory=unlabelled)
    releases: IntArray = field(default_factory=unlabelled)
    units: tuple[str, str] = ("", "")

    def __post_init__(self) -> None:
        error = nonnegative(self.error, "error", "Game", 2)
        cost = nonnegative(self.cost, "cost", "Game", 2)
        if error.shape[1] != cost.shape[0]:
            rule = f"a matrix [inputs, releases] with one row for each of the {error.shape[1]} columns of 'error'"
            raise broken_rule("cost", "Game", rule, f"the shape {cost.shape}")
        budget = scalar(self.budget, "budget", "Game")
        if self.rows is not None and self.rows.matrix.shape[1] != cost.size:
            rule = f"rows over {cost.size} entries, one for each (input, release)"
            raise broken_rule("rows", "Game", rule, f"{self.rows.matrix.shape[1]}")
        checked = {
            "error": error,
            "cost": cost,
            "mass": checked_mass(self.mass, error.shape[1]),
            "guesses": labelled(self.guesses, error.shape[0], "guesses", "Game"),
            "inputs": labelled(self.inputs, error.shape[1], "inputs", "Game"),
            "releases": labelled(self.releases, cost.shape[1], "releases", "Game"),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if budget < self.least_loss * (1 - 1e-12):
            raise budget_too_small(budget, self.least_loss, self.units[1])
        object.__setattr__(self, "budget", max(budget, self.least_loss))  # meant, and missed by rounding

    @classmethod
    def from_prior(cls, prior: npt.ArrayLike, *, privacy: MetricLike, quality: MetricLike, budget: float | str) -> Game:
        """The game of a single access, over places with a known distribution.

        Parameters
        ----------
        prior
            [places]: the probability of each place.
        privacy
            d_p[g, a], [guesses, places]: the adversary's error by guessing g where the truth is a. Or "hamming", a
            :class:`Metric`, or a function of two vectors of one place.
        quality
            d_q[a, o], [places, releases]: the quality lost by releasing o where the truth is a. Or a metric, likewise.
        budget
            The expected quality loss that is allowed, in the unit of ``quality``; or words such as "500m" or "20%".

        Returns
        -------
        Game
            With the places as its inputs.

        Raises
        ------
        ParameterError
            If ``prior`` is not a distribution, a matrix does not fit it, or a metric by name needs regions.

        Examples
        --------
        >>> Game.from_prior([0.5, 0.5], privacy="hamming", quality=[[0, 2], [2, 0]], budget=0.5).cost
        array([[0., 1.],
               [1., 0.]])
        """
        owner = "Game.from_prior"
        psi = distribution(prior, "prior", owner)
        d_p, d_q = matrix_of(privacy, "privacy", len(psi), owner), matrix_of(quality, "quality", len(psi), owner)
        shapes = ("privacy", d_p.shape[1], "[guesses, places]"), ("quality", d_q.shape[0], "[places, releases]")
        for name, size, shape in shapes:
            if size != len(psi):
                rule = f"a matrix {shape} over the {len(psi)} places of 'prior'"
                raise broken_rule(name, owner, rule, f"{size} places")
        units, cost = (getattr(privacy, "unit", ""), getattr(quality, "unit", "")), d_q * psi[:, None]
        return cls(d_p * psi, cost, budget=allowed_loss(budget, units[1], cost, owner), mass=psi, units=units)

    @classmethod
    def from_scenario(
        cls,
        profile: Profile,
        scenario: Scenario,
        *,
        privacy: MetricLike,
        quality: MetricLike,
        budget: float | str | None = None,
        distribution: Trajectories | None = None,
        seen: Sequence[int] = (),
    ) -> Game:
        """The game of a scenario, for a person with this profile.

        Inputs are the known places that can occur; guesses and releases are all combinations of places.

        Parameters
        ----------
        profile, scenario
            How the person moves; what is protected, seen, released and known.
        privacy, quality
            Metrics d_p and d_q: a :class:`Metric`, a function of two vectors of places, or a matrix over places.
        budget
            The expected quality loss that is allowed, a number or in words: by default the saturating budget.
        distribution
            The distribution of the true places given what was ``seen``. By default the profile's own, which is right
            as long as nothing has been seen; see :meth:`Trajectories.given`.
        seen
            The regions that were exposed, one for each seen offset of the scenario.

        Raises
        ------
        ParameterError
            If what was seen or a metric does not fit the scenario.
        SizeError
            If the matrices would not fit in memory.

        Examples
        --------
        >>> from hideseek.model.markov import MarkovProfile
        >>> profile, differ = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]]), 1 - np.eye(2)
        >>> round(Game.from_scenario(profile, Scenario.sporadic(), privacy=differ, quality=differ).prior_risk, 6)
        0.333333
        """
        trajectories = true_places(profile, scenario, distribution, seen)
        parts = vars(fold_scenario(profile, scenario, privacy, quality, trajectories, seen))
        allowed = allowed_loss("100%" if budget is None else budget, parts["units"][1], parts["cost"], OWNER)
        return cls(**parts, budget=allowed)

    def with_budget(self, budget: float | str) -> Game:
        """The same game for another budget: a number in the unit of the losses, "500m", or "20%" of :attr:`saturation`.

        >>> game = Game.from_prior([0.5, 0.5], privacy=1 - np.eye(2), quality=1 - np.eye(2), budget=0.1)
        >>> game.with_budget(0.3).budget, game.with_budget("20%").budget
        (0.3, 0.1)
        """
        return replace(self, budget=budget_of(budget, self, "Game.with_budget"))

    @cached_property
    def prior_risk(self) -> float:
        """The adversary's expected error when they see nothing: no mechanism gives more privacy than this."""
        return float(self.error.sum(axis=1).min())

    @cached_property
    def least_loss(self) -> float:
        """The expected quality loss of the cheapest release for every input."""
        return float(self.cost.min(axis=1).sum())

    @cached_property
    def saturation(self) -> float:
        """The saturating budget, the cost of the cheapest constant release: with it, releases reveal nothing."""
        return float(self.cost.sum(axis=0).min())

    def __repr__(self) -> str:
        extra, facts = "" if self.rows is None else f", with {len(self.rows.lower)} extra rows", facts_of(self)
        return (
            f"Game of {len(self.error)} guesses, {len(self.cost)} inputs and {self.cost.shape[1]} releases{extra}\n"
            f"  budget {facts['budget']}: least possible loss {facts['least possible loss']}, "
            f"saturating budget {facts['saturating budget']}; prior risk {facts['prior risk']}"
        )

    def _repr_html_(self) -> str:
        return html_table("Game", facts_of(self))


def summary_of(game: Game) -> str:
    """What a terminal shows of a game."""
    facts, extra = facts_of(game), "" if game.rows is None else f", with {len(game.rows.lower)} extra rows"
    return (
        f"Game of {len(game.error)} guesses, {len(game.cost)} inputs and {game.cost.shape[1]} releases{extra}\n"
        f"  budget {facts['budget']}: least possible loss {facts['least possible loss']}, "
        f"saturating budget {facts['saturating budget']}; prior risk {facts['prior risk']}"
    )


def facts_of(game: Game) -> dict[str, object]:
    """What a notebook shows of a game."""
    error, loss = game.units
    return {
        "guesses, inputs, releases": f"{len(game.error)}, {len(game.cost)}, {game.cost.shape[1]}",
        "budget": amount(game.budget, loss),
        "least possible loss": amount(game.least_loss, loss),
        "saturating budget": amount(game.saturation, loss),
        "prior risk": amount(game.prior_risk, error),
    }


def checked_mass(mass: FloatArray, inputs: int) -> FloatArray:
    """The probabilities of the inputs, or none."""
    array = np.asarray(mass, dtype=np.float64)
    if not array.size:
        return array
    checked = distribution(array, "mass", "Game")
    if len(checked) != inputs:
        raise broken_rule("mass", "Game", f"{inputs} probabilities, one per input", len(checked))
    return checked


def matrix_of(value: MetricLike, parameter: str, places: int, owner: str) -> FloatArray:
    """A metric between single places of which nothing is known but their number."""
    if isinstance(value, str):
        if one_of(MetricName, value, parameter, owner) is not MetricName.HAMMING:
            rule = "'hamming', a Metric, a function or a matrix, as a prior has no regions to measure distances between"
            hint = "Use Game.from_scenario with a profile that has regions, or hideseek.metrics.distance(regions)."
            raise broken_rule(parameter, owner, rule, repr(str(value)), hint)
        value = hamming()
    elif callable(value):
        value = from_function(value)
    return over_places(value, places) if isinstance(value, Metric) else nonnegative(value, parameter, owner, 2)


def budget_too_small(budget: float, least: float, unit: str = "") -> BudgetError:
    """A budget that no mechanism can meet, with the one that can be met."""
    rule = f"at least the least possible loss, {least_words(least, unit)}"
    hint = "Raise the budget, or allow closer releases."
    got = amount(budget, unit) if is_square(unit) else budget
    return BudgetError.breaking("budget", "Game", rule, got, hint, least=least)
