"""Every distance against SciPy, the laws of distances, and refusals."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics.pairwise import haversine_distances, nan_euclidean_distances

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
    th.distances.Minkowski(3, [1.0, 4.0, 0.0]): ("minkowski", {"p": 3, "w": [1.0, 4.0, 0.0]}),
    th.distances.Minkowski(2, [1.0, 4.0, 2.0]): ("minkowski", {"p": 2, "w": [1.0, 4.0, 2.0]}),
    th.distances.Minkowski(0.5): ("minkowski", {"p": 0.5}),
    th.distances.Canberra(): ("canberra", {}),
    th.distances.BrayCurtis(): ("braycurtis", {}),
}
YES_AND_NO = {
    th.distances.Jaccard(): "jaccard",
    th.distances.Dice(): "dice",
    th.distances.RogersTanimoto(): "rogerstanimoto",
    th.distances.RussellRao(): "russellrao",
    th.distances.SokalSneath(): "sokalsneath",
    th.distances.Yule(): "yule",
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


@pytest.mark.parametrize("distance", YES_AND_NO, ids=repr)
def test_yes_and_no_agrees_with_scipy(distance):
    random = np.random.default_rng(0)
    X, Y = (random.random((n, 9)) < 0.5 for n in (30, 20))
    X[0] = Y[0] = [True] * 8 + [False]
    expected = cdist(X, Y, YES_AND_NO[distance])
    np.testing.assert_allclose(distance.pairwise(X, Y), expected, rtol=1e-14, atol=1e-15)


def test_correlation_agrees_with_scipy_but_for_constant_rows():
    X, Y = (np.random.default_rng(n).normal(size=(n, 5)) for n in (12, 7))
    found = th.distances.Correlation().pairwise(X, Y)
    np.testing.assert_allclose(found, cdist(X, Y, "correlation"), rtol=1e-12)
    found = th.distances.Correlation().pairwise([[0.1, 0.1, 0.1]], [[0.7, 0.7, 0.7], [1, 2, 3]])
    np.testing.assert_allclose(found, [[0.0, 1.0]], atol=1e-15)


def test_rows_without_any_yes_are_equal():
    for distance in (th.distances.Jaccard(), th.distances.Dice(), th.distances.SokalSneath()):
        assert distance.pairwise([[0, 0]], [[0, 0]]) == 0


def test_other_numbers_count_as_yes_with_a_warning():
    with pytest.warns(DataConversionWarning, match="converted to boolean for metric jaccard"):
        found = th.distances.Jaccard().pairwise([[2.0, 0.0]], [[2.0, 1.0]])
    assert found == 0.5


def test_haversine_and_missing_values_agree_with_scikit_learn():
    places = np.random.default_rng(0).uniform(-1.5, 1.5, (30, 2))
    places[1] = places[0] + 1e-5
    found = th.distances.Haversine().pairwise(places)
    np.testing.assert_allclose(found, haversine_distances(places), rtol=1e-9, atol=1e-15)
    X = np.random.default_rng(1).normal(size=(20, 4))
    X[::3, 1] = X[::4, 2] = np.nan
    found = th.distances.NanEuclidean().pairwise(X)
    np.testing.assert_allclose(found, nan_euclidean_distances(X), rtol=1e-12, atol=1e-7)
    assert th.distances.NanEuclidean().pairwise([[np.nan, 1.0]], [[1.0, np.nan]]) == np.inf


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
        (lambda: th.distances.Minkowski(p=0), "p must be a finite number > 0"),
        (lambda: th.distances.Minkowski(w=[0.0, 0.0]), "one of them at least must be positive"),
        (lambda: th.distances.Haversine().pairwise([[1.0]]), "needs 2: latitude and longitude"),
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


def test_degrees_are_noticed():
    places = np.array([[52.5, 13.4], [48.9, 2.4]])
    for measure in (
        lambda X: th.NearestNeighbors(n_neighbors=1, metric="haversine").fit(X),
        lambda X: th.distances.Haversine().pairwise(X),
        lambda X: th.BallTree(X, metric="haversine"),
    ):
        with pytest.warns(UserWarning, match="latitude of 52.5.*np.radians"):
            measure(places)
        measure(np.radians(places))
    th.distances.Haversine().pairwise(np.array([[np.pi / 2, 3.0]], dtype=np.float32))


@pytest.mark.parametrize("unit", [2.0**-1000, 2.0**-560, 2.0**530, 2.0**1000])
@pytest.mark.parametrize("p", [0.7, 2, 3])
def test_distances_have_the_unit_of_the_columns(p, unit):
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(20, 3)), random.normal(size=(9, 3))
    distances = [th.distances.Minkowski(p), th.distances.Minkowski(p, [1.0, 2.0, 0.5])]
    for distance in [*distances, th.distances.Euclidean()]:
        found = distance.pairwise(unit * X, unit * Y) / unit
        np.testing.assert_allclose(found, distance.pairwise(X, Y), rtol=1e-12)
        mixed = distance.pairwise(np.vstack([unit * X, Y]))
        np.testing.assert_allclose(mixed[:20, :20] / unit, distance.pairwise(X), rtol=1e-12)
