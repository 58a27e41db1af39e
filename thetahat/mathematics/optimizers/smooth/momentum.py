"""Gradient descent with momentum: V₀ = 0, V_i = αV_{i−1} − ηg_i, w ← w + V_i.

Under a constant gradient g the move grows to V_i = −ηg(1 − αⁱ)/(1 − α), up to 1/(1 − α) times that
of gradient descent. So the method moves faster along a valley, while moves across it cancel.
"""

from __future__ import annotations

from dataclasses import dataclass

from thetahat.mathematics.optimizers.smooth.momentum_descent import MomentumDescent
from thetahat.mathematics.optimizers.steps.step_rules import HeavyBall


@dataclass(frozen=True)
class Momentum(MomentumDescent):
    """Gradient descent with momentum: V ← αV − η∇F(θ), θ ← θ + V.

    The first step equals that of gradient descent. F may increase in single steps; the best θ is
    kept. ``StochasticGradient(step=HeavyBall(...))`` does the same with batches. Cost: one value
    and gradient per step, O(d) memory.

    Parameters
    ----------
    alpha : float, default=0.9
        Share of the previous move that is added to the next one (α). Larger values average over
        more past gradients. Must be at least 0 and less than 1.
    eta : float, default=0.1
        Step size (η). Larger values move faster, but too large ones diverge. On a quadratic with
        largest curvature L it must be below 2(1 + α)/L. Must be positive.
    norm : {"max", "l2"}, default="max"
        The norm of the gradient that is compared with the tolerance: its largest entry ‖∇F‖∞, or
        its length ‖∇F‖₂, which stops later if there are many parameters.

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
