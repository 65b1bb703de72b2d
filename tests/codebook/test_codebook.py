"""Codebooks on disk: what is read back is what was written."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
import safetensors.numpy

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
from hideseek.codebook.claims import Deployed
from hideseek.codebook.codebook import codebook_from
from hideseek.errors import CodebookError
from hideseek.storage.documents import MetricDocument, metric_document, metric_from
from hideseek.storage.sealed_file import LARGEST
from tests.support.fuzz_sealed import (
    codebooks,
    put_together,
    same_but_for_rounding,
    signed,
    taken_apart,
    unsigned,
    written,
)
from tests.support.saved_codebooks import HAMMING, MATRIX, REGIONS, first, made, tensor

# --- round trip ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "regions",
    [
        None,
        REGIONS,
        Grid(46.5, 46.6, 6.5, 6.6, rows=2, columns=2).keep([3, 0, 1]),
        Hexagons.around([46.52, 46.53, 46.55], [6.57, 6.58, 6.57], resolution=8),
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
    assert same_but_for_rounding(codebook_from(memoryview(content)).content, content)
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
    "total weighted": metrics.total(HAMMING, weights=[1.0, 0.25]),
    "minimum": metrics.minimum(metrics.distance(REGIONS), weights=np.array([1.0, 2.0])),
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


def test_an_own_metric_is_tabulated_where_it_compares_single_places(tmp_path):
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
    codebook = design(profile, Scenario.present_future(planned=True), **chosen, budget=0.3, workers=1)
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
        made().save(file)
    monkeypatch.undo()
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_what_is_no_file_is_not_written_or_read(tmp_path):
    for path in (tmp_path, tmp_path / "book", Path("/dev/null")):
        if path.name == "book":
            (tmp_path / "blocked").write_text("")
            path = tmp_path / "blocked" / "book"
        with pytest.raises(CodebookError, match="cannot be written"):
            made().save(path)
    for path in (None, 5):
        with pytest.raises(HideseekError, match="'path' parameter of Codebook"):
            made().save(path)
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
    made().save(file)
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


def test_a_codebook_shows_itself_in_a_line_and_a_table(file):
    codebook = Codebook.load(file)
    for shown in (repr(codebook), repr(codebook.deployed), repr(codebook.stages[0])):
        assert len(shown) < 250
        assert "array" not in shown
    assert repr(codebook).startswith("Codebook(places=3, stages=")
    assert f"longest_gap={len(codebook.gaps) + 1}" in repr(codebook)
    for result in (codebook, codebook.deployed):
        assert result._repr_html_().startswith("<table>")
