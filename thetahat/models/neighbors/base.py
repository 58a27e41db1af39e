"""Shared by all neighbour models: their parameters, the distance they name, and the index."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.data.validation import as_features, is_sparse
from thetahat.estimator.base import Estimator, is_frame
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import (
    Range,
    check_ranges,
    infinity,
    more_than,
    none,
    one_of,
    whole,
)
from thetahat.foundation.checked_value import check_rule
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.distances import (
    Custom,
    Mahalanobis,
    Minkowski,
    NanEuclidean,
    StandardizedEuclidean,
)
from thetahat.mathematics.distances.base import Distance, Termwise
from thetahat.models.neighbors.search.given_graph import require_graph
from thetahat.models.neighbors.search.graph import ApproximateSearch
from thetahat.models.neighbors.search.index import NeighborIndex, suits_tree
from thetahat.models.neighbors.search.index_checks import suits_graph
from thetahat.models.neighbors.search.kd_tree import SearchTree
from thetahat.models.neighbors.search.metric import GivenMetric, fitted_distance


@with_parameters
class NeighborModel(Estimator):
    """A model that keeps its training rows and searches them.

    Parameters
    ----------
    algorithm : {"auto", "brute", "kd_tree", "ball_tree", "approximate"} or ApproximateSearch, \
            default="auto"
        How neighbours are found; the result is the same for all but "approximate", which searches a
        graph and finds 95% of the true neighbours on average. It is fast for many rows and columns,
        needs a dense X and the Euclidean, Manhattan, cosine or Mahalanobis distance, and serves
        queries for the k nearest rows; rows within a radius are always found exactly. Pass
        ``th.ApproximateSearch(recall=0.99)`` for another recall. "kd_tree" is fast for few
        columns, "brute" compares all rows by matrix products. "ball_tree" is accepted for
        compatibility with scikit-learn and gives the same neighbours by a kd-tree or, where the
        distance allows none, by brute force. "auto" uses a kd-tree for dense rows with few
        columns: at most 0.61·log₂ n, which is 10 for 100,000 rows. Sparse rows are always searched
        by brute force.
    leaf_size : int, default=30
        Largest number of rows in a leaf of the kd-tree. It has an influence on speed, not on
        results. Must be at least 1.
    p : float, default=2
        Power of the Minkowski distance, used with ``metric="minkowski"``: 1 is the Manhattan
        distance, 2 the Euclidean distance, infinity the Chebyshev distance. Must be positive; below
        1 the triangle inequality does not hold.
    metric : str, Distance or callable, default="minkowski"
        The distance between rows: a name or a value of ``th.distances``, a function of two rows, or
        "precomputed" if X holds distances (rows to predict × training rows). The diagonal of the
        distances between the training rows has no effect. Of a sparse matrix of distances, as
        `KNeighborsTransformer` gives it, only stored entries are neighbours.
    metric_params : dict or None, default=None
        Further parameters of the distance, such as ``{"V": covariance}`` for "mahalanobis" or
        ``{"w": weights}`` for "minkowski", or keyword arguments of your own function.
    n_jobs : int or None, default=None
        Has no effect. Accepted for compatibility with scikit-learn; set the number of threads with
        ``th.config(threads=...)``.

    Attributes
    ----------
    n_samples_fit_ : int
        Number of training rows that are searched.
    effective_metric_ : str or callable
        Name of the distance that is used: the one given as ``metric``, or such as "euclidean" for
        a Minkowski distance with p = 2.
    effective_metric_params_ : dict
        Parameters of the distance that is used, with the keys of ``metric_params``.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : array of shape (d,)
        Names of the columns seen in `fit`. Defined only when X has column names that are all
        strings.
    """

    _: KW_ONLY
    algorithm: Any = "auto"
    leaf_size: int = 30
    p: float = 2
    metric: Any = "minkowski"
    metric_params: Any = None
    n_jobs: int | None = None

    _ranges: ClassVar[dict[str, Range]] = {
        "algorithm": one_of("auto", "brute", "kd_tree", "ball_tree", "approximate")
        | Range(lambda value: isinstance(value, ApproximateSearch), "an ApproximateSearch"),
        "leaf_size": whole(1),
        "p": more_than(0) | infinity,
        "metric_params": none | Range(lambda value: isinstance(value, dict), "a dict"),
        "n_jobs": none | Range(lambda value: isinstance(value, int | np.integer), "a whole number"),
    }
    _accepts_sparse = True
    _streams = False
    _instead_of_blocks = "use LogisticRegression or LinearRegression, which read blocks"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        precomputed = isinstance(self.metric, str) and self.metric == "precomputed"
        tags.input_tags.pairwise = precomputed
        tags.input_tags.positive_only = precomputed
        tags.input_tags.allow_nan = self._accepts_missing()
        return tags

    def _open(self, X: Any, *others: Any, **options: Any) -> Source:
        """As in `Estimator`; another search or a tree gives the rows that it keeps."""
        if isinstance(X, NeighborModel | SearchTree):
            check_is_fitted(X) if isinstance(X, NeighborModel) else None
            X = X._index.rows
        options.setdefault("check_finite", not self._accepts_missing())
        return super()._open(X, *others, **options)

    def _accepts_missing(self) -> bool:
        """Whether the distance is defined for rows that hold NaN."""
        if isinstance(self.metric, str):
            return self.metric == NanEuclidean.name
        return isinstance(self.metric, Distance) and self.metric.accepts_missing

    def _keep_rows(self, source: Source) -> None:
        """Make the index of the training rows."""
        assert isinstance(source, InMemory)
        n, d = source.X.shape
        if not source.is_sparse:
            require_memory(
                2 * n * d * source.X.dtype.itemsize,
                f"{type(self).__name__}: copies of {n} rows with {d} columns",
                "Use fewer rows.",
            )
        rows = source.X.copy() if source.is_sparse else np.array(source.X, order="C")
        distance = self._distance_of(rows)
        if distance is None:
            _require_distances(rows, rows.shape[0], type(self).__name__)
        elif self._accepts_missing() and np.isinf(rows).any():
            raise DataError(
                f"{type(self).__name__}: Input X contains infinity. {distance!r} accepts missing "
                "values (NaN), but no infinite ones. Replace them."
            )
        self.n_samples_fit_ = int(rows.shape[0])
        self.effective_metric_, self.effective_metric_params_ = _effective(
            distance, self.metric, self.metric_params
        )
        algorithm = self._algorithm_for(distance, rows)
        self._index: NeighborIndex = NeighborIndex(rows, distance, algorithm, int(self.leaf_size))
        if self._approximate is not None:
            self._index = self._index.with_graph(self._approximate)
        self._index.prepare(sums=False)

    def _check_loaded(self) -> None:
        if "_index" not in vars(self):
            return
        check_ranges(self)
        index = self._index
        check_rule(self, isinstance(index, NeighborIndex), "the index of the rows is missing")
        n, d = index.rows.shape
        for name, wanted in (("n_samples_fit_", n), ("n_features_in_", d)):
            value = getattr(self, name, None)
            check_rule(
                self,
                isinstance(value, int) and not isinstance(value, bool) and value == wanted,
                f"{name} must be {wanted}, as the rows have it",
            )
        effective = (
            vars(self).get("effective_metric_"),
            vars(self).get("effective_metric_params_"),
        )
        check_rule(
            self,
            effective[0] is not None and isinstance(effective[1], dict),
            "effective_metric_ must name a distance, and its parameters must be a dict",
        )

    @property
    def _approximate(self) -> ApproximateSearch | None:
        if isinstance(self.algorithm, ApproximateSearch):
            return self.algorithm
        return ApproximateSearch() if self.algorithm == "approximate" else None

    def _algorithm_for(self, distance: Distance | None, rows: Matrix) -> str:
        if self._approximate is not None:
            self._require_graph(distance, rows)
            return "brute"
        has_tree = (
            isinstance(distance, Termwise) and distance.order is not None and not is_sparse(rows)
        )
        if self.algorithm == "kd_tree" and not has_tree and not is_sparse(rows):
            raise ParameterError(
                f"{type(self).__name__}: algorithm='kd_tree' needs a distance that is a sum or "
                f"maximum over columns, but metric={self.metric!r} is not. Use algorithm='brute'."
            )
        wanted = self.algorithm in ("kd_tree", "ball_tree") or (
            self.algorithm == "auto" and suits_tree(*rows.shape)
        )
        return "kd_tree" if has_tree and wanted else "brute"

    def _require_graph(self, distance: Distance | None, rows: Matrix) -> None:
        who = type(self).__name__
        if not hasattr(self, "kneighbors"):
            raise ParameterError(
                f"{who}: algorithm='approximate' finds the k nearest rows, but not all rows within "
                "a radius. Use algorithm='auto'."
            )
        if is_sparse(rows):
            raise CapabilityError(
                f"{who}: algorithm='approximate' needs dense rows, but X is sparse. Use "
                "algorithm='auto', or X.toarray() if it fits in memory."
            )
        if not suits_graph(distance):
            raise ParameterError(
                f"{who}: algorithm='approximate' needs a distance that is made of squares or "
                f"absolute differences of columns, but metric={self.metric!r} is not. Use "
                "metric='euclidean', 'manhattan', 'cosine' or 'mahalanobis', or algorithm='auto'."
            )

    def _distance_of(self, rows: Matrix) -> Distance | None:
        """The distance that the parameters name, or None for given distances."""
        if isinstance(self.metric, str) and self.metric == "precomputed":
            return None
        return fitted_distance(self.metric, self.metric_params, self.p, rows, type(self).__name__)

    def _queries(self, X: Any) -> Source:
        """The rows of a query, checked against those of `fit`."""
        if "_index" in vars(self) and self._accepts_missing() and not isinstance(X, Source):
            source: Source = self._open_with_missing(X)
        else:
            source = self._open_again(X)
        if self._index.distance is None and isinstance(source, InMemory):
            _require_distances(source.X, self.n_samples_fit_, type(self).__name__)
        return source

    def _open_with_missing(self, X: Any) -> Source:
        features, schema = as_features(X, who=type(self).__name__, accept_sparse=False)
        validate_data(self, X if is_frame(X) else features, skip_check_array=True, reset=False)
        if np.isinf(features).any():
            raise DataError(
                f"{type(self).__name__}: Input X contains infinity. Missing values (NaN) are "
                "accepted, but no infinite ones. Replace them."
            )
        return InMemory(
            X=features, n_features=int(features.shape[1]), dtype=features.dtype, schema=schema
        )

    def _map_queries(self, X: Any, function: Any) -> tuple[Any, Any]:
        """``function(rows)`` of all queries, block by block where they are not in memory.

        X = None stands for the training rows, of which none counts as its own neighbour. Returns
        the dtype of the queries as well.
        """
        if X is None:
            check_is_fitted(self)
            return function(None), self._index.rows.dtype
        if self._is_small_and_sound(X) and self._index.distance is not None:
            return function(X), X.dtype
        source = self._queries(X)
        if isinstance(source, InMemory):
            return function(source.X), source.dtype

        def of_block(block: Block) -> Array:
            return np.asarray(function(block.X))

        return source.map_rows(of_block), source.dtype


def _effective(
    distance: Distance | None, metric: Any, given: dict[str, Any] | None
) -> tuple[Any, dict[str, Any]]:
    """Name and parameters of a distance, as scikit-learn reports them: names as they were given."""
    if distance is None:
        return "precomputed", {}
    if isinstance(distance, Custom):
        return distance.function, {}
    if isinstance(distance, GivenMetric):
        return distance.metric, {}
    parameters = distance.get_params()
    if isinstance(distance, Minkowski) and distance.w is None:
        del parameters["w"]
        if distance.p in (1, 2):
            return "euclidean" if distance.p == 2 else "manhattan", {}
    name = distance.name
    if isinstance(metric, str) and metric not in ("minkowski", "p"):
        name = metric
        if isinstance(distance, Mahalanobis | StandardizedEuclidean):
            estimated = parameters.get("covariance", parameters.get("variance"))
            parameters = dict(given) if given else {"V": np.asarray(estimated)}
    return name, parameters


def _require_distances(rows: Matrix, n_rows: int, who: str) -> None:
    if rows.shape[1] != n_rows:
        raise DataError(
            f"{who}: Precomputed matrix must be square: it has {rows.shape[0]} rows and "
            f"{rows.shape[1]} columns. Give the distances between all training rows."
        )
    if is_sparse(rows):
        return require_graph(rows, who)
    if rows.size and rows.min() < 0:
        at = np.argwhere(rows < 0)[0].tolist()
        raise DataError(
            f"{who}: Negative values in data passed to precomputed distance matrix (first at row "
            f"{at[0]}, column {at[1]}: {rows[at[0], at[1]]:g}). Distances must be ≥ 0."
        )
