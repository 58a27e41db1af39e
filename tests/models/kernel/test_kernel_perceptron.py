"""The kernel perceptron: the mistakes of the explicit perceptron, and the mistake bound."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from thetahat.errors import DataError

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((200, 3))
SQUARE = th.kernels.Polynomial(degree=2, coef0=0)


def test_same_mistakes_and_predictions_as_the_explicit_perceptron_of_degree_two():
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * X[:, 2] ** 2 > 0.2, 1, -1)
    pairs = (X[:, :, None] * X[:, None, :]).reshape(len(X), -1)
    explicit = th.online.OnlinePerceptron(bias=False).fit(pairs, y)
    model = th.KernelPerceptron(SQUARE, max_iter=1).fit(X, y)
    assert model.n_mistakes_ == explicit.mistakes_
    np.testing.assert_allclose(model.dual_coef_ @ pairs[model.support_], explicit.weights_)
    new = np.random.default_rng(2).standard_normal((500, 3))
    expanded = (new[:, :, None] * new[:, None, :]).reshape(len(new), -1)
    np.testing.assert_array_equal(model.predict(new), explicit.predict(expanded))


def test_mistakes_stay_below_the_bound_on_separated_rows():
    normal = np.array([1.0, -2.0, 0.5, 0.0, 1.0, 0.0, 0.0, 0.3, -1.0])
    normal /= np.linalg.norm(normal)
    features = (X[:, :, None] * X[:, None, :]).reshape(len(X), -1)
    scores = features @ normal
    far = np.abs(scores) > 0.3
    model = th.KernelPerceptron(SQUARE, max_iter=1000).fit(X[far], scores[far] > 0)
    radius, margin = np.sqrt(SQUARE.diagonal(X[far]).max()), np.abs(scores[far]).min()
    assert model.separated_
    assert model.score(X[far], scores[far] > 0) == 1.0
    assert model.n_mistakes_ <= (radius / margin) ** 2


def test_precomputed_matrix_and_passes():
    y = np.where(np.linalg.norm(X, axis=1) > 1.5, "far", "near")
    rows = th.KernelPerceptron(gamma=0.5, max_iter=500).fit(X, y)
    matrix = th.KernelPerceptron("precomputed", max_iter=500)
    kernel = th.kernels.RBF(gamma=0.5)
    matrix.fit(kernel(X), y)
    np.testing.assert_array_equal(rows.support_, matrix.support_)
    np.testing.assert_array_equal(rows.predict(X), matrix.predict(kernel(X)))
    assert rows.separated_
    assert rows.n_iter_ < 500
    assert not th.KernelPerceptron("linear", max_iter=3).fit(X, y).separated_


def test_more_than_two_classes_are_refused():
    with pytest.raises(DataError, match="3 classes"):
        th.KernelPerceptron().fit(X, np.arange(200) % 3)


@pytest.mark.parametrize("name", ["KernelPerceptron", "PolynomialThreshold"])
def test_a_time_limit_ends_the_passes(name):
    random = np.random.default_rng(0)
    X, y = np.repeat(random.standard_normal((30, 3)), 2, axis=0), np.tile([0, 1], 30)
    model = getattr(th, name)(max_iter=10_000_000)
    with (
        th.config(max_time=0.05),
        pytest.warns(ConvergenceWarning, match=rf"{name}: out of time.*passes over the rows"),
    ):
        model.fit(X, y)
    assert 1 <= model.n_iter_ < 10_000_000
    assert not model.separated_
    assert model.predict(X).shape == (60,)


def test_a_time_limit_ends_the_perceptron_of_a_kernel_model():
    random = np.random.default_rng(0)
    X, y = np.repeat(random.standard_normal((30, 3)), 2, axis=0), np.tile([0, 1], 30)
    with th.config(max_time=0.05), pytest.warns(ConvergenceWarning, match="out of time"):
        model = th.KernelModel("perceptron", max_iter=10_000_000).fit(X, y)
    assert model.solution_.outcome is th.results.Outcome.OUT_OF_TIME
