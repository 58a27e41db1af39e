"""PoissonRegressor: an optimum of its objective, scikit-learn's answers, refusals."""

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model

import thetahat as th

RANDOM = np.random.default_rng(0)
X = np.array([0.0, 1.0, 0.0, -1.0]) + RANDOM.standard_normal((300, 4))
Y = RANDOM.poisson(np.exp(X @ [0.5, -0.3, 0.2, 0.1] + 0.4)).astype(float)
WEIGHT = RANDOM.integers(0, 4, 300).astype(float)
SOLVERS = ("lbfgs", "newton-cholesky", "newton", "auto")


def fitted(**options):
    return th.PoissonRegressor(**{"tol": 1e-9, "max_iter": 1000, **options})


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_slope_of_the_objective_vanishes(solver, intercept, alpha):
    model = fitted(alpha=alpha, solver=solver, fit_intercept=intercept).fit(X, Y, WEIGHT)
    error = WEIGHT * (model.predict(X) - Y) / WEIGHT.sum()
    np.testing.assert_allclose(X.T @ error + alpha * model.coef_, 0.0, atol=1e-7)
    assert abs(error.sum()) < 1e-7 if intercept else model.intercept_ == 0.0
    assert model.solution_.outcome.success


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_equals_scikit_learn(alpha):
    theirs = sklearn.linear_model.PoissonRegressor(alpha=alpha, tol=1e-10, solver="newton-cholesky")
    theirs.fit(X, Y, WEIGHT)
    ours = fitted(alpha=alpha, solver="newton-cholesky").fit(X, Y, WEIGHT)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-7)
    assert ours.intercept_ == pytest.approx(theirs.intercept_)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-7)
    assert ours.score(X, Y) == pytest.approx(theirs.score(X, Y))
    assert ours.score(X, Y, WEIGHT) == pytest.approx(theirs.score(X, Y, WEIGHT))


def test_it_is_a_linear_model_with_poisson_loss():
    general = th.LinearModel("poisson", th.penalties.L2(0.3), tol=1e-10).fit(X, Y)
    np.testing.assert_allclose(fitted(alpha=0.3).fit(X, Y).coef_, general.coef_, rtol=1e-6)


def test_sparse_rows_and_files(tmp_path):
    expected = fitted(alpha=0.1).fit(X, Y)
    rows = scipy.sparse.csr_array(X)
    np.testing.assert_allclose(fitted(alpha=0.1).fit(rows, Y).coef_, expected.coef_, rtol=1e-6)
    np.save(tmp_path / "rows.npy", np.column_stack([X, Y]))
    source = th.scan(tmp_path / "rows.npy", target=4)
    model = fitted(alpha=0.1).fit(source)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6)
    assert model.score(source) == pytest.approx(expected.score(X, Y))


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("size", [1e3, 1e5, 1e20])
def test_columns_of_any_size_are_fitted(alpha, size):
    units = np.array([1.0, size, 1.0, 1.0])
    model = th.PoissonRegressor(alpha=alpha).fit(X * units, Y)
    slope = (X * units).T @ (model.predict(X * units) - Y) / len(Y) + alpha * model.coef_
    np.testing.assert_allclose(slope / units, 0.0, atol=1e-4)


@pytest.mark.parametrize("seed", [2, 4, 5])
def test_ages_incomes_and_years_as_they_are(seed):
    random = np.random.default_rng(seed)
    age, income = random.uniform(20, 70, 500), random.lognormal(10, 0.5, 500)
    rows = np.column_stack([age, income, random.integers(1990, 2020, 500)])
    counts = random.poisson(np.exp(-1 + 0.02 * age + 0.03 * np.log(income))).astype(float)
    model = th.PoissonRegressor(alpha=0.0).fit(rows, counts)
    assert model.coef_[0] == pytest.approx(0.02, abs=0.005)
    assert model.score(rows, counts) > 0.04


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("size", [1e-4, 1e-12, 1e4])
def test_rates_are_fitted_as_counts_are(solver, size):
    model = th.PoissonRegressor(alpha=0.0, solver=solver).fit(X, Y * size)
    expected = fitted(alpha=0.0).fit(X, Y)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-3)
    assert model.score(X, Y * size) == pytest.approx(expected.score(X, Y), rel=1e-4)


