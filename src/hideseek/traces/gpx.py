"""GPX files: the points of their tracks, and their waypoints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

import numpy as np
import pandas as pd

from hideseek.traces.xml_points import Elements, blocks_of

POINTS = (["wpt"], ["trk", "trkseg", "trkpt"])


def read_gpx(stream: IO[bytes]) -> Iterator[pd.DataFrame]:
    """Read waypoints and the points of tracks."""
    return blocks_of(stream, Points())


class Points(Elements):
    """Keeps the points of a GPX file, (latitude, longitude, time)."""

    name = "GPX"

    def __init__(self) -> None:
        super().__init__()
        self.degrees = (np.nan, np.nan)
        self.time = ""

    def begin(self, attributes: dict[str, str]) -> None:
        """Keep the degrees of a point."""
        if self.path[1:] in POINTS:
            try:
                self.degrees = float(attributes["lat"]), float(attributes["lon"])
            except (KeyError, ValueError):
                raise self.malformed("a point whose lat and lon are no numbers") from None
            self.time = ""

    def end(self, text: str) -> None:
        """Keep the time of a point, and the point once it is complete."""
        if self.path[-1] == "time" and self.path[1:-1] in POINTS:
            self.time = text
        if self.path[1:] in POINTS:
            self.found.append((*self.degrees, self.time))
