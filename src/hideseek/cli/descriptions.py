"""Solutions, codebooks, plans and labels in words for a terminal, and as facts for machines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict

import msgspec
import numpy as np

from hideseek.adversary.label import ASSUMPTION, Label
from hideseek.codebook.claims import GapCase
from hideseek.codebook.codebook import Codebook, looks_back
from hideseek.experiments.wording import named
from hideseek.fleet.run import Fleet
from hideseek.game.game import Game
from hideseek.metrics.metric import Metric
from hideseek.model.markov import MarkovProfile
from hideseek.model.profile import regions_of
from hideseek.planning.belief_game import BeliefGame
from hideseek.planning.planner import Planner
from hideseek.planning.simulation import FOR_WHOM, Foresight
from hideseek.solvers.certificate import relative_gap
from hideseek.solvers.solution import Solution
from hideseek.util.arrays import IntArray
from hideseek.util.estimates import Estimate

BUSIEST = 10  # places of a profile that are shown
HABITS = "It reveals where its user goes and how. Anyone who has it knows as much as the strongest adversary."


def profile_facts(profile: MarkovProfile) -> dict[str, object]:
    """A profile for machines."""
    regions = regions_of(profile)
    top = [
        {"place": int(k), "share": float(profile.stationary[k]), "centre": regions.centres[k].tolist()}
        for k in busiest_of(profile)
    ]
    return {"places": profile.places, "step": profile.step, "order": profile.order, "busiest": top}


def busiest_of(profile: MarkovProfile) -> IntArray:
    """The places where most time is spent."""
    return np.asarray((-profile.stationary).argsort(kind="stable")[:BUSIEST])


def busiest_rows(profile: MarkovProfile) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The busiest places of a profile: a header, and one row per place."""
    regions, shares = regions_of(profile), profile.stationary
    names = getattr(regions, "names", ()) or range(profile.places)
    return ("place", "share of time", "latitude", "longitude"), [
        (str(names[k]), f"{shares[k]:.1%}", *(f"{degrees:.5f}" for degrees in regions.centres[k]))
        for k in busiest_of(profile)
    ]


def solution_words(solution: Solution, game: Game, d_p: Metric, d_q: Metric) -> Iterable[tuple[str, str]]:
    """A solution in plain words."""
    yield "privacy, certified", f"{solution.privacy:.6g} {d_p.unit}".strip()
    yield "no mechanism exceeds", f"{solution.bound:.6g} {d_p.unit}".strip()
    if solution.within < solution.bound:
        yield "none within the radius exceeds", f"{solution.within:.6g} {d_p.unit}".strip()
        yield "the radius costs at most", f"{solution.optimality_gap:.2%} of the bound"
        gap = relative_gap(solution.privacy, solution.within, game.prior_risk)
        yield "optimality gap within it", f"{gap:.1e} ({solution.status})"
    else:
        yield "optimality gap", f"{solution.optimality_gap:.1e} ({solution.status})"
    yield "quality loss", f"{solution.quality_loss:.6g} of {game.budget:.6g} {d_q.unit}".strip()
    yield "one more unit of loss adds", f"{solution.price:.3g}"
    yield "prior risk (no release)", f"{game.prior_risk:.6g} {d_p.unit}".strip()
    yield "solved by", f"{solution.method}, {solution.iterations} round{'s' * (solution.iterations != 1)}"


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
        "status": str(solution.status),
        "method": str(solution.method),
        "iterations": solution.iterations,
        "privacy_metric": named(d_p),
        "quality_metric": named(d_q),
    }


def codebook_words(codebook: Codebook) -> list[tuple[str, str]]:
    """A codebook in plain words."""
    scenario, done = codebook.scenario, codebook.deployed
    d_p, d_q = codebook.privacy.unit, codebook.quality.unit
    access = "every step" if scenario.every == 1 else f"every {scenario.every} steps"
    run = f"{done.accesses} accesses, until nothing changes" if done.settled else f"the first {done.accesses} accesses"
    unbroken = "none, withholds" if looks_back(scenario) else "any length"
    words = [
        ("protects", f"the true places: {named_offsets(scenario.target)}"),
        ("exposes", f"places: {named_offsets(scenario.release)}; {access} of {codebook.step}"),
        ("remembers (its history)", f"releases: {named_offsets(scenario.seen)}" if scenario.seen else "no release"),
        ("error is measured as", named(codebook.privacy)),
        ("loss is measured as", named(codebook.quality)),
        ("certified over", run),
        ("privacy, on average", f"{done.privacy:.6g} {d_p}".strip()),
        ("privacy, worst history", f"{done.worst_privacy:.6g} {d_p}".strip()),
        ("loss, on average", f"{done.quality_loss:.6g} {d_q}".strip()),
        ("loss, worst history", f"{done.worst_loss:.6g} of {codebook.budget:.6g} {d_q}".strip()),
        ("continues after a gap of", f"up to {len(codebook.gaps) + 1} accesses" if codebook.gaps else unbroken),
    ]
    if codebook.gaps:
        words.append(("privacy after a gap", f"at least {done.gap_privacy:.6g} {d_p} on average".replace("  ", " ")))
        loss = f"{done.gap_worst_loss:.6g} of {codebook.budget:.6g} {d_q}".strip()
        words.append(("loss, worst after a gap", f"{loss}, {gap_words(done.gap_worst_case)}"))
        words.append(("after two gaps in a row", "not certified unless the run has settled between them"))
    chosen, plain = done.second_privacy, done.plain_second_privacy
    second = f"{chosen:.6g} by choice; the solver's own {plain:.6g}, not verified"
    words.append(("privacy at access 2", second))
    words.append(("given every release", "the loss may exceed the budget: see evaluate"))
    words.append(("assumed", "access times reveal nothing about the place"))
    return words


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
        "privacy_metric": named(codebook.privacy),
        "quality_metric": named(codebook.quality),
        "budget": codebook.budget,
        "stages": [
            {
                "used": codebook.occasion(number),
                "histories": len(worth.weight),
                "privacy": float(worth.weight @ worth.privacy),
                "bound": float(worth.weight @ worth.bound),
                "quality_loss": float(worth.weight @ worth.loss),
                "worst_loss": float(worth.loss.max()),
            }
            for number, worth in enumerate(codebook.worths())
        ],
        "history": [int(offset) for offset in codebook.scenario.seen],
        "deployed": msgspec.to_builtins(codebook.deployed),
        "assumption": ASSUMPTION,
        "warning": HABITS,
    }


