"""Labels, planners and metrics in the words of a report or a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from hideseek.adversary.label import ROUNDING, Label
from hideseek.experiments.report import Table
from hideseek.metrics.metric import Metric
from hideseek.metrics.sensitive_places import weights_of
from hideseek.model.belief_chain import BeliefChain
from hideseek.model.regions import Regions
from hideseek.planning.simulation import Foresight
from hideseek.playbook.playbook import Measure
from hideseek.util.choices import ACCESS, Outlook
from hideseek.util.display import bracketed
from hideseek.util.estimates import Estimate
from hideseek.util.time_steps import checked_step, in_words
from hideseek.util.units import ROOT, amount, is_square, shown, unit_words


def named(metric: Metric | Measure) -> str:
    """A metric with the unit that people are shown its numbers in.

    >>> from hideseek.metrics import Metric
    >>> named(Metric("total squared distance", "m²", between=lambda left, right, seen: left))
    'root mean square distance, m'
    """
    if is_square(metric.unit):
        return f"{metric.name.removeprefix('total ').replace('squared', ROOT)}, {metric.unit.removesuffix('²')}"
    return f"{metric.name}, {metric.unit}" if metric.unit else metric.name


def exactly_named(metric: Metric | Measure) -> str:
    """A metric with the unit of its exact numbers, for machines."""
    return f"{metric.name}, {metric.unit}" if metric.unit else metric.name


def over_words(window: int, every: int, step: str) -> str:
    """How long a window of so many accesses is.

    >>> over_words(288, 1, "0 days 00:05:00"), over_words(18, 1, "5min"), over_words(7, 2, "1h")
    ('1 day', '1.5 hours', '14 hours')
    """
    return in_words(window * every * checked_step(step, "over_words"))


def any_window(over: str) -> str:
    """Any window that is so long: it is a number of answers, which take longer where an app asks less often.

    >>> any_window("1 day")
    'as many answers in a row as an app may ask for in 1 day'
    """
    return f"as many answers in a row as an app may ask for in {over}"


def budget_words(chain: BeliefChain, step: str, unit: str) -> tuple[str, str]:
    """Which budget it is, and what it promises."""
    budget = amount(chain.budget, unit)
    if chain.window == 1:
        return "budget per access", f"{budget}, kept after every full history"
    over = over_words(chain.window, chain.every, step)
    most = amount(chain.account.any_window, unit)
    cap = "" if chain.cap is None else f"; at most {chain.cap:g} budgets at an access"
    return (
        f"budget over {over}",
        f"{budget} on average, and over {any_window(over)} at most {most}, after every history{cap}",
    )


def sensitive_words(metric: Metric, regions: Regions | None) -> str:
    """Which places are sensitive, and by how much errors about them count for more; nothing where none are.

    >>> from hideseek.metrics import hamming, sensitive
    >>> sensitive_words(sensitive(hamming(), {1: 5, 4: 2}), None)
    'place 1 (weight 5), place 4 (weight 2); errors are weighted, and no plain probabilities or metres'
    """
    names = getattr(regions, "names", ())
    told = [
        f"{names[place] if place < len(names) and names[place] else f'place {place}'} (weight {weight:g})"
        for place, weight in weights_of(metric).items()
    ]
    return f"{', '.join(told)}; errors are weighted, and no plain probabilities or metres" if told else ""


def in_percent(share: Estimate) -> str:
    """A share with its interval.

    >>> in_percent(Estimate(0.25, (0.2, 0.3)))
    '25.0 % (20.0 % to 30.0 %)'
    """
    low, high = share.interval
    return f"{100 * share:.1f} %" if share.exact else f"{100 * share:.1f} % ({100 * low:.1f} % to {100 * high:.1f} %)"


def loss_words(label: Label, budget: float, unit: str, over: str = ACCESS) -> str:
    """What a codebook loses, on average, given what it remembers, and given every release so far."""
    limited = label.worst_loss if over == ACCESS else label.quality_loss
    kept = "within the budget" if limited <= budget * (1 + ROUNDING) else "ABOVE THE BUDGET"
    average = f"{amount(label.quality_loss, unit, whole=budget)} on average"
    remembered = f"given the releases that the codebook remembers {amount(label.worst_loss, unit)} at most"
    if over == ACCESS:
        found = f"{average}; {remembered}, {kept}"
    else:
        found = f"{average} over what was exposed before, {kept}; {remembered}, which the budget does not limit"
    return (
        f"Quality lost: {found}. Given every release so far the expected "
        f"loss exceeds the budget at {in_percent(label.over_budget)} of the accesses; the largest found is "
        f"{amount(label.worst_loss_given_all, unit)}."
    )


def label_table(label: Label, unit: str) -> Table:
    """A label in words: what each adversary knows, the expected error with half of its interval, the hit rate."""
    rows: list[tuple[str, Estimate | float | None]] = [
        ("no release", label.prior_risk),
        ("the releases of the window", label.window),
        ("every release so far (filter)", label.filter),
        ("also the later ones (smoother)", label.smoother),
        ("the same, as one path (Viterbi)", label.viterbi),
        ("so far, about the next (predictor)", label.predictor),
        ("all, about places in between", label.in_between),
        ("no mechanism exceeds (ceiling)", label.ceiling),
    ]
    found = [(words, shown(value, unit)) for words, value in rows if value is not None]
    return Table(
        ("the adversary knows", bracketed("expected error", unit_words(unit)), "exactly right"),
        tuple(
            (words, value.in_words(), "" if value.hit_rate is None else f"{value.hit_rate:.1%}")
            for words, value in found
        ),
    )


def foresight_table(found: Mapping[Outlook, Foresight], unit: str) -> Table:
    """Planners of one game: what each reaches by simulation, and what none exceeds by their cuts, of the ceiling."""
    bound = min(one.bound for one in found.values())
    headings = (bracketed(name, unit_words(unit)) for name in ("filter", "smoother"))
    return Table(
        ("planner", *headings, "kept of the ceiling", "95 % interval", "at most"),
        tuple(
            (
                str(outlook),
                f"{shown(one.filter, unit):.4g}",
                "" if one.smoother is None else f"{shown(one.smoother, unit):.4g}",
                f"{one.kept:.1%}",
                f"{one.kept.interval[0]:.1%} to {one.kept.interval[1]:.1%}",
                f"{bound / one.ceiling:.1%}",
            )
            for outlook, one in found.items()
        ),
    )
