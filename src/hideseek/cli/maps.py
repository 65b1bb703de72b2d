"""The command that puts any of our files, or traces, on a map."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hideseek.cli.options import AsJson
from hideseek.cli.terminal import print_json, say
from hideseek.errors import broken_rule

if TYPE_CHECKING:  # a command imports what it needs when it runs, so that help comes at once
    from hideseek.adversary.label import Label
    from hideseek.maps.page import Mapped

commands = typer.Typer()
HEADER = 4096  # bytes of a file that say what it is
LARGEST_LABEL = 2**20  # bytes


@commands.command("map", epilog="Example: hideseek map abboip.hideseek --tracks cabs/new_abboip.txt --out map.html")
def map_command(
    source: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Traces, a profile, a codebook, a plan, or a label (evaluate --json)."),
    ],
    path: Annotated[Path, typer.Option("--out", help="The page to write.")] = Path("map.html"),
    tracks: Annotated[Path | None, typer.Option(help="Traces to draw under the places.")] = None,
    label: Annotated[Path | None, typer.Option(help="The label of a codebook, beside its map.")] = None,
    tiles: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Background images: https://HOST/{z}/{x}/{y}.png. The host learns the area."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Draw a map, as one page that works offline: no request leaves the machine unless --tiles is given."""
    from hideseek.maps.page import MapPage, map_page
    from hideseek.traces.reading import read_traces

    kind, thing = read_any(source)
    page = map_page(
        thing,
        tracks=None if tracks is None else read_traces(tracks),
        tiles=tiles,
        label=None if label is None else read_label(label),
    )
    MapPage(page).save(path)
    if as_json:
        print_json({"map": str(path), "of": kind, "bytes": len(page.encode()), "offline": tiles is None})
        return
    say(f"The map of a {kind}, readable by you only: ".replace("a traces", "traces"), (str(path), "bold"))
    say("It reveals where a person goes: keep it private.")


def read_any(source: Path) -> tuple[str, Mapped]:
    """What a file holds, by its content: one of our files, or else traces."""
    from hideseek.codebook.codebook import Codebook
    from hideseek.planning.plan_file import load_plan
    from hideseek.storage.profile_file import is_profile, load_profile
    from hideseek.traces.reading import read_traces

    head = b""
    if source.is_file():
        with source.open("rb") as stream:
            head = stream.read(HEADER)
    if b"hideseek_codebook" in head:
        return "codebook", Codebook.load(source)
    if b"hideseek_plan" in head:
        return "plan", load_plan(source)
    if is_profile(source):
        return "profile", load_profile(source)
    if head.lstrip().startswith(b"{") and b'"smoother"' in head:
        return "label", read_label(source)
    return "traces", read_traces(source)


def read_label(path: Path) -> Label:
    """A label as ``evaluate --json`` writes it."""
    from dataclasses import MISSING, fields

    from hideseek.adversary.label import Label
    from hideseek.util.estimates import Estimate
    from hideseek.util.private_files import read_plain_file

    try:
        facts = json.loads(read_plain_file(path, LARGEST_LABEL))
        intervals, rates = facts["intervals"], facts["hit_rates"]
        values = {}
        for field in fields(Label):
            value = facts.get(field.name, None if field.default is MISSING else field.default)
            if "Estimate" in str(field.type) and value is not None:
                interval, rate = intervals.get(field.name), rates.get(field.name)
                value = Estimate(
                    float(value),
                    None if interval is None else (float(interval[0]), float(interval[1])),
                    hit_rate=None if rate is None else Estimate(float(rate)),
                )
            values[field.name] = value
        return Label(**values)
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError) as error:
        rule = "what evaluate --json prints"
        raise broken_rule("label", "map", rule, f"{path.name} ({type(error).__name__})") from None
