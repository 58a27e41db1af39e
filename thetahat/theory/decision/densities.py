"""Densities that users give: functions of arrays or of numbers, or distributions."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np

from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array

HINTS = np.array([1e-9, 1e-4, 0.02, 0.25, 0.5, 0.75, 0.98, 1 - 1e-4, 1 - 1e-9])
"""Quantiles of a density, where panels end, so that a narrow density far away is not missed."""


def as_density(density: Any, k: int, who: str) -> Callable[[Array], Array]:
    """A density as a function of arrays, whose values are checked."""
    if getattr(density, "discrete", False) is True:
        raise ParameterError(
            f"{who}: densities[{k}]={density!r:.60} has probabilities of whole numbers, but a "
            "density is needed. Use th.theory.BayesTable with its probabilities."
        )
    call = method_of(density, "pdf", "density") or density
    if not callable(call):
        raise ParameterError(
            f"{who}: densities[{k}]={density!r:.60} must be a function, or have a method pdf or "
            "density."
        )

    def values(x: Array) -> Array:
        try:
            found = np.asarray(call(x), dtype=np.float64)
        except (TypeError, ValueError):  # a function of single numbers
            found = np.array([float(call(float(each))) for each in x.ravel()]).reshape(x.shape)
        found = np.broadcast_to(found, x.shape)
        wrong = ~((found >= 0) & (found < inf))
        if wrong.any():
            raise DataError(
                f"{who}: densities[{k}] is {found[wrong][0]:g} at x = {x[wrong][0]:g}; densities "
                "must be finite and ≥ 0 inside the bounds."
            )
        return found

    return values


def quantiles(density: Any) -> Array:
    """Some quantiles of a distribution that has a method for them; else none."""
    quantile = method_of(density, "ppf", "quantile")
    return np.empty(0) if quantile is None else np.asarray(quantile(HINTS), dtype=np.float64)


def place_and_width(quantiles: Array) -> tuple[float, float]:
    """The middle of quantiles of several distributions, and how far they extend; else 0 and 1."""
    found = quantiles[np.isfinite(quantiles)]
    width = float(np.ptp(found)) / 8 if found.size else 0.0
    return (float(np.median(found)), width) if width > 0 else (0.0, 1.0)


def method_of(distribution: Any, *names: str) -> Callable[..., Any] | None:
    """The method of a distribution with one of these names: those of SciPy, or those of th."""
    found = (getattr(distribution, name, None) for name in names)
    return next((method for method in found if callable(method)), None)
