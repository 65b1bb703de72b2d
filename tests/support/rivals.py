"""Small towns, and rivals with their dials turned."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy.stats import gamma

from hideseek import Grid, MarkovProfile, Mechanism, Places, synthetic_city
from hideseek.baselines import RIVALS
from hideseek.baselines.rival import Setting
from hideseek.metrics import distance

TRACES = synthetic_city(people=1, days=7)


CITY = MarkovProfile.fit(TRACES, Grid.covering(TRACES, rows=8, columns=8))


METRES = distance(CITY.regions)


SETTING = Setting(CITY, privacy=METRES, quality=METRES)


seeds = st.integers(0, 10**6)


turns = st.floats(0.35, 0.65)  # the middle of a dial, where noise and distances are of one size


every_rival = pytest.mark.parametrize("rival", RIVALS, ids=lambda rival: rival.name)


few_points = st.builds(
    lambda seed, count: np.random.default_rng(seed).uniform(0, 1000, (count, 2)), seeds, st.integers(2, 6)
)


def town(seed, count):
    """A few places within ten kilometres, and any chain on them."""
    generator = np.random.default_rng(seed)
    places = Places(generator.uniform(45.0, 45.1, count), generator.uniform(6.0, 6.1, count))
    return MarkovProfile.from_matrix(generator.dirichlet(np.full(count, 0.5), count) * 0.99 + 0.01 / count, places)


def turned(rival, setting, turn):
    """The rival with its dial a share of the way up."""
    low, high = rival.span(setting)
    return rival.make(setting, low ** (1 - turn) * high**turn if low > 0 else turn * high)


def loss_of(setting, rival, steps=3):
    """The mean loss of a step: that of a table, or of a policy by enumeration of all it may release."""
    if isinstance(rival, Mechanism):
        return float(np.vdot(setting.game.cost, rival.table))
    state, joint, total = rival.start(1), setting.prior[None], 0.0
    for _ in range(steps):
        tables, which = rival.tables(state)
        reached = joint[:, :, None] * tables[which]  # [sequence, place, release]
        total += float((reached * setting.loss).sum()) / steps
        sequence, exposed = np.nonzero(reached.sum(axis=1))
        state = rival.after(state[sequence], exposed)
        joint = reached[sequence, :, exposed] @ setting.profile.transition
    return total


def assert_indistinguishable(table, epsilon_times_distance, absolute=1e-13):
    """f(o|i) <= exp(epsilon d(i, j)) f(o|j), but for rounding."""
    allowed = np.exp(epsilon_times_distance)[:, :, None] * table[None] * (1 + 1e-9) + absolute
    assert (table[:, None] <= allowed).all()


def apart(points):
    return np.linalg.norm(points[:, None] - points, axis=2)


def cell_probabilities(points, centre, norm, rays=200_000):
    """The probability of every Voronoi cell, ray by ray from the noise's centre: no edges, no flow.

    Of a ray's mass, gamma.sf(t, 2) lies beyond t. Kinks in the angle limit the midpoint rule to about 1e-9.
    """
    angle = (np.arange(rays) + 0.5) * 2 * np.pi / rays
    ray = np.c_[np.cos(angle), np.sin(angle)]
    decay, away = norm(ray), points - points[centre]
    inside = []
    for place in range(len(points)):
        enter, leave = np.zeros(rays), np.full(rays, np.inf)
        for other in away[np.arange(len(points)) != place]:
            rate, room = ray @ (other - away[place]), (other @ other - away[place] @ away[place]) / 2
            enter = np.where(rate < 0, np.maximum(enter, room / rate), enter)
            leave = np.where(rate > 0, np.minimum(leave, room / rate), leave)
        beyond = [gamma.sf(decay * r, 2) for r in (enter, np.maximum(enter, leave))]
        inside.append(((beyond[0] - beyond[1]) / decay**2).sum())
    return np.array(inside) / (decay**-2.0).sum()


def small_setting():
    profile = town(0, 3)
    return Setting(profile, privacy=distance(profile.regions), quality=distance(profile.regions))
