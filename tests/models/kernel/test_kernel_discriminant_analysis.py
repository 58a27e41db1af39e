"""Kernel discriminant analysis: LDA for the linear kernel, and relations under other kernels."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import thetahat as th
from thetahat.errors import DataError, ParameterError

IRIS, SPECIES = load_iris(return_X_y=True)
FEW = SPECIES < 2


@pytest.mark.parametrize("rows", [slice(None), FEW], ids=["three classes", "two classes"])
def test_linear_kernel_gives_linear_discriminant_analysis(rows):
    X, y = IRIS[rows], SPECIES[rows]
    model = th.KernelDiscriminantAnalysis("linear", alpha=0.0).fit(X, y)
    peer = LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-8)
    found, wanted = model.transform(X), peer.transform(X)
    signs = np.sign((found * wanted).sum(axis=0))
    np.testing.assert_allclose(found, signs * wanted, atol=1e-8)
    np.testing.assert_allclose(
        model.explained_variance_ratio_, peer.explained_variance_ratio_, rtol=1e-8
    )
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores, peer.decision_function(X), rtol=1e-6, atol=1e-6)
    eigen = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    np.testing.assert_array_equal(model.predict(X), eigen.predict(X))


def test_given_priors_are_used():
    priors = [0.1, 0.2, 0.7]
    model = th.KernelDiscriminantAnalysis("linear", alpha=0.0, priors=priors).fit(IRIS, SPECIES)
    peer = LinearDiscriminantAnalysis(priors=priors).fit(IRIS, SPECIES)
    np.testing.assert_allclose(model.predict_proba(IRIS), peer.predict_proba(IRIS), atol=1e-8)


def test_features_of_a_kernel_give_the_same_discriminants():
    """The quadratic kernel is the linear one of its written-out features."""
    X, y = IRIS[:, :2], SPECIES
    expansion = th.MonomialExpansion(2, form="kernel")
    by_kernel = th.KernelDiscriminantAnalysis(th.kernels.Polynomial(degree=2), alpha=0.01)
    by_features = th.KernelDiscriminantAnalysis("linear", alpha=0.01)
    features = expansion.fit_transform(X)
    left = by_kernel.fit(X, y).transform(X)
    right = by_features.fit(features, y).transform(features)
    np.testing.assert_allclose(np.abs(left), np.abs(right), rtol=1e-6, atol=1e-7)


def test_discriminants_are_stationary_points_of_the_ratio():
    """vᵀBv/vᵀΣv, computed from the values f(xᵢ) of a function and its norm, has no better one."""
    kernel, alpha = th.kernels.RBF(sigma=1.0), 0.1
    model = th.KernelDiscriminantAnalysis(kernel, alpha=alpha).fit(IRIS, SPECIES)
    K = kernel(IRIS)
    n, count = len(IRIS), 3

    def ratio(c):
        f = K @ c
        means = np.array([f[SPECIES == k].mean() for k in range(count)])
        between = ((means - means.mean()) ** 2).mean()
        within = ((f - means[SPECIES]) ** 2).mean() + alpha * c @ f
        return between / within

    c = np.zeros(n)
    where = [np.flatnonzero((IRIS == row).all(axis=1))[0] for row in model.X_fit_]
    c[where] = model.dual_coef_[:, 0]
    best = ratio(c)
    random = np.random.default_rng(0)
    scale = np.abs(c).mean()
    for size in (1e-3, 1e-1, 1.0):
        for _ in range(20):
            assert ratio(c + size * scale * random.standard_normal(n)) <= best + 1e-9


def test_weights_are_repetitions():
    weight = np.arange(len(IRIS)) % 3
    again = np.repeat(np.arange(len(IRIS)), weight)
    model = th.KernelDiscriminantAnalysis(gamma=0.2)
    weighted = model.fit(IRIS, SPECIES, sample_weight=weight).predict_proba(IRIS)
    repeated = model.fit(IRIS[again], SPECIES[again]).predict_proba(IRIS)
    np.testing.assert_allclose(weighted, repeated, atol=1e-6)


def test_rings_are_separated():
    angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    circle = np.c_[np.cos(angle), np.sin(angle)]
    X, y = np.vstack([circle, 3 * circle]), np.repeat(["inner", "outer"], 40)
    assert th.KernelDiscriminantAnalysis().fit(X, y).score(X, y) == 1.0
    assert th.KernelDiscriminantAnalysis("linear").fit(X, y).score(X, y) < 0.7


def test_one_discriminant_of_two():
    model = th.KernelDiscriminantAnalysis(n_components=1).fit(IRIS, SPECIES)
    both = th.KernelDiscriminantAnalysis().fit(IRIS, SPECIES)
    np.testing.assert_array_equal(model.transform(IRIS), both.transform(IRIS)[:, :1])
    np.testing.assert_array_equal(model.predict_proba(IRIS), both.predict_proba(IRIS))


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"n_components": 3}, "at most 2"),
        ({"priors": [0.5, 0.5]}, "3 numbers"),
        ({"alpha": -1.0}, "alpha"),
    ],
)
def test_wrong_parameters_are_refused(params, words):
    with pytest.raises(ParameterError, match=words):
        th.KernelDiscriminantAnalysis(**params).fit(IRIS, SPECIES)


def test_as_many_classes_as_rows_are_refused():
    with pytest.raises(DataError, match="must be more than the number of classes"):
        th.KernelDiscriminantAnalysis().fit(IRIS[:3], [0, 1, 2])
