"""Nothing but the answer is told: not by files, errors, time or random numbers."""

from __future__ import annotations

import ast
import dataclasses
import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

import hideseek
from hideseek import (
    Device,
    Hexagons,
    HideseekError,
    MarkovProfile,
    Places,
    design,
)
from hideseek.device import Answer
from hideseek.metrics import hamming
from tests.support.devices import (
    GRID,
    MOVES,
    OFF_THE_GRID,
    POINTS,
    SCENARIOS,
    Killed,
    assert_same_work,
    book,
    when,
)

# ----------------------------------------------------------------------------------------------------- nothing is told


def test_an_answer_has_only_the_allowed_fields(path):
    device = Device(book("past"), path)
    exposed, withheld = device.expose(*POINTS[2], at=when(0)), device.expose(*POINTS[2], at=when(-1))
    assert {field.name for field in dataclasses.fields(Answer)} == {
        *("status", "at", "latitude", "longitude", "place", "reason"),
    }
    assert json.loads(json.dumps(dataclasses.asdict(exposed))) == {
        "status": "exposed",
        "at": "2026-01-05T08:00:00+00:00",
        "latitude": 46.5,
        "longitude": 6.5 + exposed.place,
        "place": exposed.place,
        "reason": "",
    }
    assert type(exposed.place) is int
    assert dataclasses.asdict(withheld) == {
        "status": "withheld",
        "at": "2026-01-05T07:55:00+00:00",
        "latitude": None,
        "longitude": None,
        "place": None,
        "reason": "clock",
    }
    with pytest.raises(dataclasses.FrozenInstanceError):
        exposed.place = 0


def test_coordinates_appear_nowhere(tmp_path, caplog, capfd, monkeypatch):
    caplog.set_level(logging.DEBUG)
    folder = tmp_path / "device"
    folder.mkdir()
    latitude, longitude, said = 46.5287391, 6.5734219, []

    def run(action, *arguments, **named):
        try:
            said.append(repr(action(*arguments, **named)))
        except HideseekError as error:
            while error is not None:
                said.append(f"{error!r} {error}")
                error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)

    for name in SCENARIOS:
        device = Device(book(name), folder / name)
        said.append(repr(device))
        for step in (0, 1, 2, 4, 30, 3):
            run(device.expose, latitude, longitude, at=when(step), ahead=[(latitude, longitude)])
        run(device.expose, latitude, longitude, at=when(40))
        run(device.expose, latitude, longitude, at=when(40).replace(tzinfo=None))
        run(device.expose, latitude, longitude, at=latitude)
        run(device.expose, latitude, longitude, at=f"{latitude}")
        run(device.expose, 100 + latitude, longitude, at=when(41))
        run(device.expose, latitude, 1000 + longitude, at=when(41))
        run(device.expose, str(latitude), longitude, at=when(41))
        run(device.expose, [latitude], longitude, at=when(41))
        run(device.expose, latitude, longitude, at=when(42), ahead=[(100 + latitude, longitude)])
        run(device.expose, latitude, longitude, at=when(42), ahead=[latitude, longitude])
        run(device.expose, latitude, longitude, at=when(42), ahead=f"{latitude}")
        run(device.simulate, [[latitude, longitude]])
        run(device.expose, latitude - 40, longitude, at=when(44), ahead=[(latitude, longitude)])
        with monkeypatch.context() as patch:
            patch.setattr("os.fsync", lambda _: os.open(tmp_path / "nowhere", os.O_RDONLY))
            run(device.expose, latitude, longitude, at=when(44), ahead=[(latitude, longitude)])
        run(device.expose, latitude, longitude, at=when(44), ahead=[(latitude, longitude)])
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[:-1])
        run(device.expose, latitude, longitude, at=when(46), ahead=[(latitude, longitude)])
        (folder / name).write_bytes(content)
    assert sum("ParameterError" in text for text in said) >= 8 * len(SCENARIOS)
    assert sum("StateError" in text for text in said) >= 2 * len(SCENARIOS)
    everything = [*said, caplog.text, *capfd.readouterr(), *(file.read_text() for file in folder.iterdir())]
    everything += [file.name for file in tmp_path.rglob("*")]
    for text in everything:
        assert "5287391" not in text
        assert "5734219" not in text


def test_what_a_killed_writer_left_is_cleared_away(path, monkeypatch):
    device = Device(book("past"), path)
    device.expose(*POINTS[0], at=when(0))
    with monkeypatch.context() as patch:
        patch.setattr("os.replace", mock.Mock(side_effect=Killed))
        patch.setattr("pathlib.Path.unlink", mock.Mock())  # who is killed clears nothing away
        with pytest.raises(Killed):
            device.expose(*POINTS[0], at=when(1))
    (leftover,) = path.parent.glob(f".{path.name}.*")
    device.expose(*POINTS[0], at=when(1))
    assert not leftover.exists()


