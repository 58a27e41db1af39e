"""Standard errors and intervals for estimators fitted by least squares."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from thetahat.data.arrays import to_host
from thetahat.data.source import Block, Source
from thetahat.data.summaries.frame import dense_rows
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
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


class AbsentAttribute(CapabilityError, AttributeError):
    """An attribute that this fit does not have, so that `hasattr` is False."""


@contextmanager
def _as_attribute() -> Iterator[None]:
    """Errors inside mean that a property has no value."""
    try:
        yield
    except (CapabilityError, DataError) as failure:
        raise AbsentAttribute(str(failure)) from failure


class Certain:
    """A linear model fitted by least squares, with standard errors and intervals."""

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
        """Singular values of X, centred if an intercept is fitted. Cost: O(d³) at each access."""
        with _as_attribute():
            factor = self._certain("Singular values").factor
        return np.linalg.svd(factor, compute_uv=False)

    @property
    def covariance_(self) -> Array:
        """Covariance of the estimates, σ̂²(XᵀX)⁻¹: of the coefficients, and of the intercept last.

        One matrix per target if there are several. Cost: O(d³) at each access.
        """
        with _as_attribute():
            evidence, weights = self._certain("The covariance"), self._weights_mean
            check_inference(evidence, 0.95, weights)
        of_targets = [
            evidence.covariance(float(rss / evidence.degrees(weights))) for rss in evidence.residual
        ]
        return of_targets[0] if np.ndim(self.intercept_) == 0 else np.stack(of_targets)

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
        """Compute standard errors, tests, intervals and the quality of the fit.

        Cost: O(d³); with a robust covariance, one more pass over the rows, O(n d²).

        Parameters
        ----------
        X, y, sample_weight : optional
            The data given to `fit`. Only needed for a robust covariance.
        level : float, default=0.95
            Confidence level of the intervals, between 0 and 1.
        weights : {"frequency", "precision"}, optional
            Meaning of the row weights: with "frequency" a row of weight 2 counts as two rows, with
            "precision" it has half the noise variance. The default is "frequency", and "precision"
            for `GeneralizedLeastSquares`.
        output : int, default=0
            Number of the target to summarise if y has several columns.
        covariance : {"model", "HC0", "HC1", "HC2", "HC3"}, default="model"
            Estimator of the covariance of the coefficients. "model" assumes that all errors have
            the same variance. The others are robust and allow any variances; they use the sandwich
            formula (XᵀX)⁻¹(Σ aᵢeᵢ²xᵢxᵢᵀ)(XᵀX)⁻¹ with aᵢ = 1, n/(n−p), 1/(1−hᵢ) or 1/(1−hᵢ)². "HC3"
            is the safest for small samples.

        Returns
        -------
        summary : LinearSummary
            The summary, which prints as a table.
        """
        evidence = self._certain("Standard errors")
        check_kind(covariance)
        n_outputs = len(evidence.residual)
        if not isinstance(output, int | np.integer) or not 0 <= output < n_outputs:
            raise ParameterError(
                f"output={output!r} must be the number of a target, counted from 0, but this model "
                f"has {n_outputs} target{'s' if n_outputs > 1 else ''}."
            )
        weights = weights or self._weights_mean
        robust = None
        if covariance != "model":
            require_rows(covariance, X)
            check_inference(evidence, level, weights)
            source = clone(self)._open(X, y, sample_weight)
            robust = self._robust(source, evidence, covariance, weights, output)
        coef, intercept = np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_)
        return summarise_fit(
            evidence,
            coef[output],
            intercept[output] if self.fit_intercept else 0.0,
            self._column_names(),
            output=output,
            level=level,
            weights=weights,
            solver=self.solution_.solver,
            covariance=covariance,
            robust=robust,
        )

    def _column_names(self) -> list[str]:
        known = getattr(self, "feature_names_in_", None)
        return [f"x{j}" for j in range(self.n_features_in_)] if known is None else list(known)

    def _robust(
        self, source: Source, evidence: Evidence, kind: str, weights: str, output: int
    ) -> Array:
        """The robust covariance of one target, from the rows of the fit."""
        theta = to_host(self.solution_.theta).reshape(source.n_features + 1, -1)[:, output]

        def residual(block: Block) -> Array:
            y = to_host(block.y)
            return (y if y.ndim == 1 else y[:, output]) - to_host(block.X) @ theta[:-1] - theta[-1]

        def influence(block: Block) -> tuple[Array, Array, Array]:
            rows = evidence.whitened(dense_rows(block))
            return rows, residual(block), np.einsum("ij,ij->i", rows, rows)

        precision = (lambda block: block.row_weights) if weights == "precision" else None
        found = meat(source, influence, lambda block: residual(block) ** 2, kind, precision)
        of_fit = (evidence.weight, float(evidence.residual[output]))
        require_same_rows(found.weight, found.value, of_fit)
        names = [*self._column_names(), "(intercept)"]
        found.warn_of_lone_rows(names, evidence.unwhitening(), type(self).__name__)
        n, df = evidence.degrees(weights) + evidence.n_parameters, evidence.degrees(weights)
        return evidence.unwhitened(found.squares * (n / df if kind == "HC1" else 1.0))

    def predict_interval(
        self, X: Any, *, level: float = 0.95, kind: str = "prediction", weights: str | None = None
    ) -> tuple[Array, Array]:
        """Compute intervals for predictions. Cost: O(n d²).

        Formula: ŷ ± t_{n−p}·σ̂·√(xᵀ(XᵀX)⁻¹x + 1/n [+ 1 for a new y]) with centred x.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to predict, with the same columns as in `fit`.
        level : float, default=0.95
            Confidence level of the intervals, between 0 and 1.
        kind : {"prediction", "confidence"}, default="prediction"
            Whether the interval is for a new value of y ("prediction") or for its mean
            ("confidence"), which is narrower.
        weights : {"frequency", "precision"}, optional
            Meaning of the row weights, as in `summary`.

        Returns
        -------
        low, high : arrays of the shape of ``predict(X)``
            Lower and upper bounds.
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
                f"{what} are not available with positive=True, because the constraint biases the "
                "estimate. Resample the rows with th.bootstrap, or use positive=False."
            )
        if self._evidence is None:
            rank, d = getattr(self, "rank_", None), self.n_features_in_
            if what != "Singular values" and rank is not None and rank < d:
                raise CapabilityError(
                    f"{what} cannot be computed: X has {d} columns but rank {rank}, so single "
                    "coefficients are not determined. Add rows or drop columns, or use "
                    "th.BayesianRidge."
                )
            raise CapabilityError(
                f"{what} need the triangular factor of X, which solver={self.solution_.solver!r} "
                'does not compute. Fit with solver="auto" or "qr".'
            )
        return self._evidence
