"""Commands for files that were made before: inspect any of them, evaluate a playbook or codebook, expose by one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hideseek.cli.options import NUMBER, AsJson, Commands
from hideseek.cli.terminal import note, print_json, print_label, print_table, say
from hideseek.errors import broken_rule
from hideseek.util.progress import bar

if TYPE_CHECKING:  # a command imports what it needs when it runs, so that help comes at once
    from datetime import datetime

    from hideseek.device.belief_device import BeliefDevice, LiveLabel
    from hideseek.device.codebook_device import Point
    from hideseek.device.step_device import Answer

commands = Commands()
WITHHELD = {
    "clock": "a later step was answered already. If the clock was wrong then, only a new --state helps.",
    "not due": "the service is not due at this step.",
    "floor": "after the releases so far, no release keeps as much privacy as --floor asks. Ask again at a later step.",
    "budget": "without a step that was not asked about, no release keeps the budget. Ask again at the next step.",
    "off the map": "you are far from every place of the map. Ask again when you are back.",
}


@commands.command("inspect", epilog="Example: hideseek inspect abboip.playbook")
def inspect_command(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="A profile, playbook, codebook, plan, device state, fleet folder, report ..."
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Say what a file of hideseek is, and what it holds.

    What a codebook or a plan claims is computed again from the tables and the profile in its file; a playbook claims
    nothing, and all its numbers are computed.
    """
    from hideseek.cli.inspecting import inspected, show

    found = inspected(path)
    if as_json:
        print_json({"kind": str(found.kind), "file": str(path)} | found.facts)
    else:
        show(found)


