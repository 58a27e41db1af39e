"""Digits: eigenvectors, components of a kernel, and neurons that compare with templates."""

import numpy as np
import pytest
from sklearn import decomposition

import thetahat as th


@pytest.fixture(scope="module")
def digits(example):
    return example("digits_and_templates")


def test_directions_are_eigenvectors_of_the_covariance(digits):
    C = np.cov(digits.X[digits.y == 3], rowvar=False)
    for v, variance in zip(
        digits.threes.components_, digits.threes.explained_variance_, strict=True
    ):
        np.testing.assert_allclose(C @ v, variance * v, atol=1e-10)


def test_a_digit_is_the_mean_plus_weighted_eigenvectors(digits):
    left_out = list(digits.left_out.values())
    assert left_out == sorted(left_out, reverse=True)
    full = th.PCA().fit(digits.X)
    z = full.transform(digits.three)
    np.testing.assert_allclose(full.mean_ + z @ full.components_, digits.three, atol=1e-10)
    assert "With 20 eigenvectors the relative error of the three is 0.101." in digits.printed


def test_kernel_components_are_those_of_scikit_learn(digits):
    ours = th.KernelPCA(5, kernel=th.kernels.RBF(gamma=0.4)).fit(digits.X[:300])
    theirs = decomposition.KernelPCA(5, kernel="rbf", gamma=0.4).fit(digits.X[:300])
    new = digits.X_new[:50]
    np.testing.assert_allclose(
        np.abs(ours.transform(new)), np.abs(theirs.transform(new)), atol=1e-8
    )


def test_many_kernel_components_recognise_more_digits(digits):
    ordinary, kernel = digits.scores["PCA"], digits.scores["kernel PCA"]
    assert kernel[-1] > max(ordinary) + 0.02
    assert kernel[-1] > 0.98


def test_output_is_the_weighted_sum_of_neurons_that_fire(digits):
    """Σ wᵢ·1[vᵢᵀx ≥ v₀] with wᵢ = i."""
    for x, output in zip(digits.X_new[:40], digits.output, strict=False):
        expected = sum(
            i * (template @ x >= threshold)
            for i, (template, threshold) in enumerate(
                zip(digits.templates, digits.thresholds, strict=True)
            )
        )
        assert output == expected


def test_one_neuron_that_fires_is_usually_right(digits):
    assert digits.one.mean() > 0.8
    assert np.mean(digits.output[digits.one] == digits.y_new[digits.one]) > 0.97
    assert digits.fires[digits.shown].nonzero()[0].tolist() == [2]
