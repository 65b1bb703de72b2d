"""A run of accesses written out: nothing but loops, over what a user of the package can read in a codebook."""

from __future__ import annotations

import itertools
from collections import defaultdict

import pytest

from hideseek import Mechanism, PeriodicProfile, Scenario


def path_probability(profile, path):
    if isinstance(profile, PeriodicProfile):
        result = profile.distribution_at(profile.start)[path[0]]
        for step, (a, b) in enumerate(itertools.pairwise(path)):
            result *= profile.slots[profile.cycle[(profile.start + step) % len(profile.cycle)]][a, b]
        return result
    states = [tuple(state) for state in profile.states.tolist()]
    order = profile.order
    if path[:order] not in states:
        return 0.0
    result = profile.state_distribution[states.index(path[:order])]
    for step in range(order, len(path)):
        result *= profile.transition[states.index(path[step - order : step])][path[step]]
    return result


def weights_of(table):
    """The rows of a table by their codes, as dictionaries of probabilities."""
    rows = {}
    for row, code in enumerate(table.codes.tolist()):
        entries = range(int(table.start[row]), int(table.start[row + 1]))
        rows[code] = {int(table.releases[e]): (int(table.weights[e]) or 2**32) / 2**32 for e in entries}
    return rows


class Exposer:
    """A codebook or a mechanism, as a function."""

    def __init__(self, exposer):
        self.exposer = exposer
        if isinstance(exposer, Mechanism):
            self.scenarios, self.symbols, self.rows = [Scenario.sporadic()], exposer.table.shape[1], None
        else:
            last = next(n for n, stage in enumerate(exposer.stages) if stage.then == n)
            self.scenarios = [stage.scenario for stage in exposer.stages[: last + 1]]
            self.symbols = exposer.places
            self.rows = [[weights_of(table) for table in stage.tables] for stage in exposer.stages[: last + 1]]
        self.every, self.release = self.scenarios[-1].every, self.scenarios[-1].release

    def scenario(self, access):
        return self.scenarios[min(access, len(self.scenarios) - 1)]

    def likelihood(self, access, path, exposed):
        """The probability of an access's releases; ``exposed`` maps steps to releases."""
        now, scenario = access * self.every, self.scenario(access)
        if self.rows is None:
            return self.exposer.table[path[now], exposed[now]]
        base, result = self.exposer.places + 1, 1.0
        for position, rows in enumerate(self.rows[min(access, len(self.rows) - 1)]):
            moment = scenario.release[position]
            before = [exposed[now + o] for o in (*scenario.seen, *scenario.release[:position])]
            known = [path[now + o] for o in scenario.known if o <= moment or not scenario.causal]
            if result > 0:
                for digits in (known, [base - 1] * len(known)):
                    code = 0
                    for digit in (*before, *digits):
                        code = code * base + digit
                    if code in rows:
                        result *= rows[code].get(exposed[now + moment], 0.0)
                        break
                else:
                    raise AssertionError("a history without a row")
        return result


