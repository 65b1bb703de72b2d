"""Codebooks on disk: what is read back is what was written, and nothing that lies is believed."""

from __future__ import annotations

import errno
import os
import stat
import tracemalloc
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path

import msgspec
import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek import (
    Codebook,
    Grid,
    Hexagons,
    HideseekError,
    MarkovProfile,
    ParameterError,
    Places,
    Scenario,
    design,
    metrics,
)
from hideseek.codebook.codebook import Deployed, codebook_from
from hideseek.errors import CodebookError
from hideseek.storage.documents import MetricDocument, metric_document, metric_from
from hideseek.storage.sealed_file import LARGEST
from tests.support.fuzz_sealed import codebooks, fuzz, put_together, signed, taken_apart, unsigned, written

MATRIX = [[0.6, 0.3, 0.1], [0.25, 0.5, 0.25], [0.1, 0.3, 0.6]]
REGIONS = Places([46.52, 46.53, 46.55], [6.57, 6.58, 6.57], ('a "quoted" \\ name', "Zürich\n\x7f", "日本 😀 \u2028"))
HAMMING = metrics.hamming()


@cache
def made(regions=REGIONS, gaps=2, scenario=None, budget=0.1) -> Codebook:
    profile = MarkovProfile.from_matrix(MATRIX, regions)
    return design(
        profile,
        scenario or Scenario.past_present(1),
        privacy=HAMMING,
        quality=HAMMING,
        budget=budget,
        gaps=gaps,
        workers=1,
    )


@cache
def smallest() -> bytes:
    """Two places, one stage."""
    profile = MarkovProfile.from_matrix([[0.7, 0.3], [0.2, 0.8]])
    return design(profile, Scenario.sporadic(), privacy=HAMMING, quality=HAMMING, budget=0.1, workers=1).content


@pytest.fixture
def file(tmp_path) -> Path:
    path = tmp_path / "book.hideseek"
    made().save(path)
    return path


def refused(content: bytes, message: str) -> None:
    with pytest.raises(HideseekError, match=message):
        codebook_from(memoryview(content))


# --- round trip ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "regions",
    [
        None,
        REGIONS,
        Grid(46.5, 46.6, 6.5, 6.6, 2, 2).keep([3, 0, 1]),
        Hexagons.around([46.52, 46.53, 46.55], [6.57, 6.58, 6.57], 8),
    ],
)
def test_a_codebook_survives_the_disk(tmp_path, regions):
    one = made(regions)
    one.save(tmp_path / "book.hideseek")
    back = Codebook.load(tmp_path / "book.hideseek")
    for name in ("scenario", "places", "step", "budget", "gaps", "deployed", "sha256"):
        assert getattr(back, name) == getattr(one, name), name
    if regions is not None:
        np.testing.assert_array_equal(back.regions.centres, regions.centres)
        assert getattr(back.regions, "names", ()) == getattr(regions, "names", ())
    assert len(back.stages) == len(one.stages)
    for mine, other in zip(one.stages, back.stages, strict=True):
        assert (mine.scenario, mine.then) == (other.scenario, other.then)
        assert mine.prior.offsets == other.prior.offsets
        for part in ("prior", "attack"):
            for name, array in vars(getattr(mine, part)).items():
                np.testing.assert_array_equal(array, getattr(getattr(other, part), name))
        for left, right in zip(mine.tables, other.tables, strict=True):
            for name in ("places", "codes", "start", "releases", "weights"):
                np.testing.assert_array_equal(getattr(left, name), getattr(right, name))
    assert back.content == one.content == (tmp_path / "book.hideseek").read_bytes()


def test_the_content_is_the_same_every_time_and_the_checksum_says_so():
    again = design(
        MarkovProfile.from_matrix(MATRIX, REGIONS),
        Scenario.past_present(1),
        privacy=HAMMING,
        quality=HAMMING,
        budget=0.1,
        gaps=2,
        workers=1,
    )
    assert again.content == made().content
    assert again.sha256 == made().sha256
    assert made(budget=0.1001).sha256 != made().sha256


def test_other_tools_can_read_the_tensors(file):
    tensors = safetensors.numpy.load_file(file)
    np.testing.assert_array_equal(tensors["1.table.0.weights"], made().stages[1].tables[0].weights)


