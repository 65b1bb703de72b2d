"""Everybody in a data set at once: the same job for every user, on this machine or on a cluster."""

from hideseek.fleet.job import Job
from hideseek.fleet.run import Fleet, fleet

__all__ = ["Fleet", "Job", "fleet"]
