"""Linear programs: minimise cᵀx subject to Ax ≤ b, Ex = e and bounds; or only find a point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.foundation.config import settings
from thetahat.foundation.errors import ParameterError, ThetahatError
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.programs.constrained import bound, constraints, cost_vector


@dataclass(frozen=True)
class Program:
    """What a linear or quadratic program found, with its multipliers.

    Formula: at an optimum ∇f(x) + Aᵀλ + Eᵀν = 0 but for the bounds, λ ≥ 0, λⱼ(Ax − b)ⱼ = 0; check
    it with `kkt_violation`. Cost: O(size of x and of the constraints).

    Attributes
    ----------
    status : {"optimal", "infeasible", "unbounded", "steps exhausted", "out of time"}
        Whether an optimum was found; if not, why. The last two come with the best point so far.
    point : array or None
        x.
    value : float
        f(x); +∞ when no point satisfies the constraints, −∞ when f has no minimum there.
    inequality_multipliers, equality_multipliers : array or None
        λ and ν.

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
    Cost: polynomial; in practice a few times (number of constraints) pivots of O(size of A) each.

    Parameters
    ----------
    cost : array of shape (d,), optional
        c; zeros if None, which asks for feasibility alone.
    inequalities, equalities : (matrix, vector), optional
        (A, b) and (E, e); matrices may be sparse.
    lower, upper : float or array of shape (d,)
        Bounds; none by default.

    Returns
    -------
    Program
        An infeasible or unbounded program is an answer, not an error: see its ``status``.

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
        raise ParameterError("linear_program: give a cost or constraints; there is nothing to do.")
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
            f"linear_program: out of time after {limit:.3g} s, with no point yet. Allow more with "
            "th.config(max_time=...), or give fewer constraints."
        )
    if found.status == 2:
        return Program("infeasible", value=np.inf)
    if found.status == 3:
        return Program("unbounded", value=-np.inf)
    if found.status != 0:
        raise ThetahatError(f"linear_program: no answer ({found.message}). Scale the constraints.")
    return Program(
        "optimal",
        found.x,
        float(found.fun),
        -found.ineqlin.marginals if inequalities is not None else None,
        -found.eqlin.marginals if equalities is not None else None,
    )
