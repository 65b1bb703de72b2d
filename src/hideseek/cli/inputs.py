"""What the options mean: which metrics, scenario and game. Imported when a command runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from pathlib import Path

from hideseek.adversary.label import Label
from hideseek.cli.options import EVERY, MEMORY
from hideseek.cli.terminal import note, this_command
from hideseek.errors import broken_rule
from hideseek.game.game import Game
from hideseek.metrics.metric import Metric
from hideseek.metrics.named import metric_of
from hideseek.metrics.sensitive_places import sensitive_to
from hideseek.model.markov import MarkovProfile
from hideseek.model.own_places import narrow_budget
from hideseek.model.profile import regions_of
from hideseek.model.scenario import Scenario
from hideseek.util.choices import Against, MetricName, Protect
from hideseek.util.estimates import Estimate
from hideseek.util.private_files import read_plain_file
from hideseek.util.units import is_length, shown

Options = Mapping[str, bool | float | str | None]
LONGEST_LINE = 256  # characters for a point
LARGEST_LABEL = 2**20  # bytes
APPLIES = {"planned": (Protect.NEXT,), "memory": (Protect.PLACE, Protect.WAY), "every": (Protect.BETWEEN,)}


def metrics_of(
    profile: MarkovProfile, privacy: MetricName, quality: MetricName, sensitive: Sequence[str] = ()
) -> tuple[Metric, Metric]:
    """The two metrics over a profile's places; errors count for more at sensitive ones."""
    regions = regions_of(profile)
    return sensitive_to(privacy, regions, places=sensitive), metric_of(quality, regions)


def tell_if_narrow(profile: MarkovProfile, quality: Metric, budget: float) -> None:
    """Warn where a budget is far below the size of a place."""
    if is_length(quality.unit):
        for words in narrow_budget(regions_of(profile), shown(budget, quality.unit)):
            note(("warning:", "bold yellow"), f" {words}")


def scenario_alone(protect: Protect, planned: bool) -> Scenario:
    """What is protected when only one access is looked at."""
    if protect in (Protect.WAY, Protect.BETWEEN):
        way_out = "Use design or plan, which look at several accesses."
        raise broken_rule("protect", this_command(), "place or next, for one access", str(protect), way_out)
    refuse_idle(protect, planned=planned)
    if protect is Protect.NEXT:
        return Scenario.present_future(planned=planned)
    return Scenario.sporadic()


def refuse_idle(protect: Protect, **options: bool | int | None) -> None:
    """Refuse an option that was given and would change nothing, as it belongs to another ``--protect``."""
    for name, value in options.items():
        if value not in (None, False) and protect not in APPLIES[name]:
            rule = f"given with --protect {' or '.join(APPLIES[name])}"
            way_out = "Leave it out, or protect something else."
            raise broken_rule(name, this_command(), rule, f"--protect {protect}", way_out)


def refuse_of_other_kind(playbook: bool, *, of_playbooks: Options, of_codebooks: Options) -> None:
    """Refuse an option that was given and would change nothing, as it belongs to the other kind of file."""
    rule, got = (
        ("given with --memory, or with another --protect than place", "a playbook to make")
        if playbook
        else ("given with --protect place, and without --memory", "a codebook to make")
    )
    for name, value in (of_codebooks if playbook else of_playbooks).items():
        if value not in (None, False):
            raise broken_rule(name, this_command(), rule, got, "Leave it out, or make the other one.")


def scenario_of_codebook(protect: Protect, planned: bool, memory: int | None, every: int | None) -> Scenario:
    """What a codebook protects, when the adversary remembers so many releases."""
    refuse_idle(protect, planned=planned, memory=memory, every=every)
    if protect is Protect.BETWEEN:
        return Scenario.in_between(EVERY if every is None else every)
    if protect is Protect.NEXT:
        return Scenario.present_future(planned=planned)
    return Scenario.past_present(MEMORY if memory is None else memory, protect=protect)


def scenario_of_plan(
    protect: Protect,
    profile: MarkovProfile,
    every: int | None,
    against: Against = Against.FILTER,
    lag: int | None = None,
) -> Scenario:
    """What a planner protects: it releases one place, and knows as many as the next one depends on."""
    refuse_idle(protect, every=every)
    if against is Against.SMOOTHER:
        if protect is not Protect.PLACE:
            raise broken_rule("against", "plan", "filter, unless place is protected", str(against))
        return Scenario.read_later(1 if lag is None else lag, memory=profile.memory)
    if lag is not None:
        raise broken_rule("lag", "plan", "left out, unless --against is smoother", lag)
    known = tuple(range(1 - profile.memory, 1))
    if protect is Protect.BETWEEN:
        return Scenario.in_between(EVERY if every is None else every)
    if protect is Protect.WAY:
        return Scenario(target=(-1, 0), known=max(known, (-1, 0), key=len))
    return Scenario(target=(0, 1) if protect is Protect.NEXT else (0,), known=known)


def game_of(
    profile: MarkovProfile, scenario: Scenario, privacy: MetricName, quality: MetricName, sensitive: Sequence[str] = ()
) -> tuple[Game, Metric, Metric]:
    """The game that the options describe, at its saturating budget, with its metrics."""
    d_p, d_q = metrics_of(profile, privacy, quality, sensitive)
    return Game.from_scenario(profile, scenario, privacy=d_p, quality=d_q), d_p, d_q


def point_line() -> str:
    """A line from the standard input; empty where there is none that can be read."""
    try:
        return sys.stdin.readline(LONGEST_LINE) if sys.stdin else ""
    except UnicodeDecodeError:
        return ""


def point_from(text: str, parameter: str) -> tuple[float, float]:
    """A point from LATITUDE,LONGITUDE; a wrong one is not repeated in the error."""
    try:
        latitude, longitude = (float(part) for part in text.split(","))
    except ValueError:
        raise broken_rule(parameter, "expose", "LATITUDE,LONGITUDE in degrees", "something else") from None
    return latitude, longitude


def read_label(path: Path) -> Label:
    """A label as ``evaluate --json`` writes it."""
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
        raise broken_rule("label", this_command(), rule, f"{path.name} ({type(error).__name__})") from None
