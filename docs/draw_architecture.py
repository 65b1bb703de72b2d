"""Draws architecture.svg from the layers that import-linter checks: ``python docs/draw_architecture.py``."""

from __future__ import annotations

import tomllib
from html import escape
from pathlib import Path

HERE = Path(__file__).parent
PICTURE = HERE / "architecture.svg"
WIDTH, LEFT, HEIGHT, BETWEEN = 900, 40, 46, 8

DATA, GROUND, PROOF, TIME, WHOLE = "#cfe3f7", "#e3e3e0", "#d3ecd2", "#fbe3c0", "#e6d9f2"
ROOMS = {
    "cli": ("the command line", WHOLE),
    "experiments": ("protect, compare, reproduce, study, and their pages", WHOLE),
    "fleet": ("every user of a data set", WHOLE),
    "baselines": ("the rivals: mechanisms that others have proposed", WHOLE),
    "maps": ("a page that works without a network", WHOLE),
    "designing": ("design a codebook, make a playbook", TIME),
    "adversary": ("attacks, and the label", TIME),
    "device": ("one answer per step", TIME),
    "codebook": ("what a device stores, with its proof", TIME),
    "playbook": ("tables for the beliefs that come up", TIME),
    "planning": ("the game for a belief, planners, plan files", TIME),
    "solvers": ("from a game to the best mechanism, its attack and its certificate", PROOF),
    "game": ("two matrices and a budget; mechanisms", PROOF),
    "storage": ("documents and sealed files", GROUND),
    "metrics": ("what an error is worth, and what a release costs", DATA),
    "plots": ("figures", GROUND),
    "model": ("places, how a person moves, and the scenario: what is protected when", DATA),
    "traces": ("readers, one table of fixes, a synthetic city", DATA),
    "util": ("arrays, checks, estimates, private files", GROUND),
    "errors": ("one tree of errors", GROUND),
}
WALKS = {
    "#1b5e9b": ("traces", "model", "metrics", "game", "solvers", "designing", "codebook", "device"),  # 1, 2, ...
    "#a3420f": ("storage", "planning", "solvers", "device"),  # A, B, ...
}
FRAME = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>The packages of hideseek: each imports only what stands below it</title>
<style>
text {{ font: 13px system-ui, sans-serif; fill: #1a1a1a }}
.room {{ font-weight: 700; font-size: 15px }}
.stop {{ font-weight: 700; font-size: 12px; fill: #fff; text-anchor: middle }}
.side {{ fill: #808080; text-anchor: middle }}
</style>
<path d="M14 6 V{end} m-6 -10 l6 10 l6 -10" stroke="#808080" stroke-width="2" fill="none"/>
<text transform="translate(32 {middle}) rotate(-90)" class="side">imports</text>
{boxes}
</svg>
"""


def layers() -> list[list[str]]:
    """The rooms from the top to the bottom; those on one level do not import each other."""
    contracts = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return [level.split(" | ") for level in next(one["layers"] for one in contracts if one["type"] == "layers")]


def box(room: str, x: float, y: int, width: float) -> str:
    """A room: its name, what it holds, and its numbers on the two walks."""
    holds, colour = ROOMS[room]
    starts = zip("1A", WALKS.items(), strict=True)
    stops = [(chr(ord(first) + walk.index(room)), ink) for first, (ink, walk) in starts if room in walk]
    badges = "".join(
        f'<circle cx="{x + width - 16 - 24 * n:g}" cy="{y + 16}" r="10" fill="{ink}"/>'
        f'<text x="{x + width - 16 - 24 * n:g}" y="{y + 20}" class="stop">{number}</text>'
        for n, (number, ink) in enumerate(reversed(stops))
    )
    return (
        f'<rect x="{x:g}" y="{y}" width="{width:g}" height="{HEIGHT}" rx="6" fill="{colour}" stroke="#8a8a8a"/>'
        f'<text x="{x + 12:g}" y="{y + 19}" class="room">{room}</text>'
        f'<text x="{x + 12:g}" y="{y + 37}">{escape(holds)}</text>{badges}'
    )


def picture() -> str:
    """The whole picture; dark letters on light boxes, so that it can be read on any background."""
    levels, boxes = layers(), []
    for y, level in enumerate(levels):
        width = (WIDTH - LEFT - BETWEEN * (len(level) - 1) - 1) / len(level)
        for x, room in enumerate(level):
            boxes.append(box(room, LEFT + x * (width + BETWEEN), 1 + y * (HEIGHT + BETWEEN), width))
    height = len(levels) * (HEIGHT + BETWEEN) - BETWEEN + 2
    return FRAME.format(width=WIDTH, height=height, end=height - 6, middle=height // 2, boxes="\n".join(boxes))


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
