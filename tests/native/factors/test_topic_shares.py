"""The compiled steps of latent Dirichlet allocation beside plain NumPy."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import psi

from tests.reference.factors.topics import expected_logs, topic_shares
from thetahat import _native


def expectations(words, threads=1):
    weights, shift = np.empty_like(words), np.empty(len(words))
    _native.dirichlet_weights(words, words.sum(axis=0), threads, weights, shift)
    return weights, shift


def compiled(X, words, prior, steps, tolerance, threads=1, dtype=np.float64, index=np.int32):
    X = sp.csr_array(X.astype(dtype))
    indices, indptr = X.indices.astype(index), X.indptr.astype(index)
    (n, d), k = X.shape, words.shape[1]
    gamma, theta, counts = np.empty((n, k)), np.empty((n, k)), np.empty((d, k))
    ratio, values = np.empty(X.nnz), np.empty(n)
    weights, shift = expectations(words, threads)
    _native.topic_shares(
        X.data, indices, indptr, weights, shift, prior, steps, tolerance, threads, gamma, theta,
        ratio, values,
    )  # fmt: skip
    _native.topic_counts(ratio, indices, indptr, theta, weights, threads, counts)
    return gamma, values, counts


def case(n, d, k, seed=0):
    rng = np.random.default_rng(seed)
    return rng.poisson(0.8, (n, d)), rng.gamma(2.0, 1.0, (d, k)) + 0.01


def test_expectations_are_exponentials_of_the_digamma_function():
    words = np.geomspace(1e-3, 1e9, 60).reshape(20, 3)
    weights, shift = expectations(words)
    expected = psi(words) - psi(words.sum(axis=0))
    np.testing.assert_allclose(np.log(weights) + shift[:, None], expected, rtol=1e-10, atol=1e-10)


def test_tiny_parameters_do_not_underflow():
    words = np.full((3, 2), 1e-5)
    words[0, 0] = 2e-5
    weights, _ = expectations(words)
    np.testing.assert_allclose(weights[1, 0], weights[2, 0])
    assert weights.max(axis=1).min() > 0
    assert weights[0, 1] == 0  # exp(−50000) of the largest


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "d", "k"), [(1, 1, 1), (5, 3, 2), (40, 17, 5), (9, 30, 13)])
def test_shares_counts_and_likelihoods(n, d, k, dtype, index):
    X, words = case(n, d, k)
    expected = topic_shares(X, np.ascontiguousarray(words.T), 0.3, 20, 1e-3)
    found = compiled(X, words, 0.3, 20, 1e-3, dtype=dtype, index=index)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-9)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found[2].T, expected[2], rtol=1e-9, atol=1e-12)


def test_a_row_without_words_has_the_prior():
    words = np.ones((4, 3))
    gamma, values, counts = compiled(np.zeros((2, 4)), words, 0.25, 100, 1e-3)
    np.testing.assert_array_equal(gamma, np.full((2, 3), 0.25))
    np.testing.assert_array_equal(values, np.zeros(2))
    np.testing.assert_array_equal(counts, np.zeros((4, 3)))


def test_same_bits_for_any_number_of_threads():
    X, words = case(300, 50, 7)
    one = compiled(X, words, 0.1, 50, 1e-3)
    for threads in (2, 3, 5):
        for ours, theirs in zip(compiled(X, words, 0.1, 50, 1e-3, threads), one, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_expected_logs_of_the_reference_sum_up():
    found = np.exp(expected_logs(np.array([[1.0, 2.0, 3.0]])))
    assert found.sum() < 1  # Jensen


@pytest.mark.parametrize("change", ["index", "indptr", "shape"])
def test_wrong_rows_are_refused(change):
    X, words = case(4, 5, 2)
    X = sp.csr_array(X.astype(float))
    weights, shift = expectations(words)
    indices, indptr, gamma = X.indices.copy(), X.indptr.copy(), np.empty((4, 2))
    if change == "index":
        indices[0] = 5
    elif change == "indptr":
        indptr[-1] += 1
    else:
        gamma = np.empty((5, 2))
    with pytest.raises(ValueError, match=r"index is out of range|indptr"):
        _native.topic_shares(
            X.data, indices, indptr, weights, shift, 0.5, 10, 1e-3, 1, gamma, np.empty((0, 0)),
            np.empty(0), np.empty(0),
        )  # fmt: skip
