"""A codebook worked out again from the bytes of its file, by plain dictionaries and without anything of hideseek.

The file is read here by its layout alone: eight bytes of length, a JSON header, tensors one after the other. The chain
in it moves the true places, and the whole numbers in it draw the releases. The error of an adversary who remembers the
last few releases, and the quality lost, are added up after every history: access after access, and after every gap
that begins after any of them.
"""

from __future__ import annotations

import itertools
import json
import struct
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

KINDS = {"U16": "<u2", "U32": "<u4", "U64": "<u8", "F64": "<f8"}
DIED_OUT = 1e-200  # a history that only becomes rarer is followed until here
SETTLED = 1e-12
AFTER_GAP = 100

Law = dict[tuple[tuple[int, ...], tuple[int, ...]], float]  # (true places, remembered releases) -> probability


@dataclass(frozen=True)
class Found:
    """What happens at an access after every history: its probability, the quality lost, and the adversary's error."""

    weight: dict[tuple[int, ...], float]
    loss: dict[tuple[int, ...], float]
    privacy: dict[tuple[int, ...], float]

    def mean(self, values: dict[tuple[int, ...], float]) -> float:
        return sum(self.weight[past] * values[past] for past in self.weight)


class Book:
    """What a file holds."""

    def __init__(self, content: bytes) -> None:
        (length,) = struct.unpack("<Q", content[:8])
        header, data = json.loads(content[8 : 8 + length]), content[8 + length :]
        self.about = json.loads(header.pop("__metadata__")["hideseek"])
        tensors = {
            name: np.frombuffer(data[slice(*own["data_offsets"])], KINDS[own["dtype"]]).reshape(own["shape"])
            for name, own in header.items()
        }
        self.places, self.gaps, self.every = self.about["places"], self.about["gaps"], self.about["scenario"]["every"]
        self.stages = [own["scenario"] for own in self.about["stages"]]
        self.then = [own["then"] for own in self.about["stages"]]
        self.tables = [
            [self.table(tensors, f"{n}.table.{p}") for p in range(len(stage["release"]))]
            for n, stage in enumerate(self.stages)
        ]
        states = [tuple(state) for state in tensors["chain.states"].tolist()]
        self.memory = len(states[0])
        self.moves = {
            state: {place: chance for place, chance in enumerate(row) if chance > 0}
            for state, row in zip(states, tensors["chain.transition"].tolist(), strict=True)
        }
        self.d_p, self.d_q = (metric(self.about[role]) for role in ("privacy", "quality"))

    def table(self, tensors: dict[str, np.ndarray], name: str) -> dict[int, dict[int, float]]:
        """LinearRows by code; a weight of 0 is 2^32, and all weights of a row sum to that."""
        codes, start, releases, weights = (
            tensors[f"{name}.{part}"].tolist() for part in ("codes", "start", "releases", "weights")
        )
        rows = {}
        for code, (begin, end) in zip(codes, itertools.pairwise(start), strict=True):
            row = {o: w or 2**32 for o, w in zip(releases[begin:end], weights[begin:end], strict=True)}
            assert sum(row.values()) == 2**32
            rows[code] = {release: weight / 2**32 for release, weight in row.items()}
        return rows

    def row(self, stage: int, position: int, seen: tuple[int, ...], known: tuple[int, ...]) -> dict[int, float]:
        """The row of these places, or else the one for places that were never seen with this past."""
        for end in (known, (self.places,) * len(known)):
            code = 0
            for digit in (*seen, *end):
                code = code * (self.places + 1) + digit
            if code in self.tables[stage][position]:
                return self.tables[stage][position][code]
        raise KeyError((stage, seen, known))

    def start(self) -> Law:
        """The long-run distribution of the last places, as many as the next one depends on."""
        states = sorted(self.moves)
        matrix = np.zeros((len(states), len(states)))
        for state, moves in self.moves.items():
            for place, chance in moves.items():
                matrix[states.index(state), states.index((*state, place)[1:])] += chance
        equations = np.vstack([matrix.T - np.eye(len(states)), np.ones(len(states))])
        stays = np.linalg.lstsq(equations, np.r_[np.zeros(len(states)), 1.0], rcond=None)[0]
        return {(state, ()): float(chance) for state, chance in zip(states, stays, strict=True) if chance > 1e-15}