def test_nobody_elses_files_are_touched(path):
    name = path.name
    others = [f"{name}.bak", f"{name}~", f"{name}.lock", f".{name}", "notes", "other", f".{name}.d"]
    others += [
        f".{name}.{end}" for end in ("bak", "swp", "20260105", "k1ll3d_x", "notes_01.tmp", "k1ll3d.hideseek-tmp")
    ]
    others += [f".{name}x.k1ll3d_x.hideseek-tmp", f".{name}.x.k1ll3d_x.hideseek-tmp", f"{name}.k1ll3d_x.hideseek-tmp"]
    for other in others:
        path.with_name(other).write_text("mine")
    device = Device(book("past"), path)
    for step in range(3):
        device.expose(*POINTS[0], at=when(step))
    assert {file.name for file in path.parent.iterdir()} == {name, *others}
    assert {path.with_name(other).read_text() for other in others} == {"mine"}


def test_devices_whose_states_have_like_names_answer_once_each(path, words):
    one, other = Device(book("past"), path), Device(book("past"), path.with_name(f".{path.name}.json"))
    words[:] = [0]
    first = other.expose(*POINTS[0], at=when(0))
    words[:] = [0]
    one.expose(*POINTS[0], at=when(0))
    words[:] = [2**32 - 1]
    assert other.expose(*POINTS[2], at=when(0)) == first


# from the first place nobody goes to the third
@pytest.mark.parametrize(
    "regions", [GRID, Places(*zip(*GRID.centres, strict=True)), Hexagons.around(*GRID.centres.T, resolution=3)]
)
@pytest.mark.parametrize("name", ["past", "transition", "planned"])
def test_the_same_is_done_on_and_off_the_map_and_at_what_was_never_seen(tmp_path, words, name, regions):
    profile = MarkovProfile.from_matrix(MOVES, regions, step="5min")
    codebook = design(profile, SCENARIOS[name], privacy=hamming(), quality=hamming(), budget=0.2, workers=1)
    words[:] = [0] * 100
    points = [*GRID.centres.tolist(), *OFF_THE_GRID]
    assert_same_work(tmp_path, lambda path: Device(codebook, path), points, ahead=True)


def test_the_state_in_memory_does_not_show_the_true_place(used):
    with used._locked() as (_, state):
        assert "places" not in repr(state)


ROOT = Path(hideseek.__file__).parent


def imported_by(module):
    """The modules of hideseek that one imports, anywhere in its code, and the tree of its code."""
    path = ROOT.joinpath(*module.split(".")[1:])
    tree = ast.parse((path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text())
    named = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            named += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            named += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return tree, named


def test_online_modules_draw_from_nothing_but_the_operating_system():
    seen, waiting = set(), ["hideseek.device.codebook_device"]
    while waiting:
        module = waiting.pop()
        if module.startswith("hideseek.maps"):  # loaded when something is put on a map, and by no device
            continue
        path = ROOT.joinpath(*module.split(".")[1:])
        if module in seen or not (path.is_dir() or path.with_suffix(".py").exists()):
            continue
        seen.add(module)
        tree, named = imported_by(module)
        for node in ast.walk(tree):
            assert getattr(node, "attr", "") not in ("random", "default_rng"), module
        assert not [name for name in named if "random" in name.split(".")], module
        waiting += [name for name in named if name.split(".")[0] == "hideseek"]
    assert {"hideseek.codebook.weights", "hideseek.device.step_device", "hideseek.util.private_files"} <= seen
    assert not {module.split(".")[1] for module in seen - {"hideseek"}} & {"game", "planning", "solvers", "designing"}


SMALL_MACHINE = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("highspy", "joblib", "matplotlib", "pandas", "pyarrow", "pyproj", "rich", "scipy"):
            raise ImportError(f"{name} is not installed on a small machine")

sys.meta_path.insert(0, Missing())
from hideseek import Codebook, Device

device = Device(Codebook.load(sys.argv[1]), sys.argv[2])
print([device.expose(46.5, 6.5 + step % 3, at=f"2026-01-05T08:{5 * step:02}:00Z").place for step in range(4)])
print(device.simulate([[0, 1, 2, 1]]).shape, repr(device.codebook))
"""


def test_a_device_needs_no_more_than_numpy_msgspec_and_safetensors(tmp_path):
    book("past").save(tmp_path / "codebook")
    command = [sys.executable, "-c", SMALL_MACHINE, tmp_path / "codebook", tmp_path / "state"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answers, others = done.stdout.splitlines()
    assert len(json.loads(answers)) == 4
    assert others.startswith("(1, 4) Codebook(places=3")