def plan_words(game: BeliefGame, planner: Planner, found: Foresight) -> list[tuple[str, str]]:
    """A plan in plain words."""
    d_p, d_q = game.privacy.unit, game.quality.unit
    *promised, cuts = plan_promises(game, planner)[:5]
    smoothed = [] if found.smoother is None else [("expected error of the smoother", found.smoother.in_words())]
    return [
        *promised,
        ("expected error of the filter", f"{found.filter.in_words()} {d_p}".strip()),
        *((name, f"{words} {d_p}".strip()) for name, words in smoothed),
        ("bound of the cuts", f"{found.bound:.6g} {d_p}, if the budget holds given every release".replace(" ,", ",")),
        ("ceiling", f"{found.ceiling:.6g} {d_p}, if the budget holds on average".replace(" ,", ",")),
        ("kept of the ceiling", found.kept.in_words()),
        ("quality loss, on average", f"{found.quality_loss.in_words()} {d_q}".strip()),
        ("quality loss, worst history", f"{found.worst_loss:.6g} of {game.budget:.6g} {d_q}".strip()),
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
        ("error is measured as", named(game.privacy)),
        ("loss is measured as", named(game.quality)),
        ("cuts", str(len(planner.cuts))),
        (
            "no mechanism exceeds",
            f"{planner.bound:.6g} {d_p}, if the budget holds given every release".replace(" ,", ","),
        ),
        ("loss allowed per access", f"{game.budget:.6g} {d_q}".strip()),
    ]


def plan_claims(game: BeliefGame, planner: Planner) -> dict[str, object]:
    """What a plan says of itself, for machines."""
    return {
        "sha256": planner.sha256,
        "places": game.profile.places,
        "states": len(game.states),
        "scenario": asdict(game.scenario),
        "privacy_metric": named(game.privacy),
        "quality_metric": named(game.quality),
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
        "bound_holds_for": FOR_WHOM,
    }


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
    return {
        **numbers,
        "intervals": {name: value.interval for name, value in known.items() if not value.exact},
        "hit_rates": {name: value.hit_rate for name, value in known.items() if value.hit_rate is not None},
        "unit": label.unit,
        "assumption": ASSUMPTION,
    }


def stage_rows(codebook: Codebook) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The stages of a codebook, computed again: a header, and one row per stage."""
    d_p, d_q = codebook.privacy.unit, codebook.quality.unit
    header = ("stage", "histories", f"privacy {d_p}".strip(), "no table exceeds", f"worst loss {d_q}".strip())
    return header, [
        (
            codebook.occasion(number),
            str(len(worth.weight)),
            f"{worth.weight @ worth.privacy:.6g}",
            f"{worth.weight @ worth.bound:.6g}",
            f"{worth.loss.max():.6g}",
        )
        for number, worth in enumerate(codebook.worths())
    ]


def fleet_words(found: Fleet) -> list[tuple[str, str]]:
    """What became of a fleet, in words."""
    words = [
        ("users told apart by", found.told_apart_by),
        ("protected", f"{found.users - found.unusable} users, {found.codebooks} codebooks"),
        ("done by an earlier run", str(found.reused)),
        ("not protected", str(found.unusable)),
        *((f"- {reason}", str(count)) for reason, count in found.reasons.items()),
    ]
    if found.departed:
        words.append(("no longer in the data, files still there", str(found.departed)))
    if found.kept is not None and found.seconds is not None:
        words.append(("kept of the ceiling, on average", f"{found.kept:.1%}"))
        words.append(("CPU seconds per user", f"{found.seconds:.1f}"))
    return words
