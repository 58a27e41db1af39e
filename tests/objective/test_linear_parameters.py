"""The linear predictor: its parameters are packed and split, its pullback is the transpose."""

import numpy as np
import pytest
import scipy.sparse

from thetahat.objective.predictor import LinearPredictor


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("n_outputs", [0, 1, 3])
def test_parameters_are_packed_and_split(n_outputs, fit_intercept):
    predictor = LinearPredictor(4, n_outputs, fit_intercept)
    theta = np.arange(float(predictor.n_parameters))
    coef, intercept = predictor.split(theta)
    assert coef.shape == ((4, n_outputs) if n_outputs else (4,))
    assert np.shape(intercept) == ((n_outputs,) if n_outputs else ())
    np.testing.assert_array_equal(predictor.pack(coef, intercept), theta)
    X = np.random.default_rng(0).normal(size=(5, 4))
    np.testing.assert_allclose(predictor.raw(X, theta), X @ coef + intercept)


@pytest.mark.parametrize("n_outputs", [0, 3])
def test_the_pullback_is_the_transpose_of_the_prediction(n_outputs):
    rng = np.random.default_rng(0)
    predictor = LinearPredictor(4, n_outputs)
    X, theta = rng.normal(size=(6, 4)), rng.normal(size=predictor.n_parameters)
    slope = rng.normal(size=(6, n_outputs) if n_outputs else 6)
    forward = np.sum(slope * predictor.raw(X, theta))
    assert forward == pytest.approx(predictor.pullback(X, slope) @ theta)


@pytest.mark.parametrize("signs", [1.0, -1.0])
@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, scipy.sparse.csr_array])
def test_the_gram_matrix_of_rows_with_a_one(form, signs):
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(7, 3)), rng.random(7)
    weight[0] *= signs
    design = np.column_stack([X, np.ones(7)])
    np.testing.assert_allclose(
        LinearPredictor(3).gram(form(X), weight), design.T @ (design * weight[:, None])
    )
    np.testing.assert_allclose(
        LinearPredictor(3, fit_intercept=False).gram(form(X), weight),
        X.T @ (X * weight[:, None]),
    )
    np.testing.assert_array_equal(LinearPredictor(3).design(form(X)), design)
