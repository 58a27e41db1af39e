"""The compiled searches against their plain twins: the same rows and distances, bit for bit."""

from math import inf

import numpy as np
import pytest
import scipy.sparse as sp

from tests.reference.neighbors import neighbors as twin
from thetahat import _native

ORDERS = [1.0, 2.0, inf, None]


def built(rows, leaf_size=8, order=2.0, *, alternating=False, random=False, threads=2):
    p = 1.0 if order is None else order
    return _native.NearestRows(rows, leaf_size, p, order is None, alternating, random, 7, threads)


def nearest(search, queries, k, threads=2):
    distance = np.empty((len(queries), k))
    row = np.empty((len(queries), k), dtype=np.int64)
    search.nearest(queries, distance, row, threads)
    return distance, row


def draw(n, d, kind="normal", seed=0):
    random = np.random.default_rng(seed)
    if kind == "lattice":  # many ties
        return random.integers(0, 3, (n, d)).astype(float)
    if kind == "equal":
        return np.ones((n, d))
    return random.standard_normal((n, d))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", ["normal", "lattice", "equal"])
@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 11])
def test_nearest(order, kind, d):
    rows, queries = draw(203, d, kind), draw(60, d, kind, seed=1)
    for k in (1, 5, 40, 203):
        expected = twin.nearest(queries, rows, k, order)
        for leaf_size in (1, 8, 1000):
            found = nearest(built(rows, leaf_size, order), queries, k)
            np.testing.assert_array_equal(found[0], expected[0])
            np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize("alternating", [False, True])
@pytest.mark.parametrize("random", [False, True])
def test_constructions_find_the_same_rows(alternating, random):
    rows, queries = draw(500, 3), draw(50, 3, seed=1)
    expected = twin.nearest(queries, rows, 7)
    for leaf_size in (1, 10):
        search = built(rows, leaf_size, alternating=alternating, random=random)
        found = nearest(search, queries, 7)
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_array_equal(found[1], expected[1])
        assert search.depth >= np.log2(500 / (2 * leaf_size))


def test_any_power_differs_by_rounding_only():
    rows, queries = draw(300, 4), draw(40, 4, seed=1)
    distance, row = nearest(built(rows, 8, 3.5), queries, 6)
    expected = twin.nearest(queries, rows, 6, 3.5)
    np.testing.assert_allclose(distance, expected[0], rtol=1e-13)
    np.testing.assert_array_equal(row, expected[1])


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("leaf_size", [1, 8, 1000])
def test_within(order, leaf_size):
    rows, queries = draw(400, 3, "lattice"), draw(30, 3, "lattice", seed=1)
    search = built(rows, leaf_size, order)
    for radius in (0.0, 1.0, 2.0, 100.0):
        for found, expected in zip(
            search.within(queries, np.full(30, radius), False, 2**40, 2),
            twin.within(queries, rows, radius, order),
            strict=True,
        ):
            np.testing.assert_array_equal(found, expected)
        counts, row, distance = search.within(queries, np.full(30, radius), True, 2**40, 2)
        starts = np.repeat(np.cumsum(counts) - counts, counts)
        np.testing.assert_array_equal(np.lexsort((row, distance, starts)), np.arange(len(row)))


@pytest.mark.parametrize("leaf_size", [8, 100_000])
def test_same_bits_for_any_number_of_threads(leaf_size):
    rows, queries = draw(20_000, 3), draw(3000, 3, seed=1)
    one = nearest(built(rows, leaf_size, threads=1), queries, 5, threads=1)
    for threads in (2, 5):
        many = nearest(built(rows, leaf_size, threads=threads), queries, 5, threads=threads)
        np.testing.assert_array_equal(one[0], many[0])
        np.testing.assert_array_equal(one[1], many[1])


def test_many_equal_rows_are_not_all_visited():
    """Of equal rows the smallest numbers win, and the search ends when they are found."""
    rows = np.ones((200_000, 3))
    distance, row = nearest(built(rows, 16), np.ones((2000, 3)), 4)  # 4e8 pairs would take seconds
    np.testing.assert_array_equal(row, np.tile(np.arange(4), (2000, 1)))
    assert not distance.any()


def products(queries, rows, k, block=50, slack=1e-3):
    """The filter over blocks of products that are off by less than the slack."""
    distance = np.empty((len(queries), k))
    row = np.empty((len(queries), k), dtype=np.int64)
    low = ((1 - slack) * (rows.astype(float) ** 2).sum(axis=1)).astype(rows.dtype)
    query_low = (1 - slack) * (queries.astype(float) ** 2).sum(axis=1)
    kind = _native.NearCandidates32 if rows.dtype == np.float32 else _native.NearCandidates64
    candidates = kind(len(queries), k)
    for first in range(0, len(rows), block):
        some = slice(first, first + block)
        _native.near_products(
            np.ascontiguousarray(queries @ rows[some].T), low[some], query_low, slack, first,
            queries, rows, candidates, distance, row,
        )  # fmt: skip
    _native.measure_candidates(candidates, queries, rows, distance, row)
    return distance, row


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["normal", "lattice", "equal"])
@pytest.mark.parametrize("k", [1, 5, 60])
def test_products_filter_and_measure_anew(dtype, kind, k):
    rows, queries = draw(210, 9, kind).astype(dtype), draw(40, 9, kind, seed=1).astype(dtype)
    found, expected = products(queries, rows, k), twin.nearest(queries, rows, k)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


