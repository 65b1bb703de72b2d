"""Solutions, codebooks, plans and labels in words for a terminal, and as facts for machines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict

import msgspec
import numpy as np

from hideseek.adversary.label import ASSUMPTION, Label
from hideseek.adversary.one_shot import expected_error
from hideseek.cli.terminal import in_options
from hideseek.codebook.claims import AGREE, GapCase
from hideseek.codebook.codebook import Codebook, looks_back
from hideseek.designing.gap_losses import worst_loss_after_gaps
from hideseek.experiments.wording import budget_words, exactly_named, named, sensitive_words
from hideseek.fleet.run import Fleet
from hideseek.game.game import Game
from hideseek.metrics.metric import Metric
from hideseek.metrics.sensitive_places import unweighted
from hideseek.model.own_places import FEW_DAYS, length
from hideseek.model.profile import Profile
from hideseek.model.regions import Regions
from hideseek.model.scenario import Scenario
from hideseek.planning.belief_game import BeliefGame
from hideseek.planning.planner import Planner
from hideseek.planning.simulation import Foresight, for_whom
from hideseek.solvers.certificate import relative_gap
from hideseek.solvers.curve import Curve
from hideseek.solvers.solution import Solution
from hideseek.util.choices import ACCESS
from hideseek.util.display import bracketed, counted
from hideseek.util.estimates import Estimate
from hideseek.util.units import amount, in_unit, is_length, metres_beside, shown, shown_many, unit_words

METRES, POINT = 100, 0.01  # what more of displacement, or of a loss that is no length, is priced
ADDING = ("distance", "from_matrix", "total")  # metrics that add over several places, by the functions that make them
HABITS = "It reveals where its user goes and how. Anyone who has it knows as much as the strongest adversary."


def solution_words(solution: Solution, game: Game, d_p: Metric, d_q: Metric) -> Iterable[tuple[str, str]]:
    """A solution in plain words."""
    yield "privacy, certified", amount(solution.privacy, d_p.unit)
    yield "no mechanism exceeds", amount(solution.bound, d_p.unit)
    if solution.within < solution.bound:
        yield "none within the radius exceeds", amount(solution.within, d_p.unit)
        yield "the radius costs at most", f"{solution.optimality_gap:.2%} of the bound"
        gap = relative_gap(solution.privacy, solution.within, game.prior_risk)
        yield "optimality gap within it", f"{gap:.1e} ({solution.status})"
    else:
        yield "optimality gap", f"{solution.optimality_gap:.1e} ({solution.status})"
    yield "quality loss", amount(solution.quality_loss, d_q.unit, whole=game.budget)
    yield price_words(solution, game)
    yield "prior risk (no release)", amount(game.prior_risk, d_p.unit)
    if (places := game.guesses.shape[1]) > 1:
        yield "error is measured as", together(d_p, places)
        yield "loss is measured as", together(d_q, game.releases.shape[1])
    yield "solved by", f"{solution.method}, {solution.iterations} round{'s' * (solution.iterations != 1)}"


def sensitive_rows(privacy: Metric, regions: Regions | None) -> list[tuple[str, str]]:
    """Which places are sensitive, in a row of its own; none where none are."""
    words = sensitive_words(privacy, regions)
    return [("sensitive places", words)] if words else []


def unweighted_rows(solution: Solution, profile: Profile, scenario: Scenario, d_p: Metric) -> list[tuple[str, str]]:
    """Beside a weighted privacy: the expected error of an adversary who minimises it without weights."""
    plain = unweighted(d_p)
    if plain is d_p:
        return []
    game = Game.from_scenario(profile, scenario, privacy=plain, quality="hamming")
    return [("privacy, without weights", amount(expected_error(game, solution.mechanism), plain.unit))]


def price_words(solution: Solution, game: Game) -> tuple[str, str]:
    """What a little more loss buys at most: what no mechanism that loses so much more exceeds.

    The price is the slope of a line that privacy cannot cross, whatever the budget, and touches where it was solved. Up
    to the next corner of the curve the line is the curve. Under a squared metric it is a line over square metres, so
    that it is read at the square of the larger displacement.
    """
    error, loss = game.units
    if is_length(loss):
        more, name = float(in_unit(np.array(shown(game.budget, loss) + METRES), loss)), f"{METRES} m more displacement"
    else:
        more, name = game.budget + POINT, "one percentage point more loss"
    most = min(solution.within + solution.price * (more - game.budget), game.prior_risk)
    bought = max(shown(most, error) - shown(solution.privacy, error), 0.0)
    unit = f" {error.removesuffix('²')}" if error else ""
    return f"{name} buys", f"at most {round(bought, 9):.3g}{unit} of privacy"


def solution_facts(solution: Solution, game: Game, d_p: Metric, d_q: Metric) -> dict[str, object]:
    """A solution for machines."""
    return {
        "privacy": solution.privacy,
        "bound": solution.bound,
        "bound_within_radius": solution.within,
        "optimality_gap": solution.optimality_gap,
        "quality_loss": solution.quality_loss,
        "budget": game.budget,
        "saturation": game.saturation,
        "prior_risk": game.prior_risk,
        "price": solution.price,
        **metres_beside(
            {"quality_loss": solution.quality_loss, "budget": game.budget, "saturation": game.saturation}, d_q.unit
        ),
        "status": str(solution.status),
        "method": str(solution.method),
        "iterations": solution.iterations,
        "privacy_metric": exactly_named(d_p),
        "quality_metric": exactly_named(d_q),
    }


def curve_rows(curve: Curve) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The points of a curve as people are shown them: a header, and one row per budget; prices are for machines."""
    error, loss = curve.units
    columns = (
        (bracketed("budget", unit_words(loss)), curve.budget, loss),
        (bracketed("privacy", unit_words(error)), curve.privacy, error),
        ("no mechanism exceeds", curve.bound, error),
        ("quality loss", curve.quality_loss, loss),
    )
    rows = zip(*(shown_many(values, unit) for _, values, unit in columns), strict=True)
    return tuple(name for name, _, _ in columns), [tuple(f"{value:.6g}" for value in row) for row in rows]


