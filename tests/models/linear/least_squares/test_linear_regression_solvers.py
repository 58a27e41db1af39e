"""Every solver of least squares finds the same fit, or says why it cannot."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from tests.models.linear.least_squares.regression_data import BETA, X, Y
from thetahat.objective.least_squares.solve import SOLVERS


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_finds_the_same_fit(solver):
    expected = sklearn.linear_model.LinearRegression().fit(X, Y)
    model = th.LinearRegression(solver=solver, random_state=0, max_iter=300 if solver in
                                ("mini_batch", "gradient_descent") else 20)  # fmt: skip
    if solver in ("sgd", "mini_batch"):
        with pytest.warns(ConvergenceWarning, match="maximum number of iterations"):
            model.fit(X, Y)
        tolerance = 0.05
    else:
        if solver in ("lsqr", "conjugate_gradient"):
            model.set_params(max_iter=None)
        model.fit(X, Y)
        tolerance = 1e-4 if solver == "gradient_descent" else 1e-8
    scaled = (model.coef_ - expected.coef_) * X.std(axis=0)
    assert np.abs(scaled).max() < tolerance
    assert model.predict(X) == pytest.approx(expected.predict(X), abs=20 * tolerance)


@pytest.mark.parametrize("solver", ["sgd", "mini_batch"])
@pytest.mark.parametrize(("n", "d", "shared"), [(20, 3, 0.0), (60, 5, 0.0), (60, 5, 3.0)])
def test_stochastic_descent_reaches_its_stated_accuracy(solver, n, d, shared):
    """0.03 in units of standardised columns after the default 100 epochs, from the zero start."""
    for seed in range(3):
        random = np.random.default_rng(seed)
        x = random.standard_normal((n, d)) + shared * random.standard_normal((n, 1))
        y = x @ random.standard_normal(d) + random.standard_normal(n)
        weight = random.integers(1, 5, n).astype(float)
        expected = th.LinearRegression().fit(x, y, weight)
        with pytest.warns(ConvergenceWarning, match="maximum number of iterations"):
            model = th.LinearRegression(solver=solver, random_state=seed).fit(x, y, weight)
        error = (model.coef_ - expected.coef_) * x.std(axis=0) / y.std()
        assert np.abs(error).max() < 0.035


def test_late_averaging_forgets_the_start():
    """A batch of all rows is gradient descent: its late mean is near the end of the way."""
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    away = {}
    for averaging in (True, "late"):
        method = th.optimizers.StochasticGradient(batch_size=400, step=0.1, averaging=averaging)
        with pytest.warns(ConvergenceWarning):
            model = th.LinearRegression(solver=method).fit(scaled, Y)
        away[averaging] = np.abs(model.coef_ - th.LinearRegression().fit(scaled, Y).coef_).max()
    assert away["late"] < 0.05 * away[True]
    with pytest.raises(th.errors.ParameterError, match='False, True or "late"'):
        th.optimizers.StochasticGradient(averaging="early")


def test_a_method_as_solver():
    expected = th.LinearRegression().fit(X, Y)
    for method in (th.optimizers.LBFGS(), th.optimizers.Newton()):
        model = th.LinearRegression(solver=method).fit(X, Y)
        assert model.solution_.solver == method.name
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-4)
    with pytest.raises(th.errors.ParameterError, match="a method such as"):
        th.LinearRegression(solver=3).fit(X, Y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("intercept", [True, False])
def test_every_solver_reports_the_rank_of_dependent_columns(intercept):
    dependent = np.column_stack([X, X[:, 0] - 2 * X[:, 1], np.full(400, 3.0), X[:, 2]])
    expected = 5 if intercept else 6
    for solver in SOLVERS:
        if solver in ("cholesky", "qr"):
            continue  # refuse dependent columns
        model = th.LinearRegression(solver=solver, fit_intercept=intercept, max_iter=50)
        assert model.fit(dependent, Y).rank_ == expected, solver


def test_the_rank_of_many_columns_is_not_known_to_lsqr():
    wide = np.random.default_rng(0).standard_normal((30, 600))
    for solver in ("lsqr", "conjugate_gradient"):
        assert th.LinearRegression(solver=solver).fit(wide, wide[:, 0]).rank_ is None
    assert th.LinearRegression(solver="dual").fit(wide, wide[:, 0]).rank_ == 29


@pytest.mark.parametrize("damp", [0.0, 2.0])
@pytest.mark.parametrize("shape", [(40, 7), (7, 40)])
def test_conjugate_gradients_are_lsqr_step_by_step(shape, damp):
    """The same Krylov spaces: the same iterates, and at the end the solution by singular values."""
    random = np.random.default_rng(3)
    x, y = random.standard_normal(shape), random.standard_normal(shape[0])
    d = shape[1]
    system = (lambda u: x @ u, lambda v: x.T @ v, y, d)
    for steps in (1, 2, 5):
        one = th.linalg.conjugate_gradient(*system, damp=damp, max_steps=steps)
        other = th.linalg.lsqr(*system, damp=damp, max_steps=steps)
        np.testing.assert_allclose(one.theta, other.theta, rtol=1e-9, atol=1e-12)
        assert one.value == pytest.approx(other.value)
    found = th.linalg.conjugate_gradient(*system, damp=damp)
    rows, target = np.vstack([x, damp * np.eye(d)]), np.append(y, np.zeros(d))
    np.testing.assert_allclose(found.theta, np.linalg.pinv(rows) @ target, atol=1e-9)
    assert found.outcome.success
    with pytest.raises(th.errors.DataError, match="conjugate_gradient: adjoint returned"):
        th.linalg.conjugate_gradient(lambda u: x @ u, lambda v: v[:3], y, d)


def test_conjugate_gradients_on_sparse_rows():
    from scipy import sparse

    x = sparse.random_array((200, 30), density=0.2, rng=np.random.default_rng(0)).tocsr()
    y = x @ np.arange(30.0) + np.random.default_rng(1).standard_normal(200)
    expected = th.LinearRegression(solver="svd").fit(x.toarray(), y)
    model = th.LinearRegression(solver="conjugate_gradient", tol=1e-8).fit(x, y)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6)
    assert model.rank_ == 30


def test_solvers_that_need_independent_columns_say_so():
    dependent = np.column_stack([X, X[:, 0]])
    for solver in ("cholesky", "qr"):
        with pytest.raises(th.errors.CapabilityError, match='Use solver="svd"'):
            th.LinearRegression(solver=solver).fit(dependent, Y)


def test_wide_sparse_is_solved_by_products():
    random = np.random.default_rng(8)
    rows = sp.random_array((300, 5000), density=0.01, format="csr", rng=random)
    model = th.LinearRegression().fit(rows, rows @ random.standard_normal(5000))
    assert model.solution_.solver == "lsqr"
    assert model.solution_.outcome.success


@pytest.mark.parametrize("solver", ["lsqr", "conjugate_gradient"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("shape", [(200, 30), (30, 200)], ids=["tall", "wide"])
def test_products_alone_find_the_least_norm_solution_of_the_svd(solver, form, shape):
    random = np.random.default_rng(9)
    rows = sp.random_array(shape, density=0.3, rng=random).toarray()
    target = random.standard_normal(shape[0])
    model = th.LinearRegression(solver=solver).fit(form(rows), target)
    centred = rows - rows.mean(axis=0)
    expected = np.linalg.pinv(centred) @ (target - target.mean())
    np.testing.assert_allclose(model.coef_, expected, atol=1e-9)
    assert model.intercept_ == pytest.approx(target.mean() - rows.mean(axis=0) @ expected)


def test_user_callables_for_lsqr():
    """ols.lsqr: only the products Xu and Xᵀv are needed."""
    found = th.linalg.lsqr(lambda u: X @ u, lambda v: X.T @ v, Y, 5)
    np.testing.assert_allclose(found.theta, np.linalg.lstsq(X, Y)[0], rtol=1e-7)
    damped = th.linalg.lsqr(lambda u: X @ u, lambda v: X.T @ v, Y, 5, damp=2.0)
    ridge = th.Ridge(4.0, fit_intercept=False, solver="svd").fit(X, Y)
    np.testing.assert_allclose(damped.theta, ridge.coef_, rtol=1e-7)
    with pytest.raises(th.errors.DataError, match="returned 400 numbers; it must return d = 5"):
        th.linalg.lsqr(lambda u: X @ u, lambda v: v, Y, 5)


def test_lsqr_equals_scipy():
    """The same steps as SciPy's: the same β after each, damped or not."""
    from scipy.sparse.linalg import lsqr

    for damp in (0.0, 3.0):
        for steps in (1, 2, 4):
            peer = lsqr(X, Y, damp=damp, iter_lim=steps, atol=0, btol=0, conlim=0)
            found = th.linalg.lsqr(
                lambda u: X @ u, lambda v: X.T @ v, Y, 5, damp=damp, max_steps=steps, tolerance=0.0
            )
            np.testing.assert_allclose(found.theta, peer[0], rtol=1e-5)
            assert found.value == pytest.approx(peer[4] ** 2)
    exact = th.linalg.lsqr(lambda u: X @ u, lambda v: X.T @ v, X @ BETA, 5)
    np.testing.assert_allclose(exact.theta, BETA, rtol=1e-8)
    assert exact.outcome is th.results.Outcome.CONVERGED
    assert th.linalg.lsqr(lambda u: X @ u, lambda v: X.T @ v, np.zeros(400), 5).steps == 0
