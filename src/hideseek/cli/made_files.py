"""Commands for files that were made before: inspect any of them, evaluate a codebook, expose places by one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hideseek.cli.options import NUMBER, AsJson, CodebookFile, Commands, Run, Walks
from hideseek.cli.terminal import note, print_json, print_label, say
from hideseek.errors import broken_rule
from hideseek.util.progress import bar

if TYPE_CHECKING:  # a command imports what it needs when it runs, so that help comes at once
    from datetime import datetime

    from hideseek.device.belief_device import LiveLabel
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


@commands.command("inspect", epilog="Example: hideseek inspect abboip.hideseek")
def inspect_command(
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="A profile, codebook, plan, device state, fleet folder, report ...")
    ],
    as_json: AsJson = False,
) -> None:
    """Say what a file of hideseek is, and what it holds.

    What a codebook or a plan claims is computed again from the tables and the profile in its file.
    """
    from hideseek.cli.inspecting import inspected, show

    found = inspected(path)
    if as_json:
        print_json({"kind": str(found.kind), "file": str(path)} | found.facts)
    else:
        show(found)


@commands.command("evaluate", epilog="Example: hideseek evaluate abboip.hideseek abboip.json")
def evaluate_command(
    path: CodebookFile,
    source: Annotated[Path, typer.Argument(metavar="PROFILE", help="The profile made by learn, or another one.")],
    accesses: Run = 200,
    walks: Walks = 1000,
    seed: Annotated[int, NUMBER(help="Seed of the random walks.")] = 0,
    beside: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Another codebook; the gain over it is shown.")
    ] = None,
    believed: Annotated[
        Path | None,
        typer.Option(
            "--as", metavar="PROFILE", help="The profile that the adversaries believe, instead of the true one."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compute the honest label: the privacy that is left against adversaries who remember every release.

    The adversaries know the person's profile, or believe another one (--as), over the same places.
    """
    from hideseek.adversary.label import ASSUMPTION, evaluate
    from hideseek.cli.descriptions import label_facts, together
    from hideseek.codebook.codebook import Codebook
    from hideseek.experiments.wording import in_percent, loss_words, sensitive_words
    from hideseek.storage.profile_file import load_profile

    codebook = Codebook.load(path)
    with bar("attacking") as advance:
        other, profile = None if beside is None else Codebook.load(beside), load_profile(source)
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
    say(f"Kept of the ceiling, against an adversary who remembers every release: {label.kept.in_words()}.")
    say(loss_words(label, codebook.budget, codebook.quality.unit))
    if label.misled:
        say("The ceiling holds against an adversary who believes the true profile; who believes another may err more.")
    say(ASSUMPTION)
    if label.gain is not None:
        say("Gain over the other codebook, against the same adversary: ", (in_percent(label.gain), "bold"), ".")


@commands.command(
    "expose", epilog="Example: hideseek expose me.hideseek --state me.state --latitude 46.52 --longitude 6.57"
)
def expose_command(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A codebook made by design, or a plan made by plan.")],
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
        float | None, NUMBER(help="Privacy below which nothing is exposed; for plans.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print what to expose now instead of the true place; a step has one answer, however often you ask.

    With a codebook the answer is looked up; with a plan, the game is solved for the adversary's current belief.

    Without --latitude and --longitude, one line LATITUDE,LONGITUDE is read from the standard input, which other users
    of the machine do not see. The exit status is 3 if nothing may be exposed.
    """
    from datetime import UTC, datetime

    from hideseek.cli.inputs import point_from, point_line
    from hideseek.storage.kinds import Kind, kind_of

    kind = kind_of(path)
    if kind not in (Kind.CODEBOOK, Kind.PLAN):
        raise broken_rule("FILE", "expose", "a codebook or a plan", f"{path.name}, a {kind}")
    if kind is Kind.PLAN and ahead:
        raise broken_rule("ahead", "expose", "given with a codebook only", f"the plan {path.name}")
    if kind is Kind.CODEBOOK and floor is not None:
        raise broken_rule("floor", "expose", "given with a plan only", f"the codebook {path.name}")
    if (latitude is None) != (longitude is None):
        raise broken_rule("latitude and longitude", "expose", "given together, or not at all", "one of them")
    here = point_line() if latitude is None else f"{latitude},{longitude}"
    point, when = point_from(here, "latitude and longitude"), datetime.now(UTC) if at is None else at
    route = [point_from(text, "ahead") for text in ahead or []]
    if kind is Kind.PLAN:
        answer, label = live_answer(path, state, floor or 0.0, point, when)
    else:
        answer, label = codebook_answer(path, state, point, when, route), None
    show_answer(answer, label, as_json)


def live_answer(path: Path, state: Path, floor: float, point: Point, when: datetime | str) -> tuple[Answer, LiveLabel]:
    """The answer of a live device, and the label of its releases so far."""
    from hideseek.device.live_device import LiveDevice
    from hideseek.planning.plan_file import load_plan

    device = LiveDevice(*load_plan(path), state=state, floor=floor)
    return device.expose(*point, at=when), device.label()


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
