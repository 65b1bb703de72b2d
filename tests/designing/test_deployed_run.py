"""The deployed run: every claim of a codebook against a checker that reads its file and shares no code with us."""

from __future__ import annotations

import itertools
from contextlib import suppress
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from hideseek import Codebook, Game, MarkovProfile, Scenario, design, verify
from hideseek.codebook.claims import GapCase
from hideseek.codebook.codebook import Chain, codebook_from
from hideseek.codebook.weights import Table
from hideseek.designing.deployed_run import deployed_of, deployment_of
from hideseek.errors import CodebookError
from hideseek.metrics import from_matrix, total
from tests.oracles.codebook_checker import claims
from tests.support.designs import SCENARIOS, SECOND_ORDER
from tests.support.fuzz_sealed import alike
from tests.support.saved_codebooks import GAPS, with_gaps

NUMBERS = ("privacy", "worst_privacy", "quality_loss", "worst_loss", "second_privacy", "gap_privacy", "gap_worst_loss")


def person(seed: int, places: int = 3) -> tuple[MarkovProfile, np.ndarray]:
    generator = np.random.default_rng(seed)
    chain = 0.9 * generator.dirichlet(np.full(places, 0.3), size=places) + 0.1 / places
    return MarkovProfile.from_matrix(chain), generator.random((places, places)) * (1 - np.eye(places))


def designed(profile, scenario, metric, share=0.3, **options):
    each = total(from_matrix(metric))
    enough = Game.from_scenario(
        profile, Scenario.sporadic(), privacy=from_matrix(metric), quality=from_matrix(metric)
    ).saturation
    return design(
        profile, scenario, privacy=each, quality=each, budget=share * enough * len(scenario.release), **options
    )


@pytest.mark.parametrize("name", SCENARIOS)
def test_what_is_claimed_is_what_the_file_gives(name):
    scenario = SCENARIOS[name]
    profile, metric = person(3, places=2 if len(scenario.release) > 1 or "two" in name else 3)
    assert_claimed_as_found(designed(profile, scenario, metric))


def test_claims_are_what_the_file_gives_for_chains_that_remember_more():
    assert_claimed_as_found(designed(SECOND_ORDER, Scenario.past_present(1), 1 - np.eye(2)))


@pytest.mark.parametrize("name", [file.stem for file in sorted(GAPS.iterdir())])
def test_what_a_file_with_stages_for_gaps_claims_is_what_it_gives(name):
    assert_claimed_as_found(with_gaps(name))


def without_case(deployed):
    return msgspec.structs.replace(deployed, gap_worst_case=None)


def assert_claimed_as_found(codebook):
    found, claimed = claims(codebook.content), codebook.deployed
    assert (found["gap_privacy"] is None, claimed.gap_privacy is None) == (not codebook.gaps,) * 2
    assert claimed.settled == found["settled"]
    for number in NUMBERS if codebook.gaps else NUMBERS[:-2]:
        assert getattr(claimed, number) == pytest.approx(found[number], rel=1e-9, abs=1e-12), number
    again = verify(codebook)
    if codebook.gaps:
        for case in (claimed.gap_worst_case, again.gap_worst_case):  # of equal ones, machines may find others
            loss = found["gap_losses"][case.after, case.gap, case.access]
            assert loss == pytest.approx(claimed.gap_worst_loss, rel=1e-9)
        assert claimed.gap_worst_loss <= codebook.budget * (1 + 1e-9)
    numbers = [msgspec.to_builtins(without_case(one)) for one in (again, claimed)]
    assert alike(*numbers)


def telling_the_truth(stage):
    """A stage whose tables release the place that is, whatever was seen."""
    (table,) = stage.tables
    digits = len(stage.scenario.seen) + 1
    keys = np.array(list(itertools.product(range(table.places + 1), repeat=digits)))
    keys = keys[(keys[:, :-1] < table.places).all(axis=1)]
    laws = np.vstack([np.eye(table.places), np.full(table.places, 1 / table.places)])[keys[:, -1]]
    return replace(stage, tables=(Table.from_distributions(table.places, keys, laws),))


def forged(codebook, begin, **claims_of_it):
    """The file of a codebook that tells the truth from some stage on and claims what it likes."""
    stages = [telling_the_truth(stage) if number >= begin else stage for number, stage in enumerate(codebook.stages)]
    deployed = msgspec.structs.replace(codebook.deployed, **claims_of_it)
    return replace(codebook, stages=tuple(stages), deployed=deployed, checksum="").content


