"""All true paths and all exposed ones, written out: what a codebook does, by nothing but its stored integers."""

from __future__ import annotations

import itertools
from collections import defaultdict
from fractions import Fraction

from hideseek.model.profile import sequence_probability

Paths = dict[tuple[tuple[int, ...], tuple[int, ...]], float]


def rows_of(table) -> dict[tuple[int, int], dict[int, Fraction]]:
    """Every row of a stored table by its code, as exact fractions."""
    rows = {}
    for number, code in enumerate(table.codes.tolist()):
        begin, end = int(table.start[number]), int(table.start[number + 1])
        weights = [int(weight) or 2**32 for weight in table.weights[begin:end]]
        rows[code] = {int(o): Fraction(w, 2**32) for o, w in zip(table.releases[begin:end], weights, strict=True)}
    return rows


def law_of(rows, places: int, seen: tuple[int, ...], known: tuple[int, ...]) -> dict[int, Fraction]:
    """The distribution of the release: the row of this past and these places, or that for places never seen with it."""
    for end in (known, (places,) * len(known)):
        code = 0
        for digit in (*seen, *end):
            code = code * (places + 1) + digit
        if code in rows:
            return rows[code]
    raise KeyError((seen, known))


def everything(codebook, profile, accesses: int, gaps: dict[int, int] | None = None) -> Paths:
    """Pr(true places at all steps, releases at all steps; -1 where none), for a few accesses.

    ``gaps`` maps the number of an access to how many accesses lie between it and the one before (default 1).
    """
    places, every = profile.places, codebook.scenario.every
    starts, stages = [0], [0]
    for number in range(1, accesses):
        gap = (gaps or {}).get(number, 1)
        starts.append(starts[-1] + gap * every)
        stages.append(codebook.after(stages[-1], gap))
    steps = starts[-1] + max(max(codebook.scenario.release), max(codebook.scenario.known), 0) + 1
    tables = {s: [rows_of(table) for table in codebook.stages[s].tables] for s in set(stages)}
    found: Paths = {}
    for path in itertools.product(range(places), repeat=steps):
        probability = sequence_probability(profile, path)
        if probability == 0:
            continue
        exposed = {(-1,) * steps: probability}
        for now, number in zip(starts, stages, strict=True):
            stage = codebook.stages[number]
            for position, moment in enumerate(stage.scenario.release):
                step: dict[tuple[int, ...], float] = defaultdict(float)
                for before, weight in exposed.items():
                    seen = [before[now + offset] for offset in stage.scenario.seen]
                    seen += [before[now + offset] for offset in stage.scenario.release[:position]]
                    known = tuple(path[now + offset] for offset in stage.known_at(position))
                    for release, chance in law_of(tables[number][position], places, tuple(seen), known).items():
                        after = (*before[: now + moment], release, *before[now + moment + 1 :])
                        step[after] += weight * float(chance)
                exposed = step
        for releases, weight in exposed.items():
            found[path, releases] = weight
    return found


def prior_at(paths: Paths, scenario, now: int) -> dict[tuple[tuple[int, ...], tuple[int, ...]], float]:
    """Pr(what was seen, the true places that matter) at an access that starts at step ``now``."""
    offsets = sorted({*scenario.target, *scenario.quality, *scenario.known})
    law: dict[tuple[tuple[int, ...], tuple[int, ...]], float] = defaultdict(float)
    for (path, exposed), weight in paths.items():
        seen = tuple(exposed[now + offset] for offset in scenario.seen)
        law[seen, tuple(path[now + offset] for offset in offsets)] += weight
    return dict(law)


def outcome_at(paths: Paths, scenario, now: int, privacy, quality, places: int):
    """For every history: its probability, the error of the best guesses, and the quality lost. ``privacy(g, a)``."""
    errors: dict[tuple, dict[tuple, float]] = defaultdict(lambda: defaultdict(float))
    loss: dict[tuple, float] = defaultdict(float)
    weight: dict[tuple, float] = defaultdict(float)
    for (path, exposed), chance in paths.items():
        seen = tuple(exposed[now + offset] for offset in scenario.seen)
        release = tuple(exposed[now + offset] for offset in scenario.release)
        target = tuple(path[now + offset] for offset in scenario.target)
        wanted = tuple(path[now + offset] for offset in scenario.quality)
        errors[seen, release][target] += chance
        loss[seen] += chance * quality(wanted, release)
        weight[seen] += chance
    reached: dict[tuple, float] = defaultdict(float)
    for (seen, _), law in errors.items():
        guesses = itertools.product(range(places), repeat=len(scenario.target))
        reached[seen] += min(sum(p * privacy(guess, target) for target, p in law.items()) for guess in guesses)
    return {seen: (weight[seen], reached[seen] / weight[seen], loss[seen] / weight[seen]) for seen in weight}
