"""The compiled isolation trees against their plain twin, and their refusals at the boundary."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.reference.trees import isolation as twin
from thetahat import _native
from thetahat.models.tree.packed import MISSING_LEFT, NODE


def data(kind):
    random = np.random.default_rng(0)
    x = random.standard_normal((50, 4))
    if kind == "ties":
        x = np.round(x)
    if kind == "constant":
        x[:, [0, 2]] = 1.0
    if kind == "missing":
        x[random.random(x.shape) < 0.2] = np.nan
        x[:, 1] = np.where(np.isnan(x[:, 1]), np.nan, 2.0)
    return x


def grown(x, rows, columns, seeds, max_depth=6, first_value=0, threads=1):
    return _native.grow_isolation_trees(
        x, rows.astype(np.uint32), columns.astype(np.uint32), seeds.astype(np.uint64),
        max_depth, first_value, threads,
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["plain", "ties", "constant", "missing"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("threads", [1, 3])
def test_trees_are_those_of_the_twin(kind, dtype, threads):
    random = np.random.default_rng(1)
    x = data(kind).astype(dtype)
    rows = np.stack([random.choice(50, 30) for _ in range(5)])
    columns = np.stack([random.permutation(4)[:3] for _ in range(5)])
    seeds = random.integers(2**63, size=5, dtype=np.uint64)
    nodes, sizes, lengths, counts = grown(x, rows, columns, seeds, threads=threads, first_value=7)
    nodes = nodes.view(NODE)[:, 0]
    start = leaf = 0
    for t, size in enumerate(sizes):
        found = nodes[start : start + size]
        expected, leaves = twin.grow(x[rows[t]].astype(float), columns[t], int(seeds[t]), 6)
        assert len(expected) == size
        for node, split in zip(found, expected, strict=True):
            if split is None:
                assert node["feature"] == -1
                assert node["child"] == leaf + 7
                leaf += 1
                continue
            column, threshold, missing_left, child = split
            assert node["feature"] == column + (MISSING_LEFT if missing_left else 0)
            assert node["threshold"] == pytest.approx(threshold, rel=1e-14)
            assert node["child"] == child
        own = slice(leaf - len(leaves), leaf)
        np.testing.assert_allclose(lengths[own, 0], [length for length, _ in leaves])
        np.testing.assert_array_equal(counts[own], [count for _, count in leaves])
        start += size


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": np.full((1, 5), 50)}, "rows of x"),
        ({"columns": np.full((1, 2), 4)}, "columns of x"),
        ({"seeds": np.arange(2)}, "its rows and its columns"),
        ({"rows": np.empty((1, 0))}, "its rows and its columns"),
    ],
)
def test_numbers_outside_are_refused(change, message):
    given = {"rows": np.zeros((1, 5)), "columns": np.zeros((1, 2)), "seeds": np.arange(1)}
    with pytest.raises(ValueError, match=message):
        grown(data("plain"), **(given | change))


def sparse(**changes):
    x = csr_array(np.round(data("ties") * 2))
    given = {
        "data": x.data, "indices": x.indices, "indptr": x.indptr, "n_columns": 4,
        "rows": np.zeros((1, 5), dtype=np.uint32), "columns": np.array([[1, 3]], dtype=np.uint32),
        "seeds": np.arange(1, dtype=np.uint64), "max_depth": 6, "first_value": 0, "threads": 1,
    }  # fmt: skip
    return _native.grow_sparse_isolation_trees(**(given | changes))


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_rows_give_the_trees_of_dense_rows(index):
    x = np.where(np.random.default_rng(5).random((50, 4)) < 0.5, np.round(data("plain"), 1), 0.0)
    x[:, 2] = 0.0
    held = csr_array(x)
    rows, columns, seeds = np.arange(50)[None, :], np.arange(4)[None, :], np.arange(3)
    rows = np.repeat(rows, 3, axis=0)
    expected = grown(x, rows, columns, seeds)
    found = sparse(
        data=held.data, indices=held.indices.astype(index), indptr=held.indptr.astype(index),
        rows=rows.astype(np.uint32), columns=columns.astype(np.uint32),
        seeds=seeds.astype(np.uint64),
    )  # fmt: skip
    for array, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(array, other)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_columns": 3, "columns": np.array([[1]], dtype=np.uint32)}, "does not exist"),
        ({"indptr": np.array([0, 5, 2], dtype=np.int32)}, "not decrease"),
        ({"indptr": np.array([0, 999], dtype=np.int32)}, "end with the entries"),
        ({"data": np.ones(2)}, "every entry needs a column"),
        ({"columns": np.array([[3, 1]], dtype=np.uint32)}, "ascending"),
        ({"rows": np.full((1, 5), 50, dtype=np.uint32)}, "rows of x"),
    ],
)
def test_wrong_sparse_rows_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        sparse(**change)
