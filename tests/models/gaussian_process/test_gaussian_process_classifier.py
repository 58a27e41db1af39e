"""Gaussian process classification: Laplace's approximation, its gradient and its probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import approx_fprime
from scipy.special import expit
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessClassifier as Oracle
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

import thetahat as th
from thetahat.objective.kernel.laplace import SHARES, SLOPES


def example(n=50, seed=0, k=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    score = X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, k) / k))


def fixed(**options):
    return th.GaussianProcessClassifier(
        4.0 * th.kernels.RBF(length_scale=(1.0, 2.0)), optimizer=None, **options
    )


def test_agrees_with_scikit_learn():
    X, y = example()
    new = example(30, seed=1)[0] * 2
    model = fixed().fit(X, y)
    kernel = ConstantKernel(4.0) * RBF([1.0, 2.0])
    oracle = Oracle(kernel, optimizer=None).fit(X, y)
    np.testing.assert_allclose(
        model.log_marginal_likelihood(), oracle.log_marginal_likelihood(), rtol=1e-10
    )
    for found, expected in zip(
        model.latent_mean_and_variance(new), oracle.latent_mean_and_variance(new), strict=True
    ):
        np.testing.assert_allclose(found, expected, atol=1e-9)
    # scikit-learn integrates with five terms, whose error is 10⁻⁴.
    np.testing.assert_allclose(model.predict_proba(new), oracle.predict_proba(new), atol=3e-4)


def test_the_mode_is_stationary():
    X, y = example()
    model = fixed().fit(X, y)
    f = model.kernel_.gram(X) @ model.alpha_
    np.testing.assert_allclose(model.alpha_, y - expit(f), atol=1e-6)


def test_probabilities_are_integrals_over_the_latent_function():
    X, y = example()
    model = fixed().fit(X, y)
    new = np.array([[0.3, -0.2], [2.5, 1.0], [-4.0, 0.0], [60.0, 60.0]])
    mean, variance = model.latent_mean_and_variance(new)

    def integral(m, s):
        return quad(lambda f: expit(f) * norm.pdf(f, m, s), m - 12 * s, m + 12 * s, epsabs=1e-12)[0]

    exact = [integral(m, s) for m, s in zip(mean, np.sqrt(variance), strict=True)]
    np.testing.assert_allclose(model.predict_proba(new)[:, 1], exact, atol=5e-9)
    np.testing.assert_allclose(model.predict_proba(new).sum(axis=1), 1.0)
    assert abs(exact[-1] - 0.5) < 1e-6  # far from all rows


def test_the_sigmoid_is_a_mixture_of_normal_distributions():
    z = np.linspace(-30, 30, 2001)
    mixture = norm.cdf(np.multiply.outer(z, SLOPES)) @ SHARES
    np.testing.assert_allclose(mixture, expit(z), atol=3e-9)


@pytest.mark.parametrize("theta", [[0.0, 0.0, 0.0], [1.5, -0.5, 0.7], [-1.0, 1.0, -1.0]])
def test_gradient_of_the_likelihood(theta):
    X, y = example()
    model = fixed().fit(X, y)
    value, slope = model.log_marginal_likelihood(theta, eval_gradient=True)
    assert value == pytest.approx(model.log_marginal_likelihood(theta), rel=1e-12)
    numeric = approx_fprime(np.array(theta), model.log_marginal_likelihood, 1e-6)
    np.testing.assert_allclose(slope, numeric, rtol=1e-3, atol=1e-4)


def test_hyperparameters_maximise_the_likelihood():
    X, y = example(80)
    kernel = th.kernels.Constant() * th.kernels.RBF(length_scale=1.0)
    model = th.GaussianProcessClassifier(kernel).fit(X, y)
    oracle = Oracle(ConstantKernel() * RBF()).fit(X, y)
    assert model.log_marginal_likelihood_value_ >= oracle.log_marginal_likelihood_value_ - 1e-5
    _, slope = model.log_marginal_likelihood(model.kernel_.theta, eval_gradient=True)
    assert np.abs(slope).max() < 1e-3


def test_several_classes_against_the_rest_and_in_pairs():
    X, y = example(90, k=3)
    labels = np.array(["low", "middle", "high"])[y]
    rest = fixed().fit(X, labels)
    shares = rest.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_array_equal(rest.predict(X), rest.classes_[shares.argmax(axis=1)])
    assert len(rest.estimators_) == 3
    assert rest.score(X, labels) > 0.7
    pairs = fixed(multi_class="one_vs_one").fit(X, labels)
    assert pairs.score(X, labels) > 0.7
    with pytest.raises(th.errors.CapabilityError, match="one_vs_rest"):
        pairs.predict_proba(X)
    with pytest.raises(th.errors.CapabilityError, match="binary classification"):
        rest.latent_mean_and_variance(X)


def test_separable_classes_and_large_variances_converge():
    X = np.linspace(-1, 1, 30)[:, None]
    model = th.GaussianProcessClassifier(1e6 * th.kernels.RBF(length_scale=0.5), optimizer=None)
    model.fit(X, X[:, 0] > 0)
    assert np.isfinite(model.predict_proba(X)).all()
    assert model.score(X, X[:, 0] > 0) == 1.0


def test_equal_rows_with_both_labels():
    model = fixed().fit(np.zeros((10, 2)), np.arange(10) % 2)
    np.testing.assert_allclose(model.predict_proba([[0.0, 0.0]]), 0.5, atol=1e-9)


def test_the_same_bits_for_any_number_of_threads():
    X, y = example(400)
    found = []
    for threads in (1, 2):
        with th.config(threads=threads):
            model = th.GaussianProcessClassifier(th.kernels.RBF(length_scale=1.0)).fit(X, y)
            found.append(model.predict_proba(X))
    np.testing.assert_array_equal(*found)


def test_models_can_be_saved(tmp_path):
    for k in (2, 3):
        X, y = example(k=k)
        model = fixed().fit(X, y)
        th.save(model, tmp_path / "m.theta")
        again = th.load(tmp_path / "m.theta")
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_an_interrupted_fit_keeps_no_half_of_two_models():
    X, y = example()
    model = fixed().fit(X, y)
    with pytest.raises(th.errors.DataError, match="one class"):
        model.fit(example(80)[0], np.zeros(80))
    np.testing.assert_array_equal(model.X_train_, X)
    assert model.predict_proba(X).shape == (50, 2)


def test_forged_arrays_are_refused():
    model = fixed().fit(*example())
    model.alpha_ = model.alpha_[:, None]
    with pytest.raises(th.errors.DataError, match="alpha_ has shape"):
        model._check_loaded()
