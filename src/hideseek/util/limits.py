"""What this machine can do in time: problems that would not fit in memory, or take weeks, are refused beforehand."""

from __future__ import annotations

import os

import numpy as np

from hideseek.errors import SizeError

DAY, LONGEST = 86_400, 7  # seconds, and the days that anything may take
SMALL = 2**17  # numbers of an array that fits into any memory


def refuse_if_too_large(
    needed: float,
    what: str,
    way_out: str = "Use fewer places, fewer offsets in the scenario, or a lower order.",
    *,
    parameter: str,
) -> None:
    """Refuse what would take more than half of this machine's memory, before it is built.

    ``parameter`` is what a caller can make smaller; several are separated by commas.
    """
    limit = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    if needed > limit:
        # a float holds no more than 2^1024
        value, half = f"about {min(needed, 2**1000) / 2**30:.3g} GiB", f"{limit / 2**30:.3g} GiB"
        error = SizeError(f"{what} would need {value}; half of this machine's memory is {half}. {way_out}", needed)
        rule = f"small enough for {half}, half of this machine's memory"
        raise error.filled(parameter=parameter, rule=rule, value=value, hint=way_out)


def refuse_large_array(value: object, parameter: str, owner: str) -> None:
    """Refuse an array that memory could not hold as floats: a broadcast view may be far larger than what it takes.

    >>> refuse_large_array(np.broadcast_to(0.5, (10**9, 10**9)), "prior", "solve")
    Traceback (most recent call last):
    hideseek.errors.SizeError: The 'prior' parameter of solve, of the shape (1000000000, 1000000000), would need ...
    """
    if isinstance(value, np.ndarray) and value.size > SMALL:
        what = f"The '{parameter}' parameter of {owner}, of the shape {value.shape},"
        refuse_if_too_large(8 * value.size, what, "Give a smaller array.", parameter=parameter)


def refuse_if_too_long(seconds: float, what: str, way_out: str, *, parameter: str) -> None:
    """Refuse what would take longer than a week on an idle machine, before it is begun.

    Estimates are low, so that nothing is refused that somebody could wait for.

    >>> refuse_if_too_long(864_000, "A run of 7 accesses", "Ask for fewer.", parameter="accesses")
    Traceback (most recent call last):
    hideseek.errors.SizeError: A run of 7 accesses would take about 10 days or more; 7 are allowed. Ask for fewer.
    """
    if seconds > LONGEST * DAY:
        value = f"about {seconds / DAY:.3g} days or more"
        error = SizeError(f"{what} would take {value}; {LONGEST} are allowed. {way_out}", seconds)
        raise error.filled(parameter=parameter, rule=f"done within {LONGEST} days", value=value, hint=way_out)
