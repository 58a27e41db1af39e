"""Topics of a document: non-negative, sparse, and right."""

import numpy as np
import pytest
from scipy.optimize import nnls

import thetahat as th


@pytest.fixture(scope="module")
def topics(example):
    return example("topics")


def test_columns_and_the_document_are_histograms(topics):
    np.testing.assert_allclose(topics.X.sum(axis=0), 1)
    assert topics.y.sum() == pytest.approx(1)
    assert topics.X.min() >= 0


def test_both_methods_find_the_topics(topics):
    for weights in (topics.lasso, topics.pursuit):
        assert np.all(weights >= 0)
        assert np.array_equal(weights > 0, topics.truth > 0)
        assert np.abs(weights - topics.truth).max() < 0.1
    assert np.all(topics.ordinary != 0)
    assert topics.ordinary.min() < 0
    assert "The lasso finds 3 topics: football" in topics.printed


def test_the_lasso_is_optimal_under_its_constraint(topics):
    """Slope of the loss: −α for topics that are used, at least −α for the others."""
    slope = topics.X.T @ (topics.X @ topics.lasso - topics.y) / len(topics.y)
    used = topics.lasso > 0
    np.testing.assert_allclose(slope[used], -6e-5, rtol=1e-3)
    assert np.all(slope[~used] >= -6e-5)


def test_the_path_is_optimal_at_every_penalty(topics):
    """No weight is negative; the slope is −α for topics that are used, at least −α for others."""
    assert topics.path.min() >= 0
    for alpha, weights in zip(topics.alphas, topics.path.T, strict=True):
        slope = topics.X.T @ (topics.X @ weights - topics.y) / len(topics.y)
        used = weights > 0
        np.testing.assert_allclose(slope[used], -alpha, rtol=0.05)
        assert np.all(slope[~used] >= -1.05 * alpha)


def test_pursuit_is_least_squares_on_its_topics(topics):
    used = topics.pursuit > 0
    expected, _ = nnls(topics.X[:, used], topics.y)
    np.testing.assert_allclose(topics.pursuit[used], expected, rtol=1e-8)


def test_a_document_without_noise_gives_its_weights_back(topics):
    y = topics.X @ topics.truth
    model = th.OrthogonalMatchingPursuit(n_nonzero_coefs=3, positive=True, fit_intercept=False)
    np.testing.assert_allclose(model.fit(topics.X, y).coef_, topics.truth, atol=1e-10)
    lasso = th.Lasso(1e-9, positive=True, fit_intercept=False, tol=1e-12).fit(topics.X, y)
    np.testing.assert_allclose(lasso.coef_, topics.truth, atol=1e-4)
