"""The command that puts any of our files, or traces, on a map."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hideseek.cli.options import AsJson, Commands
from hideseek.cli.reading import Reading, names_of, reads_traces
from hideseek.cli.terminal import print_json, say
from hideseek.errors import broken_rule

if TYPE_CHECKING:  # a command imports what it needs when it runs, so that help comes at once
    from hideseek.maps.page import Mapped

commands = Commands()
TRACES = "traces"


@commands.command("map", epilog="Example: hideseek map abboip.playbook --tracks cabs/new_abboip.txt --out map.html")
@reads_traces
def map_command(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA", help="Traces, a profile, a playbook, a codebook, a plan, or a label (evaluate --json)."
        ),
    ],
    reading: Reading,
    path: Annotated[Path, typer.Option("--out", metavar="FILE", help="The page to write.")] = Path("map.html"),
    tracks: Annotated[str | None, typer.Option(metavar="DATA", help="Traces to draw under the places.")] = None,
    label: Annotated[Path | None, typer.Option(metavar="FILE", help="The label of a codebook, beside its map.")] = None,
    tiles: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Background images: https://HOST/{z}/{x}/{y}.png. The host learns the area."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Draw a map, as one page that works offline: no request leaves the machine unless --tiles is given."""
    from hideseek.cli.inputs import read_label
    from hideseek.cli.people import read
    from hideseek.maps.page import MapPage, map_page

    kind, thing = read_any(data, reading, tracks is not None)
    page = map_page(
        thing,
        tracks=None if tracks is None else read(tracks, reading),
        tiles=tiles,
        label=None if label is None else read_label(label),
    )
    MapPage(page).save(path)
    if as_json:
        print_json({"map": str(path), "of": kind, "bytes": len(page.encode()), "offline": tiles is None})
        return
    what = kind if kind == TRACES else f"a {kind}"
    say(f"The map of {what}, readable by you only: ", (str(path), "bold"))
    say("It reveals where a person goes: keep it private.")


def read_any(source: str, reading: Reading, tracks: bool) -> tuple[str, Mapped]:
    """What a file holds, by its content: one of our files, or else traces."""
    from hideseek.cli.inputs import read_label
    from hideseek.cli.people import read
    from hideseek.codebook.codebook import Codebook
    from hideseek.planning.plan_file import load_plan
    from hideseek.playbook.playbook import Playbook
    from hideseek.storage.kinds import Kind, kind_or_none
    from hideseek.storage.profile_file import load_profile

    loads: dict[Kind, Callable[[Path], Mapped]] = {
        Kind.PROFILE: load_profile,
        Kind.CODEBOOK: Codebook.load,
        Kind.PLAN: load_plan,
        Kind.PLAYBOOK: Playbook.load,
        Kind.LABEL: read_label,
    }
    kind = kind_or_none(source)
    if kind is None:
        return TRACES, read(source, reading)
    if kind not in loads:
        raise broken_rule("data", "map", f"traces, or a {', a '.join(loads)}", str(kind))
    if reading.said and not tracks:
        raise broken_rule(names_of(reading.said), "map", "given with traces only", str(kind))
    return str(kind), loads[kind](Path(source))