def codebook_words(codebook: Codebook) -> list[tuple[str, str]]:
    """A codebook in plain words."""
    scenario, done, d_p = codebook.scenario, codebook.deployed, codebook.privacy.unit
    access = "every step" if scenario.every == 1 else f"every {scenario.every} steps"
    run = f"{done.accesses} accesses, until nothing changes" if done.settled else f"the first {done.accesses} accesses"
    words = [
        ("protects", f"the true places: {named_offsets(scenario.target)}"),
        ("exposes", f"places: {named_offsets(scenario.release)}; {access} of {codebook.step}"),
        ("remembers (its history)", f"releases: {named_offsets(scenario.seen)}" if scenario.seen else "no release"),
        ("error is measured as", together(codebook.privacy, len(scenario.target))),
        *sensitive_rows(codebook.privacy, codebook.regions),
        ("loss is measured as", together(codebook.quality, len(scenario.release))),
        ("certified over", run),
        ("privacy, on average", amount(done.privacy, d_p)),
        ("privacy, worst history", amount(done.worst_privacy, d_p)),
        *loss_rows(codebook),
        *gap_rows(codebook),
    ]
    chosen, plain = done.second_privacy, done.plain_second_privacy
    second = f"{amount(chosen, d_p)} by choice; the solver's own {amount(plain, d_p)}, not verified"
    words.append(("privacy at access 2", second))
    words.append(("given every release", "the loss may exceed the budget: see evaluate"))
    words.append(("assumed", "access times reveal nothing about the place"))
    return words


