"""Nearest rows by products of two precisions."""

import numpy as np
import pytest

import thetahat as th
from thetahat.models.neighbors.search import index, products
from thetahat.models.neighbors.search.products import MANY_QUERIES, DenseProducts

CASES = {
    "gaussian": lambda X: X,
    "small": lambda X: X * 1e-9,
    "tiny": lambda X: X * 1e-30,
    "large": lambda X: X * 1e14,
    "huge": lambda X: X * 1e30,
    "far": lambda X: X + 1e6,
    "unequal columns": lambda X: X * 10.0 ** np.arange(X.shape[1]),
    "one far row": lambda X: np.vstack([X[:-1], 1e20 * X[-1:]]),
    "grid": lambda X: np.round(X),
    "copies": lambda X: X[np.arange(len(X)) % 7],
}


@pytest.mark.parametrize("name", CASES)
def test_neighbours_are_those_of_double_precision(name, monkeypatch):
    random = np.random.default_rng(0)
    X = CASES[name](random.standard_normal((900, 12)))
    queries = CASES[name](random.standard_normal((MANY_QUERIES + 100, 12)))
    found = DenseProducts(X).nearest(queries, 5)
    monkeypatch.setattr(products, "MANY_QUERIES", len(queries) + 1)
    expected = DenseProducts(X).nearest(queries, 5)
    np.testing.assert_array_equal(found.row, expected.row)
    np.testing.assert_array_equal(found.distance, expected.distance)


def test_single_precision_filters_where_its_rounding_is_small(monkeypatch):
    used = []
    native = products._native.near_products

    def noted(given, *rest):
        used.append(given.dtype)
        native(given, *rest)

    monkeypatch.setattr(products._native, "near_products", noted)
    X = np.random.default_rng(0).standard_normal((1000, 30))
    search = DenseProducts(X)
    search.nearest(X, 1)
    assert np.dtype(np.float32) not in used  # the rows themselves have the distance 0
    search.nearest(X + 0.1, 3)
    assert np.dtype(np.float32) in used
    used.clear()
    search.nearest(X[: MANY_QUERIES - 1] + 0.1, 3)
    search.nearest(X * 1e20, 3)
    assert np.dtype(np.float32) not in used


def test_threads_do_not_change_neighbours():
    X = np.random.default_rng(0).standard_normal((2000, 40))
    found = []
    for threads in (1, 3):
        with th.config(threads=threads):
            search = th.NearestNeighbors(n_neighbors=4, algorithm="brute").fit(X[:1000])
            found.append(search.kneighbors(X[1000:]))
    np.testing.assert_array_equal(found[0], found[1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", sorted(set(CASES) - {"huge"}))
def test_products_find_what_a_scan_finds(name, dtype, monkeypatch):
    random = np.random.default_rng(1)
    X = CASES[name](random.standard_normal((80, 12))).astype(dtype)
    queries = np.vstack([X[:10], CASES[name](random.standard_normal((50, 12))).astype(dtype)])
    search = th.NearestNeighbors(n_neighbors=7, algorithm="brute").fit(X)
    scanned = search.kneighbors(queries)
    monkeypatch.setattr(index, "SCAN_SIZE", 0)
    found = search.kneighbors(queries)
    np.testing.assert_array_equal(found[0], scanned[0])
    np.testing.assert_array_equal(found[1], scanned[1])


@pytest.mark.parametrize("threads", [1, 3, 200])
def test_more_threads_than_queries_of_a_share(monkeypatch, threads):
    monkeypatch.setattr(products, "n_threads", lambda: threads)
    X = np.random.default_rng(0).standard_normal((MANY_QUERIES + 1, 30))
    found = DenseProducts(X).nearest(X, 2)
    np.testing.assert_array_equal(found.row[:, 0], np.arange(len(X)))
    for most in (1, 32, 256):
        shares = products._slices(5, 69, most)
        assert [i for each in shares for i in range(69)[each]] == list(range(5, 69))
        assert all(0 < each.stop - each.start <= most for each in shares)
