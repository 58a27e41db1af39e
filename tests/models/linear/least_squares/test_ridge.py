"""Ridge regression in all its forms."""

import numpy as np
import pytest
import sklearn.linear_model

import thetahat as th
from tests.models.linear.least_squares.ridge_data import WIDE, WIDE_Y, X, Y

FORMS = (
    *("auto", "cholesky", "pseudo_inverse", "augmented", "svd", "dual", "lsqr"),
    *(f"augmented_{name}" for name in ("cholesky", "pseudo_inverse", "qr", "svd", "dual", "lsqr")),
    *("conjugate_gradient", "augmented_conjugate_gradient"),
)


@pytest.mark.parametrize("solver", FORMS)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("shape", ["tall", "wide", "dependent"])
def test_all_forms_agree(solver, intercept, shape):
    """(XᵀX + τI)⁻¹XᵀY, augmented rows, s/(s² + τ) and the dual are one estimator."""
    x, y = {
        "tall": (X, Y),
        "wide": (WIDE, WIDE_Y),
        "dependent": (np.column_stack([X, X[:, 0], np.ones(80)]), Y),
    }[shape]
    model = th.Ridge(2.0, solver=solver, fit_intercept=intercept).fit(x, y)
    centre = x.mean(axis=0) if intercept else np.zeros(x.shape[1])
    level = y.mean() if intercept else 0.0
    gram = (x - centre).T @ (x - centre) + 2.0 * np.eye(x.shape[1])
    expected = np.linalg.solve(gram, (x - centre).T @ (y - level))
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-8, atol=1e-11)
    assert model.intercept_ == pytest.approx(level - centre @ expected if intercept else 0.0)


def test_four_forms_to_twelve_digits():
    coefs = [
        th.Ridge(2.0, solver=solver).fit(X, Y).coef_
        for solver in ("pseudo_inverse", "augmented", "svd", "dual")
    ]
    for coef in coefs[1:]:
        np.testing.assert_allclose(coef, coefs[0], rtol=1e-12)


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("intercept", [True, False])
def test_augmented_rows_with_weights_and_several_targets(intercept, sparse):
    from scipy.sparse import csr_array

    weight = np.random.default_rng(1).random(80)
    targets = np.column_stack([Y, -Y + X[:, 1]])
    expected = th.Ridge(2.0, solver="svd", fit_intercept=intercept).fit(X, targets, weight)
    for solver in ("qr", "svd", "lsqr", "gradient_descent"):
        model = th.Ridge(
            2.0, solver=f"augmented_{solver}", fit_intercept=intercept, tol=1e-9, max_iter=2000
        ).fit(csr_array(X) if sparse else X, targets, weight)
        rtol = 1e-6 if solver == "gradient_descent" else 1e-9
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=rtol)
        np.testing.assert_allclose(model.intercept_, expected.intercept_, rtol=rtol, atol=1e-9)
        assert "augmented rows" in model.solution_.reason
        squares = weight @ (targets - model.predict(X)) ** 2 + 2.0 * (model.coef_**2).sum(axis=1)
        assert model.solution_.value == pytest.approx(squares.sum())


