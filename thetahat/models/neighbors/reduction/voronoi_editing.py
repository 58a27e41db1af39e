"""Voronoi editing: drop the rows whose Voronoi neighbours all have their class."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, one_of
from thetahat.foundation.precision import SUM_ROUNDING
from thetahat.foundation.types import Array
from thetahat.mathematics.distances import Euclidean
from thetahat.models.neighbors.reduction.base import NearestPrototype

MOST_DELAUNAY_COLUMNS = 4
"""Columns up to which a triangulation is faster than a test of each row."""
MOST_HULL_COLUMNS = 6
"""Columns up to which the faces of a convex hull are few enough to be listed."""
NEGLIGIBLE = 1e-9
"""Relative distance of a point from a convex hull that counts as inside."""
NEARLY_EQUAL = 1e-6
"""Difference of two faces below which the rows are looked at more closely."""


@with_parameters
class VoronoiEditing(NearestPrototype):
    """Classification by the nearest row, without the rows that do not affect any prediction.

    A row is dropped if all its Voronoi neighbours, whose cells share a face with its own, have its
    class; cells that meet in a corner alone, as on a grid, are no neighbours. The
    others give every point the same class as all training rows do, so that one-nearest-neighbour
    classification becomes faster without a change. With many columns almost all rows are neighbours
    of each other, and few are dropped.

    Formula: f(x) = y_i with i = argmin_{i ∈ S} ‖x − x_i‖, S = {i : a Voronoi neighbour j of i has
    y_j ≠ y_i}.

    Cost: a Delaunay triangulation takes O(n log n) for two columns and O(n^{⌈d/2⌉}) for d. The test
    of single rows takes a matrix product of O(n² d) for each, and where that does not decide, a
    convex hull of the own class, or for more than 6 columns O(n) non-negative least squares.

    Parameters
    ----------
    method : {"auto", "delaunay", "hull"}, default="auto"
        How Voronoi neighbours are found: by a Delaunay triangulation of all rows, or row by row: a
        row is dropped if the other classes, inverted at a sphere around it, lie in the convex hull
        of its own class. Both give the same rows. "auto" uses the triangulation for at most 4
        columns.

    Attributes
    ----------
    sample_indices_ : array of shape (n_prototypes,)
        Numbers of the training rows that are kept, in ascending order.

    Examples
    --------
    >>> import thetahat as th
    >>> X, y = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]], list("aaabbb")
    >>> model = th.VoronoiEditing().fit(X, y)
    >>> model.sample_indices_.tolist(), model.predict([[4.4], [4.6]]).tolist()
    ([2, 3], ['a', 'b'])
    """

    _: KW_ONLY
    method: str = "auto"

    _ranges: ClassVar[dict[str, Range]] = {"method": one_of("auto", "delaunay", "hull")}
    _for_few_rows = True

    def fit(self, X: Any, y: Any = None) -> VoronoiEditing:
        """Select the rows that are kept. Cost: see the class.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Training rows, one per label. Of equal rows, the first one is used.
        y : array-like of shape (n,)
            Class label of each training row.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        source = self._open_classes(X, y, least=1)
        assert isinstance(source, InMemory)
        assert source.y is not None
        rows, codes = np.array(source.X, order="C"), source.y.astype(np.intp)
        _, first = np.unique(rows, axis=0, return_index=True)
        first = np.sort(first)
        points = scaled_points(rows[first])
        triangulate = self.method == "delaunay" or (
            self.method == "auto" and points.shape[1] <= MOST_DELAUNAY_COLUMNS
        )
        border = by_triangulation if triangulate else by_hulls
        kept = first[border(points, codes[first])]
        if not kept.size:  # one class, without any border
            kept = first[:1]
        self.sample_indices_ = np.asarray(kept, dtype=np.int64)
        self._keep(rows[kept], codes[kept], Euclidean())
        return self


def scaled_points(rows: Array) -> Array:
    """The rows, centred and in units of their spread, so that squares are accurate."""
    points = rows.astype(np.float64)
    # Powers of two lose no digit. First one that keeps sums finite, then one near the spread.
    points = points / 2.0 ** np.clip(np.frexp(np.abs(points).max(initial=0.0))[1], -1000, 1000)
    points = points - points.mean(axis=0)
    return points / (float(np.abs(points).max(initial=0.0)) or 1.0)


