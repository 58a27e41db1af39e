"""Gradient ascent and sampled labels beside expectation-maximisation."""

import numpy as np
import pytest

import thetahat as th
from tests.models.mixture.test_gaussian_mixture import heaps
from thetahat.data.validation import as_source
from thetahat.models.mixture.components import KINDS
from thetahat.models.mixture.gradient_ascent import MixtureLikelihood
from thetahat.models.mixture.sampled_labels import _sampled_block


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_gradient_equals_finite_differences(kind, d):
    X = heaps(n=80, d=d, seed=1, apart=1.0)
    weight = np.linspace(0.5, 1.5, 80)
    labels = np.where(np.arange(80) < 9, 1, -1)
    model = th.GaussianMixture(3, covariance_type=kind, random_state=0).fit(X)
    source = as_source(X, None, weight, who="test")
    problem = MixtureLikelihood(source, model._components(), labels, reg_covar=0.3)
    theta = problem.start()
    theta += 0.1 * np.random.default_rng(2).standard_normal(len(theta))
    _, gradient = problem.value_and_gradient(theta)
    steps = 1e-5 * np.eye(len(theta))
    expected = [(problem.value(theta + h) - problem.value(theta - h)) / 2e-5 for h in steps]
    np.testing.assert_allclose(gradient, expected, atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_gradient_ascent_reaches_the_maximum_of_em(kind):
    X = heaps(seed=0, apart=1.5)
    params = dict(covariance_type=kind, reg_covar=0.0, random_state=0, max_iter=2000)
    em = th.GaussianMixture(3, tol=1e-11, **params).fit(X)
    ascent = th.GaussianMixture(3, method="gradient", tol=1e-7, **params).fit(X)
    assert ascent.converged_
    assert ascent.score(X) == pytest.approx(em.score(X), abs=1e-8)
    assert ascent.lower_bound_ == pytest.approx(ascent.score(X), abs=1e-12)
    np.testing.assert_allclose(ascent.means_, em.means_, atol=1e-3)
    assert ascent.lower_bounds_[-1] > ascent.lower_bounds_[0]


@pytest.mark.parametrize("kind", KINDS)
def test_sampled_labels_move_around_the_maximum(kind):
    X = heaps(n=2000, seed=0, apart=2.0)
    params = dict(covariance_type=kind, random_state=0, max_iter=60)
    em = th.GaussianMixture(3, tol=1e-9, **params | {"max_iter": 2000}).fit(X)
    sampled = th.GaussianMixture(3, method="sampled", **params).fit(X)
    assert sampled.n_iter_ == 60
    assert sampled.lower_bound_ == sampled.lower_bounds_.max()
    assert sampled.lower_bound_ == pytest.approx(sampled.score(X), abs=1e-12)
    assert sampled.score(X) == pytest.approx(em.score(X), abs=0.01)
    assert np.diff(sampled.lower_bounds_).min() < 0  # unlike EM
    again = th.GaussianMixture(3, method="sampled", **params).fit(X)
    np.testing.assert_array_equal(again.means_, sampled.means_)


@pytest.mark.parametrize("method", ["gradient", "sampled"])
def test_methods_respect_known_labels(method):
    X = heaps(n=400, seed=11, apart=3.0)
    names = (th.GaussianMixture(3, random_state=0).fit(X).predict(X) + 1) % 3
    labels = np.where(np.arange(len(X)) % 20 == 0, names, -1)
    model = th.GaussianMixture(3, method=method, random_state=0).fit(X, labels=labels)
    assert (model.predict(X) == names).mean() > 0.95


def test_known_labels_are_not_drawn():
    rng = np.random.default_rng(3)
    X, labels = rng.standard_normal((200, 2)), rng.integers(0, 2, 200)
    labels[0] = -1
    terms = th.GaussianMixture(2, random_state=0).fit(X)._terms()
    sums = as_source(X, None, None, who="test").reduce(_sampled_block, terms, labels, (0, 1))
    assert sums.count.sum() == 200
    assert sums.count[1] - (labels == 1).sum() in (0, 1)
