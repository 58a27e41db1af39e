"""The Newton direction of the graphical lasso against its plain twin."""

import numpy as np
import pytest

from tests.reference.graphical.precision_direction import model_value, precision_direction
from thetahat import _native


def problem(d, seed=0, rows=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, d)) @ (np.eye(d) + 0.4 * rng.normal(size=(d, d)))
    S = np.cov(X.T, bias=True).reshape(d, d)
    S /= np.sqrt(np.outer(np.diag(S), np.diag(S)))
    Q = np.linalg.inv(0.7 * S + 0.3 * np.eye(d))
    Q[np.abs(Q) < 0.2] = 0.0
    Q += np.eye(d)
    return np.ascontiguousarray((S + S.T) / 2), np.ascontiguousarray((Q + Q.T) / 2)


def direction(S, Q, W, alpha, tolerance=1e-10, rounds=500, steps=500):
    D = np.empty_like(Q)
    counts = _native.precision_direction(S, Q, W, alpha, tolerance, rounds, steps, D)
    return D, counts


@pytest.mark.parametrize("d", [1, 2, 5, 9])
@pytest.mark.parametrize("alpha", [0.05, 0.4])
def test_the_direction_is_that_of_the_twin(d, alpha):
    S, Q = problem(d)
    W = np.ascontiguousarray(np.linalg.inv(Q))
    D, (pairs, *_) = direction(S, Q, W, alpha)
    expected = precision_direction(S, Q, W, alpha, sweeps=150)
    np.testing.assert_allclose(D, expected, atol=1e-7)
    np.testing.assert_array_equal(D, D.T)
    free = (Q != 0) | (np.abs(S - W) > alpha)
    assert pairs == np.count_nonzero(np.triu(free | np.eye(d, dtype=bool)))


@pytest.mark.parametrize("dense", [True, False])
def test_rough_directions_lower_the_model_more_with_every_round(dense):
    S, Q = problem(70, rows=30)
    if not dense:
        Q = np.eye(70) + np.diag(np.full(69, 0.3), 1) + np.diag(np.full(69, 0.3), -1)
    W = np.ascontiguousarray(np.linalg.inv(Q))
    values = [
        model_value(S, Q, W, 0.1, direction(S, Q, W, 0.1, 1e-8, rounds)[0])
        for rounds in (0, 1, 2, 4, 50)
    ]
    assert all(np.diff(values) <= 1e-10)
    assert values[-1] < values[1] < values[0]


def test_sizes_are_checked():
    S, Q = problem(3)
    with pytest.raises(ValueError, match="square"):
        _native.precision_direction(S, Q, Q[:2], 0.1, 0.1, 1, 1, np.empty_like(Q))
