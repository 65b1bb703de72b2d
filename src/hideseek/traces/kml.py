"""KML files: placemarks with a time, and tracks with a time for each point."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import IO

import pandas as pd

from hideseek.traces.xml_points import WORDIEST, Elements, blocks_of, local, number

DATE = len("2020-01-01")  # characters: a year or a month alone is no time, and would pass for unix seconds
WAITING = 1 << 22  # times of a track that may come before the first of its points
ROOT = re.compile(rb"<(?:\w+:)?kml[\s>]")


def looks_like_kml(head: bytes) -> bool:
    """Whether the first bytes of a file are those of KML."""
    return ROOT.search(head) is not None


def read_kml(stream: IO[bytes]) -> Iterator[pd.DataFrame]:
    """Read points with their time, points with a span of time (stretches), and tracks.

    A line has places and no times. Where its placemark has a span of time, the line gives two fixes: it begins where
    the span begins and ends where the span ends, as in Google's Timeline. Other lines are passed over.
    """
    placemarks = Placemarks()
    found = False
    for rows in blocks_of(stream, placemarks):
        found = True
        yield rows
    if placemarks.timeless and not found:
        raise placemarks.malformed(f"none of its {placemarks.timeless} lines has times")


class Placemarks(Elements):
    """Keeps the fixes and the stretches of a KML file."""

    name = "KML"
    columns = ("latitude", "longitude", "tracked_at", "finished_at")

    def __init__(self) -> None:
        super().__init__()
        self.timeless = 0
        self.tail = ""
        self.place = self.line = ("", "")
        self.begins = self.ends = ""
        self.times, self.places = deque[str](), deque[str]()

    def begun(self, name: str, attributes: dict[str, str]) -> None:
        """Drop the prefix, which is "gx" for tracks or any other."""
        super().begun(local(name), attributes)

    def begin(self, _: dict[str, str]) -> None:
        """Forget the placemark before."""
        self.tail = ""
        if self.path[-1] == "Placemark":
            self.place = self.line = ("", "")
            self.begins = self.ends = ""

    def said(self, text: str) -> None:
        """Keep the end of a line as well: its middle has no use."""
        super().said(text)
        self.tail = (self.tail + text[-WORDIEST:])[-WORDIEST:]

    def end(self, text: str) -> None:
        """Keep what is of use, and a point once it is complete."""
        match self.path[-3:]:
            case [_, "Track", "when"]:
                self.times.append(text)
                self.pair()
            case [_, "Track", "coord"]:
                self.places.append(text)
                self.pair()
            case [_, _, "Track"]:
                self.leave_track()
            case ["Placemark", "TimeStamp", "when"] | ["Placemark", "TimeSpan", "begin"]:
                self.begins = text
            case ["Placemark", "TimeSpan", "end"]:
                self.ends = text
            case [_, "Point", "coordinates"]:
                self.place = self.place if any(self.place) else (text, text)
            case [_, "LineString", "coordinates"]:
                self.line = self.line if any(self.line) else (text.split(None, 1)[0] if text else "", last(self.tail))
            case [*_, "Placemark"]:
                self.leave_placemark()

    def pair(self) -> None:
        """A point of a track is complete where it has a time and a place; they come in turns or one after the other."""
        if self.times and self.places:
            self.add(self.places.popleft(), self.times.popleft())
        if max(len(self.times), len(self.places)) > WAITING:
            raise self.malformed(f"a track with more than {WAITING} points that lack a time or a place")

    def leave_track(self) -> None:
        """What is left over of a track broke a rule, and is counted as such."""
        while self.times or self.places:
            self.add(self.places.popleft() if self.places else "", self.times.popleft() if self.times else "")

    def leave_placemark(self) -> None:
        """A placemark gives a fix or a stretch, and its line the two ends."""
        start, finish = self.begins or self.ends, self.ends or self.begins
        if self.place[0]:
            self.add(self.place[0], start, finish)
        elif any(self.line) and self.begins and self.ends:
            self.add(self.line[0], self.begins)
            self.add(self.line[1], self.ends)
        elif any(self.line):
            self.timeless += 1

    def add(self, place: str, start: str, finish: str = "") -> None:
        """Keep a row; a place is longitude, latitude and perhaps height, with commas or (in tracks) blanks between."""
        degrees = [*re.split(r"[\s,]+", place), "", ""]
        start, finish = (time if len(time) >= DATE else "" for time in (start, finish or start))
        self.found.append((number(degrees[1]), number(degrees[0]), start, finish))


def last(text: str) -> str:
    """The last of the places that are separated by blanks."""
    return text.rsplit(None, 1)[-1] if text.strip() else ""
