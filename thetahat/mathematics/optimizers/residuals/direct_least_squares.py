"""Linear least squares, solved directly, as an optimisation method with one step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.loop import Method, Monitor, State


@dataclass(frozen=True)
class DirectLeastSquares(Method):
    """Squared loss with a ridge penalty, none or L0, solved by a factorisation or a search.

    Formula: (XᵀX + τI)β = Xᵀy on centred rows, by Cholesky, QR or singular values as the condition
    number requires; the n × n dual or LSQR for many columns; active sets where β ≥ 0. Cost: O(n d²)
    time and O(d²) memory. With L0 and at most 40 columns: the search of `BestSubset`, which is
    exact and takes up to 2^d steps more.

    Examples
    --------
    >>> import thetahat as th
    >>> model = th.LinearModel("squared", "none").fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> model.solution_.solver, model.solution_.outcome.value
    ('cholesky', 'solved directly, to rounding accuracy')
    """

    name = "least_squares"
    needs = ("direct_least_squares",)

    def start(self, problem: Any, theta: Array) -> State:
        found = problem.direct_least_squares()
        return State(found.theta, found.value, found.gap)

    def advance(self, problem: Any, state: State) -> State:
        return state

    def run(self, problem: Any, theta: Array, monitor: Monitor) -> None:
        """Solve by one call of the problem."""
        monitor.take(problem.direct_least_squares(monitor.watch))
