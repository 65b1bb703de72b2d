"""Lengths in words: 500m, 2km."""

from __future__ import annotations

import re

from hideseek.errors import broken_rule
from hideseek.util.checks import scalar

LENGTH = re.compile(r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?) *(?P<kilo>k?)m", re.ASCII | re.IGNORECASE)
RULE = "a length such as 500m or 2km"
NUMBER = f"{RULE}, or a number of metres, finite and >= 0"


def metres(length: float | str, parameter: str, owner: str) -> float:
    """A length in metres; text says its unit.

    >>> metres("500m", "cell", "learn"), metres("0.5 km", "cell", "learn"), metres(200, "cell", "learn")
    (500.0, 500.0, 200.0)
    """
    if not isinstance(length, str):
        return scalar(length, parameter, owner, NUMBER)
    found = LENGTH.fullmatch(length.strip())
    if found is None:
        raise broken_rule(parameter, owner, RULE, repr(length))
    return scalar(float(found["number"]) * (1000 if found["kilo"] else 1), parameter, owner, RULE)
