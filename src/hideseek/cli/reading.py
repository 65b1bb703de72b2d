"""The options by which traces are read, and cut into places and time steps: the same for every command that reads them.

A new option is a field of :class:`Reading`; what it means is in :mod:`hideseek.cli.inputs`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

STEP = "5min"
Option = partial(typer.Option, rich_help_panel="Reading traces")


@dataclass(frozen=True)
class Reading:
    """What the options about traces say; None where nothing is said."""

    user: Annotated[
        str | None,
        Option(
            metavar="NAME", help="Only this user's traces. A command about one person takes the user with most fixes."
        ),
    ] = None
    one_person: Annotated[
        bool, Option("--one-person", help="All traces belong to one person, whatever columns, files and folders say.")
    ] = False
    format: Annotated[
        str | None, Option(metavar="NAME", help="The format, such as gpx; recognised by content if not given.")
    ] = None
    columns: Annotated[
        str | None,
        Option(metavar="time=NAME,...", help="Columns of a table: time=ts,latitude=lat,longitude=lon,user=device_id."),
    ] = None
    accuracy: Annotated[
        str | None, Option(metavar="LENGTH", help="Fixes that may be further off are left out; 200m, or any for all.")
    ] = None
    places_about: Annotated[
        int | None,
        Option(metavar="NUMBER", help="Places are where the person stays, and cells between: about so many; 30."),
    ] = None
    grid: Annotated[
        str | None, Option(metavar="ROWSxCOLUMNS", help="Places are the cells of a grid around the traces.")
    ] = None
    cell: Annotated[
        str | None, Option(metavar="LENGTH", help="Places are square cells of this size, such as 500m or 2km.")
    ] = None
    box: Annotated[
        str | None,
        Option(metavar="SOUTH,NORTH,WEST,EAST", help="Edges of --grid or --cell in degrees, instead of the traces'."),
    ] = None
    h3: Annotated[int | None, Option(metavar="0..15", help="Places are H3 hexagons of this resolution.")] = None
    places: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="Places are those of a profile, or points of a CSV file: latitude, longitude, maybe name.",
        ),
    ] = None
    step: Annotated[
        str | None, Option(metavar="DURATION", help=f"Length of a time step, such as 10min; {STEP} if not given.")
    ] = None
    timezone: Annotated[
        str | None,
        Option(metavar="NAME", help="The time zone by which the person's days begin, such as Europe/Zurich."),
    ] = None

    @property
    def said(self) -> dict[str, object]:
        """The options that were given, with their values."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name)) != each.default}


def names_of(options: Iterable[str]) -> str:
    """Options as they are written.

    >>> names_of(["user", "one_person"])
    '--user, --one-person'
    """
    return ", ".join("--" + name.replace("_", "-") for name in options)


def reads_traces(command: Callable[..., None]) -> Callable[..., None]:
    """A command that has the options of :class:`Reading`, and is given them as its argument ``reading``."""
    own, shared = get_type_hints(command, include_extras=True), get_type_hints(Reading, include_extras=True)
    parameters = [one for one in inspect.signature(command).parameters.values() if one.name != "reading"]
    named = inspect.Parameter.KEYWORD_ONLY
    options = [inspect.Parameter(one.name, named, default=one.default) for one in fields(Reading)]
    every = [one.replace(kind=named, annotation=(own | shared)[one.name]) for one in (*parameters, *options)]

    @wraps(command)
    def with_reading(**given: Any) -> None:
        command(reading=Reading(**{name: given.pop(name) for name in shared}), **given)

    with_reading.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
    with_reading.__annotations__ = {one.name: one.annotation for one in every}
    return with_reading
