"""Memory is estimated before it is taken: the peak of a fit is at most 1.2 times the estimate."""

import tracemalloc

import numpy as np
import pytest

import thetahat as th
from thetahat.errors import MemoryBudgetError

SMOOTH = th.kernels.RBF() + th.kernels.White()
CASES = {
    "squared": (th.KernelModel(), "numbers", 1800),
    "ridge": (th.KernelRidge(kernel="rbf"), "numbers", 1800),
    "perceptron": (th.KernelPerceptron(max_iter=2), "classes", 1800),
    "logistic": (th.KernelModel("logistic"), "classes", 700),
    "hinge": (
        th.KernelModel("hinge", tol=1e-2, solver="dual_coordinate_descent"),
        "classes",
        500,
    ),
    "quantile": (
        th.KernelModel("quantile", tol=1e-2, solver="dual_coordinate_descent"),
        "numbers",
        500,
    ),
    "discriminants": (th.KernelDiscriminantAnalysis(), "classes", 700),
    "few centres": (th.KernelModel("logistic", n_components=300, tol=1e-2), "classes", 8000),
    "many classes": (th.KernelLogisticRegression(tol=1e-3), "classes", 700),
    "left out": (th.KernelRidgeCV(kernel="rbf"), "numbers", 700),
    "components": (th.KernelPCA(kernel="rbf"), None, 700),
    "graph": (th.LaplacianSVM(), "few classes", 700),
    "transductive": (th.TransductiveSVM("logistic", n_stages=1), "few classes", 700),
    "nearly singular": (th.KernelRidge(kernel="rbf", alpha=1e-10), "numbers", 1300),
    "several penalties": (th.KernelRidge(kernel="rbf", alpha=[0.1, 1.0]), "two numbers", 700),
    "few components": (th.KernelPCA(5, kernel="rbf"), None, 1800),
    "way back": (th.KernelPCA(5, kernel="rbf", fit_inverse_transform=True), None, 1800),
    "process": (th.GaussianProcessRegressor(SMOOTH, optimizer=None), "numbers", 1800),
    "its likelihood": (th.GaussianProcessRegressor(SMOOTH), "numbers", 900),
    "process of classes": (th.GaussianProcessClassifier(optimizer=None), "classes", 900),
    "landmarks": (th.Nystroem(n_components=600, random_state=0), None, 700),
}

WORK = 16 << 20
"""Bytes of the tiles that threads work on, whatever the number of rows; they matter if the tiles
are smaller than the matrix."""


def targets(kind, X):
    y = np.sin(X[:, 0])
    if kind is None or kind == "numbers":
        return None if kind is None else y
    if kind == "two numbers":
        return np.column_stack([y, X[:, 1]])
    labels = (y > 0).astype(int)
    return labels if kind == "classes" else np.where(np.arange(len(X)) < 60, labels, -1)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_peak_stays_within_the_estimate(name):
    model, kind, n = CASES[name]
    X = np.random.default_rng(0).standard_normal((n, 4))
    y = targets(kind, X)
    model.fit(X[:70], None if y is None else y[:70])  # loads what fits need
    tracemalloc.start()
    try:
        model.fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    budget = int((peak - (WORK if n > 1000 else 0)) / 1.2)
    with th.config(memory=budget), pytest.raises(MemoryBudgetError, match="needs") as refusal:
        model.fit(X, y)
    assert "Use fewer" in str(refusal.value)


@pytest.mark.parametrize("draw", [False, True], ids=["covariance", "samples"])
def test_the_covariance_of_predictions_is_estimated_too(draw):
    X = np.random.default_rng(0).standard_normal((700, 2))
    kernel = th.kernels.RBF() + th.kernels.White()
    model = th.GaussianProcessRegressor(kernel, optimizer=None).fit(X[:50], X[:50, 0])

    def joint():
        return model.sample_y(X) if draw else model.predict(X, return_cov=True)

    tracemalloc.start()
    try:
        joint()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    with th.config(memory=int(peak / 1.2)), pytest.raises(MemoryBudgetError, match="needs"):
        joint()


def test_the_solver_of_support_vectors_keeps_fewer_rows_where_memory_is_short():
    X = np.random.default_rng(0).standard_normal((600, 4))
    y = targets("classes", X)
    whole = th.KernelModel("hinge").fit(X, y)
    with th.config(memory=8 * 600 * 600 // 4):
        part = th.KernelModel("hinge").fit(X, y)
    np.testing.assert_allclose(part.raw_prediction(X), whole.raw_prediction(X), atol=1e-6)


def test_random_features_are_estimated_too():
    X = np.zeros((3, 500))
    with th.config(memory=1_000_000), pytest.raises(MemoryBudgetError, match="fewer components"):
        th.RBFSampler(n_components=1000).fit(X)
