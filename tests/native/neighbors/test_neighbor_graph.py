"""The compiled graph against its plain twin: the same links and walks."""

import numpy as np
import pytest

from tests.reference.neighbors import neighbor_graph as twin
from thetahat import _native


def draw(n=300, d=4, seed=0, lattice=False):
    """Numbers whose squares are exact in float32, so that both compare the same distances."""
    random = np.random.default_rng(seed)
    return random.integers(0, 3 if lattice else 60, (n, d)).astype(np.float32)


def grown(points, threads=1, manhattan=False):
    graph = _native.NeighborGraph(points, 9, manhattan)
    order = np.arange(len(points), dtype=np.int32)
    graph.first(order[:50], 6, 1.25, threads)
    for begin in range(50, len(points), 40):
        graph.extend(order[begin : begin + 40], 12, 6, 1.25, threads)
    return graph


@pytest.mark.parametrize("lattice", [False, True])
def test_links_are_those_of_the_plain_twin(lattice):
    points = draw(lattice=lattice)
    plain = twin.Graph(points, 9)
    plain.first(list(range(50)), 6, 1.25)
    for begin in range(50, 300, 40):
        plain.extend(list(range(begin, min(300, begin + 40))), 12, 6, 1.25)
    links = grown(points).links()
    for row, own in enumerate(links):
        assert own[own >= 0].tolist() == plain.links[row]


def test_walks_are_those_of_the_plain_twin():
    points, queries = draw(), draw(20, seed=1)
    graph = grown(points)
    links = {row: own[own >= 0].tolist() for row, own in enumerate(graph.links())}
    found = np.empty((20, 15), dtype=np.int32)
    graph.search(queries, found, 2)
    for query, rows in zip(queries, found, strict=True):
        beam, _ = twin.walk(points, links, 0, query, 15)
        assert rows.tolist() == [row for _, row in beam]


@pytest.mark.parametrize("manhattan", [False, True])
def test_same_links_for_any_number_of_threads_and_after_restoring(manhattan):
    points = draw(1500, 8)
    one = grown(points, 1, manhattan).links()
    for threads in (2, 5):
        np.testing.assert_array_equal(grown(points, threads, manhattan).links(), one)
    again = _native.NeighborGraph(points, 9, manhattan)
    again.restore(one, 0)
    np.testing.assert_array_equal(again.links(), one)


def test_centre_is_the_row_nearest_to_zero():
    points = draw() - 30
    centre = _native.NeighborGraph(points, 9, False).centre
    assert centre == np.argmin((points**2).sum(axis=1))


@pytest.mark.parametrize("manhattan", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_candidates_are_measured_and_sorted(dtype, manhattan):
    random = np.random.default_rng(2)
    rows, queries = random.standard_normal((50, 5)).astype(dtype), random.standard_normal((6, 5))
    candidates = np.array([random.permutation(50)[:9] for _ in range(6)], dtype=np.int32)
    candidates[0, 4:] = -1
    distance, row = np.empty((6, 4)), np.empty((6, 4), dtype=np.int64)
    _native.nearest_candidates(queries, rows, candidates, manhattan, distance, row, 2)
    for i in range(6):
        some = candidates[i][candidates[i] >= 0]
        gaps = np.abs(queries[i] - rows[some].astype(float))
        length = gaps.sum(axis=1) if manhattan else (gaps**2).sum(axis=1)
        order = np.argsort(length)[:4]
        np.testing.assert_array_equal(row[i], some[order])
        np.testing.assert_allclose(distance[i], length[order], rtol=1e-14)


def test_sizes_and_links_are_checked_at_the_boundary():
    points = draw(20)
    with pytest.raises(ValueError, match="multiple of 4"):
        _native.NeighborGraph(points[:, :3].copy(), 9, False)
    with pytest.raises(ValueError, match="capacity"):
        _native.NeighborGraph(points, 257, False)
    graph = _native.NeighborGraph(points, 9, False)
    order = np.arange(20, dtype=np.int32)
    with pytest.raises(ValueError, match="n_links"):
        graph.first(order, 10, 1.25, 1)
    with pytest.raises(ValueError, match="slack"):
        graph.first(order, 6, 0.5, 1)
    with pytest.raises(ValueError, match="out of range"):
        graph.first(order + 1, 6, 1.25, 1)
    graph.first(order, 6, 1.25, 1)
    with pytest.raises(ValueError, match="links already"):
        graph.extend(order[:1], 8, 6, 1.25, 1)
    links = graph.links()
    for value in (20, -2):
        wrong = links.copy()
        wrong[3, 0] = value
        with pytest.raises(ValueError, match="link"):
            graph.restore(wrong, 0)
    with pytest.raises(ValueError, match="entry"):
        graph.restore(links, 20)
    with pytest.raises(ValueError, match="columns of the points"):
        graph.search(draw(3, 8), np.empty((3, 5), dtype=np.int32), 1)
    with pytest.raises(ValueError, match="candidate"):
        _native.nearest_candidates(
            points.astype(float), points, np.full((20, 2), 20, dtype=np.int32), False,
            np.empty((20, 1)), np.empty((20, 1), dtype=np.int64), 1,
        )  # fmt: skip
