"""A stage of a codebook: the tables of one access, the distribution they were made for, their privacy and loss."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property

import numpy as np

from hideseek.codebook.row_sums import RowSums
from hideseek.codebook.weights import CODES, Table, refuse_long_codes
from hideseek.errors import CodebookError, broken_rule
from hideseek.metrics.metric import Metric
from hideseek.model.scenario import Scenario
from hideseek.util.arrays import FloatArray, IntArray, encoded, product
from hideseek.util.best_guess import least_errors
from hideseek.util.choices import ACCESS
from hideseek.util.limits import refuse_if_too_large

SUMS_TO_ONE = 1e-9  # how far from 1 the sum of a distribution may be
NOTHING = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Prior:
    """The joint distribution of the releases seen and of the true places, for which a stage was made.

    ``histories`` [history, seen] are the releases that may have been seen. ``probability[n]`` is the probability that
    history number ``history[n]`` was seen and the true places at ``offsets`` are ``sequences[n]``.
    """

    offsets: tuple[int, ...]
    histories: IntArray
    history: IntArray
    sequences: IntArray
    probability: FloatArray

    @cached_property
    def weight(self) -> FloatArray:
        """The probability of every history."""
        return np.bincount(self.history, self.probability, minlength=len(self.histories)).astype(np.float64)

    def at(self, offsets: tuple[int, ...]) -> IntArray:
        """The true places at these offsets, [entry, offset]."""
        return self.sequences[:, [self.offsets.index(offset) for offset in offsets]]


@dataclass(frozen=True, eq=False)
class Attack:
    """The adversary's best strategy, which proves the bound.

    Entry n is the probability ``weight[n]`` of a guess after a history and a release. ``price`` has one number per
    history: what one more unit of budget would add to privacy.
    """

    history: IntArray
    release: IntArray
    guess: IntArray
    weight: FloatArray
    price: FloatArray


NO_PRIOR = Prior((), np.zeros((0, 0), np.int64), NOTHING, np.zeros((0, 0), np.int64), np.zeros(0))
NO_ATTACK = Attack(NOTHING, NOTHING, NOTHING, np.zeros(0), np.zeros(0))


@dataclass(frozen=True, eq=False)
class Worth:
    """For every history: its probability, the privacy reached, a bound on any tables' privacy, the quality lost."""

    weight: FloatArray
    privacy: FloatArray
    bound: FloatArray
    loss: FloatArray


@dataclass(frozen=True, eq=False)
class View:
    """All about tables under a distribution but its probabilities, so that it serves others with the same entries.

    A row is a history and known places: its history ``owner``, its places ``known``, its distribution of releases
    ``released``. Entry n of the distribution has the history ``history[n]`` and the row ``row[n]``. Its target is
    column ``target[n]`` of ``d_p``, and the places that quality depends on are row ``want[n]`` of ``d_q``. ``lost[n]``
    is its expected quality loss.
    """

    count: int
    history: IntArray
    row: IntArray
    owner: IntArray
    known: IntArray
    released: FloatArray
    target: IntArray
    want: IntArray
    d_p: FloatArray
    d_q: FloatArray
    lost: FloatArray
    rounding: float

    @cached_property
    def meet(self) -> RowSums:
        """The sums of rows by history and target."""
        targets = self.d_p.shape[1]
        return RowSums(self.history * targets + self.target, self.row, self.count * targets)


