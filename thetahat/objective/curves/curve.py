"""A user-defined regression function f(x; θ) and its derivative ∂f/∂θ.

The function is called with all rows at once, ``model(X, theta)`` or ``model(X, a, b)``, and must
return one real number per row. Its derivative comes from automatic differentiation, from central
differences if autodiff does not support the function, or from the user, which is then checked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.autodiff import jvp, vjp
from thetahat.mathematics.autodiff.program import Program, record
from thetahat.mathematics.optimizers.checks.finite_differences import Estimate, numeric_jacobian

Model = Callable[[Array, Array], Array]

MODES = ("auto", "finite-differences")
SLAB = 16_384
"""Rows that are differentiated at once, so that the intermediate results stay in the cache."""
SAME = 1e-10
"""Largest relative difference of two exact derivatives, due to rounding."""
TOLERANCE = 1e-4
"""Allowed difference of a user's derivative from finite differences, relative to its column."""


def linear_function(X: Array, theta: Array) -> Array:
    """xᵀβ + b with θ = (β, b)."""
    return X @ theta[:-1] + theta[-1]


@dataclass(frozen=True)
class Curve:
    """The function f(·; θ) and its method of differentiation."""

    model: Model
    derivative: str | Callable[[Array, Array], Array] = "auto"
    """"auto", "autodiff", "autodiff by rows", "finite-differences", or a function of (X, theta)."""
    names: Sequence[str] = ()
    """Names of the parameters in messages."""
    spread: bool = False
    """Whether the functions take the parameters one by one: model(X, a, b) for θ = (a, b)."""
    flat: bool = False
    """Whether the functions take the only column of X as a vector."""

    def _evaluate(self, function: Callable[..., Array], X: Array, theta: Any) -> Any:
        x = X[:, 0] if self.flat else X
        return (
            function(x, *(theta[j] for j in range(len(self.names))))
            if self.spread
            else function(x, theta)
        )

    @property
    def _signature(self) -> str:
        arguments = self.names if self.spread else ["theta"]
        return f"({', '.join(['x' if self.flat else 'X', *arguments])})"

    def __call__(self, X: Array, theta: Array) -> Array:
        """f(x; θ) for every row, shape (n,); not finite where f overflows or is undefined."""
        with np.errstate(all="ignore"), one_blas_thread():
            try:
                values = np.asarray(self._evaluate(self.model, X, theta.copy()))
            except ArithmeticError:
                return np.full(len(X), np.nan)
            except Exception as failure:
                failure.add_note(f"Raised by model{self._signature} at {self.shown(theta)}.")
                raise
        return self._checked("model", values, (len(X),))

    def jacobian(self, X: Array, theta: Array) -> Array:
        """∂f(xᵢ; θ)/∂θⱼ, shape (n, p)."""
        with np.errstate(all="ignore"), one_blas_thread():
            if callable(self.derivative):
                values = np.asarray(self._evaluate(self.derivative, X, theta.copy()))
                return self._checked("jacobian", values, (len(X), len(theta)))
            if self.derivative == "finite-differences":
                return self.differences(X, theta).value
            if self.derivative == "autodiff by rows":
                program = self._recorded(X, len(theta))
                try:
                    return self._by_rows(X, theta) if program is None else program.slopes(theta)
                except Exception:  # a branch that only some θ take
                    pass
            return self._by_columns(X, theta)

    def _recorded(self, X: Array, n_parameters: int) -> Program | None:
        """The curve as a program that does not call the model; None for some models."""
        try:
            return record(partial(self._evaluate, self.model, X), len(X), n_parameters)
        except Exception:
            return None

    def _by_columns(self, X: Array, theta: Array) -> Array:
        """Forward mode, J·eⱼ: one pass per parameter, for any model."""
        along = partial(jvp, partial(self._evaluate, self.model, X), theta)
        whole = np.empty((len(X), len(theta)), order="F")
        for column, unit in enumerate(np.eye(len(theta))):
            whole[:, column] = along(unit)[1]
        return whole

    def _by_rows(self, X: Array, theta: Array) -> Array:
        """Reverse mode with a copy of θ for every row: one pass for all parameters.

        Row i depends on its own copy of θ alone, so Σf has the gradient ∂fᵢ/∂θⱼ there. `settled`
        checks whether this is correct for the model.
        """
        whole = np.empty((len(X), len(theta)), order="F")
        for first in range(0, len(X), SLAB):
            rows = X[first : first + SLAB]
            ones = np.ones(len(rows))
            value, pullback = vjp(
                partial(self._evaluate, self.model, rows), tuple(t * ones for t in theta)
            )
            for column, slope in enumerate(pullback(np.ones(value.shape))):
                whole[first : first + SLAB, column] = slope
        return whole

    def differences(self, X: Array, theta: Array) -> Estimate:
        """The Jacobian by extrapolated central differences, with steps in each parameter's unit."""
        unit = np.where(theta != 0, np.abs(theta), 1.0)
        found = numeric_jacobian(lambda scaled: self(X, unit * scaled), theta / unit)
        return Estimate(found.value / unit, found.error / unit)

    def settled(self, X: Array, theta: Array) -> Settled:
        """This curve with a derivative that works at θ, its Jacobian there, and why it was chosen.

        Raises an error if f or its derivative is undefined at θ.
        """
        try:
            values = self(X, theta)
        except IndexError as failure:
            numbers = "1 number" if len(theta) == 1 else f"{len(theta)} numbers"
            raise ParameterError(
                f"start has {numbers}, but the model uses more parameters ({failure}). Pass one "
                "number per parameter of the model."
            ) from failure
        self._require_finite("model", values, X, theta)
        if callable(self.derivative):
            self._require_agreement(X, theta)
            chosen, reason = (self, "your Jacobian, which agrees with finite differences")
        elif self.derivative == "finite-differences":
            chosen, reason = self, "Jacobian by central differences, requested"
        else:
            reason = "Jacobian by automatic differentiation"
            program = self._recorded(X, len(theta))
            if program is not None:
                with np.errstate(all="ignore"):
                    again, found = program.values(theta), program.slopes(theta)
                same = np.array_equal(again, values) or _same(again, values).all()
                if same and np.isfinite(found).all():
                    chosen = replace(self, derivative="autodiff by rows")
                    return Settled(chosen, found, reason, program)
            chosen = replace(self, derivative="autodiff")
            try:
                found = chosen.jacobian(X, theta)
                if np.isfinite(found).all():
                    return Settled(*chosen._in_faster_mode(X, theta, found), reason)
                # The formula of the derivative may be undefined where f is not, as for 0·log 0.
                lack = "it is not finite where the model is"
            except Exception as failure:
                lack = f"{type(failure).__name__}: {failure}".split(". ")[0]
            chosen = replace(self, derivative="finite-differences")
            reason = f"Jacobian by central differences: automatic differentiation failed ({lack})"
        found = chosen.jacobian(X, theta)
        self._require_finite("Jacobian", found, X, theta)
        return Settled(chosen, found, reason)

    def _in_faster_mode(self, X: Array, theta: Array, found: Array) -> tuple[Curve, Array]:
        """This curve, with the faster reverse mode if that gives the same Jacobian, and that."""
        try:
            with np.errstate(all="ignore"), one_blas_thread():
                other = self._by_rows(X, theta)
        except Exception:
            return self, found
        if not _same(other, found).all():
            return self, found
        return replace(self, derivative="autodiff by rows"), other

    def shown(self, theta: Array) -> str:
        """θ as text for messages."""
        values = ", ".join(
            f"{name} = {value:.6g}" for name, value in zip(self.names, theta, strict=False)
        )
        return values or f"theta = {theta}"

    def _require_finite(self, what: str, values: Array, X: Array, theta: Array) -> None:
        finite = np.isfinite(values)
        if not finite.all():
            bad = np.argwhere(~finite)
            row = int(bad[0][0])
            raise ParameterError(
                f"The {what} is {values[tuple(bad[0])]} at the start {self.shown(theta)}, first in "
                f"row {row} (x = {_row(X[row])}). Start where the model is finite, or keep the "
                "parameters in its domain with bounds=(low, high)."
            )

    def _checked(self, what: str, values: Array, shape: tuple[int, ...]) -> Array:
        expected = "one number per row" if len(shape) == 1 else "one column per parameter"
        if values.dtype.kind not in "biuf":
            kind = "complex numbers" if values.dtype.kind == "c" else f"type {values.dtype}"
            raise ParameterError(
                f"{what}{self._signature} returned {kind}; real numbers are needed, {expected}."
                + (" Take their real part or their modulus." if kind[0] == "c" else "")
            )
        if values.shape == () and len(shape) == 1:
            return np.full(shape, float(values))
        if values.shape != shape:
            raise ParameterError(
                f"{what}{self._signature} returned shape {values.shape} for {shape[0]} rows; shape "
                f"{shape} is needed: {expected}."
                + (" Use X[:, 0] for a single column." if values.shape == (*shape, 1) else "")
            )
        return values.astype(np.float64, copy=False)

    def _require_agreement(self, X: Array, theta: Array) -> None:
        """Compare a user's Jacobian with differences, relative to each column's largest entry."""
        given, numeric = self.jacobian(X, theta), self.differences(X, theta)
        size = np.nanmax(np.abs(np.stack([given, numeric.value])), axis=(0, 1), initial=0.0)
        off = np.abs(given - numeric.value) - TOLERANCE * size - 10 * numeric.error
        off[~np.isfinite(numeric.value) | ~np.isfinite(given)] = -np.inf
        row, column = (int(place) for place in np.unravel_index(np.argmax(off), off.shape))
        if off[row, column] > 0:
            name = self.names[column] if self.names else f"parameter {column}"
            raise ParameterError(
                f"jacobian disagrees with the model: the derivative by {name} in row {row} "
                f"(x = {_row(X[row])}) is {given[row, column]:.6g}, and finite differences give "
                f"{numeric.value[row, column]:.6g} at the start. Correct it, or use "
                'jacobian="auto".'
            )


class Settled(NamedTuple):
    """A curve whose derivative works at the start."""

    curve: Curve
    slopes: Array
    """Its Jacobian at the start."""
    reason: str
    program: Program | None = None
    """Its values and derivatives for the rows given, without calls of the model."""


def _same(some: Array, others: Array) -> Array:
    """Where two results of one formula are equal up to rounding."""
    return np.abs(some - others) <= SAME * np.max(np.abs(others), axis=0)


def _row(x: Array) -> str:
    shown = ", ".join(f"{value:.6g}" for value in x[:5])
    return shown + (", …" if len(x) > 5 else "")
