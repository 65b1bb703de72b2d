"""The paper's evaluation, made again: its three results, its findings checked, and the pages that show them."""

from hideseek.days import BAY, CITY, PACIFIC
from hideseek.reproduce.findings import Finding, Reproduction
from hideseek.reproduce.numbers import Optimum
from hideseek.reproduce.robustness import robustness
from hideseek.reproduce.run import reproduce

__all__ = ["BAY", "CITY", "PACIFIC", "Finding", "Optimum", "Reproduction", "reproduce", "robustness"]
