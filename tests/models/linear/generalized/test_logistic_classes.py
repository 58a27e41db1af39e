"""Logistic regression of several classes: the softmax and its reference form."""

import numpy as np
import pytest

import thetahat as th
from tests.models.linear.generalized.logistic_data import (
    DESIGN,
    THREE,
    TWO,
    N,
    X,
    assert_same_bits_for_any_number_of_threads,
    fit,
    one_hot,
    risk_of,
)


def test_two_classes_of_the_softmax_are_the_binary_model():
    """p = softmax(z₁, z₂) = σ(z₂ − z₁); and w₂ = −w₁ where the penalty is shared evenly."""
    risk = risk_of(th.losses.SoftmaxCrossEntropy(), TWO, th.penalties.L2(1 / N), outputs=2)
    theta = th.minimise(risk, th.optimizers.Newton(), tolerance=1e-12).theta
    coef = risk.predictor.split(theta)[0]
    np.testing.assert_allclose(coef[:, 1], -coef[:, 0], atol=1e-8)
    # Two vectors ±β/2 cost half of one β, so C doubles.
    binary = fit(TWO, C=2.0)
    np.testing.assert_allclose(coef[:, 1] - coef[:, 0], binary.coef_[0], rtol=1e-6)


def test_gradient_of_the_cross_entropy():
    """∇_W = (1/N) Σ x_n(α_n − y_n)ᵀ."""
    random = np.random.default_rng(14)
    codes = np.unique(THREE, return_inverse=True)[1]
    risk = risk_of(th.losses.SoftmaxCrossEntropy(), codes, outputs=3)
    theta = random.standard_normal(15)
    alpha = np.exp(DESIGN @ theta.reshape(5, 3))
    alpha /= alpha.sum(axis=1, keepdims=True)
    value, gradient = risk.value_and_gradient(theta)
    assert value == pytest.approx(-np.mean(np.log(alpha[np.arange(N), codes])))
    expected = DESIGN.T @ (alpha - one_hot(codes)) / N
    np.testing.assert_allclose(gradient.reshape(5, 3), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("reference", ["a", "b", "c"])
def test_reference_class_form(reference):
    """p_j = e^{w_j·x}/(1 + Σ e^{w_i·x}), p_k = 1/(1 + …): unpenalised, the softmax itself."""
    model, softmax = fit(THREE, C=np.inf, reference=reference), fit(THREE, C=np.inf)
    at = model.classes_.tolist().index(reference)
    assert not model.coef_[at].any()
    assert model.intercept_[at] == 0
    np.testing.assert_allclose(model.predict_proba(X), softmax.predict_proba(X), atol=1e-8)
    np.testing.assert_allclose(model.coef_, softmax.coef_ - softmax.coef_[at], rtol=1e-5, atol=1e-8)
    grown = np.exp(np.delete(X @ model.coef_.T + model.intercept_, at, axis=1))
    rest = 1 + grown.sum(axis=1)
    np.testing.assert_allclose(model.predict_proba(X)[:, at], 1 / rest, rtol=1e-9)
    others = np.delete(model.predict_proba(X), at, axis=1)
    np.testing.assert_allclose(others, grown / rest[:, None], rtol=1e-9)


@pytest.mark.parametrize("l1_ratio", [0.0, 1.0])
def test_penalised_reference_form_counts_the_other_classes_only(l1_ratio):
    model = fit(THREE, C=0.1, reference="a", l1_ratio=l1_ratio)
    error = (model.predict_proba(X) - one_hot(THREE))[:, 1:]
    slope = 0.1 * (X.T @ error).T
    if l1_ratio:
        assert np.abs(slope).max() <= 1 + 1e-6
    else:
        np.testing.assert_allclose(slope, -model.coef_[1:], atol=1e-7)
    assert not model.coef_[0].any()


def test_the_softmax_without_a_free_constant():
    model = fit(THREE, C=np.inf)
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-12)
    assert model.intercept_.sum() == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    "seed", [7, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (4, 11))]
)
def test_many_columns_and_classes_take_few_steps(seed):
    """One curvature for all classes, or where that is too rough, the whole of some rows."""
    random = np.random.default_rng(seed)
    n, d = 4000, 130
    x = random.random((n, d)) * (random.random(d) < 0.9)
    x[:, 3] *= np.arange(n) % 1000 == 7  # in hardly any row
    y = np.argmax(x @ random.standard_normal((d, 5)) + random.gumbel(size=(n, 5)), axis=1)
    model = fit(y, x=x, tol=1e-6)
    assert model.solution_.solver == "sketched_newton"
    slope = x.T @ (model.predict_proba(x) - one_hot(y)) + model.coef_.T
    assert np.abs(slope).max() / n <= 1e-6
    assert_same_bits_for_any_number_of_threads(x, y)
    # Plain L-BFGS takes several times as many, and one curvature alone more than 100 for seed 7.
    assert model.n_iter_[0] < 40
