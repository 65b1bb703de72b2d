"""The clock that a person lives by, which the hours of home and work are read from."""

from __future__ import annotations

from datetime import tzinfo

import numpy as np
import pandas as pd

from hideseek.traces.table import check_traces
from hideseek.util.arrays import BoolArray, FloatArray
from hideseek.util.boundary import checked
from hideseek.util.zones import fixed_zone, named_zone

DEGREES_PER_HOUR = 15
# Hours between a clock and the sun. No people live by a clock that is more than 3.5 of them wrong: western China is at
# 3.1, western Alaska in summer at 3.2
WRONG, RIGHT = 5, 2


@checked
def local_zone(traces: pd.DataFrame, timezone: str | None = None) -> tuple[tzinfo, str]:
    """The time zone of traces, and how it is known.

    Parameters
    ----------
    traces : pandas.DataFrame
        The fixes of a person, as :func:`hideseek.read_traces` gives them.
    timezone : str, optional
        An IANA name, such as "Europe/Zurich"; by default the offset that most times of the data had, else the one of
        the mean longitude.

    Returns
    -------
    tuple of (datetime.tzinfo, str)
        The zone, and a sentence that says which it is and why.

    Raises
    ------
    ParameterError
        Where there is no zone of this name.

    Examples
    --------
    >>> from hideseek.traces.city import synthetic_city
    >>> local_zone(synthetic_city(people=1, days=1), "Europe/Zurich")[1]
    'The time zone is Europe/Zurich, as given.'
    >>> local_zone(synthetic_city(people=1, days=1))[1]
    'The time zone is taken to be UTC+00:00, from the longitude.'
    """
    if timezone is not None:
        return named_zone(timezone, "local_zone"), f"The time zone is {timezone}, as given."
    table = check_traces(traces, "local_zone")
    minutes = getattr(table.attrs.get("report"), "utc_offset", None)
    if minutes is not None:
        zone = fixed_zone(minutes)
        return zone, f"The time zone is {zone}, as most times of the data have it."
    turn = np.radians(table["longitude"].to_numpy())
    mean = np.degrees(np.arctan2(np.sin(turn).mean(), np.cos(turn).mean()))  # also across the date line
    zone = fixed_zone(60 * round(float(mean) / DEGREES_PER_HOUR))
    return zone, f"The time zone is taken to be {zone}, from the longitude."


def look_swapped(table: pd.DataFrame, minutes: int) -> bool:
    """Whether most longitudes contradict the offset of the times, and the latitudes as longitudes would agree with it.

    Where both agree with it more or less it cannot be told: Prague the wrong way round is where clocks are two hours
    ahead of its own. And who travels far with a clock of home may be suspected, such as a Swiss in New York.

    >>> new_york = pd.DataFrame({"latitude": [40.7], "longitude": [-74.0]})
    >>> look_swapped(new_york, -300), look_swapped(new_york.set_axis(["longitude", "latitude"], axis=1), -300)
    (False, True)
    """
    return bool(contradicting(table["latitude"].to_numpy(), table["longitude"].to_numpy(), minutes).mean() > 0.5)


def contradicting(latitude: FloatArray, longitude: FloatArray, minutes: int) -> BoolArray:
    """Which longitudes contradict the offset of the times, where the latitudes as longitudes would agree with it."""
    found: BoolArray = (hours_off(longitude, minutes) > WRONG) & (hours_off(latitude, minutes) <= RIGHT)
    return found


def hours_off(longitude: FloatArray, minutes: int) -> FloatArray:
    """How far a clock so many minutes ahead of UTC is from the sun, in hours round the globe."""
    hours: FloatArray = np.abs((minutes / 60 - longitude / DEGREES_PER_HOUR + 12) % 24 - 12)
    return hours
