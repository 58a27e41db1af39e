"""Queries of a fitted neighbour model: the k nearest rows, rows within a radius, and graphs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, at_least, check_value, infinity, one_of, whole
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array, Matrix
from thetahat.models.neighbors.base import NeighborModel
from thetahat.models.neighbors.search.found import Nearest, Within

POSITIVE = whole(1)
FOUND_AT_ONCE = 1 << 17
"""Neighbours within a radius that predictions keep at a time, about: they stay in the cache."""
SPACE_OF_NEIGHBORS: dict[str, tuple[Any, ...]] = {
    "n_neighbors": (1, 3, 5, 10, 20, 40, 80),
    "weights": ("uniform", "distance"),
    "p": (1, 2),
}
"""Parameters of predictions from neighbours that are worth trying on a new table."""


class KNearest(NeighborModel):
    """A neighbour model with queries for the k nearest rows.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbours (k). Larger values give smoother predictions. Must be at least 1 and at
        most the number of training rows.
    """

    _ranges: ClassVar[dict[str, Range]] = {**NeighborModel._ranges, "n_neighbors": POSITIVE}

    n_neighbors: int | None

    def _nearest(self, rows: Matrix | None, k: Any = None) -> Nearest:
        """The k nearest training rows; of the training rows themselves if None, each but itself."""
        count: Any = self.n_neighbors if k is None else k
        check_value(count, POSITIVE, "n_neighbors", type(self).__name__)
        most = self.n_samples_fit_ - (rows is None)
        if count > most:
            rule = "n_neighbors < n_samples_fit" if rows is None else "n_neighbors <= n_samples_fit"
            raise DataError(
                f"{type(self).__name__}: Expected {rule}, but n_neighbors = {count}, n_samples_fit "
                f"= {self.n_samples_fit_}. Use fewer neighbours or more training rows."
            )
        found = self._index.nearest(rows, int(count) + (rows is None))
        return _without_themselves(found) if rows is None else found

    def kneighbors(
        self, X: Any = None, n_neighbors: Any = None, return_distance: bool = True
    ) -> Any:
        """Find the k nearest training rows of every row.

        Cost: O(log n) per row with a kd-tree on average, else O(n d).

        Parameters
        ----------
        X : array-like, sparse or table of shape (m, d), optional
            Rows whose neighbours are searched. By default the training rows, of which each does not
            count as its own neighbour.
        n_neighbors : int, optional
            Number of neighbours. By default that of the constructor.
        return_distance : bool, default=True
            Whether to return the distances as well.

        Returns
        -------
        distance : array of shape (m, k)
            Distances of the neighbours, the smallest first. Only if ``return_distance=True``.
        row : array of shape (m, k)
            Numbers of the training rows. Of two at the same distance, the smaller comes first.
        """
        rows, dtype = _asked(self, X)
        found = self._nearest(rows, n_neighbors)
        return (found.distance.astype(dtype), found.row) if return_distance else found.row

    def kneighbors_graph(
        self, X: Any = None, n_neighbors: Any = None, mode: str = "connectivity"
    ) -> Any:
        """Compute the graph of k nearest neighbours as a sparse matrix. Cost: as `kneighbors`.

        Parameters
        ----------
        X : array-like, sparse or table of shape (m, d), optional
            Rows whose neighbours are searched. By default the training rows, of which each does not
            count as its own neighbour.
        n_neighbors : int, optional
            Number of neighbours. By default that of the constructor.
        mode : {"connectivity", "distance"}, default="connectivity"
            The entries of the graph: 1 for every neighbour, or the distances.

        Returns
        -------
        graph : sparse array of shape (m, n_training_rows)
            CSR with k entries per row.
        """
        _require_mode(mode, type(self).__name__)
        rows, _ = _asked(self, X)
        found = self._nearest(rows, n_neighbors)
        m, k = found.row.shape
        values = np.ones(m * k) if mode == "connectivity" else found.distance.ravel()
        return _graph(values, found.row.ravel(), np.arange(m + 1) * k, self.n_samples_fit_)


class InRadius(NeighborModel):
    """A neighbour model with queries for all rows within a radius.

    Parameters
    ----------
    radius : float, default=1.0
        Radius within which training rows are neighbours. Rows at exactly this distance belong to
        them. Larger values give smoother predictions. Must not be negative.
    """

    _ranges: ClassVar[dict[str, Range]] = {
        **NeighborModel._ranges,
        "radius": at_least(0) | infinity,
    }

    radius: float | None

    def _within(self, rows: Matrix | None, radius: Any = None, by_distance: bool = False) -> Within:
        r: Any = self.radius if radius is None else radius
        if np.ndim(r) == 0:
            check_value(r, InRadius._ranges["radius"], "radius", type(self).__name__)
        else:
            r = self._radii(r, self.n_samples_fit_ if rows is None else rows.shape[0])
        found = self._index.within(rows, r, by_distance)
        if rows is not None:
            return found
        query = np.repeat(np.arange(found.counts.shape[0]), found.counts)
        others = query != found.row
        return Within(
            np.bincount(query[others], minlength=found.counts.shape[0]),
            found.row[others],
            found.distance[others],
        )

    def _within_by_blocks(self, rows: Matrix | None) -> Iterator[tuple[slice, Within]]:
        """As `_within`, for some queries after the other, of which few neighbours are in memory."""
        if rows is None:
            yield slice(0, self.n_samples_fit_), self._within(None)
            return
        start, step, m = 0, 64, rows.shape[0]
        while start < m:
            some = slice(start, min(start + step, m))
            found = self._within(rows[some])
            yield some, found
            average = found.row.shape[0] / (some.stop - start)
            start, step = some.stop, int(max(1, min(4 * step, FOUND_AT_ONCE / max(average, 1))))

    def _radii(self, radius: Any, n_queries: int) -> Array:
        radii = np.asarray(radius)
        if radii.shape != (n_queries,) or radii.dtype.kind not in "iuf" or not (radii >= 0).all():
            raise ParameterError(
                f"{type(self).__name__}: radius must be one number ≥ 0, or one for each of the "
                f"{n_queries} rows, but it is an array of shape {radii.shape} and dtype "
                f"{radii.dtype}" + (
                    f" with the smallest value {radii.min():g}."
                    if radii.dtype.kind in "iuf" and radii.size else "."
                )
            )  # fmt: skip
        return radii

    def radius_neighbors(
        self,
        X: Any = None,
        radius: Any = None,
        return_distance: bool = True,
        sort_results: bool = False,
    ) -> Any:
        """Find all training rows within a radius of every row.

        Cost: O(log n + found) per row with a kd-tree on average, else O(n d).

        Parameters
        ----------
        X : array-like, sparse or table of shape (m, d), optional
            Rows whose neighbours are searched. By default the training rows, of which each does not
            count as its own neighbour.
        radius : float or array of shape (m,), optional
            The radius, or one for each row. By default that of the constructor.
        return_distance : bool, default=True
            Whether to return the distances as well.
        sort_results : bool, default=False
            Whether to order neighbours by distance. If False, they are ordered by row number.

        Returns
        -------
        distance : array of shape (m,) of arrays
            Distances of the neighbours of each row. Only if ``return_distance=True``.
        row : array of shape (m,) of arrays
            Numbers of the training rows; empty where there are none within the radius.
        """
        if sort_results and not return_distance:
            raise ParameterError("return_distance must be True if sort_results is True.")
        rows, dtype = _asked(self, X)
        found = self._within(rows, radius, bool(sort_results))
        row = _split(found.row, found)
        return (_split(found.distance.astype(dtype), found), row) if return_distance else row

    def radius_neighbors_graph(
        self,
        X: Any = None,
        radius: Any = None,
        mode: str = "connectivity",
        sort_results: bool = False,
    ) -> Any:
        """Compute the graph of neighbours within a radius. Cost: as `radius_neighbors`.

        Parameters
        ----------
        X : array-like, sparse or table of shape (m, d), optional
            Rows whose neighbours are searched. By default the training rows, of which each does not
            count as its own neighbour.
        radius : float or array of shape (m,), optional
            The radius, or one for each row. By default that of the constructor.
        mode : {"connectivity", "distance"}, default="connectivity"
            The entries of the graph: 1 for every neighbour, or the distances.
        sort_results : bool, default=False
            Whether to order the entries of a row by distance. If False, they are ordered by column.

        Returns
        -------
        graph : sparse array of shape (m, n_training_rows)
            CSR with one entry per neighbour.
        """
        _require_mode(mode, type(self).__name__)
        rows, _ = _asked(self, X)
        found = self._within(rows, radius, bool(sort_results))
        values = np.ones(found.row.shape[0]) if mode == "connectivity" else found.distance
        return _graph(values, found.row, found.offsets, self.n_samples_fit_)


def _asked(model: NeighborModel, X: Any) -> tuple[Matrix | None, Any]:
    """The rows of a query (None: the training rows), and the dtype of their distances."""
    from sklearn.utils.validation import check_is_fitted

    if X is not None and model._is_small_and_sound(X) and model._index.distance is not None:
        return X, np.result_type(X.dtype, model._index.rows.dtype)
    check_is_fitted(model)
    fitted = model._index.rows.dtype
    if X is None:
        return None, fitted
    source = model._queries(X)
    rows = source.X if isinstance(source, InMemory) else source.map_rows(lambda block: block.X)
    return rows, np.result_type(rows.dtype, fitted)


def _without_themselves(found: Nearest) -> Nearest:
    """Leave out the row itself, or the first where equal rows came before it."""
    m, k = found.row.shape
    itself = found.row == np.arange(m)[:, None]
    itself[~itself.any(axis=1), 0] = True
    return Nearest(found.distance[~itself].reshape(m, k - 1), found.row[~itself].reshape(m, k - 1))


def _split(values: Array, found: Within) -> Array:
    parts = np.empty(found.counts.shape[0], dtype=object)
    offsets = found.offsets
    for i in range(parts.shape[0]):
        parts[i] = values[offsets[i] : offsets[i + 1]]
    return parts


def _graph(values: Array, columns: Array, offsets: Array, n_columns: int) -> Any:
    from scipy.sparse import csr_matrix

    return csr_matrix((values, columns, offsets), shape=(offsets.shape[0] - 1, n_columns))


def _require_mode(mode: Any, who: str) -> None:
    check_value(mode, one_of("connectivity", "distance"), "mode", who)


@with_parameters
class Weighted:
    """How neighbours are weighted in a prediction.

    Parameters
    ----------
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        Weights of the neighbours: all equal ("uniform" or None), the inverse of their distance, or
        a function that receives an array of distances and returns weights of the same shape.
    """

    _ranges: ClassVar[dict[str, Range]] = {
        "weights": one_of("uniform", "distance")
        | Range(lambda value: value is None or callable(value), "None or a function of distances"),
    }

    weights: Any = "uniform"
