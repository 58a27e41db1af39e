"""Synthetic rows from every generative model of the catalog, and from scikit-learn's."""

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity as TheirKernelDensity

import thetahat as th
from thetahat.catalog import estimators
from thetahat.errors import CapabilityError, ParameterError
from thetahat.estimator.density import Novelty

GENERATIVE = [name for name, kind in estimators().items() if issubclass(kind, Novelty)]


def rows(seed=0):
    """Counts, so that models of counts and of categories can be fitted as well."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, 200)
    shares = np.array([0.3, 0.6, 0.4]) + np.array([0.3, -0.3, 0.2]) * y[:, None]
    return random.binomial(8, shares).astype(float), y


@pytest.mark.parametrize("name", GENERATIVE)
def test_every_generative_model_draws_rows(name):
    X, y = rows()
    model = estimators()[name]._example().fit(X, y)
    drawn = th.resampling.synthetic_rows(model, 500, random_state=0)
    again = model.sample(500, random_state=0)
    if isinstance(drawn, tuple) and not is_classifier(model):  # rows and their components
        np.testing.assert_array_equal(drawn[1], again[1])
        drawn, again = drawn[0], again[0]
    if is_classifier(model):
        drawn, labels = drawn
        np.testing.assert_array_equal(labels, again[1])
        again = again[0]
        assert set(labels) == {0, 1}
        assert (model.predict(drawn) == labels).mean() > 0.6
    np.testing.assert_array_equal(drawn, again)
    assert drawn.shape == (500, 3)
    assert np.isfinite(drawn).all()
    assert np.isfinite(model.log_density(drawn)).mean() > 0.99
    with pytest.raises(ParameterError, match="n_samples"):
        model.sample(0)


def test_rows_of_densities_resemble_the_training_rows():
    X, _ = rows()
    for name in GENERATIVE:
        model = estimators()[name]._example()
        if not is_classifier(model):
            drawn = th.resampling.synthetic_rows(model.fit(X), 2000, random_state=1)
            drawn = drawn[0] if isinstance(drawn, tuple) else drawn
            np.testing.assert_allclose(drawn.mean(axis=0), X.mean(axis=0), atol=0.8)


@pytest.mark.parametrize("model", [TheirKernelDensity(), GaussianMixture(2, random_state=3)])
def test_models_of_scikit_learn(model):
    model.fit(rows()[0])
    first, again = (th.resampling.synthetic_rows(model, 20, random_state=5) for _ in range(2))
    np.testing.assert_array_equal(*(each[0] if isinstance(each, tuple) else each
                                    for each in (first, again)))  # fmt: skip
    random = np.random.default_rng(0)
    other = th.resampling.synthetic_rows(model, 20, random_state=random)
    assert len(other[0] if isinstance(other, tuple) else other) == 20


def test_models_without_samples_are_refused():
    with pytest.raises(CapabilityError, match="no method sample"):
        th.resampling.synthetic_rows(th.Ridge().fit(*rows()))


def test_memory_is_checked_for_models_of_other_libraries():
    model = GaussianMixture(random_state=0).fit(rows()[0])
    with pytest.raises(th.errors.MemoryBudgetError, match=r"synthetic_rows: drawing 10{12} rows"):
        th.resampling.synthetic_rows(model, 10**12)
