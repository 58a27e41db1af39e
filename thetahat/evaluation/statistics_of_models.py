"""Statistics of a fitted model: its coefficients, or the result of a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.foundation.types import Array

Measure = Callable[[Any], tuple[Array, tuple[str, ...]]]


def statistic_of(statistic: str | Callable[[Any], Any] | None) -> Measure:
    """A function that maps a fitted model to an array and the names of its entries."""
    if statistic is None or statistic == "coef":
        return _coefficients
    if not callable(statistic):
        raise ParameterError(
            f"statistic={statistic!r} must be 'coef' or a function of a fitted model, such as "
            "lambda model: model.predict(X_new)."
        )

    def measure(model: Any) -> tuple[Array, tuple[str, ...]]:
        values = np.asarray(statistic(model), dtype=np.float64)
        if not values.size:
            raise DataError("The statistic is empty. Return a number or an array of numbers.")
        if values.ndim == 0:
            return values, ("statistic",)
        return values, tuple(
            f"statistic[{', '.join(map(str, place))}]" for place in np.ndindex(values.shape)
        )

    return measure


def _coefficients(model: Any) -> tuple[Array, tuple[str, ...]]:
    """Intercept and coefficients, output by output."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    if not hasattr(last, "coef_"):
        raise CapabilityError(
            f"{type(last).__name__} has no coef_. Give statistic=, a function of the fitted model, "
            "such as lambda model: model.predict(X_new)."
        )
    coef = np.atleast_2d(np.asarray(last.coef_, dtype=np.float64))
    outputs, d = coef.shape
    intercept = np.broadcast_to(
        np.asarray(getattr(last, "intercept_", 0.0), dtype=np.float64), (outputs,)
    )
    known = getattr(last, "feature_names_in_", [f"x{j}" for j in range(d)])
    names = [
        name if outputs == 1 else f"{output}: {name}"
        for output in range(outputs)
        for name in ("intercept", *map(str, known))
    ]
    return np.column_stack([intercept, coef]).ravel(), tuple(names)
