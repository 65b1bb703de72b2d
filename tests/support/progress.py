"""What solvers tell about how far they are, read back."""

from __future__ import annotations

SHOWN = 1e-5  # numbers are told with six digits


def told_bounds(what: str) -> tuple[float, float]:
    """The two bounds of a round, such as "0.1 to 0.2, round"."""
    low, high = what.removesuffix(", round").split(" to ")
    return float(low), float(high)
