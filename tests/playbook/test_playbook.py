"""A playbook's file: the same bit by bit, private, small, and refused unless it is one."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek import Codebook, ParameterError, Playbook, load_plan
from hideseek.errors import CodebookError, PlanError, PlaybookError
from hideseek.playbook.playbook import NUMBERS, playbook_from
from hideseek.storage.sealed_file import LARGEST, FileKind
from tests.support.fuzz_sealed import fuzz, playbooks, put_together, signed, taken_apart, unsigned
from tests.support.live_devices import LIVE_SCENARIOS, game_of
from tests.support.playbooks import book_of, garbage, with_tables

BOOK = book_of("transition")
PARTS = (*NUMBERS, "states", "anchors")


@pytest.fixture
def file(tmp_path):
    BOOK.save(tmp_path / "book")
    return tmp_path / "book"


def refused(content, match):
    with pytest.raises(PlaybookError, match=match):
        opened(content)


def opened(content):
    """The playbook of a file with this content, without the disk."""
    with mock.patch.object(FileKind, "_read", return_value=content):
        return Playbook.load("file")


# --------------------------------------------------------------------------------------------------------- round trips


@pytest.mark.parametrize("name", LIVE_SCENARIOS)
def test_a_playbook_is_read_as_it_was_written_bit_by_bit(tmp_path, name):
    book = book_of(name)
    book.save(tmp_path / "book")
    again = Playbook.load(tmp_path / "book")
    for part in PARTS:
        one, other = getattr(book, part), getattr(again, part)
        assert (one.shape, one.tobytes()) == (other.shape, np.ascontiguousarray(other, one.dtype).tobytes()), part
    for part in ("budget", "every", "row", "step", "scenario", "privacy", "quality", "discount", "price", "sha256"):
        assert getattr(book, part) == getattr(again, part), part
    for part in ("codes", "start", "releases", "weights"):
        assert np.array_equal(getattr(book.tables, part), getattr(again.tables, part)), part
    assert again.content == (tmp_path / "book").read_bytes() == book.content
    assert again.regions.centres.tolist() == book.regions.centres.tolist()
    assert repr(again) == repr(book)


def test_a_loaded_playbook_plays_the_same_at_any_belief(file):
    again, generator = Playbook.load(file), np.random.default_rng(0)
    for _ in range(20):
        belief = generator.dirichlet(np.full(len(BOOK.start), 0.3))
        for columns in (None, [1]):
            one, other = BOOK.play(belief, columns=columns), again.play(belief, columns=columns)
            assert (one.weights == other.weights).all()
            assert (one.privacy, one.loss) == (other.privacy, other.loss)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=20)
def test_whatever_tables_it_has_a_file_is_read_as_written(seed):
    book = garbage(BOOK, seed)
    assert playbook_from(memoryview(book.content)).content == book.content


def test_beliefs_of_tables_are_kept_to_the_nearest_65535th():
    anchors = np.random.default_rng(0).dirichlet(np.ones(len(BOOK.start)), size=len(BOOK.anchors))
    again = playbook_from(memoryview(replace(BOOK, anchors=anchors, checksum="").content))
    assert np.abs(again.anchors - anchors).max() <= 0.5 / 65535 * (1 + 1e-9)


def test_the_future_is_worth_what_the_cuts_say_of_the_next_access():
    """sum over releases of the least <c, b'>, where b' is what is believed at the next access; seven digits."""
    for belief in np.random.default_rng(0).dirichlet(np.full(len(BOOK.start), 0.3), size=5):
        table = BOOK.play(belief).by_state
        after = [(belief * table[:, release]) @ BOOK.moves for release in range(table.shape[1])]
        later = sum(min(float(cut @ joint) for cut in BOOK.cuts) for joint in after)
        worth = BOOK.chooser.worth(belief, table[None])
        assert worth.value - worth.now == pytest.approx(BOOK.discount * later, rel=1e-5)


def test_a_table_that_keeps_the_floor_comes_before_a_more_valuable_one():
    """One hides 1 behind 2, and the adversary errs by 0.2; the other 0 behind 2, by 0.1, which the cuts value more."""
    safe, valued = np.eye(3), np.eye(3)
    safe[1], valued[0] = [0, 0.6, 0.4], [0.6, 0, 0.4]
    book = with_tables(book_of(), [safe, valued], [book_of().start] * 2, cuts=[[10.0, 0, 0], [0, 0, 10]])
    assert book.start.tolist() == [0.25, 0.5, 0.25]
    chosen = [book.chooser.best(book.start, floor=floor) for floor in (0.0, 0.14)]
    first, kept = book.chooser.worth(book.start, np.array(chosen)).now
    assert first == pytest.approx(0.1)
    assert kept >= 0.14
    assert book.play(book.start, floor=0.14).privacy >= 0.14


def test_what_it_is_of_is_told_and_nothing_of_where_anybody_was():
    told = f"Playbook(places=3, tables={len(BOOK.anchors)}, cuts={len(BOOK.cuts)}, "
    assert repr(BOOK).startswith(told)
    assert "46." not in repr(BOOK)
    assert "<table" in BOOK._repr_html_()


def test_the_ceiling_follows_from_an_attack_and_others_only_raise_it():
    game = game_of(scenario=LIVE_SCENARIOS["transition"])
    assert BOOK.ceiling_bound == pytest.approx(game.ceiling.bound, rel=1e-9)
    for seed in range(20):
        generator = np.random.default_rng(seed)
        attack = generator.dirichlet(np.ones(BOOK.attack.shape[1]), size=len(BOOK.attack))
        forged = replace(BOOK, attack=attack, price=float(generator.exponential()), checksum="")
        assert forged.ceiling_bound >= game.ceiling.privacy - 1e-9


# ------------------------------------------------------------------------------------------------------------ the disk


def test_a_playbook_is_for_its_owner_only_and_written_whole_or_not_at_all(file, monkeypatch):
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    before = file.read_bytes()

    def broken(*_):
        raise OSError(errno.ENOSPC, "disk full")

    monkeypatch.setattr("os.fsync", broken)
    with pytest.raises(PlaybookError, match="cannot be written: disk full"):
        book_of().save(file)
    monkeypatch.undo()
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_file_has_six_bytes_for_every_entry_and_row_beside_its_chain(file):
    """A place and a weight of every entry, the end and the anchor of every row; 2 kB for the document."""
    numbers = sum(getattr(BOOK, part).nbytes for part in NUMBERS)
    rows, entries = len(BOOK.tables.start) - 1, len(BOOK.tables.weights)
    assert 6 * (rows + entries) < file.stat().st_size - numbers < 6 * (rows + entries) + 3000


def test_what_is_no_readable_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").touch()
    with (tmp_path / "large").open("wb") as stream:
        stream.truncate(LARGEST + 1)
    for path in ("none", ".", "pipe", "empty", "large", "\0", "/dev/zero"):
        with pytest.raises(PlaybookError):
            Playbook.load(tmp_path / path)
    for path in (None, 5):
        with pytest.raises(ParameterError, match="'path' parameter of Playbook"):
            Playbook.load(path)
        with pytest.raises(ParameterError, match="'path' parameter of Playbook"):
            BOOK.save(path)


def test_no_kind_of_file_is_taken_for_another(file, tmp_path):
    with pytest.raises(CodebookError):
        Codebook.load(file)
    with pytest.raises(PlanError):
        load_plan(file)
    (tmp_path / "plan").write_bytes(put_together(*taken_apart(BOOK.content)))
    assert Playbook.load(tmp_path / "plan").sha256 == BOOK.sha256


def test_what_could_not_be_read_is_not_written(tmp_path):
    for forged in (
        replace(BOOK, cost=BOOK.cost * np.nan),
        replace(BOOK, start=BOOK.start / 2),
        replace(BOOK, budget=-1.0),
        replace(BOOK, cuts=BOOK.cuts[:, :-1]),
    ):
        with pytest.raises(PlaybookError):
            replace(forged, checksum="").save(tmp_path / "book")
    assert not list(tmp_path.iterdir())


# ------------------------------------------------------------------------------------------------------- hostile files


def test_a_flipped_bit_or_a_missing_end_is_refused_at_every_byte():
    content = min(playbooks(), key=len)
    for at, byte in enumerate(content):
        with pytest.raises(PlaybookError):
            opened(content[:at] + bytes([byte ^ 1 << at % 8]) + content[at + 1 :])
        with pytest.raises(PlaybookError):
            opened(content[:at])
    assert opened(content)


def tensor(name, change):
    """Change a tensor's numbers, and keep its type."""

    def changed(document, tensors):
        kind, shape, part = tensors[name]
        numbers = np.frombuffer(part, {"F64": "<f8", "U16": "<u2", "U32": "<u4"}[kind]).reshape(shape)
        found = np.asarray(change(numbers.copy()), numbers.dtype)
        tensors[name] = [kind, list(found.shape), found.tobytes()]

    return changed


