"""What a protection achieved, in sentences and tables, and for machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hideseek.adversary.naming import Naming
from hideseek.adversary.person_label import PersonLabel, PlaceLabel
from hideseek.experiments.report import Table
from hideseek.experiments.wording import any_window, budget_words, in_percent, over_words
from hideseek.metrics.sensitive_places import weights_of
from hideseek.model.account import Account
from hideseek.planning.simulation import FOR_WHOM, ON_AVERAGE
from hideseek.util.display import counted
from hideseek.util.estimates import Estimate
from hideseek.util.units import amount, is_square, metres_beside

if TYPE_CHECKING:
    from hideseek.experiments.protection import Protection

REMEMBERS = "an adversary who knows your habits and remembers every release"


def whole_percent(share: float) -> str:
    """A share for people.

    >>> whole_percent(0.123), whole_percent(0.004), whole_percent(0.0)
    ('12 %', '< 1 %', '0 %')
    """
    return "< 1 %" if 0 < share < 0.005 else f"{100 * share:.0f} %"


def metres(value: float, unit: str) -> str:
    """An error for people, with half of its interval.

    >>> metres(Estimate(171.4, (159.2, 183.6)), "m"), metres(0.0, "m")
    ('171 m (± 12)', '0 m')
    """
    found = Estimate.exactly(value)
    chance = "" if found.exact else f" (± {(found.interval[1] - found.interval[0]) / 2:,.0f})"
    return f"{value:,.0f} {unit}{chance}"


def place_sentence(place: PlaceLabel) -> str:
    """How often a place is named while the person is there."""
    rates = [whole_percent(one.there) for one in (place.protected, place.truth, place.nothing)]
    said = f"When you are at {place.name}, {REMEMBERS} says so {rates[0]} of the time"
    return f"{said} (with the true place {rates[1]}, with nothing {rates[2]})."


def sentences(made: Protection, folder: str | Path) -> list[str]:
    """What was achieved and what to do next, in five sentences."""
    label, places = made.label, made.profile.places
    folder = Path(folder)
    told = amount(label.budget, label.loss_unit)
    error, nothing, truth = (metres(value, label.unit) for value in (label.error, label.nothing, label.truth))
    share, kept = whole_percent(share_of(label.error, label)), whole_percent(label.kept)
    most = "what any mechanism can reach" + ", with sensitive places counting for more" * weighted(made)
    book, report = folder / "me.playbook", folder / "report.html"
    app = f"An app that asks where you are is told one of your {places} places: at most {told} away on average,"
    if label.window > 1:
        over = over_words(label.window, made.game.every, made.profile.step)
        many, worst = (at_most_words(one, label.loss_unit) for one in (made.game.account.any_window, label.worst_loss))
        app += f" and over {any_window(over)} at most {many} (a single answer on the walks: {worst} at most),"
    use = f"hideseek expose {book} --state {folder / 'me.state'}"
    return [
        f"{app} whatever it was told before.",
        place_sentence(label.places[0]),
        f"On average that adversary is wrong by {error}; with nothing exposed by {nothing}, with the truth by {truth}.",
        f"That is {share} of what nothing exposed would leave, and {kept} of {most} (the ceiling).",
        f"Open {report}, give {book} to your device ({use}), and run protect again when you have new data.",
    ]


def budget_sentence(label: PersonLabel) -> str:
    """Over what the budget of a label holds."""
    told = f"The budget, {amount(label.budget, label.loss_unit)}, holds"
    if label.window == 1:
        return f"{told} at every answer, whatever was told before."
    account = Account(label.budget, label.window, label.cap)
    many, one = (at_most_words(most, label.loss_unit) for most in (account.any_window, account.largest))
    return f"{told} on average: over any {label.window} answers in a row at most {many} are lost, by one at most {one}."


def at_most_words(most: float, unit: str) -> str:
    """The most that is lost, for people: in whole metres, rounded up.

    >>> at_most_words(499130.7, "m²"), at_most_words(0.25, "")
    ('707 m (root mean square)', '0.25')
    """
    return amount(np.ceil(np.sqrt(most)) ** 2 if is_square(unit) else most, unit)


def weighted(made: Protection) -> bool:
    """Whether errors at some places count for more."""
    return bool(weights_of(made.game.privacy))


def naming_table(label: PersonLabel) -> Table:
    """For every place, how often it is named while the person is there / while the person is elsewhere."""
    rows = tuple(
        (
            f"{place.name} (sensitive)" if place.sensitive else place.name,
            whole_percent(place.nothing.share),
            *(
                f"{in_whole_percent(one.there)} / {in_whole_percent(one.elsewhere)}"
                for one in (place.nothing, place.protected, place.truth)
            ),
        )
        for place in label.places
    )
    return Table(("named there / elsewhere", "you are there", "nothing exposed", "protected", "truth exposed"), rows)


def in_whole_percent(share: Estimate) -> str:
    """A share with its interval; to a percent where that is wide.

    >>> in_whole_percent(Estimate(0.25, (0.2, 0.3))), in_whole_percent(Estimate(1.0))
    ('25 % (20 to 30)', '100 %')
    >>> in_whole_percent(Estimate(0.004, (0.003, 0.005)))
    '< 1 %'
    """
    low, high = (f"{100 * end:.0f}" for end in share.interval)
    return whole_percent(share) if low == high else f"{whole_percent(share)} ({low} to {high})"


def error_table(label: PersonLabel) -> Table:
    """The adversary's expected error between its two extremes."""
    rows = (("the true place", label.truth), ("protected places", label.error), ("nothing", label.nothing))
    told = tuple((what, metres(error, label.unit), whole_percent(share_of(error, label))) for what, error in rows)
    return Table(("what is exposed", "the adversary's expected error", "of that with nothing exposed"), told)


