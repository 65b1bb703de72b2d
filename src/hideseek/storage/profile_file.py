"""Profiles on disk: one JSON file, read strictly. It reveals where a person goes: keep it as private as the traces."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np

from hideseek.errors import HideseekError, TraceError, broken_rule, without_value
from hideseek.model.candidates import Candidate
from hideseek.model.clock import WEEK, Clock
from hideseek.model.markov import MarkovProfile, profile_from_kernel, refuse_large_chain
from hideseek.model.periodic import PeriodicProfile
from hideseek.model.profile import regions_of
from hideseek.model.regions import Regions
from hideseek.storage.regions_document import RegionsDocument, regions_document, regions_from
from hideseek.util.arrays import FloatArray, IntArray, frozen
from hideseek.util.boundary import checked
from hideseek.util.choices import Model
from hideseek.util.estimates import Estimate
from hideseek.util.private_files import read_plain_file, write_privately

AT_ALL_TIMES, WITH_MODELS = 1, 2  # versions: chains alone, or with a clock and the models they were chosen from
LARGEST = 256 * 2**20  # bytes

Probability = Annotated[float, msgspec.Meta(ge=0, le=1)]
Number = Annotated[int, msgspec.Meta(ge=0, le=2**31)]  # of a place or a state


class _Clock(msgspec.Struct, forbid_unknown_fields=True):
    """The fields of a clock, beside the step."""

    zone: Annotated[str, msgspec.Meta(max_length=64)]
    starts: list[list[Number]]
    days: list[Annotated[int, msgspec.Meta(ge=0, lt=WEEK)]]


class _Candidate(msgspec.Struct, forbid_unknown_fields=True):
    """A model and what it reached, each number with the ends of its interval."""

    model: Model
    log_loss: tuple[float, float, float]
    gain: tuple[float, float, float]


class _ProfileFile(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """States are the tuples that the next place depends on; transitions are [state, place, probability].

    With a clock, states count on from slot to slot.
    """

    hideseek_profile: Annotated[int, msgspec.Meta(ge=1)]
    step: Annotated[str, msgspec.Meta(max_length=64)]
    regions: RegionsDocument
    states: list[list[Number]]
    transitions: list[tuple[Number, Number, Probability]]
    clock: _Clock | None = None
    candidates: list[_Candidate] = []


@checked
def save_profile(profile: MarkovProfile | PeriodicProfile, path: str | os.PathLike[str]) -> None:
    """Write a profile whole or not at all, readable by its owner only.

    Parameters
    ----------
    profile : MarkovProfile or PeriodicProfile
        A profile with its regions, and its clock if it follows one. It reveals where a person goes.
    path : path-like
        The file, which is replaced.

    Returns
    -------
    None
        The file is on disk.

    Raises
    ------
    ParameterError
        Where the profile has no regions, or follows a clock that it does not know.
    OutputError
        Where the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from hideseek.model.regions import Places
    >>> profile = MarkovProfile.from_matrix([[0.5, 0.5], [0.2, 0.8]], Places([46.5, 46.6], [6.5, 6.6]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_profile(profile, f"{folder}/profile.json")
    ...     load_profile(f"{folder}/profile.json").transition.tolist()
    [[0.5, 0.5], [0.2, 0.8]]
    """
    clock: _Clock | None = None
    if isinstance(profile, PeriodicProfile):
        if profile.clock is None:
            raise broken_rule("profile", "save_profile", "one that knows its clock", "one without")
        clock = _Clock(profile.clock.zone, [list(own) for own in profile.clock.starts], list(profile.clock.days))
        states, kernel = np.arange(profile.places)[:, None], profile.slots.reshape(-1, profile.places)
    else:
        states, kernel = profile.states, profile.transition
    state, place = np.nonzero(kernel)
    document = _ProfileFile(
        hideseek_profile=WITH_MODELS if clock or profile.candidates else AT_ALL_TIMES,
        step=profile.step,
        regions=regions_document(regions_of(profile)),
        states=states.tolist(),
        transitions=list(zip(state.tolist(), place.tolist(), kernel[state, place].tolist(), strict=True)),
        clock=clock,
        candidates=[_Candidate(one.model, ends(one.log_loss), ends(one.gain)) for one in profile.candidates],
    )
    write_privately(Path(path), msgspec.json.format(msgspec.json.encode(document), indent=1))


@checked
def load_profile(path: str | os.PathLike[str]) -> MarkovProfile | PeriodicProfile:
    """Read a profile that :func:`save_profile` wrote.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    MarkovProfile or PeriodicProfile
        The profile as it was saved; one that follows a clock is set to the beginning of its day or week.

    Raises
    ------
    TraceError
        Where the file cannot be read, is no profile, or its fields contradict each other.

    Examples
    --------
    >>> import tempfile
    >>> from hideseek.model.regions import Places
    >>> profile = MarkovProfile.from_matrix([[0.5, 0.5], [0.2, 0.8]], Places([46.5, 46.6], [6.5, 6.6]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_profile(profile, f"{folder}/profile.json")
    ...     load_profile(f"{folder}/profile.json")
    MarkovProfile(2 places, order 1, 2 states, step '5min')
    """
    file = Path(path)
    try:
        document = decoded(read_plain_file(file, LARGEST))
    except OSError as error:
        raise TraceError(f"The profile {file} cannot be read: {error.strerror}.") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise TraceError(f"{file.name} is not a profile written by 'hideseek learn': {error}.") from None
    if document.hideseek_profile > WITH_MODELS:
        raise TraceError(f"{file.name} was written by a newer hideseek (format {document.hideseek_profile}).")
    try:
        return profile_from(document)
    except HideseekError as error:
        raise TraceError(f"{file.name} holds no usable profile: {without_value(error)}") from None


def decoded(content: bytes) -> _ProfileFile:
    """The document of a file in which nothing is said twice, of which only the last would count."""
    document = msgspec.json.decode(content, type=_ProfileFile)
    whole = msgspec.json.format(content, indent=-1)
    for text in (whole, msgspec.json.decode(whole, type=dict[str, msgspec.Raw])["regions"]):
        if msgspec.json.encode(msgspec.json.decode(text, type=dict[str, msgspec.Raw])) != bytes(text):
            raise msgspec.DecodeError("it names a field twice, or in other characters")
    return document


def is_profile(path: Path) -> bool:
    """Whether a file looks like a profile rather than traces."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return b'"hideseek_profile"' in stream.read(200)


def ends(one: Estimate) -> tuple[float, float, float]:
    """A number and the ends of its interval."""
    return (float(one), *one.interval)


def profile_from(document: _ProfileFile) -> MarkovProfile | PeriodicProfile:
    """The profile that a document describes."""
    owner, regions = "load_profile", regions_from(document.regions)
    told = [
        Candidate(one.model, *(Estimate(value, (low, high)) for value, low, high in (one.log_loss, one.gain)))
        for one in document.candidates
    ]
    if (document.hideseek_profile == AT_ALL_TIMES) != (document.clock is None and not told):
        raise broken_rule("hideseek_profile", owner, "the version of what it holds", document.hideseek_profile)
    lengths = {len(state) for state in document.states}
    if len(lengths) != 1 or 0 in lengths:
        raise broken_rule("states", owner, "tuples of one length", f"the lengths {sorted(lengths)}")
    clock = None if document.clock is None else clock_from(document.clock, document.step)
    states, slots = np.array(document.states, dtype=np.int64), 1 if clock is None else clock.slots
    refuse_large_chain(slots * len(states), len(regions), len(document.transitions), "path")
    kernel = np.zeros((slots * len(states), len(regions)))
    for state, place, probability in document.transitions:
        if state >= len(kernel) or place >= len(regions):
            rule = f"between {len(kernel)} states and {len(regions)} places"
            raise broken_rule("transitions", owner, rule, f"one from state {state} to place {place}")
        kernel[state, place] = probability
    if clock is None:
        return replace(chain_from(states, kernel, regions, document.step, owner), candidates=tuple(told))
    if not np.array_equal(states, np.arange(len(regions))[:, None]):
        raise broken_rule("states", owner, "all places in order, where there is a clock", "others")
    check_sums(kernel, owner)
    matrices = frozen(kernel.reshape(slots, len(regions), len(regions)))
    whole = PeriodicProfile(
        matrices, frozen(clock.cycle), regions=regions, step=document.step, clock=clock, candidates=tuple(told)
    )
    frozen(whole.midnight)  # refused here, and not at the first use, if a day does not mix the places
    return whole


def clock_from(document: _Clock, step: str) -> Clock:
    """The clock that a document describes."""
    return Clock(document.zone, tuple(map(tuple, document.starts)), days=tuple(document.days), step=step)


def check_sums(kernel: FloatArray, owner: str) -> None:
    """Refuse rows that are no distributions."""
    if not (kernel.min() >= 0 and np.abs(kernel.sum(axis=1) - 1).max() <= 1e-9):
        raise broken_rule("transitions", owner, "probabilities that sum to 1 for each state", "some that do not")


def chain_from(states: IntArray, kernel: FloatArray, regions: Regions | None, step: str, owner: str) -> MarkovProfile:
    """The chain with these transitions [state, place], in any order of its states; refused unless it is one."""
    if not states.size or states.max() >= kernel.shape[1] or len(np.unique(states, axis=0)) < len(states):
        raise broken_rule("states", owner, "of places that exist, and none twice", "others")
    check_sums(kernel, owner)
    order = np.lexsort(states.T[::-1])
    return profile_from_kernel(states[order], kernel[order], regions, step, "matrix", owner)
