"""Nesterov's acceleration: momentum with the gradient at the point that the move leads to.

V_i = αV_{i−1} − η∇F(w + αV_{i−1}), w ← w + V_i. The gradient ahead of the current point reduces
overshooting. On smooth convex functions the error falls like 1/t², against 1/t for gradient
descent.
"""

from __future__ import annotations

from dataclasses import dataclass

from thetahat.mathematics.optimizers.smooth.momentum_descent import MomentumDescent
from thetahat.mathematics.optimizers.steps.step_rules import LookAhead


@dataclass(frozen=True)
class Nesterov(MomentumDescent):
    """Nesterov's accelerated gradient descent: V ← αV − η∇F(w + αV), w ← w + V.

    The returned θ is the point w + αV at which gradients are evaluated. `ProximalGradient` is a
    variant that chooses η and α itself. Cost: one value and gradient per step, O(d) memory.

    Parameters
    ----------
    alpha : float, default=0.9
        Share of the previous move that is added to the next one (α). Larger values average over
        more past gradients. Must be at least 0 and less than 1.
    eta : float, default=0.1
        Step size (η). Larger values move faster, but too large ones diverge. It should be at most
        1/L if the gradient has the Lipschitz constant L. Must be positive.
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
    >>> th.minimise(Valley(), th.optimizers.Nesterov(0.8, 0.02), np.ones(2)).outcome.success
    True
    """

    name = "nesterov"
    rule = LookAhead
