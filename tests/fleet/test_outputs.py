"""The results of a fleet in their folder."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from importlib.metadata import version

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hideseek import ParameterError, Places
from hideseek.fleet import outputs
from hideseek.fleet.folder import Folder
from hideseek.fleet.job import FleetRow
from hideseek.traces.reading import Options
from tests.support.fleets import JOB


@given(st.lists(st.text() | st.text("aAbB%./_", max_size=4) | st.text("x", min_size=90), unique=True, max_size=20))
def test_file_names_are_safe_and_differ_even_where_case_is_ignored(users):
    names = [outputs.file_name(user) for user in users]
    assert len({name.upper() for name in names}) == len(names)
    assert all(re.fullmatch(r"[a-z0-9_%-]{1,200}", name) for name in names)


OTHERS = {
    "grid": (2, 2),
    "cell": "500m",
    "h3": 8,
    "places": Places([46.517, 46.518], [6.633, 6.634]),
    "about": 12,
    "box": (0.0, 1.0, 0.0, 1.0),
    "step": "10min",
    "memory": 2,
    "privacy": ("euclid",),
    "quality": "euclid",
    "budgets": ("30%",),
    "over": "1 hour",
    "cap": 4.0,
    "against": "log",
    "sensitive": ("clinic=46.517,6.633",),
}


READING = {"format": "csv", "columns": {"tracked_at": "ts"}, "accuracy": 50.0, "one_person": True}


@pytest.mark.parametrize("name", [*asdict(JOB), *asdict(Options()), "hideseek", "schema"])
def test_a_job_is_another_by_any_of_its_options_and_by_the_release(name, tmp_path, monkeypatch):
    job = replace(JOB, memory=None, over="1 day") if name in ("over", "cap", "against") else JOB  # of playbooks
    with outputs.Outputs(tmp_path, job).taken():
        outputs.Outputs(tmp_path, job).finish("ann", "digest", [])
    monkeypatch.setattr(outputs, "version", lambda _: "0.0.1" if name == "hideseek" else version("hideseek"))
    monkeypatch.setattr(outputs, "SCHEMA", outputs.SCHEMA + (name == "schema"))
    cut = {"grid": None} if name in ("cell", "h3", "places", "about") else {}  # the map is cut in one way
    other = replace(job, **cut, **{name: OTHERS[name]}) if name in OTHERS else job
    how = replace(Options(), **{name: READING[name]}) if name in READING else None
    with (
        pytest.raises(ParameterError, match=rf"(Got |; ){name} ") as caught,
        outputs.Outputs(tmp_path, other, how).taken(),
    ):
        pass
    assert "46.517" not in str(caught.value)


def test_a_folder_begun_by_another_release_says_which_and_what_to_do(tmp_path):
    (tmp_path / "done").mkdir()
    (tmp_path / "done" / "ann.json").touch()
    about = json.loads(outputs.Outputs(tmp_path, JOB).about) | {"schema": 2, "hideseek": "0.1.0"}
    (tmp_path / "fleet.json").write_text(json.dumps(about))
    with (
        pytest.raises(ParameterError, match=r"hideseek 0\.1\.0, where") as refused,
        outputs.Outputs(tmp_path, JOB).taken(),
    ):
        pass
    assert refused.value.hint.endswith("with the release of hideseek it was begun with.")
    assert (tmp_path / "done" / "ann.json").exists()


def test_a_folder_that_does_not_tell_its_job_holds_another_one(tmp_path):
    (tmp_path / "done").mkdir()
    (tmp_path / "done" / "ann.json").touch()
    (tmp_path / "fleet.json").write_text('{"schema":')
    match = "holds the same job.*Put fleet.json back: the same command writes it first of all into an empty folder"
    with pytest.raises(ParameterError, match=match), outputs.Outputs(tmp_path, JOB).taken():
        pass


def test_who_lacks_anything_that_was_written_is_not_finished(tmp_path, monkeypatch):
    monkeypatch.setattr(outputs, "TOGETHER", 2)
    own = outputs.Outputs(tmp_path, JOB)

    def finish(user):
        row = FleetRow(user=user, fixes=1, privacy_metric="hamming", asked="20%")
        own.finish(user, "digest", [(row, {"codebook": b"abc"})])

    def finished():
        return "".join(mark.user for mark in own.marks("abcdef"))

    for user in "abcde":
        finish(user)
    assert finished() == "".join(own.assemble("abcde")["user"].to_pylist()) == "abcde"
    (tmp_path / outputs.made_name("codebook", "a", "hamming", "20%")).write_bytes(b"ab")
    (tmp_path / outputs.mark_name("b")).write_bytes((tmp_path / outputs.mark_name("c")).read_bytes())
    monkeypatch.setattr(Folder, "write", None)
    with pytest.raises(TypeError):  # as if killed before anything is written
        finish("d")
    assert finished() == "ce"


def test_what_a_killed_run_left_half_written_goes_and_nothing_else(tmp_path):
    left = [".fleet.json.a1_b2c3d", "done/.ann.json.12345678", "codebooks/hamming-20%/.ann.hideseek.abcdefgh"]
    left += ["plans/hamming-20%/.ann.plan.12345678", "playbooks/hamming-20%/.ann.playbook.12345678"]
    left += [f"{name}.hideseek-tmp" for name in left]
    others = [".bashrc", ".env.production", "notes/.hidden.json.12345678", "done/.keep", "codebooks/.gitignore"]
    for name in left + others:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    with outputs.Outputs(tmp_path, JOB).taken():
        pass
    assert not any((tmp_path / name).exists() for name in left)
    assert all((tmp_path / name).exists() for name in others)


def test_a_folder_that_is_refused_is_left_as_it_is(undisturbed):
    left = undisturbed / ".fleet.json.12345678"
    left.touch()
    refused = pytest.raises(ParameterError, match="same job")
    with refused, outputs.Outputs(undisturbed, replace(JOB, memory=2)).taken():
        pass
    assert left.exists()
    left.unlink()
