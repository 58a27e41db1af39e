"""Ordinary least squares: optimality first, then relations, peers and worked numbers."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import thetahat as th
from thetahat.objective.least_squares.direct import DIRECT
from thetahat.objective.least_squares.solve import SOLVERS

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((400, 5)) * [1, 10, 0.1, 3, 1] + [0, 50, 0, -2, 1]
BETA = np.array([1.0, -0.2, 30.0, 0.5, 2.0])
Y = X @ BETA + 3.0 + RANDOM.standard_normal(400)
STREAMED = [solver for solver in DIRECT if solver != "dual"]


@pytest.mark.parametrize("solver", ["auto", *DIRECT, "lsqr"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_residual_is_orthogonal_to_the_columns(solver, intercept, weighted):
    """Xᵀ(y − Xβ̂) = 0: the condition that defines least squares."""
    random = np.random.default_rng(1)
    weight = random.random(400) if weighted else None
    model = th.LinearRegression(solver=solver, fit_intercept=intercept).fit(X, Y, weight)
    residual = (Y - model.predict(X)) * (1.0 if weight is None else weight)
    scale = np.linalg.norm(X, axis=0) * np.linalg.norm(Y)
    assert np.abs(X.T @ residual / scale).max() < 1e-9
    if intercept:
        assert abs(residual.mean()) < 1e-7
    assert model.solution_.outcome.success


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


def test_several_targets():
    random = np.random.default_rng(2)
    targets = np.column_stack([Y, -2 * Y, random.standard_normal(400)])
    expected = sklearn.linear_model.LinearRegression().fit(X, targets)
    for solver in ("auto", *DIRECT, "lsqr", "gradient_descent"):
        model = th.LinearRegression(solver=solver).fit(X, targets)
        rtol = 1e-3 if solver == "gradient_descent" else 1e-7
        np.testing.assert_allclose(model.predict(X), expected.predict(X), rtol=rtol, atol=1e-2)
        assert model.coef_.shape == (3, 5)


def test_line_through_the_means():
    """ols.simple: β₁ = cov(x, y)/var(x), and the line passes through (x̄, ȳ)."""
    x = X[:, 1]
    model = th.LinearRegression().fit(x[:, None], Y)
    assert model.coef_[0] == pytest.approx(np.cov(x, Y)[0, 1] / x.var(ddof=1))
    assert model.intercept_ == pytest.approx(Y.mean() - model.coef_[0] * x.mean())
    assert model.predict([[x.mean()]])[0] == pytest.approx(Y.mean())
    centred = th.LinearRegression().fit((x - x.mean())[:, None], Y - Y.mean())
    assert centred.intercept_ == pytest.approx(0.0, abs=1e-12)


def test_normal_equations():
    """ols.normal: β̂ = (XᵀX)⁻¹XᵀY = X⁺Y, and Moore–Penrose when columns depend."""
    model = th.LinearRegression(solver="pseudo_inverse", fit_intercept=False).fit(X, Y)
    np.testing.assert_allclose(model.coef_, np.linalg.inv(X.T @ X) @ X.T @ Y, rtol=1e-8)
    dependent = np.column_stack([X, X[:, 0]])
    model = th.LinearRegression(solver="pseudo_inverse", fit_intercept=False).fit(dependent, Y)
    np.testing.assert_allclose(model.coef_, np.linalg.pinv(dependent) @ Y, rtol=1e-7)


@pytest.mark.parametrize("alpha", [0.0, 1e-14])
def test_fewer_rows_than_columns_lose_no_digits_to_the_gram_matrix(alpha):
    random = np.random.default_rng(0)
    rows, columns = (np.linalg.qr(random.standard_normal((m, 40)))[0] for m in (40, 150))
    wide, beta = (rows * np.logspace(0, -5, 40)) @ columns.T, random.standard_normal((40, 1))
    y = wide @ (columns @ beta)
    model = th.Ridge(alpha, solver="dual", fit_intercept=False).fit(wide, y)
    shrunk = 1 / (1 + alpha * np.logspace(0, 10, 40)[:, None])
    np.testing.assert_allclose(model.coef_, (columns @ (shrunk * beta)).ravel(), atol=1e-9)


@pytest.mark.parametrize("solver", ["auto", "svd", "dual", "pseudo_inverse"])
def test_least_norm_when_columns_depend(solver):
    dependent = np.column_stack([X, X[:, 0], np.full(400, 7.0), X[:, 1] - 2 * X[:, 3]])
    model = th.LinearRegression(solver=solver).fit(dependent, Y)
    expected = sklearn.linear_model.LinearRegression().fit(dependent, Y)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6, atol=1e-8)
    assert model.rank_ == 5
    assert model.coef_[6] == pytest.approx(0.0, abs=1e-10)


def test_solvers_that_need_independent_columns_say_so():
    dependent = np.column_stack([X, X[:, 0]])
    for solver in ("cholesky", "qr"):
        with pytest.raises(th.errors.CapabilityError, match='Use solver="svd"'):
            th.LinearRegression(solver=solver).fit(dependent, Y)


@pytest.mark.parametrize("solver", ["auto", "svd", "dual", "lsqr"])
def test_more_columns_than_rows(solver):
    random = np.random.default_rng(3)
    wide, target = random.standard_normal((20, 60)), random.standard_normal(20)
    model = th.LinearRegression(solver=solver).fit(wide, target)
    centred = wide - wide.mean(axis=0)
    expected = np.linalg.pinv(centred, rcond=1e-10) @ (target - target.mean())
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.predict(wide), target, atol=1e-8)


def test_reason_is_one_line_about_the_condition():
    random = np.random.default_rng(4)
    smooth = th.LinearRegression().fit(X, Y)
    assert smooth.solution_.solver == "cholesky"
    noise = random.standard_normal(400)
    near = np.column_stack([X, X[:, 0] + 1e-5 * noise])
    assert "refined" in th.LinearRegression().fit(near, Y).solution_.reason
    nearer = np.column_stack([X, X[:, 0] + 1e-9 * noise])
    model = th.LinearRegression().fit(nearer, Y)
    assert model.solution_.solver == "qr"
    assert "Householder" in model.solution_.reason
    assert "\n" not in model.solution_.reason


def digits(data):
    """Correct digits of the worst coefficient."""
    model = th.LinearRegression().fit(data.X, data.y)
    got, certified = np.r_[model.intercept_, model.coef_], np.r_[data.intercept, data.coef]
    return -np.log10(np.max(np.abs(got / certified - 1)) + 1e-16)


def test_longley_has_nine_digits():
    assert digits(th.datasets.load_longley()) >= 9


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_wampler_is_exact(k):
    """scikit-learn gives no correct digit on some of these; refinement gives all of them."""
    assert digits(th.datasets.wampler(k)) >= 12


def test_filip_has_six_digits():
    assert digits(th.datasets.filip()) >= 6


def test_ill_conditioned_normal_equations_warn():
    random = np.random.default_rng(5)
    near = np.column_stack([X, X[:, 0] + 1e-6 * random.standard_normal(400)])
    with pytest.warns(th.errors.IllConditionedWarning, match="correct digits with cholesky"):
        model = th.LinearRegression(solver="cholesky").fit(near, Y)
    assert "correct digits" in model.solution_.message


@pytest.mark.parametrize("scale", [1e150, 1e-150])
def test_huge_scales(scale):
    stretched = X * [1, scale, 1, 1, 1]
    expected = th.LinearRegression().fit(X, Y)
    for solver in ("auto", "cholesky", "qr", "svd"):
        model = th.LinearRegression(solver=solver).fit(stretched, Y)
        np.testing.assert_allclose(model.coef_ * [1, scale, 1, 1, 1], expected.coef_, rtol=1e-8)
    model = th.LinearRegression().fit(X * scale, Y / scale)
    np.testing.assert_allclose(model.coef_ * scale * scale, expected.coef_, rtol=1e-8)


def test_non_negative():
    random = np.random.default_rng(6)
    target = X @ np.array([1.0, -0.2, 30.0, -0.5, 0.0]) + random.standard_normal(400)
    model = th.LinearRegression(positive=True).fit(X, target)
    expected = sklearn.linear_model.LinearRegression(positive=True).fit(X, target)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-7, atol=1e-9)
    gradient = X.T @ (target - model.predict(X))
    assert (gradient[model.coef_ == 0] <= 1e-6).all()
    with pytest.raises(th.errors.CapabilityError, match="active sets"):
        th.LinearRegression(positive=True, solver="svd").fit(X, target)
    with pytest.raises(th.errors.CapabilityError, match="biases the estimate"):
        model.summary()


@pytest.mark.parametrize("solver", [*STREAMED, "lsqr", "gradient_descent"])
def test_sparse_equals_dense(solver):
    random = np.random.default_rng(7)
    rows = sp.random_array((3000, 40), density=0.1, format="csr", rng=random)
    target = rows @ np.arange(40.0) + random.standard_normal(3000)
    dense, sparse = (
        th.LinearRegression(solver=solver).fit(x, target) for x in (rows.toarray(), rows)
    )
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-7)


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


def test_one_row():
    model = th.LinearRegression().fit([[1.0, 2.0]], [3.0])
    assert model.predict([[5.0, 6.0]])[0] == pytest.approx(3.0)


def test_fast_predictions_are_checked_predictions():
    model = th.LinearRegression().fit(X, Y)
    np.testing.assert_array_equal(model.predict(X[:3]), model.predict(X[:3].tolist()))
    with pytest.raises(th.errors.DataError, match="NaN"):
        model.predict(np.full((1, 5), np.nan))
    with pytest.raises(ValueError, match="X has 3 features, but LinearRegression is expecting 5"):
        model.predict(X[:, :3])
    with pytest.raises(NotFittedError):
        th.LinearRegression().predict(X)


def test_bad_parameters_name_the_rule():
    with pytest.raises(
        th.errors.ParameterError, match=r"solver='choleski' must be.*mean 'cholesky'"
    ):
        th.LinearRegression(solver="choleski").fit(X, Y)
    with pytest.raises(th.errors.ParameterError, match="tol=-1 must be a number ≥ 0"):
        th.LinearRegression(tol=-1).fit(X, Y)
    with pytest.raises(th.errors.DataError, match="requires y"):
        th.LinearRegression().fit(X)


def test_memory_is_estimated_before_it_is_taken():
    with th.config(memory=1000), pytest.raises(th.errors.MemoryBudgetError, match="may be used"):
        th.LinearRegression(solver="qr").fit(X, Y)


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


def test_time_limit_and_progress():
    from sklearn.callback import ScoringMonitor

    for solver in ("sgd", "lsqr"):
        with th.config(max_time=1e-9), pytest.warns(ConvergenceWarning, match="out of time"):
            model = th.LinearRegression(solver=solver, max_iter=50, random_state=0).fit(X, Y)
        assert model.n_iter_ == 1
        assert model.score(X, Y) > 0.1
    monitor = ScoringMonitor(scoring="r2")
    model = th.LinearRegression(solver="gradient_descent", max_iter=300)
    model.set_callbacks(monitor).fit(X, Y)
    assert len(monitor.get_logs().data) >= model.n_iter_


@pytest.mark.parametrize("solver", ["gradient_descent", "lsqr"])
def test_interrupt_keeps_the_best_so_far(solver):
    class Interrupting:
        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...

        def on_fit_task_end(self, estimator, context):
            if context.task_name == "step" and context.task_id >= 2:
                raise KeyboardInterrupt

    model = th.LinearRegression(solver=solver, max_iter=300)
    with pytest.raises(KeyboardInterrupt):
        model.set_callbacks(Interrupting()).fit(X, Y)
    assert model.solution_.outcome is th.results.Outcome.INTERRUPTED
    assert model.score(X, Y) > 0


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "npy", "memmap"])
@pytest.mark.parametrize("solver", ["auto", "qr"])
def test_a_file_gives_the_bits_of_memory(kind, solver, tmp_path):
    """More rows than a block holds, so that the file's own batches would show."""
    random = np.random.default_rng(9)
    x = random.standard_normal((40_000, 4)).round(6)
    y = (x @ [1.0, 2.0, 3.0, 4.0] + random.standard_normal(40_000)).round(6)
    expected = th.LinearRegression(solver=solver).fit(x, y)
    path, table = tmp_path / f"rows.{kind}", np.column_stack([x, y])
    if kind == "memmap":
        np.save(tmp_path / "rows.npy", x)
        model = th.LinearRegression(solver=solver)
        model.fit(np.load(tmp_path / "rows.npy", mmap_mode="r"), y)
    else:
        write(table, path)
        source = th.scan(path, target=4 if kind == "npy" else "y")
        model = th.LinearRegression(solver=solver).fit(source)
        np.testing.assert_array_equal(model.predict(source), expected.predict(x))
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    assert model.intercept_ == expected.intercept_


def write(table, path):
    import pyarrow
    import pyarrow.csv
    import pyarrow.feather
    import pyarrow.parquet

    if path.suffix == ".npy":
        np.save(path, table)
        return
    columns = pyarrow.table(dict(zip("abcdy", table.T, strict=True)))
    if path.suffix == ".csv":
        pyarrow.csv.write_csv(columns, path)
    elif path.suffix == ".parquet":
        pyarrow.parquet.write_table(columns, path, row_group_size=7000)
    else:
        pyarrow.feather.write_feather(columns, path)


def test_attributes_that_a_fit_does_not_have_are_absent():
    random = np.random.default_rng(0)
    X, y = random.standard_normal((8, 20)), random.standard_normal(8)
    wide = th.LinearRegression().fit(X, y)
    assert not hasattr(wide, "singular_")
    assert not hasattr(wide, "covariance_")
    with pytest.raises(AttributeError, match="triangular factor"):
        _ = wide.singular_
    tall = th.LinearRegression().fit(X.T, random.standard_normal(20))
    assert len(tall.singular_) == 8
    assert tall.covariance_.shape == (9, 9)
