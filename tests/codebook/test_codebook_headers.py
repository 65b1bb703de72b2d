"""Damaged files and hostile headers: nothing that lies is believed."""

from __future__ import annotations

from copy import deepcopy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek import (
    Codebook,
)
from hideseek.codebook.codebook import codebook_from
from hideseek.errors import CodebookError
from tests.support.fuzz_sealed import put_together, signed, taken_apart, unsigned
from tests.support.saved_codebooks import refused, smallest, with_gaps

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
    "newer": (put("hideseek_codebook", 4), r"newer hideseek \(format 4\)"),
    "a chain in an older version": (put("hideseek_codebook", 1), "unknown tensors"),
    "no chain": (lambda d, t: t.pop("chain.transition"), r"chain.transition is missing"),
    "a gap without its case": (lambda d, t: d["deployed"].pop("gap_worst_case"), "gaps"),
    "version 0": (put("hideseek_codebook", 0), "unknown version"),
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
    "a step in a unit that goes": (put("step", "5T"), "length of time"),
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
    "open scenario": (put("scenario", "quality", []), "no part left open"),
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
    "hexagons that are none": (
        put("regions", {"type": "hexagons", "cells": ["f" * 40, "a", "b"]}),
        "cells|exist",
    ),
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
        "cannot exist",
    ),
    "place before": (
        put("privacy", metric_of("sensitive", metric=nested(0), weights=pairs([-1, 2.0]))),
        "cannot exist",
    ),
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
    "deployed mean above worst": (put("deployed", "worst_loss", 0.01), "the deployed run exceed"),
    "deployed worst above mean": (put("deployed", "privacy", 0.0), "the deployed run exceed"),
    "deployed better than the prior": (put("deployed", "privacy", 5.0), "the deployed run exceed"),
    "gap better than the prior": (put("deployed", "gap_privacy", 5.0), "the deployed run exceed"),
    "second access better than the prior": (put("deployed", "second_privacy", 5.0), "the deployed run exceed"),
    "deployed better than its start": (put("deployed", "worst_privacy", 0.0999999), "the deployed run exceed"),
    "deployed gap without": (put("deployed", "gap_privacy", None), "gaps"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_hostile_header_is_refused_although_its_checksum_is_right(name):
    change, message = HEADERS[name]
    document, tensors = deepcopy(taken_apart(with_gaps().content))
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
