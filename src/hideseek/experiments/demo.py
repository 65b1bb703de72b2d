"""A synthetic person for the demo: two weeks of fixes, and a place that the person would rather not have known."""

from __future__ import annotations

import pandas as pd

from hideseek.metrics.sensitive_places import SensitivePlace
from hideseek.traces.city import city_people, synthetic_city

DAYS = 14
BUDGET = "700m"


def demo_person(seed: int = 0) -> tuple[pd.DataFrame, SensitivePlace]:
    """The fixes of a person, and the favourite place of their free time, which is taken to be a clinic.

    >>> traces, clinic = demo_person()
    >>> traces["user_id"].nunique(), clinic
    (1, SensitivePlace('clinic', weight=5, radius=200 m))
    """
    [person] = city_people(1, seed=seed)
    favourite = person.leisure[0]
    clinic = SensitivePlace("clinic", favourite.latitude, favourite.longitude)
    return synthetic_city(people=1, days=DAYS, seed=seed), clinic
