"""Profiles in words for a terminal, and as facts for machines."""

from __future__ import annotations

import numpy as np

from hideseek.model.candidates import chosen_of
from hideseek.model.markov import MarkovProfile
from hideseek.model.periodic import PeriodicProfile
from hideseek.model.profile import regions_of
from hideseek.util.arrays import FloatArray, IntArray
from hideseek.util.display import counted

BUSIEST = 10  # places that are shown
Learned = MarkovProfile | PeriodicProfile


def profile_facts(profile: Learned) -> dict[str, object]:
    """A profile for machines."""
    regions, shares = regions_of(profile), shares_of_time(profile)
    names = getattr(regions, "names", ()) or [None] * profile.places
    top = [
        {
            "place": int(k),
            "name": names[k],
            "share": float(shares[k]),
            "centre": regions.centres[k].tolist(),
        }
        for k in busiest_of(shares)
    ]
    facts = {"places": profile.places, "step": profile.step, "order": profile.memory, "busiest": top}
    facts["chosen"] = str(chosen_of(profile.candidates)) if profile.candidates else None
    clock = getattr(profile, "clock", None)
    models = [
        {
            "model": str(one.model),
            **{name: float(getattr(one, name)) for name in ("log_loss", "gain")},
            "intervals": {name: getattr(one, name).interval for name in ("log_loss", "gain")},
        }
        for one in profile.candidates
    ]
    told = {} if clock is None else {"timezone": clock.zone, "slots": clock.in_words()}
    return facts | {"clock": told or None, "models": models}


def shares_of_time(profile: Learned) -> FloatArray:
    """How much of the time is spent at each place."""
    return profile.distributions.mean(axis=0) if isinstance(profile, PeriodicProfile) else profile.stationary


def busiest_of(shares: FloatArray) -> IntArray:
    """The places where most time is spent."""
    return np.asarray((-shares).argsort(kind="stable")[:BUSIEST])


def busiest_rows(profile: Learned) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The busiest places of a profile: a header, and one row per place."""
    regions, shares = regions_of(profile), shares_of_time(profile)
    names = getattr(regions, "names", ()) or range(profile.places)
    return ("place", "share of time", "latitude", "longitude"), [
        (str(names[k]), f"{shares[k]:.1%}", *(f"{degrees:.5f}" for degrees in regions.centres[k]))
        for k in busiest_of(shares)
    ]


def model_words(profile: Learned) -> str:
    """What the next place depends on."""
    clock = getattr(profile, "clock", None)
    if clock is not None:
        return (
            f"the place before it and the time in {clock.zone}, in {counted(clock.slots, 'slot')}: {clock.in_words()}"
        )
    return "the place before it" if profile.memory == 1 else f"the {profile.memory} places before it"


def model_rows(profile: Learned) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The models that a profile was chosen from: a header, and one row per model."""
    chosen = chosen_of(profile.candidates)
    return ("model", "bits per move on days left out", "fewer than first-order"), [
        (
            f"{one.model} (chosen)" if one.model is chosen else str(one.model),
            *(f"{value:.4f} ± {(value.interval[1] - value.interval[0]) / 2:.4f}" for value in (one.log_loss, one.gain)),
        )
        for one in profile.candidates
    ]
