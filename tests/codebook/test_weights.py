"""Tables of whole numbers: exact rounding, rows that are found, draws that follow the weights to the last word."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from hideseek.codebook.weights import WORDS, Table, largest_remainder
from hideseek.errors import CodebookError
from hideseek.util.arrays import product

FALSE_ALARM = 1e-6  # of each chi-square test; the words are fixed, so it either always fails or never


@st.composite
def distributions(draw: st.DrawFn, most: int = 6) -> np.ndarray:
    """Rows of shares, some of them zero, some tiny."""
    share = st.one_of(st.just(0.0), st.floats(1e-12, 1.0), st.integers(1, 8).map(float))
    size = draw(st.integers(1, most))
    row = st.lists(share, min_size=size, max_size=size).filter(any)
    table = np.array(draw(st.lists(row, min_size=1, max_size=5)))
    return table / table.sum(axis=1, keepdims=True)


@given(distributions(), st.sampled_from([2**3, 2**5, 2**8, 2**16, WORDS]))
@settings(max_examples=300)
def test_the_largest_remainder_is_within_one_of_the_share_and_keeps_zeros(law, total):
    weights = largest_remainder(law, total)
    assert (weights.sum(axis=1) == total).all()
    assert ((weights == 0) | (law > 0)).all()
    for row, weight in zip(law.tolist(), weights.tolist(), strict=True):
        exact = [Fraction(share) / sum(map(Fraction, row)) * total for share in row]
        assert all(abs(share - whole) <= 1 for share, whole in zip(exact, weight, strict=True))
        assert all(whole >= 0 for whole in weight)


def test_the_rest_goes_to_the_largest_remainders():
    assert largest_remainder(np.array([[0.3, 0.3, 0.4]]), total=8).tolist() == [[3, 2, 3]]  # 2.4, 2.4, 3.2: a tie
    assert largest_remainder(np.array([[0.1, 0.2, 0.7]]), total=4).tolist() == [[0, 1, 3]]  # 0.4, 0.8, 2.8
    assert largest_remainder(np.array([[0.0, 1.0]]), total=WORDS).tolist() == [[0, WORDS]]


@pytest.mark.parametrize("bits", range(1, 11))
def test_with_few_bits_every_word_counts_once(bits):
    """All words of a small size, drawn one by one as Table.draw does: each release gets exactly its weight."""
    generator = np.random.default_rng(bits)
    for _ in range(20):
        law = generator.dirichlet(np.ones(4) / 2, size=3)
        weights = largest_remainder(law, 2**bits)
        for row in weights:
            ends = np.cumsum(row)
            drawn = ends.searchsorted(np.arange(2**bits), side="right")
            assert np.bincount(drawn, minlength=4).tolist() == row.tolist()


def test_with_few_high_bits_every_word_counts_once():
    """Distributions in 256ths: the 256 blocks of 2^24 words that Table.draw tells apart fall as their weights say."""
    generator = np.random.default_rng(0)
    counts = generator.multinomial(256, generator.dirichlet(np.ones(5) / 3), size=25)
    table = Table.from_distributions(5, product(5, 2), counts / 256)
    for block_word in (0, 2**24 - 1):
        words = (np.arange(256, dtype=np.uint32) << np.uint32(24)) + np.uint32(block_word)
        for row, count in enumerate(counts):
            assert np.bincount(table.draw(np.full(256, row), words), minlength=5).tolist() == count.tolist()


@given(distributions())
@settings(max_examples=100)
def test_draws_at_every_boundary_word(law):
    table = Table.from_distributions(max(law.shape[1], len(law)), np.arange(len(law))[:, None], padded(law)).checked()
    for row in range(len(law)):
        own = slice(int(table.start[row]), int(table.start[row + 1]))
        weights = [int(weight) or WORDS for weight in table.weights[own]]
        assert sum(weights) == WORDS
        end = 0
        for release, weight in zip(table.releases[own].tolist(), weights, strict=True):
            words = np.array([end, end + weight - 1], dtype=np.uint64).astype(
                np.uint32
            )  # the first and last of its own
            assert table.draw(np.full(2, row), words).tolist() == [release, release]
            end += weight
        assert table.draw(np.array([row]), np.array([WORDS - 1], np.uint32))[0] == table.releases[own][-1]


def padded(law: np.ndarray) -> np.ndarray:
    wide = np.zeros((len(law), max(law.shape[1], len(law))))
    wide[:, : law.shape[1]] = law
    return wide


@given(distributions())
@settings(max_examples=50)
def test_distributions_are_the_weights_of_the_rows_and_near_the_exact_ones(law):
    table = Table.from_distributions(max(law.shape[1], len(law)), np.arange(len(law))[:, None], padded(law))
    rows = np.array([*range(len(law)), 0])
    np.testing.assert_array_equal(table.distributions(rows), table.matrix[rows])
    np.testing.assert_allclose(table.distributions(rows)[:-1], padded(law), atol=2 / WORDS)
    np.testing.assert_array_equal(table.distributions(rows).sum(axis=1), 1.0)


def test_many_draws_follow_the_distribution():
    generator = np.random.default_rng(20)
    law = generator.dirichlet(np.full(25, 0.3), size=25)
    table = Table.from_distributions(25, np.arange(25)[:, None], law)
    rows = generator.integers(0, 25, 400_000)
    drawn = table.draw(rows, generator.integers(0, WORDS, len(rows), dtype=np.uint32))
    for row in range(25):
        expected = table.distributions(np.array([row]))[0] * (rows == row).sum()
        often = expected >= 5
        counts = np.bincount(drawn[rows == row], minlength=25)
        seen, wanted = np.r_[counts[often], counts[~often].sum()], np.r_[expected[often], expected[~often].sum()]
        seen, wanted = seen[wanted > 0], wanted[wanted > 0]
        assert ((seen - wanted) ** 2 / wanted).sum() < chi2.isf(FALSE_ALARM / 25, len(seen) - 1)
        assert not counts[expected == 0].any()


def test_the_chi_square_test_would_notice_a_distribution_that_is_off():
    generator = np.random.default_rng(21)
    table = Table.from_distributions(2, np.array([[0]]), np.array([[0.51, 0.49]]))
    count = np.bincount(table.draw(np.zeros(400_000, int), generator.integers(0, WORDS, 400_000, dtype=np.uint32)))
    assert ((count - 200_000) ** 2 / 200_000).sum() > chi2.isf(FALSE_ALARM / 25, 1)


@pytest.fixture(scope="module")
def partial() -> Table:
    """Rows for some pairs (seen, known, known) of 3 places; pasts 0 and 2 have a row for anything."""
    keys = np.array([[0, 0, 0], [0, 1, 2], [0, 3, 3], [1, 2, 2], [2, 0, 1], [2, 3, 3]])
    return Table.from_distributions(3, keys, np.eye(3)[[0, 1, 2, 0, 1, 2]]).checked()


def test_what_was_never_known_gets_the_row_of_its_past(partial):
    assert partial.row([0], [1, 2]) == 1
    assert partial.row([0], [2, 2]) == 2
    assert partial.row([2], [2, 2]) == 5
    assert partial.row([1], [2, 2]) == 3
    assert partial.row([1], [0, 0]) == -1


def test_rows_are_row_for_everything_even_for_places_that_do_not_exist(partial):
    everything = product(7, 3) - 2
    rows = partial.rows(everything[:, :1], everything[:, 1:])
    assert rows.tolist() == [partial.row(vector[:1], vector[1:]) for vector in everything.tolist()]
    outside = (everything < 0).any(axis=1) | (everything > 3).any(axis=1)
    assert (rows[outside] == -1).all()
    assert (rows[~outside] >= 0).any()


def test_a_draw_from_no_row_is_a_typed_error(partial):
    with pytest.raises(CodebookError, match="no row"):
        partial.draw(np.array([0, -1]), np.zeros(2, np.uint32))


def test_codes_that_do_not_fit_are_refused():
    with pytest.raises(CodebookError, match="63 bits"):
        Table.from_distributions(25, np.zeros((1, 14), int), np.ones((1, 25)))
    Table.from_distributions(25, np.zeros((1, 13), int), np.ones((1, 25)))


def parts(**changed) -> Table:
    good = {
        "codes": np.array([1, 5], np.uint64),
        "start": np.array([0, 2, 3], np.uint32),
        "releases": np.array([0, 2, 1], np.uint16),
        "weights": np.array([2**31, 2**31, 0], np.uint32),
    }
    return Table(3, **{name: np.array(changed.get(name, array), array.dtype) for name, array in good.items()})


def test_a_table_of_distributions_is_accepted():
    assert parts().checked().distributions(np.array([0, 1])).tolist() == [[0.5, 0.0, 0.5], [0.0, 1.0, 0.0]]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"codes": [], "start": [0], "releases": [], "weights": []}, "no rows"),
        ({"start": [0, 2]}, "no rows"),
        ({"start": [1, 2, 3]}, "no rows"),
        ({"start": [0, 2, 2]}, "no rows"),
        ({"start": [0, 3, 3]}, "without releases"),
        ({"start": [0, 4, 3]}, "without releases"),
        ({"codes": [5, 5]}, "twice"),
        ({"codes": [5, 1]}, "out of order"),
        ({"codes": [1], "start": [0, 3]}, "releases a place"),
        ({"releases": [0, 2]}, "without releases"),
        ({"releases": [0, 3, 1]}, "does not exist"),
        ({"releases": [2, 0, 1]}, "twice in a row"),
        ({"releases": [2, 2, 1]}, "twice in a row"),
        ({"weights": [2**31, 2**31 - 1, 0]}, "sum to"),
        ({"weights": [2**31 + 1, 2**31, 0]}, "sum to"),
        ({"weights": [0, 0, 0]}, "sum to"),
        ({"weights": [2**31, 2**31, 1]}, "sum to"),
        ({"weights": [2**31, 2**31, 2**32 - 1]}, "sum to"),
    ],
)
def test_what_is_no_table_of_distributions_is_refused(changed, message):
    with pytest.raises(CodebookError, match=message):
        parts(**changed).checked()
