"""Compiled shortest paths against Floyd and Warshall, and graphs that are refused."""

import numpy as np
import pytest
import scipy.sparse as sparse

from tests.reference.manifold import embeddings as reference
from thetahat import _native


def graph(n, share, seed):
    rng = np.random.default_rng(seed)
    W = np.where(rng.random((n, n)) < share, rng.uniform(0.0, 2.0, (n, n)), np.inf)
    return np.minimum(W, W.T)


def walked(W, first=0, count=None, threads=1):
    n = len(W)
    here, there = np.nonzero(np.isfinite(W))
    offsets = np.concatenate([[0], np.cumsum(np.bincount(here, minlength=n))]).astype(np.int64)
    out = np.empty((n if count is None else count, n))
    _native.shortest_paths(offsets, there.astype(np.int32), W[here, there], first, out, threads)
    return out


@pytest.mark.parametrize(("n", "share"), [(1, 1.0), (2, 0.0), (30, 0.1), (60, 0.02), (40, 0.9)])
def test_lengths_are_those_of_floyd_and_warshall(n, share):
    W = graph(n, share, n)
    np.testing.assert_allclose(walked(W), reference.shortest_paths(W), rtol=1e-13)


def test_some_sources_and_any_threads():
    W = graph(50, 0.1, 0)
    whole = walked(W)
    np.testing.assert_array_equal(walked(W, threads=3), whole)
    np.testing.assert_array_equal(walked(W, 20, 7), whole[20:27])


@pytest.mark.parametrize(
    ("offsets", "ends", "lengths", "first", "message"),
    [
        ([0, 1], [0], [1.0], 0, "one offset per node"),
        ([0, 1, 2], [0, 2], [1.0, 1.0], 0, "edges must end"),
        ([0, 1, 2], [0, 1], [1.0, -1.0], 0, "negative"),
        ([0, 1, 2], [0, 1], [1.0, np.nan], 0, "negative"),
        ([0, 3, 2], [0, 1], [1.0, 1.0], 0, "fall"),
        ([0, 1, 2], [0, 1], [1.0, 1.0], 1, "sources"),
        ([0, 1, 2], [0, 1], [1.0], 0, "one length"),
    ],
)
def test_broken_graphs_are_refused(offsets, ends, lengths, first, message):
    with pytest.raises(ValueError, match=message):
        _native.shortest_paths(
            np.array(offsets), np.array(ends, dtype=np.int32), np.array(lengths), first,
            np.empty((2, 2)), 1,
        )  # fmt: skip


def test_csr_matrices_can_be_walked():
    W = graph(20, 0.3, 1)
    G = sparse.csr_array(np.where(np.isfinite(W), W, 0.0))
    out = np.empty((20, 20))
    ends, lengths = G.indices.astype(np.int32), G.data
    _native.shortest_paths(G.indptr.astype(np.int64), ends, lengths, 0, out, 2)
    np.testing.assert_allclose(out, reference.shortest_paths(W), rtol=1e-13)
