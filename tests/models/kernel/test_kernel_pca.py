"""Kernel PCA and random features: principal components, centring of new rows, scikit-learn."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.decomposition import KernelPCA as Peer
from sklearn.exceptions import NotFittedError

import thetahat as th
from thetahat.errors import CapabilityError, DataError

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((80, 4)) @ np.diag([3.0, 2.0, 1.0, 0.5])
NEW = RANDOM.standard_normal((9, 4))
RBF = th.kernels.RBF(sigma=2.0)


def aligned(found, expected):
    """The columns with the signs of others."""
    return found * np.sign((found * expected).sum(axis=0))


def test_linear_kernel_gives_the_principal_components():
    pca = PCA(3).fit(X)
    model = th.KernelPCA(3).fit(X)
    for rows in (X, NEW):
        expected = pca.transform(rows)
        np.testing.assert_allclose(aligned(model.transform(rows), expected), expected, atol=1e-9)
    np.testing.assert_allclose(model.eigenvalues_, pca.singular_values_**2, rtol=1e-10)
    assert th.KernelPCA().fit(X).eigenvalues_.shape == (4,)


def test_new_rows_are_centred_and_normalised():
    """zⱼ(x) = Σᵢ vⱼᵢ κ̃ᵢ(x)/√λⱼ with κ̃ centred over the training rows."""
    model = th.KernelPCA(5, kernel=RBF).fit(X)
    centred = th.kernels.Centred(RBF, X)(NEW, X)
    expected = centred @ model.eigenvectors_ / np.sqrt(model.eigenvalues_)
    np.testing.assert_allclose(model.transform(NEW), expected, atol=1e-10)
    scores = model.transform(X)
    np.testing.assert_allclose(scores, model.eigenvectors_ * np.sqrt(model.eigenvalues_), atol=1e-8)
    np.testing.assert_allclose(scores.T @ scores, np.diag(model.eigenvalues_), atol=1e-8)


def test_components_of_features():
    """The kernel of given features gives the principal components of these features."""

    def features(rows):
        return np.hstack([rows, rows[:, :1] * rows[:, 1:2]])

    expected = PCA(2).fit(features(X)).transform(features(NEW))
    model = th.KernelPCA(2, kernel=th.kernels.FeatureMap(features)).fit(X)
    np.testing.assert_allclose(aligned(model.transform(NEW), expected), expected, atol=1e-9)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "cosine"])
def test_components_are_scikit_learns(kernel):
    options = {"n_components": 3, "kernel": kernel, "gamma": 0.1, "fit_inverse_transform": True}
    ours, peer = th.KernelPCA(**options).fit(X), Peer(**options).fit(X)
    np.testing.assert_allclose(ours.eigenvalues_, peer.eigenvalues_, rtol=1e-8)
    expected = peer.transform(NEW)
    np.testing.assert_allclose(aligned(ours.transform(NEW), expected), expected, atol=1e-8)
    back = ours.inverse_transform(ours.transform(NEW))
    np.testing.assert_allclose(back, peer.inverse_transform(expected), atol=1e-7)


def test_few_components_of_many_rows_by_iterations():
    rows = np.random.default_rng(2).standard_normal((900, 5))
    dense = th.KernelPCA(4, kernel=RBF, eigen_solver="dense").fit(rows)
    auto = th.KernelPCA(4, kernel=RBF).fit(rows)
    np.testing.assert_allclose(auto.eigenvalues_, dense.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(
        auto.transform(NEW @ np.ones((4, 5))), dense.transform(NEW @ np.ones((4, 5))), atol=1e-7
    )


def test_components_without_variance():
    rows = np.repeat(X[:3], 4, axis=0)
    assert th.KernelPCA(kernel=RBF).fit(rows).eigenvalues_.shape == (2,)
    padded = th.KernelPCA(4, kernel=RBF).fit_transform(rows)
    np.testing.assert_array_equal(padded[:, 2:], 0.0)
    assert th.KernelPCA(4, kernel=RBF, remove_zero_eig=True).fit_transform(rows).shape == (12, 2)


def test_rows_that_change_after_the_fit_do_not_change_the_model():
    rows = X.copy()
    model = th.KernelPCA(2, kernel=RBF).fit(rows)
    before = model.transform(NEW)
    rows[:] = 0.0
    np.testing.assert_array_equal(model.transform(NEW), before)


def test_precomputed_matrix():
    model = th.KernelPCA(2, kernel="precomputed").fit(RBF(X))
    rows = th.KernelPCA(2, kernel=RBF).fit(X)
    np.testing.assert_allclose(model.transform(RBF(NEW, X)), rows.transform(NEW), atol=1e-10)
    with pytest.raises(CapabilityError, match="precomputed"):
        th.KernelPCA(2, kernel="precomputed", fit_inverse_transform=True).fit(RBF(X))


def test_wrong_input_is_refused():
    model = th.KernelPCA(2).fit(X)
    with pytest.raises(NotFittedError, match="fit_inverse_transform=True"):
        model.inverse_transform(X[:, :2])
    wrong = th.kernels.FromFunction(lambda a, b: -(a @ b.T))
    with pytest.raises(DataError, match="not positive semi-definite"):
        th.KernelPCA(kernel=wrong).fit(X)


def test_random_features_approximate_the_gaussian_kernel():
    rows = X / 3
    errors = []
    for m in (100, 10_000):
        features = th.RBFSampler(gamma=0.5, n_components=m, random_state=0).fit_transform(rows)
        errors.append(np.abs(features @ features.T - th.kernels.RBF(gamma=0.5)(rows)).max())
    assert errors[1] < 0.05 < errors[0]
    scale = th.RBFSampler(gamma="scale", n_components=4000, random_state=0).fit_transform(rows)
    expected = th.kernels.RBF(gamma=1 / (4 * rows.var()))(rows)
    assert np.abs(scale @ scale.T - expected).max() < 0.1


def test_kernel_matrices_near_the_identity_have_components():
    rows = (np.random.default_rng(0).normal(size=(80, 3)) * 100).astype("i8")
    model = th.KernelPCA(2, kernel="rbf").fit(rows)
    assert model.transform(rows).shape == (80, 2)
    assert np.isfinite(model.transform(rows)).all()


@pytest.mark.parametrize("shift", [2.0**20, 2.0**30])
def test_the_origin_of_the_rows_has_no_influence_on_the_linear_kernel(shift):
    random = np.random.default_rng(0)
    rows = np.round(random.standard_normal((80, 4)) * 2**16) / 2**16  # exact, also when moved
    new = np.round(random.standard_normal((9, 4)) * 2**16) / 2**16
    near, far = th.KernelPCA(3).fit(rows), th.KernelPCA(3).fit(rows + shift)
    np.testing.assert_allclose(far.eigenvalues_, near.eigenvalues_, rtol=1e-11)
    np.testing.assert_allclose(far.transform(new + shift), near.transform(new), atol=1e-11)
    np.testing.assert_array_equal(far.X_fit_, rows + shift)
    peer = PCA(3).fit(rows)
    np.testing.assert_allclose(far.eigenvalues_, peer.explained_variance_ * 79, rtol=1e-10)
