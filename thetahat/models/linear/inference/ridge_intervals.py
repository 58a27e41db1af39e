"""Intervals of predictions of ridge regression.

β̂ is the posterior mean under y ~ N(xᵀβ + b, σ²) and β ~ N(0, σ²/α), where the covariance of β given
the rows is σ²(XᵀX + αI)⁻¹ on centred rows. With H = X(XᵀX + αI)⁻¹Xᵀ the residuals have

    E ‖y − ŷ‖² = σ²·(n − 1 − tr H),      tr H = d − α·tr (XᵀX + αI)⁻¹,

so that σ̂² = ‖y − ŷ‖²/(n − 1 − tr H) is unbiased. At α = 0 these are the intervals of least squares.
The covariance contains the bias that shrinkage causes on average over β; for coefficients that are
far larger than σ/√α, the bias is larger.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.data.arrays import to_host
from thetahat.data.source import Source
from thetahat.data.summaries.frame import dense_rows
from thetahat.foundation.arguments import require_level
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.threads import scipy_linalg
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.solution import Solution
from thetahat.objective.least_squares.direct import LeastSquares


@dataclass(frozen=True)
class RidgeEvidence:
    """What intervals need from a ridge fit: a triangular factor and a few sums."""

    factor: Array
    """Upper triangle R with RᵀR = XᵀX + αI on centred rows, whose columns are in other units if
    they were standardised."""
    scale: Array
    """The units of the columns of the factor."""
    x_mean: Array
    weight: float
    n_rows: int
    residual: Array
    """Σ w (y − ŷ)² for each target."""
    alpha: float
    rank: int
    intercept: bool

    @classmethod
    def of(cls, found: LeastSquares, alpha: Any, scale: Any) -> RidgeEvidence | None:
        """The evidence of a fit with one penalty, or None if its solver formed no factor."""
        about, fit = found.about, found.fit
        if about is None or fit.factor is None or np.ndim(alpha) > 0:
            return None
        coef = to_host(fit.coef)
        units = np.ones(about.n_features) if scale is None else np.asarray(scale, dtype=float)
        with np.errstate(over="ignore", invalid="ignore"):  # squares of extreme numbers
            penalty = float(alpha) * np.einsum("jk,jk->k", coef, coef)
            residual = np.maximum(to_host(fit.residual) - penalty, 0.0)
        factor = to_host(fit.factor)
        if fit.solver == "svd" and alpha > 0:  # its factor is that of X alone
            lifted = np.vstack([factor, np.sqrt(float(alpha)) * np.eye(len(factor))])
            factor = np.linalg.qr(lifted, mode="r")
        return cls(
            factor=factor,
            scale=units,
            x_mean=to_host(about.x_mean) * units,
            weight=float(about.weight),
            n_rows=int(about.n_rows),
            residual=residual,
            alpha=float(alpha),
            rank=about.n_features if fit.rank is None or alpha > 0 else int(fit.rank),
            intercept=about.is_centred,
        )

    def degrees(self, weights: str) -> float:
        """n − 1 − tr H; a row of weight 2 counts as two rows, or as one with half the variance."""
        d = len(self.factor)
        freedom = float(d)
        if self.alpha > 0:
            root = self._solved(np.eye(d))
            freedom -= self.alpha * float(np.einsum("ij,ij->", root, root))
        n = self.weight if weights == "frequency" else self.n_rows
        return n - self.intercept - freedom

    def leverage(self, X: Array) -> Array:
        """xᵀ(XᵀX + αI)⁻¹x for centred rows, plus 1/n for the intercept."""
        rows = (X - self.x_mean if self.intercept else X) / self.scale
        spread = self._solved(np.asarray(rows, dtype=float).T)
        return np.einsum("ji,ji->i", spread, spread) + self.intercept / self.weight

    def _solved(self, columns: Array) -> Array:
        solve_triangular = scipy_linalg().solve_triangular
        return solve_triangular(self.factor, columns, trans="T", check_finite=False)


class RidgeIntervals:
    """A ridge regression with intervals of its predictions."""

    _evidence: RidgeEvidence | None
    solution_: Solution
    positive: bool
    predict: Callable[[Any], Array]
    _open_again: Callable[[Any], Source]

    def predict_interval(
        self, X: Any, *, level: float = 0.95, kind: str = "prediction", weights: str = "frequency"
    ) -> tuple[Array, Array]:
        """Compute intervals for predictions. Cost: O(n d² + d³).

        Formula: ŷ ± t_ν·σ̂·√(xᵀ(XᵀX + αI)⁻¹x + 1/n [+ 1 for a new y]) with centred x, σ̂² = ‖y −
        ŷ‖²/ν and ν = n − 1 − tr H, where tr H is the effective number of coefficients. The interval
        is that of the model of which ridge regression is the posterior mean, β ~ N(0, σ²/α): its
        level holds on average over such β. At α = 0 it is that of `LinearRegression`.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to predict, with the same columns as in `fit`.
        level : float, default=0.95
            Probability that an interval holds the value, between 0 and 1.
        kind : {"prediction", "confidence"}, default="prediction"
            Whether the interval is for a new value of y ("prediction") or for its mean
            ("confidence"), which is narrower.
        weights : {"frequency", "precision"}, default="frequency"
            Meaning of the row weights: with "frequency" a row of weight 2 counts as two rows, with
            "precision" it has half the noise variance.

        Returns
        -------
        low, high : arrays of the shape of ``predict(X)``
            Lower and upper bounds.
        """
        from scipy import stats

        require_level(level)
        if kind not in ("confidence", "prediction"):
            raise ParameterError(
                f"kind={kind!r} must be 'confidence' (for the mean) or 'prediction' (for a new y)."
            )
        if weights not in ("frequency", "precision"):
            raise ParameterError(
                f"weights={weights!r} must be 'frequency' (a row of weight 2 counts as two rows) "
                "or 'precision' (a row of weight 2 has half the noise variance)."
            )
        evidence = self._of_intervals()
        freedom = evidence.degrees(weights)
        if not freedom > 0:
            raise CapabilityError(
                "Intervals need more rows than effective coefficients, but n − 1 − tr H = "
                f"{freedom:g}. Add rows, or increase alpha."
            )
        if not np.isfinite(evidence.residual).all():
            raise CapabilityError(
                "Intervals need the sum of the squared residuals, which is too large for a float. "
                "Divide y by its standard deviation before the fit."
            )
        predicted = to_host(self.predict(X))
        rows = self._open_again(X)
        leverage = np.concatenate([evidence.leverage(dense_rows(b)) for b in rows.blocks()])
        variance = leverage + (1.0 if kind == "prediction" else 0.0)
        sigma = np.sqrt(evidence.residual / freedom)
        half = stats.t.ppf(0.5 + level / 2, freedom) * np.sqrt(variance)[:, None] * sigma
        half = half if predicted.ndim == 2 else half[:, 0]
        return predicted - half, predicted + half

    def _of_intervals(self) -> RidgeEvidence:
        check_is_fitted(self)
        evidence: RidgeEvidence | None = getattr(self, "_evidence", None)
        who = type(self).__name__
        if self.positive:
            raise CapabilityError(
                f"{who}: intervals are not available with positive=True, because the constraint "
                "biases the estimate. Resample the rows with th.bootstrap, or use positive=False."
            )
        if evidence is None:
            raise CapabilityError(
                f"{who}: intervals need one penalty for all targets, and the triangular factor of "
                f"XᵀX + αI, which solver={self.solution_.solver!r} does not compute. Fit with "
                'solver="cholesky" or "qr", and with one number for alpha.'
            )
        if evidence.rank < len(evidence.factor):
            raise CapabilityError(
                f"{who}: intervals do not exist with alpha=0, because X has "
                f"{len(evidence.factor)} columns but rank {evidence.rank}. Use a positive alpha, "
                "or drop linearly dependent columns."
            )
        return evidence
