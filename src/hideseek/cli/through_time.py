"""Commands for a person who uses a service again and again: design, inspect, evaluate, expose, plan."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hideseek.cli.options import (
    AsJson,
    Budget,
    CodebookFile,
    Every,
    GridSize,
    Privacy,
    Protect,
    Quality,
    Source,
    Step,
    ThroughTime,
    User,
    Workers,
)
from hideseek.cli.terminal import note, print_json, print_label, print_table, say
from hideseek.errors import broken_rule
from hideseek.util.choices import MetricName, Mode, Outlook
from hideseek.util.progress import bar

if TYPE_CHECKING:  # a command imports what it needs when it runs, so that help comes at once
    from datetime import datetime

    from hideseek.codebook.codebook import Codebook
    from hideseek.device.codebook_device import Point
    from hideseek.device.live_device import LiveLabel
    from hideseek.device.step_device import Answer
    from hideseek.planning.belief_game import BeliefGame
    from hideseek.planning.planner import Planner
    from hideseek.util.estimates import Estimate

commands = typer.Typer()
COMPARED = 100  # accesses, and walks, to measure what planning ahead gains
WITHHELD = {
    "clock": "a later step was answered already. If the clock was wrong then, only a new --state helps.",
    "not due": "the service is not due at this step.",
    "gap": "the codebook has no table after so many missed accesses. Design with more --gaps, or forget the history "
    "with --restart.",
    "history": "a table needs a step that was not asked about. Forget the history with --restart.",
    "floor": "after the releases so far, no release keeps as much privacy as --floor asks. Ask again at a later step.",
    "budget": "without a step that was not asked about, no release keeps the budget. Ask again at the next step.",
}


@commands.command("design", epilog="Example: hideseek design abboip.json --budget 20% --gaps 3 --out abboip.hideseek")
def design_command(
    source: Source,
    path: Annotated[Path, typer.Option("--out", help="The codebook file to write.")] = Path("codebook.hideseek"),
    budget: Budget = "20%",
    protect: ThroughTime = Protect.PLACE,
    memory: Annotated[
        int, typer.Option(help="Releases that the adversary remembers, with --protect place and trajectory.")
    ] = 1,
    every: Every = 2,
    first_stages: Annotated[int | None, typer.Option(help="How many first accesses get their own tables.")] = None,
    gaps: Annotated[int, typer.Option(help="Longest gap after which to continue, in accesses; 1: none missed.")] = 1,
    privacy: Privacy = MetricName.EUCLID,
    quality: Quality = MetricName.SQUARED,
    farsighted: Annotated[
        bool, typer.Option("--farsighted", help="Plan ahead, and measure the gain; takes several times as long.")
    ] = False,
    workers: Workers = None,
    user: User = None,
    grid: GridSize = None,
    step: Step = None,
    as_json: AsJson = False,
) -> None:
    """Design a person's codebook: the best mechanism for every exposed history that can occur."""
    from hideseek.cli.inputs import metrics_of, profile_of, scenario_of_codebook
    from hideseek.designing.designer import design
    from hideseek.game.budget import budget_through_time

    path.parent.mkdir(parents=True, exist_ok=True)  # refuse a folder that cannot be written before the work starts
    profile, scenario = profile_of(source, user, grid, step), scenario_of_codebook(protect, memory, every)
    d_p, d_q = metrics_of(profile, privacy, quality)
    allowed = budget_through_time(budget, profile, scenario, d_p, d_q, "design")

    def designed(planner: Planner | None = None) -> Codebook:
        with bar("designing") as advance:
            return design(
                profile, scenario, privacy=d_p, quality=d_q, budget=allowed, first_stages=first_stages, gaps=gaps,
                farsighted=planner, workers=workers, progress=advance,
            )  # fmt: skip

    gain = None
    if farsighted:
        from hideseek.adversary.label import evaluate
        from hideseek.planning.belief_game import BeliefGame
        from hideseek.planning.training import plan

        game = BeliefGame.of(profile, privacy=d_p, quality=d_q, budget=allowed, scenario=scenario)
        with bar("planning") as advance:
            planner = plan(game, progress=advance)
        codebook, short = designed(planner), designed()
        with bar("comparing") as advance:
            gain = evaluate(
                codebook, profile, accesses=COMPARED, walks=COMPARED, progress=advance, beside=short
            ).gain  # fmt: skip
        if gain is not None and gain < 0:
            codebook = short
    else:
        codebook = designed()
    codebook.save(path)
    show_design(codebook, gain, path, as_json)


