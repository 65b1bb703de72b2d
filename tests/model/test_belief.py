"""Beliefs about a hidden chain, against all paths written out."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse

from hideseek.model.belief import smoothed, updated, with_release


@pytest.fixture(params=range(4))
def chain(request):
    """A start, moves [state, state before], likelihoods of what was released at each of four steps (or nothing)."""
    generator = np.random.default_rng(request.param)
    move = generator.dirichlet(np.ones(3), 3).T
    likelihoods = [generator.random(3), None, generator.random(3), generator.random(3)]
    return generator.dirichlet(np.ones(3)), move, likelihoods


def filtered(start, move, likelihoods):
    belief, found = start, []
    for step, likelihood in enumerate(likelihoods):
        belief = belief if step == 0 else move @ belief
        if likelihood is not None:
            belief, _ = updated(belief, likelihood)
        found.append(belief)
    return found


@pytest.mark.parametrize("dense", [True, False])
def test_filtered_and_smoothed_beliefs_are_those_of_all_paths(chain, dense):
    start, move, likelihoods = chain
    steps = len(likelihoods)
    so_far, whole = np.zeros((2, steps, 3))
    for path in itertools.product(range(3), repeat=steps):
        mass = start[path[0]] * np.prod([move[b, a] for a, b in itertools.pairwise(path)])
        for step, likelihood in enumerate(likelihoods):
            mass *= 1.0 if likelihood is None else likelihood[path[step]]
            so_far[step, path[step]] += mass if step == steps - 1 else 0.0
        for step in range(steps):
            whole[step, path[step]] += mass
    beliefs = filtered(start, move, likelihoods)
    matrix = move if dense else sparse.csr_array(move)
    found = smoothed(beliefs[::-1], itertools.repeat(matrix, steps), likelihoods[::-1])
    expected = whole / whole.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(list(found)[::-1], expected, atol=1e-12)
    np.testing.assert_allclose(beliefs[-1], so_far[-1] / so_far[-1].sum(), atol=1e-12)


def test_what_cannot_be_released_leaves_a_belief_of_zeros():
    belief, probability = updated(np.array([[1.0, 0.5], [0.0, 0.5]]), np.array([[0.0], [1.0]]))
    assert probability.tolist() == [0.0, 0.5]
    assert belief.tolist() == [[0.0, 0.0], [0.0, 1.0]]


def test_no_table_is_asked_for_what_cannot_happen():
    joint = with_release(np.array([[0.0], [1.0]]), np.array([[[np.nan, np.nan]], [[0.25, 0.75]]]))
    assert joint[:, 0].tolist() == [[0.0, 0.0], [0.25, 0.75]]
