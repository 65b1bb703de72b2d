"""A small city and a job for all who live there."""

from __future__ import annotations

from hideseek import synthetic_city
from hideseek.fleet import Job

CITY = synthetic_city(people=4, days=1, seed=2)
JOB = Job(grid=(1, 2), privacy=("hamming",))
