"""Every distance against SciPy, the laws of distances, and refusals."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

import thetahat as th
from thetahat.mathematics.distances.base import Termwise

COVARIANCE = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 0.7]])

PEERS = {
    th.distances.Euclidean(): ("euclidean", {}),
    th.distances.SquaredEuclidean(): ("sqeuclidean", {}),
    th.distances.Manhattan(): ("cityblock", {}),
    th.distances.Chebyshev(): ("chebyshev", {}),
    th.distances.Minkowski(p=3): ("minkowski", {"p": 3}),
    th.distances.Minkowski(p=1): ("cityblock", {}),
    th.distances.Hamming(): ("hamming", {}),
    th.distances.Cosine(): ("cosine", {}),
    th.distances.StandardizedEuclidean([1.0, 4.0, 9.0]): ("seuclidean", {"V": [1.0, 4.0, 9.0]}),
    th.distances.Mahalanobis(COVARIANCE): ("mahalanobis", {"VI": np.linalg.inv(COVARIANCE)}),
}


def rows(n, seed):
    return np.random.default_rng(seed).integers(-3, 4, (n, 3)) + 0.5


@pytest.mark.parametrize("distance", PEERS, ids=repr)
def test_agrees_with_scipy(distance):
    name, parameters = PEERS[distance]
    found = distance.pairwise(rows(20, 0), rows(7, 1))
    expected = cdist(rows(20, 0), rows(7, 1), name, **parameters)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(found, distance.pairwise(sp.csr_array(rows(20, 0)), rows(7, 1)))


@pytest.mark.parametrize("distance", PEERS, ids=repr)
def test_symmetric_and_zero_from_a_row_to_itself(distance):
    found = distance.pairwise(rows(20, 0))
    np.testing.assert_allclose(found, found.T, rtol=1e-13)
    assert not np.diagonal(found).any()


@pytest.mark.parametrize(
    "distance", [each for each in PEERS if isinstance(each, Termwise)], ids=repr
)
def test_a_radius_is_reduced_like_the_distances(distance):
    found = np.unique(distance.pairwise(rows(9, 0), rows(7, 1)))
    again = [
        distance.from_reduced(np.array(distance.to_reduced(value, 3)), 3)
        for value in found.tolist()
    ]
    np.testing.assert_allclose(again, found, rtol=1e-13)


def test_every_distance_is_a_value():
    for distance in PEERS:
        assert distance == type(distance)(**distance.get_params())
        assert hash(distance) == hash(type(distance)(**distance.get_params()))
        assert th.distances.named(distance) is distance


def test_names_and_aliases():
    assert th.distances.named("l1") == th.distances.Manhattan()
    assert th.distances.named("max") == th.distances.Chebyshev()
    with pytest.raises(th.errors.ParameterError, match="Did you mean 'euclidean'"):
        th.distances.named("euclidian")
    with pytest.raises(th.errors.ParameterError, match=r"Pass a value: Minkowski\(\)"):
        th.distances.named(th.distances.Minkowski)


def test_a_function_of_two_rows():
    distance = th.distances.named(lambda x, y: float(np.abs(x - y).max()))
    expected = th.distances.Chebyshev().pairwise(rows(5, 0), rows(4, 1))
    np.testing.assert_array_equal(distance.pairwise(rows(5, 0), rows(4, 1)), expected)
    broken = th.distances.Custom(lambda x, y: np.nan if y[0] > 2 else 1.0)
    with pytest.raises(th.errors.DataError, match="NaN for row 0 of the first and row 1"):
        broken.pairwise([[0.0]], [[1.0], [3.0]])


def test_rows_of_zeros_have_no_direction():
    found = th.distances.Cosine().pairwise([[0.0, 0.0], [1.0, 1.0]], [[0.0, 0.0], [3.0, 3.0]])
    np.testing.assert_allclose(found, [[0.0, 1.0], [1.0, 0.0]], atol=1e-15)


def test_what_is_estimated_from_the_rows():
    x = rows(40, 2)
    found = th.distances.Mahalanobis().pairwise(x)
    expected = cdist(x, x, "mahalanobis", VI=np.linalg.inv(np.cov(x, rowvar=False)))
    np.testing.assert_allclose(found, expected, atol=1e-12)
    found = th.distances.StandardizedEuclidean().pairwise(x)
    expected = cdist(x, x, "seuclidean", V=x.var(axis=0, ddof=1))
    np.testing.assert_allclose(found, expected, atol=1e-12)
    # The Mahalanobis distance does not change under linear maps of the columns.
    mapped = x @ np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 0.0], [3.0, 0.0, 0.5]])
    np.testing.assert_allclose(
        th.distances.Mahalanobis().pairwise(mapped),
        th.distances.Mahalanobis().pairwise(x),
        rtol=1e-9,
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: th.distances.Minkowski(p=0.5), "p must be a finite number ≥ 1"),
        (lambda: th.distances.StandardizedEuclidean([1.0, 0.0]), "must be positive"),
        (lambda: th.distances.Mahalanobis([1.0, 2.0]), "square matrix"),
        (lambda: th.distances.Mahalanobis([[1.0, 1.0], [1.0, 1.0]]), "positive definite"),
        (lambda: th.distances.Mahalanobis().pairwise([[1.0]]), "from 1 row"),
        (lambda: th.distances.Custom(3), "function of two rows"),
        (
            lambda: th.distances.Euclidean().pairwise([[1.0]], [[1.0, 2.0]]),
            "1 columns, but Y has 2",
        ),
        (lambda: th.distances.Mahalanobis(np.eye(3)).pairwise([[1.0, 2.0]]), "made for 3 columns"),
    ],
)
def test_refusals(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_distance_function_is_not_negative_and_cannot_change_the_rows():
    def spoil(x, y):
        x[:] = 0.0
        return 1.0

    with pytest.raises(th.errors.DataError, match="returned -1 for row 0"):
        th.distances.Custom(lambda x, y: -1.0).pairwise([[1.0]], [[2.0]])
    with pytest.raises(ValueError, match="read-only"):
        th.distances.Custom(spoil).pairwise([[1.0]], [[2.0]])


def test_powers_in_which_small_differences_vanish_are_refused():
    with pytest.raises(th.errors.ParameterError, match="p=1000"):
        th.distances.Minkowski(p=1000)