def test_warm_start_begins_at_the_last_fit():
    model = fitted(alpha=0.1, warm_start=True).fit(X, Y)
    before = model.coef_
    assert model.fit(X, Y).n_iter_ == 1
    np.testing.assert_allclose(model.coef_, before, rtol=1e-6)


def test_extreme_targets():
    large = th.PoissonRegressor(alpha=0.0, solver="newton").fit(X, 1e6 * Y)
    base = fitted(alpha=0.0, solver="newton").fit(X, Y)
    np.testing.assert_allclose(large.coef_, base.coef_, atol=1e-6)
    one = th.PoissonRegressor().fit(X[:1], Y[:1] + 2)
    np.testing.assert_allclose(one.predict(X[:1]), Y[:1] + 2, rtol=1e-2)


def test_bad_input():
    bad = Y.copy()
    bad[[17, 30, 50]] = -2.0
    message = r"PoissonRegressor: 3 of 300 targets are negative \(first at row 17: -2.0\)"
    with pytest.raises(th.errors.DataError, match=message):
        th.PoissonRegressor().fit(X, bad)
    with pytest.raises(th.errors.ParameterError, match=r"alpha=-1 must be a number ≥ 0"):
        th.PoissonRegressor(alpha=-1).fit(X, Y)
    with pytest.raises(th.errors.ParameterError, match="solver='sag' must be one of"):
        th.PoissonRegressor(solver="sag").fit(X, Y)


GROUP = (np.arange(300) < 20).astype(float)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("size", [1.0, 1e-6])
def test_a_group_without_counts_is_reported(solver, size):
    rows = np.column_stack([X, GROUP])
    model = th.PoissonRegressor(alpha=0.0, solver=solver)
    with pytest.warns(
        th.errors.SeparationWarning, match=r"y = 0 are separated.*grow without bound"
    ):
        model.fit(rows, Y * (1 - GROUP) * size)
    th.PoissonRegressor(alpha=1.0, solver=solver).fit(rows, Y * (1 - GROUP) * size)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_targets_that_are_all_zero_are_reported(alpha):
    with pytest.warns(th.errors.SeparationWarning, match="all targets are 0"):
        model = th.PoissonRegressor(alpha=alpha).fit(X, np.zeros(300))
    np.testing.assert_allclose(model.predict(X), 0.0, atol=1e-6)
    assert np.isnan(model.score(X, np.zeros(300)))


@pytest.mark.parametrize("tol", [1e-4, 1e-9])
def test_few_counts_are_not_called_separated(tol):
    few = np.random.default_rng(5).poisson(np.exp(X[:, 0] * 2 - 3)).astype(float)
    assert th.PoissonRegressor(alpha=0.0, tol=tol).fit(X, few).solution_.outcome.success


def test_sparse_rows_and_strong_penalties_take_gradients_instead_of_hessians():
    random = np.random.default_rng(0)
    X = scipy.sparse.csr_array(
        scipy.sparse.random_array((600, 160), density=0.05, rng=random, format="csr")
    )
    y = random.poisson(1.0, 600).astype(float)
    assert th.PoissonRegressor().fit(X, y).solution_.solver == "lbfgs"
    dense = random.standard_normal((600, 60))
    assert th.PoissonRegressor().fit(dense, y).solution_.solver == "lbfgs"
    assert th.PoissonRegressor(alpha=1e-4).fit(dense, y).solution_.solver == "newton"
    assert th.PoissonRegressor().fit(100 * dense, y).solution_.solver == "newton"
