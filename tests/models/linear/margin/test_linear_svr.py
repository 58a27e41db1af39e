"""Regression with a tube: inliers without a say, duality, peers, refusals."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.exceptions import ConvergenceWarning

import thetahat as th


def line(n=120, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 0.3
    return X, X @ np.arange(1.0, d + 1) + 0.5 + 0.6 * rng.standard_t(3, size=n)


def objective(model, X, y, *, epsilon=0.0, C=1.0, loss="epsilon_insensitive"):
    excess = np.maximum(0, np.abs(X @ model.coef_ + model.intercept_ - y) - epsilon)
    losses = excess if loss == "epsilon_insensitive" else excess**2
    theta = np.append(model.coef_, model.intercept_)
    return theta @ theta / 2 + C * losses.sum()


TIGHT = {"epsilon": 0.5, "C": 0.3, "tol": 1e-10}


def test_multipliers_are_zero_strictly_inside_the_tube():
    X, y = line()
    model = th.LinearSVR(**TIGHT).fit(X, y)
    size = np.abs(model.predict(X) - y)
    alpha = np.zeros(120)
    alpha[model.support_] = model.dual_coef_[0]
    assert np.all(alpha[size < 0.5 - 1e-6] == 0)
    outside = size > 0.5 + 1e-6
    np.testing.assert_allclose(alpha[outside], 0.3 * np.sign(y - model.predict(X))[outside])
    assert np.all(np.abs(alpha) <= 0.3 + 1e-12)
    np.testing.assert_allclose(model.dual_coef_ @ model.support_vectors_, model.coef_[None])
    assert 10 < outside.sum() < 110


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_moving_an_inlier_changes_nothing(loss):
    X, y = line()
    model = th.LinearSVR(**TIGHT, loss=loss).fit(X, y)
    residual = y - model.predict(X)
    inside = np.flatnonzero(np.abs(residual) < 0.4)
    moved = y.copy()
    moved[inside] = model.predict(X)[inside] - residual[inside]
    again = th.LinearSVR(**TIGHT, loss=loss).fit(X, moved)
    np.testing.assert_allclose(again.coef_, model.coef_, atol=1e-7)
    without = th.LinearSVR(**TIGHT, loss=loss).fit(
        np.delete(X, inside, axis=0), np.delete(y, inside)
    )
    np.testing.assert_allclose(without.coef_, model.coef_, atol=1e-7)
    outlier = np.argmax(np.abs(residual))
    fewer = th.LinearSVR(**TIGHT, loss=loss).fit(
        np.delete(X, outlier, axis=0), np.delete(y, outlier)
    )
    assert np.abs(fewer.coef_ - model.coef_).max() > 1e-5


def test_far_outliers_pull_no_harder_than_near_ones():
    X, y = line()
    model = th.LinearSVR(**TIGHT).fit(X, y)
    far = y.copy()
    worst = np.argmax(y - model.predict(X))
    far[worst] += 1e6
    np.testing.assert_allclose(th.LinearSVR(**TIGHT).fit(X, far).coef_, model.coef_, atol=1e-6)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"epsilon": 0.4},
        {"C": 0.01, "epsilon": 0.1},
        {"fit_intercept": False},
        {"intercept_scaling": 10.0},
    ],
    ids=str,
)
def test_objective_is_at_most_the_peers(loss, options):
    X, y = line()
    ours = th.LinearSVR(loss=loss, tol=1e-6, **options).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs = svm.LinearSVR(loss=loss, tol=1e-6, max_iter=50_000, random_state=0, **options)
        theirs.fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-2)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-2)
    assert np.shape(ours.intercept_) == np.shape(theirs.intercept_)
    if "intercept_scaling" not in options:
        shared = {key: options[key] for key in ("C", "epsilon") if key in options}
        assert objective(ours, X, y, loss=loss, **shared) <= (
            objective(theirs, X, y, loss=loss, **shared) * (1 + 1e-7)
        )


def test_a_loss_of_ones_own():
    X, y = line()
    huber = th.LinearSVR(loss=th.losses.Huber(delta=0.5), C=2.0, fit_intercept=False, tol=1e-9)
    general = th.LinearModel(
        loss=th.losses.Huber(delta=0.5), penalty=th.penalties.L2(1 / 240), fit_intercept=False
    )
    np.testing.assert_allclose(huber.fit(X, y).coef_, general.fit(X, y).coef_, rtol=1e-6)
    assert not hasattr(huber, "support_")
    tube = th.LinearSVR(loss=th.losses.EpsilonInsensitive(epsilon=0.5), C=0.3, tol=1e-10)
    np.testing.assert_allclose(
        tube.fit(X, y).coef_, th.LinearSVR(**TIGHT).fit(X, y).coef_, atol=1e-9
    )
    with pytest.raises(
        th.errors.ParameterError, match=r"Hinge\(\) is a loss for −1 or \+1.*LinearSVC"
    ):
        th.LinearSVR(loss=th.losses.Hinge()).fit(X, y)
    with pytest.raises(th.errors.DataError, match="Poisson"):
        th.LinearSVR(loss=th.losses.Poisson()).fit(X, y)


def test_many_columns_use_the_dual():
    rng = np.random.default_rng(0)
    X = sp.random_array((60, 1500), density=0.02, format="csr", rng=rng)
    y = np.asarray(X[:, :50].sum(axis=1)).ravel()
    for loss in ("epsilon_insensitive", "squared_epsilon_insensitive"):
        model = th.LinearSVR(loss=loss, epsilon=0.05, dual=True, random_state=3).fit(X, y)
        assert model.solution_.solver == "dual_coordinate_descent"
        assert model.solution_.outcome.success
        peer = svm.LinearSVR(loss=loss, epsilon=0.05, tol=1e-8, max_iter=100_000, random_state=0)
        np.testing.assert_allclose(model.coef_, peer.fit(X, y).coef_, atol=2e-2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": -0.1}, r"epsilon=-0.1 must be a number ≥ 0"),
        ({"C": 0.0}, r"C=0.0 must be a number > 0"),
        ({"loss": "absolute"}, r"loss='absolute' must be one of 'epsilon_insensitive'"),
        ({"dual": False}, r"Unsupported set of arguments.*Use dual=True"),
        ({"max_iter": 0}, r"max_iter=0"),
    ],
    ids=str,
)
def test_parameters_out_of_range_are_refused(options, message):
    X, y = line()
    with pytest.raises(th.errors.ParameterError, match=message):
        th.LinearSVR(**options).fit(X, y)


def test_equal_rows_and_constant_columns_and_a_huge_cost():
    same = th.LinearSVR(C=100.0).fit(np.ones((5, 2)), [1.0, 2.0, 3.0, 4.0, 50.0])
    np.testing.assert_allclose(same.predict(np.ones((1, 2))), 3.0, atol=1e-5)
    X, y = line()
    padded = np.column_stack([X, np.zeros(120)])
    assert th.LinearSVR(epsilon=0.2).fit(padded, y).coef_[3] == 0
    huge = th.LinearSVR(C=1e8).fit(X, y)
    median = th.LinearModel(loss="absolute", penalty="none").fit(X, y)
    assert np.abs(y - huge.predict(X)).sum() <= np.abs(y - median.predict(X)).sum() + 1e-4
    wide = th.LinearSVR(epsilon=1e3).fit(X, y)
    np.testing.assert_array_equal(wide.coef_, 0.0)
    assert wide.support_.size == 0


def test_too_few_steps_warn_with_the_gap():
    X, y = line()
    with pytest.warns(
        ConvergenceWarning,
        match=r"LinearSVR: the maximum number of iterations was reached.*duality gap",
    ):
        th.LinearSVR(max_iter=1).fit(X, y)


def test_rows_in_files(tmp_path):
    X, y = line(2500)
    np.save(tmp_path / "rows.npy", np.column_stack([X, y]))
    source = th.scan(tmp_path / "rows.npy", target=3)
    for loss in ("epsilon_insensitive", "squared_epsilon_insensitive"):
        streamed = th.LinearSVR(epsilon=0.3, loss=loss, tol=1e-9).fit(source)
        whole = th.LinearSVR(epsilon=0.3, loss=loss, tol=1e-9).fit(X, y)
        np.testing.assert_allclose(streamed.coef_, whole.coef_, rtol=1e-6)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_no_shrinking_at_all(loss):
    random = np.random.default_rng(6)
    rows, y = random.standard_normal((40, 2)), random.standard_normal(40)
    free = th.LinearSVR(C=np.inf, loss=loss, epsilon=0.1).fit(rows, y)
    assert free.solution_.outcome.success
    nearly = th.LinearSVR(C=1e7, loss=loss, epsilon=0.1).fit(rows, y)
    np.testing.assert_allclose(free.coef_, nearly.coef_, atol=1e-3)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("C", [1.0, 1e4])
def test_the_squared_loss_of_fewer_rows_than_columns_is_solved_in_the_dual(C, form):
    """Newton's method would take up to a hundred times as long."""
    random = np.random.default_rng(7)
    rows = random.standard_normal((60, 150))
    y = rows[:, 0] + random.standard_normal(60)
    options = {"C": C, "loss": "squared_epsilon_insensitive", "epsilon": 0.1}
    model = th.LinearSVR(**options).fit(form(rows), y)
    assert model.solution_.solver == "dual_coordinate_descent"
    primal = th.LinearSVR(**options, dual=False, tol=1e-9).fit(rows, y)
    np.testing.assert_allclose(model.solution_.value, primal.solution_.value, rtol=1e-5)
    np.testing.assert_allclose(model.coef_, primal.coef_, atol=1e-3 * np.abs(primal.coef_).max())
