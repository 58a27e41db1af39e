"""RidgeCV's closed-form errors of leaving rows out, and its folds."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model

import thetahat as th
from tests.models.linear.least_squares.ridge_data import WIDE, WIDE_Y, X, Y, leave_one_out

ALPHAS = np.logspace(-3, 3, 13)


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