def metric(recipe: dict):
    """A function of two vectors of places, by the few recipes that the tests use."""
    arguments = recipe["arguments"]
    match recipe["name"]:
        case "hamming":
            return lambda left, right: float(tuple(left) != tuple(right))
        case "from_matrix":
            matrix = arguments["matrix"]

            def single(left, right):
                ((a,), (b,)) = left, right
                return matrix[a][b]

            return single
        case "squared":
            root = metric(arguments["metric"])
            return lambda left, right: root(left, right) ** 2
        case "total":
            assert arguments.keys() == {"metric"}
            one = metric(arguments["metric"])
            return lambda left, right: sum(one((a,), (b,)) for a, b in zip(left, right, strict=True))
    raise NotImplementedError(recipe["name"])


@dataclass(frozen=True)
class Moment:
    """Between two accesses: the stage of the last one, and the distribution, whose places end ``last`` after it."""

    stage: int | None
    law: Law
    last: int


def access(book: Book, before: Moment, gap: int = 1) -> tuple[Found, Moment]:
    """One access, ``gap`` accesses after the one before: what happens at it, and what is left after it."""
    number = 0 if before.stage is None else book.then[before.stage] if gap == 1 else book.gaps[gap - 2]
    scenario = book.stages[number]
    end = max(*scenario["release"], *scenario["known"])
    law, last = before.law, before.last - (0 if before.stage is None else gap * book.every)
    while last < end:
        law, last = moved(book, law), last + 1
    drawn: dict[tuple, float] = defaultdict(float)
    for (path, told), weight in law.items():
        seen = told[len(told) - len(scenario["seen"]) :]  # after a gap the older ones are forgotten
        place = dict(zip(range(last - len(path) + 1, last + 1), path, strict=True))
        options = {(): 1.0}
        for position, moment in enumerate(scenario["release"]):
            looks = [o for o in scenario["known"] if o <= moment or not scenario["causal"]]
            known = tuple(place[o] for o in looks)
            options = {
                (*releases, o): chance * more
                for releases, chance in options.items()
                for o, more in book.row(number, position, (*seen, *releases), known).items()
            }
        for releases, chance in options.items():
            drawn[path, seen, releases] += weight * chance
    found = measured(book, scenario, drawn, last)
    # what the next stage remembers, by its own offsets from its own access
    following = book.stages[book.then[number]]["seen"]
    when = [*scenario["seen"], *scenario["release"]]
    kept = [when.index(o + book.every) for o in following]
    longest = max(book.memory, last + 1 - book.every - min(*map(min, offsets_of(book)), 0))
    after: Law = defaultdict(float)
    for (path, seen, releases), weight in drawn.items():
        exposed = (*seen, *releases)
        after[path[-longest:], tuple(exposed[k] for k in kept)] += weight
    return found, Moment(number, dict(after), last)


def offsets_of(book: Book) -> list[list[int]]:
    return [[*own["target"], *own["quality"], *own["known"]] for own in book.stages]


def moved(book: Book, law: Law) -> Law:
    """One step of the true places."""
    after: Law = defaultdict(float)
    for (path, seen), weight in law.items():
        for place, chance in book.moves[path[-book.memory :]].items():
            after[(*path, place), seen] += weight * chance
    return after


