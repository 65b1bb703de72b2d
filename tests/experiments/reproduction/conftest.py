"""One reproduction for all who look at it."""

from __future__ import annotations

import pytest

from hideseek import synthetic_city
from hideseek.experiments.reproduction.run import reproduce
from hideseek.experiments.user_days import CITY

BUDGETS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)


@pytest.fixture(scope="package")
def found():
    return reproduce(
        synthetic_city(people=6, days=5, seed=3),
        CITY,
        users=3,
        seed=3,
        budgets=BUDGETS,
        compared=(0.1, 0.25),
        workers=1,
    )
