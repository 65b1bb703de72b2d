"""Time zones by name."""

from __future__ import annotations

import re
from datetime import timedelta, timezone, tzinfo
from functools import cache
from zoneinfo import ZoneInfo

from hideseek.errors import broken_rule

FIXED = re.compile(r"UTC([+-])(\d\d):([0-5]\d)", re.ASCII)


@cache
def named_zone(name: str, owner: str) -> tzinfo:
    """The zone of an IANA name, or the one that is so many hours ahead of UTC all year.

    >>> named_zone("UTC-03:30", "map").utcoffset(None)
    datetime.timedelta(days=-1, seconds=73800)
    """
    if (found := FIXED.fullmatch(name)) and int(found[2]) < 24:
        minutes = 60 * int(found[2]) + int(found[3])
        return fixed_zone(-minutes if found[1] == "-" else minutes)
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # no such zone, no name of one, and the name of a folder
        rule = 'the IANA name of a time zone, such as "Europe/Zurich", or hours ahead of UTC, such as "UTC+01:00"'
        raise broken_rule("timezone", owner, rule, repr(name)) from None


def fixed_zone(minutes: int) -> timezone:
    """The zone that is so many minutes ahead of UTC all year."""
    hours, rest = divmod(abs(minutes), 60)
    return timezone(timedelta(minutes=minutes), f"UTC{'-' if minutes < 0 else '+'}{hours:02}:{rest:02}")
