"""A playbook: tables for the beliefs that come up, and all that a device needs to follow the belief and to choose.

Nothing in the file is believed. The chain, the errors and the costs say which game is played; tables and cuts only
choose, and what a device draws from is rounded, mixed into the budget and evaluated at the belief of the moment. So a
bad table costs privacy, and the label says so; it cannot break a promise.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

import msgspec
import numpy as np

from hideseek.codebook.anchored_tables import anchored_from, anchored_tensors
from hideseek.codebook.weights import Table
from hideseek.errors import PlaybookError, broken_rule
from hideseek.model.belief_chain import BeliefChain, in_a_row
from hideseek.model.regions import Regions
from hideseek.model.scenario import Scenario
from hideseek.model.steering import Standing, Steering
from hideseek.playbook.belief_table import BeliefTable, grouped, steered_tables
from hideseek.playbook.choosing import Chooser
from hideseek.storage.documents import (
    PLACE,
    Amount,
    OverDocument,
    ScenarioDocument,
    StepLength,
    over_document,
    read_regions,
    scenario_document,
    scenario_from,
    steering_from,
)
from hideseek.storage.regions_document import RegionsDocument, regions_document
from hideseek.storage.sealed_file import BLANK, Checksum, Count, FileKind
from hideseek.util.arrays import FloatArray, IntArray, frozen
from hideseek.util.boundary import checked
from hideseek.util.checks import scalar
from hideseek.util.display import html_table
from hideseek.util.on_map import OnMap
from hideseek.util.time_steps import checked_step
from hideseek.util.units import amount

SUM = 1e-12  # how far from 1 the sum of a distribution may be
LONGEST = 10_000  # steps between accesses, and steps that are looked back at
LARGEST = 1e30  # of an error, a cost or a cut: sums of products of these stay finite in single precision
NUMBERS_OF_ROWS = 2**20  # guesses, or cuts, times releases: with some hundred tables, what is held at once

Text = Annotated[str, msgspec.Meta(max_length=200)]


class Measure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The name and the unit of a metric."""

    name: Text
    unit: Text