class Oracle:
    """All true paths and all exposed sequences of a short run, with their probabilities."""

    def __init__(self, exposer, profile, D, accesses):
        self.of, self.D, self.accesses, places = Exposer(exposer), D, accesses, profile.places
        every = self.of.every
        reach = max(max(*s.target, *s.known, *s.quality, *s.release) for s in self.of.scenarios)
        self.end = (accesses - 1) * every + reach  # of the run; its next targets lie later
        self.moments = [n * every + o for n in range(accesses) for o in self.of.release]
        self.joint = []
        paths = list(itertools.product(range(places), repeat=accesses * every + reach + 1))
        chances = [path_probability(profile, path) for path in paths]
        for releases in itertools.product(range(self.of.symbols), repeat=len(self.moments)):
            exposed = dict(zip(self.moments, releases, strict=True))
            for path, chance in zip(paths, chances, strict=True):
                probability = chance
                for access in range(accesses):
                    if probability > 0:
                        probability *= self.of.likelihood(access, path, exposed)
                if probability > 0:
                    self.joint.append((path, releases, probability))
        assert sum(probability for *_, probability in self.joint) == pytest.approx(1, abs=1e-12)

    def error_of(self, guess, truth):
        return sum(self.D[g][t] for g, t in zip(guess, truth, strict=True))

    def target(self, path, access):
        return tuple(path[access * self.of.every + o] for o in self.of.scenario(access).target)

    def guess(self, told):
        """Mean error and hit rate of the best guesses; ``told`` maps what is known to the masses of truths."""
        error = hit = 0.0
        largest = self.D.max() * max(len(truth) for masses in told.values() for truth in masses)
        for masses in told.values():
            length = len(next(iter(masses)))
            guesses = list(itertools.product(range(len(self.D)), repeat=length))
            errors = [sum(mass * self.error_of(guess, t) for t, mass in masses.items()) for guess in guesses]
            error += min(errors)
            near = min(errors) + 1e-6 * largest * sum(masses.values())
            hit += max(masses.get(g, 0.0) for g, e in zip(guesses, errors, strict=True) if e <= near)
        return error, hit

    def adversary(self, name, window=None):
        if name == "viterbi":
            return self.viterbi()
        told, count = self.told(name, window)
        return tuple(value / count for value in self.guess(told))

    def told(self, name, window=None):
        """What an adversary knows at each guess, with the masses of truths; and how many guesses there are."""
        told = defaultdict(lambda: defaultdict(float))
        each = len(self.of.release)
        between = [s for s in range((self.accesses - 1) * self.of.every) if s % self.of.every not in self.of.release]
        for path, releases, probability in self.joint:
            if name == "in_between":
                for step in between:
                    told[step, releases][(path[step],)] += probability
                continue
            for n in range(self.accesses):
                so_far = releases[: (n + 1) * each]
                if name == "window":
                    if window is None:
                        moments = [n * self.of.every + o for o in self.of.scenario(n).seen]
                        before = tuple(releases[self.moments.index(moment)] for moment in moments)
                    else:
                        before = so_far[max(0, n * each - window) : n * each]
                    told[n, before, so_far[n * each :]][self.target(path, n)] += probability
                elif name == "filter":
                    told[n, so_far][self.target(path, n)] += probability
                elif name == "smoother":
                    told[n, releases][self.target(path, n)] += probability
                elif name == "predictor":
                    told[n, so_far][self.target(path, n + 1)] += probability
                elif name == "nothing":
                    told[n][self.target(path, n)] += probability
        return told, len(between) if name == "in_between" else self.accesses

    def viterbi(self):
        runs = defaultdict(lambda: defaultdict(float))
        for path, releases, probability in self.joint:
            runs[releases][path[: self.end + 1]] += probability
        error = hit = 0.0
        for paths in runs.values():
            best = min(path for path, mass in paths.items() if mass >= max(paths.values()) * (1 - 1e-9))
            for n in range(self.accesses):
                guess = self.target(best, n)
                for path, mass in paths.items():
                    error += mass * self.error_of(guess, self.target(path, n))
                    hit += mass * (self.target(path, n) == guess)
        return error / self.accesses, hit / self.accesses

    def loss(self, d_q):
        """The mean quality loss; ``d_q`` takes true places, releases, and what was seen."""
        total = 0.0
        for path, releases, probability in self.joint:
            exposed = dict(zip(self.moments, releases, strict=True))
            for n in range(self.accesses):
                now, scenario = n * self.of.every, self.of.scenario(n)
                wanted, drawn, seen = (
                    tuple(places[now + o] for o in offsets)
                    for places, offsets in (
                        (path, scenario.quality),
                        (exposed, scenario.release),
                        (exposed, scenario.seen),
                    )
                )
                total += probability * d_q(wanted, drawn, seen)
        return total / self.accesses
