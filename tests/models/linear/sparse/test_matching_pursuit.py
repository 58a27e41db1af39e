"""Orthogonal matching pursuit: its invariants at every step, its peers, and what it refuses."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls
from scipy.stats import ortho_group
from sklearn import linear_model

import thetahat as th


def sparse_problem(n=120, d=40, outputs=None, noise=0.1, seed=1):
    """y = Xβ + 2 + noise with five non-zero β, columns of different means and scales."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d)) * random.uniform(0.5, 2.0, d) + random.uniform(-2, 2, d)
    beta = np.zeros((d, outputs or 1))
    for k in range(outputs or 1):
        beta[random.choice(d, 5, replace=False), k] = random.choice([-3.0, 3.0], 5)
    Y = X @ beta + 2.0 + noise * random.standard_normal((n, outputs or 1))
    return (X, Y, beta) if outputs else (X, Y[:, 0], beta[:, 0])


@pytest.mark.parametrize("precompute", [True, False])
@pytest.mark.parametrize("steps", [1, 3, 8])
def test_exact_support_of_an_orthonormal_dictionary(precompute, steps):
    """Orthonormal columns: the best s columns are the s largest products, and β is those."""
    random = np.random.default_rng(1)
    X = ortho_group.rvs(20, random_state=3)
    beta = np.zeros(20)
    beta[random.choice(20, steps, replace=False)] = random.uniform(1, 4, steps) * (-1.0) ** steps
    model = th.OrthogonalMatchingPursuit(
        n_nonzero_coefs=steps, fit_intercept=False, precompute=precompute
    )
    np.testing.assert_allclose(model.fit(X, X @ beta).coef_, beta, atol=1e-13)
    noisy = X @ (beta + 0.1 * random.standard_normal(20))
    products = X.T @ noisy
    largest = np.argsort(-np.abs(products))[:steps]
    np.testing.assert_array_equal(np.flatnonzero(model.fit(X, noisy).coef_), np.sort(largest))
    np.testing.assert_allclose(model.coef_[largest], products[largest], atol=1e-12)


@pytest.mark.parametrize("precompute", [True, False])
def test_residual_is_orthogonal_to_the_columns_taken_at_every_step(precompute):
    X, y, _ = sparse_problem()
    path = th.orthogonal_mp(X, y, n_nonzero_coefs=12, precompute=precompute, return_path=True)
    taken = set()
    for step in range(12):
        coef = path[:, step]
        residual, active = y - X @ coef, set(np.flatnonzero(coef))
        assert taken < active
        assert len(active) == step + 1
        slopes = np.abs(X.T @ residual) / np.linalg.norm(X, axis=0)
        assert slopes[list(active)].max() < 1e-11 * np.linalg.norm(y)
        (entered,) = active - taken
        before = y - X @ path[:, step - 1] if step else y
        free = [j for j in range(X.shape[1]) if j not in taken]
        assert entered == max(free, key=lambda j: abs(X[:, j] @ before))
        taken = active


@pytest.mark.parametrize("steps", [1, 4, 40])
def test_non_negative_pursuit(steps):
    """The first column has the largest x·r, all coefficients are refitted under β ≥ 0."""
    X, y, _ = sparse_problem(noise=2.0)
    model = th.OrthogonalMatchingPursuit(n_nonzero_coefs=steps, positive=True).fit(X, y)
    centred, target = X - X.mean(axis=0), y - y.mean()
    active = np.flatnonzero(model.coef_)
    assert model.coef_.min() >= 0
    assert len(active) <= steps
    np.testing.assert_allclose(model.coef_[active], nnls(centred[:, active], target)[0], rtol=1e-9)
    residual = target - centred @ model.coef_
    np.testing.assert_allclose(centred[:, active].T @ residual, 0, atol=1e-9 * target @ target)
    if steps == 1:
        assert active[0] == (centred.T @ target).argmax()
    if steps == 40:  # to the end: the non-negative least-squares fit
        np.testing.assert_allclose(model.coef_, nnls(centred, target)[0], atol=1e-9)


def test_non_negative_pursuit_counts_its_columns():
    """Correlated columns leave again: refits and columns differ, and the limit is of columns."""
    left_again = 0
    for seed in range(30):
        random = np.random.default_rng(seed)
        X = random.standard_normal((40, 12)) + random.standard_normal((40, 1))
        y = X @ random.random(12) + 2 * random.standard_normal(40)
        for limit in (1, 4, 8, 12):
            model = th.OrthogonalMatchingPursuit(n_nonzero_coefs=limit, positive=True).fit(X, y)
            count = np.count_nonzero(model.coef_)
            assert model.n_iter_ == count <= limit
            assert model.solution_.steps >= count
            left_again += model.solution_.steps > count
            if count < limit:  # only where no other column helps: the non-negative fit
                centred, target = X - X.mean(axis=0), y - y.mean()
                np.testing.assert_allclose(model.coef_, nnls(centred, target)[0], atol=1e-9)
                assert f"only {count} of {limit} columns" in model.solution_.message
                assert "positively correlated" in model.solution_.message
    assert left_again > 0