def one_more(_, tensors):
    """A tensor that no playbook has, before all others."""
    others = dict(tensors)
    tensors.clear()
    tensors.update({"more": ["U32", [0], b""]} | others)


def first(value):
    def put(array):
        array.flat[0] = value
        return array

    return put


def put(*keys, value):
    def changed(document, tensors):
        for key in keys[:-1]:
            document = document[key]
        document[keys[-1]] = value

    return changed


HOSTILE = {
    **{f"{name} nan": (tensor(name, first(np.nan)), "not finite") for name in NUMBERS},
    **{f"{name} infinite": (tensor(name, first(np.inf)), "not finite") for name in NUMBERS},
    **{f"{name} wider": (tensor(name, lambda a: np.c_[a, a]), "shape") for name in NUMBERS if name != "start"},
    **{f"{name} shorter": (tensor(name, lambda a: a[:-1]), "shape|states") for name in ("cost", "moves", "wait")},
    **{f"{name} negative": (tensor(name, first(-0.5)), "distributions") for name in ("start", "moves", "wait")},
    **{f"{name} doubled": (tensor(name, lambda a: 2 * a), "distributions") for name in ("start", "moves", "attack")},
    **{f"{name} below 0": (tensor(name, first(-1.0)), "negative") for name in ("error", "cost")},
    **{f"{name} huge": (tensor(name, first(1e300)), "larger than any") for name in ("error", "cost", "cuts")},
    **{f"no {name}": (lambda d, t, name=name: t.pop(name), "missing") for name in (*PARTS, "tables.start")},
    "attack shorter": (tensor("attack", lambda a: a[:-1]), "shape"),
    "error shorter": (tensor("error", lambda a: a[:-1]), "shape"),
    "start longer": (tensor("start", lambda a: np.r_[a, 0]), "shape"),
    "no guesses": (tensor("error", lambda a: a[:0]), "shape"),
    "anchors": (tensor("anchors", lambda a: a[:-1]), "rows"),
    "anchors wider": (tensor("anchors", lambda a: np.c_[a, a]), "rows|shape"),
    "no anchors": (tensor("anchors", lambda a: a[:0]), "unknown tensors"),
    "weights": (tensor("tables.weights", lambda a: a // 2), "2\\^32"),
    "releases": (tensor("tables.releases", lambda a: a + 7), "does not exist"),
    "rows": (tensor("tables.start", lambda a: a[::-1]), "rows"),
    "state twice": (tensor("states", lambda a: np.r_[a[:-1], a[:1]]), "twice"),
    "no states": (tensor("states", lambda a: a[:0]), "states|rows|shape"),
    "states elsewhere": (tensor("states", lambda a: a + 5), "places"),
    "states of one place": (tensor("states", lambda a: a[:, :1]), "places|twice"),
    "states in F64": (lambda d, t: t["states"].__setitem__(0, "F64"), "follow one another|fit its shape"),
    "more": (one_more, "unknown tensors"),
    "budget": (put("budget", value=-1.0), "not that of a playbook"),
    "small budget": (lambda d, t: d.update(budget=0.0) or tensor("cost", lambda a: a + 0.1)(d, t), "too small"),
    "price": (put("price", value=1e300), "larger than any"),
    "discount": (put("discount", value=1.0), "not that of a playbook"),
    "step": (put("step", value="soon"), "step"),
    "every": (put("scenario", "every", value=20_000), "access after access"),
    "far back": (put("scenario", "known", value=[-20_000, 0]), "access after access"),
    "release": (lambda d, t: d["scenario"].update(release=[0, 1], every=2), "access after access"),
    "known": (put("scenario", "known", value=[-1]), "access after access"),
    "future": (put("scenario", "known", value=[0, 1]), "access after access"),
    "other known": (put("scenario", "known", value=[0]), "places"),
    "name": (put("privacy", "name", value="x" * 999), "not that of a playbook"),
    "version": (put("hideseek_playbook", value=3), "newer"),
    "a window that it does not have": (put("hideseek_playbook", value=2), "kind of budget"),
    "extra": (put("extra", value=1), "not that of a playbook"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_playbook_is_refused_although_its_checksum_is_right(name):
    change, message = HOSTILE[name]
    document, tensors = taken_apart(BOOK.content)
    change(document, tensors)
    refused(put_together(document, tensors), message)


@pytest.mark.parametrize(("tables", "guesses"), [(50_000, 1), (1, 90_000)])
def test_a_file_that_asks_for_more_memory_than_its_size_is_refused(tables, guesses):
    """Every row of a table takes some bytes in a file and 40 numbers in memory, and so does every guess."""
    document, _ = taken_apart(book_of().content)
    count, rows = 40, tables * 40
    there = np.linspace(46, 47, count).tolist()
    document["regions"] = {"type": "places", "latitudes": there, "longitudes": there, "names": []}
    numbers = {
        "start": np.full(count, 1 / count),
        "error": np.ones((guesses, count)),
        "cost": np.zeros((count, count)),
        "moves": np.eye(count),
        "wait": np.eye(count),
        "cuts": np.zeros((1, count)),
        "attack": np.tile(np.eye(1, guesses), (count, 1)),
        "tables.start": np.arange(rows + 1, dtype="<u4"),
        "tables.weights": np.zeros(rows, "<u4"),
        "tables.releases": np.zeros(rows, "<u2"),
        "states": np.arange(count, dtype="<u2")[:, None],
        "anchors": np.zeros((tables, count), "<u2"),
    }
    kinds = {"<f8": "F64", "<u4": "U32", "<u2": "U16"}
    tensors = {name: [kinds[one.dtype.str], list(one.shape), one.tobytes()] for name, one in numbers.items()}
    refused(put_together(document, tensors), "too many for a device")


def test_a_header_is_read_in_one_guise_only():
    content = unsigned(BOOK.content)
    opened(signed(content))
    refused(
        signed(content.replace(b'\\"discount\\":', b'\\"discount\\": ').replace(b"  ", b" ", 1)), "writes it|header"
    )


def test_nothing_but_a_playbook_error_comes_of_hostile_files():
    """A long run: python -m tests.support.fuzz_sealed playbook 600"""
    count = fuzz("playbook", 400, seed=5)
    assert count["refused"] > 300
    assert count["accepted"] > 0, "harmless changes, such as another table, are accepted"
