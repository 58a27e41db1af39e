"""Step rules: how gradients are turned into moves of the parameters.

A rule turns the t-th gradient g_t into a move, θ ← θ + move_t, and may keep a memory:

=================  ===========================================================================
`Constant`         −η g
`InverseTime`      −(τ₀/t) g: Σ steps diverges and Σ steps² converges, so noise averages out
`HeavyBall`        V ← αV − ηg, move V: momentum
`LookAhead`        V ← αV − ηg, move αV − ηg: Nesterov's momentum
`AdaGrad`          −η g/√(Σ g²), for each coordinate
`Adam`             −η m/√v with running means m of g and v of g², corrected for their start at 0
=================  ===========================================================================

Rules are frozen values and `move` changes nothing, so that every rule works with full gradients,
batches and networks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from thetahat import _native
from thetahat.foundation.types import Array
from thetahat.mathematics.parts import Part, number

Memory = Any


class StepRule(Part, ABC):
    """Base class of rules that turn the t-th gradient into a move, θ ← θ + move_t.

    Concrete rules are frozen dataclasses. Cost: O(d) per step.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> class SignOnly(th.optimizers.StepRule):
    ...     def move(self, t, gradient, memory):
    ...         return -np.sign(gradient) / t, memory
    >>> SignOnly().move(2, np.array([-30.0, 0.1]), None)[0]
    array([ 0.5, -0.5])
    """

    def start(self, theta: Array) -> Memory:
        """Return the memory before the first gradient."""
        return None

    @abstractmethod
    def move(self, t: int, gradient: Array, memory: Memory) -> tuple[Array, Memory]:
        """Return the move for the t-th gradient (t = 1, 2, …) and the memory after it."""

    def step(self, t: int, gradient: Array, theta: Array, memory: Memory) -> Memory:
        """Add the move for the t-th gradient to θ, in place, and return the memory after it.

        The memory passed may be overwritten.
        """
        move, memory = self.move(t, gradient, memory)
        theta += move
        return memory

    def rates(self, first: int, n: int) -> Array | None:
        """η_t for n steps from step `first`, if move = −η_t g; None for other rules."""
        return None


@dataclass(frozen=True)
class Constant(StepRule):
    """A constant step size: move = −η g.

    Cost: O(d) per step.

    Parameters
    ----------
    eta : float, default=0.1
        Step size (η). Larger values move faster, but too large ones diverge. Must be positive.

    Examples
    --------
    >>> import thetahat as th
    >>> rule = th.optimizers.Constant(eta=0.5)
    >>> rule.move(1, 4.0, None)[0]
    -2.0
    """

    eta: float = number(0.1, above=0)

    name = "constant"

    def move(self, t: int, gradient: Array, memory: Memory) -> tuple[Array, Memory]:
        return -self.eta * gradient, memory

    def rates(self, first: int, n: int) -> Array:
        return np.full(n, self.eta)


@dataclass(frozen=True)
class InverseTime(StepRule):
    """A step size that decreases as τ₀/t: move = −(τ₀/t) g.

    t counts gradients. The decrease averages out the noise of stochastic gradients. Cost: O(d) per
    step.

    Parameters
    ----------
    tau0 : float, default=1.0
        Size of the first step (τ₀). Larger values move faster, but too large ones diverge at the
        start. Must be positive.

    Examples
    --------
    >>> import thetahat as th
    >>> rule = th.optimizers.InverseTime(tau0=1.0)
    >>> rule.move(4, 2.0, None)[0]
    -0.5
    """

    tau0: float = number(1.0, above=0)

    name = "inverse_time"

    def move(self, t: int, gradient: Array, memory: Memory) -> tuple[Array, Memory]:
        return -(self.tau0 / t) * gradient, memory

    def rates(self, first: int, n: int) -> Array:
        return self.tau0 / np.arange(first, first + n)


@dataclass(frozen=True)
class MomentumRule(StepRule):
    """Base class of rules that remember a velocity."""

    alpha: float = number(0.9, at_least=0, below=1)
    eta: float = number(0.1, above=0)

    def start(self, theta: Array) -> Memory:
        return 0.0 * theta


@dataclass(frozen=True)
class HeavyBall(MomentumRule):
    """Momentum: V_i = αV_{i−1} − ηg_i with V₀ = 0; move = V_i.

    Cost: O(d) per step and O(d) memory.

    Parameters
    ----------
    alpha : float, default=0.9
        Share of the previous move that is added to the next one (α). Larger values average over
        more past gradients. Must be at least 0 and less than 1.
    eta : float, default=0.1
        Step size (η). Larger values move faster, but too large ones diverge. Must be positive.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> rule, velocity = th.optimizers.HeavyBall(alpha=0.5, eta=1.0), np.zeros(1)
    >>> for t in (1, 2, 3):
    ...     move, velocity = rule.move(t, np.ones(1), velocity)
    >>> move
    array([-1.75])
    """

    name = "heavy_ball"

    def move(self, t: int, gradient: Array, memory: Memory) -> tuple[Array, Memory]:
        velocity = self.alpha * memory - self.eta * gradient
        return velocity, velocity


@dataclass(frozen=True)
class LookAhead(MomentumRule):
    """Nesterov's momentum, V_i = αV_{i−1} − ηg_i, with g_i the gradient at w + αV_{i−1}.

    The rule keeps θ = w + αV, the point at which the gradient is needed, so that one gradient per
    step is enough: move = αV_i − ηg_i. Cost: O(d) per step and O(d) memory.

    Parameters
    ----------
    alpha : float, default=0.9
        Share of the previous move that is added to the next one (α). Larger values average over
        more past gradients. Must be at least 0 and less than 1.
    eta : float, default=0.1
        Step size (η). Larger values move faster, but too large ones diverge. Must be positive.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> rule = th.optimizers.LookAhead(alpha=0.5, eta=1.0)
    >>> rule.move(1, np.ones(1), np.zeros(1))[0]
    array([-1.5])
    """

    name = "look_ahead"

    def move(self, t: int, gradient: Array, memory: Memory) -> tuple[Array, Memory]:
        velocity = self.alpha * memory - self.eta * gradient
        return self.alpha * velocity - self.eta * gradient, velocity


@dataclass(frozen=True)
class AdaGrad(StepRule):
    """AdaGrad: move = −η g/(√(Σ_s g_s²) + ε), for each coordinate.

    Coordinates with large past gradients make small steps. Cost: O(d) per step and O(d) memory.

    Parameters
    ----------
    eta : float, default=0.1
        Step size (η): the length of the first move of each coordinate. Must be positive.
    epsilon : float, default=1e-10
        Added to the denominator to avoid a division by zero (ε). Must be positive.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> rule = th.optimizers.AdaGrad(eta=0.1)
    >>> rule.move(1, np.array([2.0, -300.0]), np.zeros(2))[0]
    array([-0.1,  0.1])
    """

    eta: float = number(0.1, above=0)
    epsilon: float = number(1e-10, above=0)

    name = "adagrad"

    def start(self, theta: Array) -> Memory:
        return 0.0 * theta

    def move(self, t: int, gradient: Array, memory: Memory) -> tuple[Array, Memory]:
        xp = array_namespace(gradient)
        squares = memory + gradient * gradient
        return -self.eta * gradient / (xp.sqrt(squares) + self.epsilon), squares


@dataclass(frozen=True)
class Adam(StepRule):
    """Adam: move = −η m̂/(√v̂ + ε), with running means m of g and v of g².

    Formula: m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g², m̂ = m/(1−β₁ᵗ), v̂ = v/(1−β₂ᵗ). The divisions by
    1−βᵗ correct for the start at 0. Cost: O(d) per step and O(d) memory.

    Parameters
    ----------
    eta : float, default=0.001
        Step size (η): about the largest move of a coordinate. Must be positive.
    beta1, beta2 : float, default=0.9 and 0.999
        Decay of the running means of g and g² (β₁, β₂). Larger values average over more past
        gradients. Must be at least 0 and less than 1.
    epsilon : float, default=1e-8
        Added to the denominator to avoid a division by zero (ε). Must be positive.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> rule, theta = th.optimizers.Adam(eta=0.1), np.zeros(1)
    >>> rule.move(1, np.array([40.0]), rule.start(theta))[0]
    array([-0.1])
    """

    eta: float = number(0.001, above=0)
    beta1: float = number(0.9, at_least=0, below=1)
    beta2: float = number(0.999, at_least=0, below=1)
    epsilon: float = number(1e-8, above=0)

    name = "adam"

    def start(self, theta: Array) -> Memory:
        return 0.0 * theta, 0.0 * theta

    def move(self, t: int, gradient: Array, memory: Memory) -> tuple[Array, Memory]:
        xp = array_namespace(gradient)
        first, second = memory
        first = self.beta1 * first + (1 - self.beta1) * gradient
        second = self.beta2 * second + (1 - self.beta2) * gradient * gradient
        size = xp.sqrt(second / (1 - self.beta2**t)) + self.epsilon
        return -self.eta * first / (1 - self.beta1**t) / size, (first, second)

    def step(self, t: int, gradient: Array, theta: Array, memory: Memory) -> Memory:
        if type(theta) is not np.ndarray or theta.dtype.char not in "df":
            return super().step(t, gradient, theta, memory)
        first, second = memory
        _native.adam_step(
            gradient,
            theta,
            first,
            second,
            self.eta,
            self.beta1,
            self.beta2,
            1 - self.beta1**t,
            1 - self.beta2**t,
            self.epsilon,
        )
        return memory


def as_rule(step: float | StepRule) -> StepRule:
    """A number as a `Constant` rule, which checks it; a rule is returned unchanged."""
    return step if isinstance(step, StepRule) else Constant(step)