class _Document(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    hideseek_playbook: Count
    sha256: Checksum
    step: StepLength
    regions: RegionsDocument
    scenario: ScenarioDocument
    privacy: Measure
    quality: Measure
    budget: Amount
    discount: Annotated[float, msgspec.Meta(ge=0, lt=1)]
    price: Amount
    over: OverDocument | None = None


NUMBERS = ("start", "error", "cost", "moves", "wait", "cuts", "attack")
AT_EVERY_ACCESS, OVER_A_WINDOW = 1, 2  # versions, by when the budget holds
PLAYBOOK = FileKind("playbook", OVER_A_WINDOW, _Document, PlaybookError)


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class Playbook(BeliefChain, OnMap):
    """Tables for the beliefs that come up: made by :func:`hideseek.make_playbook`, used by a ``PlaybookDevice``.

    ``tables`` [table, state, release] are in whole weights, each made for one of the ``anchors`` [table, state]: a
    belief of an adversary who remembers every release. ``cuts`` [cut, state at the next access] and the ``discount``
    value the future. ``attack`` and ``price`` bound what any mechanism reaches in the long run: the ceiling. Where the
    budget holds over a window, ``steering`` chooses, and there are no tables.
    """

    regions: Regions
    step: str
    scenario: Scenario
    privacy: Measure
    quality: Measure
    discount: float
    cuts: FloatArray = field(repr=False)
    anchors: FloatArray = field(repr=False)
    tables: Table = field(repr=False)
    attack: FloatArray = field(repr=False)
    price: float
    steering: Steering | None = None
    checksum: str = ""

    def play(
        self, belief: Standing | FloatArray, *, columns: Sequence[int] | None = None, floor: float = 0.0
    ) -> BeliefTable:
        """The table that a device draws from at what is public.

        Parameters
        ----------
        belief : Standing or ``(states,)`` array
            What an adversary who remembers every release believes; over a window also what is saved, and what is
            believed of earlier places.
        columns : sequence of int, optional
            The columns of the state that the device knows, by default all.
        floor : float
            Tables with at least so much privacy come first.

        Returns
        -------
        BeliefTable
            In whole weights, with its privacy and its expected loss at the belief.

        Raises
        ------
        BudgetError
            If no release keeps the budget without the columns that are not known.
        """
        owner, width = "Playbook.play", self.states.shape[1]
        least = scalar(floor, "floor", owner)
        known = list(range(width)) if columns is None else list(columns)
        if not known or known != sorted(set(known) & set(range(width))):
            raise broken_rule("columns", owner, f"some of the numbers from 0 to {width - 1}, in order", known)
        standing = belief if isinstance(belief, Standing) else Standing.at(self.belief(belief, owner))
        return tables_of(self, standing, known, least)[0]

    @property
    def follows_log(self) -> bool:
        """Whether it looks at what is believed of earlier places."""
        return self.steering is not None and self.steering.log > 0

    @cached_property
    def chooser(self) -> Chooser:
        """What chooses among the tables."""
        return Chooser(
            self.error,
            self.cost,
            budget=self.budget,
            cuts=self.cuts @ self.moves.T,
            discount=self.discount,
            anchors=self.anchors,
            tables=self.tables.matrix.reshape(len(self.anchors), *self.cost.shape),
            most=self.most,
        )

    @cached_property
    def guided(self) -> Steering | None:
        """The steering, with what its cuts say."""
        return None if self.steering is None else self.steering.counting(self, self.cuts, self.discount)

    @cached_property
    def ceiling_cut(self) -> FloatArray:
        """The ceiling's attack and price as a bound on the privacy at any belief, linear in it."""
        return self.cut(self.attack, self.price)

    @cached_property
    def content(self) -> bytes:
        """The file."""
        document = _Document(
            hideseek_playbook=AT_EVERY_ACCESS if self.steering is None else OVER_A_WINDOW,
            sha256=BLANK,
            step=self.step,
            regions=regions_document(self.regions),
            scenario=scenario_document(self.scenario),
            privacy=self.privacy,
            quality=self.quality,
            budget=self.budget,
            discount=self.discount,
            price=self.price,
            over=over_document(self, self.steering),
        )
        place = self.tables.releases.dtype
        tensors = {
            **{name: getattr(self, name) for name in NUMBERS},
            "states": self.states.astype(place),
        }
        return PLAYBOOK.sealed(document, tensors | anchored_tensors(self.anchors, self.tables))

    @property
    def sha256(self) -> str:
        """The checksum of the file."""
        return self.checksum or PLAYBOOK.opened(self.content).document.sha256

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, whole or not at all, readable by its owner only.

        Parameters
        ----------
        path : path
            Of the file, which is replaced if it exists.

        Raises
        ------
        PlaybookError
            If the file cannot be written.
        """
        playbook_from(memoryview(self.content))  # nothing is written that would not be read
        PLAYBOOK.save(path, self.content, "Playbook.save")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Playbook:
        """Read it from a file, and refuse what is damaged or is no playbook.

        Parameters
        ----------
        path : path
            Of the file.

        Returns
        -------
        Playbook
            The same, bit by bit.

        Raises
        ------
        PlaybookError
            If the file is damaged, or its fields contradict each other.
        """
        return PLAYBOOK.load(path, "Playbook.load", playbook_from)

    def __repr__(self) -> str:
        return f"Playbook({', '.join(f'{name}={value}' for name, value in self._facts.items())})"

    def _repr_html_(self) -> str:
        return html_table("Playbook", self._facts)

    @property
    def _facts(self) -> dict[str, object]:
        return {
            "places": len(self.regions),
            "tables": len(self.anchors),
            "cuts": len(self.cuts),
            "privacy": self.privacy.name,
            "quality": self.quality.name,
            "budget": amount(self.budget, self.quality.unit),
        } | ({} if self.steering is None else {"window": f"{self.window} accesses"})


def tables_at(playbook: Playbook, standing: Standing) -> FloatArray:
    """The tables [run, state, release] that devices draw from, which know the whole state."""
    whole = list(range(playbook.states.shape[1]))
    return np.array([one.by_state for one in tables_of(playbook, standing, whole, 0.0)])


def tables_of(playbook: Playbook, standing: Standing, known: list[int], floor: float) -> list[BeliefTable]:
    """The table of each run, in whole weights, that looks at these columns of the state."""
    if playbook.guided is not None:
        return steered_tables(playbook, playbook.guided, standing, known, "Playbook.play")
    group = None if len(known) == playbook.states.shape[1] else grouped(playbook, known)[2]
    return [
        BeliefTable.of(playbook, belief, known, playbook.chooser.choose(belief, group, floor))
        for belief in standing.belief
    ]


def playbook_from(content: memoryview) -> Playbook:
    """A playbook from a file's content."""
    file = PLAYBOOK.opened(content)
    document = file.document
    checked_step(document.step, "the file")
    regions, scenario = read_regions(document.regions), scenario_from(document.scenario)
    knows_now = scenario.known[-1] == 0 and scenario.known[0] >= -LONGEST
    if scenario.every > LONGEST or scenario.release != (0,) or not knows_now:
        raise PlaybookError("Its scenario is none that releases the current place, access after access.")
    numbers = {name: file.take(name, "F64", ndim=1 if name == "start" else 2) for name in NUMBERS}
    states: IntArray = file.take("states", *PLACE, ndim=2).astype(np.int64)
    places, at_every_access = len(regions), document.hideseek_playbook == AT_EVERY_ACCESS
    if at_every_access != (document.over is None):
        raise PlaybookError("Its version is not that of its kind of budget.")
    anchors, tables = anchored_from(file, places)
    if max(len(numbers["error"]), len(numbers["cuts"])) * places > NUMBERS_OF_ROWS:
        raise PlaybookError("Its guesses or cuts are too many for a device.")
    file.end()
    book = Playbook(
        regions=regions,
        step=document.step,
        scenario=scenario,
        privacy=document.privacy,
        quality=document.quality,
        budget=document.budget,
        discount=document.discount,
        price=document.price,
        window=1 if document.over is None else document.over.window,
        cap=None if document.over is None else document.over.cap,
        steering=steering_from(document.over),
        every=scenario.every,
        row=in_a_row(scenario.known),
        states=frozen(states),
        anchors=anchors,
        tables=tables,
        checksum=document.sha256,
        **{name: np.asarray(array, np.float64) for name, array in numbers.items()},
    )
    check_shapes(book, places)
    return book


def check_shapes(book: Playbook, places: int) -> None:
    """Refuse numbers that do not fit each other, or are not finite, or no distributions."""
    count, known = book.states.shape
    windows = len(np.unique(book.states[:, -book.row :], axis=0)) if count else 0
    shapes = {
        "start": (count,),
        "error": (None, count),
        "cost": (count, places),
        "moves": (count, count),
        "wait": (windows, windows),
        "cuts": (None, count),
        "anchors": (None, count),
        "attack": (places, len(book.error)),
    }
    if not count or known != len(book.scenario.known) or book.states.max() >= places:
        raise PlaybookError("Its states are not made of its places.")
    if len(np.unique(book.states, axis=0)) < count:
        raise PlaybookError("A state stands twice.")
    for name, shape in shapes.items():
        array = getattr(book, name)
        fits = len(shape) == array.ndim and all(
            own in (None, size) for own, size in zip(shape, array.shape, strict=True)
        )
        may_be_empty = name == "cuts" or (name == "anchors" and book.steering is not None)
        if not fits or not np.isfinite(array).all() or not (array.size or may_be_empty):
            raise PlaybookError(f"Its {name} have another shape, or a number that is not finite.")
    for name in ("start", "moves", "wait", "attack"):
        array = getattr(book, name)
        if array.min() < 0 or (np.abs(array.sum(axis=-1) - 1) > SUM).any():
            raise PlaybookError(f"Its {name} are no distributions.")
    if max(*(np.abs(array).max(initial=0) for array in (book.error, book.cost, book.cuts)), book.price) > LARGEST:
        raise PlaybookError("An error, a cost, a cut or the price is larger than any.")
    if min(book.error.min(), book.cost.min()) < 0 or book.cost.min(axis=1).max() > book.budget:
        raise PlaybookError("An error or a cost is negative, or the budget is too small at some place.")
