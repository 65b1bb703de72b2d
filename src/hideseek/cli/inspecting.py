"""Any of our files in words and as facts: what it is, and what it holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any

import msgspec

from hideseek.cli.descriptions import (
    HABITS,
    codebook_facts,
    codebook_words,
    fleet_words,
    label_facts,
    plan_claims,
    plan_promises,
    stage_rows,
)
from hideseek.cli.inputs import read_label
from hideseek.cli.playbook_words import label_from, label_rows, naming_rows, playbook_facts, playbook_words
from hideseek.cli.profile_words import busiest_rows, model_rows, model_words, profile_facts
from hideseek.cli.terminal import print_table, say
from hideseek.codebook.codebook import Codebook
from hideseek.designing.deployed_run import verify
from hideseek.device.step_device import unsealed
from hideseek.errors import StateError, TraceError
from hideseek.experiments.protection_folder import of_other_runs
from hideseek.experiments.protection_slider import slider_of
from hideseek.experiments.protection_words import budget_sentence, error_table, naming_table
from hideseek.experiments.protection_words import label_from as person_label_from
from hideseek.experiments.wording import label_table
from hideseek.model.periodic import PeriodicProfile
from hideseek.planning.plan_file import load_plan
from hideseek.playbook.playbook import Playbook
from hideseek.storage.kinds import FLEET, HEAD, LABELS, PROTECTION, Kind, kind_of
from hideseek.storage.profile_file import load_profile
from hideseek.util.private_files import read_plain_file
from hideseek.util.progress import bar

BROKEN = (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError)  # of facts that are none
LARGEST = 16 * 2**20  # bytes of a state or of the job of a fleet
TITLE = re.compile(rb"<title>(.*?)</title>", re.DOTALL)
TABLES = {
    Kind.MECHANISM: "Each row: with which probability a release is drawn, given the places that the mechanism knows.",
    Kind.ATTACK: "Each row: with which probability an adversary guesses places, given the release.",
    Kind.CURVE: "Each row: a budget, the privacy that is certified for it, and the bound that no mechanism exceeds.",
    Kind.COMPARISON: "Each row: a mechanism, how its dial was set, the adversaries' expected errors, and its loss.",
    Kind.PLANNERS: "Each row: a planner for a user at a budget, the expected errors, the loss, and the proved bound.",
    Kind.USERS: "Each row: a user's day, how much of it is covered, how predictable it is, and the prior risks.",
    Kind.SPORADIC: "Each row: a budget of a user, and a mechanism for single places under the two attacks on it.",
    Kind.LOCATION: "Each row: a budget of a user, and the privacy of the current place at a step.",
    Kind.TRANSITION: "Each row: a budget of a user, and the privacy of this place and the next.",
    Kind.PROGRAMS: "Each row: a game of a user, solved by a linear program, beside the closed form.",
    Kind.ROBUSTNESS: "Each row: what an adversary leaves of the privacy that was claimed, on other days of a user.",
}

SAVED = "in the unit of the expected loss: what the next answers may lose beside the budget of each"

Sheet = tuple[str, Sequence[str], Sequence[Sequence[str]]]  # title, header, rows


@dataclass(frozen=True)
class Inspected:
    """What a file is: facts for machines, tables and sentences for people; ``private`` if it reveals where they go."""

    kind: Kind
    facts: dict[str, object]
    sheets: tuple[Sheet, ...] = ()
    sentences: tuple[str, ...] = field(default=())
    private: str = HABITS


def inspected(path: Path) -> Inspected:
    """What a file is and holds; a codebook's and a plan's claims are computed again."""
    kind = kind_of(path)
    return EXPLAINED[kind](kind, path)


def show(found: Inspected) -> None:
    """Print what a file is."""
    for sheet in found.sheets:
        print_table(*sheet)
    for sentence in found.sentences:
        say(sentence)
    if found.private:
        say(("Keep it private.", "bold yellow"), f" {found.private}")


def a_profile(kind: Kind, path: Path) -> Inspected:
    """A profile."""
    profile = load_profile(path)
    order = f"order {profile.memory}" + ", with a clock" * isinstance(profile, PeriodicProfile)
    title = f"{path.name}, a profile: {profile.places} places, time step {profile.step}, {order}"
    sheets: tuple[Sheet, ...] = ((title, *busiest_rows(profile)),)
    if profile.candidates:
        sheets += (("The models that it was chosen from", *model_rows(profile)),)
    return Inspected(kind, profile_facts(profile), sheets, (f"The next place depends on {model_words(profile)}.",))


def a_label(kind: Kind, path: Path) -> Inspected:
    """A label, as evaluate wrote it."""
    label = read_label(path)
    table = label_table(label, label.unit)
    title = f"{path.name}, a label: on average over {label.accesses} accesses"
    return Inspected(kind, label_facts(label), ((title, table.header, table.rows),), private="")


def a_playbook_label(kind: Kind, path: Path) -> Inspected:
    """The label of a playbook, as evaluate or design wrote it."""
    whole = document_of(path, kind)
    try:
        facts = whole.get("label", whole)
        label, names = label_from(facts), [place["name"] for place in facts["namings"]]
        rows = label_rows(label, str(facts["unit"]))
    except BROKEN:
        raise TraceError(f"{path} is damaged: it tells no {kind}.") from None
    often = f"{path.name}, a {kind}: how often an adversary who remembers every release names a place, in %"
    average = f"On average over {label.accesses} accesses of {label.walks} walks"
    return Inspected(kind, whole, ((often, *naming_rows(label, names)), (average, *rows)))


def a_protection(kind: Kind, path: Path) -> Inspected:
    """What protect achieved for a person: what it printed, or the folder that it wrote."""
    whole = document_of(path / PROTECTION if path.is_dir() else path, kind)
    try:
        label, others = person_label_from(whole["label"]), map(person_label_from, whole["drafts_at_other_budgets"])
        user, budgets = str(whole["user"]), slider_of(label, list(others))[1]
    except BROKEN:
        raise TraceError(f"{path} is damaged: it tells no {kind}.") from None
    title = f"{path.name}, the protection of {user}: how often the adversary names your places"
    tables = {title: naming_table(label), "How far off": error_table(label), "At other budgets, in drafts": budgets}
    mixed = of_other_runs(path) if path.is_dir() else []
    told = (
        budget_sentence(label),
        *(f"{name} is not of the run that finished last: run protect again." for name in mixed),
    )
    facts = whole | ({"of_other_runs": mixed} if path.is_dir() else {})
    return Inspected(kind, facts, tuple((name, one.header, one.rows) for name, one in tables.items()), told)


def document_of(path: Path, kind: Kind) -> dict[str, Any]:
    """A document of ours."""
    try:
        return msgspec.json.decode(read_plain_file(path, LARGEST), type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError):
        raise TraceError(f"{path} is damaged: it tells no {kind}.") from None


def a_codebook(kind: Kind, path: Path) -> Inspected:
    """A codebook, verified where it holds its profile."""
    codebook, verified, size = Codebook.load(path), False, path.stat().st_size
    if codebook.chain is not None:
        with bar("verifying") as advance:
            verify(codebook, progress=advance)
        verified = True
    no_profile = "claimed by its designer and not verified, as it holds no profile (hideseek 0.1.0)"
    title = f"{path.name}, a codebook of {size / 1000:.0f} kB: {'verified' if verified else no_profile}"
    stages = ("Its stages, computed again from the stored integers", *stage_rows(codebook))
    facts = codebook_facts(codebook) | {"codebook": str(path), "bytes": size, "verified": verified}
    return Inspected(kind, facts, ((title, ("", ""), codebook_words(codebook)), stages))


def a_plan(kind: Kind, path: Path) -> Inspected:
    """A plan, whose bound is proved again."""
    game, planner = load_plan(path)
    title = f"{path.name}, a plan over {game.profile.places} places"
    told = "What it reaches is simulated by 'hideseek plan'; its bound is proved again here."
    facts = plan_claims(game, planner) | {"bound": planner.bound, "plan": str(path)}
    return Inspected(kind, facts, ((title, ("", ""), plan_promises(game, planner)),), (told,))


def a_playbook(kind: Kind, path: Path) -> Inspected:
    """A playbook, of which nothing is believed: every number is computed here."""
    playbook, size = Playbook.load(path), path.stat().st_size
    title = f"{path.name}, a playbook of {size / 1000:.0f} kB over {len(playbook.regions)} places"
    told = "All numbers are computed here from what the file holds; what it reaches in a run is told by evaluate."
    facts = playbook_facts(playbook) | {"playbook": str(path), "bytes": size}
    return Inspected(kind, facts, ((title, ("", ""), playbook_words(playbook)),), (told,))


def a_state(kind: Kind, path: Path) -> Inspected:
    """The state of a device, of which the true places in it are not shown."""
    try:
        content = read_plain_file(path, LARGEST)
        state = msgspec.json.decode(content, type=dict[str, Any])
        version, owner, last = int(state["hideseek_state"]), str(state["sha256"]), int(state["last"])
        sealed, run = unsealed(content) is not None, dict(state.get("run") or {})
        saved = float(state["saved"]) if "saved" in state else None  # of a budget that holds over a window
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError, TypeError, ValueError):
        raise StateError(f"The state {path} is damaged.") from None
    if "seal" in state and not sealed:
        raise StateError(f"The state {path} is damaged: its checksum is wrong.")
    rule = "plan or playbook" if "belief" in state else "codebook"
    facts: dict[str, object] = {"of": rule, "sha256": owner, "version": version, "last_step": last}
    words = [("of a device with", f"a {rule}"), (f"sha256 of the {rule}", owner), ("last answered step", f"{last}")]
    counts = {name: int(run[name]) for name in ("accesses", "withheld") if isinstance(run.get(name), int)}
    words += [
        ({"accesses": "places exposed", "withheld": "answers withheld"}[name], f"{n}") for name, n in counts.items()
    ]
    if saved is not None:
        facts["saved"] = saved
        words.append(("saved in its account", f"{saved:.6g}, {SAVED}"))
    private = "It holds the last releases, and true places that later draws look at, which are not shown here."
    return Inspected(kind, facts | counts, ((f"{path.name}, a device state", ("", ""), words),), private=private)


def a_fleet(kind: Kind, path: Path) -> Inspected:
    """The folder of a fleet, or the file in it that says what its job is."""
    folder = path if path.is_dir() else path.parent
    try:
        job = msgspec.json.decode(read_plain_file(folder / FLEET, LARGEST), type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError):
        raise TraceError(f"{folder / FLEET} is damaged: it tells no job.") from None
    told = [(name, words_of(value)) for name, value in job.items() if value is not None]
    sheets: tuple[Sheet, ...] = ((f"{folder.name}, a fleet: its job", ("", ""), told),)
    facts: dict[str, object] = {"job": job}
    if not (folder / LABELS).is_file():
        return Inspected(kind, facts, sheets, ("It has no labels yet: run the same fleet again to continue.",))
    labels = some_labels(kind, folder / LABELS)
    return Inspected(kind, facts | labels.facts, (*sheets, *labels.sheets))


def words_of(value: object) -> str:
    """A value of a job in words."""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def some_labels(kind: Kind, path: Path) -> Inspected:
    """The labels of a fleet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from hideseek.fleet.run import COVERAGE, summary

    try:
        found = summary(pq.read_table(path), str(path), reused=0, departed=0, told_apart_by="")
    except (pa.ArrowException, KeyError, OSError) as error:
        raise TraceError(f"{path} cannot be read: {type(error).__name__}.") from None
    facts: dict[str, object] = {
        "labels": str(path), "users": found.users, "codebooks": found.codebooks, "playbooks": found.playbooks,
        "unusable": found.unusable, "reasons": found.reasons, "kept": found.kept, "few_days": found.few_days,
        "narrow": found.narrow, "over": found.over, "worst_window": found.worst_window,
    } | {name: getattr(found, name) for name in COVERAGE}  # fmt: skip
    words = [one for one in fleet_words(found) if one[0] not in ("users told apart by", "done by an earlier run")]
    return Inspected(kind, facts, ((f"{path.name}, the labels of {found.users} users", ("", ""), words),))


