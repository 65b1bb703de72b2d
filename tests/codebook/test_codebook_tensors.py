"""Hostile tensors: nothing that lies is believed, and nothing large is made of it."""

from __future__ import annotations

import tracemalloc
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest

from hideseek import (
    Scenario,
)
from hideseek.codebook.codebook import codebook_from
from tests.support.fuzz_sealed import fuzz, put_together, signed, taken_apart, unsigned
from tests.support.saved_codebooks import first, made, refused, smallest, tensor, with_gaps

# --- hostile tensors ----------------------------------------------------------------------------------------------


def with_header(change) -> bytes:
    def changed(header):
        change(header)
        return header

    return put_together(*taken_apart(with_gaps().content), changed)


def offsets(name: str, begin: int, end: int):
    return lambda header: header[name]["data_offsets"].__setitem__(slice(None), [begin, end])


def shifted(by: int):
    def change(header):
        for name, one in header.items():
            if name != "__metadata__":
                one["data_offsets"] = [k + by for k in one["data_offsets"]]

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (offsets("0.attack.price", 0, 8), "overlap"),
        (offsets("0.attack.price", 2**31, 2**31), "overlap"),
        (offsets("0.attack.price", -8, 0), "header"),
        (offsets("0.attack.price", 2**63, 2**63), "header"),
        (shifted(2), "overlap"),
        (lambda h: h["0.attack.price"].update(shape=[2**31]), "does not fit its shape"),
        (lambda h: h["0.attack.price"].update(shape=[2**33]), "header"),
        (
            lambda h: h["0.histories"].update(shape=[2**31, 2**31]),
            "does not fit its shape",
        ),  # 2^63 entries, of which 2^64 bytes
        (lambda h: h["0.histories"].update(shape=[2**31, 0]), "fit together"),
        (lambda h: h["0.histories"].update(shape=[0, 0]), "fit together"),
        (lambda h: h["0.histories"].update(shape=[1, 0, 1]), "header"),
        (lambda h: h["0.histories"].update(dtype="F32"), "header"),
        (lambda h: h["0.histories"].update(extra=1), "header"),
        (lambda h: h.update(more={"dtype": "U16", "shape": [0], "data_offsets": [0, 0]}), "overlap"),
        (lambda h: h.pop("0.attack.price"), "overlap|follow"),
    ],
)
def test_tensors_that_lie_wrongly_are_refused(change, message):
    refused(with_header(change), message)


TENSORS = {
    "unused": (lambda d, t: t.update({"9.attack.price": ["F64", [0], b""]}), "unknown tensors"),
    "missing": (lambda d, t: t.pop("2.attack.price"), "missing"),
    "other type": (tensor("2.attack.price", lambda own: own, "U64"), "another type"),
    "other dimensions": (tensor("2.attack.price", lambda own: own[None]), "another type"),
    "a chain over other places": (tensor("chain.states", lambda own: own + 1), "not one over its places"),
    "a chain that loses people": (tensor("chain.transition", lambda own: 0.99 * own), "not distributions"),
    "a chain of no numbers": (tensor("chain.transition", lambda own: own * np.nan), "not distributions"),
    "prior that is no distribution": (tensor("2.prior.probability", lambda own: own * 1.001), "sum to 1"),
    "prior with a negative": (tensor("2.prior.probability", first(-0.1)), "below 0"),
    "prior with NaN": (tensor("2.prior.probability", first(np.nan)), "not finite"),
    "prior without end": (tensor("2.prior.probability", lambda own: own * 0 + 1.7e308), "sum to 1"),
    "another prior": (tensor("2.prior.probability", lambda own: np.roll(own, 1)), "certificate says"),
    "history that never happens": (tensor("2.prior.history", lambda own: own * 0), "leaves a history out"),
    "history out of range": (tensor("2.prior.history", first(3)), "does not exist"),
    "place out of range": (tensor("2.prior.sequences", first(3)), "does not exist"),
    "attack that is no distribution": (tensor("2.attack.weight", lambda own: own * 0.99), "distribution of guesses"),
    "attack with NaN": (tensor("2.attack.weight", first(np.nan)), "not finite"),
    "attack with infinity": (tensor("2.attack.weight", first(np.inf)), "not finite"),
    "attack with a negative": (tensor("2.attack.weight", first(-1.0)), "below 0"),
    "other attack": (tensor("2.attack.guess", lambda own: (own + 1) % 3), "certificate says bound"),
    "attack on no release": (tensor("2.attack.release", first(3)), "does not exist"),
    "negative price": (tensor("2.attack.price", first(-1e-9)), "below 0"),
    "price without end": (tensor("2.attack.price", lambda own: own * 0 + 1.7e308), "certificate says bound"),
    "other price": (tensor("2.attack.price", lambda own: own + 1), "certificate says bound"),
    "releases out of range": (tensor("2.table.0.releases", first(3)), "does not exist"),
    "another weight": (tensor("2.table.0.weights", lambda own: own + (own > 0)), "sum to"),
    "row without releases": (tensor("2.table.0.start", lambda own: np.r_[own[:-2], own[-1], own[-1]]), "without"),
    "rows that run backwards": (tensor("2.table.0.start", lambda own: np.r_[0, own[::-1][:-1]]), "where they begin"),
    "codes out of order": (tensor("2.table.0.codes", lambda own: own[::-1]), "out of order"),
    "codes beyond": (
        tensor("2.table.0.codes", lambda own: np.r_[own[:-1], 2**64 - 1].astype(np.uint64)),
        "more places",
    ),
}


