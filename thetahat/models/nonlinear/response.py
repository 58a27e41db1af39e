"""Regression on a transformed response, ψ(y, x), and back.

z = ψ(y, x) is fitted by any regressor, and predictions go back through ψ⁻¹( · , x). ψ may depend on
the row: log(y/x₁), y/x₁, (y − baseline(x))/scale(x).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from thetahat.data.source import Source
from thetahat.data.validation import is_sparse
from thetahat.estimator.base import Estimator
from thetahat.estimator.parameters import Range, none, one_of
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.foundation.types import Array, Matrix
from thetahat.models.linear.least_squares.linear_regression import LinearRegression

Function = Callable[[Array, Array], Array]

ROUND_TRIP = 1e-6
"""How far ψ⁻¹(ψ(y, x), x) may lie from y, relative to the largest |y|."""
MOST_RESIDUALS = 1000
"""Residuals that a smeared mean is taken over one by one; of more, groups of them."""
GROUPS = 2000
AT_ONCE = 1 << 18
"""Entries of X that a smeared mean repeats for one call of ψ⁻¹."""
WHOLE_LINE = (-math.inf, math.inf)


@dataclass(frozen=True)
class ResponseTransform:
    """An invertible ψ(y, x) of the response that may depend on the row.

    Formula: z = ψ(y, x), y = ψ⁻¹(z, x), increasing or decreasing in y for every x. Cost: O(n).

    Parameters
    ----------
    forward : callable
        ``forward(y, X)`` of y (n,) and X (n, d), elementwise in the rows. A sparse X stays sparse.
    inverse : callable
        ``inverse(z, X)``.
    name : str
        What messages call it.
    z_range : pair of float
        The least and the largest ψ that any y has. A regressor does not know them: what it
        predicts beyond counts as the nearer end, (0, ∞) for √y.
    monotone : bool, default=True
        False if ψ rises for some y and falls for others, or jumps: an interval of z is none of y.

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
    z_range: tuple[float, float] = WHOLE_LINE
    monotone: bool = True

    def __sklearn_clone__(self) -> ResponseTransform:
        """Itself: a value needs no copy."""
        return self

    def apply(self, y: Array, X: Matrix) -> Array:
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

    def undo(self, z: Array, X: Matrix) -> Array:
        """ψ⁻¹ of the z in range that is nearest, checked to be finite."""
        y = self._called("inverse", self.inverse, np.clip(z, *self.z_range), X)
        self._require_finite("ψ⁻¹(z, x)", y, "z", z)
        return y

    def smeared(self, z: Array, X: Matrix, errors: Array, shares: Array) -> Array:
        """Σ share·ψ⁻¹(z + error, x), many errors to a call where the rows are few."""
        n, d = X.shape
        at_once = max(1, AT_ONCE // max(n * d, 1))
        total = np.zeros(n)
        for first in range(0, len(errors), at_once):
            some = slice(first, first + at_once)
            moved = np.clip(z + errors[some, np.newaxis], *self.z_range).ravel()
            again = X[np.tile(np.arange(n), len(errors[some]))]
            y = self._called("inverse", self.inverse, moved, again).reshape(-1, n)
            total += np.sum(shares[some, np.newaxis] * y, axis=0)
        self._require_finite("the mean of ψ⁻¹(z + ê, x)", total, "z", z)
        return total

    def undo_interval(self, low: Array, high: Array, X: Matrix) -> tuple[Array, Array]:
        """All y whose ψ lies between low and high; infinite where they have no bound."""
        ends = []
        for z in (low, high):
            y = self._called("inverse", self.inverse, np.clip(z, *self.z_range), X)
            self._require_finite("ψ⁻¹(z, x)", np.where(np.isinf(y), 0.0, y), "z", z)
            ends.append(y)
        return np.minimum(*ends), np.maximum(*ends)

    def _called(self, what: str, function: Function, values: Array, X: Matrix) -> Array:
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

    def __call__(self, values: Array, X: Matrix) -> Array:
        return self.function(values)


def _log_odds(y: Array) -> Array:
    return np.log(y) - np.log1p(-y)


def _probability(z: Array) -> Array:
    return 1 / (1 + np.exp(-z))


NAMED = {
    name: ResponseTransform(_OfResponse(forward), _OfResponse(inverse), name, z_range)
    for name, forward, inverse, z_range in (
        ("identity", np.asarray, np.asarray, WHOLE_LINE),
        ("log", np.log, np.exp, WHOLE_LINE),
        ("log1p", np.log1p, np.expm1, WHOLE_LINE),
        ("sqrt", np.sqrt, np.square, (0.0, math.inf)),
        ("reciprocal", np.reciprocal, np.reciprocal, (0.0, math.inf)),
        ("logit", _log_odds, _probability, WHOLE_LINE),
    )
}


def _transform(given: Any, y: Array) -> ResponseTransform:
    """What was given as a transform; 1/y on the side of 0 where these targets are."""
    if not isinstance(given, str):
        return given if isinstance(given, ResponseTransform) else ResponseTransform(*given)
    named = NAMED[given]
    if given != "reciprocal" or np.all(y > 0):
        return named
    if np.all(y < 0):
        return replace(named, z_range=(-math.inf, -0.0))
    return replace(named, z_range=WHOLE_LINE, monotone=False)


class TransformedResponseRegressor(RegressorMixin, Estimator):
    """Fit ψ(y, x) with any regressor, and predict through ψ⁻¹.

    Formula: z = ψ(y, x) ≈ f(x); ŷ = ψ⁻¹(f̂(x), x), the median of y where noise is symmetric about
    f(x). With retransform="mean" the noise is averaged over (Duan's smearing),
    ŷ = Σᵢ wᵢψ⁻¹(f̂(x) + êᵢ, x) / Σᵢ wᵢ with the residuals êᵢ = zᵢ − f̂(xᵢ), the mean of y. Of more
    than 1000 residuals, neighbours are put together into at most 2000 groups, each counted at its
    mean: in the tails, which such a mean hangs on, a group holds one residual. For ψ = log and
    300,000 residuals the mean then differs by 2e-6 (normal ones) or not at all (Student's t).
    Where f̂(x) leaves the range of ψ, as a straight line for √y does below 0, the nearest end of
    the range counts.

    Cost: that of the regressor, O(n log n) more to fit; a smeared prediction takes min(n, 2000)
    times as many calls of ψ⁻¹. Sparse X is handed on to the regressor.

    Parameters
    ----------
    regressor : estimator, optional
        Fitted to (X, z); `LinearRegression` when not given.
    response : ResponseTransform, pair or str, default="identity"
        ψ and ψ⁻¹, as functions of (y, X) and (z, X); or "log", "log1p", "sqrt", "reciprocal",
        "logit", "identity". Checked for invertibility on the rows of `fit`. "reciprocal" is of
        y > 0 or of y < 0, whichever the targets of `fit` are; of both, there are no intervals.
    retransform : {"median", "mean"}
        ψ⁻¹ of the prediction, or the smeared mean.

    Attributes
    ----------
    regressor_ : estimator
        Fitted to ψ(y, x).
    response_ : ResponseTransform
        ψ.
    residuals_, residual_weights_ : arrays of shape (at most 2000,)
        ê or the means of their groups, and the share of each, for the smeared mean.

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
    _accepts_sparse = True

    def __init__(
        self, regressor: Any = None, *, response: Any = "identity", retransform: str = "median"
    ) -> None:
        self.regressor = regressor
        self.response = response
        self.retransform = retransform

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = LinearRegression() if self.regressor is None else self.regressor
        tags.input_tags.sparse = get_tags(inner).input_tags.sparse
        return tags

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
        rows, targets, weight = _gathered(source)
        self.response_ = _transform(self.response, targets)
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
        self.residuals_, self.residual_weights_ = _grouped(errors, weight)
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
        even = np.full(len(self.residuals_), 1 / len(self.residuals_))
        shares = getattr(self, "residual_weights_", even)  # models saved before there were any
        return self.response_.smeared(z, rows, self.residuals_, shares).astype(dtype)

    def predict_interval(
        self, X: Any, *, level: float = 0.95, kind: str = "prediction"
    ) -> tuple[Array, Array]:
        """The regressor's interval for z, carried back: ψ is monotone, so it keeps its level.

        Formula: {y : low ≤ ψ(y, x) ≤ high} = [ψ⁻¹(low, x), ψ⁻¹(high, x)], the ends in order and
        those beyond the range of ψ at its end: for √y a low below 0 is y = 0, for 1/y it is y = ∞.
        Of kind "confidence" it is for the median of y. Cost: that of the regressor's intervals.

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
        if not self.response_.monotone:
            raise CapabilityError(
                f"TransformedResponseRegressor: response {self.response_.name!r} is not monotone "
                "on these targets, as 1/y jumps at 0 if they lie on both sides of it: an interval "
                "of ψ is none of y. Fit targets of one sign, or use another response."
            )
        bounds = self.regressor_.predict_interval(X, level=level, kind=kind)
        rows, low, dtype = self._raw(X, lambda: bounds[0])
        low, high = self.response_.undo_interval(low, np.asarray(bounds[1], np.float64), rows)
        return low.astype(dtype), high.astype(dtype)

    def _raw(self, X: Any, predicted: Callable[[], Any]) -> tuple[Array, Array, Any]:
        """The rows as ψ sees them, the regressor's word on them, and the precision to answer in."""
        source = self._open_again(X)
        return _rows(source), np.asarray(predicted(), dtype=np.float64), source.dtype


def _rows(source: Source) -> Array:
    """X in float64; sparse as it came."""
    blocks = [block.X for block in source.blocks()]
    if is_sparse(blocks[0]):
        from scipy import sparse

        return sparse.vstack(blocks, format="csr").astype(np.float64)
    return np.concatenate([np.asarray(X, dtype=np.float64) for X in blocks])


def _gathered(source: Source) -> tuple[Array, Array, Array | None]:
    """X and y in float64 and the weights."""
    blocks = list(source.blocks())
    targets = np.concatenate([block.y for block in blocks]).astype(np.float64)
    if not source.has_weight:
        return _rows(source), targets, None
    return _rows(source), targets, np.concatenate([block.weight for block in blocks])


def _grouped(values: Array, weight: Array | None) -> tuple[Array, Array]:
    """Values and the share of each; of many, means of neighbours.

    The groups are equally wide in log(p/(1 − p)), p the share of what lies below: a group holds a
    fixed share of all that lies further out, so that the outermost values stay alone.
    """
    counted = np.ones(len(values)) if weight is None else weight
    values, place = np.unique(values[counted > 0], return_inverse=True)  # a row twice is one of 2
    share = np.bincount(place, counted[counted > 0]) / counted.sum()
    if len(values) <= MOST_RESIDUALS:
        return values, share
    below = np.cumsum(share) - share / 2
    odds = np.log(below) - np.log1p(-below)
    group = np.floor((odds - odds[0]) / (odds[-1] - odds[0]) * (GROUPS - 1)).astype(np.intp)
    total = np.bincount(group, share)
    means = np.bincount(group, share * values)[total > 0] / total[total > 0]
    return means, total[total > 0]
