"""Kernels that the user gives as a function or a matrix, and that are no kernels."""

import numpy as np
import pytest

import thetahat as th
from thetahat.errors import DataError, MemoryBudgetError, ParameterError


def rows():
    X = np.random.default_rng(0).standard_normal((30, 2))
    return X, (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda K: K[:, :20], "must be square"),
        (lambda K: np.triu(K), "must be symmetric"),
        (lambda K: K + 0.1 * np.eye(30, k=1), "must be symmetric"),
    ],
)
def test_every_loss_refuses_matrices_that_are_not_symmetric(loss, change, message):
    X, y = rows()
    K = change(X @ X.T)
    with pytest.raises(DataError, match=message):
        th.KernelModel(loss, kernel="precomputed").fit(K, y)


@pytest.mark.parametrize(
    "model",
    [
        th.KernelRidge(),
        th.KernelPCA(2),
        th.KernelModel(),
        th.KernelModel("hinge"),
        th.SVC(),
        th.KernelPerceptron(),
        th.GaussianProcessRegressor(),
    ],
)
def test_functions_that_are_not_symmetric_are_refused(model):
    X, y = rows()
    skew = th.kernels.FromFunction(lambda A, B: A @ B.T + A[:, :1])
    with pytest.raises(DataError, match=r"must be symmetric, but it is .* the other way"):
        model.set_params(kernel=skew).fit(X, y)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda A, B: np.ma.masked_less(A @ B.T, 0.0),
        lambda A, B: np.zeros((len(A), len(B)), dtype="M8[s]"),
        lambda A, B: np.full((len(A), len(B)), 10**400, dtype=object),
    ],
)
def test_values_that_are_no_real_numbers_are_refused(wrong):
    X, y = rows()
    with pytest.raises(DataError, match="must return numbers"):
        th.KernelRidge(kernel=th.kernels.FromFunction(wrong)).fit(X, y)


@pytest.mark.parametrize(
    "model", [th.GaussianProcessRegressor(), th.GaussianProcessClassifier()], ids=["r", "c"]
)
def test_gaussian_processes_refuse_matrices_and_optima_that_are_none(model):
    X, y = rows()
    with pytest.raises(ParameterError, match="kernel=Precomputed\\(\\) is not supported"):
        model.set_params(kernel=th.kernels.Precomputed()).fit(X @ X.T, y)
    model.set_params(kernel=th.kernels.RBF())
    for wrong, message in (
        (None, "must return the logarithms"),
        (np.zeros(1), "must return the logarithms"),
        ((np.zeros(2), 0.0), "must return 1 finite numbers"),
        (([np.nan], 0.0), "must return 1 finite numbers"),
        (([1j], 0.0), "must return numbers"),
        (([0.0], None), "must return numbers"),
    ):
        given = wrong
        model.set_params(optimizer=lambda objective, start, bounds, given=given: given)
        with pytest.raises(ParameterError, match=message):
            model.fit(X, y)


def test_the_eigenvectors_of_several_penalties_are_counted():
    X = np.random.default_rng(0).standard_normal((400, 2))
    model = th.KernelRidge(alpha=[1.0, 2.0], kernel="rbf")
    Y = np.column_stack([X[:, 0], X[:, 1]])
    with (
        th.config(memory=2 * 8 * 400 * 400),
        pytest.raises(MemoryBudgetError, match="2 more of this size needs"),
    ):
        model.fit(X, Y)
