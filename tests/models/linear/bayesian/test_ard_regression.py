"""One precision per coefficient: scikit-learn's fit, the evidence, relations, bad input."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model

import thetahat as th

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def drawn(n=80, d=8, noise=0.3):
    random = np.random.default_rng(0)
    X = random.standard_normal((n, d)) + 1.0
    beta = np.append([2.0, -1.0, 0.5], np.zeros(d - 3))
    return X, X @ beta + 3.0 + noise * random.standard_normal(n)


@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "through 0"])
@pytest.mark.parametrize("shape", [(80, 8), (30, 40)], ids=["tall", "wide"])
def test_the_fit_is_that_of_scikit_learn(intercept, shape):
    X, y = drawn(*shape)
    ours = th.ARDRegression(fit_intercept=intercept).fit(X, y)
    theirs = linear_model.ARDRegression(fit_intercept=intercept).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(ours.lambda_, theirs.lambda_, rtol=1e-5)
    np.testing.assert_allclose(ours.sigma_, theirs.sigma_, rtol=1e-5, atol=1e-10)
    assert ours.alpha_ == pytest.approx(theirs.alpha_, rel=1e-6)
    assert ours.intercept_ == pytest.approx(theirs.intercept_)
    for got, expected in zip(
        ours.predict(X, return_std=True), theirs.predict(X, return_std=True), strict=True
    ):
        np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_columns_that_do_not_matter_get_0():
    X, y = drawn(300, 20)
    model = th.ARDRegression().fit(X, y)
    assert np.count_nonzero(model.coef_[3:]) <= 8
    assert np.abs(model.coef_[3:]).max() < 0.05
    np.testing.assert_allclose(model.coef_[:3], [2.0, -1.0, 0.5], atol=0.06)
    assert model.alpha_**-0.5 == pytest.approx(0.3, rel=0.15)
    assert len(model.sigma_) == np.count_nonzero(model.lambda_ < 1e4)


def test_the_precisions_maximise_the_evidence():
    """Of y itself, N(0, 1/α + X diag(1/λ) Xᵀ), for centred rows and flat hyperpriors."""
    X, y = drawn(60, 4)
    X, y = X - X.mean(axis=0), y - y.mean()
    flat = dict.fromkeys(("alpha_1", "alpha_2", "lambda_1", "lambda_2"), 0.0)
    model = th.ARDRegression(
        tol=1e-13, max_iter=3000, threshold_lambda=1e90, fit_intercept=False, **flat
    ).fit(X[:, :3], y)

    def evidence(alpha, precision):
        covariance = np.eye(60) / alpha + X[:, :3] / precision @ X[:, :3].T
        return -0.5 * (np.linalg.slogdet(covariance)[1] + y @ np.linalg.solve(covariance, y))

    best = evidence(model.alpha_, model.lambda_)
    assert best == pytest.approx(model.log_evidence_, rel=1e-9)
    for place in range(4):
        for factor in (0.9, 1.1):
            theta = np.append(model.alpha_, model.lambda_)
            theta[place] *= factor
            assert evidence(theta[0], theta[1:]) < best


def test_scores_rise():
    X, y = drawn()
    model = th.ARDRegression(compute_score=True).fit(X, y)
    assert len(model.scores_) == model.n_iter_
    assert model.scores_[-1] > model.scores_[0]
    assert th.ARDRegression().fit(X, y).scores_ == []


def test_weights_repeat_rows_and_sparse_rows_are_the_same():
    X, y = drawn()
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    weighted = th.ARDRegression().fit(X, y, weight)
    repeated = th.ARDRegression().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-7, atol=1e-10)
    sparse = th.ARDRegression().fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, th.ARDRegression().fit(X, y).coef_, rtol=1e-7)


def test_intervals_and_summary():
    X, y = drawn()
    model = th.ARDRegression().fit(X, y)
    low, high = model.predict_interval(X)[-2:]
    assert np.mean((low <= y) & (y <= high)) > 0.85
    assert "x0" in str(model.summary())


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.ones((10, 2)), np.arange(10.0)),
        (np.arange(10.0)[:, None], np.full(10, 4.0)),
        (np.arange(10.0)[:, None], 2.0 * np.arange(10.0) + 1.0),
        (np.repeat(np.arange(10.0)[:, None], 3, axis=1), np.arange(10.0)),
        (np.array([[1.0], [2.0]]), np.array([1.0, 3.0])),
    ],
    ids=["constant columns", "constant target", "exact", "copies", "two rows"],
)
def test_degenerate_tables(X, y):
    model = th.ARDRegression().fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    if len(y) > 2 and X.std() and y.std():
        np.testing.assert_allclose(model.predict(X), y, atol=1e-3)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"max_iter": 0}, "max_iter=0"),
        ({"tol": -1.0}, "tol=-1.0"),
        ({"lambda_1": -1.0}, "lambda_1=-1.0"),
        ({"threshold_lambda": -1.0}, "threshold_lambda=-1.0"),
    ],
)
def test_bad_input_is_refused(options, error):
    X, y = drawn()
    with pytest.raises(ValueError, match=error):
        th.ARDRegression(**options).fit(X, y)
    with pytest.raises(ValueError, match=r"missing|NaN|not finite"):
        th.ARDRegression().fit(np.where(X > 2, np.nan, X), y)


def _one_weighted_row():
    X, y = drawn(150, 3)
    return {}, X, y, np.eye(150)[-1]


def _small_and_wide():
    random = np.random.default_rng(69)
    n, d = int(random.integers(2, 9)), int(random.integers(1, 9))
    X = random.normal(size=(n, d)) * 10 ** random.uniform(-3, 3)
    return {}, X, random.normal(size=n) * 10 ** random.uniform(-3, 3), None


def _constant_column_without_priors():
    X, y = drawn(30, 4)
    X[:, 2] = 1.0
    return dict.fromkeys(("alpha_1", "alpha_2", "lambda_1", "lambda_2"), 0.0), X, y, None


@pytest.mark.parametrize(
    "case", [_one_weighted_row, _small_and_wide, _constant_column_without_priors]
)
def test_precisions_stay_positive_up_to_rounding(case):
    settings, X, y, weight = case()
    model = th.ARDRegression(**settings).fit(X, y, sample_weight=weight)
    assert model.alpha_ > 0
    assert (model.lambda_ > 0).all()
    assert np.isfinite([*model.coef_, model.alpha_, model.log_evidence_]).all()


@pytest.mark.parametrize("seed", [13, 28])
def test_three_rows_without_a_rate_of_the_noise(seed):
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(3, 5)), random.normal(size=3)
    model = th.ARDRegression(alpha_2=0.0).fit(X, y)
    assert np.isfinite([*model.coef_, model.alpha_, model.log_evidence_]).all()


def test_the_summary_has_no_probability_for_columns_that_are_left_out():
    X, y = drawn(300, 20)
    model = th.ARDRegression().fit(X, y)
    table = model.summary()
    by_name = {line.name: line.positive for line in table.coefficients}
    for j, left_out in enumerate(model.coef_ == 0):
        assert np.isnan(by_name[f"x{j}"]) == left_out
    assert sum(line.rstrip().endswith("–") for line in str(table).splitlines()) == np.sum(
        model.coef_ == 0
    )
