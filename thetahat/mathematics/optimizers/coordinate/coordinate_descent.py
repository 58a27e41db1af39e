"""Coordinate descent on a quadratic with separable terms (compiled).

    F(θ) = ½θᵀGθ − cᵀθ + const + Σ_j (l1_j |θ_j| + ½ l2_j θ_j²),   lower_j ≤ θ_j ≤ upper_j

Ridge, lasso, elastic net, non-negative and box-constrained least squares are all of this form. One
coordinate at a time, F is a parabola with a kink: its minimum is a soft threshold, clipped to the
bounds, so F never rises.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.centred_intercept import CentredIntercept
from thetahat.mathematics.optimizers.loop import Method, State
from thetahat.mathematics.parts import require_whole


@dataclass(frozen=True)
class SeparableQuadratic(CentredIntercept):
    """½θᵀGθ − cᵀθ + const + Σ_j (l1_j |θ_j| + ½ l2_j θ_j²) within lower ≤ θ ≤ upper.

    Cost: O(d²) memory for G. All arrays are float64.

    Parameters
    ----------
    gram : array of shape (d, d)
        G, symmetric and positive semidefinite.
    linear : array of shape (d,)
        c.
    constant : float
        What does not depend on θ.
    l1, l2, lower, upper : float or array of shape (d,)
        The separable terms; none by default.
    origin : array of shape (d − 1,), optional
        Where the last entry of θ is an intercept b, θ is held as (β, b + originᵀβ) inside: with
        ``origin`` the mean of the rows, G has no entries between intercept and coefficients.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> lasso = th.optimizers.SeparableQuadratic(np.eye(2), np.array([3.0, 0.2]), l1=1.0)
    >>> th.minimise(lasso, th.optimizers.CoordinateDescent()).theta
    array([2., 0.])
    """

    gram: Array
    linear: Array
    constant: float = 0.0
    l1: Array | float = 0.0
    l2: Array | float = 0.0
    lower: Array | float = -np.inf
    upper: Array | float = np.inf
    origin: Array | None = None

    def start(self) -> Array:
        """Zeros, as near as the bounds allow."""
        return np.clip(np.zeros(len(self.linear)), self.lower, self.upper)

    def separable_quadratic(self) -> SeparableQuadratic:
        """Itself: what `CoordinateDescent` asks any problem for."""
        return self

    def terms(self) -> tuple[Array, Array, Array, Array]:
        """l1, l2, lower and upper, one number per coordinate."""
        shape = self.linear.shape
        return tuple(  # type: ignore[return-value]
            np.array(np.broadcast_to(term, shape), dtype=np.float64)
            for term in (self.l1, self.l2, self.lower, self.upper)
        )


@dataclass(frozen=True)
class CoordinateDescent(Method):
    """θ_j ← argmin over θ_j of F with all other coordinates fixed, for j = 1, …, d, and again.

    Formula: θ_j ← clip(soft(G_jj θ_j − (Gθ − c)_j, l1_j)/(G_jj + l2_j), lower_j, upper_j). Cost:
    O(d²) per sweep, and only O(d) when no coordinate moves; memory O(d²) for G. CPU only. F never
    rises.

    Parameters
    ----------
    sweeps : int
        Sweeps over all coordinates in one step of the loop.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> gram = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> nonnegative = th.optimizers.SeparableQuadratic(gram, np.array([1.0, -1.0]), lower=0.0)
    >>> th.minimise(nonnegative, th.optimizers.CoordinateDescent()).theta
    array([0.5, 0. ])
    """

    sweeps: int = 1

    name = "coordinate_descent"
    aliases = ("cd",)
    needs = ("separable_quadratic",)
    gap_kind = "largest violation of the optimality conditions"
    default_max_steps = 10_000

    def __post_init__(self) -> None:
        require_whole(self, "sweeps", at_least=1)

    def start(self, problem: Any, theta: Array) -> State:
        quadratic = problem.separable_quadratic()
        gram = np.ascontiguousarray(quadratic.gram, dtype=np.float64)
        terms = quadratic.terms()
        inside = np.clip(quadratic.inside(theta), terms[2], terms[3])
        # A sum of products rather than BLAS, whose bits would depend on the number of threads.
        slope = np.sum(gram * inside, axis=1) - quadratic.linear
        return _state(quadratic, gram, terms, inside, slope)

    def advance(self, problem: Any, state: State) -> State:
        quadratic, gram, terms = (state.memory[key] for key in ("quadratic", "gram", "terms"))
        l1, l2, lower, upper = terms
        inside, slope = state.memory["inside"].copy(), state.memory["slope"].copy()
        moved = _native.quadratic_sweeps(gram, l1, l2, lower, upper, inside, slope, self.sweeps)
        return _state(quadratic, gram, terms, inside, slope, stalled=moved == 0.0)


def _state(
    quadratic: SeparableQuadratic,
    gram: Array,
    terms: tuple[Array, Array, Array, Array],
    inside: Array,
    slope: Array,
    stalled: bool = False,
) -> State:
    l1, l2, lower, upper = terms
    smooth = np.sum(inside * (slope - quadratic.linear + l2 * inside)) / 2
    value = float(smooth + np.sum(l1 * np.abs(inside)) + quadratic.constant)
    gap = violation(inside, slope + l2 * inside, l1, lower, upper)
    memory = {
        "quadratic": quadratic,
        "gram": gram,
        "terms": terms,
        "inside": inside,
        "slope": slope,
    }
    return State(quadratic.outside(inside), value, gap, memory, stalled)


def violation(theta: Array, slope: Array, l1: Array, lower: Array, upper: Array) -> float:
    """The steepest way down that the bounds leave open: 0 exactly at the optimum."""
    up = np.where(theta >= 0, slope + l1, slope - l1)  # slope of F to the right of θ
    down = np.where(theta <= 0, slope - l1, slope + l1)  # and to the left
    way_up = np.where(theta < upper, np.maximum(-up, 0.0), 0.0)
    way_down = np.where(theta > lower, np.maximum(down, 0.0), 0.0)
    return float(np.maximum(way_up, way_down).max(initial=0.0))
