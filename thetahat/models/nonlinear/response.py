"""Regression on a transformed response, ψ(y, x), and back.

z = ψ(y, x) is fitted by any regressor, and predictions go back through ψ⁻¹( · , x). ψ may depend on
the row: log(y/x₁), y/x₁, (y − baseline(x))/scale(x).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from thetahat.data.source import Source
from thetahat.estimator.base import Estimator
from thetahat.estimator.parameters import Range, none, one_of
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.models.linear.least_squares import LinearRegression

Array = Any
Function = Callable[[Array, Array], Array]

ROUND_TRIP = 1e-6
"""How far ψ⁻¹(ψ(y, x), x) may lie from y, relative to the largest |y|."""
MOST_RESIDUALS = 1000
"""Residuals that a smeared mean is taken over; of more, as many of their quantiles."""


@dataclass(frozen=True)
class ResponseTransform:
    """An invertible ψ(y, x) of the response that may depend on the row.

    Formula: z = ψ(y, x), y = ψ⁻¹(z, x), increasing or decreasing in y for every x. Cost: O(n).

    Parameters
    ----------
    forward : callable
        ``forward(y, X)`` of y (n,) and X (n, d), elementwise in the rows.
    inverse : callable
        ``inverse(z, X)``.
    name : str
        What messages call it.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> share = th.ResponseTransform(lambda y, X: y / X[:, 0], lambda z, X: z * X[:, 0], "share")
    >>> X = np.array([[2.0], [4.0]])
    >>> share.inverse(share.forward(np.array([1.0, 1.0]), X), X).tolist()
    [1.0, 1.0]
    """

    forward: Function
    inverse: Function
    name: str = "your transform"

    def __sklearn_clone__(self) -> ResponseTransform:
        """Itself: a value needs no copy."""
        return self

    def apply(self, y: Array, X: Array) -> Array:
        """ψ(y, x), checked: finite, one per row, and ψ⁻¹ leads back to y."""
        z = self._called("forward", self.forward, y, X)
        self._require_finite("ψ(y, x)", z, "y", y)
        back = self._called("inverse", self.inverse, z, X)
        off = np.abs(back - y) > ROUND_TRIP * max(float(np.max(np.abs(y))), 1e-300)
        off |= ~np.isfinite(back)
        if off.any():
            row = int(np.argmax(off))
            raise ParameterError(
                f"ResponseTransform ({self.name}): inverse does not undo forward for {off.sum()} "
                f"of {len(y)} rows (first row {row}: y = {y[row]:g} became {z[row]:g}, and that "
                f"{back[row]:g}). ψ must be invertible on these targets."
            )
        return z

    def undo(self, z: Array, X: Array) -> Array:
        """ψ⁻¹(z, x), checked to be finite."""
        y = self._called("inverse", self.inverse, z, X)
        self._require_finite("ψ⁻¹(z, x)", y, "z", z)
        return y

    def _called(self, what: str, function: Function, values: Array, X: Array) -> Array:
        with np.errstate(all="ignore"):
            try:
                result = np.asarray(function(values, X))
            except Exception as failure:
                failure.add_note(f"Raised by {what}(…, X) of ResponseTransform ({self.name}).")
                raise
        if result.dtype.kind not in "biuf" or result.shape != values.shape:
            raise ParameterError(
                f"ResponseTransform ({self.name}): {what} returned {result.dtype} numbers of shape "
                f"{result.shape} for {len(values)} rows; real ones of shape {values.shape} are "
                "needed, one per row."
            )
        return result.astype(np.float64, copy=False)

    def _require_finite(self, what: str, result: Array, role: str, values: Array) -> None:
        bad = ~np.isfinite(result)
        if bad.any():
            row = int(np.argmax(bad))
            raise DataError(
                f"ResponseTransform ({self.name}): {what} is {result[row]} for {bad.sum()} of "
                f"{len(values)} rows (first row {row}: {role} = {values[row]:g}). Use a transform "
                "that is defined there, or leave those rows out."
            )


@dataclass(frozen=True)
class _OfResponse:
    """A function of y alone."""

    function: Callable[[Array], Array]

    def __call__(self, values: Array, X: Array) -> Array:
        return self.function(values)


def _log_odds(y: Array) -> Array:
    return np.log(y) - np.log1p(-y)


def _probability(z: Array) -> Array:
    return 1 / (1 + np.exp(-z))


NAMED = {
    name: ResponseTransform(_OfResponse(forward), _OfResponse(inverse), name)
    for name, forward, inverse in (
        ("identity", np.asarray, np.asarray),
        ("log", np.log, np.exp),
        ("log1p", np.log1p, np.expm1),
        ("sqrt", np.sqrt, np.square),
        ("reciprocal", np.reciprocal, np.reciprocal),
        ("logit", _log_odds, _probability),
    )
}


class TransformedResponseRegressor(RegressorMixin, Estimator):
    """Fit ψ(y, x) with any regressor, and predict through ψ⁻¹.

    Formula: z = ψ(y, x) ≈ f(x); ŷ = ψ⁻¹(f̂(x), x), the median of y where noise is symmetric about
    f(x). With retransform="mean" the noise is averaged over (Duan's smearing),
    ŷ = (1/n) Σᵢ ψ⁻¹(f̂(x) + êᵢ, x) with the residuals êᵢ = zᵢ − f̂(xᵢ), the mean of y.

    Cost: that of the regressor, O(n) more to fit; a smeared prediction takes min(n, 1000) times
    as many calls of ψ⁻¹.

    Parameters
    ----------
    regressor : estimator, optional
        Fitted to (X, z); `LinearRegression` when not given.
    response : ResponseTransform, pair or str, default="identity"
        ψ and ψ⁻¹, as functions of (y, X) and (z, X); or "log", "log1p", "sqrt", "reciprocal",
        "logit", "identity". Checked for invertibility on the rows of `fit`.
    retransform : {"median", "mean"}
        ψ⁻¹ of the prediction, or the smeared mean.

    Attributes
    ----------
    regressor_ : estimator
        Fitted to ψ(y, x).
    response_ : ResponseTransform
        ψ.
    residuals_ : array of shape (at most 1000,)
        ê, or their quantiles, for the smeared mean.

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

    def __init__(
        self, regressor: Any = None, *, response: Any = "identity", retransform: str = "median"
    ) -> None:
        self.regressor = regressor
        self.response = response
        self.retransform = retransform

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> TransformedResponseRegressor:
        """Fit the regressor to ψ(y, x).

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Features.
        y : array-like of shape (n,)
            Targets in the domain of ψ.
        sample_weight : array-like of shape (n,), optional
            Handed to the regressor.

        Returns
        -------
        self
        """
        source = self._open(X, y, sample_weight)
        given = self.response
        self.response_ = NAMED[given] if isinstance(given, str) else given
        if not isinstance(self.response_, ResponseTransform):
            self.response_ = ResponseTransform(*given)
        rows, targets, weight = _dense(source)
        z = self.response_.apply(targets, rows).astype(source.dtype)
        regressor = LinearRegression() if self.regressor is None else clone(self.regressor)
        if not source.has_weight:
            self.regressor_ = regressor.fit(X, z)
        elif has_fit_parameter(regressor, "sample_weight"):
            self.regressor_ = regressor.fit(X, z, sample_weight=weight)
        else:
            raise CapabilityError(
                f"TransformedResponseRegressor: {type(regressor).__name__} takes no sample_weight. "
                "Repeat the rows instead, or use another regressor."
            )
        errors = z.astype(np.float64) - np.asarray(self.regressor_.predict(X), dtype=np.float64)
        self.residuals_ = _weighted_quantiles(errors, weight)
        return self

    def predict(self, X: Any) -> Array:
        """ŷ in the units of y. Cost: that of the regressor, and of ψ⁻¹.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            The rows to predict.

        Returns
        -------
        array of shape (n,)
        """
        rows, z, dtype = self._raw(X, lambda: self.regressor_.predict(X))
        if self.retransform == "median":
            return self.response_.undo(z, rows).astype(dtype)
        total = np.zeros(len(z))
        for error in self.residuals_:
            total += self.response_.undo(z + error, rows)
        return (total / len(self.residuals_)).astype(dtype)

    def predict_interval(
        self, X: Any, *, level: float = 0.95, kind: str = "prediction"
    ) -> tuple[Array, Array]:
        """The regressor's interval for z, carried back: ψ is monotone, so it keeps its level.

        Formula: [ψ⁻¹(low, x), ψ⁻¹(high, x)], the ends in order. Of kind "confidence" it is for the
        median of y. Cost: that of the regressor's intervals.

        Returns
        -------
        low, high : arrays of shape (n,)
        """
        check_is_fitted(self)
        if not hasattr(self.regressor_, "predict_interval"):
            raise CapabilityError(
                f"TransformedResponseRegressor: {type(self.regressor_).__name__} gives no "
                "intervals. Use one that does, such as LinearRegression or NonlinearRegression."
            )
        bounds = self.regressor_.predict_interval(X, level=level, kind=kind)
        ends = []
        for bound in bounds:
            rows, z, dtype = self._raw(X, lambda bound=bound: bound)
            ends.append(self.response_.undo(z, rows).astype(dtype))
        return np.minimum(*ends), np.maximum(*ends)

    def _raw(self, X: Any, predicted: Callable[[], Any]) -> tuple[Array, Array, Any]:
        """The rows as ψ sees them, the regressor's word on them, and the precision to answer in."""
        source = self._open_again(X)
        rows = np.concatenate([np.asarray(b.X, dtype=np.float64) for b in source.blocks()])
        return rows, np.asarray(predicted(), dtype=np.float64), source.dtype


def _dense(source: Source) -> tuple[Array, Array, Array | None]:
    """X and y in float64 and the weights."""
    blocks = list(source.blocks())
    rows = np.concatenate([np.asarray(block.X, dtype=np.float64) for block in blocks])
    targets = np.concatenate([block.y for block in blocks]).astype(np.float64)
    if not source.has_weight:
        return rows, targets, None
    return rows, targets, np.concatenate([block.weight for block in blocks])


def _weighted_quantiles(values: Array, weight: Array | None) -> Array:
    """The values themselves, or evenly spaced quantiles of many or of weighted ones."""
    order = np.argsort(values, kind="stable")
    if weight is None and len(values) <= MOST_RESIDUALS:
        return values[order]
    weight = np.ones(len(values)) if weight is None else weight
    share = np.cumsum(weight[order])
    levels = (np.arange(MOST_RESIDUALS) + 0.5) / MOST_RESIDUALS
    return values[order][np.searchsorted(share, levels * share[-1])]
