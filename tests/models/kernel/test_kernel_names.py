"""Kernels by the names of scikit-learn, its kernel objects, and matrices that are given."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import kernel_ridge
from sklearn.gaussian_process import kernels as theirs
from sklearn.metrics.pairwise import pairwise_kernels

import thetahat as th
from thetahat.errors import DataError, ParameterError
from thetahat.models.kernel.parameters import kernel_of

RANDOM = np.random.default_rng(2)
X = np.abs(RANDOM.standard_normal((40, 3)))
Y = np.sin(X[:, 0]) + X[:, 1]
NEW = np.abs(RANDOM.standard_normal((6, 3)))
NAMES = (
    "additive_chi2 chi2 cosine laplacian linear poly polynomial rbf sigmoid".split()
)  # all of scikit-learn


@pytest.mark.parametrize("name", NAMES)
def test_names_are_those_of_scikit_learn(name):
    kernel = kernel_of(name, 3, 0.4, 2, 0.7)
    params = {"gamma": 0.4, "degree": 2, "coef0": 0.7}
    wanted = pairwise_kernels(NEW, X, metric=name, filter_params=True, **params)
    np.testing.assert_allclose(kernel(NEW, X), wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "additive_chi2"])
def test_kernel_ridge_takes_all_kernels_by_name(name):
    params = {"alpha": 5.0, "kernel": name, "gamma": 0.1, "coef0": 0.5}
    found = th.KernelRidge(**params).fit(X, Y).predict(NEW)
    wanted = kernel_ridge.KernelRidge(**params).fit(X, Y).predict(NEW)
    np.testing.assert_allclose(found, wanted, rtol=1e-7)


@pytest.mark.parametrize("make", [th.KernelPCA, th.Nystroem, th.KernelModel, th.KernelPerceptron])
@pytest.mark.parametrize("name", ["chi2", "cosine", "laplacian", "poly"])
def test_estimators_take_kernels_by_name(make, name):
    params = {"n_components": 3} if make in (th.KernelPCA, th.Nystroem) else {}
    model = make(kernel=name, **params)
    labels = (Y > np.median(Y)).astype(int) if make is th.KernelPerceptron else Y
    model.fit(X, labels)
    answer = model.transform if hasattr(model, "transform") else model.predict
    assert np.isfinite(answer(NEW)).all()


def test_kernels_of_scikit_learns_gaussian_processes_are_converted():
    kernel = theirs.ConstantKernel(2.0) * theirs.Matern([1.0, 2.0, 3.0], nu=2.5) + theirs.RBF(0.5)
    found = th.kernels.named(kernel)
    assert isinstance(found, th.kernels.Sum)
    np.testing.assert_allclose(found(NEW, X), kernel(NEW, X), rtol=1e-10)
    np.testing.assert_allclose(found.theta, kernel.theta)
    np.testing.assert_allclose(found.bounds, kernel.bounds)
    params = {"alpha": 0.5, "kernel": kernel}
    wanted = kernel_ridge.KernelRidge(**params).fit(X, Y).predict(NEW)
    np.testing.assert_allclose(th.KernelRidge(**params).fit(X, Y).predict(NEW), wanted, rtol=1e-8)


@pytest.mark.parametrize(
    "model",
    [
        th.KernelRidge(kernel="precomputed"),
        th.KernelRidgeCV(kernel="precomputed"),
        th.KernelModel(kernel="precomputed"),
        th.KernelLogisticRegression(kernel="precomputed"),
        th.KernelPerceptron(kernel="precomputed"),
        th.KernelDiscriminantAnalysis(kernel="precomputed"),
        th.KernelPCA(3, kernel="precomputed"),
        th.Nystroem(kernel="precomputed", n_components=10, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_sparse_precomputed_matrices_are_like_dense_ones(model):
    kernel = th.kernels.Wendland(0.8)
    K, new = kernel(X), kernel(NEW, X)
    labels = (Y > np.median(Y)).astype(int)

    def answers(matrix, queries):
        model.fit(matrix, labels)
        return (model.transform if hasattr(model, "transform") else model.predict)(queries)

    np.testing.assert_allclose(
        answers(sp.csr_array(K), sp.csr_array(new)), answers(K, new), rtol=1e-8, atol=1e-10
    )


def test_sparse_precomputed_matrices_are_checked():
    K = sp.csr_array(sp.eye_array(40).tolil())
    model = th.KernelRidge(kernel="precomputed")
    with pytest.raises(DataError, match="must be square"):
        model.fit(K[:, :30], Y)
    K = K.tolil()
    K[3, 7] = 0.5
    with pytest.raises(DataError, match="must be symmetric"):
        model.fit(sp.csr_array(K), Y)


@pytest.mark.parametrize("degree", [0, 2.5])
@pytest.mark.parametrize("make", [th.KernelRidge, th.KernelPCA, th.KernelPerceptron])
def test_degrees_that_are_no_whole_numbers_are_refused(make, degree):
    with pytest.raises(ParameterError, match="must be a whole number ≥ 1"):
        make(kernel="poly", degree=degree).fit(X, (Y > 1).astype(int))


def test_degree_among_the_arguments_is_checked():
    with pytest.raises(ParameterError, match="must be a whole number ≥ 1"):
        th.Nystroem("poly", kernel_params={"degree": np.inf}, n_components=5).fit(X)
