"""What can be designed: scenarios that a device can follow, and games that fit in memory."""

from __future__ import annotations

from hideseek.designing.deployed_run import window_of
from hideseek.errors import broken_rule
from hideseek.model.markov import MarkovProfile, possible_ways
from hideseek.model.profile import Profile
from hideseek.model.scenario import Scenario
from hideseek.model.trajectories import longest_run, refuse_many_moves
from hideseek.util.checks import whole_number
from hideseek.util.limits import refuse_if_too_large

STAGE = 2**14  # bytes of memory per place that the design of a stage takes
EXPOSED = 0.1  # the share of the possible sequences that are surely exposed with some probability


def homogeneous(profile: Profile, scenario: Scenario, owner: str) -> MarkovProfile:
    """The profile, refused unless it is the same at all times and a device can follow the scenario."""
    if not isinstance(profile, MarkovProfile):
        rule = "a MarkovProfile, the same at all times, as a device may start at any of them"
        raise broken_rule("profile", owner, rule, type(profile).__name__)
    if scenario.release != tuple(range(len(scenario.release))):
        raise broken_rule("scenario", owner, "one that releases now and the steps right after", scenario.release)
    learned = [offset % scenario.every in scenario.release for offset in scenario.known if offset < 0]
    if not all(learned) or 0 not in scenario.known or scenario.known[-1] > scenario.release[-1]:
        rule = "one whose known places are that of now, and others at which something is released"
        raise broken_rule("scenario", owner, rule, f"known={scenario.known} every {scenario.every} steps")
    if any(offset + scenario.every not in (*scenario.seen, *scenario.release) for offset in scenario.seen):
        raise broken_rule("scenario", owner, "one that remembers all releases since the oldest", scenario.seen)
    return profile


def first_stage_count(profile: MarkovProfile, scenario: Scenario, first_stages: int | None, owner: str) -> int:
    """How many first stages a design has, refused unless all of it fits in memory and time."""
    warm = max(0, -(min(scenario.offsets) // scenario.every))
    least = whole_number(warm if first_stages is None else first_stages, "first_stages", owner, least=0)
    if least < warm:
        rule = f"at least {warm}, the accesses until all that the scenario looks back at has happened"
        raise broken_rule("first_stages", owner, rule, first_stages)
    what = f"A design of {least + 1} stages over {profile.places} places"
    way_out = "Ask for fewer 'first_stages'."
    refuse_if_too_large(STAGE * profile.places * (least + 1), what, way_out, parameter="first_stages")
    way_out = "Use a scenario with a smaller 'every'."
    refuse_many_moves((least + 1) * scenario.every, way_out, parameter="scenario")
    refuse_many_histories(profile, scenario)
    return least + 2 if first_stages is None and scenario.seen else least


def refuse_many_histories(profile: MarkovProfile, scenario: Scenario) -> None:
    """Refuse a scenario with more histories and true trajectories than fit in memory, before any game is solved.

    If the budget allows any loss, nearly every history that can occur is exposed with some probability (measured: 0.8
    to 1 of the trajectories that a person can take).
    """
    in_a_row = longest_run({*scenario.target, *scenario.quality, *scenario.known})
    length = max(window_of(profile, scenario), in_a_row)
    ways = possible_ways(profile, length)
    histories = possible_ways(profile, len(scenario.seen))
    what = f"A design for about {histories:.3g} histories and {ways:.3g} ways through {profile.places} places"
    way_out = "Remember, know or protect fewer places in 'scenario', or use fewer places."
    refuse_if_too_large(8 * ways * (length + EXPOSED * histories), what, way_out, parameter="scenario")