def share_of(error: float, label: PersonLabel) -> float:
    """An error as a share of that with nothing exposed."""
    return error / label.nothing if label.nothing else 1.0


def expert_table(made: Protection) -> Table:
    """What experts want to know."""
    label = made.label
    over: tuple[tuple[str, str], ...] = ()
    tables = f", {counted(len(made.playbook.anchors), 'table')}" if len(made.playbook.anchors) else ""
    if label.window > 1:
        length = over_words(label.window, made.game.every, made.profile.step)
        over = (
            (
                f"largest expected loss over {any_window(length)}, on average",
                amount(label.worst_window, label.loss_unit),
            ),
        )
    rows = (
        ("what the plan maximises, reached", amount(label.weighted, label.weighted_unit)),
        (
            "ceiling: no mechanism that keeps the budget on average exceeds it",
            amount(label.ceiling, label.weighted_unit),
        ),
        ("kept of the ceiling", in_percent(label.kept)),
        ("bound of the cuts, in the long run", amount(label.bound, label.weighted_unit)),
        ("an adversary who reads all releases later (smoother)", amount(label.smoother, label.unit)),
        budget_words(made.playbook, made.profile.step, label.loss_unit),
        ("expected loss on average", amount(label.quality_loss, label.loss_unit, whole=label.budget)),
        ("loss of the releases that came, on average", amount(label.realised, label.loss_unit)),
        ("largest expected loss at an access", amount(label.worst_loss, label.loss_unit)),
        *over,
        ("size of the playbook", f"{len(made.playbook.content) / 1000:,.0f} kB{tables}"),
        ("simulated", f"{label.walks} walks of {label.accesses} accesses"),
    )
    return Table(("", ""), rows)


ESTIMATES = ("error", "told", "smoother", "weighted", "kept", "quality_loss", "realised")
EXACT = (
    *("nothing", "truth", "unit", "weighted_unit", "ceiling", "bound"),
    *("worst_loss", "worst_window", "budget", "loss_unit"),
)
WAYS = ("nothing", "protected", "truth")  # what is exposed


def protection_document(made: Protection) -> dict[str, object]:
    """A protection for machines: the label, those of the drafts at other budgets, and for which playbook."""
    return {
        "hideseek_protection": 1,
        "user": made.user,
        "playbook": made.playbook.sha256,
        "label": person_facts(made.label),
        "drafts_at_other_budgets": [person_facts(label) for label in made.others],
    }


def person_facts(label: PersonLabel) -> dict[str, object]:
    """A label for machines."""
    losses = {
        name: getattr(label, name) for name in ("budget", "quality_loss", "realised", "worst_loss", "worst_window")
    }
    return {
        "places": [place_facts(place) for place in label.places],
        **{name: float(getattr(label, name)) for name in ESTIMATES},
        "intervals": {name: getattr(label, name).interval for name in ESTIMATES},
        **{name: getattr(label, name) for name in (*EXACT, "accesses", "walks", "window", "cap")},
        **metres_beside(losses, label.loss_unit),
        "share_of_nothing": share_of(label.error, label),
        "bound_holds_for": FOR_WHOM if label.window == 1 else ON_AVERAGE,
    }


def label_from(facts: Mapping[str, Any]) -> PersonLabel:
    """The label that :func:`person_facts` tells; a ValueError, TypeError or KeyError where they are none."""
    if "window" not in facts:  # written by 0.2.0, where the budget held at every access
        older = {"realised": facts["quality_loss"], "worst_window": facts["worst_loss"], "window": 1, "cap": None}
        facts = {**facts, **older}
        facts["intervals"] = {**facts["intervals"], "realised": facts["intervals"]["quality_loss"]}
    intervals = facts["intervals"]
    given: dict[str, Any] = {name: estimate_from(facts[name], intervals[name]) for name in ESTIMATES}
    given |= {name: str(facts[name]) if name.endswith("unit") else float(facts[name]) for name in EXACT}
    places = tuple(
        PlaceLabel(
            str(place["name"]),
            bool(place["sensitive"]),
            **{way: naming_from(place[way], int(place["place"])) for way in WAYS},
        )
        for place in facts["places"]
    )
    given |= {name: int(facts[name]) for name in ("accesses", "walks", "window")}
    given["cap"] = None if facts["cap"] is None else float(facts["cap"])
    return PersonLabel(places, **given)


def naming_from(facts: Mapping[str, Any], place: int) -> Naming:
    """How often a place is named, from what :func:`rate_facts` tells."""
    there, elsewhere = (estimate_from(facts[name], facts.get(f"{name}_interval")) for name in ("there", "elsewhere"))
    return Naming(place, float(facts["share"]), there, elsewhere)


def estimate_from(value: float, interval: Sequence[float] | None) -> Estimate:
    """A number with its interval, which an exact one does not have.

    >>> estimate_from(0.25, [0.2, 0.3]).in_words(), estimate_from(1, None).in_words()
    ('0.25 ± 0.05', '1')
    """
    return Estimate(float(value), None if interval is None else (float(interval[0]), float(interval[1])))


def place_facts(place: PlaceLabel) -> dict[str, object]:
    """A place of a label for machines."""
    about = {"name": place.name, "place": place.nothing.place, "sensitive": place.sensitive}
    return {**about, "share": place.nothing.share, **{way: rate_facts(getattr(place, way)) for way in WAYS}}


def rate_facts(one: Naming) -> dict[str, object]:
    """How often a place is named, for machines."""
    rates = {name: getattr(one, name) for name in ("there", "elsewhere")}
    return {
        "share": one.share,
        **rates,
        **{f"{name}_interval": rate.interval for name, rate in rates.items() if not rate.exact},
    }