def test_non_negative_pursuit_finds_a_non_negative_support():
    X, _, beta = sparse_problem()
    y = X @ np.abs(beta)
    model = th.OrthogonalMatchingPursuit(tol=1e-12 * float(y @ y), positive=True).fit(X, y)
    np.testing.assert_allclose(model.coef_, np.abs(beta), atol=1e-6)


@pytest.mark.parametrize("precompute", [True, False, "auto"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("limit", [{"n_nonzero_coefs": 7}, {"tol": 30.0}, {}])
def test_as_scikit_learn(limit, fit_intercept, precompute):
    X, Y, _ = sparse_problem(outputs=3)
    options = {"fit_intercept": fit_intercept, **limit}
    ours = th.OrthogonalMatchingPursuit(precompute=precompute, **options).fit(X, Y)
    theirs = linear_model.OrthogonalMatchingPursuit(precompute=True, **options).fit(X, Y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-10)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-9)
    np.testing.assert_array_equal(ours.n_iter_, theirs.n_iter_)
    assert ours.n_nonzero_coefs_ == theirs.n_nonzero_coefs_


@pytest.mark.parametrize("path", [False, True])
def test_functions_as_scikit_learn(path):
    X, Y, _ = sparse_problem(outputs=3)
    options = {"n_nonzero_coefs": 6, "return_path": path, "return_n_iter": True}
    for y in (Y, Y[:, 0]):
        ours, steps = th.orthogonal_mp(X, y, **options)
        theirs, _ = linear_model.orthogonal_mp(X, y, **options)
        np.testing.assert_allclose(ours, theirs, atol=1e-10)
        assert np.all(steps == 6)
        gram, steps = th.orthogonal_mp_gram(X.T @ X, X.T @ y, **options)
        np.testing.assert_allclose(gram, ours, atol=1e-9)
    norms = (Y**2).sum(axis=0)
    ours = th.orthogonal_mp_gram(X.T @ X, X.T @ Y, tol=50.0, norms_squared=norms)
    np.testing.assert_allclose(ours, linear_model.orthogonal_mp(X, Y, tol=50.0), atol=1e-10)


def test_cross_validation_as_scikit_learn():
    X, y, beta = sparse_problem(noise=1.0)
    ours = th.OrthogonalMatchingPursuitCV(cv=4, max_iter=12).fit(X, y)
    theirs = linear_model.OrthogonalMatchingPursuitCV(cv=4, max_iter=12).fit(X, y)
    assert ours.n_nonzero_coefs_ == theirs.n_nonzero_coefs_
    assert ours.mse_path_.shape == (12, 4)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-10)
    assert set(np.flatnonzero(beta)) <= set(np.flatnonzero(ours.coef_))


def test_cross_validated_errors_are_those_of_the_fits():
    X, y, _ = sparse_problem(noise=1.0)
    found = th.OrthogonalMatchingPursuitCV(cv=3, max_iter=4, positive=True).fit(X, np.abs(y))
    train, test = np.arange(40, 120), np.arange(40)
    for size in (1, 3):
        model = th.OrthogonalMatchingPursuit(n_nonzero_coefs=size, positive=True)
        model.fit(X[train], np.abs(y)[train])
        error = np.mean((np.abs(y)[test] - model.predict(X[test])) ** 2)
        assert found.mse_path_[size - 1, 0] == pytest.approx(error)


@pytest.mark.parametrize("precompute", [True, False])
def test_weights_count_rows(precompute):
    random = np.random.default_rng(2)
    X, y, _ = sparse_problem(noise=1.0)
    weight = random.integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    model = th.OrthogonalMatchingPursuit(n_nonzero_coefs=6, precompute=precompute)
    coef = model.fit(X, y, sample_weight=weight).coef_.copy()
    np.testing.assert_allclose(coef, model.fit(X[rows], y[rows]).coef_, atol=1e-10)


@pytest.mark.parametrize("precompute", [True, False])
def test_sparse_rows(precompute):
    X, y, _ = sparse_problem()
    X = np.where(np.abs(X) < 1.0, 0.0, X)
    model = th.OrthogonalMatchingPursuit(n_nonzero_coefs=6, precompute=precompute)
    dense = model.fit(X, y).coef_.copy()
    np.testing.assert_allclose(model.fit(sp.csr_array(X), y).coef_, dense, atol=1e-10)


