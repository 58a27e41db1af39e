"""Clusters by density on a kd-tree against a walk over all pairs; bad arguments."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from tests.reference.cluster.density_clusters import density_clusters
from thetahat import _native

NO_WEIGHTS = np.empty(0)


def found(rows, radius, least, *, weights=NO_WEIGHTS, p=2.0, leaf_size=8, threads=1, count=1000):
    clusters = _native.DensityClusters(rows, weights, p, False, radius, least, leaf_size, threads)
    while clusters.advance(count, threads):
        pass
    labels, core = np.empty(len(rows), dtype=np.int64), np.empty(len(rows), dtype=bool)
    clusters.copy(labels, core)
    return labels, core


@pytest.mark.parametrize(("n", "d"), [(1, 1), (9, 2), (300, 2), (400, 3), (200, 7)])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("p", "name"), [(1.0, "cityblock"), (2.0, "sqeuclidean"), (np.inf, "chebyshev")]
)
def test_clusters_are_those_of_all_pairs(n, d, ties, weighted, p, name):
    random = np.random.default_rng(n + d)
    rows = random.normal(size=(n, d))
    rows = np.round(2 * rows) / 2 if ties else rows
    weights = random.integers(0, 4, n).astype(float) if weighted else NO_WEIGHTS
    distances = cdist(rows, rows, name)
    for share in (0.002, 0.02, 0.3):
        radius = float(np.quantile(distances, share)) + (0.0 if ties else 1e-9)
        for least in (1.0, 4.0, 30.0):
            expected = density_clusters(distances, radius, least, weights if weighted else None)
            for options in ({"threads": 2}, {"leaf_size": 1, "count": 3}, {"leaf_size": n}):
                labels, core = found(rows, radius, least, weights=weights, p=p, **options)
                np.testing.assert_array_equal(core, expected[1])
                np.testing.assert_array_equal(labels, expected[0])


def test_an_infinite_radius_joins_all_rows():
    rows = np.random.default_rng(0).normal(size=(50, 2))
    assert (found(rows, np.inf, 50.0)[0] == 0).all()
    assert (found(rows, np.inf, 51.0)[0] == -1).all()


def test_bad_arguments_are_refused():
    rows = np.zeros((3, 2))
    bad_weights = [{"weights": np.ones(2)}, {"weights": -np.ones(3)}]
    bad_numbers = [{"radius": -1.0}, {"radius": np.nan}, {"p": 0.0}, {"leaf_size": 0}]
    for options in bad_numbers + bad_weights:
        with pytest.raises(ValueError, match="must be"):
            found(rows, **({"radius": 1.0, "least": 1.0} | options))
    clusters = _native.DensityClusters(rows, NO_WEIGHTS, 2.0, False, 1.0, 1.0, 4, 1)
    with pytest.raises(ValueError, match="not known yet"):
        clusters.copy(np.empty(3, dtype=np.int64), np.empty(3, dtype=bool))


def test_joined_pairs_have_the_first_row_of_their_set():
    root = np.arange(6)
    left, right = np.array([5, 2, 4]), np.array([2, 1, 0])
    _native.join_pairs(left, right, root)
    assert root.tolist() == [0, 1, 1, 3, 0, 1]
    with pytest.raises(ValueError, match="two rows"):
        _native.join_pairs(np.array([6]), np.array([0]), root)
    with pytest.raises(ValueError, match="earlier"):
        _native.join_pairs(left, right, np.array([0, 2, 2]))
