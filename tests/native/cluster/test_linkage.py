"""Kernels of hierarchical clustering against each other and against SciPy; bad arguments."""

import numpy as np
import pytest
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import pdist, squareform

from thetahat import _native

NO_CORE = np.empty(0)


def places(n):
    return np.empty(n - 1, dtype=np.int64), np.empty(n - 1, dtype=np.int64), np.empty(n - 1)


@pytest.mark.parametrize(("n", "d"), [(2, 1), (70, 3), (400, 2), (300, 9)])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("with_core", [False, True])
def test_all_spanning_trees_are_one(n, d, ties, with_core):
    random = np.random.default_rng(n)
    rows = random.normal(size=(n, d))
    rows = np.round(2 * rows) / 2 if ties else rows
    core = np.round(random.uniform(0, 2, n), 1) if with_core else NO_CORE
    trees = []
    for threads in (1, 2):
        trees.append(places(n))
        _native.spanning_tree_near(rows, 2.0, core, *trees[-1], threads)
        trees.append(places(n))
        _native.spanning_tree_all(rows, 2.0, False, core, *trees[-1], threads)
    for tree in trees[1:]:
        for found, expected in zip(tree, trees[0], strict=True):
            np.testing.assert_array_equal(found, expected)
    squares = squareform(pdist(rows, "sqeuclidean"))
    if with_core:
        squares = np.maximum(squares, np.maximum.outer(core, core))
    graph = squares + 1.0  # SciPy takes 0 for no edge
    total = minimum_spanning_tree(np.triu(graph, 1)).sum() - (n - 1)
    assert trees[0][2].sum() == pytest.approx(total, abs=1e-9)
    given = places(n)
    _native.spanning_tree_given(squareform(squares, checks=False), NO_CORE, *given)
    np.testing.assert_allclose(given[2], trees[0][2], atol=1e-12)


@pytest.mark.parametrize(("n", "d"), [(40, 1), (400, 2), (300, 12)])
def test_wards_chain_of_centres_is_that_of_squares(n, d):
    rows = np.random.default_rng(n).normal(size=(n, d))
    triangle = np.empty(n * (n - 1) // 2)
    _native.triangle_distances(rows, 2.0, False, triangle, 2)
    np.testing.assert_allclose(triangle, pdist(rows, "sqeuclidean"))
    found, expected = places(n), places(n)
    chain = _native.WardChain(rows)
    assert chain.advance(3) == n - 4
    assert chain.advance(n) == 0
    chain.copy_merges(*found)
    squares = _native.LinkageChain(triangle, n, 3)
    squares.advance(n)
    squares.copy_merges(*expected)
    np.testing.assert_allclose(np.sort(found[2]), np.sqrt(np.sort(expected[2])))


def test_bad_arguments_are_refused():
    rows = np.zeros((4, 2))
    with pytest.raises(ValueError, match="n\\(n - 1\\)/2"):
        _native.LinkageChain(np.zeros(5), 4, 1)
    with pytest.raises(ValueError, match="linkage is not known"):
        _native.LinkageChain(np.zeros(6), 4, 7)
    with pytest.raises(ValueError, match="one place per edge"):
        _native.spanning_tree_near(rows, 2.0, NO_CORE, *places(3), 1)
    with pytest.raises(ValueError, match="core distance per row"):
        _native.spanning_tree_all(rows, 2.0, False, np.zeros(3), *places(4), 1)
    merges = np.array([0, 9, 1]), np.array([1, 2, 3]), np.zeros(3)
    with pytest.raises(ValueError, match="two rows"):
        _native.number_merges(*merges, np.zeros((3, 2), dtype=np.int64), np.zeros(3))
    graph = np.array([0, 1, 2, 2, 2]), np.array([1, 0]), np.zeros(2)
    children = np.zeros((3, 2), dtype=np.int64)
    assert _native.graph_linkage(*graph, rows, 1, children, np.zeros(3)) == 1
    with pytest.raises(ValueError, match="linkage is not known"):
        _native.graph_linkage(*graph, rows, 0, children, np.zeros(3))
    loop = np.array([0, 1, 1, 1, 1]), np.array([0]), np.zeros(1)
    with pytest.raises(ValueError, match="two different rows"):
        _native.graph_linkage(*loop, rows, 1, children, np.zeros(3))
