"""What a problem may offer to a method: the protocol that solvers are written against."""

from __future__ import annotations

from typing import Any, Protocol

from thetahat.foundation.types import Array


class Objective(Protocol):
    """The methods that a problem may have; a solver uses only those in its `needs`.

    The objective is F(θ) = S(θ) + R(θ). S is the part with a gradient (or a subgradient, if the
    loss has kinks). R is handled by its proximal operator and is 0 if all of F is smooth.
    """

    convex: bool
    """False if F may have local minima that are not its minimum; true if it is not given."""

    def start(self) -> Array:
        """The starting point if the caller does not pass one."""

    def value(self, theta: Array) -> float:
        """F(θ)."""

    def value_and_gradient(self, theta: Array) -> tuple[float, Array]:
        """F(θ) and ∇F(θ); only if F is smooth."""

    def hessian(self, theta: Array) -> Array:
        """∇²F(θ)."""

    def value_and_subgradient(self, theta: Array) -> tuple[float, Array]:
        """S(θ) and an element of ∂S(θ)."""

    def smooth_value_and_gradient(self, theta: Array) -> tuple[float, Array]:
        """S(θ) and ∇S(θ); only if S is smooth."""

    def nonsmooth_value(self, theta: Array) -> float:
        """R(θ)."""

    def prox(self, theta: Array, step: float) -> Array:
        """argmin_u ½‖u − θ‖² + step·R(u)."""

    def optimality_gap(self, theta: Array, smooth_gradient: Array) -> float:
        """Distance from −∇S(θ) to ∂R(θ); ‖∇F‖∞ if R is 0."""

    def majoriser(self, theta: Array) -> tuple[Array, Array]:
        """Gradient and Hessian at θ of a quadratic that equals F there and is nowhere below F."""

    def separable_quadratic(self) -> Any:
        """F itself as a `SeparableQuadratic`."""

    def piecewise_linear(self) -> Any:
        """F itself as a `PiecewiseLinearSum`."""

    def l1_least_squares(self) -> Any:
        """F itself as an `L1LeastSquares`."""

    n_terms: int
    """Number of terms whose average is S."""

    def sample_gradient(self, theta: Array, rows: Array) -> Array:
        """An estimate of ∇F from these terms; for uniformly drawn rows its mean is ∇F(θ)."""

    def term_blocks(self) -> Any:
        """Blocks of terms, each with `n_terms` and `sample_gradient`; only for rows in files."""

    def compiled_epoch(self, theta: Array, rows: Array, rates: Array) -> tuple[Array, Array]:
        """θ after one step −η·∇F for each term in turn, and the mean of the iterates; optional."""

    def residuals(self, theta: Array) -> Array:
        """r(θ) with F(θ) = ½‖r(θ)‖²."""

    def jacobian(self, theta: Array) -> Array:
        """∂r/∂θ."""


NEED_IN_WORDS = {
    "value": "the value of the objective",
    "value_and_gradient": "a gradient",
    "hessian": "a Hessian",
    "value_and_subgradient": "a subgradient",
    "smooth_value_and_gradient": "the gradient of the smooth part",
    "nonsmooth_value": "the value of the penalty",
    "prox": "a proximal operator",
    "optimality_gap": "an optimality gap",
    "majoriser": "a quadratic majoriser",
    "separable_quadratic": "a quadratic objective with separable terms",
    "dual_form": "a dual with one variable per row",
    "dual_rows": "a dual with one variable per row, and the rows in memory",
    "class_dual_rows": "a dual with one variable per row and class",
    "structured_terms": "a search for the most violated output of every term",
    "piecewise_linear": "a piecewise linear objective",
    "direct_least_squares": "least squares with a ridge penalty, none, or L0 of few columns",
    "l1_least_squares": "least squares with a penalty of |θ| and θ²",
    "task_least_squares": "least squares for several targets with a penalty on the norms of rows",
    "n_terms": "a sum of terms",
    "sample_gradient": "gradients of single terms",
    "residuals": "residuals",
    "jacobian": "the Jacobian of the residuals",
    "partial_minimisers": "functions that minimise over parts of the parameters",
}


class MissingCapability(AttributeError):
    """Raised by an attribute that the parts of a problem cannot provide, so ``hasattr`` is False.

    The message completes "<method> needs …", for example "a smooth penalty; L1 is not".
    """
