"""Momentum: a ball that rolls on. V₀ = 0, V_i = αV_{i−1} − ηg_i, w ← w + V_i.

Under a constant gradient g the move grows to V_i = −ηg(1 − αⁱ)/(1 − α): up to 1/(1 − α) times that
of gradient descent along a valley, while the moves across it cancel.
"""

from __future__ import annotations

from dataclasses import dataclass

from thetahat.mathematics.optimizers.smooth.momentum_descent import MomentumDescent
from thetahat.mathematics.optimizers.steps.step_rules import HeavyBall


@dataclass(frozen=True)
class Momentum(MomentumDescent):
    """V ← αV − η∇F(θ), θ ← θ + V. The first step equals that of gradient descent.

    Cost: one value and gradient per step, O(d) memory. F need not fall at every step; the best θ is
    kept. ``StochasticGradient(step=HeavyBall(...))`` does the same with batches.

    Parameters
    ----------
    alpha : float
        How much of the last move rolls on, 0 ≤ α < 1.
    eta : float
        The step size η; below 2(1 + α)/L it converges on a quadratic with largest curvature L.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> class Valley:
    ...     def value_and_gradient(self, x):
    ...         scale = np.array([1.0, 50.0])
    ...         return float(x @ (scale * x)) / 2, scale * x
    >>> th.minimise(Valley(), th.optimizers.Momentum(0.8, 0.02), np.ones(2)).outcome.success
    True
    """

    name = "momentum"
    rule = HeavyBall
