"""Columns in a byte per entry: the compiled kernels against their plain twins."""

import numpy as np
import pytest

from tests.reference.sparse import coarse_columns as twin
from thetahat import _native


def survey(x, mean, weight, r, first=0, last=None):
    n, d = x.shape
    squares, slopes, steps = np.full((3, d), 7.0)
    levels = np.full((d, n), 99, dtype=np.int8)
    last = d if last is None else last
    _native.survey_columns(x, mean, weight, r, first, last, squares, slopes, steps, levels)
    return squares, slopes, steps, levels


def near(x, mean, levels, steps, r, thresholds, first=0, last=None):
    slopes, slack = np.full((2, x.shape[1]), 7.0)
    last = x.shape[1] if last is None else last
    _native.slopes_near(x, mean, levels, steps, r, thresholds, first, last, slopes, slack)
    return slopes, slack


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rows", [1, 31, 700, 1100])
def test_like_their_twins(dtype, rows):
    random = np.random.default_rng(1101)
    x = np.asfortranarray(3 * random.standard_normal((rows, 90)) + 1).astype(dtype, order="F")
    x = x[:, 5:]
    mean, weight = x.mean(axis=0, dtype=float), random.random(rows)
    mean[::3] = 0.0
    r = random.standard_normal(rows)
    found, right = survey(x, mean, weight, r), twin.survey_columns(x, mean, weight, r)
    for mine, theirs in zip(found[:3], right[:3], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)
    assert np.abs(found[3].astype(int) - right[3]).max() <= 1  # halves may go either way
    assert np.abs(found[3]).max() <= 127
    thresholds = np.quantile(np.abs(right[1]), 0.8) * random.random(85)
    slopes, slack = near(x, mean, found[3], found[2], r, thresholds)
    expected = twin.slopes_near(x, mean, found[3], found[2], r, thresholds)
    np.testing.assert_allclose(slopes, expected[0], rtol=1e-4, atol=1e-4 * np.abs(r).sum())
    np.testing.assert_allclose(slack, expected[1], rtol=1e-6, atol=1e-12)
    assert (np.abs(slopes - right[1]) <= slack + 1e-9).all()


def test_the_bound_holds_for_entries_of_every_size():
    """Heavy tails, integers, constants, and a residual with one large entry."""
    random = np.random.default_rng(1102)
    x = np.asfortranarray(
        random.standard_cauchy((600, 40)) * 10.0 ** random.integers(-100, 100, 40)
    )
    x[:, 0], x[:, 1], x[:, 2] = random.integers(0, 2, 600), 0.0, 3.0
    r = random.standard_normal(600)
    r[7] = 1e4
    _, exact, steps, levels = survey(x, np.zeros(40), np.ones(600), r)
    assert steps[1] == 0
    slopes, slack = near(x, np.zeros(40), levels, steps, r, np.full(40, np.inf))
    assert (np.abs(slopes - exact) <= slack * (1 + 1e-9)).all()
    assert (slack[2:] > 0).all()


def test_worst_sums_do_not_overflow():
    x, r = np.ones((2048, 2), order="F"), np.ones(2048)
    _, _, steps, levels = survey(x, np.zeros(2), r, r)
    slopes, _ = near(x, np.zeros(2), levels, steps, r, np.full(2, np.inf))
    np.testing.assert_allclose(slopes, 2048.0, rtol=1e-12)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1e200])
def test_what_is_not_finite_is_reported_by_the_squares(wrong):
    random = np.random.default_rng(1103)
    x = np.asfortranarray(random.standard_normal((50, 4)))
    x[3, 1] = wrong
    squares, _, steps, levels = survey(x, np.zeros(4), np.ones(50), np.ones(50))
    assert np.isfinite(squares).tolist() == [True, False, True, True]
    assert steps[1] == 0
    assert not levels[1].any()


@pytest.mark.parametrize("value", [0.0, 1e-310, np.nan, np.inf])
def test_a_residual_without_levels_is_taken_as_it_is(value):
    random = np.random.default_rng(1104)
    x = np.asfortranarray(random.standard_normal((50, 4)))
    _, _, steps, levels = survey(x, np.zeros(4), np.ones(50), np.ones(50))
    slopes, slack = near(x, np.zeros(4), levels, steps, np.full(50, value), np.full(4, 1e300))
    assert np.isfinite(slopes).all() == np.isfinite(value)
    if np.isfinite(value):
        np.testing.assert_allclose(slopes, x.T @ np.full(50, value), rtol=1e-9)
    assert not slack.any()


def test_only_the_columns_that_are_asked_for_are_written():
    random = np.random.default_rng(1105)
    x = np.asfortranarray(random.standard_normal((50, 9)))
    squares, slopes, steps, levels = survey(x, np.zeros(9), np.ones(50), np.ones(50), 2, 5)
    for out in (squares, slopes, steps):
        assert (np.delete(out, [2, 3, 4]) == 7.0).all()
    assert (np.delete(levels, [2, 3, 4], axis=0) == 99).all()
    found = near(x, np.zeros(9), levels, steps, np.ones(50), np.ones(9), 2, 5)
    for out in found:
        assert (np.delete(out, [2, 3, 4]) == 7.0).all()


def test_wrong_sizes_are_refused():
    x, two, three = np.ones((3, 2), order="F"), np.ones(2), np.ones(3)
    levels = np.zeros((2, 3), dtype=np.int8)
    with pytest.raises(ValueError, match="contiguous"):
        survey(np.ones((3, 2)), two, three, three)
    with pytest.raises(ValueError, match="mean"):
        survey(x, three, three, three)
    with pytest.raises(ValueError, match="r must"):
        survey(x, two, three, two)
    with pytest.raises(ValueError, match="weight"):
        survey(x, two, two, three)
    for first, last in ((0, 3), (2, 1)):
        with pytest.raises(ValueError, match="out of range"):
            survey(x, two, three, three, first, last)
    with pytest.raises(ValueError, match="row per column"):
        near(x, two, levels.T.copy(), two, three, two)
    with pytest.raises(ValueError, match="one entry per column"):
        near(x, two, levels, three, three, two)
    with pytest.raises(ValueError, match="one entry per column"):
        near(x, two, levels, two, three, three)
