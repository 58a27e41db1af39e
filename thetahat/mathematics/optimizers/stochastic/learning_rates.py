"""Learning rates η_t of stochastic steps t = 1, 2, …, by the names scikit-learn gives them.

============  ======================================================================
constant      η₀
optimal       1/(α(t₀ + t − 1)): the rate for a strongly convex F, started at a step
              as long as a typical coefficient
invscaling    η₀/t^p
adaptive      η₀, divided by 5 each time that the epochs no longer improve
pa1, pa2      passive-aggressive: a step just long enough for its row, at most η₀, or
              softened by η₀
============  ======================================================================
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.losses.base import Subdifferentiable, Targets

SCHEDULES = ("constant", "optimal", "invscaling", "adaptive", "pa1", "pa2")
SMALLEST_ADAPTIVE = 1e-6
"""The rate below which an adaptive schedule ends the run."""
ADAPTIVE_DIVISOR = 5.0


@dataclass(frozen=True)
class LearningRate:
    """η_t as a schedule says; ``eta0``, ``power`` and ``alpha`` where the schedule uses them."""

    schedule: str
    eta0: float
    power: float = 0.5
    alpha: float = 0.0
    offset: float = 0.0
    """t₀ of "optimal"."""

    @property
    def adapts(self) -> bool:
        return self.schedule == "adaptive"

    def rates(self, first: int, n: int) -> Array:
        """η_t for t = first, …, first + n − 1."""
        if self.schedule not in ("optimal", "invscaling"):
            return np.full(n, self.eta0, dtype=np.float64)
        t = np.arange(first, first + n, dtype=np.float64)
        if self.schedule == "optimal":
            t += self.offset - 1
            t *= self.alpha
            return np.divide(1.0, t, out=t)
        if self.power == 0.25:  # two roots take a fraction of the time of a power
            root = np.sqrt(np.sqrt(t, out=t), out=t)
        else:
            root = np.sqrt(t, out=t) if self.power == 0.5 else t**self.power
        return self.eta0 / root


def optimal_offset(loss: Subdifferentiable, alpha: float) -> float:
    """t₀ for which the first step is no longer than the coefficients that ½α‖w‖² lets grow.

    Those are of the size √(1/√α); a row predicted that wrongly pulls with |ℓ′|, and the first rate
    makes a step of that size out of a pull that is larger than 1.
    """
    typical = float(alpha**-0.25)
    z = np.full((1, 2), -typical) if loss.columns != "one" else np.full(1, -typical)
    wrong = 0.0 if loss.targets in (Targets.CLASSES, Targets.NONNEGATIVE) else 1.0
    pull = float(np.max(np.abs(loss.gradient(np.full(1, wrong), z))))
    return float(max(1.0, pull) / (typical * alpha))
