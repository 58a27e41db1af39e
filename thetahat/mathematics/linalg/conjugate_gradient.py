"""Conjugate gradients on the normal equations: least squares from matrix-vector products.

The method of Hestenes and Stiefel for (XᵀX + damp²I)β = Xᵀy, in the form that never forms XᵀX
(CGLS). Directions p₁, p₂, … are conjugate, pᵢᵀ(XᵀX + damp²I)pⱼ = 0, so each step is final for its
direction. In exact arithmetic its iterates are those of `lsqr`; with rounding LSQR keeps more
digits if X is ill-conditioned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import hypot
from typing import Any

import numpy as np

from thetahat.foundation.docstrings import described_like
from thetahat.foundation.precision import EPSILON, SUM_ROUNDING
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.linalg.linear_system import LinearSystem, checked_system
from thetahat.mathematics.linalg.lsqr import lsqr
from thetahat.mathematics.optimizers.loop import Method, State, run
from thetahat.mathematics.optimizers.solution import Solution


@dataclass(frozen=True)
class ConjugateGradient(Method):
    """CGLS; the gap is ‖Xᵀr‖/(‖X‖‖r‖), with ‖X‖ the largest ‖Xp‖/‖p‖ of the directions so far."""

    damp: float = 0.0

    name = "conjugate_gradient"
    needs = ("product", "transposed_product")
    gap_kind = "‖Xᵀr‖/(‖X‖‖r‖)"

    def start(self, problem: Any, theta: Array) -> State:
        slope = problem.transposed_product(problem.y)
        length = float(np.linalg.norm(problem.y))
        memory = {"residual": problem.y, "p": slope, "square": float(slope @ slope), "norm": 0.0}
        return State(theta, length**2, 1.0 if memory["square"] > 0 else 0.0, memory)

    def advance(self, problem: Any, state: State) -> State:
        m, p = state.memory, state.memory["p"]
        image = problem.product(p)
        bend = float(image @ image) + self.damp**2 * float(p @ p)
        if not bend > 0:
            return State(state.theta, state.value, state.gap, m, stalled=True)
        step = m["square"] / bend
        theta, residual = state.theta + step * p, m["residual"] - step * image
        slope = problem.transposed_product(residual) - self.damp**2 * theta
        square = float(slope @ slope)
        norm = max(m["norm"], (bend / float(p @ p)) ** 0.5)
        size = float(np.linalg.norm(theta))
        length = hypot(float(np.linalg.norm(residual)), self.damp * size)
        exact = length <= EPSILON * (float(np.linalg.norm(problem.y)) + norm * size)
        memory = {
            "residual": residual,
            "p": slope + square / m["square"] * p,
            "square": square,
            "norm": norm,
        }
        exact |= square**0.5 <= SUM_ROUNDING * norm * length
        gap = 0.0 if exact else square**0.5 / (norm * length)
        return State(theta, length**2, gap, memory)


@described_like(lsqr)
def conjugate_gradient(
    product: Callable[[Array], Array],
    adjoint: Callable[[Array], Array],
    y: Array,
    n_features: int,
    *,
    damp: float = 0.0,
    tolerance: float = 1e-12,
    max_steps: int | None = None,
    watch: Watch | None = None,
) -> Solution:
    """Least squares by conjugate gradients, for a matrix that is given only by its products.

    Formula: β̂ = argmin ‖y − Xβ‖² + damp²‖β‖²; the solution of least norm if there are several. Each
    step solves the problem on one more direction: β ← β + (‖s‖²/(‖Xp‖² + damp²‖p‖²))·p, with
    s = Xᵀr − damp²β and p ← s + (‖s‖²/‖s_before‖²)·p. Cost: two products per step, O(n + d) memory;
    the number of steps grows like κ(X). Use `lsqr` if X is ill-conditioned: it keeps more digits.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X, y = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([1.0, 3.0, 5.0])
    >>> found = th.linalg.conjugate_gradient(lambda u: X @ u, lambda v: X.T @ v, y, 2)
    >>> np.round(found.theta, 6).tolist()
    [1.0, 2.0]
    """
    system: LinearSystem = checked_system(
        product, adjoint, y, n_features, damp, "conjugate_gradient"
    )
    return run(
        system,
        ConjugateGradient(float(damp)),
        np.zeros(n_features),
        tolerance=tolerance,
        max_steps=system.usual_steps if max_steps is None else max_steps,
        watch=watch,
    )