def loss_rows(codebook: Codebook) -> list[tuple[str, str]]:
    """What is lost at an access, and which of it the budget limits, in plain words."""
    done, unit, budget = codebook.deployed, codebook.quality.unit, codebook.budget
    rows = [("loss, on average", amount(done.quality_loss, unit))]
    if done.worst_average_loss is None:
        return [*rows, ("loss, worst history", amount(done.worst_loss, unit, whole=budget))]
    rows.append(("loss, worst access", f"{amount(done.worst_average_loss, unit, whole=budget)} on average"))
    rows.append(("loss, worst history", f"{amount(done.worst_loss, unit)}, which the budget does not limit"))
    return [("the budget holds", "at every access, on average over what was exposed before"), *rows]


def gap_rows(codebook: Codebook) -> list[tuple[str, str]]:
    """What happens after missed accesses, in plain words."""
    done, d_p, d_q = codebook.deployed, codebook.privacy.unit, codebook.quality.unit
    rows = []
    if done.gap_privacy is not None and done.gap_worst_loss is not None:
        rows.append(("has tables for a gap of", f"up to {len(codebook.gaps) + 1} accesses"))
        rows.append(("privacy after such a gap", f"at least {amount(done.gap_privacy, d_p)} on average"))
        loss = amount(done.gap_worst_loss, d_q, whole=codebook.budget)
        rows.append(("loss, worst after such a gap", f"{loss}, {gap_words(done.gap_worst_case)}"))
        rows.append(("after two such gaps in a row", "not certified unless the run has settled between them"))
    if not looks_back(codebook.scenario):
        return [*rows, ("after a gap", "goes on as if no access had been missed")]
    each, given = codebook.over == ACCESS, "given" if codebook.over == ACCESS else "on average over"
    rows.append(("after a gap", f"starts afresh; keeps the budget {given} the releases since"))
    if codebook.chain is None:
        worst = "not known: the file holds no profile (hideseek 0.1.0)"
    else:
        most = worst_loss_after_gaps(codebook)
        above = "above the budget" if most > codebook.budget * (1 + AGREE) else "within the budget"
        words = f"{amount(most, d_q, whole=codebook.budget)}, {above}" if each else amount(most, d_q)
        worst = f"{words}, given those before the gap too"
    return [*rows, ("loss, worst over all gaps", worst)]


def gap_words(case: GapCase | None) -> str:
    """Where a loss after a gap occurs.

    >>> gap_words(GapCase(after=3, gap=2, access=1))
    'at access 1 after a gap of 2 that follows access 3'
    """
    if case is None:
        return "looked at after the first accesses and in the settled run only"
    return f"at access {case.access} after a gap of {case.gap} that follows access {case.after}"


def codebook_facts(codebook: Codebook) -> dict[str, object]:
    """A codebook for machines."""
    return {
        "sha256": codebook.sha256,
        "places": codebook.places,
        "step": codebook.step,
        "scenario": asdict(codebook.scenario),
        "privacy_metric": exactly_named(codebook.privacy),
        "quality_metric": exactly_named(codebook.quality),
        "budget": codebook.budget,
        **metres_beside({"budget": codebook.budget}, codebook.quality.unit),
        "over": codebook.over,
        "stages": [
            {
                "used": codebook.occasion(number),
                "histories": len(worth.weight),
                "privacy": float(worth.weight @ worth.privacy),
                "bound": float(worth.weight @ worth.bound),
                "quality_loss": float(worth.weight @ worth.loss),
                "worst_loss": float(worth.loss.max()),
                **metres_beside(
                    {"quality_loss": float(worth.weight @ worth.loss), "worst_loss": float(worth.loss.max())},
                    codebook.quality.unit,
                ),
            }
            for number, worth in enumerate(codebook.worths())
        ],
        "history": [int(offset) for offset in codebook.scenario.seen],
        "deployed": msgspec.to_builtins(codebook.deployed),
        **gap_facts(codebook),
        "assumption": ASSUMPTION,
        "warning": HABITS,
    }


def gap_facts(codebook: Codebook) -> dict[str, object]:
    """The worst loss over all patterns of gaps, where the file holds the profile that it follows from."""
    loss = None if codebook.chain is None else worst_loss_after_gaps(codebook)
    metres = {} if loss is None else metres_beside({"worst_loss_after_gaps": loss}, codebook.quality.unit)
    return {"worst_loss_after_gaps": loss, **metres}


