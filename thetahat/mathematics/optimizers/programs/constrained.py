"""Constrained minimisation, with the Lagrange multipliers as a certificate of optimality.

    minimise f(x)  subject to  A x ≤ b,  E x = e

The Lagrangian is L(x, λ, ν) = f(x) + λᵀ(Ax − b) + νᵀ(Ex − e) with λ ≥ 0. At an optimum the four
Karush–Kuhn–Tucker (KKT) conditions hold:

    stationarity         ∇f(x) + Aᵀλ + Eᵀν = 0
    primal feasibility   Ax ≤ b, Ex = e
    dual feasibility     λ ≥ 0
    complementarity      λⱼ (Ax − b)ⱼ = 0: the multiplier of an inactive constraint is zero

If f is convex, they prove that x is an optimum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.arguments import numbers
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class KKT:
    """How much a point and its multipliers violate the Karush–Kuhn–Tucker (KKT) conditions.

    Formula: ``largest`` is 0 exactly if x and (λ, ν) are a primal-dual solution. Cost: O(1).

    Attributes
    ----------
    stationarity, primal, dual, complementarity : float
        The largest violation of each of the four conditions; 0 if the condition holds.

    Examples
    --------
    >>> import thetahat as th
    >>> th.optimizers.KKT(0.0, 0.5, 0.0, 0.0).largest
    0.5
    """

    stationarity: float
    primal: float
    dual: float
    complementarity: float

    @property
    def largest(self) -> float:
        """The largest of the four violations."""
        return max(self.stationarity, self.primal, self.dual, self.complementarity)


def kkt_violation(
    point: Array,
    gradient: Array,
    *,
    inequalities: tuple[Array, Array] | None = None,
    inequality_multipliers: Array | None = None,
    equalities: tuple[Array, Array] | None = None,
    equality_multipliers: Array | None = None,
) -> KKT:
    """Compute how much x and (λ, ν) violate the four optimality (KKT) conditions.

    Formula: ‖∇f + Aᵀλ + Eᵀν‖∞, the largest [Ax − b]₊ and |Ex − e|, [−λ]₊ and |λⱼ(Ax − b)ⱼ|. For
    convex f all are 0 exactly at an optimum. Cost: O(size of A and E).

    Parameters
    ----------
    point : array of shape (d,)
        The point x that is checked.
    gradient : array of shape (d,)
        The gradient ∇f(x) at that point.
    inequalities, equalities : (matrix, vector), optional
        The constraints, as pairs (A, b) for Ax ≤ b and (E, e) for Ex = e. For non-linear
        constraints g(x) ≤ 0 pass their Jacobian J and the vector Jx − g(x).
    inequality_multipliers, equality_multipliers : array, optional
        The multipliers λ and ν of the constraints. By default zeros.

    Returns
    -------
    KKT

    Examples
    --------
    The point of the line x₁ + x₂ = 2 that is nearest to the origin:

    >>> import numpy as np
    >>> import thetahat as th
    >>> line, x = (np.ones((1, 2)), np.array([2.0])), np.ones(2)
    >>> th.optimizers.kkt_violation(x, x, equalities=line, equality_multipliers=[-1.0]).largest
    0.0
    """
    who = "kkt_violation"
    x, slope = numbers(point, "point", who), numbers(gradient, "gradient", who)
    if x.ndim != 1 or slope.shape != x.shape:
        raise ParameterError(
            f"{who}: point has shape {x.shape} and gradient {slope.shape}; both must be (d,)."
        )
    primal = dual = complementarity = 0.0
    if inequalities is not None:
        matrix, bound = constraints(inequalities, x.size, "inequalities", who)
        multiplier = _multipliers(inequality_multipliers, bound.size, "inequality_multipliers")
        excess = matrix @ x - bound
        slope = slope + matrix.T @ multiplier
        primal = float(np.max(excess, initial=0.0))
        dual = float(np.max(-multiplier, initial=0.0))
        complementarity = float(np.max(np.abs(multiplier * excess), initial=0.0))
    if equalities is not None:
        matrix, bound = constraints(equalities, x.size, "equalities", who)
        multiplier = _multipliers(equality_multipliers, bound.size, "equality_multipliers")
        slope = slope + matrix.T @ multiplier
        primal = max(primal, float(np.max(np.abs(matrix @ x - bound), initial=0.0)))
    return KKT(float(np.max(np.abs(slope), initial=0.0)), primal, dual, complementarity)


def constraints(pair: Any, d: int, name: str, who: str) -> tuple[Array, Array]:
    """The matrix (dense or sparse) and the vector of constraints on d unknowns, checked."""
    if not (isinstance(pair, tuple | list) and len(pair) == 2):
        raise ParameterError(f"{who}: {name} must be a pair (matrix, vector).")
    matrix, bound = pair
    if hasattr(matrix, "tocsr"):
        numbers(matrix.data, f"{name}[0].data", who)
    else:
        matrix = numbers(matrix, f"{name}[0]", who)
    bound = numbers(bound, f"{name}[1]", who)
    if matrix.ndim != 2 or matrix.shape[1] != d or bound.shape != (matrix.shape[0],):
        raise ParameterError(
            f"{who}: {name} have shapes {matrix.shape} and {bound.shape}; they must be "
            f"(m, {d}) and (m,): one row and one number per constraint."
        )
    return matrix, bound


def cost_vector(cost: Any, parts: list[Any], who: str) -> Array:
    """The cost vector c of a program; without one, zeros for all columns of its constraints."""
    if cost is None:
        matrix = parts[0][0]
        shape = matrix.shape if hasattr(matrix, "shape") else np.shape(matrix)
        if len(shape) != 2:
            raise ParameterError(
                f"{who}: a matrix of constraints has shape {shape}; it must be (m, d)."
            )
        return np.zeros(int(shape[1]))
    found = numbers(cost, "cost", who)
    if found.ndim != 1:
        raise ParameterError(f"{who}: cost has shape {found.shape}; it must be (d,).")
    return found


def bound(given: Any, name: str, size: int, who: str) -> Array:
    """One bound per unknown, from one number for all or one for each; ±∞ means no bound."""
    found = numbers(given, name, who, finite=False)
    if found.shape not in ((), (1,), (size,)):
        raise ParameterError(
            f"{who}: {name} has shape {found.shape}; pass one number, or {size} numbers, one for "
            "each unknown."
        )
    return np.array(np.broadcast_to(found, (size,)))


def _multipliers(given: Array | None, size: int, name: str) -> Array:
    if given is None:
        return np.zeros(size)
    found = numbers(given, name, "kkt_violation")
    if found.shape != (size,):
        raise ParameterError(
            f"kkt_violation: {name} has shape {found.shape}; pass {size} numbers, one for each "
            "constraint."
        )
    return found
