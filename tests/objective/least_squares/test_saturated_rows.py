"""Rows that alone determine a direction."""

import numpy as np

from thetahat.data.summaries.moments import moments
from thetahat.data.validation import as_source
from thetahat.objective.least_squares.direct import direct_least_squares
from thetahat.objective.least_squares.ridge_path import RidgePath
from thetahat.objective.least_squares.saturated_rows import SaturatedRows


def problem(strange):
    random = np.random.default_rng(0)
    X = np.column_stack([random.standard_normal(12), np.zeros(12)])
    X[3, 1] = strange
    y = X[:, 0] + random.standard_normal(12)
    source = as_source(X, y)
    path = RidgePath.of(source, moments(source), np.array([1e-12]), intercept=False)
    leverage = ((X / path.unit) @ path.vectors) ** 2 @ path.unpenalised()
    return X, y, source, SaturatedRows(path, False), leverage


def test_only_the_row_that_alone_has_a_column_is_saturated():
    X, y, source, alone, leverage = problem(2.0)
    rows, found = alone.residuals(source.whole, leverage)
    assert rows.tolist() == [3]
    kept = np.arange(12) != 3
    rest = direct_least_squares(as_source(X[kept, :1], y[kept]), intercept=False).fit
    np.testing.assert_allclose(found[0, 0, 0], y[3] - X[3, 0] * rest.coef[0, 0], rtol=1e-6)


def test_ordinary_rows_are_not():
    _, _, source, alone, leverage = problem(0.0)
    rows, found = alone.residuals(source.whole, leverage)
    assert rows.size == 0
    assert found.shape == (0, 1, 1)
