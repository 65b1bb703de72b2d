"""TCX files (Training Center XML): the points of activities."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO

import pandas as pd

from hideseek.traces.xml_points import Elements, blocks_of, local, number

ROOT = re.compile(rb"<(?:\w+:)?TrainingCenterDatabase[\s>]")


def looks_like_tcx(head: bytes) -> bool:
    """Whether the first bytes of a file are those of TCX."""
    return ROOT.search(head) is not None


def read_tcx(stream: IO[bytes]) -> Iterator[pd.DataFrame]:
    """Read the points of activities that have a position; courses are plans, not fixes, and are not read."""
    return blocks_of(stream, Trackpoints())


class Trackpoints(Elements):
    """Keeps the points of a TCX file, (latitude, longitude, time)."""

    name = "TCX"

    def __init__(self) -> None:
        super().__init__()
        self.values: dict[str, str] = {}

    def begun(self, name: str, attributes: dict[str, str]) -> None:
        """Drop the prefix of the namespace."""
        super().begun(local(name), attributes)

    def begin(self, _: dict[str, str]) -> None:
        """Forget the point before."""
        if self.path[-1] == "Trackpoint":
            self.values = {}

    def end(self, text: str) -> None:
        """Keep what is of use, and a point once it is complete."""
        match self.path[-3:]:
            case [_, "Trackpoint", "Time"]:
                self.values["time"] = text
            case ["Trackpoint", "Position", "LatitudeDegrees" | "LongitudeDegrees" as side]:
                self.values[side] = text
            case [*_, "Trackpoint"] if len(self.values.keys() - {"time"}) and "Courses" not in self.path:
                degrees = (number(self.values.get(side, "")) for side in ("LatitudeDegrees", "LongitudeDegrees"))
                self.found.append((*degrees, self.values.get("time", "")))
