"""Numerical checks of a loss: independent rows, correct derivatives, convexity and kinks.

All checks use a small sample of valid targets and of raw predictions near them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from array_api_compat import array_namespace, device

from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.base import Loss, Subdifferentiable, Targets
from thetahat.mathematics.optimizers.checks.finite_differences import Estimate, numeric_jacobian

Function = Callable[[Array, Array], Array]

SAMPLE_TARGETS = {
    Targets.REAL: (-2.5, -1.0, -0.3, 0.0, 0.8, 2.0),
    Targets.NONNEGATIVE: (0.0, 0.5, 1.0, 2.0, 3.0, 6.0),
    Targets.POSITIVE: (0.2, 0.5, 1.0, 2.0, 3.0, 6.0),
    Targets.BINARY: (0.0, 1.0),
    Targets.SIGNS: (-1.0, 1.0),
    Targets.CLASSES: (0.0, 1.0, 2.0),
}
N_ROWS = 24
N_CLASSES = 3
N_LINES = 12
REACH, N_STEPS = 6.0, 120
"""Gradients are evaluated along lines from −REACH to REACH."""
N_HALVINGS = 40
AGREEMENT = 1e-5
"""Allowed difference between a derivative and finite differences, relative to 1 + its size."""
JUMP = 1e-6
"""Change of the gradient, over an interval halved `N_HALVINGS` times, that counts as a jump."""


def examine_value(loss: Loss) -> None:
    """Raise an error unless the function gives one value per row that depends on that row alone."""
    y, z = _sample(loss)
    with np.errstate(all="ignore"):
        together = np.asarray(loss.value(y, z))
        if together.shape != y.shape:
            raise ParameterError(
                f"loss {loss.name!r}: for {N_ROWS} rows the function returned shape "
                f"{together.shape}; it must return one value per row, shape {y.shape}. "
                "Do not sum or average over the rows."
            )
        alone = np.concatenate([loss.value(y[[i]], z[[i]]) for i in range(N_ROWS)])
    differs = ~np.isclose(together, alone, rtol=1e-9, atol=1e-12, equal_nan=True)
    if differs.any():
        i = int(np.argmax(differs))
        raise ParameterError(
            f"loss {loss.name!r} mixes rows: at {_place(y, z, i)} its value is {together[i]:.9g} "
            f"among {N_ROWS} rows and {alone[i]:.9g} alone. The value of row i must depend only on "
            "y[i] and z[i]."
        )
    if not np.isfinite(together).any():
        raise ParameterError(
            f"loss {loss.name!r} is finite nowhere: {together[0]} at {_place(y, z, 0)}. It must be "
            f"defined for every real z, with y {loss.targets.value}."
        )


def examine_derivative(
    loss: Loss, what: str, derivative: Function, antiderivative: Function
) -> None:
    """Raise an error if a gradient or curvature disagrees with finite differences."""
    y, z = _sample(loss)
    with np.errstate(all="ignore"):
        try:
            found = np.asarray(derivative(y, z))
        except CapabilityError as refusal:
            raise CapabilityError(
                f"loss {loss.name!r}: no {what} can be found. {refusal}"
            ) from refusal
        if found.shape != z.shape:
            raise ParameterError(
                f"loss {loss.name!r}: its {what} has shape {found.shape}; it must have the shape "
                f"of z, {z.shape}."
            )
        for column in range(1 if z.ndim == 1 else N_CLASSES):
            numeric = _slope_along(antiderivative, y, z, column)
            here = _column(found, column)
            scale = 1 + abs(here)
            settled = numeric.error <= AGREEMENT * scale
            apart = abs(here - numeric.value)
            wrong = settled & ~(apart <= AGREEMENT * scale + 2 * numeric.error)
            if wrong.any() or not settled.any():
                i = int(np.argmax(wrong))
                raise ParameterError(
                    f"loss {loss.name!r}: at {_place(y, z, i)} its {what} is {here[i]:.9g}, but "
                    f"finite differences give {numeric.value[i]:.9g}. Correct {what}=, or omit it "
                    "to use automatic differentiation; the function itself must not use random "
                    "numbers or hidden state."
                )


class LineGradients(NamedTuple):
    """Properties of the gradient along straight lines through the space of raw predictions."""

    increase: bool
    """It never decreases, as for a convex function."""
    jump: bool
    """It jumps somewhere, so the loss has a kink."""


def gradients_along_lines(loss: Subdifferentiable) -> LineGradients:
    """Evaluate the gradient along lines, and bisect each step where the change is largest.

    A change that remains after all halvings is a jump.
    """
    targets = SAMPLE_TARGETS[loss.targets]
    y = np.resize(targets, max(N_LINES, len(targets)))
    start, direction = np.zeros(len(y)), np.ones(len(y))
    if loss.columns != "one":
        start, direction = np.random.default_rng(1).normal(size=(2, len(y), N_CLASSES))

    def slope(t: Array) -> Array:
        """d/dt ℓ(y, start + t·direction), one line per column of t."""
        lines = np.broadcast_to(np.arange(len(y)), t.shape).ravel()
        along = direction[lines]
        z = start[lines] + (t.ravel() * along.T).T
        gradient = np.asarray(loss.gradient(y[lines], z)) * along
        return (gradient if gradient.ndim == 1 else gradient.sum(axis=1)).reshape(t.shape)

    with np.errstate(all="ignore"):
        t = np.tile(np.linspace(-REACH, REACH, N_STEPS)[:, None], len(y))
        slopes = slope(t)
        falls = np.diff(slopes, axis=0) < -1e-9 * (1 + abs(slopes[1:]))
        low, high, at_low, at_high = t[:-1], t[1:], slopes[:-1], slopes[1:]
        for _ in range(N_HALVINGS):
            middle = (low + high) / 2
            at_middle = slope(middle)
            first = abs(at_middle - at_low) > abs(at_high - at_middle)
            low, at_low = np.where(first, low, middle), np.where(first, at_low, at_middle)
            high, at_high = np.where(first, middle, high), np.where(first, at_middle, at_high)
        jumps = abs(at_high - at_low) > JUMP * (1 + abs(at_low))
    return LineGradients(increase=not falls.any(), jump=bool(jumps.any()))


def toward(z: Array, column: int) -> Array:
    """The direction in which one column of z increases."""
    xp = array_namespace(z)
    columns = xp.arange(z.shape[-1], device=device(z))
    return xp.broadcast_to(xp.astype(columns == column, z.dtype), z.shape)


def _sample(loss: Loss) -> tuple[Array, Array]:
    y = np.resize(SAMPLE_TARGETS[loss.targets], N_ROWS)
    shape = (N_ROWS,) if loss.columns == "one" else (N_ROWS, N_CLASSES)
    return y, np.random.default_rng(0).normal(scale=1.5, size=shape)


def _slope_along(function: Function, y: Array, z: Array, column: int) -> Estimate:
    """The derivative with respect to one column of z, for all rows at once."""
    direction = np.ones_like(z) if z.ndim == 1 else toward(z, column)
    return numeric_jacobian(lambda t: _column(function(y, z + t * direction), column), 0.0)


def _column(array: Array, column: int) -> Array:
    """The given column of a matrix; a vector is returned unchanged."""
    return array if np.ndim(array) == 1 else array[:, column]


def _place(y: Array, z: Array, row: int) -> str:
    return f"y = {y[row]:.6g}, z = {np.array2string(z[row], precision=6)}"
