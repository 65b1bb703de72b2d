"""Distances on the ground: the only part of the model that needs a library of geodesy."""

from __future__ import annotations

import numpy as np
from pyproj import Geod, Proj

from hideseek.model.regions import Regions, in_space
from hideseek.util.arrays import FloatArray
from hideseek.util.boundary import checked
from hideseek.util.limits import refuse_if_too_large

EARTH = Geod(ellps="WGS84")


@checked
def distances(regions: Regions) -> FloatArray:
    """Geodesic distances between all centres in metres.

    Parameters
    ----------
    regions : Regions
        The places.

    Returns
    -------
    ``(places, places)`` float array
        Metres on the ellipsoid WGS84; symmetric, with 0 on the diagonal.

    Raises
    ------
    SizeError
        Where the matrix would not fit in memory.

    Examples
    --------
    >>> from hideseek.model.regions import Places
    >>> distances(Places([0.0, 0.0], [0.0, 1.0])).round()
    array([[     0., 111319.],
           [111319.,      0.]])
    """
    refuse_if_too_large(48 * len(regions) ** 2, f"The distances of {len(regions)} places", parameter="regions")
    latitude, longitude = regions.centres.T
    first, second = np.triu_indices(len(latitude), 1)
    between = EARTH.inv(longitude[first], latitude[first], longitude[second], latitude[second])[2]
    table = np.zeros((len(latitude), len(latitude)))
    table[first, second] = between
    table[second, first] = between
    return table


def plane(regions: Regions) -> FloatArray:
    """The centres on a plane, in metres east and north of their middle, [place, 2].

    Distances on it are those on the ground to within one in ten thousand where the places span 300 km or less.

    >>> from hideseek.model.regions import Places
    >>> plane(Places([0.0, 0.0], [0.0, 1.0])).round()
    array([[-55660.,      0.],
           [ 55660.,      0.]])
    """
    latitude, longitude = regions.centres.T
    x, y, z = np.ascontiguousarray(in_space(latitude, longitude).T).mean(axis=0)  # also across the date line
    centre = {"lat_0": np.degrees(np.arctan2(z, np.hypot(x, y))), "lon_0": np.degrees(np.arctan2(y, x))}
    return np.stack(Proj(proj="aeqd", ellps="WGS84", **centre)(longitude, latitude), axis=1)
