"""One mechanism for several games."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from enum import StrEnum

import numpy as np

from hideseek.errors import broken_rule
from hideseek.game.game import Game
from hideseek.game.linear_rows import same_rows
from hideseek.util.arrays import FloatArray
from hideseek.util.boundary import checked
from hideseek.util.checks import distribution, one_of


class Objective(StrEnum):
    """What one mechanism for several games maximises."""

    AVERAGE = "average"
    MINIMUM = "minimum"


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Alternatives:
    """One mechanism for several games (priors, histories, services): the paper's alternative quantifications.

    Every game's budget holds. The adversary knows which game is played.

    Parameters
    ----------
    games
        With the same inputs, releases and extra rows.
    objective
        Whether to maximise the "average" or the "minimum" privacy over the games.
    weights
        [games]: the probability of each game, for the average. Uniform by default.

    Raises
    ------
    ParameterError
        If the games differ in inputs, releases or rows, or the weights are no distribution.

    Examples
    --------
    >>> one = Game.from_prior([0.5, 0.5], privacy=1 - np.eye(2), quality=1 - np.eye(2), budget=0.2)
    >>> two = Game.from_prior([0.9, 0.1], privacy=1 - np.eye(2), quality=1 - np.eye(2), budget=0.2)
    >>> Alternatives((one, two), objective="minimum")
    Alternatives: 2 games, maximising the minimum of their privacies
    """

    games: tuple[Game, ...]
    _: KW_ONLY
    objective: Objective = Objective.AVERAGE
    weights: FloatArray = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        owner = "Alternatives"
        games = tuple(self.games) if isinstance(self.games, Sequence) else (self.games,)
        if not games or not all(isinstance(game, Game) for game in games) or isinstance(self.games, Game):
            got = type(self.games).__name__ if games else "none"
            raise broken_rule("games", owner, "a sequence of at least one game", got)
        for k, game in enumerate(games[1:], start=1):
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
            raise broken_rule("weights", owner, f"{len(games)} numbers, one per game", len(weights))
        for name, value in (("games", games), ("objective", objective), ("weights", weights)):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"Alternatives: {len(self.games)} games, maximising the {self.objective} of their privacies"


def as_alternatives(game: Game | Alternatives) -> Alternatives:
    """A single game is one alternative."""
    if not isinstance(game, Game | Alternatives):
        raise broken_rule("game", "solve", "a Game, or Alternatives", type(game).__name__)
    return game if isinstance(game, Alternatives) else Alternatives((game,))
