"""Web Mercator in whole numbers: how places and tracks stand on the page, and how long a metre is there.

The world is a square of side 1, x from west to east and y from north to south. The page holds positions as integers,
multiples of ``UNIT`` from the middle of the map. ``geometry.js`` has the same formulas, for the view that moves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hideseek.model.regions import EQUATOR, FLATTENING, in_space
from hideseek.util.arrays import FloatArray, IntArray

UNIT = 2.0**-28  # of the world's side: 15 cm at the equator
NORTHMOST = 85.0511287798066  # degrees, where the world ends: the square has no room for the poles
ECCENTRICITY = FLATTENING * (2 - FLATTENING)  # squared


@dataclass(frozen=True)
class Projection:
    """Web Mercator around a middle (degrees): what lies across the date line stays beside it."""

    latitude: float
    longitude: float

    @classmethod
    def around(cls, latitudes: FloatArray, longitudes: FloatArray) -> Projection:
        """The projection around the middle of some points.

        >>> Projection.around(np.array([0.0, 0.0]), np.array([179.0, -179.0])).longitude
        180.0
        """
        x, y, z = in_space(latitudes, longitudes).mean(axis=1)
        latitude = np.degrees(np.arctan2(z, (1 - ECCENTRICITY) * np.hypot(x, y)))  # geodetic, as all others
        # rounded, since the last digits of a mean depend on the machine
        return cls(round(float(latitude), 4), round(float(np.degrees(np.arctan2(y, x))), 4))

    def world(self, latitudes: FloatArray, longitudes: FloatArray) -> FloatArray:
        """Where points stand in the world, [point, 2]: at most half of it away from the middle.

        >>> Projection(0.0, 0.0).world(np.array([0.0]), np.array([90.0]))
        array([[0.75, 0.5 ]])
        """
        turned = np.mod(np.asarray(longitudes) - self.longitude + 180, 360) - 180 + self.longitude
        phi = np.radians(np.clip(latitudes, -NORTHMOST, NORTHMOST))
        return np.stack([(turned + 180) / 360, 0.5 - np.arcsinh(np.tan(phi)) / (2 * np.pi)], axis=1)

    @property
    def origin(self) -> tuple[float, float]:
        """The middle in the world, a multiple of the unit."""
        middle = self.world(np.array([self.latitude]), np.array([self.longitude]))[0]
        x, y = (np.rint(middle / UNIT) * UNIT).tolist()
        return x, y

    def units(self, latitudes: FloatArray, longitudes: FloatArray) -> IntArray:
        """Where points stand on the page, in units from the origin, [point, 2]."""
        return np.rint((self.world(latitudes, longitudes) - self.origin) / UNIT).astype(np.int64)


def metres_per_world(latitude: float) -> float:
    """How many metres on the ground, from west to east, the world's side is at a latitude (ellipsoid WGS84).

    >>> round(metres_per_world(0.0)), round(metres_per_world(60.0))
    (40075017, 20088001)
    """
    phi = np.radians(latitude)
    return float(2 * np.pi * EQUATOR * np.cos(phi) / np.sqrt(1 - ECCENTRICITY * np.sin(phi) ** 2))
