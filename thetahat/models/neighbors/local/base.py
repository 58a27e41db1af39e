"""Shared by local models: rows, the smoothing kernel, bandwidths, and sums around queries."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.resampling import take_rows
from thetahat.data.source import Block, Source
from thetahat.data.validation import is_sparse
from thetahat.estimator.base import Estimator
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, from_to, more_than, one_of
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics import distances, smoothing
from thetahat.mathematics.distances.base import Distance, Termwise
from thetahat.mathematics.smoothing.base import SmoothingKernel
from thetahat.models.neighbors.local.exact_averages import exact_averages
from thetahat.models.neighbors.search.around import Around, Terms
from thetahat.models.neighbors.search.gauss_transform import truncation_error
from thetahat.models.neighbors.search.index import NeighborIndex, suits_tree

LEAF_SIZE = 30
LEAST_SUM = 1e-250
"""Smaller sums of kernel values have no correct digits, and count as 0."""
NEIGHBORS_AT_ONCE = 1 << 20
"""Neighbours of several queries that are in memory together."""
CONSTANT = Terms(0, 0)


@with_parameters
class LocalModel(Estimator):
    """A model that keeps its training rows and averages them around every query.

    Parameters
    ----------
    bandwidth : float or {"scott", "silverman", "leave_one_out"}, default="scott"
        The distance over which the kernel falls (h). Larger values give smoother predictions. A
        positive number, or a rule: "scott" is σ·n^{−1/(d+4)} and "silverman"
        σ·(4/((d+2)·n))^{1/(d+4)}, where σ is the root mean variance of the columns, both for a
        Gaussian kernel and converted to equal smoothing for others; they need a Euclidean distance.
        The rules take the sum of the row weights for n: if weights are not numbers of repetitions,
        scale them to mean 1 first. "leave_one_out" minimises the squared error of predictions that
        leave out the predicted row with its whole weight, over at most 2,000 rows. Not used if the
        kernel is `th.smoothing.Nearest`.
    kernel : str, SmoothingKernel or Nearest, default="gaussian"
        The smoothing kernel: a name or a value of ``th.smoothing``. With
        ``th.smoothing.Nearest(k, shape)`` the bandwidth at a query is the distance to its k-th
        neighbour.
    metric : str, Distance or callable, default="euclidean"
        The distance between rows: a name or a value of ``th.distances``, or a function of two rows.
    outside : {"nearest", "nan", "error"}, default="nearest"
        What is predicted for a query without a training row in the support of the kernel: the
        average of the nearest rows, NaN with a warning, or nothing with an error. Under a kernel
        without an edge, "nearest" takes the average by ratios of kernel values, which are exact
        also where the values themselves underflow; the others are used there.
    tolerance : float, default=1e-8
        Rows may be left out if together they have at most this share of the weight at a query, as
        distant rows under a Gaussian kernel; predictions are faster if distant rows need not be
        visited. The error of an average is at most this share of the range of the targets. Must be
        between 0, which leaves out no rows, and 0.1.

    Attributes
    ----------
    bandwidth_ : float or None
        The bandwidth that is used; None if it is the distance to the k-th neighbour.
    n_samples_fit_ : int
        Number of training rows of positive weight.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : array of shape (d,)
        Names of the columns seen in `fit`. Defined only when X has column names that are all
        strings.
    """

    _generative = False
    _parametric = False

    bandwidth: Any = "scott"
    kernel: Any = "gaussian"
    _: KW_ONLY
    metric: Any = "euclidean"
    outside: str = "nearest"
    tolerance: float = 1e-8

    _ranges: ClassVar[dict[str, Range]] = {
        "bandwidth": one_of("scott", "silverman", "leave_one_out") | more_than(0, 1e100),
        "outside": one_of("nearest", "nan", "error"),
        "tolerance": from_to(0, 0.1),
    }
    _streams = False

    def _keep_rows(self, source: Source) -> tuple[Array, Array]:
        """Keep rows and weights and resolve the kernel; return y and its scale."""
        assert isinstance(source, InMemory)
        assert source.y is not None
        self._shape, self._k = _resolved(self.kernel)
        weight = np.array(source.row_weights, dtype=np.float64)
        counted = np.flatnonzero(weight > 0)
        rows, y = source.X, np.asarray(source.y, dtype=np.float64)
        if counted.shape[0] < weight.shape[0]:
            rows, y, weight = take_rows(rows, counted), y[counted], weight[counted]
        rows = rows.copy() if is_sparse(rows) else np.array(rows, order="C")
        distance = self._distance(rows)
        self.n_samples_fit_ = int(rows.shape[0])
        # Powers of two change no digit, and keep sums of extreme numbers finite.
        scale = _power_of_two(np.abs(y).max(axis=0)) if y.size else np.ones(())
        unit = float(_power_of_two(weight.max()))
        self._unit = unit
        self._weights = weight / unit
        self._index: NeighborIndex = NeighborIndex(
            rows, distance, _algorithm(distance, rows), LEAF_SIZE
        )
        self._index.prepare()
        if self._k is not None and self._k > self._weights.sum() * unit * (1 + 1e-12):
            raise DataError(
                f"{type(self).__name__}: {self._k} neighbours were requested, but the weights of "
                f"the {self.n_samples_fit_} training rows sum to {weight.sum():g}. Neighbours "
                "count with their weights, 1 by default. Use a smaller k or more rows."
            )
        return y / scale, np.asarray(scale)

    def _distance(self, rows: Matrix) -> Distance:
        if isinstance(self.metric, str) and self.metric == "precomputed":
            raise ParameterError(
                f"{type(self).__name__}: metric='precomputed' is not supported. Pass a value of "
                "th.distances or a function of two rows."
            )
        return distances.named(self.metric).fitted(rows)

    def _widths(self, rows: Matrix) -> Array:
        """The bandwidth at every query."""
        if self._k is None:
            return np.full(rows.shape[0], self.bandwidth_, dtype=np.float64)
        if (found := self._widths_on_a_line(rows)) is not None:
            return found
        step = max(1, NEIGHBORS_AT_ONCE // self._k)
        if rows.shape[0] > step:
            starts = range(0, rows.shape[0], step)
            return np.concatenate([self._widths(rows[i : i + step]) for i in starts])
        found = np.empty(rows.shape[0])
        open_, count = np.arange(rows.shape[0]), min(self._k, self.n_samples_fit_)
        wanted = self._k / self._unit * (1 - 1e-12)
        while open_.size:
            near = self._index.nearest(rows[open_], count)
            total = np.cumsum(self._weights[near.row], axis=1)
            enough = (total[:, -1] >= wanted) | (count == self.n_samples_fit_)
            last = np.minimum((total < wanted).sum(axis=1), count - 1)
            found[open_[enough]] = near.distance[enough, last[enough]]
            open_, count = open_[~enough], min(2 * count, self.n_samples_fit_)
        return found

    def _widths_on_a_line(self, rows: Matrix) -> Array | None:
        """The distances to the k-th neighbours of one column with equal weights, else None.

        The k nearest values are a range of the sorted ones: the first whose ends lie at least as
        far to the right as to the left, or the one before it. Cost: O(log n) per query.
        """
        distance, k = self._index.distance, self._k
        usable = isinstance(distance, Termwise) and distance.order in (1, 2, np.inf)
        if (
            not usable
            or is_sparse(rows)
            or rows.shape[1] > 1
            or (self._weights * self._unit != 1).any()
        ):
            return None
        assert isinstance(distance, Termwise)
        assert k is not None
        embedded = [np.asarray(distance.embedded(each)) for each in (self._index.rows, rows)]
        if embedded[0].shape[1] > 1:
            return None
        line, at = (each[:, 0].astype(np.float64) for each in embedded)
        line = np.sort(line)
        last = len(line) - k
        middle = np.searchsorted(0.5 * line[: last + 1] + 0.5 * line[k - 1 :], at)
        widths = []
        for begin in (np.maximum(middle - 1, 0), np.minimum(middle, last)):
            widths.append(np.maximum(at - line[begin], line[begin + k - 1] - at))
        reduced = np.minimum(*widths)
        with np.errstate(over="ignore"):
            reduced = reduced * reduced if distance.order == 2 else reduced
        return distance.from_reduced(reduced, 1)

    def _around(self, widths: Array, values: Array, reach: float) -> Around:
        return Around(
            self._shape, widths, reach, self._weights, values, CONSTANT,
            np.empty((self.n_samples_fit_, 0)), np.empty((widths.shape[0], 0)),
        )  # fmt: skip

    def _sums(self, rows: Matrix, around: Around) -> tuple[Array, Array]:
        """A and B of every query, with no more weight left out than the tolerance."""
        first = self._reach()
        near = _changed(around, reach=first)
        transformed = self._index.gauss_moments(rows, near)
        a, b = self._index.moments(rows, near) if transformed is None else transformed
        if first < self._shape.support:
            # What lies beyond the reach weighs at most K(reach) per unit of weight.
            error = abs(float(self._shape.value(first)))
            if transformed is not None:
                error += truncation_error(self.n_features_in_) * float(self._shape.value(0.0))
            beyond = self._weights.sum() * error
            again = np.flatnonzero(beyond > self.tolerance * a[:, 0])
            if again.size:
                some = _changed(
                    around, reach=self._shape.support, widths=around.widths[again],
                    centres=around.centres[again],
                )  # fmt: skip
                a[again], b[again] = self._index.moments(rows[again], some)
        return a, b

    def _reach(self) -> float:
        # A row twice has the reach of a row of weight two.
        return self._shape.reach(self.tolerance / float(self._weights.sum()) / self._unit)

    def _averages(self, rows: Matrix, values: Array) -> Array:
        """Σ g v/Σ g around every query, (m, t); NaN where `outside` says so."""
        total, sums = self._sums(rows, self._around(self._widths(rows), values, 0.0))
        found = np.full(sums.shape, np.nan)
        known = total[:, 0] > LEAST_SUM
        found[known] = sums[known] / total[known]
        if not known.all():
            self._fill_outside(rows, np.flatnonzero(~known), values, found)
        return found

    def _exact_averages(
        self, rows: Matrix, values: Array, left_out: Array | None = None
    ) -> tuple[Array, Array]:
        """As `exact_averages`, with the bandwidths of the queries."""
        return exact_averages(
            self._index, self._shape, self._weights, values, rows, self._widths(rows), left_out
        )

    def _as_outside(self, found: Array, alone: Array) -> Array:
        """Averages of the nearest rows, or what `outside` says instead."""
        if self.outside != "nearest" and alone.any():
            self._report_outside(np.flatnonzero(alone), found.shape[0])
            found[alone] = np.nan
        return found

    def _fill_outside(self, rows: Matrix, alone: Array, values: Array, found: Array) -> None:
        if self.outside == "nearest":
            found[alone] = self._exact_averages(rows[alone], values)[0]
        else:
            self._report_outside(alone, rows.shape[0])

    def _report_outside(self, alone: Array, n_rows: int) -> None:
        message = (
            f"{type(self).__name__}: {alone.shape[0]} of {n_rows} rows have no training row "
            f"in the support of the kernel (first at row {alone[0]})"
        )
        remedy = "Use a larger bandwidth, or outside='nearest'."
        if self.outside == "error":
            raise DataError(f"{message}. {remedy}")
        warn(f"{message}; their prediction is NaN. {remedy}", UserWarning)

    def _map_queries(self, source: Source, function: Any) -> Any:
        """``function(X)`` of all rows, block by block where they are not in memory."""
        if isinstance(source, InMemory):
            return function(source.X)

        def of_block(block: Block) -> Array:
            return np.asarray(function(block.X))

        return source.map_rows(of_block)


def _changed(around: Around, **changes: Any) -> Around:
    from dataclasses import replace

    return replace(around, **changes)


def _resolved(kernel: Any) -> tuple[SmoothingKernel, int | None]:
    """The smoothing kernel, and the neighbour whose distance is its width, if any."""
    if isinstance(kernel, str) and kernel in (smoothing.Nearest.name, *smoothing.Nearest.aliases):
        kernel = smoothing.Nearest()
    if isinstance(kernel, smoothing.Nearest):
        return smoothing.named(kernel.shape), kernel.k
    return smoothing.named(kernel), None


def _algorithm(distance: Distance, rows: Matrix) -> str:
    has_tree = isinstance(distance, Termwise) and distance.order is not None
    return "kd_tree" if has_tree and not is_sparse(rows) and suits_tree(*rows.shape) else "brute"


def _power_of_two(largest: Any) -> Array:
    """The power of two next to a positive number, 1 for 0, within the range of normal numbers."""
    _, exponent = np.frexp(np.asarray(largest, dtype=np.float64))
    return np.asarray(np.where(largest > 0, np.ldexp(1.0, np.clip(exponent, -1000, 1000)), 1.0))
