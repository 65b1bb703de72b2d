"""From a person's traces to a device that protects them: learn, plan, make the playbook, attack it, and say it."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pandas as pd

from hideseek.adversary.person_label import PersonLabel
from hideseek.errors import broken_rule
from hideseek.experiments.exposed_day import ExposedDay, exposed_day
from hideseek.experiments.protection_budgets import Person, made_beside
from hideseek.experiments.protection_folder import (
    PLAN,
    PLAYBOOK,
    PROFILE,
    REPORT,
    own_folder,
    refuse_other_person,
    written_together,
)
from hideseek.experiments.protection_words import protection_document
from hideseek.metrics.of_places import distance, squared
from hideseek.metrics.sensitive_places import SensitivePlace, held, sensitive_place, sensitive_to
from hideseek.model.markov import MarkovProfile
from hideseek.model.own_places import places_of
from hideseek.model.profile import regions_of
from hideseek.model.regions import Regions
from hideseek.planning.belief_game import BeliefGame
from hideseek.planning.plan_file import save_plan
from hideseek.planning.planner import Planner
from hideseek.planning.training import adversary_of_playbook
from hideseek.playbook.playbook import Playbook
from hideseek.storage.profile_file import save_profile
from hideseek.traces.table import check_traces
from hideseek.traces.timezones import local_zone
from hideseek.util.arrays import FloatArray
from hideseek.util.boundary import checked
from hideseek.util.choices import OVER, Against
from hideseek.util.display import html_table
from hideseek.util.private_files import write_privately
from hideseek.util.progress import Advance
from hideseek.util.units import amount
from hideseek.util.workers import worker_count

MOST_NAMED, UNNAMED = 12, 3  # places that the label is about: by name, and where none has one
SETTLED = 0.05  # the total variation from the long-run distribution at which a silence is long


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Protection:
    """A person's ``profile``, ``game``, ``planner`` and ``playbook``; the ``label`` says what they are worth.

    ``others`` are labels of quick drafts at other budgets, the smallest first, and ``day`` is a day of the ``user``
    as an app would see it. :func:`protect` makes it.
    """

    profile: MarkovProfile
    game: BeliefGame
    planner: Planner
    playbook: Playbook
    label: PersonLabel
    others: tuple[PersonLabel, ...]
    day: ExposedDay
    user: str

    @property
    def report(self) -> str:
        """All of it as one page that needs no network; it reveals where the person goes."""
        from hideseek.experiments.protection_pages import page_of

        return page_of(self)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the profile, the plan, the playbook, the report and the label into a folder, for their owner only.

        All are written before the first one replaces an older one.

        Parameters
        ----------
        folder : path
            One that is new, empty, or holds what was saved there before; files of devices beside them stay.

        Raises
        ------
        ParameterError
            If the folder holds anything else.
        OutputError
            If it cannot be written.
        """
        with written_together(own_folder(folder), protection_document(self)) as new:
            save_profile(self.profile, new / PROFILE)
            save_plan(self.game, self.planner, path=new / PLAN)
            self.playbook.save(new / PLAYBOOK)
            write_privately(new / REPORT, self.report.encode())

    def __repr__(self) -> str:
        return f"Protection({', '.join(f'{name}={value}' for name, value in self._facts.items())})"

    def _repr_html_(self) -> str:
        return html_table("Protection", self._facts)

    @property
    def _facts(self) -> dict[str, object]:
        return {
            "places": self.profile.places,
            "budget": amount(self.game.budget, self.game.quality.unit),
            "error": f"{self.label.error.in_words()} {self.label.unit}",
            "nothing exposed": f"{self.label.nothing:.6g} {self.label.unit}",
        }


@checked
def protect(
    traces: pd.DataFrame,
    *,
    profile: MarkovProfile | None = None,
    budget: float | str = "500m",
    over: str | timedelta = OVER,
    cap: float | None = None,
    against: Against | str | None = None,
    sensitive: Sequence[SensitivePlace | str] = (),
    timezone: str | None = None,
    out: str | os.PathLike[str] | None = None,
    seed: int = 0,
    workers: int | None = None,
    progress: Advance | None = None,
) -> Protection:
    """Protect a person: find the places, learn the habits, plan, make the playbook of a device, and attack it.

    Parameters
    ----------
    traces, profile : pandas.DataFrame, MarkovProfile
        The fixes of one person, as :func:`hideseek.read_traces` gives them; and the profile, of order 1, if it was
        learned before: else it is, over :func:`hideseek.model.places_of` the traces.
    budget, over, cap, against
        The loss that is allowed, a squared displacement such as "500m" or "20%" of the saturating one, at every
        "access" or over "1 day": see :meth:`BeliefGame.of`; and the adversary, who errs in metres: see :func:`plan`.
    sensitive, timezone, out : sequence of SensitivePlace or str, str, path, optional
        Such as "clinic=46.52,6.63": errors of the adversary there count for more; the IANA name of the time zone, by
        default that of the data; a folder for :meth:`Protection.save`.
    seed, workers, progress : optional
        Of all random walks; processes (default: one per core); called with what is done, how much, and of how much.

    Returns
    -------
    Protection
        The playbook is for a :class:`hideseek.PlaybookDevice`, and the label says what it is worth.

    Raises
    ------
    ParameterError, OutputError
        If an argument breaks its rule, or the traces are of several people; if the files cannot be written.

    Examples
    --------
    >>> import hideseek as hs
    >>> traces = hs.synthetic_city(people=1, days=3)
    >>> profile = hs.MarkovProfile.fit(traces, hs.Grid.covering(traces, rows=2, columns=2))
    >>> me = protect(traces, profile=profile, budget="300m", out="me")
    >>> 0 == me.label.truth < me.label.error <= me.label.nothing
    True
    """
    table, areas = one_person(traces), [sensitive_place(one) if isinstance(one, str) else one for one in sensitive]
    folder, count = None if out is None else own_folder(out), worker_count(workers, "protect")
    if profile is None:
        profile = MarkovProfile.fit(table, places_of(table, timezone=timezone, sensitive=areas))
    refuse_other_person(folder, user_of(table), profile)
    plain = plain_game(profile, budget, over, cap)
    return saved(protected(table, plain, areas, against, timezone, seed, count, progress), folder)


