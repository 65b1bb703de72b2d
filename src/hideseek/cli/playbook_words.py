"""Playbooks and their labels in words for a terminal, and as facts for machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from hideseek.adversary.belief_exposer import Exposure
from hideseek.adversary.label import ASSUMPTION
from hideseek.adversary.naming import Naming
from hideseek.adversary.other_profile import Left, TwoLabels
from hideseek.adversary.playbook_label import Extreme, PlaybookLabel
from hideseek.adversary.through_time import Adversary
from hideseek.cli.descriptions import HABITS, named_offsets
from hideseek.experiments.protection_words import estimate_from
from hideseek.experiments.wording import any_window, budget_words, exactly_named, in_percent, named, over_words
from hideseek.model.steering import Standing
from hideseek.playbook.playbook import Playbook
from hideseek.util.display import bracketed, counted
from hideseek.util.estimates import Estimate
from hideseek.util.units import amount, metres_beside, shown, unit_words

LISTED = 10  # places whose naming is shown
ERRORS = ("filter", "smoother", "quality_loss")  # what has an interval
Rows = list[tuple[str, ...]]


def playbook_words(playbook: Playbook) -> list[tuple[str, str]]:
    """A playbook in plain words: what it holds, and what a device with it promises."""
    d_p, d_q = playbook.privacy.unit, playbook.quality.unit
    access = "every step" if playbook.every == 1 else f"every {playbook.every} steps"
    first, count = playbook.play(Standing.first(playbook)), len(playbook.anchors)
    tables = f"{counted(count, 'table')}, for as many beliefs of the adversary"
    return [
        ("protects", f"the true places: {named_offsets(playbook.scenario.target)}"),
        ("exposes", f"the current place, {access} of {playbook.step} at most"),
        ("holds", tables if playbook.steering is None else "a price of loss, at which the device makes its tables"),
        ("error is measured as", named(playbook.privacy)),
        ("loss is measured as", named(playbook.quality)),
        budget_words(playbook, playbook.step, d_q),
        ("after any gap", "answers, and keeps the same budget"),
        ("on the device", "needs no solver"),
        ("privacy of the first access", amount(first.privacy, d_p)),
        ("loss of the first access", amount(first.loss, d_q, whole=playbook.budget)),
        ("prior risk (no release)", amount(playbook.prior_risk, d_p)),
        ("ceiling", f"{amount(playbook.most, d_p)}; no mechanism exceeds it in the long run"),
        ("assumed", "access times reveal nothing about the place"),
    ]


def playbook_facts(playbook: Playbook) -> dict[str, object]:
    """A playbook for machines."""
    first = playbook.play(Standing.first(playbook))
    losses = {"budget": playbook.budget, "first_loss": first.loss}
    return {
        "sha256": playbook.sha256,
        "places": len(playbook.regions),
        "states": len(playbook.states),
        "step": playbook.step,
        "scenario": asdict(playbook.scenario),
        "privacy_metric": exactly_named(playbook.privacy),
        "quality_metric": exactly_named(playbook.quality),
        "tables": len(playbook.anchors),
        "cuts": len(playbook.cuts),
        **losses,
        **metres_beside(losses, playbook.quality.unit),
        "first_privacy": first.privacy,
        "prior_risk": playbook.prior_risk,
        "ceiling": playbook.most,
        "budget_holds": "after every full history, whatever accesses were missed",
        "window": playbook.window,
        "cap": playbook.cap,
        "needs_solver": False,
        "assumption": ASSUMPTION,
        "warning": HABITS,
    }


def label_rows(label: PlaybookLabel, unit: str) -> tuple[tuple[str, ...], Rows]:
    """The errors of adversaries between the two extremes: a header, and one row for what they are shown."""
    missed = "a third of the accesses missed"
    found: list[tuple[str, float]] = [
        ("nothing", label.nothing.error),
        ("every release so far (filter)", label.steady.filter),
        ("also the later ones (smoother)", label.steady.smoother),
        (f"filter, {missed}", label.missed.filter),
        (f"smoother, {missed}", label.missed.smoother),
        ("the true place", label.truth.error),
        ("no mechanism exceeds (ceiling)", label.ceiling),
    ]
    header = ("the adversary is shown", bracketed("expected error", unit_words(unit)))
    return header, [(words, shown(error, unit).in_words()) for words, error in found]


def naming_rows(label: PlaybookLabel, names: Sequence[str | None]) -> tuple[tuple[str, ...], Rows]:
    """How often the adversary names places, in percent: a header, and one row per place.

    The first places that have names, as sensitive ones come first on a map; or else the busiest.
    """
    busiest = np.argsort([-one.share for one in label.nothing.namings], kind="stable").tolist()
    header = ("place", "time", "when there", "when not", "there, a third missed", "there, shown nothing")
    rows: Rows = []
    for k in ([k for k, name in enumerate(names) if name is not None] or busiest)[:LISTED]:
        own, missed, unseen = label.steady.namings[k], label.missed.namings[k], label.nothing.namings[k]
        rates = percent(own.there), percent(own.elsewhere), percent(missed.there), percent(unseen.there)
        rows.append((names[k] or f"place {k}", percent(Estimate(unseen.share)), *rates))
    return header, rows


def two_label_rows(both: TwoLabels, playbook: Playbook, name: str) -> tuple[tuple[str, ...], Rows]:
    """What is left by the profile of a playbook, and by another one of this name: a header, and rows."""
    unit, loss_unit = playbook.privacy.unit, playbook.quality.unit
    header = ("the adversary is shown", "as the playbook says", f"by {name}")
    words = {Adversary.FILTER: "every release so far (filter)", Adversary.SMOOTHER: "also the later ones (smoother)"}
    sides = both.claimed, both.found
    rows: Rows = [
        (bracketed(told, unit_words(unit)), *(shown(side.errors[who], unit).in_words() for side in sides))
        for who, told in words.items()
    ]
    nothing = (
        bracketed("nothing", unit_words(unit)),
        *(shown(Estimate(side.nothing), unit).in_words() for side in sides),
    )
    return header, [nothing, *rows, ("expected loss", *(amount(side.loss, loss_unit) for side in sides))]


def two_label_facts(both: TwoLabels, playbook: Playbook) -> dict[str, object]:
    """Both labels for machines."""

    def facts(left: Left) -> dict[str, object]:
        told = {str(who): error for who, error in left.errors.items()} | {"quality_loss": left.loss}
        return {"nothing": left.nothing, **told, "intervals": {name: value.interval for name, value in told.items()}}

    return {
        "as_the_playbook_says": facts(both.claimed),
        "by_the_profile": facts(both.found),
        "accesses": both.accesses,
        "walks": both.walks,
        "unit": playbook.privacy.unit,
        "loss_unit": playbook.quality.unit,
        "assumption": ASSUMPTION,
    }


def percent(share: Estimate) -> str:
    """A share in percent, with half of its interval.

    >>> percent(Estimate(0.25, (0.2, 0.3))), percent(Estimate(1.0, (1.0, 1.0)))
    ('25.0 ± 5.0', '100.0')
    """
    half = (share.interval[1] - share.interval[0]) / 2
    return f"{100 * share:.1f} ± {100 * half:.1f}" if half > 0 else f"{100 * share:.1f}"


def label_sentences(label: PlaybookLabel, playbook: Playbook) -> tuple[str, ...]:
    """What else a label says, in sentences."""
    unit, budget = playbook.quality.unit, playbook.budget
    worst = max(label.steady.worst_loss, label.missed.worst_loss)
    lost = (
        f"Quality lost: {amount(label.steady.quality_loss, unit, whole=budget)} on average (by the releases that came: "
        f"{amount(label.steady.realised, unit)}); given every release so far "
        f"{amount(worst, unit)} at most, with and without missed accesses."
    )
    if playbook.window > 1:
        largest = max(label.steady.worst_window, label.missed.worst_window)
        over = over_words(playbook.window, playbook.every, playbook.step)
        lost += f" Over {any_window(over)} it was {amount(largest, unit)} on average at most."
    kept = f"Kept of the ceiling, against an adversary who remembers every release: {in_percent(label.kept)}."
    return kept, lost, ASSUMPTION


def label_facts(label: PlaybookLabel, playbook: Playbook) -> dict[str, object]:
    """A label for machines: the numbers by name, their intervals beside them."""
    return {
        **exposure_facts(label.steady, playbook),
        "kept": label.kept,
        "kept_interval": label.kept.interval,
        "prior_risk": label.nothing.error,
        "truth": label.truth.error,
        "ceiling": label.ceiling,
        "with_missed_accesses": exposure_facts(label.missed, playbook),
        "shown_nothing": naming_facts(label.nothing.namings, playbook),
        "accesses": label.accesses,
        "walks": label.walks,
        "unit": playbook.privacy.unit,
        "loss_unit": playbook.quality.unit,
        "assumption": ASSUMPTION,
    }


def label_from(facts: Mapping[str, Any]) -> PlaybookLabel:
    """The label that :func:`label_facts` tells; a ValueError, TypeError or KeyError where they are none."""
    steady, missed = (exposure_from(found) for found in (facts, facts["with_missed_accesses"]))
    return PlaybookLabel(
        steady=steady,
        missed=missed,
        nothing=Extreme(tuple(map(naming_from, facts["shown_nothing"])), float(facts["prior_risk"])),
        truth=Extreme((), float(facts["truth"])),  # with the truth, every place is named when it is one's own
        ceiling=float(facts["ceiling"]),
        kept=estimate_from(facts["kept"], facts["kept_interval"]),
        accesses=int(facts["accesses"]),
        walks=int(facts["walks"]),
    )


def exposure_from(facts: Mapping[str, Any]) -> Exposure:
    """The run that :func:`exposure_facts` tells."""
    filtered, smoothed, loss = (estimate_from(facts[name], facts["intervals"][name]) for name in ERRORS)
    realised, worst = facts.get("realised", facts["quality_loss"]), float(facts["worst_loss"])  # not told by 0.2.0
    return Exposure(
        filter=filtered,
        smoother=smoothed,
        quality_loss=loss,
        worst_loss=worst,
        worst_window=float(facts.get("worst_window", worst)),
        realised=estimate_from(realised, facts["intervals"].get("realised", facts["intervals"]["quality_loss"])),
        namings=tuple(map(naming_from, facts["namings"])),
    )


def naming_from(facts: Mapping[str, Any]) -> Naming:
    """How often a place is named, from what :func:`naming_facts` tells."""
    rates = (estimate_from(facts[name], facts[f"{name}_interval"]) for name in ("there", "elsewhere"))
    return Naming(int(facts["place"]), float(facts["share"]), *rates)


def exposure_facts(found: Exposure, playbook: Playbook) -> dict[str, object]:
    """A run for machines."""
    worst = {"worst_loss": found.worst_loss, "worst_window": found.worst_window}
    losses = {"quality_loss": found.quality_loss, "realised": found.realised, **worst}
    return {
        **{name: getattr(found, name) for name in (*ERRORS, "realised")},
        **worst,
        **metres_beside(losses, playbook.quality.unit),
        "intervals": {name: getattr(found, name).interval for name in (*ERRORS, "realised")},
        "namings": naming_facts(found.namings, playbook),
    }


def naming_facts(namings: Sequence[Naming], playbook: Playbook) -> list[dict[str, object]]:
    """How often each place is named, for machines."""
    names = place_names(playbook)
    return [
        {
            "name": names[one.place],
            **asdict(one),
            "there_interval": one.there.interval,
            "elsewhere_interval": one.elsewhere.interval,
        }
        for one in namings
    ]


def place_names(playbook: Playbook) -> list[str | None]:
    """The names of the places, None where one has none."""
    names = getattr(playbook.regions, "names", ()) or ("",) * len(playbook.regions)
    return [name or None for name in names]
