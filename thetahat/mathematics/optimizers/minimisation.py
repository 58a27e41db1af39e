"""`minimise`: run a method, and name others where a problem lacks what it needs."""

from __future__ import annotations

from typing import Any

from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.by_name import methods
from thetahat.mathematics.optimizers.loop import Method, UnmetNeed, run
from thetahat.mathematics.optimizers.solution import Solution

NONE_CAN = "No method of th.optimizers can minimise it."


def minimise(
    problem: Any,
    method: Method,
    start: Array | None = None,
    *,
    tolerance: float = 1e-8,
    max_steps: int | None = None,
    watch: Watch | None = None,
    reason: str = "",
    keep_trace: bool = False,
) -> Solution:
    """Minimise an objective with the given method.

    Formula: θ̂ ≈ argmin_θ F(θ), stopped when the gap of the method is at most the tolerance. Cost:
    that of one step of the method, times the number of steps. On Ctrl-C the exception carries the
    solution so far as ``KeyboardInterrupt.solution``.

    Parameters
    ----------
    problem : object
        The objective: any object with the methods that `method` needs (see `Objective`).
    method : Method
        The optimisation method, for example ``th.optimizers.Newton()``.
    start : array, optional
        Starting point. By default ``problem.start()``.
    tolerance : float, default=1e-8
        The run converges when the optimality gap of the method is at most this value. Smaller
        values give more accurate results and need more iterations.
    max_steps : int, optional
        Maximum number of iterations. By default the limit of the method.
    watch : Watch, optional
        Called after each step. It can end the run because of a time limit or a callback.
    reason : str, default=""
        Why this method was chosen; the text is kept in the solution.
    keep_trace : bool, default=False
        Whether to keep the value of the objective at the start and after each step.

    Returns
    -------
    Solution

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> class Bowl:
    ...     def value_and_gradient(self, theta):
    ...         return float(theta @ theta), 2 * theta
    >>> th.minimise(Bowl(), th.optimizers.GradientDescent(), np.ones(2)).outcome.success
    True
    """
    try:
        return run(
            problem,
            method,
            start,
            tolerance=tolerance,
            max_steps=max_steps,
            watch=watch,
            reason=reason,
            keep_trace=keep_trace,
        )
    except UnmetNeed as unmet:
        raise CapabilityError(f"{unmet} {_remedy(problem)}") from None


def _remedy(problem: Any) -> str:
    """The methods that can minimise this problem."""
    able = [each for each in methods() if all(hasattr(problem, need) for need in each.needs)]
    able = [each for each in able if each.reaches_optimum] or able
    names = sorted(f'"{each.name}"' for each in able)
    return f"Use solver={_listed(names)}." if names else NONE_CAN


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
