"""Polynomial thresholds: the explicit twin of the kernel perceptron."""

import numpy as np
import pytest

import thetahat as th
from thetahat.errors import DataError, MemoryBudgetError


def rows(seed, n=150):
    X = np.random.default_rng(seed).standard_normal((n, 3))
    return X, np.where(X[:, 0] * X[:, 1] + 0.3 * X[:, 2] ** 2 > 0.2, "in", "out")


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("lower", [True, False])
def test_same_mistakes_and_predictions_as_the_kernel_perceptron(degree, lower):
    X, y = rows(0)
    explicit = th.PolynomialThreshold(degree, lower_degrees=lower, max_iter=5).fit(X, y)
    kernel = th.kernels.Polynomial(degree=degree, coef0=1 if lower else 0)
    implicit = th.KernelPerceptron(kernel, max_iter=5).fit(X, y)
    assert explicit.n_mistakes_ == implicit.n_mistakes_ > 0
    assert explicit.n_iter_ == implicit.n_iter_
    assert explicit.separated_ == implicit.separated_
    new = rows(1)[0]
    np.testing.assert_allclose(
        explicit.decision_function(new), implicit.decision_function(new), rtol=1e-9, atol=1e-9
    )


def test_one_pass_is_the_online_perceptron_on_all_products():
    X, y = rows(2)
    model = th.PolynomialThreshold(2, lower_degrees=False, max_iter=1).fit(X, y)
    pairs = (X[:, :, None] * X[:, None, :]).reshape(len(X), -1)
    online = th.online.OnlinePerceptron(bias=False).fit(pairs, y)
    assert model.n_mistakes_ == online.mistakes_
    np.testing.assert_allclose(model.weights_, online.weights_)


def test_mistakes_stay_below_the_bound_on_separated_rows():
    X = rows(3, 400)[0]
    features = (X[:, :, None] * X[:, None, :]).reshape(len(X), -1)
    normal = np.array([1.0, -2.0, 0.5, 0.0, 1.0, 0.0, 0.0, 0.3, -1.0])
    scores = features @ (normal / np.linalg.norm(normal))
    far = np.abs(scores) > 0.3
    model = th.PolynomialThreshold(2, lower_degrees=False, max_iter=1000)
    model.fit(X[far], scores[far] > 0)
    radius = np.linalg.norm(features[far], axis=1).max()
    assert model.separated_
    assert model.n_mistakes_ <= (radius / np.abs(scores[far]).min()) ** 2


def test_refusals():
    X, y = rows(4)
    with pytest.raises(DataError, match="Rescale"):
        th.PolynomialThreshold(3).fit(X * 1e60, y)
    with pytest.raises(DataError, match="3 classes"):
        th.PolynomialThreshold().fit(X, np.arange(150) % 3)
    with th.config(memory=2000), pytest.raises(MemoryBudgetError, match="KernelPerceptron"):
        th.PolynomialThreshold(4).fit(X, y)


def test_scores_that_overflow_float32_are_refused():
    X, y = rows(5)
    single = X.astype(np.float32)
    with pytest.raises(DataError, match="float32 rows must not exceed"):
        th.PolynomialThreshold().fit(single * np.float32(1e30), y)
    model = th.PolynomialThreshold().fit(single, y)
    with pytest.raises(DataError, match="overflows float32"):
        model.predict(single * np.float32(1e30))
