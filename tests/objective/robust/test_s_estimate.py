"""The S-estimate and other fits of a sample."""

import numpy as np
import pytest

from thetahat.objective.robust.s_estimate import (
    least_absolute,
    least_squares,
    median_scale,
    median_scales,
    s_estimate,
    smallest_scale,
)

THETA = np.array([2.0, -1.0])


def rows(share=0.0):
    random = np.random.default_rng(0)
    A = np.column_stack([random.standard_normal(100), np.ones(100)])
    y = A @ THETA + 0.1 * random.standard_normal(100)
    bad = int(share * 100)
    A[:bad, 0], y[:bad] = 10.0, -30.0
    return A, y, np.ones(100)


def test_forty_percent_of_bad_leverage_points_do_no_harm():
    A, y, weight = rows(0.4)
    found = s_estimate(A, y, weight, np.random.default_rng(0))
    np.testing.assert_allclose(found, THETA, atol=0.1)
    assert abs(least_squares(A, y, weight)[0] - THETA[0]) > 1


def test_least_squares_and_least_absolute_meet_their_conditions():
    A, y, weight = rows()
    np.testing.assert_allclose(A.T @ (y - A @ least_squares(A, y, weight)), 0.0, atol=1e-9)
    theta = least_absolute(A, y, weight)
    for seed in range(20):
        move = 1e-3 * np.random.default_rng(seed).standard_normal(2)
        assert np.abs(y - A @ theta).sum() <= np.abs(y - A @ (theta + move)).sum() + 1e-9


def test_scales():
    values = np.random.default_rng(0).standard_normal(20_000)
    assert median_scale(values, np.ones(20_000)) == pytest.approx(1.0, rel=0.03)
    assert 0 < smallest_scale(values, np.ones(20_000)) < 1e-8


@pytest.mark.parametrize("n", [1, 2, 5, 30])
def test_scales_of_many_columns_are_those_of_each(n):
    """Bit for bit, with ties, and with rows that do not count."""
    random = np.random.default_rng(n)
    residuals = random.standard_normal((n, 40)).round(1)
    weight = np.r_[1.0, random.integers(0, 3, n - 1)] / n
    expected = [median_scale(column, weight) for column in residuals.T]
    np.testing.assert_array_equal(median_scales(residuals, weight), expected)
