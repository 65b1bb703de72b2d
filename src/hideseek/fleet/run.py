"""A fleet: every user of a data set protected, on whatever engine; a killed run continues where it stopped."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from hideseek.fleet.engines import Engine, each_result, engine_of
from hideseek.fleet.job import FleetRow, Job, protect
from hideseek.fleet.outputs import LABELS, Mark, Outputs
from hideseek.model.own_places import FEW_DAYS
from hideseek.traces.reading import checked_options
from hideseek.traces.sources import refuse_nowhere, source_of
from hideseek.traces.user_store import Spool, spooled
from hideseek.util.boundary import checked
from hideseek.util.display import counted, html_table
from hideseek.util.progress import Advance

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

DIED = "every worker that tried it died"
COVERAGE = ("places", "width", "outside", "hours", "days")
HELD = ("over", "budget", "worst_window")


@dataclass(frozen=True, repr=False)
class Fleet:
    """What became of the ``users`` of a data set; the rest is in the table ``labels``, one row per design.

    ``reused`` of them were finished by an earlier run; ``reasons`` counts the ``unusable`` ones, who have no files;
    ``departed`` others, no longer in the data, were finished by an earlier run, and their files are still there.
    ``kept`` is the average share of the ceiling that is left over all ``playbooks`` or ``codebooks`` (None where there
    is none), ``seconds`` the CPU time per user who has some, on average. Users were ``told_apart_by`` what
    :class:`hideseek.traces.ReadReport` says, and ``notes`` are those of one.

    On average over users, None where nobody could be learned: ``places``, the median ``width`` of a place in metres,
    the share of fixes ``outside``, the ``hours`` and ``days`` covered. ``few_days`` users have fewer days than a week,
    so that their numbers are no promise, and ``narrow`` designs a budget far below the width of a place.

    Budgets of playbooks hold ``over`` "access", at every one, or a window such as "1 day"; ``worst_window`` is the most
    that the accesses of a window were expected to lose on average, in budgets, over all playbooks.
    """

    labels: str
    users: int
    reused: int
    unusable: int
    reasons: dict[str, int]
    departed: int
    codebooks: int
    kept: float | None
    seconds: float | None
    told_apart_by: str
    places: float | None = None
    width: float | None = None
    outside: float | None = None
    hours: float | None = None
    days: float | None = None
    few_days: int = 0
    narrow: int = 0
    over: str | None = None
    worst_window: float | None = None
    notes: tuple[str, ...] = ()
    playbooks: int = 0

    @property
    def made(self) -> str:
        """How many playbooks or codebooks there are, in words."""
        return counted(self.playbooks, "playbook") if self.playbooks else counted(self.codebooks, "codebook")

    def to_frame(self) -> pd.DataFrame:
        """The table of labels, one row per design of a user."""
        import pandas as pd

        return pd.read_parquet(self.labels)

    def __repr__(self) -> str:
        kept = "" if self.kept is None else f", {self.kept:.1%} of the ceiling kept on average"
        return f"Fleet of {counted(self.users, 'user')}: {self.made}, {self.unusable} unusable{kept}"

    def _repr_html_(self) -> str:
        facts: dict[str, object] = {"users": self.users, "made": self.made}
        if self.kept is not None:
            facts["kept of the ceiling, on average"] = f"{self.kept:.1%}"
        facts |= {f"unusable: {reason}": count for reason, count in self.reasons.items()}
        return html_table("Fleet", facts | {"labels": self.labels})


@checked
def run_fleet(
    data: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    job: Job | None = None,
    format: str | None = None,  # noqa: A002
    columns: Mapping[str, str] | None = None,
    accuracy: str | float | None = "200m",
    one_person: bool = False,
    workers: int | None = None,
    engine: str = "joblib",
    progress: Advance | None = None,
) -> Fleet:
    """Learn, plan and attack for every user of a data set, and write the playbooks and a table of labels.

    Called again with the same folder, job and way of reading, it does what is missing or no longer as it was written.
    At the end all results are compared with their digests.

    Parameters
    ----------
    data, out : path or str
        What :func:`hideseek.read_traces` reads; a folder, or an address that fsspec knows.
    job : Job, optional
        What to do for each user.
    format, columns, accuracy, one_person : optional
        How the data are read, as by :func:`hideseek.read_traces`.
    workers, engine : int, str, optional
        Processes (default: one per core); the worker backend, ``"joblib"`` or ``"dask://HOST:PORT"``.
    progress : callable, optional
        Called with what is being done, how much is done, and of how much (0: not known).

    Returns
    -------
    Fleet
        What became of the users, the same for every backend. One who cannot be used is in the table with the reason.

    Raises
    ------
    EngineError, OutputError
        If the worker backend is unreachable or lost; if results cannot be written, or are no longer there in the end.

    Examples
    --------
    >>> from hideseek.traces.city import synthetic_city
    >>> synthetic_city(people=2, days=2).to_csv("city.csv", index=False)
    >>> job = Job(grid=(2, 2), privacy=("hamming",), over="2 hours")
    >>> found = run_fleet("city.csv", "protected", job=job, workers=1)
    >>> found.users, found.playbooks, found.unusable
    (2, 2, 0)
    >>> found.to_frame()["playbook"].tolist()
    ['playbooks/hamming-20%/person-000.playbook', 'playbooks/hamming-20%/person-001.playbook']
    """
    reading = checked_options(format, columns, accuracy, one_person, "fleet")
    refuse_nowhere(source := source_of(data, "fleet"))
    tell = progress or (lambda *_: None)
    outputs = Outputs(out, job or Job(), reading)
    outputs.apart_from(source)
    with engine_of(engine, workers) as hands, outputs.taken(), spooled(data, **asdict(reading), progress=tell) as spool:
        return protect_all(spool, outputs, hands, tell)


def protect_all(spool: Spool, outputs: Outputs, engine: Engine, tell: Advance) -> Fleet:
    """Do what is missing, user after user, and put the labels together."""
    digests = spool.unusable | {user: spool.digest(user) for user in spool.users}
    finished = {mark.user for mark in outputs.marks(digests) if is_finished(mark, digests[mark.user])}
    for user in spool.unusable.keys() - finished:
        outputs.finish(user, digests[user], [(FleetRow(user=user, fixes=0, reason=spool.unusable[user]), {})])
    missing = [user for user in spool.users if user not in finished]
    before, tasks = len(digests) - len(missing), ((user, spool[user], outputs.job) for user in missing)
    tell("users", before, len(digests))
    for done, ((user, traces, _), results) in enumerate(each_result(engine, protect, tasks), start=before + 1):
        outputs.finish(user, digests[user], results or [(FleetRow(user=user, fixes=len(traces), reason=DIED), {})])
        tell("users", done, len(digests))
    table = outputs.assemble(sorted(digests))
    departed = outputs.departed(digests)
    return summary(table, outputs.folder.address(LABELS), len(finished), departed, spool.told_apart_by, spool.notes)


def is_finished(mark: Mark, digest: str) -> bool:
    """Whether nothing is left to do for a user: the traces are the same, and no worker died of them."""
    return mark.digest == digest and all(row.reason != DIED for row in mark.rows)


def summary(
    table: pa.Table, labels: str, reused: int, departed: int, told_apart_by: str, notes: tuple[str, ...] = ()
) -> Fleet:
    """The facts of a table of labels."""
    columns = ("user", "kept", "seconds", "reason", "narrow", "playbook", *HELD, *COVERAGE)
    there = [name for name in columns if name in table.column_names]  # tables of earlier releases have fewer
    rows = table.select(there).to_pandas().reindex(columns=columns)
    designed, learned = rows[rows["kept"].notna()], rows[rows["days"].notna()].drop_duplicates("user")
    held, lost = designed["over"].dropna(), (designed["worst_window"] / designed["budget"]).dropna()
    failed = rows[~rows["user"].isin(designed["user"])].drop_duplicates("user")
    return Fleet(
        labels=labels,
        users=rows["user"].nunique(),
        reused=reused,
        unusable=len(failed),
        reasons=dict(Counter(failed["reason"]).most_common()),
        departed=departed,
        codebooks=int(designed["playbook"].isna().sum()),
        playbooks=int(designed["playbook"].notna().sum()),
        kept=float(designed["kept"].mean()) if len(designed) else None,
        seconds=float(designed["seconds"].sum() / designed["user"].nunique()) if len(designed) else None,
        told_apart_by=told_apart_by,
        **{name: float(learned[name].mean()) if learned[name].notna().any() else None for name in COVERAGE},
        few_days=int((learned["days"] < FEW_DAYS).sum()),
        narrow=Counter(designed["narrow"])[True],
        over=str(held.iloc[0]) if len(held) else None,
        worst_window=float(lost.max()) if len(lost) else None,
        notes=notes,
    )
