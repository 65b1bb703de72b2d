"""Lengths of time: how long a step is."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from hideseek.errors import broken_rule

if TYPE_CHECKING:
    from fractions import Fraction

NANOSECONDS = {
    "W": 604_800 * 10**9,
    "D": 86_400 * 10**9,
    "h": 3_600 * 10**9,
    "min": 60 * 10**9,
    "s": 10**9,
    "ms": 10**6,
    "us": 10**3,
    "ns": 1,
}
SPELLINGS = {
    "W": "w",
    "D": "d day days",
    "h": "h hr hour hours",
    "min": "m min minute minutes",
    "s": "s sec second seconds",
    "ms": "ms milli millis millisecond milliseconds",
    "us": "us µs micro micros microsecond microseconds",
    "ns": "ns nano nanos nanosecond nanoseconds",
}
UNITS = {word: NANOSECONDS[unit] for unit, words in SPELLINGS.items() for word in words.split()}
MONTH = "M"  # might be meant, and has no length
LONGEST = 256  # characters; files hold 64 at most
LARGEST = 2**63  # nanoseconds: what pandas counts in, which wrote the files

PART = re.compile(r"(?P<number>\d+(?:\.\d*)?) *(?P<unit>[a-zµ]+)[ ,+]*", re.ASCII | re.IGNORECASE)
CLOCK = re.compile(r"(?P<hours>\d+):(?P<minutes>\d+):(?P<seconds>\d+(?:\.\d+)?)", re.ASCII)
ISO = re.compile(
    r"P(?=\d|T\d)(?:(?P<W>\d+)W)?(?:(?P<D>\d+)D)?"
    r"(?:T(?:(?P<h>\d+)H)?(?:(?P<min>\d+)M)?(?:(?P<s>\d+(?:\.\d+)?)S)?)?",
    re.ASCII,
)


def checked_step(step: str | timedelta, owner: str) -> timedelta:
    """A length of time of a microsecond or more.

    Parameters
    ----------
    step : str or datetime.timedelta
        Numbers with units ("5min", "1h30min", "1.5 hours"), days and a clock ("0 days 00:05:00"), an ISO 8601
        duration ("PT5M"), or a bare number of nanoseconds: as pandas reads and writes them.
    owner : str
        The function whose parameter it is, for error messages.

    Returns
    -------
    datetime.timedelta
        The length, to the microsecond.

    Raises
    ------
    ParameterError
        Where it is no length of time, or shorter than a microsecond, or longer than 292 years.

    Examples
    --------
    >>> checked_step("1h30min", "fit"), checked_step("0 days 00:05:00", "fit")
    (datetime.timedelta(seconds=5400), datetime.timedelta(seconds=300))
    """
    rule = 'a length of time of a microsecond or more, such as "5min"'
    if isinstance(step, timedelta) and step == step:  # pandas' NaT is not equal to itself
        length: Fraction | int = (
            timedelta(step.days, step.seconds, step.microseconds) // timedelta(microseconds=1) * 1000
        )
    elif isinstance(step, str) and len(step) <= LONGEST:
        length = nanoseconds(step) or 0
    else:
        raise broken_rule("step", owner, rule, repr(step))
    if not NANOSECONDS["us"] <= length < LARGEST:
        raise broken_rule("step", owner, rule, repr(step))
    return timedelta(microseconds=float(length / 1000))


def nanoseconds(text: str) -> Fraction | None:
    """The nanoseconds that a text stands for, None where it is no length of time."""
    from fractions import Fraction  # here, so that a device starts without it

    iso = ISO.fullmatch(text)
    if iso:
        return sum((Fraction(number) * NANOSECONDS[unit] for unit, number in iso.groupdict("0").items()), Fraction(0))
    text = text.strip(" ,+")
    if text.isascii() and text.isdigit():
        return Fraction(text)
    total, at = Fraction(0), 0
    while part := PART.match(text, at):
        if part["unit"] == MONTH or part["unit"].lower() not in UNITS:
            return None
        total += Fraction(part["number"]) * UNITS[part["unit"].lower()]
        at = part.end()
    if clock := CLOCK.fullmatch(text, at):
        minutes = 60 * Fraction(clock["hours"]) + Fraction(clock["minutes"])
        return total + minutes * NANOSECONDS["min"] + Fraction(clock["seconds"]) * NANOSECONDS["s"]
    return total if text and at == len(text) else None


def in_words(length: timedelta) -> str:
    """A length in the largest of days, hours and minutes that it fills, in three digits.

    >>> in_words(timedelta(days=1)), in_words(timedelta(hours=36)), in_words(timedelta(minutes=5))
    ('1 day', '1.5 days', '5 minutes')
    """
    hours = length / timedelta(hours=1)
    number, unit = (hours / 24, "day") if hours >= 24 else (hours, "hour") if hours >= 1 else (60 * hours, "minute")
    return f"{number:.3g} {unit}{'s' * (number != 1)}"


def written_step(length: timedelta) -> str:
    """A length as files hold it.

    >>> written_step(timedelta(minutes=5)), written_step(timedelta(days=1, microseconds=500))
    ('0 days 00:05:00', '1 days 00:00:00.000500')
    """
    clock = timedelta(seconds=length.seconds, microseconds=length.microseconds)
    return f"{length.days} days {str(clock).zfill(15 if clock.microseconds else 8)}"
