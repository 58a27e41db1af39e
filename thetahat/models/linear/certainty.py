"""Standard errors and intervals for estimators fitted by least squares."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.data.arrays import to_host
from thetahat.data.moments import dense_rows
from thetahat.foundation.errors import CapabilityError
from thetahat.models.linear.inference import Evidence, LinearSummary, interval, summarise_fit

Array = Any


class Certain:
    """A fitted linear model that remembers its evidence, and says how sure it is."""

    _evidence: Evidence | None
    _weights_mean: ClassVar[str] = "frequency"

    @property
    def singular_(self) -> Array:
        """Singular values of the centred X, computed when asked for. Cost: O(d³)."""
        return np.linalg.svd(self._certain("Singular values").factor, compute_uv=False)

    def summary(
        self, *, level: float = 0.95, weights: str | None = None, output: int = 0
    ) -> LinearSummary:
        """Standard errors, tests, intervals and the quality of the fit. Cost: O(d³).

        Parameters
        ----------
        level : float, default=0.95
            Level of the confidence intervals.
        weights : {"frequency", "precision"}, optional
            Whether a row of weight 2 is two rows, or one measured with half the variance. Default:
            "frequency", and "precision" for models of known noise.
        output : int, default=0
            Which target, when there are several.

        Returns
        -------
        LinearSummary
        """
        evidence = self._certain("Standard errors")
        coef, intercept = np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_)
        names = getattr(self, "feature_names_in_", None)
        return summarise_fit(
            evidence,
            coef[output],
            intercept[output] if self.fit_intercept else 0.0,
            [f"x{j}" for j in range(self.n_features_in_)] if names is None else list(names),
            output=output,
            level=level,
            weights=weights or self._weights_mean,
            solver=self.solution_.solver,
        )

    def predict_interval(
        self, X: Any, *, level: float = 0.95, kind: str = "prediction", weights: str | None = None
    ) -> tuple[Array, Array]:
        """Bounds for a new y ("prediction") or for its mean ("confidence"). Cost: O(n d²).

        Formula: ŷ ± t_{n−p}·σ̂·√(xᵀ(XᵀX)⁻¹x + 1/n [+ 1 for a new y]), x about the mean.

        Returns
        -------
        low, high : arrays of the shape of ``predict(X)``
        """
        evidence = self._certain("Intervals")
        predicted = to_host(self.predict(X))
        rows = self._open_again(X)
        leverage = np.concatenate([evidence.leverage(dense_rows(b)) for b in rows.blocks()])
        return interval(
            evidence,
            leverage,
            predicted,
            level=level,
            kind=kind,
            weights=weights or self._weights_mean,
        )

    def _certain(self, what: str) -> Evidence:
        check_is_fitted(self)
        if getattr(self, "positive", False):
            raise CapabilityError(
                f"{what} of a non-negative fit do not follow from least squares: the bound makes "
                "the estimate biased. Resample instead (bootstrap the rows and refit)."
            )
        if self._evidence is None:
            raise CapabilityError(
                f"{what} need the triangle of X, which solver={self.solution_.solver!r} never "
                'forms. Fit with solver="auto" or "qr".'
            )
        return self._evidence
