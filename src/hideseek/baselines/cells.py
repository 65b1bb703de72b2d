"""Noise around a place, released as the nearest place: how much of it falls into every place's Voronoi cell.

Let the noise v have the density exp(-N(v)) / Z, with N a norm and Z twice the area of its unit ball. What lies beyond
an edge between two cells, as seen from the noise's centre, is

    flow = 1/Z integral along the edge of  <v, n> (1 + N(v)) exp(-N(v)) / N(v)^2,      n the edge's normal,

for (1 + N) exp(-N) is the share of a ray's mass that lies beyond v. So all the mass starts in the cell of the true
place and flows on across the edges: rows sum to 1, endless cells need no care, and far places keep their digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial import ConvexHull

from hideseek.errors import broken_rule
from hideseek.util.arrays import FloatArray, IntArray

NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)
PANEL = 2.0  # 16 nodes on so wide a panel are exact to 1e-15: the integrand is analytic within pi/2 of the real line
FADED = 40.0  # exp(-40) is 4e-18: what lies so much further out adds nothing
VANISHED = 800.0  # exp(-800) is 0
FLAT = 1e-9  # places this close to a line, in shares of their extent, are on it


@dataclass(frozen=True, eq=False)
class Edges:
    """Where two Voronoi cells touch: ``middle + s along`` for s from ``low`` to ``high``, which may be infinite.

    ``middle`` lies halfway between the places ``one`` and ``other``; ``across`` leads from the first to the second.
    """

    one: IntArray
    other: IntArray
    middle: FloatArray
    along: FloatArray
    across: FloatArray
    low: FloatArray
    high: FloatArray

    def seen_from(self, points: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The signed distances of the edges' lines from points, and the ends from the lines' feet, [point, edge]."""
        away = self.middle - points[:, None]
        foot = (away * self.along).sum(axis=2)
        return (away * self.across).sum(axis=2), self.low + foot, self.high + foot


def on_plane(points: FloatArray, owner: str, rule: str = "finite numbers, [point, 2]") -> None:
    """Refuse anything but points [point, 2]."""
    if points.ndim != 2 or points.shape[1] != 2 or not len(points) or not np.isfinite(points).all():
        raise broken_rule("points", owner, rule, f"the shape {points.shape}")


def voronoi_edges(points: FloatArray) -> Edges:
    """The edges between the cells of points on a plane, each cut from the line halfway by all other points.

    >>> edges = voronoi_edges(np.array([[0.0, 0.0], [2.0, 0.0], [4.0, 0.0]]))  # collinear: two parallel lines
    >>> edges.one.tolist(), edges.other.tolist(), edges.high.tolist()
    ([0, 1], [1, 2], [inf, inf])
    """
    rule = "two or more different points [point, 2]"
    on_plane(points, "voronoi_edges", rule)
    if len(np.unique(points, axis=0)) < max(2, len(points)):
        raise broken_rule("points", "voronoi_edges", rule, points.shape)
    parts = []
    for one, origin in enumerate(points[:-1]):
        to = points - origin
        other = np.arange(one + 1, len(points))
        across = to[other] / np.linalg.norm(to[other], axis=1, keepdims=True)
        along = across[:, ::-1] * (-1, 1)
        # s along the line is nearer to this point than to another where  s rate <= room
        rate, room = along @ to.T, ((to**2).sum(axis=1) - to[other] @ to.T) / 2
        for both in (rate, room):
            both[:, one] = both[np.arange(len(other)), other] = 0
        low, high = where_below(rate, room)
        meet = (low < high) & ~((rate == 0) & (room < 0)).any(axis=1)
        middle = origin + to[other] / 2
        parts.append((np.full(len(other), one), other, middle, along, across, low, high, meet))
    *fields, meet = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Edges(*(field[meet] for field in fields))