@pytest.mark.parametrize("content", codebooks())
def test_every_scenario_survives_and_parts_put_together_are_the_file(content):
    assert codebook_from(memoryview(content)).content == content
    assert put_together(*taken_apart(content)) == content
    assert signed(unsigned(content)) == content


def test_a_loaded_codebook_is_read_only(file):
    table = Codebook.load(file).stages[1].tables[0]
    with pytest.raises(ValueError, match="read-only"):
        table.weights[0] = 1


# --- metrics ------------------------------------------------------------------------------------------------------

WITHIN = {
    "hamming": HAMMING,
    "distance": metrics.distance(REGIONS),
    "matrix": metrics.from_matrix([[0, 1, 2], [3, 0, 4.5], [1e-3, 1e9, 0]]),
    "squared": metrics.squared(metrics.distance(REGIONS)),
    "total": metrics.total(HAMMING),
    "total weighted": metrics.total(HAMMING, [1.0, 0.25]),
    "minimum": metrics.minimum(metrics.distance(REGIONS), np.array([1.0, 2.0])),
    "maximum": metrics.maximum(metrics.squared(HAMMING), weights=(3, 1)),
    "sensitive": metrics.sensitive(HAMMING, {2: 5, 0: 0.5}),
    "sensitive list": metrics.sensitive(metrics.total(HAMMING), [1.0, 2.0, 3.0]),
    "transitions": metrics.sensitive_transitions(HAMMING, {(0, 1): 4}, entering={2: 3}, leaving={1: 0.5}),
    "transitions only": metrics.sensitive_transitions(HAMMING, leaving={1: 7.0}),
    "tolerant": metrics.tolerant(metrics.distance(REGIONS), {0: 4}),
    "tolerant list": metrics.tolerant(HAMMING, [0.5, 2.0]),
    "speed": metrics.speed(REGIONS),
    "deep": metrics.total(
        metrics.sensitive(metrics.squared(metrics.tolerant(metrics.distance(REGIONS), {1: 2})), {0: 3})
    ),
}


@pytest.mark.parametrize("name", WITHIN)
def test_every_metric_survives_as_a_recipe(name):
    metric = WITHIN[name]
    text = msgspec.json.encode(metric_document(metric, REGIONS, "test"))
    back = metric_from(msgspec.json.decode(text, type=MetricDocument), REGIONS, 3)
    assert (back.name, back.unit, back.looks_back) == (metric.name, metric.unit, metric.looks_back)
    left, right = np.random.default_rng(0).integers(0, 3, (2, 20, 2))
    seen = np.array([], dtype=np.int64)
    np.testing.assert_array_equal(back.between(left, right, seen), metric.between(left, right, seen))


def test_a_metric_of_one_s_own_is_tabulated_where_it_compares_single_places(tmp_path):
    profile = MarkovProfile.from_matrix(MATRIX)
    own = metrics.from_function(lambda guess, truth: abs(guess[0] - truth[0]) ** 0.5)
    codebook = design(profile, Scenario.past_present(1), privacy=own, quality=own, budget=0.1, workers=1)
    codebook.save(tmp_path / "own.hideseek")
    back = Codebook.load(tmp_path / "own.hideseek")
    every = np.arange(3)[:, None]
    nothing = np.array([], dtype=np.int64)
    np.testing.assert_array_equal(back.privacy.between(every, every, nothing), own.between(every, every, nothing))
    assert back.privacy.recipe[0] == "from_matrix"


@pytest.mark.parametrize("role", ["privacy", "quality"])
def test_a_metric_of_one_s_own_of_vectors_cannot_be_written(tmp_path, role):
    profile = MarkovProfile.from_matrix(MATRIX)
    own = metrics.from_function(lambda left, right: float(left != right), name="mine")
    chosen = {"privacy": HAMMING, "quality": metrics.total(HAMMING)} | {role: own}
    codebook = design(profile, Scenario.present_future("planned"), **chosen, budget=0.3, workers=1)
    with pytest.raises(ParameterError, match=f"'{role}' parameter of Codebook.save .*single places.*'mine'"):
        codebook.save(tmp_path / "own.hideseek")
    assert not list(tmp_path.iterdir())