def csr(rows):
    return rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32)


def sparse_search(rows, absolute, slack=1e-3):
    kind = _native.SparseRows32 if rows.dtype == np.float32 else _native.SparseRows64
    low = ((1 - slack) * lengths(rows, absolute)).astype(rows.dtype)
    return kind(*csr(rows), *csr(rows.T.tocsr()), low, slack, absolute)


def lengths(rows, absolute):
    powers = abs(rows) if absolute else rows.power(2)
    return np.asarray(powers.sum(axis=1)).ravel().astype(float)


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 6, 100])
def test_sparse_rows_have_the_bits_of_dense_ones(dtype, absolute, k):
    random = np.random.default_rng(3)
    rows, queries = (
        sp.random_array(
            (n, 30), density=0.2, format="csr", rng=random, data_sampler=random.standard_normal
        ).astype(dtype)
        for n in (150, 20)
    )
    search, low = sparse_search(rows, absolute), 0.999 * lengths(queries, absolute)
    order = 1.0 if absolute else 2.0
    expected = twin.nearest(queries.toarray(), rows.toarray(), k, order)
    for threads in (1, 3):
        distance, row = np.empty((20, k)), np.empty((20, k), dtype=np.int64)
        search.nearest(*csr(queries), low, distance, row, threads)
        np.testing.assert_array_equal(distance, expected[0])
        np.testing.assert_array_equal(row, expected[1])
    found = search.within(*csr(queries), low, np.full(20, 4.0), False, 2**40, 2)
    for ours, theirs in zip(
        found, twin.within(queries.toarray(), rows.toarray(), 4.0, order), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_within_from_products(dtype):
    rows, queries = (draw(n, 9, seed=n).astype(dtype) for n in (210, 40))
    low = (0.999 * (rows.astype(float) ** 2).sum(axis=1)).astype(dtype)
    query_low = 0.999 * (queries.astype(float) ** 2).sum(axis=1)
    products = np.ascontiguousarray(queries @ rows.T)
    found = _native.within_products(
        products, low, query_low, queries, rows, np.full(40, 9.0), False, 2**40
    )
    for ours, theirs in zip(found, twin.within(queries, rows, 9.0, 2.0), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    with pytest.raises(MemoryError):
        _native.within_products(products, low, query_low, queries, rows, np.full(40, 9.0), False, 3)


def test_more_neighbours_than_allowed_are_refused():
    rows = draw(100, 2)
    with pytest.raises(MemoryError):
        built(rows).within(rows, np.full(100, 9.0), False, 50, 2)
    sparse = sp.csr_array(rows)
    with pytest.raises(MemoryError):
        sparse_search(sparse, False).within(
            *csr(sparse), 0.999 * lengths(sparse, False), np.full(100, 9.0), False, 50, 2
        )


def test_counts_are_those_of_within():
    rows, queries = draw(400, 3), draw(30, 3, seed=1)
    radius = np.linspace(0, 3, 30)
    counts = np.empty(30, dtype=np.int64)
    search = built(rows)
    search.count(queries, radius, counts, 2)
    np.testing.assert_array_equal(counts, search.within(queries, radius, False, 2**40, 2)[0])


def test_indices_of_sparse_rows_are_checked():
    rows = sp.csr_array(np.eye(3))
    data, columns, start = csr(rows)
    with pytest.raises(ValueError, match="indices within their size"):
        _native.SparseRows64(
            data, columns + 9, start, data, columns, start, np.ones(3), 1e-3, False
        )
    distance, row = np.empty((3, 1)), np.empty((3, 1), dtype=np.int64)
    with pytest.raises(ValueError, match="columns of the rows"):
        sparse_search(rows, False).nearest(data, columns + 9, start, np.ones(3), distance, row, 1)


def test_smallest_per_row():
    given = np.random.default_rng(4).integers(0, 5, (30, 50)).astype(float)
    given[3, 4] = np.inf
    for k in (1, 7, 50):
        distance, row = np.empty((30, k)), np.empty((30, k), dtype=np.int64)
        _native.smallest_per_row(given, distance, row, 2)
        np.testing.assert_array_equal(row, np.argsort(given, axis=1, kind="stable")[:, :k])


def test_sizes_are_checked_at_the_boundary():
    rows = draw(10, 2)
    search = built(rows)
    with pytest.raises(ValueError, match="at most the number of rows"):
        nearest(search, rows, 11)
    with pytest.raises(ValueError, match="columns of the rows"):
        nearest(search, draw(3, 3), 2)
    with pytest.raises(ValueError, match="leaf_size"):
        built(rows, 0)
    with pytest.raises(ValueError, match="p must be"):
        built(rows, 8, 0.0)
    distance, row = np.empty((10, 2)), np.empty((10, 2), dtype=np.int64)

    def near(first, n_queries):
        candidates = _native.NearCandidates64(n_queries, 2)
        ones = np.ones(10)
        _native.near_products(
            rows @ rows.T, ones, ones, 0.0, first, rows, rows, candidates, distance, row
        )
        return candidates

    with pytest.raises(ValueError, match="within the rows"):
        near(1, 10)
    with pytest.raises(ValueError, match="candidates for every query"):
        near(0, 9)
    candidates = near(0, 10)
    with pytest.raises(ValueError, match="those of the blocks"):
        _native.measure_candidates(candidates, rows, rows[:9], distance, row)
