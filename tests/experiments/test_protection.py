"""From traces to a device: what is made, and what a folder of it holds."""

from __future__ import annotations

import json
import re
import stat
from contextlib import nullcontext
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from hideseek import (
    Grid,
    MarkovProfile,
    ParameterError,
    Places,
    Playbook,
    PlaybookDevice,
    load_plan,
    load_profile,
    protect,
    synthetic_city,
)
from hideseek.errors import OutputError, TraceError
from hideseek.experiments import protection
from hideseek.experiments.protection import holder, names_of
from hideseek.experiments.protection_folder import WRITTEN, of_other_runs, refuse_other_person
from hideseek.experiments.protection_words import label_from
from hideseek.metrics import SensitivePlace
from hideseek.model import distances

TRACES = synthetic_city(people=1, days=3)
PROFILE = MarkovProfile.fit(TRACES, Grid.covering(TRACES, rows=2, columns=2))
CLINIC = SensitivePlace("the <b>clinic</b>", *PROFILE.regions.centres[2].tolist(), radius=1.0)


@pytest.fixture(scope="module")
def made():
    return protect(TRACES, profile=PROFILE, budget="1km", over="access", sensitive=[CLINIC], workers=1)


def modes(folder):
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_places_are_found_and_learned_where_no_profile_is_given():
    found = protect(synthetic_city(people=1, days=1), budget="50%", over="access", workers=1)
    assert {"home"} <= {place.name for place in found.label.places}
    assert not any(name.startswith("cell") for name in (place.name for place in found.label.places))


def test_a_folder_holds_what_can_be_read_again_by_its_owner_only(made, tmp_path):
    made.save(tmp_path / "me")
    assert modes(tmp_path / "me") == dict.fromkeys(WRITTEN, 0o600)
    assert stat.S_IMODE((tmp_path / "me").stat().st_mode) == 0o700
    assert np.array_equal(load_profile(tmp_path / "me" / "profile.json").transition, PROFILE.transition)
    game, planner = load_plan(tmp_path / "me" / "me.plan", profile=PROFILE)
    assert game.budget == 1e6
    assert np.array_equal(planner.cuts, made.planner.cuts)
    book = Playbook.load(tmp_path / "me" / "me.playbook")
    assert book.sha256 == made.playbook.sha256
    device = PlaybookDevice(book, state=tmp_path / "me" / "me.state")
    assert device.expose(*PROFILE.regions.centres[0].tolist(), at="2026-01-05T08:00:00+00:00").status == "exposed"


def test_run_again_it_replaces_the_files_and_leaves_the_device_s(made, tmp_path):
    made.save(tmp_path)
    for name in WRITTEN:
        (tmp_path / name).write_bytes(b"old")
    (tmp_path / "me.state").write_text("state")
    (tmp_path / ".new-killed.hideseek-tmp").mkdir()
    made.save(tmp_path)
    assert contents(tmp_path).keys() == {*WRITTEN, "me.state"}
    assert (tmp_path / "me.state").read_text() == "state"
    assert b"old" not in contents(tmp_path).values()


def test_files_are_replaced_all_or_none(made, tmp_path, monkeypatch):
    made.save(tmp_path)
    for name in WRITTEN:
        (tmp_path / name).write_bytes(name.encode())
    before = contents(tmp_path)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(protection, "write_privately", full)
    with pytest.raises(OutputError, match="No space left"):
        made.save(tmp_path)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("done", range(len(WRITTEN) + 1))
def test_files_of_two_runs_are_told_by_their_checksums(made, tmp_path, monkeypatch, done):
    made.save(tmp_path)
    for name in WRITTEN[:-1]:  # by an earlier run, whose document comes with them
        (tmp_path / name).write_bytes(name.encode())
    about = json.loads((tmp_path / "protection.json").read_text())
    about["sha256"] = {name: sha256(name.encode()).hexdigest() for name in WRITTEN[:-1]}
    (tmp_path / "protection.json").write_text(json.dumps(about))
    assert of_other_runs(tmp_path) == []
    replace, left = Path.replace, iter(range(done))

    def killed(self, target):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt) if done < len(WRITTEN) else nullcontext():
        made.save(tmp_path)
    assert of_other_runs(tmp_path) == ([] if done == len(WRITTEN) else list(WRITTEN[:done]))


def test_a_folder_of_somebody_who_lives_elsewhere_is_refused(made, tmp_path, monkeypatch):
    made.save(tmp_path)
    monkeypatch.setattr(protection, "protected", lambda *_: pytest.fail("worked"))
    east = TRACES.assign(longitude=TRACES["longitude"] + 1)
    profile = MarkovProfile.fit(east, Grid.covering(east, rows=2, columns=2))
    renamed = east.assign(user_id="bob")
    with pytest.raises(ParameterError, match=r"for person-000, where the traces are of bob .* Give another folder"):
        protect(renamed, profile=profile, over="access", out=tmp_path)
    assert json.loads((tmp_path / "protection.json").read_text())["user"] == "person-000"


@pytest.mark.parametrize(("user", "moved"), [("person-000", 1.0), ("Timeline-2", 0.0)])
def test_who_moves_house_or_renames_a_file_stays_the_same_person(made, tmp_path, user, moved):
    made.save(tmp_path)
    new = TRACES.assign(longitude=TRACES["longitude"] + moved, user_id=user)
    profile = MarkovProfile.fit(new, Grid.covering(new, rows=2, columns=2))
    refuse_other_person(tmp_path, user, profile)