def test_many_columns_need_no_gram_matrix():
    X, y, _ = sparse_problem(n=100, d=1500, noise=0.01)
    model = th.OrthogonalMatchingPursuit(n_nonzero_coefs=5).fit(X, y)
    assert "cost less than a 1500 × 1500 Gram matrix" in model.solution_.reason
    by_gram = th.OrthogonalMatchingPursuit(n_nonzero_coefs=5, precompute=True).fit(X, y)
    np.testing.assert_allclose(model.coef_, by_gram.coef_, atol=1e-11)


@pytest.mark.parametrize(("precompute", "positive"), [(True, False), (False, False), (True, True)])
def test_zero_and_duplicate_columns_are_never_taken(precompute, positive):
    X, y, _ = sparse_problem(d=6, noise=0.5)
    X[:, 2], X[:, 4] = 0.0, X[:, 3]
    y = np.abs(y) if positive else y
    model = th.OrthogonalMatchingPursuit(
        n_nonzero_coefs=6, precompute=precompute, positive=positive
    )
    if positive:  # ends where no column is left that would help: its optimum
        model.fit(X, y)
    else:
        with pytest.warns(
            RuntimeWarning, match="only 4 of 6 columns were selected.*Lower n_nonzero_coefs"
        ):
            model.fit(X, y)
        assert model.solution_.outcome is th.results.Outcome.STALLED
    assert model.coef_[2] == 0.0
    assert model.coef_[3] == 0.0 or model.coef_[4] == 0.0
    assert np.isfinite(model.coef_).all()
    if not positive:
        assert model.n_iter_ == 4
        assert "4 of 6 columns were selected" in model.solution_.message
        residual = y - model.predict(X)
        np.testing.assert_allclose(X.T @ residual, 0, atol=1e-8)


@pytest.mark.parametrize("precompute", [True, False])
def test_targets_of_zeros_need_no_column(precompute):
    X, y, _ = sparse_problem()
    model = th.OrthogonalMatchingPursuit(n_nonzero_coefs=3, precompute=precompute)
    model.fit(X, np.zeros(len(y)))
    assert model.n_iter_ == 0
    np.testing.assert_array_equal(model.coef_, 0.0)
    assert model.intercept_ == 0.0


def test_unreachable_tolerance_says_what_is_left():
    X, y, _ = sparse_problem(d=6, noise=1.0)
    model = th.OrthogonalMatchingPursuit(tol=1e-6).fit(X, y)
    assert model.n_iter_ == 6
    assert "above tol=1e-06" in model.solution_.message
    assert model.solution_.outcome is th.results.Outcome.STALLED
    X[:, 2] = X[:, 3]
    with pytest.warns(RuntimeWarning, match="above tol=1e-06.*Raise tol, or add columns"):
        th.OrthogonalMatchingPursuit(tol=1e-6).fit(X, y)


@pytest.mark.parametrize(
    ("fit", "words"),
    [
        (
            lambda X, y: th.OrthogonalMatchingPursuit(n_nonzero_coefs=41).fit(X, y),
            "more than the number of columns of X, 40",
        ),
        (
            lambda X, y: th.OrthogonalMatchingPursuit(n_nonzero_coefs=0).fit(X, y),
            "whole number ≥ 1",
        ),
        (lambda X, y: th.OrthogonalMatchingPursuit(tol=-1.0).fit(X, y), "tol=-1.0 must be"),
        (lambda X, y: th.OrthogonalMatchingPursuit(precompute="yes").fit(X, y), "'auto'"),
        (lambda X, y: th.orthogonal_mp(X, y, tol=-1.0), "≥ 0"),
        (
            lambda X, y: th.orthogonal_mp(X, y, n_nonzero_coefs=99),
            "n_nonzero_coefs=99 is more than",
        ),
        (lambda X, y: th.orthogonal_mp_gram(X, y), "Pass X.T @ X"),
        (lambda X, y: th.orthogonal_mp_gram(X.T @ X, X.T @ y, tol=1.0), "norms_squared"),
        (lambda X, y: th.orthogonal_mp_gram(np.full((2, 2), np.nan), np.ones(2)), "NaN"),
        (lambda X, y: th.orthogonal_mp_gram([[1.0, 2.0], [0.0, 1.0]], np.ones(2)), "symmetric"),
        (lambda X, y: th.orthogonal_mp_gram(-np.eye(2), np.ones(2)), "entry .0, 0. is -1"),
        (
            lambda X, y: th.OrthogonalMatchingPursuit(positive=True, precompute=False).fit(X, y),
            "needs the Gram matrix",
        ),
    ],
)
def test_refusals(fit, words):
    X, y, _ = sparse_problem()
    with pytest.raises(th.errors.ThetahatError, match=words):
        fit(X, y)