def saved(made: Protection, folder: Path | None) -> Protection:
    """A protection, written to a folder if there is one."""
    if folder is not None:
        made.save(folder)
    return made


def one_person(traces: pd.DataFrame) -> pd.DataFrame:
    """The traces, refused where they are those of several people."""
    table = check_traces(traces, "protect")
    if (people := table["user_id"].nunique()) > 1:
        hint = "Choose one, or use hideseek.fleet.run_fleet for all."
        raise broken_rule("traces", "protect", "those of one person", f"{people} people", hint)
    return table


def user_of(traces: pd.DataFrame) -> str:
    """Whose traces they are, of one person."""
    return str(traces["user_id"].iloc[0])


def plain_game(
    profile: MarkovProfile, budget: float | str, over: str | timedelta = OVER, cap: float | None = None
) -> BeliefGame:
    """The game in metres, without the weights of sensitive places."""
    if profile.memory != 1:
        raise broken_rule("profile", "protect", "one of order 1", f"one of order {profile.memory}")
    metres = distance(regions_of(profile))
    return BeliefGame.of(profile, privacy=metres, quality=squared(metres), budget=budget, over=over, cap=cap)


def protected(
    traces: pd.DataFrame,
    plain: BeliefGame,
    sensitive: Sequence[SensitivePlace],
    against: Against | str | None,
    timezone: str | None,
    seed: int,
    workers: int,
    progress: Advance | None,
) -> Protection:
    """Plan, make the playbook, attack it, and live a day with it."""
    zone, _ = local_zone(traces, timezone)
    profile, regions = plain.profile, regions_of(plain.profile)
    weighted = sensitive_to(plain.privacy, regions, places=sensitive)
    game = BeliefGame.of(profile, privacy=weighted, quality=plain.quality, budget=plain.budget)
    game = replace(game, window=plain.window, cap=plain.cap)
    adversary = adversary_of_playbook(against, plain.window, "protect")
    own = {holder(one, regions): one.name for one in sensitive}
    names = own | names_of(regions, profile.stationary, own)
    made, others = made_beside(Person(game, plain, names, own, seed, adversary), workers, progress)
    day = exposed_day(traces, plain, made.playbook, zone=zone, sensitive=own, seed=seed)
    return Protection(profile, game, made.planner, made.playbook, made.label, others, day, user_of(traces))


def holder(one: SensitivePlace, regions: Regions) -> int:
    """The place that holds a sensitive location, or of those that it reaches the nearest one."""
    near = np.flatnonzero(held(one, regions))
    (within,) = regions.locate([one.latitude], [one.longitude]).tolist()
    return within if within in near else int(near[regions.keep(near).nearest([one.latitude], [one.longitude])[0]])


def names_of(regions: Regions, share: FloatArray, but: Collection[int] = ()) -> dict[int, str]:
    """The places that have names, those where most time is spent first; cells between stays have none."""
    names = getattr(regions, "names", ()) or [""] * len(regions)
    stay = getattr(regions, "is_stay", np.ones(len(regions), np.bool_))
    busiest = np.argsort(-share, kind="stable").tolist()
    found = {place: names[place] for place in busiest if names[place] and stay[place] and place not in but}
    if not found and not len(but):
        found = {place: f"place {place}" for place in busiest[:UNNAMED]}
    return dict(list(found.items())[:MOST_NAMED])


def silence_to_forget(game: BeliefGame) -> int | None:
    """Steps of silence after which earlier releases reveal nearly nothing; None where it takes longer than anybody.

    >>> chain = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]])
    >>> silence_to_forget(BeliefGame.of(chain, privacy="hamming", quality="hamming", budget=0.1))
    8
    """
    moves, steps = game.moves, 1
    while np.abs(moves - game.start).sum(axis=1).max() / 2 > SETTLED:
        if steps > 2**20:
            return None
        moves, steps = moves @ moves, 2 * steps
    return steps