def test_augmented_rows_are_refused_for_files(tmp_path):
    np.savetxt(
        tmp_path / "rows.csv",
        np.column_stack([X, Y]),
        delimiter=",",
        header="a,b,c,d,e,f,y",
        comments="",
    )
    rows = th.scan(tmp_path / "rows.csv", target="y")
    with pytest.raises(th.errors.CapabilityError, match='Use solver="augmented"'):
        th.Ridge(solver="augmented_svd").fit(rows)
    np.testing.assert_allclose(
        th.Ridge(solver="augmented").fit(rows).coef_, th.Ridge().fit(X, Y).coef_, rtol=1e-8
    )


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("standardize", [True, False])
def test_the_dual_variables_are_returned(intercept, standardize):
    """a = (XXᵀ + αI)⁻¹y and β = Xᵀa; with weights a = w(y − ŷ)/α."""
    options = {"solver": "dual", "fit_intercept": intercept, "standardize": standardize}
    model = th.Ridge(2.0, **options).fit(WIDE, WIDE_Y)
    rows = WIDE / WIDE.std(axis=0) if standardize else WIDE
    rows, y = (part - intercept * part.mean(axis=0) for part in (rows, WIDE_Y))
    expected = np.linalg.solve(rows @ rows.T + 2.0 * np.eye(15), y)
    np.testing.assert_allclose(model.solution_.multipliers, expected, rtol=1e-9)
    if not standardize:
        np.testing.assert_allclose(WIDE.T @ model.solution_.multipliers, model.coef_, rtol=1e-8)
    weight = np.random.default_rng(1).random(15)
    targets = np.column_stack([WIDE_Y, WIDE[:, 0]])
    for alpha in (2.0, [2.0, 0.5]):
        model = th.Ridge(alpha, **options).fit(WIDE, targets, weight)
        expected = weight[:, None] * (targets - model.predict(WIDE)) / alpha
        np.testing.assert_allclose(model.solution_.multipliers, expected, rtol=1e-8, atol=1e-12)
    assert th.Ridge(solver="svd").fit(WIDE, WIDE_Y).solution_.multipliers is None


@pytest.mark.parametrize("alpha", [1e-30, 1e-3])
def test_repeated_rows_in_the_dual(alpha):
    """XXᵀ is singular: a penalty at rounding level gives the least norm, and others lift it."""
    rows, y = np.vstack([WIDE, WIDE]), np.concatenate([WIDE_Y, WIDE_Y])
    model = th.Ridge(alpha, solver="dual").fit(rows, y)
    centred = rows - rows.mean(axis=0)
    system = np.vstack([centred, np.sqrt(alpha) * np.eye(rows.shape[1])])
    target = np.concatenate([y - y.mean(), np.zeros(rows.shape[1])])
    expected = np.linalg.lstsq(system, target, rcond=1e-12)[0]
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("rows", [np.arange(60), np.r_[:15, :15]])
def test_the_dual_variables_include_what_no_column_explains(rows, intercept):
    """a = (XXᵀ + αI)⁻¹y = (y − ŷ)/α with more rows than columns, where XXᵀ is singular, too."""
    data, y = X[rows, :5], Y[rows]
    model = th.Ridge(2.0, solver="dual", fit_intercept=intercept).fit(data, y)
    centred, target = (part - intercept * part.mean(axis=0) for part in (data, y))
    expected = np.linalg.solve(centred @ centred.T + 2.0 * np.eye(len(y)), target)
    found = model.solution_.multipliers
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found, (y - model.predict(data)) / 2.0, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(data.T @ found, model.coef_, rtol=1e-9)


def test_gradient_vanishes():
    """2Xᵀ(Xβ + b − y) + 2αβ = 0 and Σ(residuals) = 0."""
    random = np.random.default_rng(1)
    weight = random.random(80)
    model = th.Ridge(3.0).fit(X, Y, weight)
    residual = weight * (model.predict(X) - Y)
    np.testing.assert_allclose(X.T @ residual + 3.0 * model.coef_, 0.0, atol=1e-9)
    assert residual.sum() == pytest.approx(0.0, abs=1e-10)


@pytest.mark.parametrize("solver", ["sparse_cg", "sag", "saga", "lbfgs"])
def test_scikit_learn_solver_names_reach_the_optimum(solver):
    model = th.Ridge(1.5, solver=solver).fit(X, Y)
    np.testing.assert_allclose(model.coef_, th.Ridge(1.5).fit(X, Y).coef_, rtol=1e-7)
    assert model.solver_ == "lsqr"


def test_zero_penalty_is_least_squares():
    np.testing.assert_allclose(
        th.Ridge(0.0).fit(X, Y).coef_, th.LinearRegression().fit(X, Y).coef_, rtol=1e-9
    )


