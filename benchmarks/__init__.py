"""Measurements against peers, in ratios: ``make bench``."""
