"""The result that every solver returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from thetahat.foundation.types import Array


class Outcome(Enum):
    """How a solver stopped; the value of each member is a message.

    Formula: ``success`` means that F(θ̂) − min F is as small as requested; for ``LOCAL``, which is
    the outcome if F is not convex, that the gap is. Cost: O(1).

    Examples
    --------
    >>> import thetahat as th
    >>> th.results.Outcome.STEPS_EXHAUSTED.success
    False
    """

    EXACT = "solved directly, to rounding accuracy"
    CONVERGED = "converged: the gap is within the tolerance"
    LOCAL = "local minimum: no small step lowers the objective, but a distant point may be lower"
    STALLED = "stalled: no step lowers the objective any more, because of rounding errors"
    STUCK = "stuck: the method finds no lower point, although the gap is more than rounding errors"
    STEPS_EXHAUSTED = "the maximum number of iterations was reached before the tolerance"
    DIVERGED = "diverged: the objective is no longer finite"
    INTERRUPTED = "interrupted: the best parameters so far are kept"
    OUT_OF_TIME = "out of time: the best parameters so far are kept"

    @property
    def success(self) -> bool:
        """Whether θ has the requested accuracy."""
        return self in (Outcome.EXACT, Outcome.CONVERGED, Outcome.LOCAL)


@dataclass(frozen=True)
class Solution:
    """The parameters θ̂ that a solver found, and how accurate they are.

    Formula: ``theta`` ≈ argmin F(θ) with F = Σℓ/Σw + R. ``gap`` is a distance from optimality
    (‖∇F‖∞, the distance of −∇ℓ to ∂R, or a duality gap); ``gap_kind`` names the measure.
    Cost: O(size of θ).

    Attributes
    ----------
    theta : array
        The best parameters found.
    outcome : Outcome
        How the solver stopped; its value is a message.
    solver : str
        Name of the solver that ran.
    reason : str
        Why that solver was chosen, in one line.
    steps : int
        Number of iterations; 0 for a direct solver.
    value : float
        Value of the objective at ``theta``.
    gap : float
        Distance from optimality, as measured by ``gap_kind``. Smaller is better.
    gap_kind : str
        The quantity that the gap measures.
    message : str
        A sentence about how the run ended.
    trace : tuple of float
        Value of the objective at the start and after each step; empty unless requested.
    condition : float or None
        Condition number κ of the (scaled) linear system, if a direct solver computed it.
    rank : int or None
        Effective rank of the linear system, if a direct solver computed it.
    multipliers : array or None
        Dual variable of each row, if the dual was solved; one column for each target if there are
        several. It is 0 for rows that do not influence the solution.

    Examples
    --------
    >>> import thetahat as th
    >>> model = th.LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> model.solution_.outcome.value
    'solved directly, to rounding accuracy'
    """

    theta: Any
    outcome: Outcome
    solver: str
    reason: str = ""
    steps: int = 0
    value: float = float("nan")
    gap: float = 0.0
    gap_kind: str = "largest gradient entry"
    message: str = ""
    trace: tuple[float, ...] = ()
    condition: float | None = None
    rank: int | None = None
    multipliers: Array | None = field(default=None, repr=False)

    @property
    def summary(self) -> str:
        """One line: the solver, how it stopped, and after how many iterations."""
        count = f"{self.steps} iteration{'s' * (self.steps != 1)}"
        return f"{self.solver}: {self.outcome.value} ({count})"