def a_mark(kind: Kind, path: Path) -> Inspected:
    """What says that a user of a fleet is finished, and how."""
    from hideseek.fleet.outputs import Mark

    try:
        mark = msgspec.json.decode(read_plain_file(path, LARGEST), type=Mark)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError):
        raise TraceError(f"{path} is damaged: it tells no user of a fleet.") from None
    rows = [
        (row.codebook or row.playbook or row.reason or "", "" if row.kept is None else f"{row.kept:.1%}")
        for row in mark.rows
    ]
    title = f"{path.name}: {mark.user} of a fleet is finished"
    header = ("file, or why there is none", "kept of the ceiling")
    told = (
        "The same fleet, run again, does nothing for this user as long as the traces and these files stay as they are."
    )
    facts: dict[str, object] = {"user": mark.user, "rows": [msgspec.structs.asdict(row) for row in mark.rows]}
    return Inspected(kind, facts, ((title, header, rows),), (told,))


def a_report(kind: Kind, path: Path) -> Inspected:
    """A report, or the folder of one."""
    page = path / "report.html" if path.is_dir() else path
    with page.open("rb") as stream:
        title = TITLE.search(stream.read(HEAD))
    name = unescape(title[1].decode(errors="replace")).strip() if title else ""
    return Inspected(kind, {"title": name}, (), (f"{page} is a report: {name}.", "Open it in a browser."))


