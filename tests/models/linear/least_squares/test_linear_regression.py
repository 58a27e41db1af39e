"""Ordinary least squares: optimality first, then relations, peers and worked numbers."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import thetahat as th
from tests.models.linear.least_squares.regression_data import X, Y
from thetahat.objective.least_squares.direct import DIRECT

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
