"""From a profile to a codebook: the joint law of true and exposed places travels, one game for every history.

At every access the law of what was seen and of the true places gives one game for each history that can occur; the
tables of the games take the law to the next access. The first accesses get their own tables. Then one stage repeats,
made for the law that it settles in itself, and is certified as deployed: the law runs forward under the stored
integers, and where a history would lose more than the budget, its table is mixed towards the cheapest releases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from joblib import Parallel, delayed

from hideseek.arrays import FloatArray, one_of, product, refuse_if_too_large, scalar, whole_number, worker_count
from hideseek.boundary import checked
from hideseek.codebook import Chain, Codebook, looks_back
from hideseek.deployed import SETTLED, Advance, Deployment, Moment, Runs, deployed_of, starts_of_gaps, window_of
from hideseek.draft import Choice, Draft, Ends, Made, attack_of, make
from hideseek.errors import ParameterError, SolverError, broken_rule
from hideseek.game import Game, budget_too_small, folded
from hideseek.joint import NEVER, Access, History, Joint, Law
from hideseek.metrics import Metric, MetricLike, as_metric
from hideseek.mobility import MarkovProfile, Profile, Trajectories, longest_run, possible_ways, refuse_many_moves
from hideseek.planner import Mode, Planner
from hideseek.repeated import RepeatedGame
from hideseek.scenario import Scenario, after_gap, since_gap, since_start
from hideseek.solve import solve
from hideseek.solve.certificate import cheapest_releases
from hideseek.stage import NOTHING, Prior, Stage

LEAST_SPARE, MOST_SPARE = 1e-9, 1e-2  # how much further than needed a table is mixed: for rounding, for an end
AHEAD = 4  # accesses with tables of their own after which the one that repeats is taken
PACE = 0.2  # how far it is moved at a time, at first
ROUNDS = 300  # of mixing until it is given up
ROUGH = 1e-3  # change of the joint law in one access at which runs after a gap are cut while tables still change
STAGE = 2**14  # bytes for each place of a stage, of what it takes to design it
EXPOSED = 0.1  # the share of the ways a person can go that is surely exposed by somebody
MANY = 100  # games from which on more processes pay

NO_LAW: Law = (np.zeros((0, 0), np.int64), np.zeros((0, 0)))


@checked
def design(
    profile: Profile,
    scenario: Scenario,
    privacy: MetricLike,
    quality: MetricLike,
    budget: float,
    steps: int | None = None,
    gaps: int = 1,
    choice: Choice | str = Choice.UNINFORMATIVE,
    farsighted: Planner | None = None,
    workers: int | None = None,
    progress: Advance | None = None,
) -> Codebook:
    """The codebook of a scenario: the best mechanism for every exposed history that can occur.

    The first ``steps`` accesses get tables of their own (by default two after everything to be seen was exposed), then
    one stage repeats. A *history* is what the codebook remembers, the releases that the scenario has ``seen``: given
    these, the expected loss stays within the budget at every access, and after a gap of up to ``gaps`` accesses
    that begins after any access and follows no other gap. Given every release so far it may exceed the budget:
    :func:`hideseek.evaluate` tells how often and by how much. ``choice`` among the optimal tables: the one that tells
    the adversary the least about the next target, or the solver's own (``"plain"``); a planner that is ``farsighted``
    chooses by what the future is worth to it, and may trade privacy now for it. ``progress`` is told what is done,
    how many games are solved and how many there are.

    >>> profile = MarkovProfile.from_matrix([[0.7, 0.3], [0.2, 0.8]])
    >>> hamming = 1 - np.eye(2)
    >>> codebook = design(profile, Scenario.past_present(1), privacy=hamming, quality=hamming, budget=0.1)
    >>> len(codebook.stages), bool(codebook.deployed.worst_loss <= 0.1)
    (4, True)
    """
    owner = "design"
    if not isinstance(profile, MarkovProfile):
        rule = "a MarkovProfile, the same at all times, as a device may start at any of them"
        raise broken_rule("profile", owner, rule, type(profile).__name__)
    if scenario.release != tuple(range(len(scenario.release))):
        raise broken_rule("scenario", owner, "one that releases now and the steps right after", scenario.release)
    learned = [offset % scenario.every in scenario.release for offset in scenario.known if offset < 0]
    if not all(learned) or 0 not in scenario.known or scenario.known[-1] > scenario.release[-1]:
        rule = "one whose known places are that of now, and others at which something is released"
        raise broken_rule("scenario", owner, rule, f"known={scenario.known} every {scenario.every} steps")
    if any(offset + scenario.every not in (*scenario.seen, *scenario.release) for offset in scenario.seen):
        raise broken_rule("scenario", owner, "one that remembers all releases since the oldest", scenario.seen)
    warm = max(0, -(min(scenario.offsets) // scenario.every))
    least = whole_number(warm if steps is None else steps, "steps", owner, least=0)
    if least < warm:
        rule = f"at least {warm}, the accesses until all that the scenario looks back at has happened"
        raise broken_rule("steps", owner, rule, steps)
    gaps = whole_number(gaps, "gaps", owner) if looks_back(scenario) else 1
    what = f"A design of {least + gaps} stages over {profile.places} places"
    refuse_if_too_large(STAGE * profile.places * (least + gaps), what, "Ask for fewer 'gaps' or 'steps'.")
    apart = least + gaps * (gaps + 1) // 2  # accesses, from the one before to each of the stages
    refuse_many_moves(apart * scenario.every, "Ask for fewer 'gaps', or a scenario with a smaller 'every'.")
    refuse_many_histories(profile, scenario)
    choice = one_of(Choice, choice, "choice", owner)
    if farsighted is not None and not (isinstance(farsighted, Planner) and len(farsighted.cuts)):
        rule = "a Planner that looks ahead, or None"
        raise broken_rule("farsighted", owner, rule, getattr(farsighted, "outlook", type(farsighted).__name__))
    designer = _Designer(
        profile,
        scenario,
        as_metric(privacy, "privacy", profile.places),
        as_metric(quality, "quality", profile.places),
        scalar(budget, "budget", owner),
        least + 2 if steps is None and scenario.seen else least,
        gaps,
        choice,
        farsighted,
        worker_count(workers, owner),
        progress,
    )
    return designer.codebook()


class _Designer(Deployment):
    """All that one design needs, and its stages as they come to be."""

    def __init__(
        self,
        profile: MarkovProfile,
        scenario: Scenario,
        privacy: Metric,
        quality: Metric,
        budget: float,
        steps: int,
        gaps: int,
        choice: Choice,
        farsighted: Planner | None,
        workers: int,
        progress: Advance | None,
    ) -> None:
        drafts = [Draft(since_start(scenario, n), min(n + 1, steps)) for n in range(steps + 1)]
        blocks = -(min(*scenario.seen, *scenario.known, 0) // scenario.every)  # accesses that are looked back at
        first = len(drafts) + gaps - 1
        recovering = range(first, first + blocks - 1) if gaps > 1 else range(0)
        after = [*recovering, steps]
        numbers = tuple(range(len(drafts), first))
        drafts += [Draft(after_gap(scenario, gap), after[0]) for gap in range(2, gaps + 1)]
        drafts += [Draft(since_gap(scenario, n), after[n]) for n in range(1, len(after))]
        super().__init__(profile, scenario, privacy, quality, drafts, numbers)
        self.budget, self.choice, self.workers, self.progress = budget, choice, workers, progress
        self.planner = farsighted
        try:
            self.repeated: RepeatedGame | None = RepeatedGame.of(profile, privacy, quality, budget, scenario)
        except ParameterError:
            if farsighted is not None:
                raise
            self.repeated = None
        if farsighted is not None and self.repeated is not None:
            farsighted.checked(self.repeated)
        self.settled, self.spare = NEVER, LEAST_SPARE
        self._ceilings: dict[tuple[tuple[int, ...], tuple[int, ...]], tuple[FloatArray, float]] = {}
        self._ends: dict[tuple[Scenario, Scenario, History], Ends] = {}

    @property
    def traded(self) -> float:
        """What the future counts beside now, where privacy now may be traded for it."""
        trades = self.planner is not None and self.planner.mode is Mode.TRADE_OFF
        return self.planner.discount if self.planner is not None and trades else 0.0

    def games(self, number: int, joint: Joint, gap: int, only: Sequence[History] = ()) -> dict[History, Game]:
        """The games of all histories at a stage, or of some."""
        access, joint = self.access(number, joint, gap), self.remembered(number, joint)
        prior = access.prior(joint)
        some = set(only)
        wanted = [(k, past) for k, past in enumerate(histories_of(prior)) if not some or past in some]
        repeated = self.repeats(access)
        if repeated is not None:
            beliefs = np.zeros((len(prior.histories), len(repeated.states)))
            np.add.at(beliefs, (prior.history, repeated.index(prior.at(access.scenario.known))), prior.probability)
            return {past: repeated.among(beliefs[k] / prior.weight[k]) for k, past in wanted}
        found = {}
        for k, past in wanted:
            own = prior.history == k
            law = Trajectories(prior.offsets, prior.sequences[own], prior.probability[own] / prior.weight[k])
            found[past] = Game.from_scenario(
                self.profile, access.scenario, self.privacy, self.quality, self.budget, law=law, seen=past
            )
        return found

    def repeats(self, access: Access) -> RepeatedGame | None:
        """The game of this access and of the next whatever is believed, if there is such a one."""
        own = replace(self.scenario, seen=())
        return self.repeated if access.kind == (own, own) else None

    @cached_property
    def ahead(self) -> FloatArray:
        """The errors of the second criterion in every state, where the game repeats: see :meth:`next_game`."""
        if self.repeated is None:
            return np.zeros((0, 0))
        if self.planner is None:
            errors = np.vstack([self.repeated.error, self.repeated.ceiling_cut])
        else:
            errors = self.planner.cuts - self.planner.cuts.min(axis=0)
        return np.asarray(errors @ self.repeated.moves.T)

    def solve(
        self, number: int, joint: Joint, gap: int = 1, only: Sequence[History] = (), choose: bool = True
    ) -> dict[History, Made]:
        """Solve the games of all histories at a stage, or of some, and choose among the optima."""
        games = self.games(number, joint, gap, only)
        access, joint = self.access(number, joint, gap), self.remembered(number, joint)
        where = {tuple(past): k for k, past in enumerate(joint.histories.tolist())}
        choose = choose and (self.choice is not Choice.PLAIN or self.traded > 0)
        tasks = [
            (
                game,
                self.next_game(game, access, joint, where[past]) if choose else None,
                self.starts(access, past),
            )
            for past, game in games.items()
        ]
        made = dict(zip(games, self._each(number, tasks), strict=True))
        self._ends |= {(*access.kind, past): one.ends for past, one in made.items()}
        return made

    def starts(self, access: Access, past: History) -> Ends:
        """What hurt after this history the last time, or after the longest end of it that there was a game for."""
        keys = [(*access.kind, past[n:]) for n in range(len(past) + 1)]
        return next((self._ends[key] for key in keys if key in self._ends), (None, None))

    def resume(self, number: int, joint: Joint, gap: int, only: Sequence[History]) -> dict[History, Made]:
        """Tables for after a gap: what is usual for those who know and have seen no more than is left after it.

        Whatever happened before the gap, the law is then the one that the repeating stage had settled in, but for what
        the budget takes. A table that is optimal after the gap leads elsewhere, where the budget breaks next.
        """
        scenario = self.drafts[number].scenario
        seen = () if number in self.gaps else scenario.seen
        access, stage = self.access(self.steps, self.settled), self.drafts[self.steps].stage
        usual = access.usual(self.settled, stage, seen, scenario.known)
        made: dict[History, Made] = {}
        for past, game in self.games(number, joint, gap, only).items():
            inputs, laws = usual.get(past[: len(seen)], NO_LAW)
            where = {tuple(row): k for k, row in enumerate(inputs.tolist())}
            rows = [where.get(tuple(row), -1) for row in game.inputs.tolist()]
            if -1 in rows:  # never so in a settled run
                made |= self.solve(number, joint, gap, [past])
            else:
                table = laws[rows]
                made[past] = Made(game.inputs, game.mass, table, cheapest_releases(game.cost, table))
        return made

    def next_game(self, game: Game, access: Access, joint: Joint, history: int) -> Game:
        """The second criterion: how little the adversary will know about the next target before it is protected.

        His errors by guessing blindly, and one row more: an attack h with its price bounds what the next game can be
        worth, linearly in the belief. Without that bound all of his error would count, also what the next budget
        cannot keep, and tables that put it all after a few histories would be preferred (measured: 0.040 of privacy
        at the second access instead of 0.075).
        """
        repeated = self.repeats(access)
        if repeated is not None:
            errors = self.ahead[:, repeated.index(game.inputs)] * game.mass
            return Game(errors, game.cost, game.budget, inputs=game.inputs, releases=game.releases)
        law, following, places = access.next_law(joint, history), access.following, self.profile.places
        if self.planner is not None and self.repeated is not None and following.known == self.scenario.known:
            _, _, states, weight = folded(law, access.later(following.known), access.scenario.known)
            cuts = self.planner.cuts[:, self.repeated.index(states)]
            errors = (cuts - cuts.min(axis=0)) @ weight
            return Game(errors, game.cost, game.budget, game.rows, inputs=game.inputs, releases=game.releases)
        target, quality = (access.later(offsets) for offsets in (following.target, following.quality))
        _, _, values, weight = folded(law, tuple(sorted({*target, *quality})), access.scenario.known)
        at = sorted({*target, *quality}).index
        guesses, releases = product(places, len(target)), product(places, len(following.release))
        d_p = self.privacy.between(guesses, values[:, [at(offset) for offset in target]], NOTHING)
        errors = d_p @ weight
        if not self.quality.looks_back:
            attack, price = self.ceiling(following)
            d_q = self.quality.between(values[:, [at(offset) for offset in quality]], releases, NOTHING)
            alpha = price * self.budget + (d_p.T @ attack.T - price * d_q).max(axis=1)
            errors = np.vstack([errors, alpha @ weight])
        return Game(errors, game.cost, game.budget, game.rows, inputs=game.inputs, releases=game.releases)

    def ceiling(self, scenario: Scenario) -> tuple[FloatArray, float]:
        """The attack and its price in the game of a scenario when nothing was seen and all that matters is known."""
        key = scenario.target, scenario.quality
        if key not in self._ceilings:
            everything = tuple(sorted({*scenario.target, *scenario.quality}))
            alone = replace(scenario, seen=(), known=everything, causal=False)
            found = solve(Game.from_scenario(self.profile, alone, self.privacy, self.quality, self.budget))
            self._ceilings[key] = found.attack, found.price
        return self._ceilings[key]

    def _each(self, number: int, tasks: list[tuple[Game, Game | None, Ends]]) -> Iterator[Made]:
        """Solve games, in several processes where there are many."""
        what = f"access {number + 1}" if number < self.steps else "what repeats" if number == self.steps else "gaps"
        if len(tasks) < MANY or self.workers == 1:
            found: Iterator[Made] = (make(*task, self.traded) for task in tasks)
        else:
            found = Parallel(self.workers, return_as="generator", batch_size=8)(
                delayed(make)(*task, self.traded) for task in tasks
            )
        for done, made in enumerate(found, start=1):
            if self.progress is not None:
                self.progress(what, done, len(tasks))
            yield made

    def prepare(self, number: int, joint: Joint, gap: int, prior: Prior) -> None:
        """Make tables for what a stage has none for yet."""
        draft = self.drafts[number]
        missing = draft.unmade(prior, self.profile.places)
        if missing:
            made = (self.solve if number <= self.steps else self.resume)(number, joint, gap, missing)
            draft.take({past: draft.blended(past, one, 0.0) for past, one in made.items()}, self.profile.places)
        while missing:  # whole numbers may lose a billionth more than the laws they stand for
            moment = Moment(number, joint, prior.histories, draft.under(prior, self.privacy, self.quality))
            losses = {past: lost for past, lost in moment.over(self.budget).items() if past in missing}
            if not self.mix(number, losses, LEAST_SPARE):
                break

    def mix(self, number: int, losses: dict[History, float], spare: float) -> bool:
        """Mix the tables of histories that lose too much towards their safe ones, and a share ``spare`` further.

        Says whether there was something to mix: a budget may be the least loss, and missed by rounding.
        """
        draft = self.drafts[number]
        mixed = {}
        for past, loss in losses.items():
            one, share = draft.made[past], 1 - self.budget / loss
            # half of the way while it is long: the law moves along, and what was mixed in stays
            share = share / 2 if share > 0.05 else min(1.0, share + spare)
            if np.abs(one.table - one.safe).max() > 1e-12:
                mixed[past] = replace(one, table=(1 - share) * one.table + share * one.safe)
            elif loss > self.budget * (1 + LEAST_SPARE):
                raise budget_too_small(self.budget, loss)
        if mixed:
            draft.take(mixed, self.profile.places)
        return bool(mixed)

    def mended(
        self, number: int, joint: Joint, gap: int = 1, settled: float = SETTLED
    ) -> tuple[list[Moment], Joint, bool]:
        """A run in which no history loses more than the budget, after as many mixtures as it takes."""
        spare = self.spare
        for _ in range(ROUNDS):
            moments, end, done = self.run(number, joint, gap, settled=settled)
            worst = excess(moments, self.budget)
            mixed = [self.mix(at, losses, spare) for at, losses in worst.items()]
            if not any(mixed):
                return moments, end, done
            spare = min(4 * spare, MOST_SPARE)  # what is mixed moves the law, and would be just too little for ever
        raise SolverError(f"The budget is not kept at every access after {ROUNDS} rounds of mixing.")

    def settle(self) -> None:
        """Make the stage that repeats: the one with the most privacy in the long run that was found.

        The optimum for the law that a stage leads to would lead elsewhere again, and often to less (measured: 201, 84,
        46, 22 m). So the accesses go on for a while with tables of their own, the last of which is kept, and is then
        moved by small steps towards the optimum for the law that it leads to.
        """
        start = self.run(0, NEVER, accesses=self.steps)[1]
        draft, places, joint, pace = self.drafts[self.steps], self.profile.places, start, PACE
        for _ in range(AHEAD if self.scenario.seen else 1):
            draft.take(self.solve(self.steps, joint), places, afresh=True)
            joint = self.visit(self.steps, joint)[1]
        best, made, better = -np.inf, draft.made, {}
        while self.scenario.seen and pace > PACE / 5:
            moments, end, _ = self.mended(self.steps, start, settled=1e-6)
            privacy = moments[-1].privacy
            if privacy > best * (1 + 1e-3):
                best, made, better = privacy, draft.made, self.solve(self.steps, end)
            else:
                pace /= 2
            draft.take(made, places, afresh=True)
            draft.take({past: draft.blended(past, one, pace) for past, one in better.items()}, places)
        draft.take(made, places, afresh=True)

    def plain_second_privacy(self) -> float:
        """What the second access is worth at best if the first one takes the solver's own table."""
        first = self.drafts[0]
        plain = Draft(first.scenario, first.then)
        plain.take({past: replace(one, table=one.plain) for past, one in first.made.items()}, self.profile.places)
        joint = self.access(0, NEVER).exposed(NEVER, plain.stage)
        games, access = self.games(first.then, joint, 1), self.access(first.then, joint)
        values = [solve(game, start=self.starts(access, past)[0]).privacy for past, game in games.items()]
        return float(joint.mass.sum(axis=0) @ values)

    def certified(self) -> Runs:
        """Runs in which the budget holds after every history, all of them with the tables that are stored.

        While tables still change, runs after a gap are cut where little changes any more.
        """
        settled = ROUGH if self.gaps else SETTLED
        for _ in range(ROUNDS):
            before = [draft.made for draft in self.drafts]
            moments, self.settled, done = self.mended(0, NEVER)
            starts = starts_of_gaps(moments, self.settled)
            missed = []
            for gap, number in enumerate(self.gaps, start=2):
                for after, joint in starts:
                    missed.append(self.after_gap(after, gap, self.mended(number, joint, gap, settled)[0]))
                    if self.progress is not None:
                        self.progress("gaps, certified", len(missed), len(starts) * len(self.gaps))
            if any(draft.made is not made for draft, made in zip(self.drafts, before, strict=True)):
                self.spare = min(4 * self.spare, MOST_SPARE)
            elif settled == SETTLED:
                return Runs(moments, self.settled, done, missed)
            else:
                settled = SETTLED
        raise SolverError(f"The budget is not kept after every gap after {ROUNDS} rounds of mixing.")

    def proved(self, runs: Runs) -> Iterator[Stage]:
        """The stages with the laws that they were made for, or have settled in, and the best attacks under these."""
        for number, ((joint, gap), prior) in enumerate(zip(self.laws(runs), self.priors(runs), strict=True)):
            draft = self.drafts[number]
            solved = draft.made if number < self.steps else self.solve(number, joint, gap, choose=False)
            yield replace(draft.stage, prior=prior, attack=attack_of([solved[past] for past in histories_of(prior)]))

    def codebook(self) -> Codebook:
        """Everything, made, mended and certified."""
        self.settle()
        runs = self.certified()
        return Codebook(
            self.scenario,
            self.profile.places,
            self.profile.regions,
            self.profile.step,
            self.privacy,
            self.quality,
            self.budget,
            tuple(self.proved(runs)),
            self.gaps,
            deployed_of(runs, self.plain_second_privacy()),
            Chain(self.profile.states, self.profile.transition),
        )


