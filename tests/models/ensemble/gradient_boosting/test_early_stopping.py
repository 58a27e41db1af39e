"""Early stopping is decided by the number of all rows."""

import numpy as np
import pytest

import thetahat as th


@pytest.mark.parametrize("n_rows", [10_000, 10_001, 12_000])
def test_many_rows_stop_early(n_rows):
    """The rows held out belong to the count, so that 10 001 rows stop, too."""
    X = np.random.default_rng(0).normal(size=(n_rows, 1))
    y = (X[:, 0] > 0).astype(float)
    model = th.HistGradientBoostingRegressor(max_iter=10, n_iter_no_change=2, tol=0.1)
    stopped = model.fit(X, y).n_iter_ < 10
    assert stopped == model.do_early_stopping_ == (n_rows > 10_000)
