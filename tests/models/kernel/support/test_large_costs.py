"""Support vector machines with a large or infinite C: exact, or with a warning."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from thetahat.models.kernel.support import machine
from thetahat.objective.kernel.features import gram_of

X = np.random.default_rng(0).normal(size=(40, 4))
Y = np.abs(X @ np.arange(1, 5)) + 0.1
COSTS = [1e12, 1e15, 1e18, 1e100, 1e308, np.inf]


@pytest.mark.parametrize("C", COSTS)
@pytest.mark.parametrize("weight", [1.0, 1e10])
@pytest.mark.parametrize("name", ["SVR", "NuSVR"])
def test_functions_that_reach_all_targets_do_so_at_any_cost(name, C, weight):
    model = getattr(th, name)(C=C)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, Y, sample_weight=np.full(40, weight))
    width = getattr(model, "epsilon", 0.0)
    assert np.abs(model.predict(X) - Y).max() <= width + 2e-3
    assert np.isfinite(model.solution_.gap)


def test_a_row_of_enormous_weight_closes_the_tube():
    weight = np.ones(40)
    weight[3] = 1e40
    model = th.NuSVR().fit(X, Y, sample_weight=weight)
    same = th.SVR(epsilon=0.0).fit(X, Y, sample_weight=weight)
    assert model.epsilon_ == 0
    assert np.allclose(model.predict(X), same.predict(X), atol=2e-3)


def test_a_wide_tube_is_found_at_a_large_cost():
    models = [th.NuSVR(C=C, kernel="linear").fit(X, Y) for C in (1e3, 1e12)]
    assert np.isclose(models[0].epsilon_, models[1].epsilon_, rtol=0.01)


@pytest.mark.parametrize("name", ["SVR", "NuSVR", "SVC"])
@pytest.mark.parametrize("C", [1e18, np.inf])
def test_coefficients_that_grow_without_end_give_a_warning(name, C):
    y = Y > 5 if name == "SVC" else Y
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.warns(ConvergenceWarning, match="Use a smaller C"):
            getattr(th, name)(C=C, kernel="linear").fit(X, y)


def test_widths_whose_squares_leave_the_range_of_numbers():
    rows = np.random.default_rng(0).standard_normal((30, 2))
    target = np.where(rows[:, 0] > 0, 1, -1)
    narrow = th.SVC(kernel=th.kernels.RBF(sigma=1e-200)).fit(rows, target)
    np.testing.assert_array_equal(narrow.predict(rows), target)
    wide = th.SVC(kernel=th.kernels.RBF(sigma=1e200)).fit(rows, target)
    assert np.ptp(wide.decision_function(rows)) == 0


@pytest.mark.parametrize("name", ["SVC", "NuSVC", "SVR", "OneClassSVM"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_many_columns_give_the_function_of_the_kernel_matrix(name, kernel, monkeypatch):
    """BLAS computes the matrix of wide rows, compiled code the rows of the others."""
    rows = np.random.default_rng(0).standard_normal((60, 250))
    target, options = np.where(rows[:, 0] > 0, 1.0, -1.0), dict(kernel=kernel, tol=1e-8)
    wide = getattr(th, name)(**options).fit(rows, target)
    monkeypatch.setattr(machine, "MANY_COLUMNS", 1000)
    expected = getattr(th, name)(**options).fit(rows, target)
    np.testing.assert_allclose(wide.dual_coef_, expected.dual_coef_, atol=1e-7)
    np.testing.assert_allclose(wide.intercept_, expected.intercept_, atol=1e-7)
    np.testing.assert_array_equal(wide.support_vectors_, rows[wide.support_])
    calls = []
    monkeypatch.setattr(machine, "MANY_COLUMNS", 200)
    monkeypatch.setattr(machine, "gram_of", lambda *given: calls.append(1) or gram_of(*given))
    getattr(th, name)(**options).fit(rows, target)
    assert calls == [1]
