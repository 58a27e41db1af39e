"""The linear predictor: raw predictions, pullbacks, Gram matrices and restrictions."""

import numpy as np
import pytest
import scipy.sparse as sp

import thetahat as th
from thetahat.objective.predictor import LinearPredictor

N, D = 12, 3


@pytest.fixture
def rows():
    X = np.random.default_rng(0).standard_normal((N, D))
    X[X < -0.5] = 0.0
    return X


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, np.float32], ids=str)
@pytest.mark.parametrize("outputs", [0, 2])
@pytest.mark.parametrize("intercept", [True, False])
def test_pullback_is_the_adjoint_of_raw(rows, make, outputs, intercept):
    random = np.random.default_rng(1)
    predictor, X = LinearPredictor(D, outputs, intercept), make(rows)
    theta = random.standard_normal(predictor.n_parameters)
    z = predictor.raw(X, theta)
    slope = random.standard_normal(z.shape)
    left, right = np.sum(z * slope), theta @ predictor.pullback(X, slope)
    np.testing.assert_allclose(left, right, rtol=1e-6)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("zeros", [0, 3])
def test_gram_is_that_of_the_design(rows, make, sign, zeros):
    predictor, X = LinearPredictor(D), make(rows)
    weight = sign * np.random.default_rng(2).random(N)
    weight[:zeros] = 0.0
    design = predictor.design(X)
    expected = design.T @ (design * weight[:, None])
    np.testing.assert_allclose(predictor.gram(X, weight), expected, atol=1e-12)


def test_threads_share_a_gram_matrix_without_a_change_of_bits():
    random = np.random.default_rng(5)
    X, weight = random.standard_normal((9000, 30)), random.random(9000)
    predictor = LinearPredictor(30, 0, True)
    found = []
    for threads in (1, 2, 5):
        with th.config(threads=threads):
            found.append(predictor.gram(X, weight))
    design = np.column_stack([X, np.ones(9000)])
    np.testing.assert_allclose(found[0], design.T @ (design * weight[:, None]), rtol=1e-10)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


@pytest.mark.parametrize("outputs", [0, 2])
def test_pack_undoes_split(outputs):
    predictor = LinearPredictor(D, outputs)
    theta = np.arange(float(predictor.n_parameters))
    np.testing.assert_array_equal(predictor.pack(*predictor.split(theta)), theta)


def test_a_restricted_predictor_predicts_as_if_other_coefficients_were_zero(rows):
    predictor, columns = LinearPredictor(D), np.array([0, 2])
    smaller, X = predictor.restricted(rows, columns)
    theta = np.array([1.5, 0.0, -2.0, 0.3])
    np.testing.assert_allclose(smaller.raw(X, theta[[0, 2, 3]]), predictor.raw(rows, theta))
