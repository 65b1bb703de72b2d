"""The time zone of a person: which hours are nights, and which are at work."""

from __future__ import annotations

from datetime import timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from hideseek.errors import broken_rule

HOUR = 15  # degrees of longitude that the sun passes in one


def local_zone(traces: pd.DataFrame, timezone: str | None = None) -> tuple[tzinfo, str]:
    """The time zone of a person, and how it is known, in words.

    Parameters
    ----------
    traces : pandas.DataFrame
        As :func:`hideseek.read_traces` gives them.
    timezone : str, optional
        An IANA name, such as "Europe/Zurich"; by default the offset that most times of the data had, and where they
        had none, the zone of the mean longitude, 15 degrees per hour.

    Returns
    -------
    tuple of datetime.tzinfo and str
        The zone, and where it is from.

    Raises
    ------
    ParameterError
        If there is no zone of this name.

    Examples
    --------
    >>> from hideseek.traces.city import synthetic_city
    >>> local_zone(synthetic_city(people=1, days=1).assign(longitude=-122.4))[1]
    'UTC-08:00, from the mean longitude'
    >>> local_zone(synthetic_city(people=1, days=1), "Asia/Kathmandu")[1]
    'Asia/Kathmandu, as given'
    """
    if timezone is not None:
        return named_zone(timezone), f"{timezone}, as given"
    minutes = getattr(traces.attrs.get("report"), "utc_offset", None)
    if minutes is not None:
        zone = offset_zone(minutes)
        return zone, f"{zone}, the most frequent offset in the data"
    # the mean of directions, since the degrees jump at the date line
    angles = np.deg2rad(traces["longitude"].to_numpy(dtype=float))
    degrees = np.rad2deg(np.arctan2(np.sin(angles).mean(), np.cos(angles).mean()))
    zone = offset_zone(60 * round(float(degrees) / HOUR))
    return zone, f"{zone}, from the mean longitude"


def named_zone(name: str) -> tzinfo:
    """The zone of an IANA name."""
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError, TypeError):
        rule = "the IANA name of a time zone, such as Europe/Zurich"
        raise broken_rule("timezone", "local_zone", rule, repr(name)) from None


def offset_zone(minutes: int) -> tzinfo:
    """The zone so many minutes ahead of UTC."""
    return timezone(timedelta(minutes=minutes))
