"""Commands for a person who uses a service again and again: design and plan."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hideseek.cli.options import (
    NUMBER,
    AsJson,
    Budget,
    Cap,
    Commands,
    Data,
    Every,
    Memory,
    Over,
    Planned,
    Privacy,
    Quality,
    Sensitive,
    ThroughTime,
)
from hideseek.cli.reading import Reading, reads_traces
from hideseek.cli.terminal import print_json, print_table, say
from hideseek.util.choices import ACCESS, Against, MetricName, Mode, Outlook, Protect
from hideseek.util.progress import bar

if TYPE_CHECKING:  # a command imports what it needs when it runs, so that help comes at once
    from hideseek.adversary.playbook_label import PlaybookLabel
    from hideseek.codebook.codebook import Codebook
    from hideseek.designing.playbook_maker import Rehearsal
    from hideseek.metrics.metric import Metric
    from hideseek.model.markov import MarkovProfile
    from hideseek.model.scenario import Scenario
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
Who = Annotated[
    Against | None,
    typer.Option(
        "--against",
        help="The adversary: filter guesses a place at its access. smoother guesses a while later, from the releases "
        "since then too; with --protect place. With --over, log guesses when all has been released, and both, which "
        "is what is meant then if nothing is said, at the access and later again. Else filter is meant.",
        show_default=False,
    ),
]
Lag = Annotated[int | None, NUMBER(help="Time steps until then, with --against smoother; 1 if not given.")]
COMPARED = 100  # accesses, and walks, to measure what planning ahead gains
FEW = 10  # walks to measure what a new playbook reaches; evaluate takes more
PLAYBOOK, CODEBOOK = "me.playbook", "codebook.hideseek"
OUT = f"The file to write; {PLAYBOOK}, or {CODEBOOK} for a codebook, if not given."
MadeFile = Annotated[Path | None, typer.Option("--out", metavar="FILE", help=OUT)]
FirstStages = Annotated[int | None, NUMBER(help="How many first accesses get their own tables; for codebooks.")]
FarSighted = Annotated[
    bool,
    typer.Option(
        "--farsighted", help="Plan ahead for a codebook too, and measure the gain; takes several times as long."
    ),
]
Kilobytes = Annotated[float | None, NUMBER(help="How large a playbook may be; 24 for every place if not given.")]
OfDesign = Annotated[
    str | None,
    typer.Option(
        "--over",
        metavar="LENGTH",
        help="Over what the budget holds on average: access (at every access, after every history); for a playbook, a "
        "length of time such as 1day, whose accesses may save up for each other; for a codebook, histories: at every "
        "access on average over all that it may remember.",
    ),
]
Processes = Annotated[int | None, NUMBER(help="Processes to work in for a codebook; one per core if not given.")]


@commands.command("design", epilog="Example: hideseek design abboip.json --budget 20% --out abboip.playbook")
@reads_traces
def design_command(
    data: Data,
    reading: Reading,
    path: MadeFile = None,
    budget: Budget = "20%",
    over: OfDesign = None,
    cap: Cap = None,
    protect: ThroughTime = Protect.PLACE,
    planned: Planned = False,
    memory: Memory = None,
    every: Every = None,
    first_stages: FirstStages = None,
    privacy: Privacy = MetricName.EUCLID,
    quality: Quality = MetricName.SQUARED,
    sensitive: Sensitive = [],
    farsighted: FarSighted = False,
    kilobytes: Kilobytes = None,
    workers: Processes = None,
    as_json: AsJson = False,
) -> None:
    """Make a person's file for a device: a playbook, or a codebook.

    A playbook protects the current place, and keeps the budget after every full history. Its device needs no solver,
    and answers after any gap. With --memory, or where more than the current place is protected, a codebook is made: the
    best mechanism for every exposed history that it remembers. Its budget holds after every one of them, or with --over
    histories on average over them.
    """
    from hideseek.cli.inputs import (
        metrics_of,
        refuse_of_other_kind,
        scenario_of_codebook,
        scenario_of_plan,
        tell_if_narrow,
    )
    from hideseek.cli.people import profile_of
    from hideseek.designing.designer import checked_over
    from hideseek.game.budget import budget_through_time

    playbook = protect is Protect.PLACE and memory is None
    path = Path(PLAYBOOK if playbook else CODEBOOK) if path is None else path
    path.parent.mkdir(parents=True, exist_ok=True)  # refuse a folder that cannot be written before the work starts
    about_codebooks = {"first_stages": first_stages, "farsighted": farsighted, "workers": workers}
    about_playbooks = {"kilobytes": kilobytes, "cap": cap}
    refuse_of_other_kind(playbook, of_playbooks=about_playbooks, of_codebooks=about_codebooks)
    scenario = scenario_of_codebook(protect, planned, memory, every)
    over = over or ACCESS
    if not playbook:
        checked_over(over, scenario)
    profile = profile_of(data, reading, sensitive)
    scenario = scenario_of_plan(protect, profile, every) if playbook else scenario
    d_p, d_q = metrics_of(profile, privacy, quality, sensitive)
    allowed = budget_through_time(budget, profile, scenario, d_p, d_q, "design")
    tell_if_narrow(profile, d_q, allowed)
    job = Design(profile, scenario, d_p, d_q, allowed, over, cap)
    if playbook:
        design_playbook(job, kilobytes, path, as_json)
    else:
        design_codebook(job, first_stages, farsighted, workers, path, as_json)


@dataclass(frozen=True)
class Design:
    """What a file is made for."""

    profile: MarkovProfile
    scenario: Scenario
    privacy: Metric
    quality: Metric
    budget: float
    over: str
    cap: float | None

    @property
    def game(self) -> BeliefGame:
        """The game for any belief of the adversary."""
        from hideseek.planning.belief_game import BeliefGame

        return BeliefGame.of(
            self.profile, scenario=self.scenario, privacy=self.privacy, quality=self.quality, budget=self.budget,
            over=self.over, cap=self.cap,
        )  # fmt: skip


def design_playbook(job: Design, kilobytes: float | None, path: Path, as_json: bool) -> None:
    """Plan, make the playbook, attack it, and show what is reached."""
    from hideseek.adversary.playbook_label import playbook_label
    from hideseek.cli.expected import playbook_seconds, tell_if_long
    from hideseek.designing.playbook_maker import WITHIN, rehearsed
    from hideseek.planning.training import plan
    from hideseek.util.checks import scalar

    if kilobytes is not None:
        scalar(kilobytes, "kilobytes", "design")
    game = job.game
    tell_if_long(playbook_seconds(len(game.states)))
    with bar("planning") as advance:
        planner = plan(game, progress=advance)
    with bar("making the playbook") as advance:
        made = rehearsed(game, planner, WITHIN, kilobytes, 0, advance)
    with bar("attacking") as advance:
        label = playbook_label(made.playbook, accesses=COMPARED, walks=FEW, progress=advance)
    made.playbook.save(path)
    show_playbook(made, label, path, as_json)


def show_playbook(made: Rehearsal, label: PlaybookLabel, path: Path, as_json: bool) -> None:
    """A new playbook, with what it reaches."""
    from hideseek.cli.descriptions import HABITS
    from hideseek.cli.playbook_words import label_facts, label_rows, label_sentences, playbook_facts, playbook_words
    from hideseek.experiments.wording import in_percent

    playbook, size, short = made.playbook, path.stat().st_size, made.shortfall
    if as_json:
        reached = {"shortfall": short, "shortfall_interval": short.interval, "label": label_facts(label, playbook)}
        print_json(playbook_facts(playbook) | reached | {"playbook": str(path), "bytes": size})
        return
    title = f"A playbook of {size / 1000:.0f} kB over {len(playbook.regions)} places"
    print_table(title, ("", ""), [*playbook_words(playbook), ("a live planner reaches", f"{in_percent(short)} more")])
    print_table(
        f"On average over {label.accesses} accesses of {label.walks} walks", *label_rows(label, playbook.privacy.unit)
    )
    for sentence in label_sentences(label, playbook):
        say(sentence)
    say("The playbook, readable by you only: ", (str(path), "bold"), f". {HABITS}")


def design_codebook(
    job: Design, first_stages: int | None, farsighted: bool, workers: int | None, path: Path, as_json: bool
) -> None:
    """Design a codebook, and show what it claims."""
    from hideseek.cli.expected import design_seconds, tell_if_long
    from hideseek.designing.designer import design

    tell_if_long(design_seconds(job.profile.places, job.scenario) * (1 + 3 * farsighted))

    def designed(planner: Planner | None = None) -> Codebook:
        with bar("designing") as advance:
            return design(
                job.profile, job.scenario, privacy=job.privacy, quality=job.quality, budget=job.budget, over=job.over,
                first_stages=first_stages, farsighted=planner, workers=workers, progress=advance,
            )  # fmt: skip

    gain = None
    if farsighted:
        game = replace(job, over=ACCESS).game  # what a planner of a codebook is for, whatever the codebook's own is
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
    over: Over = ACCESS,
    cap: Cap = None,
    protect: ThroughTime = Protect.PLACE,
    every: Every = None,
    against: Who = None,
    lag: Lag = None,
    privacy: Privacy = MetricName.EUCLID,
    quality: Quality = MetricName.SQUARED,
    sensitive: Sensitive = [],
    outlook: HowFar = Outlook.FAR_SIGHTED,
    mode: HowMuch = Mode.TRADE_OFF,
    discount: Annotated[float, NUMBER(help="How much an access counts, relative to the one before it.")] = 0.9,
    walks: Annotated[int, NUMBER(help="Walks to train on.")] = 40,
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
    from hideseek.planning.simulation import WALKS as LEAST
    from hideseek.planning.training import WALKS as TRAINED
    from hideseek.planning.training import plan
    from hideseek.util.checks import whole_number

    path.parent.mkdir(parents=True, exist_ok=True)  # refuse what cannot be written or simulated before the work starts
    whole_number(accesses, "accesses", "plan", least=LEAST)
    profile = profile_of(data, reading, sensitive)
    scenario = scenario_of_plan(protect, profile, every, against or Against.FILTER, lag)
    d_p, d_q = metrics_of(profile, privacy, quality, sensitive)
    allowed = budget_through_time(budget, profile, scenario, d_p, d_q, "plan")
    tell_if_narrow(profile, d_q, allowed)
    game = Design(profile, scenario, d_p, d_q, allowed, over, cap).game
    asked = None if against is Against.SMOOTHER else against  # then it is the scenario that says so
    tell_if_long(expected_seconds([len(game.states)], accesses, [outlook], workers=1) * max(1.0, walks / TRAINED))
    start = time.perf_counter()
    with bar("planning") as advance:
        planner = plan(
            game, outlook=outlook, mode=mode, discount=discount, walks=walks, seed=seed, progress=advance, against=asked
        )  # fmt: skip
    show_plan(game, planner, path, accesses, seed, time.perf_counter() - start, as_json)


def show_plan(
    game: BeliefGame, planner: Planner, path: Path, accesses: int, seed: int, seconds: float, as_json: bool
) -> None:
    """Simulate a planner, write its plan, and show what it reaches."""
    from hideseek.cli.descriptions import HABITS, how_held, plan_facts, plan_words
    from hideseek.planning.plan_file import save_plan
    from hideseek.planning.simulation import follow, for_whom

    with bar("simulating") as advance:
        found = follow(game, planner, accesses=accesses, seed=seed, progress=advance)
    save_plan(game, planner, path=path)
    if as_json:
        print_json(plan_facts(game, planner, found) | {"seconds": seconds, "plan": str(path)})
        return
    words = [*plan_words(game, planner, found), ("trained in", f"{seconds:.1f} s")]
    print_table(f"A plan over {game.profile.places} places", ("", ""), words)
    most = f"at least {found.certified:.1%} of what any mechanism can reach that keeps this budget {how_held(game)}"
    say("It reaches ", (most, "bold"), " in the long run (with 95 % confidence).")
    say(for_whom(game))
    say("The plan, readable by you only: ", (str(path), "bold"), f". {HABITS}")