def test_a_metric_of_one_s_own_deep_within_cannot_be_written(tmp_path):
    own = metrics.squared(metrics.from_function(lambda a, b: float(a != b), name="mine"))
    codebook = design(
        MarkovProfile.from_matrix(MATRIX), Scenario.sporadic(), privacy=own, quality=HAMMING, budget=0.1, workers=1
    )
    with pytest.raises(ParameterError, match=r"own metrics all through.*'mine'"):
        codebook.save(tmp_path / "own.hideseek")


@pytest.mark.parametrize("regions", [None, Places([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])])
def test_a_metric_in_other_regions_than_the_profile_s_cannot_be_written(tmp_path, regions):
    profile = MarkovProfile.from_matrix(MATRIX, regions)
    codebook = design(
        profile, Scenario.sporadic(), privacy=metrics.distance(REGIONS), quality=HAMMING, budget=0.1, workers=1
    )
    with pytest.raises(ParameterError, match="regions of the profile"):
        codebook.save(tmp_path / "other.hideseek")


# --- damage -------------------------------------------------------------------------------------------------------


def test_every_single_bit_counts():
    content = bytearray(smallest())
    codebook_from(memoryview(bytes(content)))
    for at in range(len(content)):
        for bit in range(8):
            content[at] ^= 1 << bit
            with pytest.raises(CodebookError):
                codebook_from(memoryview(content))
            content[at] ^= 1 << bit


def test_every_missing_byte_counts():
    content = smallest()
    for length in range(len(content)):
        with pytest.raises(CodebookError):
            codebook_from(memoryview(content[:length]))
    with pytest.raises(CodebookError, match="checksum"):
        codebook_from(memoryview(content + b"\0"))


def test_a_wrong_checksum_is_named():
    document, tensors = taken_apart(smallest())
    content = put_together(document, tensors)
    refused(content.replace(taken_apart(content)[0]["sha256"].encode(), b"1" * 64, 1), "checksum is wrong")


