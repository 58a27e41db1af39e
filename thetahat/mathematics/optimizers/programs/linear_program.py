"""Linear programs: minimise cᵀx subject to Ax ≤ b, Ex = e and bounds, or find a feasible point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.foundation.config import settings
from thetahat.foundation.errors import ParameterError, ThetahatError
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.programs.constrained import bound, constraints, cost_vector


@dataclass(frozen=True)
class Program:
    """The result of a linear or quadratic program, with its multipliers.

    Formula: at an optimum ∇f(x) + Aᵀλ + Eᵀν = 0 (up to the bounds on x), λ ≥ 0 and
    λⱼ(Ax − b)ⱼ = 0; `kkt_violation` checks this. Cost: O(size of x and of the constraints).

    Attributes
    ----------
    status : {"optimal", "infeasible", "unbounded", "steps exhausted", "out of time"}
        Whether an optimum was found and, if not, why. With the last two, the point is the best one
        found so far.
    point : array or None
        The solution x; None if there is none.
    value : float
        The value f(x); +∞ if no point satisfies the constraints, −∞ if f has no minimum.
    inequality_multipliers, equality_multipliers : array or None
        The multipliers λ and ν of the constraints; None if there are none.

    Examples
    --------
    >>> import thetahat as th
    >>> th.optimizers.linear_program(inequalities=([[1.0], [-1.0]], [0.0, -1.0])).status
    'infeasible'
    """

    status: str
    point: Array | None = None
    value: float = float("nan")
    inequality_multipliers: Array | None = None
    equality_multipliers: Array | None = None

    @property
    def feasible(self) -> bool:
        """Whether some point satisfies the constraints."""
        return self.status != "infeasible"


def linear_program(
    cost: Array | None = None,
    *,
    inequalities: tuple[Array, Array] | None = None,
    equalities: tuple[Array, Array] | None = None,
    lower: Array | float = -np.inf,
    upper: Array | float = np.inf,
) -> Program:
    """Minimise cᵀx subject to Ax ≤ b, Ex = e, lower ≤ x ≤ upper (simplex or interior point).

    Formula: min cᵀx; without a cost, any point that satisfies the constraints, if there is one.
    Cost: in practice a few times (number of constraints) pivots of O(size of A) each.

    Parameters
    ----------
    cost : array of shape (d,), optional
        The cost vector c. By default zeros, which only looks for a point that satisfies the
        constraints.
    inequalities, equalities : (matrix, vector), optional
        The constraints, as pairs (A, b) for Ax ≤ b and (E, e) for Ex = e. Matrices may be sparse.
    lower, upper : float or array of shape (d,), default=-inf and inf
        Bounds on x, as one number for all entries or one for each.

    Returns
    -------
    Program
        Infeasible and unbounded programs do not raise an error; see ``status``.

    Examples
    --------
    >>> import thetahat as th
    >>> best = th.optimizers.linear_program(
    ...     [-1.0, -1.0], inequalities=([[1.0, 2.0], [3.0, 1.0]], [4.0, 6.0]), lower=0.0
    ... )
    >>> best.point.round(6), best.inequality_multipliers.round(6)
    (array([1.6, 1.2]), array([0.4, 0.2]))
    """
    from scipy.optimize import linprog

    parts = [part for part in (inequalities, equalities) if part is not None]
    if cost is None and not parts:
        raise ParameterError(
            "linear_program: there is nothing to do without a cost and constraints. Pass a cost, "
            "inequalities or equalities."
        )
    who, c = "linear_program", cost_vector(cost, parts, "linear_program")
    size = c.size
    if inequalities is not None:
        inequalities = constraints(inequalities, size, "inequalities", who)
    if equalities is not None:
        equalities = constraints(equalities, size, "equalities", who)
    sides = (("lower", lower), ("upper", upper))
    bounds = np.column_stack([bound(side, name, size, who) for name, side in sides])
    upper_matrix, upper_bound = inequalities if inequalities is not None else (None, None)
    equal_matrix, equal_to = equalities if equalities is not None else (None, None)
    limit = settings().max_time
    found = linprog(
        c, upper_matrix, upper_bound, equal_matrix, equal_to, bounds, method="highs",
        options={} if limit is None else {"time_limit": limit},
    )  # fmt: skip
    if found.status == 1 and limit is not None:
        raise ThetahatError(
            f"linear_program: out of time after {limit:.3g} s, with no point found. Allow more "
            "time with th.config(max_time=...), or pass fewer constraints."
        )
    if found.status == 2:
        return Program("infeasible", value=np.inf)
    if found.status == 3:
        return Program("unbounded", value=-np.inf)
    if found.status != 0:
        raise ThetahatError(
            f"linear_program: no solution was found ({found.message}). Scale the constraints so "
            "that their entries have similar sizes."
        )
    return Program(
        "optimal",
        found.x,
        float(found.fun),
        -found.ineqlin.marginals if inequalities is not None else None,
        -found.eqlin.marginals if equalities is not None else None,
    )
