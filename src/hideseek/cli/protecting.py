"""Commands that do everything for one person: protect, and the same for a synthetic one, demo."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hideseek.cli.options import NUMBER, AsJson, Budget, Cap, Commands, OfPlaybooks, Over, Report, Sensitive, Traces
from hideseek.cli.reading import Reading, reads_traces
from hideseek.cli.terminal import note, print_json, print_table, say
from hideseek.util.choices import OVER
from hideseek.util.progress import bar

if TYPE_CHECKING:  # a command imports what it needs when it runs, so that help comes at once
    from hideseek.experiments.protection import Protection

commands = Commands()
Folder = Annotated[
    Path,
    typer.Option(
        "--out", metavar="FOLDER", help="Folder for the profile, the plan, the playbook and the report; updated."
    ),
]
Seed = Annotated[int, NUMBER(help="Seed of the random walks.")]


@commands.command("protect", epilog="Example: hideseek protect Timeline.json --budget 500m --out me")
@reads_traces
def protect_command(
    data: Traces,
    reading: Reading,
    folder: Folder = Path("me"),
    budget: Budget = "500m",
    over: Over = OVER,
    cap: Cap = None,
    against: OfPlaybooks = None,
    sensitive: Sensitive = [],
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Protect a person: from traces to the playbook of a device, with a report of what it is worth."""
    from hideseek.cli.inputs import tell_if_narrow
    from hideseek.cli.people import learned
    from hideseek.experiments.protection import plain_game, protect, user_of
    from hideseek.experiments.protection_folder import own_folder
    from hideseek.planning.training import adversary_of_playbook

    own_folder(folder)
    old = playbook_in(folder)
    found = learned(data, reading, sensitive)
    tell_before(folder, user_of(found.traces))
    game = plain_game(found.profile, budget, over, cap)
    adversary_of_playbook(against, game.window, "protect")
    tell_if_narrow(found.profile, game.quality, game.budget)
    with bar("protecting") as advance:
        made = protect(
            found.traces, profile=found.profile, budget=budget, over=over, cap=cap, against=against,
            sensitive=sensitive, timezone=reading.timezone, out=folder, seed=seed, progress=advance,
        )  # fmt: skip
    show_protection(made, folder, as_json)
    if old is not None:
        tell_update(made, folder, old)


@commands.command("demo", epilog="Example: hideseek demo --out my-demo")
def demo_command(
    folder: Report = Path("hideseek-demo"),
    seed: Annotated[int, NUMBER(help="Seed of the synthetic person.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Protect a synthetic person who visits a clinic, and write a report."""
    from hideseek.experiments.demo import BUDGET, demo_person
    from hideseek.experiments.protection import protect

    traces, clinic = demo_person(seed)
    with bar("demo") as advance:
        made = protect(traces, budget=BUDGET, sensitive=[clinic], out=folder, seed=seed, progress=advance)
    show_protection(made, folder, as_json)


def show_protection(made: Protection, folder: Path, as_json: bool) -> None:
    """What a protection achieved: for machines, or as a table and five sentences."""
    from hideseek.experiments.protection_folder import WRITTEN
    from hideseek.experiments.protection_words import naming_table, protection_document, sentences

    if as_json:
        print_json({**protection_document(made), "files": {name: str(folder / name) for name in WRITTEN}})
        return
    table = naming_table(made.label)
    print_table("How often the adversary names your places", table.header, table.rows)
    for words in sentences(made, folder):
        say(words)


def playbook_in(folder: Path) -> str | None:
    """The identity of the playbook that a folder holds; none where it holds none that can be read."""
    from hideseek.errors import PlaybookError
    from hideseek.experiments.protection_folder import PLAYBOOK
    from hideseek.playbook.playbook import Playbook

    try:
        return Playbook.load(folder / PLAYBOOK).sha256
    except PlaybookError:
        return None


def tell_before(folder: Path, user: str) -> None:
    """Say what is odd about the files that will be replaced."""
    from hideseek.experiments.protection_folder import of_other_runs, written_for

    before = written_for(folder)
    if before not in (None, user):
        note(
            ("warning:", "bold yellow"),
            f" the files in {folder} were made for {before}, and these traces are of {user}. If that is another "
            "person, stop this and give another --out.",
        )
    if mixed := of_other_runs(folder):
        note(f"note: {mixed[0]} in {folder} is not of the run that finished there last; all files will be replaced")


def tell_update(made: Protection, folder: Path, old: str) -> None:
    """Say what to do with the device of the playbook that was replaced."""
    from hideseek.experiments.protection import silence_to_forget
    from hideseek.experiments.protection_folder import STATE
    from hideseek.util.display import counted
    from hideseek.util.time_steps import checked_step

    if made.playbook.sha256 == old:
        return
    note("note: these files replace those of an earlier run")
    states = sorted(folder.glob(f"*{STATE}"))
    if not states:
        return
    steps = silence_to_forget(made.game)
    long = "for a long time"
    if steps is not None:
        hours = -(-steps * checked_step(made.profile.step, "protect") // timedelta(hours=1))
        long = f"for {counted(hours, 'hour')}"
    note(
        f"note: {states[0].name} belongs to the old playbook. Delete it, and let the device be silent {long}: then "
        "what was exposed before reveals nearly nothing about what comes."
    )
