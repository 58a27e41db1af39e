"""Parameters that clusterings by density share, and the index of their rows."""

from __future__ import annotations

from abc import ABC
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClusterMixin

from thetahat.data.extremes import require_squares_of_rows
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.data.validation import is_sparse
from thetahat.estimator.base import Estimator
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, none, one_of, whole
from thetahat.foundation.checked_value import check_rule
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.distances.base import Distance, Termwise
from thetahat.models.neighbors.search.index import NeighborIndex, suits_tree
from thetahat.models.neighbors.search.index_checks import require_visible_differences
from thetahat.models.neighbors.search.metric import named_distance


class _Declared:
    """Types of the labels, and of parameters, which subclasses have in an order of their own."""

    metric: Any
    metric_params: Any
    algorithm: str
    leaf_size: int
    n_jobs: int | None
    labels_: Array


@with_parameters
class DensityModel(ClusterMixin, Estimator, _Declared, ABC):
    """A clustering by the density of rows.

    The parameters below are described here for the subclasses that have them.

    Parameters
    ----------
    metric : str, Distance or callable, default="euclidean"
        The distance between rows: a name or a value of ``th.distances``, a function of two rows, or
        "precomputed" if X holds the distances between all rows.
    metric_params : dict or None, default=None
        Further parameters of the distance, such as ``{"V": covariance}`` for "mahalanobis", or
        keyword arguments of your own function.
    algorithm : {"auto", "brute", "kd_tree", "ball_tree"}, default="auto"
        How neighbours are found, which changes the time but not the result. "kd_tree" is fast for
        few columns, "brute" compares all rows. "ball_tree" is accepted for compatibility with
        scikit-learn and means a kd-tree, or brute force where the distance allows none. "auto" uses
        a kd-tree for dense rows with few columns or, in `DBSCAN`, with many neighbours.
    leaf_size : int, default=30
        Largest number of rows in a leaf of the kd-tree. It has an influence on speed, not on
        results. Must be at least 1.
    n_jobs : int or None, default=None
        Has no effect. Accepted for compatibility with scikit-learn; set the number of threads with
        ``th.config(threads=...)``.

    Attributes
    ----------
    labels_ : array of shape (n,)
        The number of the cluster of each row, from 0; −1 for rows that belong to no cluster.
    """

    _ranges: ClassVar[dict[str, Range]] = {
        "metric_params": none | Range(lambda value: isinstance(value, dict), "a dict"),
        "algorithm": one_of("auto", "brute", "kd_tree", "ball_tree"),
        "leaf_size": whole(1),
        "n_jobs": none | Range(lambda value: isinstance(value, int | np.integer), "a whole number"),
    }
    _accepts_sparse = True
    _streams = False
    _instead_of_blocks = "use KMeans, which reads blocks"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_given
        tags.input_tags.positive_only = self._is_given
        return tags

    @property
    def _is_given(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _distance(self, who: str) -> Distance:
        """The distance that the parameters name."""
        return named_distance(self.metric, self.metric_params, 2.0, who)

    def _index_of(self, source: Source) -> NeighborIndex:
        """The rows and the distance, checked."""
        assert isinstance(source, InMemory)
        rows, who = source.X, type(self).__name__
        distance = None
        if self._is_given and rows.shape[0] != rows.shape[1]:
            raise DataError(
                f"{who}: Precomputed matrix must be square: it has {rows.shape[0]} rows and "
                f"{rows.shape[1]} columns. Give the distances between all rows."
            )
        if not self._is_given:
            require_squares_of_rows(source, who=who)
            distance = self._distance(who).fitted(rows)
            require_visible_differences(rows, distance)
        algorithm = self._algorithm_for(distance, rows)
        return NeighborIndex(rows, distance, algorithm, int(self.leaf_size))

    def _algorithm_for(self, distance: Distance | None, rows: Matrix) -> str:
        has_tree = (
            isinstance(distance, Termwise) and distance.order is not None and not is_sparse(rows)
        )
        if self.algorithm == "kd_tree" and not has_tree and not is_sparse(rows):
            raise ParameterError(
                f"{type(self).__name__}: {self.metric} is not a valid metric for a kd_tree-based "
                "algorithm. Please select a different metric. A kd-tree needs a sum or maximum "
                "over columns; algorithm='brute' takes any distance."
            )
        wanted = has_tree and (
            self.algorithm in ("kd_tree", "ball_tree")
            or (self.algorithm == "auto" and self._suits_tree(distance, rows))
        )
        return "kd_tree" if wanted else "brute"

    def _suits_tree(self, distance: Any, rows: Any) -> bool:
        """Whether a kd-tree is faster than a comparison of all rows."""
        return suits_tree(*rows.shape)

    def _check_loaded(self) -> None:
        if "labels_" not in vars(self):
            return
        labels = self.labels_
        check_rule(
            self,
            isinstance(labels, np.ndarray) and labels.ndim == 1 and labels.dtype.kind == "i",
            "labels_ must hold one whole number per row",
        )
