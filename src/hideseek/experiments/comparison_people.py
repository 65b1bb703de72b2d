"""Mechanisms on one scale for many people: which one leads depends on the person, so one is not enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from hideseek.baselines import RIVALS
from hideseek.baselines.rival import RivalLike
from hideseek.errors import broken_rule
from hideseek.experiments.comparison import MEASURED, Comparison, compare
from hideseek.experiments.comparison_measure import OURS, WINDOWED
from hideseek.model.markov import MarkovProfile
from hideseek.util.boundary import checked
from hideseek.util.choices import DAY
from hideseek.util.display import html_table
from hideseek.util.estimates import Estimate
from hideseek.util.progress import Advance
from hideseek.util.units import amount, metres_beside
from hideseek.util.workers import worker_count

PAIRS = (("euclid", "squared"), ("euclid", "hamming"))  # the metrics of privacy and of quality
BUDGET = "20%"


@dataclass(frozen=True)
class MeanRow:
    """One mechanism under one pair of metrics, on average over ``people``, with 95 % intervals over them.

    ``first`` is on how many of them it leaves the filter most, of those that lose the common loss.
    """

    privacy: str
    quality: str
    mechanism: str
    window: Estimate
    filter: Estimate
    smoother: Estimate
    viterbi: Estimate
    quality_loss: Estimate
    kept: Estimate
    first: int
    people: int
    learned: bool
    unit: str
    loss_unit: str


@dataclass(frozen=True, repr=False)
class PeopleComparison:
    """The comparisons of several people, by person and by the metrics of privacy and quality."""

    comparisons: Mapping[tuple[str, str, str], Comparison]

    @cached_property
    def means(self) -> tuple[MeanRow, ...]:
        """Every mechanism that all people have under a pair of metrics, what leaves the filter most first."""
        found = []
        for pair in dict.fromkeys((privacy, quality) for _, privacy, quality in self.comparisons):
            own = [one for (_, *metrics), one in self.comparisons.items() if tuple(metrics) == pair]
            found += sorted(mean_rows(pair, own), key=lambda row: -row.filter)
        return tuple(found)

    @property
    def notes(self) -> tuple[str, ...]:
        """Which mechanisms have no mean, as some people lack them, in sentences."""
        found = dict[str, list[set[str]]]()
        for (_, *metrics), one in self.comparisons.items():
            found.setdefault("/".join(metrics), []).append({row.mechanism for row in one.rows})
        return tuple(
            f"Without a mean under {pair}: {name}, which {sum(name not in own for own in people)} of {len(people)} "
            "people lack."
            for pair, people in found.items()
            for name in sorted(({*OURS} - {WINDOWED}).union(*people))  # a window has no row where none is asked for
            if not all(name in own for own in people)
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per person, pair of metrics and mechanism; what was measured with the ends of its 95 % interval."""
        frames = [
            one.to_frame().assign(user=user, privacy=privacy, quality=quality, prior_risk=one.prior_risk)
            for (user, privacy, quality), one in self.comparisons.items()
        ]
        return pd.concat(frames, ignore_index=True)

    def means_frame(self) -> pd.DataFrame:
        """The means, with the ends of their 95 % intervals over people."""
        lines = []
        for row in self.means:
            line = dict(vars(row))
            for name in (*MEASURED, "kept"):
                line[f"{name}_low"], line[f"{name}_high"] = line[name].interval
            lines.append(line | metres_beside({"quality_loss": row.quality_loss}, row.loss_unit))
        return pd.DataFrame(lines)

    def __repr__(self) -> str:
        people, pairs = ({key[part] for key in self.comparisons} for part in (slice(1), slice(1, None)))
        return f"PeopleComparison of {len(people)} people under {len(pairs)} pairs of metrics"

    def _repr_html_(self) -> str:
        facts = {}
        for row in self.means:
            left = f"{amount(float(row.filter), row.unit)}, {row.kept:.0%} kept"
            facts[f"{row.mechanism}, {row.privacy}/{row.quality}"] = left
        return html_table("Expected error of the filter on average over people", facts)


def mean_rows(pair: tuple[str, str], own: Sequence[Comparison]) -> list[MeanRow]:
    """The means of the mechanisms that all of some comparisons have."""
    by = [{row.mechanism: row for row in one.rows} for one in own]
    first = [next((row.mechanism for row in one.rows if one.equal(row)), None) for one in own]
    means = []
    for name in by[0]:
        rows = [each[name] for each in by if name in each]
        if len(rows) == len(own):
            measured: dict[str, Any] = {
                part: Estimate.mean_of(np.array([getattr(row, part) for row in rows])) for part in (*MEASURED, "kept")
            }
            measured |= {"first": first.count(name), "people": len(rows), "learned": rows[0].learned}
            means.append(MeanRow(*pair, name, **measured, unit=own[0].unit, loss_unit=own[0].loss_unit))
    return means


@checked
def compare_people(
    profiles: Mapping[str, MarkovProfile],
    *,
    pairs: Sequence[tuple[str, str]] = PAIRS,
    budget: float | str = BUDGET,
    over: str | timedelta = DAY,
    rivals: Sequence[RivalLike] = RIVALS,
    accesses: int | None = None,
    walks: int | None = None,
    seed: int = 0,
    workers: int | None = None,
    progress: Advance | None = None,
) -> PeopleComparison:
    """Compare mechanisms for several people: means and 95 % intervals over them.

    Parameters
    ----------
    profiles, pairs : mapping of str to MarkovProfile, sequence of (str, str)
        How each person moves, two people or more; the names of metrics of privacy and of quality.
    budget, over, rivals, accesses, walks, seed
        As in :func:`compare`; a share of the saturating budget is one of each person's own.
    workers, progress : optional
        Processes (default: one per core); called with what is being done, how much is done, and of how much.

    Returns
    -------
    PeopleComparison
        Every person's comparison, and the means over people.

    Raises
    ------
    ParameterError
        If there are fewer than two people, or a value breaks its rule.

    Examples
    --------
    >>> people = {name: MarkovProfile.from_matrix([[0.8, 0.2], [0.2, 0.8]]) for name in ("one", "two")}
    >>> found = compare_people(people, pairs=[("hamming", "hamming")], rivals=(), accesses=4, workers=1)
    >>> found
    PeopleComparison of 2 people under 1 pairs of metrics
    >>> [row.people for row in found.means if row.mechanism == "live planner"]
    [2]
    """
    owner = "compare_people"
    if len(profiles) < 2:
        raise broken_rule("profiles", owner, "of two people or more", len(profiles), "compare is for one person.")
    if not pairs:
        raise broken_rule("pairs", owner, "at least one pair of metrics", "none")
    run: dict[str, Any] = {"budget": budget, "over": over, "rivals": rivals}
    run |= {"accesses": accesses, "walks": walks, "seed": seed}
    keys = [(user, *pair) for pair in pairs for user in profiles]
    keys.sort(key=lambda key: -profiles[key[0]].places)  # those with most places take longest
    tasks = (delayed(compared)(key, profiles[key[0]], run) for key in keys)
    found = {}
    for key, one in Parallel(worker_count(workers, owner), return_as="generator_unordered", batch_size=1)(tasks):
        found[key] = one
        if progress is not None:
            progress("people", len(found), len(keys))
    return PeopleComparison({(user, *pair): found[user, *pair] for pair in pairs for user in profiles})


def compared(
    key: tuple[str, str, str], profile: MarkovProfile, run: Mapping[str, Any]
) -> tuple[tuple[str, str, str], Comparison]:
    """One person's comparison, in one process."""
    return key, compare(profile, privacy=key[1], quality=key[2], workers=1, **run)
