"""Sums of squared residuals, with their digits."""

import numpy as np
import pytest
import scipy.sparse as sp

from thetahat.data.validation import as_source
from thetahat.objective.least_squares.residual_squares import residual_squares


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("weighted", [True, False])
def test_the_sum_over_the_rows(make, weighted):
    random = np.random.default_rng(0)
    X, y, coef = (random.standard_normal(shape) for shape in ((30, 3), (30, 2), (3, 2)))
    weight = random.random(30) if weighted else None
    x_mean, y_mean = X.mean(axis=0), y.mean(axis=0)
    found = residual_squares(as_source(make(X), y, weight), coef, x_mean, y_mean)
    residual = (y - y_mean) - (X - x_mean) @ coef
    expected = ((1.0 if weight is None else weight[:, None]) * residual**2).sum(axis=0)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_small_residuals_beside_large_means_keep_their_digits():
    X = 1e8 + np.arange(10.0)[:, None]
    y = 3.0 * X[:, 0] + np.tile([1e-3, -1e-3], 5)
    found = residual_squares(as_source(X, y), np.array([[3.0]]), X.mean(axis=0), np.mean(y))
    np.testing.assert_allclose(found, 10 * 1e-6, rtol=1e-3)
