"""The rules by which rows become centres: what they draw, and which rows they find."""

import numpy as np
import pytest

import thetahat as th
from thetahat.objective.kernel.centres import RULES, _leverage, choose_centres

RBF = th.kernels.RBF(sigma=1.0)


def rows(n, seed=0):
    return np.random.default_rng(seed).standard_normal((n, 3))


def draw(X, m, rule, seed=0, kernel=RBF, weight=None):
    used = np.arange(X.shape[0]) if weight is None else np.flatnonzero(weight > 0)
    return choose_centres(kernel, X, used, weight, m, rule, np.random.default_rng(seed))


@pytest.mark.parametrize("rule", RULES)
def test_centres_are_different_rows_of_positive_weight_in_order(rule):
    X, weight = rows(600), np.arange(600) % 3.0
    found = draw(X, 20, rule, weight=weight)
    assert len(found) == 20
    assert (np.diff(found) > 0).all()
    assert (weight[found] > 0).all()
    np.testing.assert_array_equal(found, draw(X, 20, rule, weight=weight))
    np.testing.assert_array_equal(found, draw(X, 20, rule, weight=1000 * weight))
    assert not np.array_equal(found, draw(X, 20, rule, seed=1, weight=weight))
    np.testing.assert_array_equal(draw(X[:5], 9, rule), np.arange(5))


@pytest.mark.parametrize("rule", ["kmeans++", "leverage"])
def test_a_small_group_far_from_the_others_is_found(rule):
    X = 0.3 * rows(4000)
    X[-16:] += 10.0
    finds = {name: [draw(X, 40, name, seed)[-1] >= 3984 for seed in range(10)] for name in RULES}
    assert sum(finds[rule]) >= 7
    assert sum(finds["uniform"]) <= 4


@pytest.mark.parametrize("rule", ["kmeans++", "leverage"])
def test_precomputed_and_sparse_rows_have_the_same_centres(rule):
    import scipy.sparse

    X = rows(80)
    expected = draw(X, 12, rule)
    given = draw(RBF(X), 12, rule, kernel=th.kernels.Precomputed())
    np.testing.assert_array_equal(given, expected)
    np.testing.assert_array_equal(draw(scipy.sparse.csr_array(X), 12, rule), expected)


def test_equal_rows_are_one_centre_of_kmeans():
    X = np.repeat(rows(3), 20, axis=0)
    assert len(draw(X, 10, "kmeans++")) == 3


def test_scores_of_all_rows_are_ridge_leverage_scores():
    X = rows(50)
    K = RBF(X)
    scores = _leverage(RBF, X, np.arange(50), 50, np.random.default_rng(0))
    np.testing.assert_allclose(scores, np.diag(K @ np.linalg.inv(K + np.eye(50))), atol=1e-12)


def test_features_from_drawn_centres_reach_the_small_group():
    X = 0.3 * rows(4000)
    X[-16:] += 10.0
    left = {}
    for rule in RULES:
        phi = th.Nystroem(RBF, n_components=40, centers=rule, random_state=2).fit(X)
        left[rule] = float(np.mean(1.0 - (phi.transform(X[-16:]) ** 2).sum(axis=1)))
    assert left["uniform"] > 0.9
    assert max(left["kmeans++"], left["leverage"]) < 0.7