@dataclass(frozen=True, eq=False)
class Outcome:
    """The privacy and the loss of tables under a distribution, one number per history."""

    view: View
    probability: FloatArray

    @cached_property
    def weight(self) -> FloatArray:
        """The probability of every history."""
        return np.bincount(self.view.history, self.probability, minlength=self.view.count).astype(np.float64)

    @cached_property
    def loss(self) -> FloatArray:
        """The expected quality loss after every history, rounded up."""
        view = self.view
        lost = np.bincount(view.history, self.probability * view.lost, minlength=view.count)
        return np.asarray(lost / self.weight * (1 + view.rounding))

    def charged(self, over: str) -> FloatArray:
        """What a budget over this limits after every history: its own loss, or that on average over all of them."""
        return self.loss if over == ACCESS else np.full(len(self.loss), self.weight @ self.loss)

    @cached_property
    def privacy(self) -> FloatArray:
        """The adversary's expected error after every history, with the best guess for each release, rounded down."""
        view = self.view
        together = view.meet.of(self.probability, view.released)  # Pr(history, target, release)
        together = together.reshape(view.count, view.d_p.shape[1], -1)
        reached = least_errors(view.d_p, together).sum(axis=1)
        return np.asarray(reached / self.weight * (1 - view.rounding))


@dataclass(frozen=True, eq=False)
class Stage:
    """The tables of one access.

    ``tables[p]`` draws release number p of the access. It looks at the releases seen, the releases before p, and the
    known true places. ``scenario`` holds the offsets at this access; at the first access nothing was seen. ``then`` is
    the number of the stage that follows if no access is missed.
    """

    scenario: Scenario
    _: KW_ONLY
    then: int
    tables: tuple[Table, ...]
    prior: Prior = field(default_factory=lambda: NO_PRIOR, repr=False)
    attack: Attack = field(default_factory=lambda: NO_ATTACK, repr=False)

    def known_at(self, position: int) -> tuple[int, ...]:
        """Offsets of the true places that release number ``position`` may look at."""
        moment = self.scenario.release[position]
        return tuple(offset for offset in self.scenario.known if offset <= moment or not self.scenario.causal)

    def distributions(self, seen: IntArray, known: IntArray) -> FloatArray:
        """The distribution of all releases of this access for each (seen, known), [pair, combination of releases]."""
        places = self.tables[0].places
        joint = np.ones((len(seen), 1))
        for position, table in enumerate(self.tables):
            columns = [self.scenario.known.index(offset) for offset in self.known_at(position)]
            drawn = product(places, position)
            pair, prefix = np.nonzero(joint)
            row = table.rows(np.hstack([seen[pair], drawn[prefix]]), known[pair][:, columns])
            if (row < 0).any():
                raise CodebookError("A table has no row for something that can happen.")
            longer = np.zeros((*joint.shape, places))
            longer[pair, prefix] = joint[pair, prefix, None] * table.distributions(row)
            joint = longer.reshape(len(seen), -1)
        return joint

    def under(self, prior: Prior, privacy: Metric, quality: Metric) -> Outcome:
        """The privacy and the loss of the tables under a distribution of the releases seen and the true places."""
        return Outcome(self.view(prior, privacy, quality), prior.probability)

    def view(self, prior: Prior, privacy: Metric, quality: Metric) -> View:
        """What privacy and loss have in common under all distributions with the entries of this one."""
        scenario, places = self.scenario, self.tables[0].places
        self.refuse_too_large(prior, looks_back=quality.looks_back)
        history, known = prior.history, prior.at(scenario.known)
        code = history * (places + 1) ** known.shape[1] + encoded(known, places + 1)
        _, first, row = np.unique(code, return_index=True, return_inverse=True)
        owner = history[first]
        released = self.distributions(prior.histories[owner], known[first])
        different = {own: distinct(prior.at(own), places) for own in {scenario.target, scenario.quality}}
        (targets, target), (wanted, want) = different[scenario.target], different[scenario.quality]
        guesses, releases = product(places, len(scenario.target)), product(places, len(scenario.release))
        d_p = privacy.between(guesses, targets, NOTHING)
        pasts = prior.histories if quality.looks_back else prior.histories[:1]
        d_q = np.array([quality.between(wanted, releases, past) for past in pasts])
        if d_p.shape != (len(guesses), len(targets)) or d_q.shape[1:] != (len(wanted), len(releases)):
            raise broken_rule("metric", "Stage", "one that gives a number for each pair", f"{d_p.shape}, {d_q.shape}")
        if quality.looks_back:
            want = history * len(wanted) + want
        d_q = d_q.reshape(-1, len(releases))
        longest = max(len(first), int(np.bincount(history).max()))  # entries or rows that are added up
        rounding = (len(guesses) + len(targets) + len(releases) + longest + 16) * float(np.finfo(float).eps)
        return View(
            count=len(prior.histories),
            history=history,
            row=row,
            owner=owner,
            known=known[first],
            released=released,
            target=target,
            want=want,
            d_p=d_p,
            d_q=d_q,
            lost=np.einsum("no,no->n", d_q[want], released[row]),
            rounding=rounding,
        )

    def refuse_too_large(self, prior: Prior, looks_back: bool) -> None:
        """Refuse a distribution whose evaluation would not fit in memory, or whose codes exceed 63 bits."""
        scenario, places = self.scenario, self.tables[0].places
        count, entries = len(prior.histories), len(prior.history)
        for offsets in (scenario.target, scenario.quality, scenario.known):
            refuse_long_codes(places, len(offsets))
        if count * (places + 1) ** len(scenario.known) > CODES:
            raise CodebookError(f"{count} histories of {len(scenario.known)} known places have no codes of 63 bits.")
        guessed, released = places ** len(scenario.target), places ** len(scenario.release)
        targets, wanted = min(entries, guessed), min(entries, places ** len(scenario.quality))
        numbers = guessed * (2 * len(scenario.target) + 3 * targets) + released * 2 * len(scenario.release)
        numbers += wanted * released * ((count if looks_back else 1) + len(scenario.quality) + 2)
        numbers += (5 * entries + count * (2 * targets + guessed)) * released
        what = f"The worth of a stage of {count} histories over {places} places"
        refuse_if_too_large(8 * numbers, what, parameter="scenario")

    def risk(self, privacy: Metric) -> float:
        """The prior risk: the expected error of an adversary who has seen nothing, under the stage's own prior."""
        targets, target = distinct(self.prior.at(self.scenario.target), self.tables[0].places)
        guesses = product(self.tables[0].places, len(self.scenario.target))
        weight = np.bincount(target, self.prior.probability)
        return float((privacy.between(guesses, targets, NOTHING) @ weight).min())

    def worth(self, privacy: Metric, quality: Metric, budget: float) -> Worth:
        """The privacy, its bound and the loss under the distribution that the tables were made for.

        All are rounded against us. Privacy is the error of the best guess for every release. The bound is U of the
        stored attack and price; a causal mechanism chooses its releases one after the other.
        """
        found = self.under(self.prior, privacy, quality)
        view, attack = found.view, self.attack
        count, width = view.count, view.released.shape[1]
        answer = attack.history * width + attack.release
        total = np.bincount(answer, attack.weight, minlength=count * width)
        if not (np.abs(total - 1) <= SUMS_TO_ONE).all():
            raise CodebookError("The stored attack is not a distribution of guesses for every release.")
        erring = RowSums(answer, attack.guess, count * width).of(attack.weight, view.d_p) / total[:, None]
        erring = erring.reshape(count, width, -1)
        by_row = RowSums(view.row, np.arange(len(view.row)), len(view.released))
        gain = by_row.of(found.probability, erring[view.history, :, view.target])
        charge = attack.price[view.owner, None] * by_row.of(found.probability, view.d_q[view.want])
        net = (1 + view.rounding) * gain - (1 - view.rounding) * charge
        best = np.bincount(view.owner, self.best_replies(net, view.known, view.owner), minlength=count)
        bound = (attack.price * budget) * (1 + view.rounding) + best / found.weight
        return Worth(found.weight, found.privacy, np.maximum(bound, 0) * (1 + view.rounding), found.loss)

    def best_replies(self, net: FloatArray, known: IntArray, owner: IntArray) -> FloatArray:
        """The largest total of net gains, when rows that look alike must release alike; one number per row.

        The last release is chosen for each row by itself. An earlier release is chosen once for all rows that it
        cannot tell apart, and their total is assigned to the first of them.
        """
        places = self.tables[0].places
        for position in reversed(range(len(self.tables))):
            columns = [self.scenario.known.index(offset) for offset in self.known_at(position)]
            net = net.reshape(len(net), -1, places)
            if len(columns) == known.shape[1]:  # no two rows look alike
                net = net.max(axis=2)
                continue
            code = owner * (places + 1) ** len(columns) + encoded(known[:, columns], places + 1)
            _, first, group = np.unique(code, return_index=True, return_inverse=True)
            together = np.zeros((len(first), *net.shape[1:]))
            np.add.at(together, group, net)
            net = np.zeros(net.shape[:2])
            net[first] = together.max(axis=2)
        return net[:, 0]

    def checked(self) -> Stage:
        """The stage itself. Refused unless its parts fit together, distributions sum to 1, and no row is missing."""
        scenario, places, prior, attack = self.scenario, self.tables[0].places, self.prior, self.attack
        count, entries, released = len(prior.histories), len(prior.probability), places ** len(scenario.release)
        sizes = [
            (prior.histories.shape[1], len(scenario.seen)),
            (prior.sequences.shape, (entries, len(prior.offsets))),
            (len(prior.history), entries),
            (attack.price.shape, (count,)),
            ({len(part) for part in (attack.release, attack.guess, attack.weight)}, {len(attack.history)}),
        ]
        if any(size != wanted for size, wanted in sizes):
            raise CodebookError("The parts of a stage do not fit together.")
        inside = [
            (prior.histories, places),
            (prior.sequences, places),
            (prior.history, count),
            (attack.history, count),
            (attack.release, released),
            (attack.guess, places ** len(scenario.target)),
        ]
        if any(array.max(initial=0) >= limit for array, limit in inside):
            raise CodebookError("A stage names a place, a history, a release or a guess that does not exist.")
        for numbers in (prior.probability, attack.weight, attack.price):
            if not (numbers.min(initial=0) >= 0 and numbers.max(initial=0) < np.inf):
                raise CodebookError("A stage holds a number that is not finite, or below 0.")
        if not abs(prior.probability.sum() - 1) <= SUMS_TO_ONE or not (prior.weight > 0).all():
            raise CodebookError(
                "The distribution that a stage was made for does not sum to 1, or leaves a history out."
            )
        if len(attack.weight) < count * released:  # checked before any array of that size is made
            raise CodebookError("The stored attack is not a distribution of guesses for every release.")
        self._refuse_missing_rows()
        return self

    def _refuse_missing_rows(self) -> None:
        """Refuse tables that lack the row for unknown places after a history and the releases before."""
        places = self.tables[0].places
        base, prior = places + 1, self.prior
        for position, table in enumerate(self.tables):
            digits = len(self.scenario.seen) + position
            width = len(self.known_at(position))
            refuse_long_codes(places, digits + width)
            if table.codes[-1] >= base ** (digits + width):
                raise CodebookError("A table has a row for more places than its stage looks at.")
            if position == 0:
                past = encoded(prior.histories, base)
                if (past[1:] <= past[:-1]).any():
                    raise CodebookError("A stage has a history that stands twice or out of order.")
            past = np.r_[past, table.codes.astype(np.int64) // base**width]
            if (table.find((past + 1) * base**width - 1) < 0).any():
                raise CodebookError("A table has no row for something that can happen.")
            row = np.repeat(np.arange(len(table.codes)), np.diff(table.start))
            past = table.codes[row].astype(np.int64) // base**width * base + table.releases


def distinct(vectors: IntArray, places: int) -> tuple[IntArray, IntArray]:
    """The distinct vectors, and for each vector its number among them."""
    _, first, index = np.unique(encoded(vectors, places), return_index=True, return_inverse=True)
    return vectors[first], index.ravel()
