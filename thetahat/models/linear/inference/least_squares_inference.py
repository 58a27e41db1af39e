"""Standard errors and intervals for estimators fitted by least squares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from thetahat.data.arrays import to_host
from thetahat.data.source import Block, Source
from thetahat.data.summaries.moments import dense_rows
from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.solution import Solution
from thetahat.models.linear.inference.least_squares_evidence import (
    Evidence,
    LinearSummary,
    check_inference,
    interval,
    summarise_fit,
)
from thetahat.models.linear.inference.sandwich import (
    check_kind,
    meat,
    require_rows,
    require_same_rows,
)


class Certain:
    """A fitted linear model that remembers its evidence, and says how sure it is."""

    _evidence: Evidence | None
    _weights_mean: ClassVar[str] = "frequency"
    coef_: Array
    intercept_: Any
    fit_intercept: bool
    n_features_in_: int
    solution_: Solution
    predict: Callable[[Any], Array]
    _open_again: Callable[[Any], Source]

    @property
    def singular_(self) -> Array:
        """Singular values of the centred X, computed when asked for. Cost: O(d³)."""
        return np.linalg.svd(self._certain("Singular values").factor, compute_uv=False)

    def summary(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        level: float = 0.95,
        weights: str | None = None,
        output: int = 0,
        covariance: str = "model",
    ) -> LinearSummary:
        """Standard errors, tests, intervals and the quality of the fit. Cost: O(d³).

        Parameters
        ----------
        X, y, sample_weight : optional
            The rows of `fit` again, for a robust covariance: one pass over them, O(n d²).
        level : float, default=0.95
            Level of the confidence intervals.
        weights : {"frequency", "precision"}, optional
            Whether a row of weight 2 is two rows, or one measured with half the variance. Default:
            "frequency", and "precision" for models of known noise.
        output : int, default=0
            Which target, when there are several.
        covariance : {"model", "HC0", "HC1", "HC2", "HC3"}
            Errors of one variance, or standard errors that hold for errors of any: the sandwich
            (XᵀX)⁻¹(Σ aᵢeᵢ²xᵢxᵢᵀ)(XᵀX)⁻¹ with aᵢ = 1, n/(n−p), 1/(1−hᵢ) or 1/(1−hᵢ)².

        Returns
        -------
        LinearSummary
        """
        evidence = self._certain("Standard errors")
        check_kind(covariance)
        weights = weights or self._weights_mean
        robust = None
        if covariance != "model":
            require_rows(covariance, X)
            check_inference(evidence, level, weights)
            source = clone(self)._open(X, y, sample_weight)
            robust = self._robust(source, evidence, covariance, weights, output)
        coef, intercept = np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_)
        names = getattr(self, "feature_names_in_", None)
        return summarise_fit(
            evidence,
            coef[output],
            intercept[output] if self.fit_intercept else 0.0,
            [f"x{j}" for j in range(self.n_features_in_)] if names is None else list(names),
            output=output,
            level=level,
            weights=weights,
            solver=self.solution_.solver,
            covariance=covariance,
            robust=robust,
        )

    def _robust(
        self, source: Source, evidence: Evidence, kind: str, weights: str, output: int
    ) -> Array:
        """The sandwich of one output, from the rows of the fit."""
        theta = to_host(self.solution_.theta).reshape(source.n_features + 1, -1)[:, output]

        def residual(block: Block) -> Array:
            y = to_host(block.y)
            return (y if y.ndim == 1 else y[:, output]) - to_host(block.X) @ theta[:-1] - theta[-1]

        def influence(block: Block) -> tuple[Array, Array, Array]:
            rows = evidence.whitened(dense_rows(block))
            return rows, residual(block), np.einsum("ij,ij->i", rows, rows)

        found = meat(source, influence, lambda block: residual(block) ** 2, kind, weights)
        of_fit = (evidence.weight, float(evidence.residual[output]))
        require_same_rows(found.weight, found.value, of_fit)
        n, df = evidence.degrees(weights) + evidence.n_parameters, evidence.degrees(weights)
        return evidence.unwhitened(found.squares * (n / df if kind == "HC1" else 1.0))

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
        check_inference(evidence, level, weights or self._weights_mean)
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