def plan_words(game: BeliefGame, planner: Planner, found: Foresight) -> list[tuple[str, str]]:
    """A plan in plain words."""
    d_p, d_q = game.privacy.unit, game.quality.unit
    *promised, cuts, _, _ = plan_promises(game, planner)
    smoothed = [] if found.smoother is None else [("expected error of the smoother", amount(found.smoother, d_p))]
    return [
        *promised,
        ("expected error of the filter", amount(found.filter, d_p)),
        *smoothed,
        ("bound of the cuts", f"{amount(found.bound, d_p)}, if the budget holds {how_held(game)}"),
        ("ceiling", f"{amount(found.ceiling, d_p)}, if the budget holds on average"),
        ("kept of the ceiling", found.kept.in_words()),
        ("quality loss, on average", amount(found.quality_loss, d_q)),
        ("quality loss, worst history", amount(found.worst_loss, d_q, whole=game.budget)),
        ("assumed", "access times reveal nothing about the place"),
        ("accesses simulated", str(found.accesses)),
        cuts,
    ]


def plan_promises(game: BeliefGame, planner: Planner) -> list[tuple[str, str]]:
    """What a plan says of itself in plain words, before anything is simulated."""
    d_p, d_q = game.privacy.unit, game.quality.unit
    return [
        ("protects", f"the true places: {named_offsets(game.scenario.target)}"),
        ("planner", f"{planner.outlook}, {planner.mode}, discount {planner.discount:g}"),
        ("error is measured as", together(game.privacy, len(game.scenario.target))),
        *sensitive_rows(game.privacy, game.profile.regions),
        ("loss is measured as", together(game.quality, len(game.scenario.release))),
        ("cuts", str(len(planner.cuts))),
        ("no mechanism exceeds", f"{amount(planner.bound, d_p)}, if the budget holds {how_held(game)}"),
        budget_words(game, game.profile.step, d_q),
    ]


def how_held(game: BeliefGame) -> str:
    """When the budget holds of the mechanisms that the bound of a plan is for."""
    return "given every release" if game.window == 1 else "on average"


def plan_claims(game: BeliefGame, planner: Planner) -> dict[str, object]:
    """What a plan says of itself, for machines."""
    return {
        "sha256": planner.sha256,
        "places": game.profile.places,
        "states": len(game.states),
        "scenario": asdict(game.scenario),
        "privacy_metric": exactly_named(game.privacy),
        "quality_metric": exactly_named(game.quality),
        "budget": game.budget,
        "planner": str(planner.outlook),
        "mode": str(planner.mode),
        "discount": planner.discount,
        "seed": planner.seed,
        "cuts": len(planner.cuts),
        "assumption": ASSUMPTION,
        "warning": HABITS,
    }


def plan_facts(game: BeliefGame, planner: Planner, found: Foresight) -> dict[str, object]:
    """A plan for machines, with what was found by simulating it."""
    return {
        **plan_claims(game, planner),
        "filter_interval": found.filter.interval,
        "smoother_interval": None if found.smoother is None else found.smoother.interval,
        "certified": found.certified,
        **asdict(found),
        **metres_beside(
            {"budget": game.budget, "quality_loss": found.quality_loss, "worst_loss": found.worst_loss},
            game.quality.unit,
        ),
        "bound_holds_for": for_whom(game),
    }


def together(metric: Metric, places: int) -> str:
    """What a number measures; several places have one number, for which most metrics add.

    >>> from hideseek.metrics import hamming
    >>> together(hamming(), 1), together(hamming(), 2)
    ('Hamming', 'Hamming, of 2 places together')
    """
    added = ", in sum" if metric.recipe is not None and metric.recipe[0] in ADDING else ""
    return named(metric) + (f", of {places} places together{added}" if places > 1 else "")


