"""Paths, cross-validation and several targets: beside scikit-learn, and by their own laws."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, ShuffleSplit

import thetahat as th

RANDOM = np.random.default_rng(1)
TALL = RANDOM.standard_normal((120, 8)) * RANDOM.uniform(0.5, 2, 8) + RANDOM.uniform(-2, 2, 8)
TALL_Y = TALL[:, :3] @ [1.0, -2.0, 0.5] + 3.0 + RANDOM.standard_normal(120)
WIDE = RANDOM.standard_normal((50, 600))
WIDE_Y = WIDE[:, :4] @ [2.0, -1.0, 1.0, 3.0] + 0.5 * RANDOM.standard_normal(50)
DATA = {"tall": (TALL, TALL_Y), "wide": (WIDE, WIDE_Y)}
TIGHT = {"tol": 1e-11, "max_iter": 100_000}


@pytest.mark.parametrize("shape", DATA)
@pytest.mark.parametrize("l1_ratio", [1.0, 0.6])
@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_path_equals_scikit_learn(shape, l1_ratio, positive, kind):
    x, y = DATA[shape]
    options = {"l1_ratio": l1_ratio, "positive": positive, "eps": 1e-2, "alphas": 12}
    alphas, coefs, gaps, sweeps = th.enet_path(kind(x), y, **options, **TIGHT, return_n_iter=True)
    peer = sklearn.linear_model.enet_path(x, y, **options, tol=1e-9, max_iter=100_000)
    np.testing.assert_allclose(alphas, peer[0])
    np.testing.assert_allclose(coefs, peer[1], atol=2e-5)
    assert (gaps <= 1e-11 * np.mean(y**2) + 1e-14).all()
    assert len(sweeps) == 12


def test_a_path_is_a_fit_at_each_penalty():
    alphas, coefs, _ = th.lasso_path(WIDE, WIDE_Y, alphas=[0.01, 0.5, 0.1], **TIGHT)
    np.testing.assert_array_equal(alphas, [0.5, 0.1, 0.01])
    for alpha, coef in zip(alphas, coefs.T, strict=True):
        model = th.Lasso(alpha, fit_intercept=False, **TIGHT).fit(WIDE, WIDE_Y)
        np.testing.assert_allclose(coef, model.coef_, atol=1e-7)


def test_all_are_zero_at_the_largest_penalty_and_one_is_not_just_below():
    alphas, coefs, _ = th.lasso_path(WIDE, WIDE_Y, alphas=5, **TIGHT)
    assert not coefs[:, 0].any()
    below = th.lasso_path(WIDE, WIDE_Y, alphas=[0.999 * alphas[0]], **TIGHT)[1]
    assert np.count_nonzero(below) == 1


def test_a_path_ends_at_least_squares():
    _, coefs, _ = th.lasso_path(TALL, TALL_Y, alphas=[1.0, 0.0], tol=1e-14)
    expected = th.LinearRegression(fit_intercept=False).fit(TALL, TALL_Y).coef_
    np.testing.assert_allclose(coefs[:, 1], expected, rtol=1e-6)


def test_path_keeps_single_precision_and_starts_at_coef_init():
    x, y = WIDE.astype(np.float32), WIDE_Y.astype(np.float32)
    assert th.lasso_path(x, y, alphas=3)[1].dtype == np.float32
    start = th.lasso_path(WIDE, WIDE_Y, alphas=[0.1])[1][:, 0]
    again = th.lasso_path(WIDE, WIDE_Y, alphas=[0.1], coef_init=start, return_n_iter=True)
    assert again[3] == [1]
    np.testing.assert_array_equal(again[1][:, 0], start)
    assert len(th.lasso_path(WIDE, WIDE_Y, n_alphas=4, eps=0.1)[0]) == 4


def test_path_refusals():
    with pytest.raises(th.errors.ParameterError, match="no parameter 'sweeps'"):
        th.lasso_path(TALL, TALL_Y, sweeps=3)
    with pytest.raises(th.errors.ParameterError, match="l1_ratio=2 must be"):
        th.enet_path(TALL, TALL_Y, l1_ratio=2)
    with pytest.raises(th.errors.ParameterError, match="not supported for l1_ratio=0"):
        th.enet_path(TALL, TALL_Y, l1_ratio=0)
    with pytest.raises(th.errors.ParameterError, match="alphas holds -1"):
        th.lasso_path(TALL, TALL_Y, alphas=[1.0, -1.0])
    with pytest.raises(th.errors.ParameterError, match="alphas is empty"):
        th.lasso_path(TALL, TALL_Y, alphas=[])
    with pytest.raises(th.errors.ParameterError, match="alphas=0 must be a whole number ≥ 1"):
        th.lasso_path(TALL, TALL_Y, alphas=0)
    with pytest.raises(
        th.errors.ParameterError, match="positive=True is only possible with one target"
    ):
        th.lasso_path(TALL, TALL[:, :2], positive=True)
    with pytest.raises(th.errors.DataError, match="NaN"):
        th.lasso_path(np.where(WIDE > 3, np.nan, WIDE), WIDE_Y)
    with pytest.warns(ConvergenceWarning, match="did not reach tol within"):
        th.lasso_path(WIDE, WIDE_Y, alphas=[1e-4], max_iter=1, tol=1e-10)


# Cross-validation.


@pytest.mark.parametrize("shape", DATA)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "cv", [4, KFold(3, shuffle=True, random_state=0), ShuffleSplit(3, random_state=0)],
    ids=["blocks", "shuffled", "overlapping"],
)  # fmt: skip
def test_lasso_cv_equals_scikit_learn(shape, weighted, cv):
    random = np.random.default_rng(101)
    x, y = DATA[shape]
    weight = random.uniform(0.5, 2, len(y)) if weighted else None
    options = {"cv": cv, "alphas": 8, "eps": 1e-2, "tol": 1e-9, "max_iter": 100_000}
    model = th.LassoCV(**options).fit(x, y, weight)
    peer = sklearn.linear_model.LassoCV(**options).fit(x, y, sample_weight=weight)
    np.testing.assert_allclose(model.alphas_, peer.alphas_)
    np.testing.assert_allclose(model.mse_path_, peer.mse_path_, rtol=1e-4)
    assert model.alpha_ == pytest.approx(peer.alpha_)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-5)


def test_elastic_net_cv_equals_scikit_learn():
    options = {"l1_ratio": [0.2, 0.9], "cv": 3, "alphas": [0.01, 0.3, 0.1], "tol": 1e-9}
    model = th.ElasticNetCV(**options).fit(TALL, TALL_Y)
    peer = sklearn.linear_model.ElasticNetCV(**options).fit(TALL, TALL_Y)
    assert (model.alpha_, model.l1_ratio_) == (peer.alpha_, peer.l1_ratio_)
    np.testing.assert_array_equal(model.alphas_, peer.alphas_)
    np.testing.assert_allclose(model.mse_path_, peer.mse_path_, rtol=1e-4)
    grid = th.ElasticNetCV(l1_ratio=[0.2, 0.9], cv=3, alphas=7).fit(TALL, TALL_Y)
    assert grid.alphas_.shape == (2, 7)
    assert grid.mse_path_.shape == (2, 7, 3)


def test_moments_and_rows_give_the_same_errors():
    """Held-out errors follow from moments alone; predicting the held-out rows says the same."""
    random = np.random.default_rng(102)
    from thetahat.data.validation import as_source
    from thetahat.objective.lasso.l1_folds import FoldErrors

    folds = list(KFold(4, shuffle=True, random_state=0).split(TALL))
    source = as_source(TALL, TALL_Y, random.uniform(0.5, 2, 120))
    held_out = FoldErrors(source, folds, True, False, 1e-11, 10_000)
    ratios, alphas = np.array([1.0]), np.array([[0.5, 0.1, 0.01]])
    np.testing.assert_allclose(
        held_out._by_moments(ratios, alphas), held_out._by_rows(ratios, alphas), rtol=1e-8
    )


def test_cross_validation_refusals():
    with pytest.raises(th.errors.ParameterError, match="alphas='many'"):
        th.LassoCV(alphas="many").fit(TALL, TALL_Y)
    with pytest.raises(th.errors.ParameterError, match="eps=0"):
        th.LassoCV(eps=0).fit(TALL, TALL_Y)
    with pytest.raises(th.errors.DataError, match="in fold 0 all training rows"):
        th.LassoCV(cv=2).fit(TALL, TALL_Y, np.r_[np.zeros(60), np.ones(60)])
    with pytest.raises(th.errors.DataError, match="one output"):
        th.LassoCV().fit(TALL, TALL[:, :2])


# Several targets at once.

TARGETS = np.column_stack([WIDE_Y, WIDE_Y - WIDE[:, 5], WIDE[:, 0]])


def test_several_targets_without_the_norm_penalty_are_ridge_regression():
    model = th.MultiTaskElasticNet(0.1, l1_ratio=0, tol=1e-22, max_iter=10_000)
    few = WIDE[:, :30]
    ridge = th.Ridge(0.1 * len(few)).fit(few, TARGETS)
    np.testing.assert_allclose(model.fit(few, TARGETS).coef_, ridge.coef_, atol=1e-11)
    assert model.solution_.gap < 1e-18


@pytest.mark.parametrize("name", ["MultiTaskLasso", "MultiTaskElasticNet"])
@pytest.mark.parametrize("intercept", [True, False])
def test_multi_task_equals_scikit_learn(name, intercept):
    options = {"alpha": 0.3, "fit_intercept": intercept}
    model = getattr(th, name)(**options, **TIGHT).fit(WIDE, TARGETS)
    peer = getattr(sklearn.linear_model, name)(**options, tol=1e-9, max_iter=100_000)
    np.testing.assert_allclose(model.coef_, peer.fit(WIDE, TARGETS).coef_, atol=1e-5)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=1e-5)
    in_use = (model.coef_ != 0).any(axis=0)
    assert 0 < in_use.sum() < 100
    assert (model.coef_[:, in_use] != 0).all()
    sparse = getattr(th, name)(**options, **TIGHT).fit(sp.csr_array(WIDE), TARGETS)
    np.testing.assert_allclose(sparse.coef_, model.coef_, atol=1e-8)


def test_multi_task_optimality_conditions():
    """‖x_jᵀR‖ ≤ nα, and x_jᵀR = nα·B_j/‖B_j‖ for columns in use."""
    model = th.MultiTaskLasso(0.3, **TIGHT).fit(WIDE, TARGETS)
    slopes = WIDE.T @ (TARGETS - model.predict(WIDE)) / len(WIDE)
    size = np.linalg.norm(model.coef_, axis=0)
    assert np.linalg.norm(slopes[size == 0], axis=1).max() <= 0.3 + 1e-9
    direction = model.coef_.T[size > 0] / size[size > 0, None]
    np.testing.assert_allclose(slopes[size > 0], 0.3 * direction, atol=1e-7)
    assert model.solution_.gap_kind == "duality gap"


def test_one_task_is_the_lasso():
    model = th.MultiTaskLasso(0.1, **TIGHT).fit(WIDE, WIDE_Y[:, None])
    np.testing.assert_allclose(
        model.coef_[0], th.Lasso(0.1, **TIGHT).fit(WIDE, WIDE_Y).coef_, atol=1e-7
    )


def test_multi_task_path_and_refusals():
    alphas, coefs, _ = th.lasso_path(WIDE, TARGETS, alphas=5, eps=0.1, **TIGHT)
    peer = sklearn.linear_model.lasso_path(WIDE, TARGETS, alphas=5, eps=0.1, tol=1e-9)
    np.testing.assert_allclose(alphas, peer[0])
    np.testing.assert_allclose(coefs, peer[1], atol=1e-5)
    with pytest.raises(th.errors.DataError, match="mono-task outputs, use Lasso"):
        th.MultiTaskLasso().fit(WIDE, WIDE_Y)
    with pytest.raises(th.errors.ParameterError, match="l1_ratio=3"):
        th.MultiTaskElasticNet(l1_ratio=3).fit(WIDE, TARGETS)
    free = th.MultiTaskLasso(0.0, tol=1e-12, max_iter=100_000).fit(
        TALL, TALL[:, :2] @ [[1, 2], [0, 1]]
    )
    np.testing.assert_allclose(free.coef_[:, :2], [[1, 0], [2, 1]], atol=1e-6)


def test_positive_paths_have_no_negative_coefficient():
    """Near copies of columns tempt a jump to the far side of zero."""
    random = np.random.default_rng(5)
    for _ in range(40):
        n, d = random.integers(5, 60), random.integers(2, 120)
        x = random.standard_normal((n, d))
        x[:, ::2] = x[:, [0]] + 0.1 * x[:, ::2]
        y = x @ random.standard_normal(d) + random.standard_normal(n)
        for tol in (1e-4, 1e-8):
            coefs = th.lasso_path(x, y, positive=True, alphas=30, tol=tol)[1]
            assert coefs.min() >= 0.0


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
def test_a_path_by_sweeps_is_the_path_on_a_gram_matrix(l1_ratio):
    random = np.random.default_rng(3)
    x = random.standard_normal((50, 90))
    y = x[:, :8].sum(axis=1) + random.standard_normal(50)
    swept = th.enet_path(x, y, l1_ratio=l1_ratio, tol=2e-6)
    on_gram = th.enet_path(x, y, l1_ratio=l1_ratio, tol=1e-12, precompute=True, max_iter=10_000)
    np.testing.assert_allclose(swept[0], on_gram[0])
    for at, alpha in enumerate(swept[0]):
        l1, l2 = alpha * l1_ratio, alpha * (1 - l1_ratio)
        values = [
            np.mean((y - x @ beta) ** 2) / 2 + l1 * np.abs(beta).sum() + l2 / 2 * beta @ beta
            for beta in (swept[1][:, at], on_gram[1][:, at])
        ]
        assert values[0] - values[1] <= swept[2][at] + 1e-12 <= 2e-6 * np.mean(y**2) + 1e-12


@pytest.mark.parametrize("function", [th.enet_path, th.lasso_path])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alphas": "abc"}, "alphas='abc' must be a whole number ≥ 1 or an array"),
        ({"alphas": True}, "alphas=True must be a whole number"),
        ({"alphas": ["a"]}, "alphas=.* must be a whole number"),
        ({"eps": "a"}, "eps='a' must be a number > 0"),
        ({"coef_init": [1.0]}, r"coef_init has shape \(1,\); it must be \(2,\)"),
        ({"coef_init": "a"}, "coef_init='a' must be a real number"),
        ({"tol": -1}, "tol=-1 must be a number ≥ 0"),
        ({"selection": "zzz"}, "selection='zzz' must be one of 'cyclic', 'random'"),
        ({"max_iter": 1.5}, "max_iter=1.5 must be a whole number"),
        ({"nonsense": 1}, "has no parameter 'nonsense'"),
    ],
)
def test_paths_refuse_what_is_no_parameter_by_their_own_name(function, arguments, message):
    X, y = np.array([[1.0, 2.0, 3.1], [2.3, 5.4, 4.3]]).T, np.array([1.0, 2.0, 3.1])
    with pytest.raises(th.errors.ParameterError, match=f"^{function.__name__}.*{message}"):
        function(X, y, **arguments)


def test_shares_of_the_penalty_are_numbers():
    with pytest.raises(
        th.errors.ParameterError, match="enet_path: l1_ratio=None must be a number from"
    ):
        th.enet_path([[1.0], [2.0]], [1.0, 2.0], l1_ratio=None)


def test_estimators_carry_their_path():
    X, y = np.array([[1.0, 2.0, 3.1], [2.3, 5.4, 4.3]]).T, np.array([1.0, 2.0, 3.1])
    for estimator, function in [
        (th.Lasso, th.enet_path),
        (th.ElasticNet, th.enet_path),
        (th.ElasticNetCV, th.enet_path),
        (th.LassoCV, th.lasso_path),
    ]:
        found, expected = estimator.path(X, y, alphas=3), function(X, y, alphas=3)
        np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize("intercept", [True, False])
def test_without_norms_it_is_ridge_regression(intercept):
    random = np.random.default_rng(0)
    X = random.standard_normal((60, 5)) @ random.standard_normal((5, 20))
    Y = X[:, :3] + random.standard_normal((60, 3))
    ridge = th.Ridge(0.6, fit_intercept=intercept).fit(X, Y)
    model = th.MultiTaskElasticNet(0.01, l1_ratio=0, fit_intercept=intercept).fit(X, Y)
    np.testing.assert_allclose(model.coef_, ridge.coef_, rtol=1e-9)
    np.testing.assert_allclose(model.intercept_, ridge.intercept_, atol=1e-12)


def test_folds_that_run_out_of_iterations_are_warned_of():
    """Of noise the largest penalty is chosen, whose fit to all rows converges at once."""
    random = np.random.default_rng(0)
    X, y = random.standard_normal((60, 100)), random.standard_normal(60)
    with pytest.warns(ConvergenceWarning, match=r"\d+ of 500 fits to folds did not reach tol"):
        chosen = th.LassoCV(max_iter=2).fit(X, y)
    assert chosen.solution_.outcome.value.startswith("converged")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        th.LassoCV().fit(X, y)


@pytest.mark.parametrize("name", ["MultiTaskElasticNet", "MultiTaskLasso"])
def test_models_of_several_targets_have_a_path(name):
    targets = np.column_stack([TALL_Y, -TALL_Y + TALL[:, 4]])
    options = {"l1_ratio": 0.7, "alphas": [1.0, 0.1], "tol": 1e-10, "max_iter": 100_000}
    ours = getattr(th, name).path(TALL, targets, **options)
    peer = getattr(sklearn.linear_model, name).path(TALL, targets, **options)
    np.testing.assert_allclose(ours[0], peer[0])
    np.testing.assert_allclose(ours[1], peer[1], atol=1e-4)
