"""Constrained minimisation with its certificate: the multipliers of the constraints.

    minimise f(x)  subject to  A x ≤ b,  E x = e

The Lagrangian is L(x, λ, ν) = f(x) + λᵀ(Ax − b) + νᵀ(Ex − e) with λ ≥ 0. At an optimum the four
conditions of Karush, Kuhn and Tucker hold:

    stationarity         ∇f(x) + Aᵀλ + Eᵀν = 0
    primal feasibility   Ax ≤ b, Ex = e
    dual feasibility     λ ≥ 0
    complementarity      λⱼ (Ax − b)ⱼ = 0: a constraint that is not touched does not push

and for convex f they prove that x is one.
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
    """How far a point and its multipliers are from the conditions of Karush, Kuhn and Tucker.

    Formula: ``largest`` is 0 exactly when x and (λ, ν) are a primal-dual solution. Cost: O(1).

    Attributes
    ----------
    stationarity, primal, dual, complementarity : float
        The largest violation of each condition.

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
        """The worst of the four."""
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
    """Check x and (λ, ν) against the four optimality conditions.

    Formula: ‖∇f + Aᵀλ + Eᵀν‖∞, the largest [Ax − b]₊ and |Ex − e|, [−λ]₊ and |λⱼ(Ax − b)ⱼ|. For
    convex f all are 0 exactly at an optimum. Cost: O(size of A and E).

    Parameters
    ----------
    point : array of shape (d,)
        x.
    gradient : array of shape (d,)
        ∇f(x).
    inequalities, equalities : (matrix, vector), optional
        (A, b) of Ax ≤ b and (E, e) of Ex = e. For curved constraints g(x) ≤ 0 give their Jacobian J
        and Jx − g(x).
    inequality_multipliers, equality_multipliers : array, optional
        λ and ν; zeros if None.

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
    """The matrix (dense or sparse) and the vector of constraints on d unknowns, or a refusal."""
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
            f"{who}: {name} have shapes {matrix.shape} and {bound.shape}; {d} unknowns need "
            f"(m, {d}) and (m,): one row and one number per constraint."
        )
    return matrix, bound


def cost_vector(cost: Any, parts: list[Any], who: str) -> Array:
    """c of a program; without a cost zeros, one for each column of its first constraints."""
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
    """A bound for each unknown, from one for all or one each; ∞ is none."""
    found = numbers(given, name, who, finite=False)
    if found.shape not in ((), (1,), (size,)):
        raise ParameterError(
            f"{who}: {name} has shape {found.shape}; give a number, or {size} of them, one for "
            "each unknown."
        )
    return np.array(np.broadcast_to(found, (size,)))


def _multipliers(given: Array | None, size: int, name: str) -> Array:
    if given is None:
        return np.zeros(size)
    found = numbers(given, name, "kkt_violation")
    if found.shape != (size,):
        raise ParameterError(
            f"kkt_violation: {name} has shape {found.shape}; give {size} numbers, one for each "
            "constraint."
        )
    return found
