"""FIT files give the records that have a position."""

from __future__ import annotations

import io
import struct
import warnings

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek.errors import MissingExtraError, UnusableFileError
from hideseek.traces import fit
from hideseek.traces.fit import looks_like_fit, read_fit
from tests.support.fit_files import EPOCH, FIELDS, FIT, RECORD, UNSAID, data, definition, file_of, record, semicircles
from tests.support.mangling import mangled
from tests.support.trace_files import sifted

STEP = 180 / 2**31  # degrees between two positions that the format can tell apart


def read(content: bytes) -> pd.DataFrame:
    return pd.concat([pd.DataFrame(), *read_fit(io.BytesIO(content))])


def test_records_with_a_position_are_read():
    found = read(FIT)
    assert found["latitude"].tolist() == pytest.approx([46.5, -46.6], abs=STEP)
    assert found["longitude"].tolist() == pytest.approx([6.5, -6.6], abs=STEP)
    assert found["tracked_at"].tolist() == [1577872800, 1577872802]
    assert found["accuracy"].iloc[0] == 5
    assert pd.isna(found["accuracy"].iloc[1])
    typed, _ = sifted(read_fit(io.BytesIO(FIT)))
    assert typed["tracked_at"].dt.strftime("%F %T").tolist() == ["2020-01-01 10:00:00", "2020-01-01 10:00:02"]


@settings(max_examples=40)
@given(
    fixes=st.lists(
        st.tuples(
            st.integers(EPOCH + 0x10000000, EPOCH + 0xFFFFFFFE),
            st.integers(-(2**30), 2**30),
            st.integers(-(2**31), 2**31 - 2),
            st.integers(0, 254),
        ),
        max_size=5,
    ),
    order=st.sampled_from("<>"),
    head=st.sampled_from([12, 14]),
    copies=st.integers(1, 3),
)
def test_a_file_round_trip(fixes, order, head, copies):
    messages = [data(FIELDS, time - EPOCH, *rest, order=order) for time, *rest in fixes]
    found = read(file_of(definition(RECORD, FIELDS, order=order), *messages, head=head) * copies)
    expected = [(y * STEP, x * STEP, time, accuracy) for time, y, x, accuracy in fixes] * copies
    assert list(found.itertuples(index=False, name=None)) == expected
    assert found.index.tolist() == list(range(1, len(expected) + 1))


def test_a_compressed_time_goes_on_from_the_last_one():
    short = {0: "sint32", 1: "sint32"}
    first = 1577872800
    at = [semicircles(46.5), semicircles(6.5)]
    offsets = [(first - EPOCH + 3) % 32, (first - EPOCH + 33) % 32]  # five bits have run over
    messages = [data(short, *at, local=1, offset=offset) for offset in offsets]
    content = file_of(
        definition(RECORD, FIELDS), record(first, 46.5, 6.5), definition(RECORD, short, local=1), *messages
    )
    assert read(content)["tracked_at"].tolist() == [first, first + 3, first + 33]


def test_what_a_record_lacks_is_counted():
    fields = {number: kind for number, kind in FIELDS.items() if number != 1}
    content = file_of(definition(RECORD, fields), data(fields, 1577872800 - EPOCH, 5, UNSAID))
    since_power_on = file_of(definition(RECORD, FIELDS), record(EPOCH + 60, 46.5, 6.5))
    for broken in (content, since_power_on):
        typed, skipped = sifted(read_fit(io.BytesIO(broken)))
        assert (len(typed), skipped) == (0, 1)


def test_blocks_have_a_bounded_number_of_records(monkeypatch):
    monkeypatch.setattr(fit, "ROWS", 2)
    content = file_of(definition(RECORD, FIELDS), *(record(1577872800 + n, 46.5, 6.5) for n in range(5)))
    assert [len(block) for block in read_fit(io.BytesIO(content))] == [2, 2, 1]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (FIT[:-1], "cut short"),
        (FIT[:40], "cut short"),
        (FIT[:-2] + b"\0\0", "checksum"),
        (FIT[:12] + b"\1\1" + FIT[14:], "checksum"),
        (FIT + b"more", "damaged"),
        (FIT + FIT[:20], "cut short"),
        (file_of(data(FIELDS, 1, 1, 1, 1)), "damaged"),
        (struct.pack("<BBHI4s", 12, 0x20, 2100, 2**32 - 1, b".FIT"), "cut short"),
    ],
    ids=["last byte", "half", "checksum", "header", "tail", "second file", "undefined", "absurd size"],
)
def test_damage_is_told(content, why):
    with pytest.raises(UnusableFileError, match=f"malformed FIT: .*{why}"):
        read(content)


def test_fit_is_told_by_its_header():
    assert looks_like_fit(FIT)
    assert not any(map(looks_like_fit, (b"", b".FIT", b"x" * 99)))


def test_without_the_package_the_error_says_what_to_install(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(fit, "import_module", missing)
    with pytest.raises(MissingExtraError, match=r"pip install 'hideseek\[fit\]'"):
        read(FIT)


@settings(max_examples=200)
@given(content=mangled(FIT))
def test_any_bytes_give_records_or_are_refused(content):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            found = read(content)
        except UnusableFileError:
            return
    assert found.empty or list(found.columns) == ["latitude", "longitude", "tracked_at", "accuracy"]
