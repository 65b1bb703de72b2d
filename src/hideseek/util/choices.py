"""Names that people choose from, apart from the code that acts on them: the help of the command line needs no more."""

from __future__ import annotations

from enum import StrEnum

ACCESS = "access"  # over which a budget holds, if not over a length of time
HISTORIES = "histories"  # over which that of a codebook may: on average over what was exposed before an access
DAY = "1 day"  # the window of a budget that stands beside those at every access
OVER = DAY  # over which the budget of a playbook holds that is made for a person or a fleet


class MetricName(StrEnum):
    """How to measure an error or a loss: whether places differ; in metres; in square metres."""

    HAMMING = "hamming"
    EUCLID = "euclid"
    SQUARED = "squared"


class Protect(StrEnum):
    """What to protect."""

    PLACE = "place"  # where the person is at this access
    WAY = "way"  # this place and those on the way: of the accesses that the adversary remembers
    NEXT = "next"  # this place and the next one
    BETWEEN = "between"  # this place, that of the access before, and those between the two


class Against(StrEnum):
    """When the adversary of a planner guesses a place."""

    FILTER = "filter"  # at the access, from the releases so far
    SMOOTHER = "smoother"  # some steps later, from the releases since then too; where the budget is one of every access
    LOG = "log"  # when all has been released; where the budget holds over a window
    BOTH = "both"  # at the access, and again when all has been released; where the budget holds over a window


class Outlook(StrEnum):
    """How far a planner looks ahead."""

    PLAIN = "plain"  # not at all: the optimum that the solver ends at
    SECONDARY = "secondary"  # among the optima of now, the one that leaves most to guess about the next target
    LOOK_AHEAD = "look-ahead"  # this access and the next one
    FAR_SIGHTED = "far-sighted"  # this access and all later ones, discounted


class Mode(StrEnum):
    """What a planner may give up."""

    LEXICOGRAPHIC = "lexicographic"  # none of the privacy of now: it only chooses among the optima
    TRADE_OFF = "trade-off"  # privacy now for more of it later


class Model(StrEnum):
    """How a person's next place depends on the past and the time."""

    FIRST_ORDER = "first-order"  # on the place before it
    SECOND_ORDER = "second-order"  # on the two places before it
    CLOCK = "clock"  # on the place before it, and the time of day
    CALENDAR = "calendar"  # on the place before it, and the time of day on weekdays and at weekends
    AUTO = "auto"  # whichever of these foretells days best that it was not learned from