def test_a_folder_is_not_made_before_there_is_something_to_write(tmp_path, monkeypatch):
    def fails(*_):
        raise TraceError("nothing to see")

    monkeypatch.setattr(protection, "protected", fails)
    with pytest.raises(TraceError):
        protect(TRACES, profile=PROFILE, out=tmp_path / "a" / "me")
    assert not (tmp_path / "a").exists()


def test_the_label_in_the_folder_is_the_label(made, tmp_path):
    made.save(tmp_path)
    about = json.loads((tmp_path / "protection.json").read_text())
    assert label_from(about["label"]) == made.label
    assert tuple(map(label_from, about["drafts_at_other_budgets"])) == made.others
    assert about["playbook"] == made.playbook.sha256


@pytest.mark.parametrize("name", ["letters.txt", "my-profile.json", ".hidden"])
def test_a_folder_with_other_files_is_refused_before_any_work(tmp_path, monkeypatch, name):
    (tmp_path / name).write_text("mine")
    monkeypatch.setattr(protection, "protected", lambda *_: pytest.fail("worked"))
    with pytest.raises(ParameterError, match=f"'out' parameter of protect .* holds {re.escape(name)}"):
        protect(TRACES, profile=PROFILE, out=tmp_path)
    assert contents(tmp_path) == {name: b"mine"}


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ParameterError, match="'out' parameter of protect must be a folder"):
        protect(TRACES, profile=PROFILE, out=tmp_path / "file")


def test_who_is_not_one_person_of_order_one_is_refused():
    with pytest.raises(ParameterError, match=r"those of one person\. Got 2 people"):
        protect(synthetic_city(people=2, days=1))
    second = MarkovProfile.fit(TRACES, Grid.covering(TRACES, rows=2, columns=2), order=2)
    with pytest.raises(ParameterError, match="one of order 1"):
        protect(TRACES, profile=second)


def test_a_sensitive_place_comes_first_with_its_own_name(made):
    first = made.label.places[0]
    assert (first.name, first.sensitive, first.truth.place) == (CLINIC.name, True, 2)
    assert made.label.weighted_unit == "weighted m"


def test_the_one_that_holds_a_sensitive_location_stands_for_it():
    points = Places([46.5, 46.501, 46.7], [6.5, 6.5, 6.7])
    assert holder(SensitivePlace("near", 46.5008, 6.5, radius=500.0), points) == 1
    assert holder(SensitivePlace("far", 46.7, 6.7), points) == 2


def test_named_places_are_told_by_the_time_spent_there():
    named = Places([46.5, 46.6, 46.7], [6.5, 6.6, 6.7], names=("a", "", "c"))
    assert list(names_of(named, np.array([0.2, 0.3, 0.5])).items()) == [(2, "c"), (0, "a")]
    assert names_of(named, np.array([0.2, 0.3, 0.5]), [2]) == {0: "a"}
    assert names_of(Places([46.5, 46.6], [6.5, 6.6]), np.array([0.2, 0.8])) == {1: "place 1", 0: "place 0"}


def test_the_day_was_lived_and_its_beliefs_follow_by_bayes_rule(made):
    day, metres = made.day, distances(PROFILE.regions)
    midnight = TRACES["tracked_at"].dt.normalize()
    cells = PROFILE.regions.locate(TRACES["latitude"], TRACES["longitude"])
    [date] = [start for start in midnight.unique() if f"{start:%A, %-d %B %Y}" == day.date]
    belief = PROFILE.stationary
    for minute, true, release, guess, believed in zip(
        day.minutes, day.true, day.exposed, day.guess, day.belief, strict=True
    ):
        seen = TRACES["tracked_at"] < date + np.timedelta64(int(minute) + 5, "m")
        assert true == cells[np.flatnonzero(seen)[-1] if seen.any() else 0]
        posterior = belief * made.playbook.play(belief).by_state[:, release]
        posterior /= posterior.sum()
        assert believed == pytest.approx(posterior, abs=1e-12)
        assert (metres @ posterior)[guess] == pytest.approx((metres @ posterior).min())
        belief = believed @ PROFILE.transition
    assert len(day.true) == 288
    assert 2 in day.true or 2 not in cells[(midnight >= midnight.max()).to_numpy()]


def test_the_report_goes_from_a_day_to_what_is_proved_and_stands_alone(made):
    page = made.report
    headings = re.findall(r"<h2>(.*?)</h2>", page)
    assert headings[0].startswith("A day")
    assert [heading.split()[0] for heading in headings[1:]] == ["What", "How", "How", "For", "What"]
    assert "<b>clinic" not in page
    assert "&lt;b&gt;clinic&lt;/b&gt;" in page
    assert not re.search(r"(src|href)=|https?:|@import|url\(", page)
    data = json.loads(re.search(r'id="day-data">(.*?)</script>', page)[1])
    assert data["names"][2] == CLINIC.name
    for row, belief in zip(made.day.belief, data["belief"], strict=True):
        told = np.zeros(PROFILE.places)
        told[[place for place, _ in belief]] = [share / 1000 for _, share in belief]
        assert told == pytest.approx(row, abs=6e-4)  # thousandths
    for role in ("true", "exposed", "guess"):
        assert data[role] == getattr(made.day, role).tolist()


def test_it_is_told_in_a_line(made):
    assert re.fullmatch(r"Protection\(places=3, budget=1000 m .*, error=.* m, nothing exposed=.* m\)", repr(made))
    assert made._repr_html_().startswith("<table>")