@given(st.binary(max_size=200))
@settings(max_examples=100)
def test_arbitrary_bytes_are_refused(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("bytes") / "x.hideseek"
    path.write_bytes(content)
    with pytest.raises(CodebookError, match=r"x\.hideseek"):
        Codebook.load(path)


# --- hostile headers ----------------------------------------------------------------------------------------------


def at(value, *way):
    for key in way:
        value = value[key]
    return value


def put(*way_and_value):
    *way, key, value = way_and_value

    def change(document, tensors):
        at(document, *way)[key] = value

    return change


def gone(*way_and_key):
    *way, key = way_and_key
    return lambda document, tensors: at(document, *way).pop(key)


def nested(levels: int) -> dict:
    metric = {"type": "metric", "name": "hamming", "arguments": {}}
    for _ in range(levels):
        metric = {"type": "metric", "name": "squared", "arguments": {"metric": metric}}
    return metric


def metric_of(name: str, **arguments) -> dict:
    return {"type": "metric", "name": name, "arguments": arguments}


def pairs(*items) -> dict:
    return {"type": "pairs", "pairs": [list(item) for item in items]}


HEADERS = {
    "newer": (put("hideseek_codebook", 3), r"newer hideseek \(format 3\)"),
    "a chain in an older version": (put("hideseek_codebook", 1), "tensors that nothing needs"),
    "no chain": (lambda d, t: t.pop("chain.transition"), r"chain.transition is missing"),
    "a gap without its case": (lambda d, t: d["deployed"].pop("gap_worst_case"), "gaps"),
    "version 0": (put("hideseek_codebook", 0), "never was"),
    "version as text": (put("hideseek_codebook", "1"), "Expected `int`"),
    "huge version": (put("hideseek_codebook", 10**400), "header"),
    "extra field": (put("extra", 1), "unknown field"),
    "missing field": (gone("budget"), "missing required"),
    "NaN": (put("budget", float("nan")), "malformed"),
    "infinity": (put("budget", float("inf")), "malformed"),
    "negative budget": (put("budget", -0.5), "budget"),
    "smaller budget": (put("budget", 0.01), "certificate says bound"),
    "huge number": (put("budget", 10**400), "out of range"),
    "one place": (put("places", 1), "places"),
    "no step": (put("step", ""), "length of time"),
    "a step of none": (put("step", "0min"), "length of time"),
    "a step in a unit that goes": (put("step", "5H"), "length of time"),
    "an endless step": (put("step", "9" * 40 + "D"), "length of time"),
    "a long step": (put("step", "5min" * 100), "step"),
    "surrogate": (put("step", "\ud800"), "header"),
    "long list": (put("gaps", list(range(10**5))), "does not exist"),
    "many stages": (put("stages", [0] * 100_001), "stages"),
    "no stages": (put("stages", []), "stages"),
    "no such stage": (put("gaps", 0, 9), "does not exist"),
    "no such stage then": (put("stages", 0, "then", 9), "does not exist"),
    "skips a stage": (put("stages", 0, "then", 2), "repeats"),
    "never repeats": (put("stages", 3, "then", 0), "repeats"),
    "repeats at once": (put("stages", 0, "then", 0), "does not lead"),
    "gap that goes back": (put("stages", 4, "then", 1), "after a gap"),
    "gap that stays": (put("stages", 4, "then", 4), "does not lead"),
    "gap to the start": (put("gaps", [0]), "after a gap"),
    "gap to a stage without one": (put("gaps", [3]), "after a gap"),
    "two gaps, one stage": (put("gaps", [4, 4]), "after a gap"),
    "other scenario": (put("scenario", "target", [-1, 0]), "scenario"),
    "open scenario": (put("scenario", "quality", []), "open"),
    "offsets out of order": (put("scenario", "target", [0, -1]), "increasing order"),
    "offsets beyond": (put("scenario", "target", [-(10**9)]), "target"),
    "too many offsets": (put("scenario", "known", list(range(-99, 1))), "known"),
    "huge offset": (put("scenario", "target", [10**40]), "target"),
    "stage that exposes otherwise": (put("stages", 1, "scenario", "every", 2), "exposed|scenario|every|releases"),
    "stage that sees the future": (put("stages", 1, "scenario", "seen", [1]), "before now"),
    "stage that sees more": (put("stages", 1, "scenario", "seen", [-2, -1]), "fit together"),
    "fewer regions": (
        lambda d, t: [
            side.pop() for side in (d["regions"]["latitudes"], d["regions"]["longitudes"], d["regions"]["names"])
        ],
        "2 regions for 3",
    ),
    "regions nowhere": (put("regions", "latitudes", [1e9, 0.0, 1.0]), "latitude"),
    "regions of another kind": (put("regions", {"type": "cubes"}), "Invalid value"),
    "hexagons that are none": (put("regions", {"type": "hexagons", "cells": ["f" * 40, "a", "b"]}), "cells|cannot be"),
    "large grid": (
        put(
            "regions",
            {
                "type": "grid",
                "south": 0.0,
                "north": 1.0,
                "west": 0.0,
                "east": 1.0,
                "rows": 10_000,
                "columns": 10_000,
                "kept": [0, 1, 2],
            },
        ),
        "cells",
    ),
    "private function": (put("privacy", metric_of("described", make="regions")), "does not know"),
    "dunder": (put("privacy", metric_of("__import__")), "does not know"),
    "no argument": (put("privacy", metric_of("squared")), "does not know"),
    "metric of a list": (put("privacy", metric_of("squared", metric=[1.0])), "does not know"),
    "distance of a list": (put("privacy", metric_of("distance", regions=[1.0])), "does not know"),
    "strange argument": (put("privacy", metric_of("hamming", regions="regions")), "does not know"),
    "small matrix": (put("quality", metric_of("from_matrix", matrix=[[0.0, 1.0], [1.0, 0.0]])), "shape"),
    "ragged matrix": (put("quality", metric_of("from_matrix", matrix=[[0.0, 1.0], [1.0]])), "matrix"),
    "negative matrix": (put("quality", metric_of("from_matrix", matrix=[[-1.0] * 3] * 3)), "matrix"),
    "overflowing matrix": (
        put("quality", metric_of("squared", metric=metric_of("from_matrix", matrix=[[1e200] * 3] * 3))),
        "certificate",
    ),
    "no regions for it": (
        lambda d, t: (put("regions", None)(d, t), put("quality", metric_of("distance", regions="regions"))(d, t)),
        "does not know",
    ),
    "place beyond": (
        put("privacy", metric_of("sensitive", metric=nested(0), weights=pairs([10**15, 2.0]))),
        "cannot be",
    ),
    "place before": (put("privacy", metric_of("sensitive", metric=nested(0), weights=pairs([-1, 2.0]))), "cannot be"),
    "place twice": (
        put("privacy", metric_of("sensitive", metric=nested(0), weights=pairs([1, 2.0], [1, 3.0]))),
        "twice",
    ),
    "another metric": (put("privacy", metric_of("from_matrix", matrix=[[0.0, 9.0, 9.0]] * 3)), "certificate says"),
    "metrics in metrics": (put("privacy", nested(17)), "does not know"),
    "very deep metrics": (put("privacy", nested(200)), "does not know"),
    "depth beyond any": (put("privacy", nested(250)), "know|recursion"),
    **{
        f"certificate {name}": (
            lambda d, t, name=name: d["stages"][2]["certificate"].update({name: 0.05}),
            f"certificate says {name}",
        )
        for name in ("privacy", "worst_privacy", "bound", "quality_loss", "worst_loss")
    },
    "deployed loss": (put("deployed", "worst_loss", 0.2), "the budget is 0.1"),
    "deployed gap loss": (put("deployed", "gap_worst_loss", 0.2), "the budget is 0.1"),
    "deployed mean above worst": (put("deployed", "worst_loss", 0.01), "is said to be better"),
    "deployed worst above mean": (put("deployed", "privacy", 0.0), "is said to be better"),
    "deployed better than the prior": (put("deployed", "privacy", 5.0), "is said to be better"),
    "gap better than the prior": (put("deployed", "gap_privacy", 5.0), "is said to be better"),
    "second access better than the prior": (put("deployed", "second_privacy", 5.0), "is said to be better"),
    "deployed better than its start": (put("deployed", "worst_privacy", 0.0999999), "is said to be better"),
    "deployed gap without": (put("deployed", "gap_privacy", None), "gaps"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_hostile_header_is_refused_although_its_checksum_is_right(name):
    change, message = HEADERS[name]
    document, tensors = deepcopy(taken_apart(made().content))
    change(document, tensors)
    refused(put_together(document, tensors), message)


def resigned_text(change) -> bytes:
    """The file with its header's text changed, its length corrected and signed again."""
    content = unsigned(smallest())
    length = int.from_bytes(content[:8], "little")
    text = change(content[8 : 8 + length].decode().rstrip()).encode()
    text += b" " * (-len(text) % 8)
    return signed(len(text).to_bytes(8, "little") + text + content[8 + length :])


def test_the_way_to_change_a_header_s_text_changes_nothing_else():
    assert resigned_text(lambda text: text) == smallest()


NONE = '{"dtype":"U16","shape":[1,0],"data_offsets":[0,0]}'


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('\\"step\\":', '\\"budget\\":0.1,\\"step\\":'),
        lambda text: text.replace('\\"step\\":\\"5min\\"', '\\"step\\":\\"5min\\",\\"step\\":\\"5min\\"'),
        lambda text: text.replace('"0.histories":', f'"0.histories":{NONE},"0.histories":', 1),
        lambda text: text.replace('\\"budget\\":0.1', '\\"budget\\":1e-1'),
        lambda text: text.replace('\\"budget\\":0.1', '\\"budget\\": 0.1'),
        lambda text: text.replace("5min", "\\\\u0035min"),
        lambda text: text + " " * 64,
        lambda text: " " * 8 + text,
    ],
)
def test_a_header_can_be_written_in_one_way_only(change):
    refused(resigned_text(change), "as hideseek writes it")


@pytest.mark.parametrize(
    "text",
    [
        "[" * 10**6,
        '{"a":' * 10**5,
        "{}",
        "[]",
        '{"__metadata__":{}}',
        '{"__metadata__":{"hideseek":"' + "[" * 10**5 + '"}}',
        '{"__metadata__":{"hideseek":"{}","other":"x"}}',
        '{"__metadata__":{"hideseek":1}}',
        '{"__metadata__":{"hideseek":"\\ud800"}}',
        '{"__metadata__":{"hideseek":"{\\"hideseek_codebook\\":1e999}"}}',
        '{"x":' + "9" * 10**5 + "}",
    ],
)
def test_headers_made_to_break_readers_are_refused(text):
    content = text.encode() + b" " * (-len(text) % 8)
    refused(len(content).to_bytes(8, "little") + content, "header")


# --- hostile tensors ----------------------------------------------------------------------------------------------


def with_header(change) -> bytes:
    def changed(header):
        change(header)
        return header

    return put_together(*taken_apart(made().content), changed)


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
        (lambda h: h["0.attack.price"].update(shape=[2**31]), "another size"),
        (lambda h: h["0.attack.price"].update(shape=[2**33]), "header"),
        (lambda h: h["0.histories"].update(shape=[2**31, 2**31]), "another size"),  # 2^63 entries, of which 2^64 bytes
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


def tensor(name: str, values, dtype=None):
    """Replace a tensor by other values, or by a function of its own."""
    kinds = {"U16": "<u2", "U32": "<u4", "U64": "<u8", "F64": "<f8"}

    def change(document, tensors):
        kind, shape, data = tensors[name]
        own = np.frombuffer(data, kinds[kind]).reshape(shape).copy()
        new = np.array(values(own) if callable(values) else values, dtype=kinds[dtype or kind])
        tensors[name] = [dtype or kind, list(new.shape), new.tobytes()]

    return change


def first(value):
    def change(own):
        own.flat[0] = value
        return own

    return change


TENSORS = {
    "unused": (lambda d, t: t.update({"9.attack.price": ["F64", [0], b""]}), "nothing needs"),
    "missing": (lambda d, t: t.pop("2.attack.price"), "missing"),
    "other type": (tensor("2.attack.price", lambda own: own, "U64"), "another type"),
    "other dimensions": (tensor("2.attack.price", lambda own: own[None]), "another type"),
    "a chain over other places": (tensor("chain.states", lambda own: own + 1), "not one over its places"),
    "a chain that loses people": (tensor("chain.transition", lambda own: 0.99 * own), "not distributions"),
    "a chain of no numbers": (tensor("chain.transition", lambda own: own * np.nan), "not distributions"),
    "prior that is no law": (tensor("2.prior.probability", lambda own: own * 1.001), "sum to 1"),
    "prior with a negative": (tensor("2.prior.probability", first(-0.1)), "below 0"),
    "prior with NaN": (tensor("2.prior.probability", first(np.nan)), "not finite"),
    "prior without end": (tensor("2.prior.probability", lambda own: own * 0 + 1.7e308), "sum to 1"),
    "another prior": (tensor("2.prior.probability", lambda own: np.roll(own, 1)), "certificate says"),
    "history that never happens": (tensor("2.prior.history", lambda own: own * 0), "leaves a history out"),
    "history out of range": (tensor("2.prior.history", first(3)), "does not exist"),
    "place out of range": (tensor("2.prior.sequences", first(3)), "does not exist"),
    "attack that is no law": (tensor("2.attack.weight", lambda own: own * 0.99), "distribution of guesses"),
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
    document, tensors = deepcopy(taken_apart(made().content))
    change(document, tensors)
    refused(put_together(document, dict(sorted(tensors.items(), key=lambda one: -WIDTH[one[1][0]]))), message)


WIDTH = {"U16": 2, "U32": 4, "U64": 8, "F64": 8}


def test_a_table_that_gives_less_privacy_than_the_certificate_says_is_refused():
    """Every law moved towards the truth: still laws, still within the budget, but not what was promised."""
    document, tensors = taken_apart(made().content)
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


def test_tables_that_lose_more_than_the_budget_are_refused_although_the_certificate_is_theirs():
    content = replace(made(), budget=0.05).content
    refused(content, "tables lose 0.09999.* after some history; the budget is 0.05")


def test_a_short_fuzz_finds_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    count = fuzz("codebook", 400, seed=7)
    assert count["refused"] > 300
    assert count["accepted"] > 0


# --- files --------------------------------------------------------------------------------------------------------


def test_a_codebook_is_for_its_owner_only(file):
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_saving_again_does_not_widen_permissions_or_follow_links(tmp_path, file):
    link = tmp_path / "link.hideseek"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("untouched")
    link.symlink_to(elsewhere)
    made().save(link)
    assert elsewhere.read_text() == "untouched"
    assert not link.is_symlink()
    assert stat.S_IMODE(link.stat().st_mode) == 0o600


@pytest.mark.parametrize("failing", ["os.fsync", "os.replace"])
def test_a_failed_save_leaves_the_old_file_and_nothing_else(file, monkeypatch, failing):
    before = file.read_bytes()

    def broken(*_, **__):
        raise OSError(errno.ENOSPC, "disk full")

    monkeypatch.setattr(failing, broken)
    with pytest.raises(CodebookError, match="cannot be written: disk full"):
        made(gaps=1).save(file)
    monkeypatch.undo()
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_what_is_no_file_is_not_written_or_read(tmp_path):
    for path in (tmp_path, tmp_path / "book", Path("/dev/null")):
        if path.name == "book":
            (tmp_path / "blocked").write_text("")
            path = tmp_path / "blocked" / "book"
        with pytest.raises(CodebookError, match="cannot be written"):
            made(gaps=1).save(path)
    for path in (None, 5):
        with pytest.raises(HideseekError, match="'path' parameter of Codebook"):
            made(gaps=1).save(path)
        with pytest.raises(HideseekError, match="'path' parameter of Codebook"):
            Codebook.load(path)


def test_what_would_not_be_read_is_not_written(tmp_path):
    lying = replace(made(), deployed=Deployed(*(1.0 for _ in Deployed.__struct_fields__)))
    with pytest.raises(HideseekError):
        lying.save(tmp_path / "lying.hideseek")
    assert not list(tmp_path.iterdir())


def test_a_loaded_codebook_outlives_its_replacement(file):
    codebook = Codebook.load(file)
    before = codebook.stages[1].tables[0].weights.copy()
    made(gaps=1).save(file)
    np.testing.assert_array_equal(codebook.stages[1].tables[0].weights, before)


def test_what_is_no_readable_file_is_refused(tmp_path, file):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").touch()
    (tmp_path / "loop").symlink_to("loop")
    with (tmp_path / "large").open("wb") as stream:
        stream.truncate(LARGEST + 1)
    for path in ("none", ".", "pipe", "empty", "loop", "large", "book.hideseek/below", "\0", "x" * 300, "/dev/zero"):
        with pytest.raises(CodebookError):
            Codebook.load(tmp_path / path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_refused(file):
    file.chmod(0)
    with pytest.raises(CodebookError, match="cannot be read"):
        Codebook.load(file)


@pytest.mark.parametrize("damage", ["checksum", "certificate", "table"])
def test_a_refused_file_is_named_and_nothing_hides_behind_its_error(file, damage):
    document, tensors = taken_apart(file.read_bytes())
    if damage == "certificate":
        document["stages"][-1]["certificate"]["privacy"] = 0.0
    elif damage == "table":
        tensor("4.table.0.weights", first(1))(document, tensors)
    content = put_together(document, tensors)
    file.write_bytes(content[:-1] + b"x" if damage == "checksum" else content)
    with pytest.raises(CodebookError) as caught:
        Codebook.load(file)
    assert caught.value.__context__ is None
    assert file.name in str(caught.value)


# --- use ----------------------------------------------------------------------------------------------------------


def test_simulated_exposures_follow_the_tables():
    codebook = made()
    generator = np.random.default_rng(3)
    words = []

    def next_words(count):
        words.append(generator.integers(0, 2**32, count, dtype=np.uint32))
        return words[-1]

    walks = generator.integers(0, 3, (50, 12))
    exposed = codebook.simulate(walks, next_words)
    for walk in range(50):
        for step in range(12):
            table = codebook.stages[codebook.stage_at(step)].tables[0]
            row = table.row(exposed[walk, max(0, step - 1) : step].tolist(), [int(walks[walk, step])])
            own = slice(int(table.start[row]), int(table.start[row + 1]))
            ends = np.cumsum([int(weight) or 2**32 for weight in table.weights[own]])
            assert exposed[walk, step] == table.releases[own][(ends <= int(words[step][walk])).sum()]


@pytest.mark.parametrize("walks", [[[0, 3]], [[-1, 0]], [0, 1]])
def test_walks_through_places_that_do_not_exist_are_refused(walks):
    with pytest.raises(ParameterError, match="walks"):
        made().simulate(np.array(walks), lambda count: np.zeros(count, np.uint32))


def test_written_is_compact():
    assert written({"a": [1, "é"]}) == '{"a":[1,"é"]}'
