"""The page of a protection: a day, other budgets, what it is worth to a person and to experts, and what is proved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hideseek.adversary.label import ASSUMPTION
from hideseek.experiments.day_map import day_map
from hideseek.experiments.exposed_day import DRAWS, ExposedDay
from hideseek.experiments.protection_slider import slider_of
from hideseek.experiments.protection_words import (
    REMEMBERS,
    error_table,
    expert_table,
    metres,
    naming_table,
    place_sentence,
    weighted,
    whole_percent,
)
from hideseek.experiments.report import Section, html_report
from hideseek.experiments.wording import over_words
from hideseek.model.profile import regions_of
from hideseek.planning.simulation import for_whom
from hideseek.util.units import amount

if TYPE_CHECKING:
    from hideseek.experiments.protection import Protection

TITLE = "What your location reveals, and what it does not"


def page_of(made: Protection) -> str:
    """The whole page."""
    label = made.label
    budget, error = amount(label.budget, label.loss_unit), metres(label.error, label.unit)
    lead = (
        f"Apps that ask where you are get an answer that is {budget} off, or less, on average. The answers keep "
        f"{REMEMBERS} wrong by {error} on average. This page reveals where you go: keep it private."
    )
    return html_report(
        TITLE, lead, [day_section(made), *budget_sections(made), *people_sections(made), *expert_sections(made)]
    )


def day_section(made: Protection) -> Section:
    """A day on the map."""
    day, places = made.day, {one.nothing.place: one for one in made.label.places}
    right, told = (float((places == day.true).mean()) for places in (day.guess, day.exposed))
    return Section(
        f"A day: {day.date}",
        f"The app asked {len(day.true)} times, at regular times. {unrecorded(day)}It was told the true place "
        f"{whole_percent(told)} of the time, and the adversary's best guess was the true place "
        f"{whole_percent(right)} of the time. The device draws at random: of {DRAWS} draws of this day, the one in the "
        "middle is shown, by how often the adversary is right. Move the slider to follow the day.",
        markup=day_map(
            day,
            regions_of(made.profile),
            {place: one.name for place, one in places.items()},
            [place for place, one in places.items() if one.sensitive],
        ),
    )


def unrecorded(day: ExposedDay) -> str:
    """What is not known of a day."""
    known = float(day.recorded.mean())
    if known == 1:
        return ""
    return f"Your traces say where you were at {whole_percent(known)} of them; at the others you count as not moved. "


def budget_sections(made: Protection) -> list[Section]:
    """What other budgets would leave; none where there are none between the truth and nothing."""
    if not made.others:
        return []
    slider, table = slider_of(made.label, made.others)
    return [
        Section(
            "What another budget would leave",
            "A larger budget hides more, and the answers are further from the truth. Every number is simulated with a "
            "mechanism that was made for its budget, and thin lines and numbers in brackets are 95 % confidence "
            "intervals. Other budgets than yours are quick drafts, attacked on fewer walks: a full run of protect for "
            "one of them has its own numbers. With nothing exposed the adversary is wrong by "
            f"{metres(made.label.nothing, made.label.unit)}, where the bar ends.",
            table=table,
            markup=slider,
        )
    ]


def people_sections(made: Protection) -> list[Section]:
    """The label for people: by place, then in metres."""
    label = made.label
    told = [place for place in label.places if place.sensitive] or label.places[:1]
    return [
        Section(
            "How often the adversary names your places",
            f"{' '.join(place_sentence(place) for place in told)} Each cell says how often a place is named while you "
            "are there, and while you are elsewhere. With nothing exposed the adversary still knows your habits, and "
            "always says the same place. Numbers in brackets are 95 % confidence intervals.",
            table=naming_table(label),
        ),
        Section(
            "How far off the adversary is",
            "On average over all accesses, if the adversary guesses so as to be wrong by the fewest metres. With "
            "nothing exposed, or after a long silence, only your habits are known; no protection leaves more.",
            table=error_table(label),
        ),
    ]


def kept_sentence(made: Protection) -> str:
    """When the budget holds."""
    if made.label.window == 1:
        return "The expected loss stays within the budget given every release so far, after any gap."
    over = over_words(made.label.window, made.game.every, made.profile.step)
    return (
        f"What an answer loses less than the budget is saved up, for {over} at most, and no answer loses more than is "
        "there: so the expected losses of all answers so far sum up to at most their budgets and half of those of "
        "such a window, given every release so far and after any gap."
    )


def expert_sections(made: Protection) -> list[Section]:
    """Numbers for experts, and what is proved."""
    counting = (
        "Errors at sensitive places count for more: what the plan maximises, the ceiling and the bound are in metres "
        "times weights. "
    )
    return [
        Section(
            "For experts",
            f"{counting * weighted(made)}The error that is reached was simulated with an access "
            "at every step, from the first one on; it is exact given what was released before each access.",
            table=expert_table(made),
        ),
        Section(
            "What is proved",
            f"{kept_sentence(made)} The device works the expected loss out at every access, and the adversary's "
            "expected error too. The ceiling and the bound are "
            f"certified without trusting the solver. {for_whom(made.playbook)} {ASSUMPTION} All averages are over days "
            "that follow the habits in the profile, where a move depends on the current place alone. Your days are not "
            "quite like that, so what they lose and leave differs, as the day above does.",
        ),
    ]
