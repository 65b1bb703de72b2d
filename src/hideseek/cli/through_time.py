"""Commands for a person who uses a service again and again: design and plan."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hideseek.cli.options import (
    NUMBER,
    AsJson,
    Budget,
    Commands,
    Data,
    Every,
    Memory,
    Planned,
    Privacy,
    Quality,
    Sensitive,
    ThroughTime,
    Workers,
)
from hideseek.cli.reading import Reading, reads_traces
from hideseek.cli.terminal import print_json, print_table, say
from hideseek.util.choices import MetricName, Mode, Outlook, Protect
from hideseek.util.progress import bar

if TYPE_CHECKING:  # a command imports what it needs when it runs, so that help comes at once
    from hideseek.codebook.codebook import Codebook
    from hideseek.planning.belief_game import BeliefGame
    from hideseek.planning.planner import Planner
    from hideseek.util.estimates import Estimate

commands = Commands()
HowFar = Annotated[
    Outlook,
    typer.Option(help="How far to look ahead: plain and secondary not at all, look-ahead one access, far-sighted all."),
]
HowMuch = Annotated[
    Mode,
    typer.Option(help="Give up no privacy of this access (lexicographic), or some for more privacy later (trade-off)."),
]
COMPARED = 100  # accesses, and walks, to measure what planning ahead gains


@commands.command("design", epilog="Example: hideseek design abboip.json --budget 20% --out abboip.hideseek")
@reads_traces
def design_command(
    data: Data,
    reading: Reading,
    path: Annotated[Path, typer.Option("--out", metavar="FILE", help="The codebook file to write.")] = Path(
        "codebook.hideseek"
    ),
    budget: Budget = "20%",
    protect: ThroughTime = Protect.PLACE,
    planned: Planned = False,
    memory: Memory = None,
    every: Every = None,
    first_stages: Annotated[int | None, NUMBER(help="How many first accesses get their own tables.")] = None,
    privacy: Privacy = MetricName.EUCLID,
    quality: Quality = MetricName.SQUARED,
    sensitive: Sensitive = [],
    farsighted: Annotated[
        bool, typer.Option("--farsighted", help="Plan ahead, and measure the gain; takes several times as long.")
    ] = False,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Design a person's codebook: the best mechanism for every exposed history that can occur."""
    from hideseek.cli.expected import design_seconds, tell_if_long
    from hideseek.cli.inputs import metrics_of, scenario_of_codebook, tell_if_narrow
    from hideseek.cli.people import profile_of
    from hideseek.designing.designer import design
    from hideseek.game.budget import budget_through_time
    from hideseek.planning.belief_game import BeliefGame

    path.parent.mkdir(parents=True, exist_ok=True)  # refuse a folder that cannot be written before the work starts
    scenario = scenario_of_codebook(protect, planned, memory, every)
    profile = profile_of(data, reading, sensitive)
    d_p, d_q = metrics_of(profile, privacy, quality, sensitive)
    allowed = budget_through_time(budget, profile, scenario, d_p, d_q, "design")
    tell_if_narrow(profile, d_q, allowed)
    tell_if_long(design_seconds(profile.places, scenario) * (1 + 3 * farsighted))

    def designed(planner: Planner | None = None) -> Codebook:
        with bar("designing") as advance:
            return design(
                profile, scenario, privacy=d_p, quality=d_q, budget=allowed, first_stages=first_stages,
                farsighted=planner, workers=workers, progress=advance,
            )  # fmt: skip

    gain = None
    if farsighted:
        game = BeliefGame.of(profile, privacy=d_p, quality=d_q, budget=allowed, scenario=scenario)
        codebook, gain = better_of_two(game, designed)
    else:
        codebook = designed()
    codebook.save(path)
    show_design(codebook, gain, path, as_json)


def better_of_two(game: BeliefGame, designed: Callable[[Planner | None], Codebook]) -> tuple[Codebook, Estimate | None]:
    """The codebook that plans ahead, unless it gains nothing over the other one; and what it gains."""
    from hideseek.adversary.label import evaluate
    from hideseek.planning.training import plan

    with bar("planning") as advance:
        planner = plan(game, progress=advance)
    codebook, short = designed(planner), designed(None)
    with bar("comparing") as advance:
        gain = evaluate(
            codebook, game.profile, accesses=COMPARED, walks=COMPARED, progress=advance, beside=short
        ).gain  # fmt: skip
    return short if gain is not None and gain < 0 else codebook, gain


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


@commands.command("plan", epilog="Example: hideseek plan abboip.json --budget 20% --out abboip.plan")
@reads_traces
def plan_command(
    data: Data,
    reading: Reading,
    path: Annotated[Path, typer.Option("--out", metavar="FILE", help="The plan file to write.")] = Path("me.plan"),
    budget: Budget = "20%",
    protect: ThroughTime = Protect.PLACE,
    every: Every = None,
    privacy: Privacy = MetricName.EUCLID,
    quality: Quality = MetricName.SQUARED,
    sensitive: Sensitive = [],
    outlook: HowFar = Outlook.FAR_SIGHTED,
    mode: HowMuch = Mode.TRADE_OFF,
    discount: Annotated[float, NUMBER(help="How much an access counts, relative to the one before it.")] = 0.9,
    walks: Annotated[int, NUMBER(help="Walks to train on.")] = 30,
    accesses: Annotated[int, NUMBER(help="Accesses to simulate, to measure what is reached.")] = 1000,
    seed: Annotated[int, NUMBER(help="Seed of the random walks.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Train a planner, which keeps privacy for later against an adversary who remembers every release.

    What it reaches is simulated, and shown with two bounds: no mechanism that keeps the budget on average exceeds the
    ceiling, and none that keeps it given every release so far, as this one does, the bound of its cuts.
    """
    from hideseek.cli.expected import tell_if_long
    from hideseek.cli.inputs import metrics_of, scenario_of_plan, tell_if_narrow
    from hideseek.cli.people import profile_of
    from hideseek.experiments.planner_study import expected_seconds
    from hideseek.game.budget import budget_through_time
    from hideseek.planning.belief_game import BeliefGame
    from hideseek.planning.simulation import WALKS as LEAST
    from hideseek.planning.training import WALKS as TRAINED
    from hideseek.planning.training import plan
    from hideseek.util.checks import whole_number

    path.parent.mkdir(parents=True, exist_ok=True)  # refuse what cannot be written or simulated before the work starts
    whole_number(accesses, "accesses", "plan", least=LEAST)
    profile = profile_of(data, reading, sensitive)
    scenario = scenario_of_plan(protect, profile, every)
    d_p, d_q = metrics_of(profile, privacy, quality, sensitive)
    allowed = budget_through_time(budget, profile, scenario, d_p, d_q, "plan")
    tell_if_narrow(profile, d_q, allowed)
    game = BeliefGame.of(profile, privacy=d_p, quality=d_q, budget=allowed, scenario=scenario)
    tell_if_long(expected_seconds([len(game.states)], accesses, [outlook], workers=1) * max(1.0, walks / TRAINED))
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