def by_triangulation(points: Array, codes: Array) -> Array:
    """Which rows have a Voronoi neighbour of another class, by a Delaunay triangulation."""
    n, d = points.shape
    if d == 1:
        order = np.argsort(points[:, 0], kind="stable")
        differs = np.diff(codes[order]) != 0
        found = np.zeros(n, dtype=bool)
        found[order[:-1][differs]] = found[order[1:][differs]] = True
        return found
    if n < d + 2:
        return by_hulls(points, codes)
    from scipy.spatial import Delaunay, QhullError

    try:
        # "Qz" adds a point at infinity, "QJ" is not used: moved points have other neighbours.
        triangulation = Delaunay(points, qhull_options="Qbb Qc Qz Q12")
    except QhullError:  # all rows lie in a hyperplane
        return by_hulls(points, codes)
    if triangulation.coplanar.size:  # rows that rounding has left out of the triangulation
        return by_hulls(points, codes)
    start, neighbors = triangulation.vertex_neighbor_vertices
    differs = codes[neighbors] != np.repeat(codes, np.diff(start))
    found = np.bincount(np.repeat(np.arange(n), np.diff(start)), differs, n) > 0
    for i in np.flatnonzero(found & _on_common_spheres(triangulation)).tolist():
        some = np.append(i, neighbors[start[i] : start[i + 1]])
        found[i] = _is_at_border(points[some], codes[some], 0)
    return np.asarray(found)


def _on_common_spheres(triangulation: Any) -> Array:
    """Which rows lie with more than d others on an empty sphere, as those of a grid do.

    Some of their edges are arbitrary diagonals between cells that touch in less than a face. Two
    simplices have one sphere if they are one face of the lifted points.
    """
    faces, beside = triangulation.equations, triangulation.neighbors
    gap = np.abs(faces[:, None] - faces[beside]).max(axis=2)
    same = (beside >= 0) & (gap < NEARLY_EQUAL)
    found = np.zeros(len(triangulation.points), dtype=bool)
    found[triangulation.simplices[same.any(axis=1)]] = True
    return found


def by_hulls(points: Array, codes: Array) -> Array:
    """Which rows have a Voronoi neighbour of another class, by one test per row.

    The neighbours of x_i are the corners of the convex hull of 0 and the points
    p_j = (x_j − x_i)/‖x_j − x_i‖². A corner has another class unless all p_j of other classes lie
    in the hull of 0 and those of the own class.
    """
    return np.array([_is_at_border(points, codes, i) for i in range(points.shape[0])], dtype=bool)


def _is_at_border(points: Array, codes: Array, i: int) -> bool:
    from scipy.optimize import nnls

    gaps = np.delete(points - points[i], i, axis=0)
    other = np.delete(codes, i) != codes[i]
    if not other.any() or other.all():
        return bool(other.any())
    length = np.sqrt(np.einsum("ij,ij->i", gaps, gaps))
    gaps = gaps * (length.min() / length**2)[:, None]
    own, others = gaps[~other], gaps[other]
    # In the direction of p_j itself no point of the own class reaches as far: p_j is outside.
    square = np.einsum("ij,ij->i", others, others)
    if ((own @ others.T).max(axis=0) < square * (1 - NEGLIGIBLE)).any():
        return True
    if 2 <= own.shape[1] <= MOST_HULL_COLUMNS and len(own) > own.shape[1]:
        from scipy.spatial import ConvexHull, QhullError

        try:
            faces = ConvexHull(np.vstack([own, np.zeros(own.shape[1])])).equations
        except QhullError:  # the own class and 0 lie in a hyperplane
            pass
        else:
            height = (others @ faces[:, :-1].T + faces[:, -1]).max(axis=1)
            return bool((height > NEGLIGIBLE * np.sqrt(square) + SUM_ROUNDING).any())
    # p_j = Σ_k a_k p_k with a ≥ 0 and Σ a ≤ 1; the slack is the weight of 0.
    corners = np.hstack([own.T, np.zeros((own.shape[1], 1))])
    for p, size in zip(others, np.sqrt(square), strict=True):
        design = np.vstack([corners / size, np.ones(len(own) + 1)])
        if nnls(design, np.append(p / size, 1.0))[1] > NEGLIGIBLE:
            return True
    return False
