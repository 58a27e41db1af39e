"""What a solver returns, whatever the solver."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from thetahat.foundation.types import Array


class Outcome(Enum):
    """How a solver stopped; the value is the message.

    Formula: ``success`` when F(θ̂) − min F is as small as was asked for. Cost: O(1).

    Examples
    --------
    >>> import thetahat as th
    >>> th.results.Outcome.STEPS_EXHAUSTED.success
    False
    """

    EXACT = "solved directly, to rounding"
    CONVERGED = "converged: the gap is within the tolerance"
    STALLED = "stalled: no step lowers the objective any more, at the limit of rounding"
    STUCK = "stuck: the method finds no lower point, though the gap is no matter of rounding"
    STEPS_EXHAUSTED = "the steps are exhausted before the gap is within the tolerance"
    DIVERGED = "diverged: the objective is no longer finite"
    INTERRUPTED = "interrupted: the best parameters so far are kept"
    OUT_OF_TIME = "out of time: the best parameters so far are kept"

    @property
    def success(self) -> bool:
        """Whether θ is as good as was asked for."""
        return self in (Outcome.EXACT, Outcome.CONVERGED)


@dataclass(frozen=True)
class Solution:
    """θ̂ and how sure the solver is of it.

    Formula: ``theta`` ≈ argmin F(θ) with F = Σℓ/Σw + R; ``gap`` is the solver's distance from
    optimality (‖∇F‖∞, the distance of −∇ℓ to ∂R, or a duality gap), in the unit ``gap_kind`` names.
    Cost: O(size of θ).

    Attributes
    ----------
    theta : array
        The best parameters found.
    outcome : Outcome
        How the solver stopped; its value is a sentence.
    solver : str
        Which solver ran.
    reason : str
        Why that solver was chosen, in one line.
    steps : int
        Steps taken; 0 for a direct solver.
    value : float
        The objective at ``theta``.
    gap : float
        Distance from optimality.
    gap_kind : str
        What the gap measures.
    message : str
        What else a person should know.
    trace : tuple of float
        The objective after each step, when asked for.
    condition : float or None
        κ of the (scaled) system, where a direct solver knows it.
    rank : int or None
        Effective rank of the system, where a direct solver knows it.
    multipliers : array or None
        One multiplier per row, where the dual was solved: 0 for rows without a pull.

    Examples
    --------
    >>> import thetahat as th
    >>> model = th.LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> model.solution_.outcome.value
    'solved directly, to rounding'
    """

    theta: Array
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
