"""Least angles: equal correlations at every node, the exact path of the lasso, and the peers."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model as peer
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from thetahat.foundation.errors import DataError, ParameterError


def table(n=60, d=12, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d)) @ (np.eye(d) + 0.3 * random.standard_normal((d, d)))
    return X, X[:, 0] - 2 * X[:, 3] + 0.5 * X[:, 5] + random.standard_normal(n)


def kkt_violation(X, y, coef, alpha):
    """Largest violation of the conditions of ½‖y − Xβ‖²/n + α‖β‖₁, over max |Xᵀy|/n."""
    slope = X.T @ (y - X @ coef) / len(y)
    inside = np.where(coef != 0, np.abs(slope - alpha * np.sign(coef)), 0.0)
    outside = np.where(coef == 0, np.maximum(np.abs(slope) - alpha, 0.0), 0.0)
    return max(inside.max(), outside.max()) / np.abs(X.T @ y / len(y)).max()


@pytest.mark.parametrize(("n", "d"), [(60, 12), (15, 40), (100, 3), (8, 300)])
@pytest.mark.parametrize("gram", [True, False])
def test_columns_in_use_have_the_largest_correlation(n, d, gram):
    X, y = table(n, max(d, 6))
    X = X[:, :d]
    alphas, active, coefs = th.lars_path(X, y, Gram=gram)
    assert len(active) == min(n, d)
    for alpha, coef in zip(alphas, coefs.T, strict=True):
        slope = np.abs(X.T @ (y - X @ coef)) / n
        assert slope.max() == pytest.approx(alpha, abs=1e-9 * alphas[0])
        np.testing.assert_allclose(slope[coef != 0], alpha, atol=1e-9 * alphas[0])
    np.testing.assert_allclose(X @ coefs[:, -1], X @ np.linalg.lstsq(X, y)[0], atol=1e-7)


@pytest.mark.parametrize(("n", "d"), [(60, 12), (15, 40), (300, 60), (8, 300)])
@pytest.mark.parametrize("gram", [True, False])
def test_nodes_of_the_lasso_are_minima(n, d, gram):
    for seed in range(5):
        X, y = table(n, d, seed)
        alphas, _, coefs = th.lars_path(X, y, Gram=gram, method="lasso", max_iter=np.inf)
        assert np.all(np.diff(alphas) <= 0)
        for alpha, coef in zip(alphas, coefs.T, strict=True):
            assert kkt_violation(X, y, coef, alpha) < 1e-8


def test_columns_leave_the_path_of_the_lasso_and_not_that_of_least_angles():
    X, y = load_diabetes(return_X_y=True)
    y = y - y.mean()
    lasso, lars = th.lars_path(X, y, method="lasso"), th.lars_path(X, y)
    before, after = lasso[2][:, :-1], lasso[2][:, 1:]
    assert np.any((before != 0) & (after == 0))
    assert not np.any((lars[2][:, :-1] != 0) & (lars[2][:, 1:] == 0))
    assert len(lars[0]) == 11 < len(lasso[0])


@pytest.mark.parametrize(
    ("method", "positive"), [("lar", False), ("lasso", False), ("lasso", True)]
)
def test_paths_equal_scikit_learn(method, positive):
    """Up to where a coefficient changes its sign: there, the peer's correlations differ."""
    X, y = table()
    options = dict(method=method, positive=positive, alpha_min=0.1)
    ours = th.lars_path(X, y, return_n_iter=True, **options)
    theirs = peer.lars_path(X, y, return_n_iter=True, **options)
    for part in (0, 2, 3):
        np.testing.assert_allclose(ours[part], theirs[part], atol=1e-8)
    assert set(np.flatnonzero(ours[2][:, -1])) <= set(ours[1])
    found = th.lars_path_gram(X.T @ y, X.T @ X, n_samples=len(y), **options)
    np.testing.assert_allclose(found[2], th.lars_path(X, y, **options)[2], atol=1e-9)
    last = th.lars_path(X, y, return_path=False, **options)
    np.testing.assert_allclose(last[2], found[2][:, -1], atol=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize("fit_path", [True, False])
def test_models_equal_scikit_learn(intercept, targets, fit_path):
    X, y = table()
    y = y if targets == 1 else np.column_stack([y, X[:, 1] - y])
    options = dict(fit_intercept=intercept, fit_path=fit_path)
    for ours, theirs in (
        (th.Lars(n_nonzero_coefs=4, **options), peer.Lars(n_nonzero_coefs=4, **options)),
        (th.LassoLars(0.05, **options), peer.LassoLars(0.05, **options)),
    ):
        ours.fit(X, y)
        theirs.fit(X, y)
        names = ["alphas_", "n_iter_", "active_", "coef_path_"] * fit_path
        for name in names:
            one, same = getattr(ours, name), getattr(theirs, name)
            for each, other in zip(one, same, strict=True) if targets > 1 else [(one, same)]:
                np.testing.assert_allclose(each, other, atol=1e-8, err_msg=name)
        # Without a path, the peer's coefficients of one target are a row.
        for one, same in (
            (ours.coef_, theirs.coef_),
            (ours.predict(X), theirs.predict(X)),
        ):
            np.testing.assert_allclose(np.ravel(one), np.ravel(same), atol=1e-8)
        assert ours.solution_.outcome.success


def test_a_weight_is_a_repetition_and_sparse_rows_are_rows():
    X, y = table()
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    for model in (th.Lars(n_nonzero_coefs=5), th.LassoLars(0.05), th.Lars(precompute=False)):
        weighted = model.fit(X, y, sample_weight=weight).coef_
        repeated = model.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).coef_
        np.testing.assert_allclose(weighted, repeated, atol=1e-9)
        few = np.where(np.abs(X) > 0.7, X, 0.0)
        dense = model.fit(few, y).coef_
        np.testing.assert_allclose(model.fit(sp.csr_array(few), y).coef_, dense, atol=1e-9)


