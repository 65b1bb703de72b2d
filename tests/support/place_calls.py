"""What the functions about places of a person take, every parameter of them."""

from __future__ import annotations

import numpy as np
import pandas as pd

import hideseek as hs


def place_calls(traces: pd.DataFrame, regions: hs.Grid, metric: hs.metrics.Metric) -> dict[str, tuple]:
    """By name: the function or method, and what it takes."""
    home = hs.model.Disc("home", latitude=46.5, longitude=6.5, radius=150.0)
    stays = hs.model.StayMap((home,), ((1, 0, 0),))
    point = {"latitude": [46.52], "longitude": [6.57]}
    clock = hs.model.Clock("Europe/Zurich")
    return {
        "Clock": (
            hs.model.Clock,
            {"zone": "Europe/Zurich", "starts": ((0, 9),), "days": (0,) * 7, "step": "1h"},
        ),
        "Clock.in_words": (clock.in_words, {}),
        "Clock.local": (clock.local, {"moments": np.array([0])}),
        "Clock.phase": (clock.phase, {"time": "08:30"}),
        "Clock.phases": (clock.phases, {"moments": np.array([0])}),
        "learn": (
            hs.model.learn,
            {"traces": traces, "regions": regions, "step": "5min", "timezone": None, "model": "first-order"},
        ),
        "PeriodicProfile.fit": (
            hs.PeriodicProfile.fit,
            {"traces": traces, "regions": regions, "step": "5min", "timezone": None, "slots": 1}
            | {"weekends": False, "weight": 1.0, "half_life": 7.0},
        ),
        "Disc": (hs.model.Disc, {"name": "home", "latitude": 46.5, "longitude": 6.5, "radius": 150.0}),
        "SensitivePlace": (
            hs.metrics.SensitivePlace,
            {"name": "x", "latitude": 0.0, "longitude": 0.0, "weight": 2.0, "radius": 5.0},
        ),
        "StayMap": (hs.model.StayMap, {"discs": (home,), "tiles": ((1, 0, 0),), "kept": (0,)}),
        "StayMap.keep": (stays.keep, {"places": [0]}),
        "StayMap.locate": (stays.locate, point),
        "StayMap.nearest": (stays.nearest, point),
        "coverage": (hs.model.coverage, {"traces": traces, "regions": regions, "timezone": None}),
        "coverage_warnings": (hs.model.coverage_warnings, {"covered": hs.model.coverage(traces, regions)}),
        "local_zone": (hs.traces.local_zone, {"traces": traces, "timezone": None}),
        "narrow_budget": (hs.model.narrow_budget, {"regions": regions, "budget": 100.0}),
        "places_of": (
            hs.model.places_of,
            {"traces": traces, "about": 30, "finest": 150.0, "timezone": None, "sensitive": ()},
        ),
        "protect": (
            hs.protect,
            {"traces": traces, "profile": None, "budget": "1km", "sensitive": (), "timezone": None, "out": None}
            | {"seed": 0, "workers": 1, "progress": None, "over": "access", "cap": None, "against": None},
        ),
        "sensitive_place": (hs.metrics.sensitive_place, {"text": "x=0,0"}),
        "sensitive_to": (hs.metrics.sensitive_to, {"metric": metric, "regions": regions, "places": ()}),
        "sensitive_transitions": (
            hs.metrics.sensitive_transitions,
            {"metric": metric, "transitions": {(0, 1): 2.0}, "entering": {0: 2.0}, "leaving": {0: 2.0}},
        ),
    }
