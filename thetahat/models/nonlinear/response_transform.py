"""Invertible transformations ψ(y, x) of the response."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array

Function = Callable[[Array, Array], Array]

ROUND_TRIP = 1e-6
"""Tolerance for ψ⁻¹(ψ(y, x), x) = y, relative to the largest |y|."""
AT_ONCE = 1 << 18
"""Maximum number of entries of X per call of ψ⁻¹ when averaging over residuals."""
WHOLE_LINE = (-math.inf, math.inf)


@dataclass(frozen=True)
class ResponseTransform:
    """An invertible transformation ψ(y, x) of the response, which may depend on the row.

    Formula: z = ψ(y, x), y = ψ⁻¹(z, x), increasing or decreasing in y for every x. Cost: O(n).

    Parameters
    ----------
    forward : callable
        The transformation ψ as ``forward(y, X)`` of y (n,) and X (n, d), computed row by row. A
        sparse X stays sparse.
    inverse : callable
        The inverse transformation ψ⁻¹ as ``inverse(z, X)``, computed row by row.
    name : str, default="your transform"
        Name of the transformation in error messages.
    z_range : pair of float, default=(-inf, inf)
        Smallest and largest possible value of ψ, for example (0, ∞) for √y. Predictions of z
        outside are moved to the nearer end.
    monotone : bool, default=True
        Whether ψ is monotone in y. Set it to False if ψ increases for some y and decreases for
        others, or jumps; intervals are then not available.

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
        """The object itself, because it is immutable."""
        return self

    def apply(self, y: Array, X: Array) -> Array:
        """Compute ψ(y, x), and check that it is finite and that ψ⁻¹ recovers y. Cost: O(n).

        Parameters
        ----------
        y : array of shape (n,)
            Targets in the domain of ψ.
        X : array of shape (n, d)
            Rows that belong to the targets.

        Returns
        -------
        array of shape (n,)
            The transformed targets z.
        """
        z = self._called("forward", self.forward, y, X)
        self._require_finite("ψ(y, x)", z, "y", y)
        back = self._called("inverse", self.inverse, z, X)
        off = np.abs(back - y) > ROUND_TRIP * max(float(np.max(np.abs(y))), 1e-300)
        off |= ~np.isfinite(back)
        if off.any():
            row = int(np.argmax(off))
            raise ParameterError(
                f"ResponseTransform ({self.name}): inverse does not undo forward for {off.sum()} "
                f"of {len(y)} rows (first at row {row}: forward maps y = {y[row]:g} to {z[row]:g}, "
                f"and inverse maps it to {back[row]:g}). ψ must be invertible for these targets."
            )
        return z

    def undo(self, z: Array, X: Array) -> Array:
        """Compute ψ⁻¹(z, x) for the nearest z in range, and check that it is finite. Cost: O(n).

        Parameters
        ----------
        z : array of shape (n,)
            Transformed targets or predictions.
        X : array of shape (n, d)
            Rows that belong to them.

        Returns
        -------
        array of shape (n,)
            Targets in their original units.
        """
        y = self._called("inverse", self.inverse, np.clip(z, *self.z_range), X)
        self._require_finite("ψ⁻¹(z, x)", y, "z", z)
        return y

    def smeared(self, z: Array, X: Array, errors: Array, shares: Array) -> Array:
        """Compute Σ share·ψ⁻¹(z + error, x), the mean over residuals. Cost: O(n · errors).

        Parameters
        ----------
        z : array of shape (n,)
            Predictions of the transformed targets.
        X : array of shape (n, d)
            Rows that belong to the predictions.
        errors : array of shape (k,)
            Residuals, or means of groups of residuals.
        shares : array of shape (k,)
            Weight of each residual; the weights sum to 1.

        Returns
        -------
        array of shape (n,)
            Predicted means of y.
        """
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

    def undo_interval(self, low: Array, high: Array, X: Array) -> tuple[Array, Array]:
        """Compute the bounds of all y with low ≤ ψ(y, x) ≤ high. Cost: O(n).

        Parameters
        ----------
        low, high : arrays of shape (n,)
            Lower and upper bounds of the transformed targets.
        X : array of shape (n, d)
            Rows that belong to the bounds.

        Returns
        -------
        low, high : arrays of shape (n,)
            Bounds in the original units; infinite where y is unbounded.
        """
        ends = []
        for z in (low, high):
            y = self._called("inverse", self.inverse, np.clip(z, *self.z_range), X)
            self._require_finite("ψ⁻¹(z, x)", np.where(np.isinf(y), 0.0, y), "z", z)
            ends.append(y)
        return np.minimum(*ends), np.maximum(*ends)

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
                f"{result.shape} for {len(values)} rows, but must return real numbers of shape "
                f"{values.shape}, one per row."
            )
        return result.astype(np.float64, copy=False)

    def _require_finite(self, what: str, result: Array, role: str, values: Array) -> None:
        bad = ~np.isfinite(result)
        if bad.any():
            row = int(np.argmax(bad))
            raise DataError(
                f"ResponseTransform ({self.name}): {what} is {result[row]} for {bad.sum()} of "
                f"{len(values)} rows (first at row {row}: {role} = {values[row]:g}). Use a "
                "transform that is defined for these values, or leave these rows out."
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


def as_transform(given: Any, y: Array) -> ResponseTransform:
    """The given transform; "reciprocal" is restricted to the sign of the targets."""
    if not isinstance(given, str):
        return given if isinstance(given, ResponseTransform) else ResponseTransform(*given)
    named = NAMED[given]
    if given != "reciprocal" or np.all(y > 0):
        return named
    if np.all(y < 0):
        return replace(named, z_range=(-math.inf, -0.0))
    return replace(named, z_range=WHOLE_LINE, monotone=False)