def test_the_lasso_has_the_same_minimum():
    X, y = table(200, 30)
    exact = th.LassoLars(0.1).fit(X, y)
    descent = th.Lasso(0.1, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(exact.coef_, descent.coef_, atol=1e-8)
    assert exact.intercept_ == pytest.approx(descent.intercept_)
    positive = th.LassoLars(0.1, positive=True).fit(X, y)
    assert positive.coef_.min() >= 0
    same = th.Lasso(0.1, positive=True, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(positive.coef_, same.coef_, atol=1e-8)


def test_equal_and_dependent_columns_and_columns_of_zeros():
    X, y = table(50, 6)
    wide = np.column_stack([X, X[:, 0], X[:, 1] + X[:, 2], np.zeros(50), np.ones(50)])
    for gram in (True, False):
        alphas, active, coefs = th.lars_path(wide, y, Gram=gram, method="lasso", max_iter=200)
        for alpha, coef in zip(alphas, coefs.T, strict=True):
            assert kkt_violation(wide, y, coef, alpha) < 1e-8
        assert len(active) == 7
    ties = th.lars_path(np.eye(4), np.array([2.0, -2.0, 2.0, 1.0]))
    np.testing.assert_allclose(ties[2][:, -1], [2, -2, 2, 1], atol=1e-12)
    assert th.Lars().fit(np.zeros((4, 2)), np.arange(4)).coef_.tolist() == [0, 0]


def test_scales_of_data_change_the_scale_of_coefficients_only():
    X, y = table()
    plain = th.LassoLars(0.05).fit(X, y).coef_
    for x_scale, y_scale in ((1e150, 1e100), (1e-120, 1e-130)):
        scaled = th.LassoLars(0.05 * x_scale * y_scale).fit(X * x_scale, y * y_scale)
        np.testing.assert_allclose(scaled.coef_ * (x_scale / y_scale), plain, rtol=1e-6)


def test_too_few_steps_are_reported():
    X, y = table()
    with pytest.warns(ConvergenceWarning, match="after 2 steps .* Raise max_iter"):
        model = th.LassoLars(0.001, max_iter=2).fit(X, y)
    assert not model.solution_.outcome.success


def test_jitter_moves_the_targets():
    X, y = table()
    plain = th.Lars().fit(X, y).coef_
    moved = th.Lars(jitter=10.0, random_state=0).fit(X, y).coef_
    assert np.abs(moved - plain).max() > 0.1
    np.testing.assert_array_equal(moved, th.Lars(jitter=10.0, random_state=0).fit(X, y).coef_)


def test_verbose_prints_the_steps(capsys):
    X, y = table()
    th.Lars(verbose=True, n_nonzero_coefs=2).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["Step", "Added", "Dropped", "Active", "Alpha"]
    assert [int(line.split()[0]) for line in lines[1:]] == [0, 1, 2]
    assert lines[2].split()[1:3] == ["3", "1"]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: th.lars_path([[1.0]], [1.0], positive=True), ParameterError, "method='lasso'"),
        (lambda: th.lars_path([[1.0]], [1.0], method="lars"), ParameterError, "method"),
        (lambda: th.lars_path([[1.0]], [1.0], alpha_min=-1), ParameterError, "alpha_min=-1"),
        (lambda: th.lars_path(None, [1.0], Gram=[[1.0]]), DataError, "lars_path_gram"),
        (lambda: th.lars_path([[1.0]], [[1.0, 2.0]]), DataError, "one target"),
        (lambda: th.lars_path_gram([1.0], [[1.0, 2.0]], n_samples=1), DataError, "shape"),
        (
            lambda: th.lars_path_gram([1.0], [[1.0]], n_samples=0),
            ParameterError,
            "n_samples=0 must",
        ),
        (
            lambda: th.lars_path_gram([1.0, 1.0], [[1.0, 2.0], [0.0, 1.0]], n_samples=3),
            DataError,
            r"Gram: the matrix must be symmetric, but entry \(0, 1\) is 2 and entry \(1, 0\) is 0",
        ),
        (
            lambda: th.lars_path_gram([1.0, 1.0], [[1.0, 0.0], [0.0, -4.0]], n_samples=3),
            DataError,
            r"≥ 0, but entry \(1, 1\) is -4. Pass X.T @ X",
        ),
        (
            lambda: th.lars_path(np.eye(3), np.ones(3), Gram=np.eye(2)),
            DataError,
            r"lars_path: Gram has shape \(2, 2\), .* of 3 columns has shape \(3, 3\)",
        ),
        (lambda: th.lars_path([[1.0]], [1.0], Gram="yes"), ParameterError, "Gram='yes' must be"),
        (
            lambda: th.Lars(precompute=np.eye(2)).fit(np.eye(3), np.ones(3)),
            DataError,
            r"Lars: precompute has shape \(2, 2\), .* of 3 columns has shape \(3, 3\)",
        ),
        (
            lambda: th.LassoLars(precompute=-np.eye(3)).fit(np.eye(3), np.ones(3)),
            DataError,
            r"LassoLars: precompute: .* entry \(0, 0\) is -1",
        ),
        (
            lambda: th.Lars(precompute=np.triu(np.ones((3, 3)))).fit(np.eye(3), np.ones(3)),
            DataError,
            r"Lars: precompute: the matrix must be symmetric",
        ),
        (lambda: th.Lars(n_nonzero_coefs=0).fit([[1.0], [2.0]], [1, 2]), ParameterError, "n_non"),
    ],
)
def test_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_the_products_may_be_passed_by_position():
    X, y = table()
    np.testing.assert_array_equal(th.lars_path(X, y, X.T @ y)[2], th.lars_path(X, y)[2])


@pytest.mark.parametrize("name", ["Lars", "LassoLars", "LassoLarsIC", "LarsCV", "LassoLarsCV"])
def test_models_name_their_method(name):
    ours, theirs = getattr(th, name)(), getattr(peer, name)()
    assert ours.method == theirs.method
    assert getattr(ours, "positive", False) == theirs.positive
