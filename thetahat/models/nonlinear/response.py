"""Regression on a transformed response, ψ(y, x), and back-transformation.

z = ψ(y, x) is fitted by any regressor, and predictions are transformed back by ψ⁻¹( · , x). ψ may
depend on the row: log(y/x₁), y/x₁, (y − baseline(x))/scale(x).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from thetahat.data.source import Source, row_weights
from thetahat.data.validation import is_sparse
from thetahat.estimator.base import Estimator
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, none, one_of
from thetahat.estimator.source_scores import ScoredRegressor
from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.types import Array
from thetahat.models.linear.least_squares.linear_regression import LinearRegression
from thetahat.models.nonlinear.response_transform import NAMED, ResponseTransform, as_transform

MOST_RESIDUALS = 1000
"""Up to this many residuals are averaged one by one; more are grouped."""
GROUPS = 2000


@with_parameters
class TransformedResponseRegressor(ScoredRegressor, Estimator):
    """Regression on a transformed response: fits ψ(y, x) and predicts through ψ⁻¹.

    Formula: z = ψ(y, x) ≈ f(x) and ŷ = ψ⁻¹(f̂(x), x), the median of y if the noise is symmetric
    about f(x). With ``retransform="mean"`` the prediction is the mean of y, averaged over the
    residuals êᵢ = zᵢ − f̂(xᵢ) (Duan's smearing estimate): ŷ = Σᵢ wᵢψ⁻¹(f̂(x) + êᵢ, x) / Σᵢ wᵢ. More
    than 1000 residuals are combined into at most 2000 groups of neighbours, represented by their
    means; in the tails, which matter most, a group holds one residual. Predictions outside the
    range of ψ are moved to its nearest end.

    Cost: that of the regressor, and O(n log n) to fit; a mean prediction needs min(n, 2000) times
    as many calls of ψ⁻¹. Sparse X is passed on to the regressor.

    Parameters
    ----------
    regressor : estimator or None, default=None
        Regressor fitted to (X, z). None uses `LinearRegression`.
    response : ResponseTransform, pair or str, default="identity"
        The transformation: a `ResponseTransform`, a pair of functions of (y, X) and (z, X), or one
        of "log", "log1p", "sqrt", "reciprocal", "logit" and "identity". It must be invertible for
        the targets of `fit`. "reciprocal" gives intervals only if all targets have the same sign.
    retransform : {"median", "mean"}, default="median"
        Whether to predict ψ⁻¹ of the fitted value, which is a median, or the mean over the
        residuals.

    Attributes
    ----------
    regressor_ : estimator
        The regressor, fitted to ψ(y, x).
    response_ : ResponseTransform
        The transformation that was used (ψ).
    residuals_, residual_weights_ : arrays of shape (at most 2000,)
        Residuals ê, or the means of their groups, and the weight of each, for mean predictions.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.linspace(0.0, 1.0, 20)[:, np.newaxis]
    >>> y = np.exp(1.0 + 2.0 * X[:, 0])
    >>> model = th.TransformedResponseRegressor(response="log").fit(X, y)
    >>> bool(np.allclose(model.predict(X), y))
    True
    """

    _generative = False
    _parametric = True

    regressor: Any = None
    _: KW_ONLY
    response: Any = "identity"
    retransform: str = "median"

    _ranges = {  # noqa: RUF012
        "regressor": Range(lambda value: hasattr(value, "fit"), "a regressor") | none,
        "response": one_of(*NAMED)
        | Range(lambda value: isinstance(value, ResponseTransform), "a ResponseTransform")
        | Range(
            lambda value: (
                isinstance(value, tuple | list) and len(value) == 2 and all(map(callable, value))
            ),
            "a pair of functions (forward, inverse)",
        ),
        "retransform": one_of("median", "mean"),
    }
    _streams = False
    _accepts_sparse = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = LinearRegression() if self.regressor is None else self.regressor
        tags.input_tags.sparse = get_tags(inner).input_tags.sparse
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> TransformedResponseRegressor:
        """Fit the regressor to ψ(y, x). Cost: that of the regressor, and O(n log n).

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Training rows with finite numbers.
        y : array-like of shape (n,)
            Target of each training row, in the domain of ψ.
        sample_weight : array-like of shape (n,), optional
            Row weights, passed to the regressor.

        Returns
        -------
        self
            The fitted estimator.
        """
        source = self._open(X, y, sample_weight)
        rows, targets, weight = _gathered(source)
        self.response_ = as_transform(self.response, targets)
        z = self.response_.apply(targets, rows).astype(source.dtype)
        regressor = LinearRegression() if self.regressor is None else clone(self.regressor)
        if not source.has_weight:
            self.regressor_ = regressor.fit(X, z)
        elif has_fit_parameter(regressor, "sample_weight"):
            self.regressor_ = regressor.fit(X, z, sample_weight=weight)
        else:
            raise CapabilityError(
                f"TransformedResponseRegressor: {type(regressor).__name__} does not support "
                "sample_weight. Repeat the rows instead, or use another regressor."
            )
        errors = z.astype(np.float64) - np.asarray(self.regressor_.predict(X), dtype=np.float64)
        self.residuals_, self.residual_weights_ = _grouped(errors, weight)
        return self

    def predict(self, X: Any) -> Array:
        """Predict targets in the units of y. Cost: that of the regressor and of ψ⁻¹.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n,)
            The predicted targets.
        """
        rows, z, dtype = self._raw(X, lambda: self.regressor_.predict(X))
        if self.retransform == "median":
            return self.response_.undo(z, rows).astype(dtype)
        even = np.full(len(self.residuals_), 1 / len(self.residuals_))
        shares = getattr(
            self, "residual_weights_", even
        )  # absent from models saved by earlier versions
        return self.response_.smeared(z, rows, self.residuals_, shares).astype(dtype)

    def predict_interval(
        self, X: Any, *, level: float = 0.95, kind: str = "prediction"
    ) -> tuple[Array, Array]:
        """Transform the intervals of the regressor back to y; a monotone ψ keeps their level.

        Formula: {y : low ≤ ψ(y, x) ≤ high} = [ψ⁻¹(low, x), ψ⁻¹(high, x)], with the ends in order.
        Ends outside the range of ψ are moved to its end: for √y a low below 0 gives y = 0, for 1/y
        it gives y = ∞. With ``kind="confidence"`` it is an interval for the median of y. Cost: that
        of the intervals of the regressor.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.
        level : float, default=0.95
            Probability of the interval, between 0 and 1. Larger values give wider intervals.
        kind : {"prediction", "confidence"}, default="prediction"
            Interval for a new y ("prediction") or for its median ("confidence").

        Returns
        -------
        low, high : arrays of shape (n,)
            Lower and upper bounds of the intervals.
        """
        check_is_fitted(self)
        if not hasattr(self.regressor_, "predict_interval"):
            raise CapabilityError(
                f"TransformedResponseRegressor: {type(self.regressor_).__name__} has no "
                "predict_interval. Use LinearRegression or NonlinearRegression, for example."
            )
        if not self.response_.monotone:
            raise CapabilityError(
                f"TransformedResponseRegressor: response {self.response_.name!r} is not monotone "
                "for these targets (1/y jumps at 0 if they have both signs), so intervals cannot "
                "be transformed back. Fit targets of one sign, or use another response."
            )
        bounds = self.regressor_.predict_interval(X, level=level, kind=kind)
        rows, low, dtype = self._raw(X, lambda: bounds[0])
        low, high = self.response_.undo_interval(low, np.asarray(bounds[1], np.float64), rows)
        return low.astype(dtype), high.astype(dtype)

    def _raw(self, X: Any, predicted: Callable[[], Any]) -> tuple[Array, Array, Any]:
        """Rows in the form that ψ takes, predictions of the regressor, and the output dtype."""
        source = self._open_again(X)
        return _rows(source), np.asarray(predicted(), dtype=np.float64), source.dtype


def _rows(source: Source) -> Array:
    """X in float64; sparse if it was sparse."""
    blocks = [block.X for block in source.blocks()]
    if is_sparse(blocks[0]):
        from scipy import sparse

        return sparse.vstack(blocks, format="csr").astype(np.float64)
    return np.concatenate([np.asarray(X, dtype=np.float64) for X in blocks])


def _gathered(source: Source) -> tuple[Array, Array, Array | None]:
    """X and y in float64, and the weights."""
    blocks = list(source.blocks())
    targets = np.concatenate([block.y for block in blocks]).astype(np.float64)
    if not source.has_weight:
        return _rows(source), targets, None
    return _rows(source), targets, np.concatenate([block.weight for block in blocks])


def _grouped(values: Array, weight: Array | None) -> tuple[Array, Array]:
    """Values and the weight of each; many values are replaced by means of neighbours.

    The groups are equally wide in log(p/(1 − p)), with p the fraction of smaller values. A group
    then holds a fixed fraction of all values further out, so the outermost values stay separate.
    """
    counted = row_weights(weight, len(values))
    values, place = np.unique(values[counted > 0], return_inverse=True)  # equal values are merged
    share = np.bincount(place, counted[counted > 0]) / counted.sum()
    if len(values) <= MOST_RESIDUALS:
        return values, share
    below = np.cumsum(share) - share / 2
    odds = np.log(below) - np.log1p(-below)
    group = np.floor((odds - odds[0]) / (odds[-1] - odds[0]) * (GROUPS - 1)).astype(np.intp)
    total = np.bincount(group, share)
    means = np.bincount(group, share * values)[total > 0] / total[total > 0]
    return means, total[total > 0]
