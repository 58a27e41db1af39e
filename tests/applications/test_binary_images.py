"""Signs of 6 × 6 pixels: shares of black pixels, and Bayes' rule with their product."""

import numpy as np
import pytest

import thetahat as th


@pytest.fixture(scope="module")
def signs(example):
    return example("binary_images")


def test_probabilities_are_shares_of_black_pixels(signs):
    for name, probability in signs.probabilities.items():
        black = signs.X[signs.y == name]
        np.testing.assert_allclose(probability, (black.sum(axis=0) + 1) / (len(black) + 2))
        pixel = th.distributions.Bernoulli.fit(black[:, 14]).distribution.p
        assert pixel == pytest.approx(np.sum(black[:, 14] == 1) / len(black))


def test_posterior_is_prior_times_product_of_pixels(signs):
    x = signs.X_new[signs.doubtful]
    joint = {}
    for name, p in signs.probabilities.items():
        joint[name] = np.mean(signs.y == name) * np.prod(np.where(x == 1, p, 1 - p))
    total = sum(joint.values())
    expected = [joint[name] / total for name in signs.model.classes_]
    np.testing.assert_allclose(signs.posterior, expected, rtol=1e-9)
    assert signs.posterior.max() < 0.6


def test_nearly_as_good_as_the_rule_that_knows_the_signs(signs):
    differing = (signs.X_new[:, None, :] != signs.templates).sum(axis=2)
    best = np.array(list(signs.SIGNS))[differing.argmin(axis=1)]
    score = signs.model.score(signs.X_new, signs.y_new)
    assert score >= np.mean(best == signs.y_new) - 0.005
    assert f"recognised: {score:.3f}." in signs.printed


def test_the_pixels_of_a_constant_column_have_no_normal_density(signs):
    """Without smoothing, a pixel that is never black has variance 0 and probability 0."""
    clean = signs.templates.astype(float)
    X, y = np.repeat(clean, 5, axis=0), np.repeat(list(signs.SIGNS), 5)
    assert np.all(X[y == "plus"].var(axis=0) == 0)
    model = th.BernoulliNB().fit(X, y)
    assert np.all(np.isfinite(model.feature_log_prob_))
    assert model.score(X, y) == 1