def named_offsets(offsets: Sequence[int]) -> str:
    """Offsets in words: now, 1 step before, 2 steps later."""

    def word(offset: int) -> str:
        if offset == 0:
            return "now"
        return f"{abs(offset)} step{'s' * (abs(offset) > 1)} {'before' if offset < 0 else 'later'}"

    return ", ".join(word(offset) for offset in offsets)


def label_facts(label: Label) -> dict[str, object]:
    """A label for machines: the numbers by name, their intervals and hit rates beside them."""
    numbers = {
        name: value
        for name, value in vars(label).items()
        if isinstance(value, float | int) and not isinstance(value, bool)
    }
    known = {name: value for name, value in numbers.items() if isinstance(value, Estimate)}
    losses = {name: getattr(label, name) for name in ("quality_loss", "worst_loss", "worst_loss_given_all")}
    return {
        **numbers,
        **metres_beside(losses, label.loss_unit),
        "intervals": {name: value.interval for name, value in known.items() if not value.exact},
        "hit_rates": {name: value.hit_rate for name, value in known.items() if value.hit_rate is not None},
        "unit": label.unit,
        "loss_unit": label.loss_unit,
        "assumption": ASSUMPTION,
    }


def stage_rows(codebook: Codebook) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The stages of a codebook, computed again: a header, and one row per stage."""
    d_p, d_q = codebook.privacy.unit, codebook.quality.unit
    # in a terminal of 80 columns there is no room to say that the losses are root mean squares; the words above do
    privacy, loss = (bracketed(name, unit.removesuffix("²")) for name, unit in (("privacy", d_p), ("worst loss", d_q)))
    header = ("stage", "histories", privacy, "at most", loss)
    return header, [
        (
            codebook.occasion(number),
            str(len(worth.weight)),
            shown(float(worth.weight @ worth.privacy), d_p).in_words(),
            shown(float(worth.weight @ worth.bound), d_p).in_words(),
            shown(float(worth.loss.max()), d_q).in_words(),
        )
        for number, worth in enumerate(codebook.worths())
    ]


def fleet_words(found: Fleet) -> list[tuple[str, str]]:
    """What became of a fleet, in words."""
    words = [
        ("users told apart by", found.told_apart_by),
        ("protected", f"{found.users - found.unusable} users, {found.made}"),
        ("done by an earlier run", str(found.reused)),
        ("not protected", str(found.unusable)),
        *((f"- {in_options(reason, 'fleet')}", str(count)) for reason, count in found.reasons.items()),
    ]
    if found.departed:
        words.append(("no longer in the data, files still there", str(found.departed)))
    if found.places is not None and found.outside is not None:
        wide = "" if found.width is None else f", {length(found.width)} wide (median)"
        words.append(("places, on average", f"{found.places:.3g}{wide}"))
        words.append(("fixes outside, on average", f"{100 * found.outside:.2g} %"))
        words.append(("covered, on average", f"{found.hours:.0f} hours on {found.days:.3g} days"))
    if found.worst_window is not None and found.over != ACCESS:
        words.append(("budgets hold", f"over {found.over} on average, after every history"))
        words.append(("lost in the worst window", f"{found.worst_window:.3g} budgets on average, of 2 at most"))
    if found.kept is not None and found.seconds is not None:
        words.append(("kept of the ceiling, on average", f"{found.kept:.1%}"))
        words.append(("CPU seconds per user", f"{found.seconds:.1f}"))
    return words


def fleet_warnings(found: Fleet) -> list[str]:
    """What speaks against relying on the results of a fleet, in sentences."""
    warnings = []
    if found.few_days:
        few = f"Traces of fewer than {FEW_DAYS} days, too few to learn habits from"
        marked = "Their numbers are no promise; the column few_days marks them."
        warnings.append(f"{few}: {found.few_days} of {counted(found.users, 'user')}. {marked}")
    if found.narrow:
        narrow = "A budget far below the width of a place, so that nearly every release will be the true place"
        warnings.append(f"{narrow}: {found.narrow} of {found.made}.")
    return warnings