def show_design(codebook: Codebook, gain: Estimate | None, path: Path, as_json: bool) -> None:
    """A new codebook, with what planning ahead gains where that was asked for."""
    from hideseek.cli.descriptions import HABITS, codebook_facts, codebook_words
    from hideseek.experiments.wording import in_percent

    if as_json:
        gained = {} if gain is None else {"gain": gain, "gain_interval": gain.interval, "farsighted": gain >= 0}
        print_json(codebook_facts(codebook) | gained | {"codebook": str(path)})
        return
    print_table(f"A codebook over {codebook.places} places", ("", ""), codebook_words(codebook))
    if gain is not None:
        left_out = "" if gain >= 0 else ", so it was left out"
        against = f" against an adversary who remembers every release{left_out}."
        say("Planning ahead gains ", (in_percent(gain), "bold"), against)
    say("The codebook, readable by you only: ", (str(path), "bold"), f". {HABITS}")


@commands.command("inspect", epilog="Example: hideseek inspect abboip.hideseek")
def inspect_command(path: CodebookFile, as_json: AsJson = False) -> None:
    """Verify a codebook, and describe what it holds.

    Everything that it claims is computed again from the tables and the profile in its file, missed accesses included.
    """
    from hideseek.cli.descriptions import HABITS, codebook_facts, codebook_words, stage_rows
    from hideseek.codebook.codebook import Codebook
    from hideseek.designing.deployed_run import verify

    codebook, verified = Codebook.load(path), False
    if codebook.chain is not None:
        with bar("verifying") as advance:
            verify(codebook, progress=advance)
        verified = True
    if as_json:
        print_json(
            codebook_facts(codebook) | {"codebook": str(path), "bytes": path.stat().st_size, "verified": verified}
        )
        return
    size = f"{path.stat().st_size / 1000:.0f} kB"
    what = (
        "verified" if verified else "claimed by its designer and not verified, as it holds no profile (hideseek 0.1.0)"
    )
    print_table(f"{path.name}, {size}: {what}", ("", ""), codebook_words(codebook))
    print_table("Its stages, computed again from the stored integers", *stage_rows(codebook))
    say(("Keep it private.", "bold yellow"), f" {HABITS}")


@commands.command("evaluate", epilog="Example: hideseek evaluate abboip.hideseek abboip.json")
def evaluate_command(
    path: CodebookFile,
    source: Annotated[Path, typer.Argument(metavar="PROFILE", help="The profile made by learn, or another one.")],
    accesses: Annotated[int, typer.Option(help="Length of the run, in accesses.")] = 200,
    walks: Annotated[
        int, typer.Option(help="Walks to simulate where there are too many sequences to enumerate.")
    ] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the random walks.")] = 0,
    beside: Annotated[Path | None, typer.Option(help="Another codebook; the gain over it is shown.")] = None,
    as_json: AsJson = False,
) -> None:
    """Compute the honest label: the privacy that is left against adversaries who remember every release."""
    from hideseek.adversary.label import ASSUMPTION, evaluate
    from hideseek.cli.descriptions import label_facts
    from hideseek.codebook.codebook import Codebook
    from hideseek.experiments.wording import in_percent, loss_words, sensitive_words
    from hideseek.storage.profile_file import load_profile

    codebook = Codebook.load(path)
    with bar("attacking") as advance:
        other, profile = None if beside is None else Codebook.load(beside), load_profile(source)
        label = evaluate(
            codebook, profile, accesses=accesses, walks=walks, seed=seed, progress=advance, beside=other
        )  # fmt: skip
    if as_json:
        print_json(label_facts(label))
        return
    print_label(label, codebook.privacy.unit)
    if sensitive := sensitive_words(codebook.privacy, codebook.regions):
        say(f"Sensitive places: {sensitive}.")
    say(f"Kept of the ceiling, against an adversary who remembers every release: {label.kept.in_words()}.")
    say(loss_words(label, codebook.budget, codebook.quality.unit))
    say(ASSUMPTION)
    if label.gain is not None:
        say("Gain over the other codebook, against the same adversary: ", (in_percent(label.gain), "bold"), ".")


