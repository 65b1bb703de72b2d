"""A live device: at each access it solves the game for the belief of an adversary who remembers every release."""

from __future__ import annotations

import hashlib
import os

import numpy as np

from hideseek.device.belief_device import SPARE, BeliefDevice, Withheld
from hideseek.errors import BudgetError, broken_rule
from hideseek.model.profile import regions_of
from hideseek.model.steering import Standing
from hideseek.planning.belief_game import BeliefGame
from hideseek.planning.planner import Planner
from hideseek.planning.player import Player
from hideseek.playbook.belief_table import BeliefTable, steered_tables
from hideseek.util.arrays import FloatArray
from hideseek.util.boundary import checked


@checked
class LiveDevice(BeliefDevice):
    """Exposes at most one place per step by a plan, against an adversary who remembers every release.

    Given every release so far the expected loss stays within what the account of the budget holds (within the budget,
    where it is one of every access: see :class:`hideseek.model.account.Account`), and at every access the adversary's
    expected error is at least the ``floor``, if the times of the accesses reveal nothing about the place.
    An answer is withheld with the reason ``"floor"`` where no table keeps the floor at the current belief, and with
    the reason ``"budget"`` where the quality depends on a place that was not recorded, and without it no release keeps
    the budget. Both follow from public things alone: earlier answers, and the steps asked about. Far off the map the
    reason is ``"off the map"``; neither the belief nor the label counts what that reveals.

    Any number of missed accesses is followed exactly. The state keeps the belief, the sums of the run and, if the
    scenario looks back, the numbers of those true places that it may look at later. The file is for its owner only, and
    any number of devices in any number of processes may share it.

    Parameters
    ----------
    game : BeliefGame
        The game of every access; its profile must have regions.
    planner : Planner
        The planner of that game, as :func:`hideseek.plan` and :func:`hideseek.load_plan` give it.
    state : path
        The file of the device; it is created by the first answer.
    floor : float, default 0
        Expected error of the adversary, in the unit of the privacy metric, below which nothing is exposed.

    Raises
    ------
    PlanError
        If the planner was made for another game.
    ParameterError
        If the profile has no regions, or no answer could ever keep the floor.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from hideseek.metrics import hamming
    >>> from hideseek.model.markov import MarkovProfile
    >>> from hideseek.model.regions import Places
    >>> from hideseek.planning.training import plan
    >>> profile = MarkovProfile.from_matrix([[0.7, 0.3], [0.2, 0.8]], Places([46.52, 46.53], [6.57, 6.58]))
    >>> game = BeliefGame.of(profile, privacy=hamming(), quality=hamming(), budget=0.1)
    >>> with TemporaryDirectory() as folder:
    ...     device = LiveDevice(game, plan(game, walks=2), state=f"{folder}/live.json")
    ...     first = device.expose(46.5201, 6.5702, at="2026-01-05T08:01:30+01:00")
    ...     again = device.expose(46.5299, 6.5799, at="2026-01-05T08:04:59+01:00")
    ...     label = device.label()
    >>> first == again, label.accesses, round(label.filter, 6), label.worst_loss <= 0.1
    (True, 1, 0.1, True)
    """

    rule = "plan"

    def __init__(
        self, game: BeliefGame, planner: Planner, *, state: str | os.PathLike[str], floor: float = 0.0
    ) -> None:
        self.game, self.planner, self._player = game, planner, Player(game, planner)
        super().__init__(
            game,
            game.scenario,
            regions=regions_of(game.profile),
            step=game.profile.step,
            sha256=bound_to(game, planner),
            state=state,
            floor=floor,
            steering=planner.steering,
        )
        if planner.steering is None:
            self._player.keep(self._asked)
        if self.floor and self._table_for(Standing.first(game), list(range(len(game.scenario.known)))) == "floor":
            most = self._most_at_first() / (1 + 2 * SPARE)
            rule = f"at most {most!r}, the most privacy that can be kept at the first access"
            raise broken_rule("floor", "LiveDevice", rule, floor, "With this one nothing would ever be exposed.")

    def _table_for(self, standing: Standing, columns: list[int]) -> BeliefTable | Withheld:
        """The table at what is public when these columns of the state are known, or why there is none."""
        try:
            if self.planner.steering is None:
                table = self._played(standing.belief[0], columns)
            else:
                table = steered_tables(self.game, self.planner.steering, standing, columns, "LiveDevice.expose")[0]
        except BudgetError:
            return "budget"
        return "floor" if table is None or table.privacy < self.floor else table

    def _most_at_first(self) -> float:
        """The most privacy that the first access can have."""
        if self.planner.steering is None:
            return self._player.now.play(self.game.start).privacy
        whole = list(range(len(self.game.scenario.known)))
        first = Standing.first(self.game)
        return steered_tables(self.game, self.planner.steering, first, whole, "LiveDevice")[0].privacy

    def _played(self, belief: FloatArray, columns: list[int]) -> BeliefTable | None:
        """The table that the player has at a belief, or None where none keeps the floor."""
        self._player.restore()
        if len(columns) == len(self.game.scenario.known):
            found = self._player.play(belief, self._asked)
        else:
            found = self._player.play_knowing(belief, columns, self._asked)
        return None if found is None else BeliefTable.of(self.game, belief, columns, found.table)


def bound_to(game: BeliefGame, planner: Planner) -> str:
    """What a state belongs to: the game, its places and steps, and what decides among tables."""
    about = f"{game.sha256} {game.profile.step} {planner.outlook} {planner.mode} {planner.discount!r}"
    about += "" if planner.steering is None else f" {planner.steering!r}"
    digest = hashlib.sha256(about.encode())
    for array in (regions_of(game.profile).centres, planner.cuts):
        digest.update(str(array.shape).encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