def refuse_many_histories(profile: MarkovProfile, scenario: Scenario) -> None:
    """Refuse a scenario with more histories and true ways than can be held together, before any game is solved.

    Where the budget lets anything be told, nearly everything that can happen is exposed by somebody (measured: 0.8 to 1
    of the ways that a person can go).
    """
    in_a_row = longest_run({*scenario.target, *scenario.quality, *scenario.known})
    length = max(window_of(profile, scenario), in_a_row)
    ways = possible_ways(profile, length)
    histories = possible_ways(profile, len(scenario.seen))
    what = f"A design for about {histories:.3g} histories and {ways:.3g} ways through {profile.places} places"
    way_out = "Remember, know or protect fewer places in 'scenario', or use fewer places."
    refuse_if_too_large(8 * ways * (length + EXPOSED * histories), what, way_out)


def histories_of(prior: Prior) -> list[History]:
    """The histories of a prior as keys."""
    return [tuple(past) for past in prior.histories.tolist()]


def excess(moments: Sequence[Moment], budget: float) -> dict[int, dict[History, float]]:
    """The largest losses above the budget, by stage and history."""
    worst: dict[int, dict[History, float]] = {}
    for moment in moments:
        own = worst.setdefault(moment.number, {})
        for past, loss in moment.over(budget).items():
            own[past] = max(loss, own.get(past, 0.0))
    return worst