def test_one_penalty_per_target():
    targets = np.column_stack([Y, X[:, 0], -Y])
    model = th.Ridge([0.1, 10.0, 3.0]).fit(X, targets)
    peer = sklearn.linear_model.Ridge([0.1, 10.0, 3.0]).fit(X, targets)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-9)
    with pytest.raises(th.errors.DataError, match="3 targets, and alpha has shape"):
        th.Ridge([1.0, 2.0]).fit(X, targets)


@pytest.mark.parametrize("bound", [0.5, 2.0, 1e6])
def test_constrained_form(bound):
    """min RSS with ‖β‖² ≤ t is ridge with the multiplier as its penalty."""
    model = th.Ridge(norm_bound=bound).fit(X, Y)
    norm = (model.coef_**2).sum()
    if bound == 1e6:
        assert model.alpha_ == 0.0
        np.testing.assert_allclose(model.coef_, th.LinearRegression().fit(X, Y).coef_)
    else:
        assert norm == pytest.approx(bound)
        np.testing.assert_allclose(model.coef_, th.Ridge(model.alpha_).fit(X, Y).coef_)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("bound", [0.3, 1.0, 1e6])
def test_constrained_form_without_negative_coefficients(bound, intercept):
    """min RSS with β ≥ 0 and ‖β‖² ≤ t: the multiplier is that of both constraints."""
    from scipy.optimize import minimize

    model = th.Ridge(norm_bound=bound, positive=True, fit_intercept=intercept).fit(X, Y)
    rows, target = (X - X.mean(0), Y - Y.mean()) if intercept else (X, Y)

    def rss(beta):
        return float(((target - rows @ beta) ** 2).sum())

    peer = minimize(
        rss,
        np.full(X.shape[1], 0.1),
        method="SLSQP",
        bounds=[(0.0, None)] * X.shape[1],
        constraints={"type": "ineq", "fun": lambda beta: bound - beta @ beta},
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert (model.coef_ >= 0).all()
    assert model.coef_ @ model.coef_ <= bound * (1 + 1e-9)
    assert rss(model.coef_) <= peer.fun * (1 + 1e-6)
    if bound == 1e6:
        assert model.alpha_ == 0.0


def test_standardize_then_transform_back():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = th.Ridge(4.0, standardize=True).fit(X, Y)
    pipeline = make_pipeline(StandardScaler(), sklearn.linear_model.Ridge(4.0)).fit(X, Y)
    np.testing.assert_allclose(model.predict(X), pipeline.predict(X), rtol=1e-10)


def test_non_negative_ridge():
    model = th.Ridge(2.0, positive=True).fit(X, Y)
    peer = sklearn.linear_model.Ridge(2.0, positive=True, tol=1e-12).fit(X, Y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-5)
    assert (model.coef_ >= 0).all()


def test_bayesian_posterior_mean():
    """Prior β ~ N(0, s²), noise σ²: the posterior mean is ridge with α = σ²/s²."""
    sigma2, s2 = 0.7, 0.2
    precision = X.T @ X / sigma2 + np.eye(6) / s2
    mean = np.linalg.solve(precision, X.T @ Y / sigma2)
    np.testing.assert_allclose(th.Ridge(sigma2 / s2, fit_intercept=False).fit(X, Y).coef_, mean)


def test_bad_penalties():
    for alpha in (-1.0, np.nan, "big", [1.0, -2.0]):
        with pytest.raises(th.errors.ParameterError, match=r"Ridge: alpha=.* must be a number ≥ 0"):
            th.Ridge(alpha).fit(X, Y)


@pytest.mark.parametrize("alpha", [1e-14, 1e-10, 1e-6, 1e-3])
def test_dependent_columns_with_a_tiny_penalty(alpha):
    random = np.random.default_rng(0)
    group = random.integers(0, 3, 90)
    y = group + random.standard_normal(90)
    model = th.Ridge(alpha=alpha).fit(np.eye(3)[group], y)
    assert abs(model.coef_.sum()) < 1e-9  # as the intercept is free
    X = random.standard_normal((90, 2))
    model = th.Ridge(alpha=alpha).fit(np.column_stack([X, X[:, 0]]), y)
    assert model.coef_[0] == pytest.approx(model.coef_[2], abs=1e-9)