@commands.command(
    "expose", epilog="Example: hideseek expose me.hideseek --state me.state --latitude 46.52 --longitude 6.57"
)
def expose_command(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A codebook made by design; with --live, a plan.")],
    state: Annotated[Path, typer.Option(help="The device's state file, which holds what was exposed so far.")],
    latitude: Annotated[str | None, typer.Option(help="Where you are, in degrees.")] = None,
    longitude: Annotated[str | None, typer.Option(help="Where you are, in degrees.")] = None,
    at: Annotated[str | None, typer.Option(help="When, in ISO 8601 with offset; now if not given.")] = None,
    ahead: Annotated[
        list[str] | None, typer.Option(help="LATITUDE,LONGITUDE of a following step, for planned routes.")
    ] = None,
    restart: Annotated[
        bool, typer.Option("--restart", help="Forget the history first, after too many missed accesses.")
    ] = False,
    live: Annotated[
        bool,
        typer.Option("--live", help="Use a plan file: solve for the adversary's current belief at each request."),
    ] = False,
    floor: Annotated[
        float | None, typer.Option(help="Privacy below which nothing is exposed, with --live.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print what to expose now instead of the true place; a step has one answer, however often you ask.

    Without --latitude and --longitude, one line LATITUDE,LONGITUDE is read from the standard input, which other users
    of the machine do not see. The exit status is 3 if nothing may be exposed.
    """
    from datetime import UTC, datetime

    from hideseek.cli.inputs import point_from, point_line

    if live and (ahead or restart):
        way_out = "A live device plans for itself, and continues after any number of missed accesses."
        raise broken_rule("--live", "expose", "given without --ahead and --restart", "one of them", way_out)
    if floor is not None and not live:
        raise broken_rule("floor", "expose", "given with --live only", floor)
    if (latitude is None) != (longitude is None):
        raise broken_rule("latitude and longitude", "expose", "given together, or not at all", "one of them")
    here = point_line() if latitude is None else f"{latitude},{longitude}"
    point, when = point_from(here, "latitude and longitude"), datetime.now(UTC) if at is None else at
    route = [point_from(text, "ahead") for text in ahead or []]
    if live:
        answer, label = live_answer(path, state, floor or 0.0, point, when)
    else:
        answer, label = codebook_answer(path, state, restart, point, when, route), None
    show_answer(answer, label, as_json)


def live_answer(path: Path, state: Path, floor: float, point: Point, when: datetime | str) -> tuple[Answer, LiveLabel]:
    """The answer of a live device, and the label of its releases so far."""
    from hideseek.device.live_device import LiveDevice
    from hideseek.planning.plan_file import load_plan

    device = LiveDevice(*load_plan(path), state=state, floor=floor)
    return device.expose(*point, at=when), device.label()


def codebook_answer(
    path: Path, state: Path, restart: bool, point: Point, when: datetime | str, route: list[Point]
) -> Answer:
    """The answer of a codebook device."""
    from hideseek.codebook.codebook import Codebook
    from hideseek.device.codebook_device import Device

    device = Device(Codebook.load(path), state)
    if restart:
        device.restart()
    return device.expose(*point, at=when, ahead=route)


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


@commands.command("plan", epilog="Example: hideseek plan abboip.json --budget 20% --out abboip.plan")
def plan_command(
    source: Source,
    path: Annotated[Path, typer.Option("--out", help="The plan file to write.")] = Path("me.plan"),
    budget: Budget = "20%",
    protect: ThroughTime = Protect.PLACE,
    every: Every = 2,
    privacy: Privacy = MetricName.EUCLID,
    quality: Quality = MetricName.SQUARED,
    outlook: Annotated[
        Outlook,
        typer.Option(
            help="How far to look ahead: plain and secondary not at all, look-ahead one access, far-sighted all."
        ),
    ] = Outlook.FAR_SIGHTED,
    mode: Annotated[
        Mode,
        typer.Option(
            help="Give up no privacy of this access (lexicographic), or some for more privacy later (trade-off)."
        ),
    ] = Mode.TRADE_OFF,
    discount: Annotated[float, typer.Option(help="How much an access counts, relative to the one before it.")] = 0.9,
    walks: Annotated[int, typer.Option(help="Walks to train on.")] = 30,
    accesses: Annotated[int, typer.Option(help="Accesses to simulate, to measure what is reached.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the random walks.")] = 0,
    user: User = None,
    grid: GridSize = None,
    step: Step = None,
    as_json: AsJson = False,
) -> None:
    """Train a planner, which keeps privacy for later against an adversary who remembers every release.

    The privacy that it reaches is simulated and shown with two bounds. No mechanism that keeps the budget on average
    exceeds the ceiling, and none that keeps it given every release so far, as this one does, exceeds the bound of its
    cuts.
    """
    from hideseek.cli.inputs import metrics_of, profile_of, scenario_of_plan
    from hideseek.game.budget import budget_through_time
    from hideseek.planning.belief_game import BeliefGame
    from hideseek.planning.simulation import WALKS as LEAST
    from hideseek.planning.training import plan
    from hideseek.util.checks import whole_number

    path.parent.mkdir(parents=True, exist_ok=True)  # refuse what cannot be written or simulated before the work starts
    whole_number(accesses, "accesses", "plan", least=LEAST)
    profile = profile_of(source, user, grid, step)
    scenario, (d_p, d_q) = scenario_of_plan(protect, profile, every), metrics_of(profile, privacy, quality)
    allowed = budget_through_time(budget, profile, scenario, d_p, d_q, "plan")
    game = BeliefGame.of(profile, privacy=d_p, quality=d_q, budget=allowed, scenario=scenario)
    start = time.perf_counter()
    with bar("planning") as advance:
        planner = plan(
            game, outlook=outlook, mode=mode, discount=discount, walks=walks, seed=seed, progress=advance
        )  # fmt: skip
    show_plan(game, planner, path, accesses, seed, time.perf_counter() - start, as_json)


def show_plan(
    game: BeliefGame, planner: Planner, path: Path, accesses: int, seed: int, seconds: float, as_json: bool
) -> None:
    """Simulate a planner, write its plan, and show what it reaches."""
    from hideseek.cli.descriptions import HABITS, plan_facts, plan_words
    from hideseek.planning.plan_file import save_plan
    from hideseek.planning.simulation import FOR_WHOM, follow

    with bar("simulating") as advance:
        found = follow(game, planner, accesses=accesses, seed=seed, progress=advance)
    save_plan(game, planner, path=path)
    if as_json:
        print_json(plan_facts(game, planner, found) | {"seconds": seconds, "plan": str(path)})
        return
    words = [*plan_words(game, planner, found), ("trained in", f"{seconds:.1f} s")]
    print_table(f"A plan over {game.profile.places} places", ("", ""), words)
    most = f"at least {found.certified:.1%} of what any mechanism can reach that keeps this budget given every release"
    say("It reaches ", (most, "bold"), " in the long run (with 95 % confidence).")
    say(FOR_WHOM)
    say("The plan, readable by you only: ", (str(path), "bold"), f". {HABITS}")
