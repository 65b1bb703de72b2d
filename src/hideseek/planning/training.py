"""Training: cuts are made at the beliefs that walks lead to, and with them the proof of the planner's bound."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
from scipy import sparse

from hideseek.errors import SolverError, broken_rule
from hideseek.metrics.named import MetricLike
from hideseek.model.belief import updated
from hideseek.model.profile import Profile, drawn
from hideseek.model.scenario import Scenario
from hideseek.planning.belief_game import BeliefGame
from hideseek.planning.planner import Planner, Proof, for_ever
from hideseek.planning.player import ROUGH, Player
from hideseek.planning.steering_training import trained_steering
from hideseek.solvers.belief_program import Play, Terms
from hideseek.util.arrays import FloatArray, frozen
from hideseek.util.boundary import checked
from hideseek.util.checks import one_of, scalar, whole_number
from hideseek.util.choices import ACCESS, Against, Mode, Outlook
from hideseek.util.progress import Advance

DISCOUNT = 0.9
# of training: walks, and accesses of each; 20 walks of 30 give a looser bound with Hamming losses (two cabs measured)
WALKS, LENGTH = 40, 15
LEARNED = 3e-3  # of the mean error: how exact a lesson is, and what one must teach to be kept
ENOUGH = 3  # walks in a row that teach nothing, after which there are no more


@checked
def plan(
    game: BeliefGame | Profile,
    *,
    scenario: Scenario | None = None,
    privacy: MetricLike | None = None,
    quality: MetricLike | None = None,
    budget: float | str | None = None,
    over: str | timedelta | None = None,
    cap: float | None = None,
    against: Against | str | None = None,
    lag: int | None = None,
    outlook: Outlook | str = Outlook.FAR_SIGHTED,
    mode: Mode | str = Mode.TRADE_OFF,
    discount: float = DISCOUNT,
    walks: int = WALKS,
    seed: int = 0,
    progress: Advance | None = None,
) -> Planner:
    """Train a planner on the beliefs that walks lead to; the same seed gives the same planner.

    Parameters
    ----------
    game, scenario, privacy, quality, budget, over, cap
        A :class:`BeliefGame`; or a profile and what makes a game of it, see :meth:`BeliefGame.of`.
    against, lag
        Which adversary: "filter" guesses a place at its access; "smoother" when so many steps (by default one) have
        passed, with the releases since (:meth:`Scenario.read_later`). Where the budget holds over a window, "log"
        guesses when all has been released, and "both", the default then, at the access and later again.
    outlook, mode
        How far the planner looks, where the secondary outlook is lexicographic and has no discount; and whether it may
        give up current privacy for more of it later. Neither is for a budget over a window.
    discount, walks, seed, progress
        How much an access counts, >= 0 and < 1, where the one before counts 1; how many walks to train on at most.
        After every walk, the shares of the ceiling that the last walks reached and that no mechanism exceeds in the
        long run are told, as text, the walks done, and their number; see :func:`hideseek.util.progress.bar`.

    Returns
    -------
    Planner
        Its cuts, and a bound on the long-run privacy per access of every mechanism.

    Examples
    --------
    >>> from hideseek.model.markov import MarkovProfile
    >>> profile = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]])
    >>> plan(profile, privacy="hamming", quality="hamming", budget=0.1, walks=2)
    Planner(outlook=far-sighted, mode=trade-off, discount=0.9, cuts=1, bound=0.1)
    """
    asked = None if against is None else one_of(Against, against, "against", "plan")
    scenario = scenario_against(asked, lag, game, scenario)
    played = game_of(game, scenario=scenario, privacy=privacy, quality=quality, budget=budget, over=over, cap=cap)
    adversary = adversary_of(asked, played.window, "plan")
    outlook, mode = one_of(Outlook, outlook, "outlook", "plan"), one_of(Mode, mode, "mode", "plan")
    walks, seed = whole_number(walks, "walks", "plan"), whole_number(seed, "seed", "plan", least=0)
    if played.window > 1:
        refuse_idle(outlook, mode)
    planner = trained(played, outlook, mode, checked_discount(discount), walks, seed, progress)
    steering = trained_steering(played, planner, adversary, walks, seed, progress) if played.window > 1 else None
    return replace(planner, steering=steering)


def checked_discount(discount: float) -> float:
    """How much an access counts of the one before it."""
    rule = "a number >= 0 and < 1"
    number = scalar(discount, "discount", "plan", rule)
    if number >= 1:
        raise broken_rule("discount", "plan", rule, number)
    return number


def refuse_idle(outlook: Outlook, mode: Mode) -> None:
    """Refuse what would change nothing where the budget holds over a window."""
    for parameter, got, usual in (("outlook", outlook, Outlook.FAR_SIGHTED), ("mode", mode, Mode.TRADE_OFF)):
        if got is not usual:
            raise broken_rule(parameter, "plan", "left out where the budget holds over a window", got)


def adversary_of(asked: Against | None, window: int, owner: str) -> Against:
    """The adversary that was asked for, or the default; refused where the kind of budget does not know this one."""
    windowed = window > 1
    adversary = asked or (Against.BOTH if windowed else Against.FILTER)
    known = (Against.FILTER, Against.LOG, Against.BOTH) if windowed else (Against.FILTER, Against.SMOOTHER)
    if adversary not in known:
        names, kind = " or ".join(f"'{one}'" for one in known), "over a window" if windowed else "at every access"
        raise broken_rule("against", owner, f"{names} where the budget holds {kind}", f"'{adversary}'")
    return adversary


def adversary_of_playbook(asked: Against | str | None, window: int, owner: str) -> Against | None:
    """The adversary, if one was given: of a playbook, which protects the current place, none who guesses it later."""
    if asked is None:
        return None
    against = one_of(Against, asked, "against", owner)
    if against is Against.SMOOTHER:
        rule = "'filter', 'log' or 'both', where the budget holds over a window, else 'filter'"
        raise broken_rule("against", owner, rule, "'smoother'")
    return adversary_of(against, window, owner)


def scenario_against(
    against: Against | None, lag: int | None, game: BeliefGame | Profile, scenario: Scenario | None
) -> Scenario | None:
    """What is protected: as was given, or against an adversary who guesses every place some steps later."""
    if against is not Against.SMOOTHER:
        if lag is not None:
            raise broken_rule("lag", "plan", "left out, unless against is 'smoother'", lag)
        return scenario
    if scenario is not None or isinstance(game, BeliefGame):
        rule = "left out, where against is 'smoother' and makes the scenario of a profile"
        raise broken_rule("scenario", "plan", rule, "that of a game" if scenario is None else scenario)
    return Scenario.read_later(1 if lag is None else lag, memory=getattr(game, "memory", 1))


def game_of(
    game: BeliefGame | Profile,
    *,
    scenario: Scenario | None,
    privacy: MetricLike | None,
    quality: MetricLike | None,
    budget: float | str | None,
    over: str | timedelta | None,
    cap: float | None,
) -> BeliefGame:
    """The game that was given, or the one that is made of a profile and all the rest."""
    rest = {"scenario": scenario, "privacy": privacy, "quality": quality, "budget": budget, "over": over, "cap": cap}
    if isinstance(game, BeliefGame):
        for name, value in rest.items():
            if value is not None:
                raise broken_rule(name, "plan", "left out beside a game, which has its own", type(value).__name__)
        return game
    if privacy is None or quality is None or budget is None:
        missing = next(name for name in ("privacy", "quality", "budget") if rest[name] is None)
        raise broken_rule(missing, "plan", "given with a profile", None)
    over = ACCESS if over is None else over
    return BeliefGame.of(game, scenario=scenario, privacy=privacy, quality=quality, budget=budget, over=over, cap=cap)


def trained(
    game: BeliefGame,
    outlook: Outlook,
    mode: Mode,
    discount: float,
    walks: int,
    seed: int,
    progress: Advance | None,
) -> Planner:
    """The planner of a game: trained on walks, where it has a future to learn about."""
    if outlook is Outlook.SECONDARY:
        mode, discount = Mode.LEXICOGRAPHIC, 1.0
    most = game.ceiling.bound
    blank = Planner(
        outlook=outlook,
        mode=mode,
        discount=discount,
        cuts=np.zeros((0, len(game.states))),
        bound=most,
        sha256=game.sha256,
        seed=seed,
    )
    if outlook is Outlook.PLAIN or discount == 0:
        return blank
    if outlook is Outlook.SECONDARY:
        return replace(blank, cuts=game.error)
    trainer = _Trainer(game, blank)
    trainer.train(walks, progress)
    return trainer.planner()


class _Trainer:
    """Walks by a planner that learns from them."""

    def __init__(self, game: BeliefGame, blank: Planner) -> None:
        self.game, self.blank = game, blank
        self.generator = np.random.default_rng(blank.seed)
        self.forever = blank.outlook is Outlook.FAR_SIGHTED
        first: FloatArray = game.ceiling_cut
        if self.forever:
            first = for_ever(first, game, blank.discount)
        self.reached = [game.start[None]]  # beliefs at which the value was asked for
        # cuts are of the trade-off whatever the mode: they bound what any choice can reach
        self.player = Player(game, replace(blank, mode=Mode.TRADE_OFF, cuts=first[None]))
        self.unit = self.player.now.unit
        if game.window > 1:  # at one price for all beliefs: so the cuts bound what keeps the budget on average
            for program in (self.player.now, self.player.later):
                if program is not None:
                    program.terms = Terms(np.inf, game.ceiling.price)
        self.privacies: list[float] = []
        # of every cut, its price and strategy: the first is that of the ceiling's, played for ever
        self.prices = [game.ceiling.price]
        self.strategies = [sparse.csr_array(game.ceiling.attack)]

    def train(self, walks: int, progress: Advance | None) -> None:
        """Visit the beliefs after the state itself was released, then those that walks lead to, forth and back."""
        for belief in np.unique(self.game.moves, axis=0):
            self.visit(belief)
        quiet = 0
        for done in range(walks):
            if quiet == ENOUGH:
                break
            known = len(self.player.cuts)
            belief, short = self.game.start, 0.0
            visited: list[tuple[FloatArray, Play, int]] = []
            for _ in range(LENGTH):
                before = len(self.player.cuts)
                found = self.visit(belief)
                visited.append((belief, found, before))
                # the mean of <cut, belief> is the ceiling: what a walk falls short of it by scatters less
                short += float(self.game.ceiling_cut @ belief - found.privacy) / LENGTH
                release = int(drawn((belief[:, None] * found.table).sum(axis=0), self.generator))
                belief = self.game.later(self.game.learned(belief, found.table, release=release))
            for belief, found, before in reversed(visited[1:]) if self.forever else ():
                if self.changed(belief, found, before):
                    self.visit(belief)
            if self.forever:
                self.visit(self.game.start, ROUGH)  # where the bound is read off
            quiet = quiet + 1 if len(self.player.cuts) == known else 0
            self.privacies.append(float(self.game.ceiling_cut @ self.game.start) - short)
            if progress is not None:
                reached, ceiling = float(np.mean(self.privacies[-5:])), self.game.ceiling.bound or 1.0
                what = f"{reached / ceiling:.6g} to {self.bound / ceiling:.6g} of the ceiling, walks"
                progress(what, done + 1, walks)

    def visit(self, belief: FloatArray, exact: float = LEARNED) -> Play:
        """Choose a table at a belief, and learn what the belief is worth."""
        try:
            found = self.player.with_future(belief, exact=exact)
        except SolverError:  # the current access alone teaches nothing about later ones
            return self.player.now.play(belief)
        after, mass = updated(belief[:, None], found.table)
        self.reached.append(after[:, mass > ROUGH].T @ self.game.moves)
        if self.forever and (self.player.cuts @ belief).min() - found.cut @ belief > exact * self.unit:
            self.player.add(found.cut[None])
            self.prices.append(found.price)
            self.strategies.append(sparse.csr_array(found.strategy))
        return found

    def changed(self, belief: FloatArray, found: Play, before: int) -> bool:
        """Whether a belief may be worth less than was found: its table is, by the cuts that came since.

        The belief is worth no less than its table, so where that is worth what it was, there is nothing to learn.
        """
        futures = self.player.cuts @ (self.game.moves.T @ (belief[:, None] * found.table))
        fallen = (futures[:before].min(axis=0) - futures.min(axis=0)).sum()
        return bool(self.blank.discount * fallen > LEARNED * self.unit)

    @property
    def bound(self) -> float:
        """What no mechanism that keeps the budget exceeds in the long run, by all cuts so far."""
        if not self.forever:
            return self.blank.bound
        return min(self.blank.bound, (1 - self.blank.discount) * float((self.player.cuts @ self.game.start).min()))

    def planner(self) -> Planner:
        """The planner with the cuts that are the least at some belief that was reached, and the proof of its bound."""
        cuts = self.player.cuts
        used = np.unique(np.concatenate([(beliefs @ cuts.T).argmin(axis=1) for beliefs in self.reached]))
        planner = replace(self.blank, cuts=frozen(cuts[used].copy()))
        if not self.forever:
            return planner
        least, guesses = int((cuts @ self.game.start).argmin()), len(self.game.error)
        wide = [
            sparse.csr_array((one.data, one.indices, one.indptr), shape=(one.shape[0], guesses + len(cuts)))
            for one in self.strategies
        ]
        proof = Proof(np.array(self.prices), sparse.vstack(wide, format="csr")).of_one(least, guesses)
        return planner.proved(self.game, proof)