@commands.command("evaluate", epilog="Example: hideseek evaluate abboip.playbook")
def evaluate_command(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A playbook or a codebook made by design.")],
    source: Annotated[
        Path | None,
        typer.Argument(
            metavar="PROFILE",
            help="With a codebook, the profile made by learn, or another one. With a playbook, another profile over "
            "its places, such as one with a clock: what is left if the person moves so, and the adversary knows it.",
        ),
    ] = None,
    accesses: Annotated[
        int, NUMBER(help="Length of the run, in accesses; whole days or weeks where PROFILE follows a clock.")
    ] = 200,
    walks: Annotated[
        int | None,
        NUMBER(help="Walks to simulate; with a playbook 40 if not given, with a codebook 1000 where it is not exact."),
    ] = None,
    seed: Annotated[int, NUMBER(help="Seed of the random walks.")] = 0,
    beside: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Beside a codebook another one; the gain over it is shown.")
    ] = None,
    believed: Annotated[
        Path | None,
        typer.Option(
            "--as",
            metavar="PROFILE",
            help="With a codebook, the profile that the adversaries believe, instead of the true one.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compute the honest label: the privacy that is left against adversaries who remember every release.

    A playbook holds the profile; give another one to see what is left if that is the true one. With a codebook the
    adversaries know the profile that is given, or believe another one (--as), over the same places.
    """
    from hideseek.adversary.policies import WALKS
    from hideseek.storage.kinds import Kind, kind_or_none

    if kind_or_none(str(path)) is Kind.PLAYBOOK:
        for name, given in (("beside", beside), ("believed", believed)):
            if given is not None:
                raise broken_rule(name, "evaluate", "given with a codebook only", f"the playbook {path.name}")
        if source is None:
            evaluate_playbook(path, accesses, walks, seed, as_json)
        else:
            evaluate_against_profile(path, source, accesses, walks, seed, as_json)
    elif source is None:
        raise broken_rule("source", "evaluate", "given with a codebook", "none")
    else:
        evaluate_codebook(path, source, accesses, WALKS if walks is None else walks, seed, beside, believed, as_json)


def evaluate_playbook(path: Path, accesses: int, walks: int | None, seed: int, as_json: bool) -> None:
    """The label of a playbook, for people the places first."""
    from hideseek.adversary.playbook_label import WALKS, playbook_label
    from hideseek.cli.playbook_words import label_facts, label_rows, label_sentences, naming_rows, place_names
    from hideseek.playbook.playbook import Playbook

    playbook = Playbook.load(path)
    with bar("attacking") as advance:
        label = playbook_label(
            playbook, accesses=accesses, walks=WALKS if walks is None else walks, seed=seed, progress=advance
        )  # fmt: skip
    if as_json:
        print_json(label_facts(label, playbook))
        return
    print_table(
        "How often an adversary who remembers every release names a place, in %",
        *naming_rows(label, place_names(playbook)),
    )
    print_table(
        f"On average over {label.accesses} accesses of {label.walks} walks", *label_rows(label, playbook.privacy.unit)
    )
    for sentence in label_sentences(label, playbook):
        say(sentence)


def evaluate_against_profile(
    path: Path, source: Path, accesses: int, walks: int | None, seed: int, as_json: bool
) -> None:
    """What a playbook leaves if the person moves by another profile than its own."""
    from hideseek.adversary.label import ASSUMPTION
    from hideseek.adversary.other_profile import against_profile
    from hideseek.adversary.playbook_label import WALKS
    from hideseek.cli.playbook_words import two_label_facts, two_label_rows
    from hideseek.playbook.playbook import Playbook
    from hideseek.storage.profile_file import load_profile

    playbook, profile = Playbook.load(path), load_profile(source)
    with bar("attacking") as advance:
        both = against_profile(
            playbook, profile, accesses=accesses, walks=WALKS if walks is None else walks, seed=seed, progress=advance
        )  # fmt: skip
    if as_json:
        print_json(two_label_facts(both, playbook) | {"playbook": str(path), "profile": str(source)})
        return
    title = f"On average over {both.accesses} accesses of {both.walks} walks"
    print_table(title, *two_label_rows(both, playbook, source.name))
    say(
        "In each column the person moves as it says, and the adversary knows that, and the playbook. The device "
        "follows the profile in its playbook."
    )
    say(ASSUMPTION)


def evaluate_codebook(
    path: Path,
    source: Path,
    accesses: int,
    walks: int,
    seed: int,
    beside: Path | None,
    believed: Path | None,
    as_json: bool,
) -> None:
    """The label of a codebook."""
    from hideseek.adversary.label import ASSUMPTION, evaluate
    from hideseek.adversary.other_profile import whole_days
    from hideseek.cli.descriptions import label_facts, together
    from hideseek.codebook.codebook import Codebook
    from hideseek.experiments.wording import in_percent, loss_words, sensitive_words
    from hideseek.storage.profile_file import load_profile

    codebook = Codebook.load(path)
    with bar("attacking") as advance:
        other, profile = None if beside is None else Codebook.load(beside), load_profile(source)
        accesses, walks = whole_days(profile, accesses, walks, codebook.scenario.every)
        believes = None if believed is None else load_profile(believed)
        label = evaluate(
            codebook, profile, accesses=accesses, walks=walks, seed=seed, progress=advance, beside=other,
            believes=believes,
        )  # fmt: skip
    if as_json:
        print_json(label_facts(label) | ({} if believed is None else {"believes": str(believed)}))
        return
    print_label(label, codebook.privacy.unit)
    scenario = codebook.scenario
    if len(scenario.target) > 1:
        error, loss = (
            together(codebook.privacy, len(scenario.target)),
            together(codebook.quality, len(scenario.release)),
        )
        say(f"Errors are measured as {error}; losses as {loss}.")
    if sensitive := sensitive_words(codebook.privacy, codebook.regions):
        say(f"Sensitive places: {sensitive}.")
    if believed is not None:
        say(f"The adversaries believe {believed.name}; the person moves as {source.name} says.")
    elif hasattr(profile, "clock"):
        say(
            f"The adversaries know {source.name}, which follows a clock: {label.accesses} accesses from the beginning "
            "of its day or week."
        )
    say(f"Kept of the ceiling, against an adversary who remembers every release: {label.kept.in_words()}.")
    say(loss_words(label, codebook.budget, codebook.quality.unit, codebook.over))
    if label.misled:
        say("The ceiling holds against an adversary who believes the true profile; who believes another may err more.")
    say(ASSUMPTION)
    if label.gain is not None:
        say("Gain over the other codebook, against the same adversary: ", (in_percent(label.gain), "bold"), ".")


@commands.command(
    "expose", epilog="Example: hideseek expose me.playbook --state me.state --latitude 46.52 --longitude 6.57"
)
def expose_command(
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="A playbook or a codebook made by design, or a plan made by plan.")
    ],
    state: Annotated[
        Path, typer.Option(metavar="FILE", help="The device's state file, which holds what was exposed so far.")
    ],
    latitude: Annotated[str | None, typer.Option(metavar="DEGREES", help="Where you are.")] = None,
    longitude: Annotated[str | None, typer.Option(metavar="DEGREES", help="Where you are.")] = None,
    at: Annotated[
        str | None, typer.Option(metavar="TIME", help="When, in ISO 8601 with offset; now if not given.")
    ] = None,
    ahead: Annotated[
        list[str] | None,
        typer.Option(metavar="LATITUDE,LONGITUDE", help="Where you are a step later; for codebooks of planned routes."),
    ] = None,
    floor: Annotated[
        float | None,
        NUMBER(help="Privacy below which nothing is exposed; for playbooks and plans.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print what to expose now instead of the true place; a step has one answer, however often you ask.

    With a playbook or a codebook the answer is looked up; with a plan, the game is solved for the adversary's current
    belief.

    Without --latitude and --longitude, one line LATITUDE,LONGITUDE is read from the standard input, which other users
    of the machine do not see. The exit status is 3 if nothing may be exposed.
    """
    from datetime import UTC, datetime

    from hideseek.cli.inputs import point_from, point_line
    from hideseek.storage.kinds import Kind, kind_of

    kind = kind_of(path)
    if kind not in (Kind.CODEBOOK, Kind.PLAN, Kind.PLAYBOOK):
        raise broken_rule("FILE", "expose", "a playbook, a codebook or a plan", f"{path.name}, a {kind}")
    if kind is not Kind.CODEBOOK and ahead:
        raise broken_rule("ahead", "expose", "given with a codebook only", f"the {kind} {path.name}")
    if kind is Kind.CODEBOOK and floor is not None:
        raise broken_rule("floor", "expose", "given with a playbook or a plan only", f"the codebook {path.name}")
    if (latitude is None) != (longitude is None):
        raise broken_rule("latitude and longitude", "expose", "given together, or not at all", "one of them")
    here = point_line() if latitude is None else f"{latitude},{longitude}"
    point, when = point_from(here, "latitude and longitude"), datetime.now(UTC) if at is None else at
    route = [point_from(text, "ahead") for text in ahead or []]
    answer: Answer
    label: LiveLabel | None = None
    if kind is Kind.CODEBOOK:
        answer = codebook_answer(path, state, point, when, route)
    else:
        device = (playbook_device if kind is Kind.PLAYBOOK else live_device)(path, state, floor or 0.0)
        answer, label = device.expose(*point, at=when), device.label()
    show_answer(answer, label, as_json)


def playbook_device(path: Path, state: Path, floor: float) -> BeliefDevice:
    """The device of a playbook."""
    from hideseek.device.playbook_device import PlaybookDevice
    from hideseek.playbook.playbook import Playbook

    return PlaybookDevice(Playbook.load(path), state=state, floor=floor)


def live_device(path: Path, state: Path, floor: float) -> BeliefDevice:
    """The device of a plan, with its solver."""
    from hideseek.device.live_device import LiveDevice
    from hideseek.planning.plan_file import load_plan

    return LiveDevice(*load_plan(path), state=state, floor=floor)


def codebook_answer(path: Path, state: Path, point: Point, when: datetime | str, route: list[Point]) -> Answer:
    """The answer of a codebook device."""
    from hideseek.codebook.codebook import Codebook
    from hideseek.device.codebook_device import Device

    return Device(Codebook.load(path), state).expose(*point, at=when, ahead=route)


def show_answer(answer: Answer, label: LiveLabel | None, as_json: bool) -> None:
    """What is exposed, or why nothing is."""
    from dataclasses import asdict

    if as_json:
        from hideseek.adversary.label import ASSUMPTION

        more = {} if label is None else {"label": asdict(label) | {"assumption": ASSUMPTION}}
        print_json(asdict(answer) | more)
    elif answer.status == "exposed":
        say(f"{answer.latitude:.6f},{answer.longitude:.6f}")
    else:
        note(f"withheld: {WITHHELD[answer.reason]}")
    if answer.status == "withheld":
        raise typer.Exit(3)
