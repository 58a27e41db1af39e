"""Ridge in all its forms, and RidgeCV's closed-form leave-one-out."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model

import thetahat as th

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((80, 6)) * [1, 2, 0.5, 1, 3, 1] + [0, 5, 1, 0, -2, 0]
Y = X @ [1.0, 0.0, -2.0, 0.5, 1.0, 0.0] + 3.0 + RANDOM.standard_normal(80)
WIDE, WIDE_Y = RANDOM.standard_normal((15, 40)), RANDOM.standard_normal(15)
FORMS = (
    *("auto", "cholesky", "pseudo_inverse", "augmented", "svd", "dual", "lsqr"),
    *(f"augmented_{name}" for name in ("cholesky", "pseudo_inverse", "qr", "svd", "dual", "lsqr")),
    *("conjugate_gradient", "augmented_conjugate_gradient"),
)
ALPHAS = np.logspace(-3, 3, 13)


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


def leave_one_out(x, y, alpha, intercept, weight=None):
    """Refit without each row: what the closed form must equal."""
    errors, weight = [], np.ones(len(y)) if weight is None else weight
    shrinks = np.sqrt(alpha) * np.eye(x.shape[1])
    for i in range(len(y)):
        kept = np.arange(len(y)) != i
        root, mean, level = np.sqrt(weight[kept]), np.zeros(x.shape[1]), 0.0
        if intercept:
            mean = np.average(x[kept], axis=0, weights=weight[kept])
            level = np.average(y[kept], weights=weight[kept])
        rows = np.vstack([root[:, None] * (x[kept] - mean), shrinks])
        targets = np.r_[root * (y[kept] - level), np.zeros(len(mean))]
        errors.append(y[i] - level - (x[i] - mean) @ np.linalg.lstsq(rows, targets)[0])
    return np.array(errors)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("shape", ["tall", "wide", "single"])
def test_leave_one_out_equals_refitting(intercept, shape):
    random = np.random.default_rng(2)
    if shape == "single":  # enough rows for leverages in single precision
        x, y = random.standard_normal((200, 3)), random.standard_normal(200)
    else:
        x, y = (X, Y) if shape == "tall" else (WIDE, WIDE_Y)
    model = th.RidgeCV([0.5, 20.0], fit_intercept=intercept, store_cv_results=True).fit(x, y)
    for column, alpha in enumerate((0.5, 20.0)):
        expected = leave_one_out(x, y, alpha, intercept)
        np.testing.assert_allclose(model.cv_results_[:, column], expected**2, rtol=1e-5, atol=1e-9)
        assert model.scores_[column] == pytest.approx(-(expected**2).mean(), rel=1e-6)


@pytest.mark.parametrize(
    "options", [{}, {"alpha_per_target": True}, {"scoring": "r2"}, {"cv": 4}, {"cv": 3, "scoring":
     "neg_mean_absolute_error"}],
)  # fmt: skip
@pytest.mark.parametrize("targets", [1, 2])
def test_ridge_cv_equals_scikit_learn(options, targets):
    random = np.random.default_rng(3)
    y = Y if targets == 1 else np.column_stack([Y, X[:, 1] + 3 * random.standard_normal(80)])
    model = th.RidgeCV(ALPHAS, **options).fit(X, y)
    peer = sklearn.linear_model.RidgeCV(ALPHAS, **options).fit(X, y)
    np.testing.assert_allclose(model.alpha_, peer.alpha_)
    np.testing.assert_allclose(model.best_score_, peer.best_score_, rtol=1e-7)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-8)


def test_scores_in_single_precision_have_six_digits():
    """Many rows take the fast way; the stored errors are worked out in double precision."""
    random = np.random.default_rng(4)
    x = random.standard_normal((3000, 6)) * [0.5, 1, 2, 1, 1, 1] + 2.0
    y = x @ np.arange(6.0) + random.standard_normal((3000,))
    for weight in (None, random.integers(0, 3, 3000)):
        fast = th.RidgeCV(ALPHAS).fit(x, y, weight)
        stored = th.RidgeCV(ALPHAS, store_cv_results=True).fit(x, y, weight)
        np.testing.assert_allclose(fast.scores_, stored.scores_, rtol=1e-6)
    exact = th.RidgeCV([1e-6, 1.0]).fit(x, x @ np.arange(6.0))
    stored = th.RidgeCV([1e-6, 1.0], store_cv_results=True).fit(x, x @ np.arange(6.0))
    np.testing.assert_allclose(exact.scores_, stored.scores_, rtol=1e-6)


@pytest.mark.parametrize("kind", [th.RidgeCV, th.RidgeClassifierCV])
def test_ridge_cv_leaves_out_rows_with_all_their_weight(kind):
    """Each row is left out as one, whatever its weight; the unit of the weights does not matter."""
    random = np.random.default_rng(5)
    weight = random.uniform(0.1, 5.0, 80)
    y = Y if kind is th.RidgeCV else np.where(Y > 0, 1.0, -1.0)
    alphas = ALPHAS[::4]
    model = kind(alphas).fit(X, y, weight)
    expected = [leave_one_out_score(X, y, alpha, True, weight) for alpha in alphas]
    assert model.best_score_ == pytest.approx(max(expected), rel=1e-9)
    assert model.alpha_ == alphas[int(np.argmax(expected))]
    scaled = kind(1000 * np.asarray(alphas)).fit(X, y, 1000 * weight)
    assert scaled.alpha_ == pytest.approx(1000 * model.alpha_)
    assert scaled.best_score_ == pytest.approx(model.best_score_)


def test_ridge_cv_sparse_and_refusals():
    random = np.random.default_rng(6)
    rows = sp.random_array((300, 20), density=0.2, format="csr", rng=random)
    y = rows @ np.ones(20) + random.standard_normal(300)
    np.testing.assert_allclose(
        th.RidgeCV(ALPHAS).fit(rows, y).scores_, th.RidgeCV(ALPHAS).fit(rows.toarray(), y).scores_
    )
    with pytest.raises(th.errors.ParameterError, match="empty"):
        th.RidgeCV([]).fit(X, Y)
    with pytest.raises(th.errors.ParameterError, match="alphas"):
        th.RidgeCV([-1.0]).fit(X, Y)
    for name in ("store_cv_results", "alpha_per_target"):
        with pytest.raises(
            th.errors.ParameterError, match=f"^RidgeCV: {name}=True is only.*leave-one-out.*cv=3"
        ):
            th.RidgeCV(cv=3, **{name: True}).fit(X, Y)


def leave_one_out_score(X, y, alpha, intercept, weight=None):
    """−Σ w e²/Σ w over fits to all rows but one."""
    errors = leave_one_out(X, y, alpha, intercept, weight)
    return -np.average(np.square(errors), weights=weight)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("n", "d"), [(6, 5), (4, 5), (5, 5), (8, 5)])
def test_left_out_rows_that_alone_determine_a_direction(n, d, intercept):
    random = np.random.default_rng(n)
    rows, y = random.standard_normal((n, d)), random.standard_normal(n)
    for alpha in (0.0, 1e-12, 1e-3, 1.0):
        expected = leave_one_out_score(rows, y, alpha, intercept)
        for scoring in (None, "neg_mean_squared_error"):
            model = th.RidgeCV([alpha], fit_intercept=intercept, scoring=scoring).fit(rows, y)
            assert model.best_score_ == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_left_out_rows_with_a_column_of_their_own(weighted):
    random = np.random.default_rng(3)
    rows, y = random.standard_normal((200, 4)), random.standard_normal(200)
    rows[:, 3] = np.arange(200) == 17
    weight = random.uniform(0.2, 1.0, 200) if weighted else None
    model = th.RidgeCV([0.0]).fit(rows, y, sample_weight=weight)
    assert model.best_score_ == pytest.approx(
        leave_one_out_score(rows, y, 0.0, True, weight), rel=1e-6
    )


def test_folds_count_rows_by_their_weight():
    from sklearn.model_selection import PredefinedSplit

    random = np.random.default_rng(6)
    rows = random.normal(size=(40, 6))
    y, weight = rows @ random.normal(size=6) + random.normal(size=40), random.integers(1, 4, 40)
    fold, again = np.arange(40) % 4, np.repeat(np.arange(40), weight)
    once = th.RidgeCV([1.0], cv=PredefinedSplit(fold)).fit(rows, y, sample_weight=weight)
    twice = th.RidgeCV([1.0], cv=PredefinedSplit(fold[again])).fit(rows[again], y[again])
    assert once.best_score_ == pytest.approx(twice.best_score_, rel=1e-10)


def test_stored_errors_are_weighted():
    """Their sum is what leaving out a row of weight w costs: w·(y − ŷ)², as in scikit-learn."""
    weight = np.random.default_rng(3).integers(1, 4, len(Y)).astype(float)
    model = th.RidgeCV([0.5, 20.0], store_cv_results=True).fit(X, Y, sample_weight=weight)
    for column, alpha in enumerate((0.5, 20.0)):
        errors = leave_one_out(X, Y, alpha, True, weight) ** 2
        np.testing.assert_allclose(model.cv_results_[:, column], weight * errors, rtol=1e-5)


@pytest.mark.parametrize("kind", [th.RidgeCV, th.LassoCV, th.ElasticNetCV])
def test_text_among_the_penalties_is_refused(kind):
    with pytest.raises(th.errors.ParameterError, match="alphas"):
        kind(alphas=(1, 1.0, "1")).fit(X, Y)


@pytest.mark.parametrize("n_targets", [1, 2])
def test_scorers_that_are_functions_see_targets_and_predictions_of_one_shape(n_targets):
    random = np.random.default_rng(0)
    rows = random.standard_normal((40, 8))
    y = rows[:, :n_targets] + random.standard_normal((40, n_targets))
    y = y[:, 0] if n_targets == 1 else y

    def scorer(model, given, truth):
        assert len(given) == len(truth) == 40
        assert model.predict(given).shape == truth.shape
        return -np.mean((model.predict(given) - truth) ** 2)

    alphas = [0.01, 1.0, 100.0]
    model = th.RidgeCV(alphas, scoring=scorer).fit(rows, y)
    usual = th.RidgeCV(alphas, scoring="neg_mean_squared_error").fit(rows, y)
    assert model.alpha_ == usual.alpha_
    assert model.best_score_ == pytest.approx(usual.best_score_)


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
