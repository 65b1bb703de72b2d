"""What every rival has in common: the setting it is made for, and one dial from no noise to much."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property, partial

import numpy as np

from hideseek.adversary.black_box import Rule
from hideseek.errors import broken_rule
from hideseek.game.game import Game
from hideseek.game.mechanism import Mechanism, Policy
from hideseek.metrics.metric import Metric, over_places
from hideseek.metrics.named import MetricLike, as_metric
from hideseek.model.geodesy import distances, plane
from hideseek.model.markov import MarkovProfile
from hideseek.model.profile import regions_of
from hideseek.model.scenario import Scenario
from hideseek.util.arrays import FloatArray
from hideseek.util.boundary import checked

METRES_PER_DEGREE = 111_195.0  # of latitude, on average
FINE, COARSE = 1e-3, 1e3  # dials in metres turn from this share of the shortest distance to so many times the longest


@checked
@dataclass(frozen=True, eq=False, init=False)
class Setting:
    """The person that a rival protects, and the metrics of error and quality.

    Parameters
    ----------
    profile : MarkovProfile
        How the person moves.
    privacy, quality : Metric, str, callable or array_like
        How the adversary's error and the loss of quality are measured.

    Raises
    ------
    ParameterError
        If a metric does not fit the profile.

    Examples
    --------
    >>> from hideseek.model.markov import MarkovProfile
    >>> from hideseek.model.regions import Places
    >>> two = MarkovProfile.from_matrix([[0.9, 0.1], [0.1, 0.9]], Places([0.0, 0.0], [0.0, 0.01]))
    >>> Setting(two, privacy="hamming", quality="euclid").loss.round()
    array([[   0., 1113.],
           [1113.,    0.]])
    """

    profile: MarkovProfile
    privacy: Metric
    quality: Metric

    def __init__(self, profile: MarkovProfile, *, privacy: MetricLike, quality: MetricLike) -> None:
        object.__setattr__(self, "profile", profile)
        object.__setattr__(self, "privacy", as_metric(privacy, "privacy", profile, "Setting"))
        object.__setattr__(self, "quality", as_metric(quality, "quality", profile, "Setting"))

    @cached_property
    def game(self) -> Game:
        """The sporadic game at its saturating budget, in which the prior is the long-run distribution of the place."""
        return Game.from_scenario(self.profile, Scenario.sporadic(), privacy=self.privacy, quality=self.quality)

    @property
    def prior(self) -> FloatArray:
        """The long-run distribution of the place."""
        return self.profile.stationary

    @cached_property
    def loss(self) -> FloatArray:
        """d_q[place, release]."""
        return over_places(self.quality, self.profile.places)

    @cached_property
    def metres(self) -> FloatArray:
        """Distances between the places."""
        return distances(regions_of(self.profile))

    @cached_property
    def points(self) -> FloatArray:
        """The places on a plane, in metres, [place, 2]."""
        return plane(regions_of(self.profile))

    @cached_property
    def mapped(self) -> FloatArray:
        """The places as on a map whose cells of a grid are all alike: about metres east and north, [place, 2]."""
        latitude, longitude = regions_of(self.profile).centres.T
        east = longitude * np.cos(np.radians(latitude.mean()))
        return METRES_PER_DEGREE * np.stack([east, latitude], axis=1)


def in_metres(setting: Setting) -> tuple[float, float]:
    """The ends of a dial in metres: next to no noise, and next to nothing but noise."""
    apart = setting.metres[setting.metres > 0]
    return FINE * float(apart.min()), COARSE * float(apart.max())


@checked
@dataclass(frozen=True)
class Rival:
    """A mechanism with one dial: more ``noise`` costs more quality.

    ``make(setting, noise)`` builds it: a mechanism, its table [place, release], a policy, or a function
    ``(place, past_releases, rng) -> place``. ``span(setting)`` are the ends of the dial, and ``dial`` says what it
    turns; without a dial a rival is compared at the loss that it has.
    """

    name: str
    reference: str
    _: KW_ONLY
    dial: str = ""
    make: Callable[[Setting, float], Mechanism | Policy | Rule | FloatArray]
    span: Callable[[Setting], tuple[float, float]] = in_metres


def exposer_of(rival: Rival, setting: Setting, noise: float = math.nan) -> Mechanism | Policy | Rule:
    """A rival with its dial at ``noise``, a table as a mechanism; one that has no dial needs no noise.

    >>> from hideseek.model.markov import MarkovProfile
    >>> two = MarkovProfile.from_matrix([[0.9, 0.1], [0.1, 0.9]])
    >>> exposer_of(Rival("truth", "", make=lambda *_: np.eye(2)), Setting(two, privacy="hamming", quality="hamming"))
    Mechanism of 2 inputs and 2 releases, with 2 probabilities above 0
    """
    made = rival.make(setting, noise)
    exposer = Mechanism(made) if isinstance(made, np.ndarray) else made
    places = setting.profile.places
    if isinstance(exposer, Mechanism) and exposer.distributions.shape != (places, places):
        rule = f"mechanisms that release one of the {places} places, at each of them"
        raise broken_rule("rivals", "compare", rule, f"a table of the shape {exposer.distributions.shape}")
    return exposer


RivalLike = Rival | Mechanism | Policy | Callable[[int, tuple[int, ...], np.random.Generator], int] | FloatArray


def given_already(made: Mechanism | Policy | Rule | FloatArray, *_: object) -> Mechanism | Policy | Rule | FloatArray:
    """What is there, whatever the setting."""
    return made


def as_rivals(given: Sequence[RivalLike], taken: Sequence[str] = ()) -> list[Rival]:
    """What was given, as rivals, each under a name of its own: that of the function or the class, or "table".

    >>> def rounded(place, past, rng):
    ...     return place // 2 * 2
    >>> [one.name for one in as_rivals([rounded, np.eye(3), np.eye(3), lambda place, past, rng: place])]
    ['rounded', 'table', 'table 2', 'lambda']
    """
    names, found = list(taken), list[Rival]()
    for one in given:
        if isinstance(one, Rival):
            rival = one
        else:
            table = isinstance(one, Mechanism | np.ndarray)
            name = "table" if table else str(getattr(one, "__name__", type(one).__name__)).strip("<>")
            rival = Rival(name, "", make=partial(given_already, one))
        number = sum(name == rival.name for name in names) + 1
        names.append(rival.name)
        found.append(rival if number == 1 else replace(rival, name=f"{rival.name} {number}"))
    return found
