"""Solves the games of all histories at an access, from where similar ones ended, in several processes if many."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from joblib import Parallel, delayed

from hideseek.codebook.joint_distribution import Access, History, Joint
from hideseek.designing.history_games import HistoryGames
from hideseek.designing.shared_price import divide
from hideseek.designing.stage_draft import Choice, Ends, Made, make
from hideseek.game.game import Game
from hideseek.model.scenario import Scenario
from hideseek.solvers.dispatch import solve
from hideseek.solvers.growing_program import Pairs
from hideseek.solvers.solution import Solution
from hideseek.util.choices import ACCESS, Mode
from hideseek.util.progress import Advance

MANY = 100  # games from which on more processes pay
Found = TypeVar("Found")


class HistorySolver:
    """Solves games by history, and remembers which constraints were binding, to start similar games from there."""

    def __init__(self, games: HistoryGames, choice: Choice, workers: int, progress: Advance | None) -> None:
        self.games, self.workers, self.progress = games, workers, progress
        planner = games.planner
        trades = planner is not None and planner.mode is Mode.TRADE_OFF
        self.weight = planner.discount if planner is not None and trades else 0.0  # of the future, beside now
        self.chooses = choice is not Choice.PLAIN or self.weight > 0
        self._ends: dict[tuple[Scenario, Scenario, History], Ends] = {}
        self._prices: dict[tuple[Scenario, Scenario], float] = {}

    def solve(
        self, what: str, access: Access, joint: Joint, only: Sequence[History] = (), choose: bool = True
    ) -> dict[History, Made]:
        """Solve the games of all histories at an access, or of some, and choose among the optima.

        ``joint`` remembers what the access does; ``what`` is being done, for a progress bar.
        """
        games, proofs = self._games(what, access, joint, only)
        where = {tuple(past): k for k, past in enumerate(joint.histories.tolist())}
        tasks = [
            (
                game,
                self.games.next(game, access, joint, where[past]) if choose and self.chooses else None,
                self._starts(access, past),
                proofs.get(past),
                self.weight,
            )
            for past, game in games.items()
        ]
        made = dict(zip(games, self._each(what, make, tasks), strict=True))
        self._ends |= {(*access.kind, past): one.ends for past, one in made.items()}
        return made

    def privacy(self, access: Access, joint: Joint) -> float:
        """The most privacy at an access, on average over the histories."""
        games, _ = self._games("the second access", access, joint)
        values = [solve(game, start=self._starts(access, past)[0]).privacy for past, game in games.items()]
        return float(joint.mass.sum(axis=0) @ values)

    def _games(
        self, what: str, access: Access, joint: Joint, only: Sequence[History] = ()
    ) -> tuple[dict[History, Game], dict[History, Solution]]:
        """The games of all histories or of some; where they share the budget, with their shares and the proofs."""
        if self.games.over == ACCESS:
            return self.games.now(access, joint, only), {}
        games, last = self.games.now(access, joint), self._prices.get(access.kind)

        def at(price: float) -> list[Solution]:
            tasks = [(game, self._starts(access, past)[0], price) for past, game in games.items()]
            return list(self._each(what, solved_at, tasks))

        divided = divide(list(games.values()), access.prior(joint).weight, self.games.budget, at, last)
        self._prices[access.kind] = divided.price
        proofs = dict(zip(games, divided.proofs, strict=True))
        shared = dict(zip(games, divided.games, strict=True))
        return {past: game for past, game in shared.items() if not only or past in only}, proofs

    def _starts(self, access: Access, past: History) -> Ends:
        """What was binding after this history the last time, or after its longest ending that had a game."""
        keys = [(*access.kind, past[n:]) for n in range(len(past) + 1)]
        return next((self._ends[key] for key in keys if key in self._ends), (None, None))

    def _each(self, what: str, work: Callable[..., Found], tasks: Sequence[tuple[Any, ...]]) -> Iterator[Found]:
        """Work on games one after the other, or in several processes where there are many."""
        if len(tasks) < MANY or self.workers == 1:
            found: Iterator[Found] = (work(*task) for task in tasks)
        else:
            found = Parallel(self.workers, return_as="generator", batch_size=8)(delayed(work)(*task) for task in tasks)
        for done, one in enumerate(found, start=1):
            if self.progress is not None:
                self.progress(what, done, len(tasks))
            yield one


def solved_at(game: Game, start: Pairs | None, price: float) -> Solution:
    """A history's game at a price of loss."""
    return solve(game, start=start, price=price)