@pytest.mark.parametrize("name", TENSORS)
def test_hostile_tensors_are_refused_although_the_checksum_is_right(name):
    change, message = TENSORS[name]
    document, tensors = deepcopy(taken_apart(with_gaps().content))
    change(document, tensors)
    refused(put_together(document, dict(sorted(tensors.items(), key=lambda one: -WIDTH[one[1][0]]))), message)


WIDTH = {"U16": 2, "U32": 4, "U64": 8, "F64": 8}


def test_a_table_with_less_privacy_than_its_certificate_is_refused():
    """Every row moved towards the truth: still distributions within the budget, but not what was promised."""
    document, tensors = taken_apart(with_gaps().content)
    codes = np.frombuffer(tensors["2.table.0.codes"][2], "<u8")
    truth = codes % 4
    releases = np.where(truth < 3, truth, 0)
    for name, values in (
        ("releases", releases), ("weights", np.zeros(len(codes))), ("start", np.arange(len(codes) + 1)),
    ):  # fmt: skip
        tensor(f"2.table.0.{name}", values)(document, tensors)
    refused(put_together(document, tensors), "certificate says privacy .*; the tables give 0")


def refused_at_little_cost(content: bytes, message: str) -> None:
    tracemalloc.start()
    try:
        refused(content, message)
        assert tracemalloc.get_traced_memory()[1] < 2**22
    finally:
        tracemalloc.stop()


def test_data_that_no_tensor_holds_is_refused():
    refused(signed(unsigned(smallest()) + bytes(8)), "end elsewhere")


def only(content: bytes, numbers: list[int], then: list[int]) -> bytes:
    """A file with some of its stages, renumbered, without gaps."""
    document, tensors = taken_apart(content)
    document["stages"] = [document["stages"][number] | {"then": way} for number, way in zip(numbers, then, strict=True)]
    document["gaps"] = []
    document["deployed"] |= {"gap_privacy": None, "gap_worst_loss": None}
    document["deployed"].pop("gap_worst_case", None)
    renumbered = {"chain": "chain"} | {str(number): str(new) for new, number in enumerate(numbers)}
    kept = {
        f"{renumbered[number]}.{rest}": one
        for name, one in tensors.items()
        for number, rest in [name.split(".", 1)]
        if number in renumbered
    }
    return put_together(document, kept)


def test_a_codebook_must_not_remember_what_was_never_exposed():
    content = made(scenario=Scenario.past_present(2)).content
    last = codebook_from(memoryview(content)).repeating
    codebook_from(memoryview(only(content, [0, 1, last], [1, 2, 2])))
    refused(only(content, [0, last], [1, 1]), "remembers what was not exposed")
    refused(only(content, [last], [0]), "remembers what was not exposed")


def test_places_without_end_are_refused_before_anything_is_allocated():
    """2^20 places with the tables of 2."""
    document, tensors = taken_apart(smallest())
    document["places"] = 2**20
    tensor("0.table.0.codes", lambda own: np.r_[own[:-1], np.uint64(2**20)])(document, tensors)
    refused_at_little_cost(put_together(document, tensors), "distribution of guesses")


def test_long_codes_are_refused():
    document, tensors = taken_apart(smallest())
    many = list(range(-40, 1))
    for scenario in (document["scenario"], document["stages"][0]["scenario"]):
        scenario["known"] = many
    tensor("0.prior.sequences", lambda own: np.zeros((len(own), 41)))(document, tensors)
    refused_at_little_cost(put_together(document, tensors), "63 bits")


def test_many_targets_are_refused_for_their_size():
    document, tensors = taken_apart(smallest())
    many = list(range(-35, 1))
    for scenario in (document["scenario"], document["stages"][0]["scenario"]):
        scenario["target"] = many
    tensor("0.prior.sequences", lambda own: np.zeros((len(own), 36)) + own)(document, tensors)
    refused_at_little_cost(put_together(document, tensors), "GiB")


def test_tables_over_budget_are_refused_although_their_certificate_holds():
    content = replace(with_gaps(), budget=0.05).content
    refused(content, "tables lose 0.09999.* after some history; the budget is 0.05")


def test_a_short_fuzz_finds_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    count = fuzz("codebook", 400, seed=7)
    assert count["refused"] > 300
    assert count["accepted"] > 0
