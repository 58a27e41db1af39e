"""Intervals of predictions of Huber regression.

With ψ(r) = r clipped to ±εσ̂, the share m of the rows with |r| ≤ εσ̂ and their Gram matrix A ≈ m·XᵀX,
the estimate has, for errors of any one distribution that is symmetric about 0, the covariance

    Cov β̂ = K²·(Σψ²/(n − p))/m²·(XᵀX)⁻¹,      K = 1 + (p/n)·(1 − m)/m    (Huber, 1981).

A new y has errors with outliers, of which no normal distribution gives the tails. The interval
takes them from the residuals: the quantile of |r|·n/(n − p), which is on average the residual of a
row that is left out of the fit, at the rank ⌈(n + 1)·level⌉.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.data.source import Source, weights_of
from thetahat.data.summaries.frame import dense_rows
from thetahat.foundation.arguments import require_level
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.threads import scipy_linalg
from thetahat.foundation.types import Array

MOST_RESIDUALS = 10_000
"""About as many residuals are kept, evenly spread over the rows."""


@dataclass(frozen=True)
class HuberEvidence:
    """What intervals need from a fit, in the units of the conditioned rows."""

    gram: Array
    """A of the inner rows with a last column of ones for the intercept, plus the penalty."""
    centre: Array
    scale: Array
    unit: float
    """The unit of y."""
    weight: float
    """n, the sum of the weights."""
    squares: float
    """Σ w ψ²."""
    inner: float
    """Σ w of the inner rows."""
    sizes: Array
    """|r| of some rows, in the unit of the data."""
    size_weights: Array | None
    """The weights of these rows."""
    intercept: bool

    @property
    def freedom(self) -> float:
        """n − p."""
        return self.weight - len(self.gram)

    def leverage(self, X: Array) -> Array:
        """m·xᵀA⁻¹x, near xᵀ(XᵀX)⁻¹x with the intercept among the columns of X."""
        rows = (np.asarray(X, dtype=float) - self.centre) / self.scale
        if self.intercept:
            rows = np.column_stack([rows, np.ones(len(rows))])
        linalg = scipy_linalg()
        try:
            factor = linalg.cholesky(self.gram, check_finite=False)
        except np.linalg.LinAlgError as failure:
            raise CapabilityError(
                "HuberRegressor: intervals do not exist, because without the outliers, the "
                "columns are linearly dependent. Drop columns, or increase alpha."
            ) from failure
        spread = linalg.solve_triangular(factor, rows.T, trans="T", check_finite=False)
        return self.inner / self.weight * np.einsum("ji,ji->i", spread, spread)

    def deviation(self, leverage: Array) -> Array:
        """Standard error of the predictions."""
        share = self.inner / self.weight
        correction = 1.0 + len(self.gram) / self.weight * (1.0 - share) / share
        variance = correction**2 * self.squares / self.freedom / share**2
        return self.unit * np.sqrt(variance * leverage)

    def residual_at(self, level: float) -> float:
        """The quantile of the residuals of rows that were left out of the fit."""
        rank = math.ceil((self.weight + 1.0) * level - 1e-9) / self.weight
        if rank > 1.0:
            raise CapabilityError(
                f"HuberRegressor: an interval of level={level:g} for a new y needs at least "
                f"{math.ceil(level / (1.0 - level) - 1e-9)} rows, but n = {self.weight:g}. Add "
                "rows, reduce level, or use kind='confidence'."
            )
        order = np.argsort(self.sizes, kind="stable")
        weights = weights_of(self.size_weights, order)
        ends = np.cumsum(weights)
        place = int(np.searchsorted(ends, rank * ends[-1] * (1.0 - 1e-12)))
        return float(self.sizes[order[place]]) * self.weight / self.freedom


class HuberIntervals:
    """A Huber regression with intervals of its predictions."""

    predict: Callable[[Any], Array]
    _open_again: Callable[[Any], Source]

    def predict_interval(
        self, X: Any, *, level: float = 0.95, kind: str = "prediction"
    ) -> tuple[Array, Array]:
        """Compute intervals for predictions. Cost: O(n d² + d³).

        Formula: for the mean ŷ ± t_{n−p}·K·√(Σψ²/(n − p))/m·√h, where ψ are the residuals clipped
        to ±ε·σ̂, m is the share of inner rows (not clipped), K = 1 + (p/n)·(1 − m)/m and
        h = m·xᵀ(ZᵀZ)⁻¹x with the inner rows Z, the intercept among the columns and the penalty on
        the diagonal. For a new y ŷ ± q·√((1 + h)/(1 + p/n)), where q is the ⌈(n + 1)·level⌉-th
        smallest |r|·n/(n − p). New outliers then count as often as among the training rows.
        Both assume that errors have the same distribution in all rows; the first also that it is
        symmetric. The L2 penalty is assumed to be small.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to predict, with the same columns as in `fit`.
        level : float, default=0.95
            Probability that an interval holds the value, between 0 and 1.
        kind : {"prediction", "confidence"}, default="prediction"
            Whether the interval is for a new value of y ("prediction") or for the centre of its
            distribution ("confidence"), which is narrower.

        Returns
        -------
        low, high : arrays of shape (n,)
            Lower and upper bounds.
        """
        from scipy import stats

        require_level(level)
        if kind not in ("confidence", "prediction"):
            raise ParameterError(
                f"kind={kind!r} must be 'confidence' (for the mean) or 'prediction' (for a new y)."
            )
        evidence = self._of_intervals()
        predicted = np.asarray(self.predict(X))
        rows = self._open_again(X)
        leverage = np.concatenate([evidence.leverage(dense_rows(b)) for b in rows.blocks()])
        if kind == "confidence":
            half = stats.t.ppf(0.5 + level / 2, evidence.freedom) * evidence.deviation(leverage)
        else:
            usual = 1.0 + len(evidence.gram) / evidence.weight
            half = evidence.residual_at(level) * np.sqrt((1.0 + leverage) / usual)
        return predicted - half, predicted + half

    def _of_intervals(self) -> HuberEvidence:
        check_is_fitted(self)
        evidence: HuberEvidence | None = getattr(self, "_evidence", None)
        if evidence is None:
            raise CapabilityError(
                "HuberRegressor: intervals need the residuals of the fit, which this model does "
                "not hold, because it was saved before they were kept, its scale went to 0, there "
                "are more columns than rows, or the rows are sparse with many columns. Fit it "
                "again with fewer columns or with a larger epsilon."
            )
        if not evidence.freedom > 0:
            raise CapabilityError(
                "HuberRegressor: intervals need more rows than coefficients: n = "
                f"{evidence.weight:g}, p = {len(evidence.gram)}. Add rows."
            )
        return evidence
