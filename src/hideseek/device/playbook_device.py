"""A device that has a playbook: it follows the belief, chooses a table for it, and needs no solver."""

from __future__ import annotations

import os

from hideseek.device.belief_device import BeliefDevice, Withheld
from hideseek.errors import BudgetError, broken_rule
from hideseek.model.steering import Standing
from hideseek.playbook.belief_table import BeliefTable
from hideseek.playbook.playbook import Playbook
from hideseek.util.boundary import checked


@checked
class PlaybookDevice(BeliefDevice):
    """Exposes one place per step by a playbook, against an adversary who remembers every release.

    It answers after any gap. Given every release so far the expected loss stays within what the account of the budget
    holds (within the budget, where it is one of every access), and the adversary's expected error at every access is
    computed exactly, if the times of the accesses reveal nothing about the place. An
    answer is withheld with the reason ``"floor"`` where the table that the playbook has for the current belief leaves
    the adversary a smaller error than the ``floor``, and with the reason ``"budget"`` where the quality depends on a
    place that was not recorded, and without it no release keeps the budget. Both follow from public things alone.

    The state keeps the belief, the sums of the run and, if the scenario looks back, the numbers of those true places
    that it may look at later. The file is for its owner only, and any number of devices in any number of processes may
    share it.

    Parameters
    ----------
    playbook : Playbook
        As :func:`hideseek.make_playbook` or :meth:`Playbook.load` gives it.
    state : path
        The file of the device; it is created by the first answer.
    floor : float, default 0
        Expected error of the adversary, in the unit of the privacy metric, below which nothing is exposed.

    Raises
    ------
    ParameterError
        If the first answer could not keep the floor.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from hideseek import MarkovProfile, Places, make_playbook, plan
    >>> from hideseek.metrics import hamming
    >>> from hideseek.planning import BeliefGame
    >>> profile = MarkovProfile.from_matrix([[0.7, 0.3], [0.2, 0.8]], Places([46.52, 46.53], [6.57, 6.58]))
    >>> game = BeliefGame.of(profile, privacy=hamming(), quality=hamming(), budget=0.1)
    >>> playbook = make_playbook(game, plan(game, walks=2))
    >>> with TemporaryDirectory() as folder:
    ...     device = PlaybookDevice(playbook, state=f"{folder}/state.json")
    ...     first = device.expose(46.5201, 6.5702, at="2026-01-05T08:01:30+01:00")
    ...     later = device.expose(46.5299, 6.5799, at="2026-01-09T23:04:59+01:00")
    ...     label = device.label()
    >>> first.status, later.status, label.accesses, round(label.filter, 6), label.worst_loss <= 0.1
    ('exposed', 'exposed', 2, 0.1, True)
    """

    rule = "playbook"

    def __init__(self, playbook: Playbook, *, state: str | os.PathLike[str], floor: float = 0.0) -> None:
        self.playbook = playbook
        super().__init__(
            playbook,
            playbook.scenario,
            regions=playbook.regions,
            step=playbook.step,
            sha256=playbook.sha256,
            state=state,
            floor=floor,
            steering=playbook.steering,
        )
        first = playbook.play(playbook.start, floor=self._asked).privacy
        if first < self.floor:
            rule = f"at most {first!r}, the privacy of the first access"
            raise broken_rule("floor", "PlaybookDevice", rule, floor, "With this one nothing would be exposed.")

    def _table_for(self, standing: Standing, columns: list[int]) -> BeliefTable | Withheld:
        """The table at what is public when these columns of the state are known, or why there is none."""
        try:
            table = self.playbook.play(standing, columns=columns, floor=self._asked)
        except BudgetError:
            return "budget"
        return "floor" if table.privacy < self.floor else table
