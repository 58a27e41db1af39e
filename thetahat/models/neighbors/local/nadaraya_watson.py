"""Nadaraya-Watson kernel regression: ŷ(x) = Σ_i g_i y_i/Σ_i g_i, g_i = w_i·K(d(x, x_i)/h)."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from thetahat.data.source import Source
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.source_scores import ScoredRegressor
from thetahat.foundation.types import Array
from thetahat.models.neighbors.local.bandwidths import (
    MOST_PREDICTED,
    rule_of_thumb,
    smallest_error,
    spaced,
)
from thetahat.models.neighbors.local.base import LEAST_SUM, LocalModel

ENOUGH_LEFT = 1e-3
"""Share of a row in its own sum of weights that others must have, so that digits are left."""


class KernelAverage(LocalModel):
    """A local model whose predictions are weighted averages of values of the training rows."""

    def _choose_bandwidth(self, values: Array) -> None:
        who, given = type(self).__name__, self.bandwidth
        self.bandwidth_: float | None = None
        if self._k is not None:
            return
        if not isinstance(given, str):
            self.bandwidth_ = float(given)
        elif given == "leave_one_out":
            self.bandwidth_ = smallest_error(
                lambda bandwidth: self._left_out_error(values, bandwidth), self._index, who
            )
        else:
            total = float(self._weights.sum() * self._unit)
            self.bandwidth_ = rule_of_thumb(
                given, self._index, self._weights, total, self._shape, who
            )

    def _left_out_error(self, values: Array, bandwidth: float) -> float:
        self.bandwidth_ = bandwidth
        some = spaced(self.n_samples_fit_, MOST_PREDICTED)
        error = (self._left_out(values, some)[0] - values[some]) ** 2
        return float((self._weights[some, None] * error).sum())

    def _left_out(self, values: Array, some: Array) -> tuple[Array, Array]:
        """Averages around some training rows without the row itself, and where others are far.

        There they are those of the nearest other rows.
        """
        rows = self._index.rows[some]
        alone = np.zeros(some.shape[0], dtype=bool)
        if self.n_samples_fit_ == 1:
            return values[some].copy(), ~alone
        total, sums = self._sums(rows, self._around(self._widths(rows), values, 0.0))
        own = self._weights[some] * float(self._shape.value(0.0))
        rest = total[:, 0] - own
        found = sums - own[:, None] * values[some]
        # Else little is left of the digits, or nothing.
        known = rest > np.maximum(LEAST_SUM, ENOUGH_LEFT * own)
        found[known] /= rest[known, None]
        if (few := np.flatnonzero(~known)).size:
            found[few], alone[few] = self._exact_averages(rows[few], values, some[few])
        return found, alone


@with_parameters
class NadarayaWatson(ScoredRegressor, KernelAverage):
    """Regression by an average of the training rows, weighted by their distance.

    Formula: ŷ(x) = Σ_i g_i y_i/Σ_i g_i with g_i = w_i·K(d(x, x_i)/h), where K is a smoothing kernel
    and h the bandwidth. It is local least squares with a constant; see `LocallyWeightedRegression`
    for less bias near the boundary of the data.

    Cost: `fit` takes O(n log n · d) to build a kd-tree. A prediction takes O(n d), less where a
    kd-tree of few columns excludes rows outside the support of the kernel. Many predictions with a
    Gaussian kernel of one or two columns use the fast Gauss transform, whose cost per row does not
    grow with n. Memory: two copies of the rows.

    Attributes
    ----------
    n_outputs_ : int
        Number of targets of each row.

    Examples
    --------
    >>> import thetahat as th
    >>> model = th.NadarayaWatson(bandwidth=1.0, kernel="triangular")
    >>> model.fit([[0.0], [1.0], [2.0]], [0.0, 10.0, 40.0]).predict([[0.0], [1.5], [9.0]])
    array([ 0., 25., 40.])
    """

    bandwidth: Any = "scott"
    kernel: Any = "gaussian"
    _: KW_ONLY
    metric: Any = "euclidean"
    outside: str = "nearest"
    tolerance: float = 1e-8

    _accepts_sparse = True
    _multi_output = True

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> NadarayaWatson:
        """Keep the rows and choose the bandwidth. Cost: O(n log n · d), more for leave-one-out.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training rows, one per target.
        y : array-like of shape (n,) or (n, n_targets)
            Target of each training row.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows, also as neighbours and for the
            bandwidth rules, in which the sum of the weights is the number of rows; scale other
            weights to mean 1. Leave-one-out leaves out a row with its whole weight, not one of its
            repetitions. None gives every row weight 1.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        y, self._scale = self._keep_rows(self._open(X, y, sample_weight))
        self._one_target = y.ndim == 1
        self._targets = np.ascontiguousarray(y.reshape(y.shape[0], -1))
        self.n_outputs_ = int(self._targets.shape[1])
        self._choose_bandwidth(self._targets)
        return self

    def predict(self, X: Any) -> Array:
        """Predict the weighted average of the targets. Cost: O(n d) per row at most.

        Parameters
        ----------
        X : array-like, sparse or table of shape (m, d)
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        y : array of shape (m,) or (m, n_targets)
            Predicted values.
        """
        source = self._open_again(X)
        found = self._map_queries(source, lambda rows: self._averages(rows, self._targets))
        return self._in_units(found, source)

    def leave_one_out(self) -> Array:
        """Predict every training row from all others, with the same bandwidths.

        A row is left out with its whole weight, not one of its repetitions.

        Formula: (Σ_j g_j y_j − g_i y_i)/(Σ_j g_j − g_i), which needs no further fit. Rows without
        any other row in the support of the kernel are predicted as ``outside`` says, by default by
        the nearest other rows. Cost: that of `predict` for all rows.

        Returns
        -------
        y : array of shape (n,) or (n, n_targets)
            Predicted values of the training rows of positive weight.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        found, alone = self._left_out(self._targets, np.arange(self.n_samples_fit_))
        found = self._as_outside(found, alone) * self._scale
        return found[:, 0] if self._one_target else found

    def _in_units(self, found: Array, source: Source) -> Array:
        with np.errstate(over="ignore"):
            found = (found * self._scale).astype(source.dtype, copy=False)
        return found[:, 0] if self._one_target else found