def a_table(kind: Kind, path: Path) -> Inspected:
    """A table that solve, curve, compare, study or reproduce wrote."""
    with path.open("rb") as stream:
        columns, rows = (
            stream.readline(HEAD).decode(errors="replace").strip().replace('"', "").split(","),
            sum(1 for _ in stream),
        )
    sentences = (f"{path.name} is a {kind} of {rows} rows. {TABLES[kind]}", f"Its columns: {', '.join(columns)}.")
    private = HABITS if kind in (Kind.MECHANISM, Kind.ATTACK) else ""
    return Inspected(kind, {"rows": rows, "columns": columns}, (), sentences, private)


EXPLAINED: dict[Kind, Callable[[Kind, Path], Inspected]] = {
    Kind.PROFILE: a_profile,
    Kind.CODEBOOK: a_codebook,
    Kind.PLAN: a_plan,
    Kind.PLAYBOOK: a_playbook,
    Kind.STATE: a_state,
    Kind.FLEET: a_fleet,
    Kind.LABELS: some_labels,
    Kind.MARK: a_mark,
    Kind.LABEL: a_label,
    Kind.PLAYBOOK_LABEL: a_playbook_label,
    Kind.PROTECTION: a_protection,
    Kind.REPORT: a_report,
    **dict.fromkeys(TABLES, a_table),
}
