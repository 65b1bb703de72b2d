"""Every mechanism on one scale: calibrated to equal loss of quality, attacked by the same adversaries, and shown."""

from hideseek.compare.run import Comparison, Row, compare

__all__ = ["Comparison", "Row", "compare"]
