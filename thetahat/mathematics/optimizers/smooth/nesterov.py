"""Nesterov's acceleration: momentum whose gradient is taken where the ball is about to be.

V_i = αV_{i−1} − η∇F(w + αV_{i−1}), w ← w + V_i. Looking ahead brakes before the turn; on smooth
convex functions the error falls like 1/t² where gradient descent has 1/t.
"""

from __future__ import annotations

from dataclasses import dataclass

from thetahat.mathematics.optimizers.smooth.momentum_descent import MomentumDescent
from thetahat.mathematics.optimizers.steps.step_rules import LookAhead


@dataclass(frozen=True)
class Nesterov(MomentumDescent):
    """V ← αV − η∇F(w + αV), w ← w + V; θ is the point w + αV that is looked ahead to.

    Cost: one value and gradient per step, O(d) memory. `ProximalGradient` is the variant that finds
    η and α itself.

    Parameters
    ----------
    alpha : float
        How much of the last move rolls on, 0 ≤ α < 1.
    eta : float
        The step size η, at most 1/L for a gradient with Lipschitz constant L.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> class Valley:
    ...     def value_and_gradient(self, x):
    ...         scale = np.array([1.0, 50.0])
    ...         return float(x @ (scale * x)) / 2, scale * x
    >>> th.minimise(Valley(), th.optimizers.Nesterov(0.8, 0.02), np.ones(2)).outcome.success
    True
    """

    name = "nesterov"
    rule = LookAhead
