"""A tolerance is a gradient entry at ordinary sizes, and follows the sizes where they are not."""

import numpy as np
import pytest
import scipy.sparse as sp

import thetahat as th
from tests.data.chunked import Chunked, OnlyBlocks
from thetahat.data.validation import as_source
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor
from thetahat.objective.stopping import tolerance_for

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((200, 4))
Y = X @ [1.0, 2.0, 0.0, -1.0] + RANDOM.standard_t(2, size=200)
COUNTS = RANDOM.poisson(np.exp(0.5 + X @ [0.5, -0.3, 0.0, 0.2])).astype(float)
NEWTON = th.optimizers.Newton()


def asked(x, y, loss=None, *, method=NEWTON, weight=None, intercept=True):
    loss = th.losses.Squared() if loss is None else loss
    predictor = LinearPredictor(x.shape[1], fit_intercept=intercept)
    risk = EmpiricalRisk(predictor, loss, th.penalties.NoPenalty(), as_source(x, y, weight))
    return tolerance_for(risk, method, 1e-8)


@pytest.mark.parametrize("size", [0.2, 1.0, 100.0])
def test_ordinary_sizes_keep_their_tolerance(size):
    assert asked(X, Y * size) == 1e-8
    assert asked(X * size, Y) == 1e-8
    assert asked(X * size, (Y > 0).astype(float), th.losses.Logistic()) == 1e-8
    assert asked(X, COUNTS, th.losses.Poisson()) == 1e-8


def test_small_and_large_sizes_take_it_along():
    for power in (-12, -6):
        assert asked(X, Y * 10.0**power) == pytest.approx(10.0 ** (power + 6) * asked(X, Y * 1e-6))
        np.testing.assert_allclose(asked(X * 10.0**power, Y), asked(X, Y * 10.0**power))
    assert 1e-14 < asked(X, Y * 1e12) / 1e12 < 1e-13
    assert 1e-14 < asked(X * 1e12, Y) / 1e12 < 1e-13
    # Beside a level only the rest counts; what a constant leaves to rounding is not chased.
    assert asked(X, 5.0 + 1e-6 * Y) == pytest.approx(asked(X, 1e-6 * Y), rel=1e-3)
    assert asked(X, np.full(200, 5.0)) == 1e-8
    assert asked(X, np.zeros(200)) == 1e-8
    assert asked(0 * X, Y) == 1e-8


def test_rows_of_weight_0_and_gaps_that_are_shares_do_not_count():
    weight = np.where(np.arange(200) < 100, 1.0, 0.0)
    wild = np.where(weight[:, None] > 0, X * 1e-6, 1e6)
    assert asked(wild, Y, weight=weight) < 1e-12
    assert asked(X * 1e-6, Y, method=th.optimizers.InteriorPoint()) == 1e-8


def test_sparse_rows_and_files_say_the_same():
    np.testing.assert_allclose(asked(sp.csr_array(X * 1e-6), Y), asked(X * 1e-6, Y))
    rows = Chunked(X=X * 1e-6, y=Y, n_features=4, has_target=True)
    stream = OnlyBlocks(rows=rows, n_features=4, has_target=True)
    risk = EmpiricalRisk(LinearPredictor(4), th.losses.Squared(), th.penalties.NoPenalty(), stream)
    assert 0.1 < tolerance_for(risk, NEWTON, 1e-8) / asked(X * 1e-6, Y) < 10


@pytest.mark.parametrize("size", [1e-12, 1e-9, 1e9])
def test_fits_follow_the_size_of_the_target(size):
    plain = th.LinearModel(penalty="none", solver="newton").fit(X, Y)
    scaled = th.LinearModel(penalty="none", solver="newton").fit(X, Y * size)
    assert scaled.solution_.outcome is th.results.Outcome.CONVERGED
    np.testing.assert_allclose(scaled.coef_, size * plain.coef_, rtol=1e-9)


@pytest.mark.parametrize("size", [1e-9, 1e-6, 1e9])
@pytest.mark.parametrize("solver", ["newton", "irls", "lbfgs"])
def test_fits_follow_the_size_of_the_columns(size, solver):
    plain = th.RobustRegressor(tol=1e-10).fit(X, Y)
    scaled = th.RobustRegressor(solver=solver).fit(X * size, Y)
    assert scaled.solution_.outcome is th.results.Outcome.CONVERGED
    assert scaled.n_iter_ < 300
    np.testing.assert_allclose(size * scaled.coef_, plain.coef_, rtol=1e-6)


@pytest.mark.parametrize("solver", ["lbfgs", "newton-cholesky"])
def test_rates_are_fitted_like_counts(solver):
    plain = th.PoissonRegressor(alpha=0.0, solver=solver).fit(X, COUNTS)
    rates = th.PoissonRegressor(alpha=0.0, solver=solver).fit(X, COUNTS * 1e-4)
    np.testing.assert_allclose(rates.coef_, plain.coef_, atol=2e-3)
