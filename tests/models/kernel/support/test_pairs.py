"""Many classes: each pair is the problem of its two classes, and sums are those over all pairs."""

from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn import svm as peer
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from thetahat.models.kernel.support import pairs
from thetahat.models.kernel.support.pairs import columns_of_classes

KERNELS = ("rbf", "linear", "poly", "laplacian")


def problem(k=6, n=180, d=4, seed=0):
    random = np.random.default_rng(seed)
    y = random.integers(0, k, n)
    return random.standard_normal((n, d)) + 0.8 * random.standard_normal((k, d))[y], y


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n", [180, 700])  # with the kernel matrix, and without
def test_each_pair_is_the_problem_of_its_two_classes(kernel, n, monkeypatch):
    monkeypatch.setattr("thetahat.models.kernel.support.machine.FEW_ROWS_OF_MANY", 500)
    X, y = problem(n=n)
    model = th.SVC(kernel=kernel, gamma=0.2, tol=1e-8, decision_function_shape="ovo").fit(X, y)
    scores = model.decision_function(X)
    for column, (a, b) in enumerate(combinations(range(6), 2)):
        rows = (y == a) | (y == b)
        alone = th.SVC(kernel=kernel, gamma=0.2, tol=1e-8).fit(X[rows], y[rows] == a)
        assert np.allclose(scores[:, column], alone.decision_function(X), atol=1e-5)
    if kernel != "laplacian":
        theirs = peer.SVC(kernel=kernel, gamma=0.2, tol=1e-8).fit(X, y)
        assert np.array_equal(model.predict(X), theirs.predict(X))
        assert np.array_equal(model.support_, theirs.support_)
        assert np.allclose(model.dual_coef_, theirs.dual_coef_, atol=1e-4)
        assert np.array_equal(model.n_support_, theirs.n_support_)


def test_pairs_have_the_same_bits_for_any_number_of_threads(monkeypatch):
    X, y = problem(k=8, n=2400)
    found = []
    for threads in (1, 2, 5):
        monkeypatch.setattr(pairs, "n_threads", lambda threads=threads: threads)
        model = th.SVC().fit(X, y)
        found.append((model.dual_coef_, model.intercept_, model.decision_function(X)))
    for other in found[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(found[0], other, strict=True))


def test_pairs_that_do_not_end_are_fitted_one_by_one(monkeypatch):
    X, y = problem()
    expected = th.SVC(tol=1e-9).fit(X, y)
    monkeypatch.setattr(pairs, "MOST_STEPS", 3)
    model = th.SVC(tol=1e-9).fit(X, y)
    assert np.allclose(model.dual_coef_, expected.dual_coef_, atol=1e-7)
    assert np.allclose(model.intercept_, expected.intercept_, atol=1e-7)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        early = th.SVC(max_iter=2).fit(X, y)
    assert early.n_iter_.max() == 2
    assert early.fit_status_ == 1


def test_the_report_is_that_of_all_pairs():
    X, y = problem()
    model = th.SVC(tol=1e-10).fit(X, y)
    solution = model.solution_
    assert solution.theta.shape == (5, len(X))
    assert np.array_equal(solution.theta[:, model.support_], model.dual_coef_)
    assert 0 <= solution.gap < 1e-6
    value = 0.0
    for a, b in combinations(range(6), 2):
        rows = (y == a) | (y == b)
        value += (
            th.SVC(gamma=model.kernel_.exponent, tol=1e-10).fit(X[rows], y[rows]).solution_.value
        )
    assert solution.value == pytest.approx(value, rel=1e-7)


def test_equal_rows_of_several_classes_are_kept_apart():
    X, y = problem(k=4, n=80)
    X, y = np.vstack([X, X[:30], X[:30]]), np.concatenate([y, (y[:30] + 1) % 4, y[:30]])
    model = th.SVC(decision_function_shape="ovo", C=0.5, tol=1e-9).fit(X, y)
    theirs = peer.SVC(decision_function_shape="ovo", C=0.5, tol=1e-9).fit(X, y)
    assert len(model._centres) < len(model.support_)
    assert np.allclose(model.decision_function(X), theirs.decision_function(X), atol=1e-6)


def test_scores_of_a_model_with_one_column_per_pair_are_the_same():
    """As version 0.1 stored them at first."""
    X, y = problem()
    model = th.SVC(decision_function_shape="ovo").fit(X, y)
    expected = model.decision_function(X)
    model._weights = model._pair_weights()
    del model._ends
    assert np.allclose(model.decision_function(X), expected, rtol=1e-12, atol=1e-12)
    assert np.array_equal(model._pair_weights(), model._weights)


@pytest.mark.parametrize("sparse", [False, True])
def test_linear_coefficients_of_pairs(sparse):
    X, y = problem()
    X[np.abs(X) < 0.3] = 0.0
    rows = csr_array(X) if sparse else X
    model = th.SVC(kernel="linear", decision_function_shape="ovo").fit(rows, y)
    coef = model.coef_.toarray() if sparse else model.coef_
    assert np.allclose(X @ coef.T + model.intercept_, model.decision_function(rows), atol=1e-9)


def test_votes_and_their_scores():
    X, y = problem(k=5)
    model, theirs = th.SVC(tol=1e-8).fit(X, y), peer.SVC(tol=1e-8).fit(X, y)
    assert np.allclose(model.decision_function(X), theirs.decision_function(X), atol=1e-5)
    assert [list(each) for each in columns_of_classes(3)] == [[0, 1], [0, 2], [1, 2]]


def test_classes_without_weight_and_a_limit_of_time():
    X, y = problem(k=4)
    weight = (y != 2).astype(float)
    model = th.SVC(tol=1e-8).fit(X, y, sample_weight=weight)
    alone = th.SVC(tol=1e-8).fit(X[y != 2], y[y != 2])
    assert np.array_equal(model.predict(X[y != 2]), alone.predict(X[y != 2]))
    with th.config(max_time=1e-9), pytest.warns(ConvergenceWarning, match="max_time"):
        late = th.SVC(tol=1e-12, C=1e6).fit(*problem(k=16, n=3200))
    assert late.n_iter_.max() < 10_000