def measured(book: Book, scenario: dict, drawn: dict[tuple, float], last: int) -> Found:
    """The quality lost and the adversary's error after every history, from (places, seen, releases)."""
    weight: dict[tuple[int, ...], float] = defaultdict(float)
    loss: dict[tuple[int, ...], float] = defaultdict(float)
    targets: dict[tuple, dict[tuple[int, ...], float]] = defaultdict(lambda: defaultdict(float))
    for _ in range(max(0, *scenario["target"], *scenario["quality"]) - last):
        after: dict[tuple, float] = defaultdict(float)
        for (path, seen, releases), chance in drawn.items():
            for place, more in book.moves[path[-book.memory :]].items():
                after[(*path, place), seen, releases] += chance * more
        drawn, last = after, last + 1
    for (path, seen, releases), chance in drawn.items():
        place = dict(zip(range(last - len(path) + 1, last + 1), path, strict=True))
        weight[seen] += chance
        loss[seen] += chance * book.d_q([place[o] for o in scenario["quality"]], releases)
        targets[seen, releases][tuple(place[o] for o in scenario["target"])] += chance
    privacy = dict.fromkeys(weight, 0.0)
    guesses = list(itertools.product(range(book.places), repeat=len(scenario["target"])))
    for (seen, _), own in targets.items():
        privacy[seen] += min(sum(p * book.d_p(guess, target) for target, p in own.items()) for guess in guesses)
    weight = {past: chance for past, chance in weight.items() if chance > DIED_OUT}
    return Found(weight, *({past: own[past] / weight[past] for past in weight} for own in (loss, privacy)))


def settled(before: Law, after: Law, change: float = SETTLED) -> bool:
    """Whether nothing changes any more, after any history."""
    keys = before.keys() | after.keys()
    totals = []
    for law in (before, after):
        total: dict[tuple[int, ...], float] = defaultdict(float)
        for (_, seen), chance in law.items():
            total[seen] += chance
        totals.append(total)
    changes: dict[tuple[int, ...], float] = defaultdict(float)
    for key in keys:
        old, new = (
            law.get(key, 0.0) / total[key[1]] if total[key[1]] > DIED_OUT else 0.0
            for law, total in zip((before, after), totals, strict=True)
        )
        changes[key[1]] += abs(old - new)
    return max(changes.values()) <= change


def run(book: Book, accesses: int) -> tuple[list[Found], list[Moment]]:
    """The run from the first access on, and the moments after each."""
    moment, found, moments = Moment(None, book.start(), -1 + min(0, *map(min, offsets_of(book)[:1]))), [], []
    for _ in range(accesses):
        outcome, moment = access(book, moment)
        found.append(outcome)
        moments.append(moment)
    return found, moments


def after_gap(book: Book, moment: Moment, gap: int) -> list[Found]:
    """The accesses after a gap, until nothing changes any more."""
    outcome, moment = access(book, moment, gap)
    found = [outcome]
    while len(found) < AFTER_GAP:
        before = moment
        outcome, moment = access(book, before)
        found.append(outcome)
        if before.stage == moment.stage and settled(before.law, moment.law):
            break
    return found


def claims(content: bytes) -> dict[str, object]:
    """What may be claimed of a codebook's deployed run, over as many accesses as it says."""
    book = Book(content)
    found, moments = run(book, book.about["deployed"]["accesses"])
    gaps = {
        (n + 1, gap): after_gap(book, moment, gap)
        for n, moment in enumerate(moments)
        for gap in range(2, len(book.gaps) + 2)
    }
    losses = {
        (*case, access + 1): max(one.loss.values()) for case, own in gaps.items() for access, one in enumerate(own)
    }
    return {
        "privacy": float(np.mean([one.mean(one.privacy) for one in found])),
        "worst_privacy": min(min(one.privacy.values()) for one in found),
        "quality_loss": float(np.mean([one.mean(one.loss) for one in found])),
        "worst_loss": max(max(one.loss.values()) for one in found),
        "second_privacy": found[1].mean(found[1].privacy),
        "gap_privacy": min((own[0].mean(own[0].privacy) for own in gaps.values()), default=None),
        "gap_worst_loss": max(losses.values(), default=None),
        "gap_losses": losses,
        "settled": len(moments) > 1
        and book.then[moments[-1].stage] == moments[-1].stage
        and settled(moments[-2].law, moments[-1].law, 1e-9),  # more places are kept here, which settle later
    }