def test_claims_of_tables_that_tell_the_truth_are_refused():
    """With the checksum and every stage's certificate worked out anew, as who forges a file would."""
    honest = designed(*person(5)[:1], Scenario.past_present(1), person(5)[1])
    risk, none = honest.stages[0].risk(honest.privacy), {"worst_privacy": 0.0, "quality_loss": 0.0}
    with pytest.raises(CodebookError, match="its privacy is"):
        verify(codebook_from(memoryview(forged(honest, 0, **none))))
    with pytest.raises(CodebookError, match="exceed those of its stages"):
        codebook_from(memoryview(forged(honest, honest.repeating, settled=False)))
    with pytest.raises(CodebookError, match="and none that settles"):
        verify(codebook_from(memoryview(forged(honest, honest.repeating, settled=False, **none))))
    with pytest.raises(CodebookError, match="its privacy is"):
        verify(codebook_from(memoryview(forged(honest, 9, privacy=risk))))


@pytest.mark.parametrize("claim", [name for name in NUMBERS if name != "worst_loss"])
def test_no_claim_may_be_better_than_it_is(claim):
    honest = with_gaps("person")
    better = 0.999 if "loss" in claim else 1.001
    with pytest.raises(CodebookError):
        verify(codebook_from(memoryview(forged(honest, 9, **{claim: better * getattr(honest.deployed, claim)}))))


def test_a_stage_made_for_another_distribution_than_its_run_is_refused():
    """Its tables and the run are as they were: what is stored beside them flatters the bound that is shown."""
    profile, metric = person(5)
    honest = designed(profile, Scenario.past_present(1), metric)
    stage = honest.stages[honest.repeating]
    first, second = np.flatnonzero(stage.prior.history == 0)[:2]
    for sign in (1, -1):  # one of them makes no claim of the whole look wrong
        moved = stage.prior.probability.copy()
        moved[[first, second]] += sign * 1e-4 * moved[second] * np.array([1, -1])
        stages = list(honest.stages)
        stages[honest.repeating] = replace(stage, prior=replace(stage.prior, probability=moved))
        with suppress(CodebookError):
            other = codebook_from(memoryview(replace(honest, stages=tuple(stages), checksum="").content))
    with pytest.raises(CodebookError, match="does not lead to"):
        verify(other)


def test_another_profile_is_refused():
    profile, metric = person(5)
    honest = designed(profile, Scenario.past_present(1), metric)
    other = replace(honest, chain=Chain(profile.states, profile.transition[::-1].copy()), checksum="")
    with pytest.raises(CodebookError, match=r"and something does|its tables and its profile give"):
        verify(codebook_from(memoryview(other.content)))


@pytest.mark.parametrize("more", [0, -1])
def test_a_run_that_ends_before_the_stage_that_repeats_proves_nothing(more):
    """The first stages are the honest ones again and again, and only then comes one that tells the truth."""
    profile, metric = person(5)
    honest = designed(profile, Scenario.past_present(1), metric)
    end, own = honest.deployed.accesses, honest.stages[honest.repeating]
    copies = [replace(own, then=number + 1) for number in range(honest.repeating, end)]
    last = replace(telling_the_truth(own), then=end)
    stages = (*honest.stages[: honest.repeating], *copies, last)
    claimed = {"worst_privacy": 0.0, "accesses": end + more}
    with pytest.raises(CodebookError, match="and none that settles"):
        verify(codebook_from(memoryview(forged(replace(honest, stages=stages), 10**6, **claimed))))


def test_a_run_that_has_not_settled_is_not_taken_for_one_that_has():
    profile, metric = person(5)
    honest = designed(profile, Scenario.past_present(1), metric)
    runs = deployment_of(honest).runs(honest.repeating + 2)
    claimed = msgspec.structs.replace(deployed_of(runs, 0.0), settled=True, worst_loss=honest.deployed.worst_loss)
    assert not runs.settled
    with pytest.raises(CodebookError, match="and something does"):
        verify(codebook_from(memoryview(replace(honest, deployed=claimed, checksum="").content)))


def test_the_case_of_the_worst_loss_after_a_gap_is_checked():
    honest = with_gaps("person")
    losses = claims(honest.content)["gap_losses"]
    for other in (GapCase(*min(losses, key=losses.get)), GapCase(10**6, 2, 1), GapCase(1, 9, 1), GapCase(1, 2, 0)):
        with pytest.raises(CodebookError, match="in the worst case of a gap"):
            verify(codebook_from(memoryview(forged(honest, 10**6, gap_worst_case=other))))


def test_a_codebook_of_0_1_0_loads_and_says_that_its_run_is_not_verified(run, tmp_path):
    honest = with_gaps("person")
    old = replace(
        honest, chain=None, deployed=msgspec.structs.replace(honest.deployed, gap_worst_case=None), checksum=""
    )
    old.save(tmp_path / "old.hideseek")
    with pytest.raises(CodebookError, match=r"holds no profile"):
        verify(Codebook.load(tmp_path / "old.hideseek"))
    status, out, err = run("inspect", tmp_path / "old.hideseek")
    assert status == 0, err
    assert "not verified" in out