def where_below(rate: FloatArray, room: FloatArray) -> tuple[FloatArray, FloatArray]:
    """From where to where s rate <= room for all columns of a row, those without a rate aside."""
    bound = np.divide(room, rate, out=np.zeros_like(rate), where=rate != 0)
    low: FloatArray = bound.max(axis=1, where=rate < 0, initial=-np.inf)
    high: FloatArray = bound.min(axis=1, where=rate > 0, initial=np.inf)
    return low, high


def nearest_place_distribution(
    points: FloatArray, edges: Edges, centres: IntArray, flow: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """The distribution of the place nearest to noise around places, [centre, place]; ``flow`` is that across edges."""
    flows = flow(points[centres]).T
    table = np.eye(len(points))[centres]
    np.subtract.at(table.T, edges.one, flows)
    np.add.at(table.T, edges.other, flows)
    table = np.maximum(table, 0)  # rounding, where a cell is tiny against the noise
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def round_flow(edges: Edges, epsilon: float) -> Callable[[FloatArray], FloatArray]:
    """The flow of planar Laplace noise, N(v) = epsilon |v|, by Gauss-Legendre quadrature.

    With s = h sinh(u), h the distance of the line, the flow is  1/2pi integral of (1 + t) exp(-t) / cosh(u)  where
    t = epsilon h cosh(u): smooth on the scale of 1 however near or far, short or endless the edge.
    """

    def flow(points: FloatArray) -> FloatArray:
        height, low, high = (side.ravel() for side in edges.seen_from(points))
        h = np.maximum(np.abs(height), 1e-100)  # a place may lie on the line, though never on the edge
        low, high = np.arcsinh(low / h), np.arcsinh(high / h)
        near = np.cosh(np.clip(0, low, high))
        reach = np.arccosh(near + FADED / (epsilon * h))
        low, high = np.maximum(low, -reach), np.minimum(high, reach)
        panels = np.maximum(np.ceil((high - low) / PANEL), 1).astype(np.int64)
        edge = np.repeat(np.arange(len(h)), panels)
        number = np.arange(len(edge)) - (np.cumsum(panels) - panels)[edge]
        half = ((high - low) / panels / 2)[edge]
        stretch = np.cosh((low[edge] + half * (2 * number + 1))[:, None] + half[:, None] * NODES)
        t = (epsilon * h)[edge, None] * stretch
        parts = half * (((1 + t) * np.exp(-t) / stretch) @ WEIGHTS)
        return (np.sign(height) * np.bincount(edge, parts, len(h)) / (2 * np.pi)).reshape(len(points), -1)

    return flow


@dataclass(frozen=True, eq=False)
class Hull:
    """The sensitivity hull of some places: the convex hull K of all their differences."""

    points: FloatArray

    @cached_property
    def differences(self) -> FloatArray:
        """From every place to every other."""
        return np.reshape(self.points[:, None] - self.points, (-1, 2))

    @cached_property
    def flat(self) -> bool:
        """Whether the places lie on a line."""
        extent = np.linalg.svd(self.points - self.points.mean(axis=0), compute_uv=False)
        return bool(extent[-1] <= FLAT * extent[0])

    @cached_property
    def longest(self) -> FloatArray:
        """The longest difference: one end of K, if it is flat."""
        return np.asarray(self.differences[(self.differences**2).sum(axis=1).argmax()])

    @cached_property
    def polygon(self) -> ConvexHull:
        """K, if it is not flat."""
        return ConvexHull(self.differences)

    @cached_property
    def faces(self) -> FloatArray:
        """K is where all <face, v> <= 1."""
        return np.asarray(-self.polygon.equations[:, :2] / self.polygon.equations[:, 2:])

    def norm(self, vectors: FloatArray) -> FloatArray:
        """||v||_K, by how much K must be blown up to hold v; for vectors along it, if it is flat.

        >>> Hull(np.array([[0.0, 0.0], [2.0, 0.0]])).norm(np.array([[1.0, 0.0], [-4.0, 0.0]]))
        array([0.5, 2. ])
        """
        if self.flat:
            return np.asarray(np.abs(vectors @ self.longest) / (self.longest @ self.longest))
        return np.asarray((vectors @ self.faces.T).max(axis=-1))


def hull_flow(edges: Edges, hull: Hull, epsilon: float) -> Callable[[FloatArray], FloatArray]:
    """The flow of K-norm noise, N(v) = epsilon ||v||_K, in closed form.

    Between the rays through the corners of K, the norm is linear along an edge, and (1 + t) exp(-t) / t^2 is the
    derivative of -exp(-t) / t.
    """
    corners = hull.differences[hull.polygon.vertices]
    corners = corners[(corners @ hull.longest) >= 0]  # the others lie opposite, on the same lines
    sideways, ahead = edges.along @ corners.T, edges.across @ corners.T
    stretch = np.divide(1, ahead, out=np.full(ahead.shape, 1e200), where=ahead != 0)  # takes a corner to a line at 1
    reach = VANISHED / epsilon * np.linalg.norm(hull.longest)
    mass = 2 * hull.polygon.volume / epsilon**2

    def flow(points: FloatArray) -> FloatArray:
        height, low, high = (side[..., None] for side in edges.seen_from(points))
        ends = np.clip(np.concatenate([low, high], axis=2), -reach, reach)
        stretched = height * stretch
        bends = stretched * sideways
        within = (ends[..., :1] < bends) & (bends < ends[..., 1:])
        at_ends = hull.norm((height * edges.across)[:, :, None] + ends[..., None] * edges.along[:, None])
        s = np.concatenate([ends, np.where(within, bends, ends[..., :1])], axis=2)
        t = epsilon * np.concatenate([at_ends, np.where(within, np.abs(stretched), at_ends[..., :1])], axis=2)
        order = np.argsort(s, axis=2)
        s, t = np.take_along_axis(s, order, axis=2), np.take_along_axis(t, order, axis=2)
        return np.asarray(height[..., 0] * (np.diff(s) * mean_tail(t[..., :-1], t[..., 1:])).sum(axis=2) / mass)

    return flow


def mean_tail(start: FloatArray, end: FloatArray) -> FloatArray:
    """The mean of (1 + t) exp(-t) / t^2 between two values of t; by Simpson's rule where a difference would cancel."""
    step = end - start
    close = np.abs(step) * (1 + 1 / start) < 1e-3
    rise = np.exp(-start) / start - np.exp(-end) / end
    simpson = sum(weight * (1 + t) * np.exp(-t) / t**2 for weight, t in ((1, start), (4, (start + end) / 2), (1, end)))
    return np.where(close, simpson / 6, rise / np.where(close, 1, step))


def nearest_place_on_line(points: FloatArray, centres: IntArray, scale: FloatArray) -> FloatArray:
    """The distribution of the place nearest to Laplace noise along a line, [centre, place]; ``scale`` is a vector.

    Of places that are equally near all along the line, the first counts.
    """
    number = np.arange(len(points))
    table = np.zeros((len(centres), len(points)))
    for row, centre in zip(table, centres, strict=True):
        away = points - points[centre]
        # x + t scale is nearer to this place than to another where  t rate <= room
        rate = np.subtract.outer(-away @ scale, -away @ scale)
        room = np.subtract.outer(-(away**2).sum(axis=1), -(away**2).sum(axis=1)) / 2
        low, high = where_below(rate, room)
        beaten = (rate == 0) & ((room < 0) | ((room == 0) & (number < number[:, None])))
        below, above = (np.exp(-np.abs(side)) / 2 for side in (low, high))
        mass = np.where(low >= 0, below - above, np.where(high <= 0, above - below, 1 - below - above))
        row[:] = np.where((low < high) & ~beaten.any(axis=1), mass, 0)
    return table
