"""From gradients to moves: how far to go, and how much of the past to carry along.

A rule turns the t-th gradient g_t into a move, θ ← θ + move_t, with a memory of its own:

=================  ===========================================================================
`Constant`         −η g
`InverseTime`      −(τ₀/t) g: Σ steps diverges and Σ steps² converges, so noise averages out
`HeavyBall`        V ← αV − ηg, move V: past moves roll on
`LookAhead`        V ← αV − ηg, move αV − ηg: Nesterov's, with θ the point looked ahead to
`AdaGrad`          −η g/√(Σ g²), coordinate by coordinate
`Adam`             −η m/√v with running means m of g and v of g², corrected for their start at 0
=================  ===========================================================================

Rules are values and `move` is pure, so any rule serves full gradients, single rows and networks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from thetahat.foundation.types import Array
from thetahat.mathematics.parts import Part, require_number

Memory = Any


class StepRule(Part, ABC):
    """A rule that turns the t-th gradient into a move, θ ← θ + move_t.

    Concrete rules are frozen dataclasses, so values compare. Cost: O(d) per step.

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
        """The memory before the first gradient."""
        return None

    @abstractmethod
    def move(self, t: int, gradient: Array, memory: Memory) -> tuple[Array, Memory]:
        """The move for the t-th gradient (t = 1, 2, …) and the memory after it."""

    def rates(self, first: int, n: int) -> Array | None:
        """η_t for n steps from the `first` on, where move = −η_t g; None where it is more."""
        return None


@dataclass(frozen=True)
class Constant(StepRule):
    """The same step size at every step: move = −η g.

    Cost: O(d) per step.

    Parameters
    ----------
    eta : float
        The step size η.

    Examples
    --------
    >>> import thetahat as th
    >>> rule = th.optimizers.Constant(eta=0.5)
    >>> rule.move(1, 4.0, None)[0]
    -2.0
    """

    eta: float = 0.1

    name = "constant"

    def __post_init__(self) -> None:
        require_number(self, "eta", above=0)

    def move(self, t: int, gradient: Array, memory: Memory) -> tuple[Array, Memory]:
        return -self.eta * gradient, memory

    def rates(self, first: int, n: int) -> Array:
        return np.full(n, self.eta)


@dataclass(frozen=True)
class InverseTime(StepRule):
    """A step size that decays as τ₀/t: move = −(τ₀/t) g.

    t counts gradients, so that the noise of stochastic ones averages out. Cost: O(d) per step.

    Parameters
    ----------
    tau0 : float
        The first step size τ₀.

    Examples
    --------
    >>> import thetahat as th
    >>> rule = th.optimizers.InverseTime(tau0=1.0)
    >>> rule.move(4, 2.0, None)[0]
    -0.5
    """

    tau0: float = 1.0

    name = "inverse_time"

    def __post_init__(self) -> None:
        require_number(self, "tau0", above=0)

    def move(self, t: int, gradient: Array, memory: Memory) -> tuple[Array, Memory]:
        return -(self.tau0 / t) * gradient, memory

    def rates(self, first: int, n: int) -> Array:
        return self.tau0 / np.arange(first, first + n)


@dataclass(frozen=True)
class HeavyBall(StepRule):
    """Momentum: V_i = αV_{i−1} − ηg_i with V₀ = 0; move = V_i.

    Cost: O(d) per step and O(d) memory.

    Parameters
    ----------
    alpha : float
        How much of the last move rolls on, 0 ≤ α < 1.
    eta : float
        The step size η.

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

    alpha: float = 0.9
    eta: float = 0.1

    name = "heavy_ball"

    def __post_init__(self) -> None:
        require_number(self, "alpha", at_least=0, below=1)
        require_number(self, "eta", above=0)

    def start(self, theta: Array) -> Memory:
        return 0.0 * theta

    def move(self, t: int, gradient: Array, memory: Memory) -> tuple[Array, Memory]:
        velocity = self.alpha * memory - self.eta * gradient
        return velocity, velocity


@dataclass(frozen=True)
class LookAhead(StepRule):
    """Nesterov's momentum, V_i = αV_{i−1} − ηg_i with g_i taken ahead, at w + αV_{i−1}.

    The rule keeps θ = w + αV, the point looked ahead to, so that one gradient per step is enough:
    move = αV_i − ηg_i. Cost: O(d) per step and O(d) memory.

    Parameters
    ----------
    alpha : float
        How much of the last move rolls on, 0 ≤ α < 1.
    eta : float
        The step size η.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> rule = th.optimizers.LookAhead(alpha=0.5, eta=1.0)
    >>> rule.move(1, np.ones(1), np.zeros(1))[0]
    array([-1.5])
    """

    alpha: float = 0.9
    eta: float = 0.1

    name = "look_ahead"

    def __post_init__(self) -> None:
        require_number(self, "alpha", at_least=0, below=1)
        require_number(self, "eta", above=0)

    def start(self, theta: Array) -> Memory:
        return 0.0 * theta

    def move(self, t: int, gradient: Array, memory: Memory) -> tuple[Array, Memory]:
        velocity = self.alpha * memory - self.eta * gradient
        return self.alpha * velocity - self.eta * gradient, velocity


@dataclass(frozen=True)
class AdaGrad(StepRule):
    """Coordinates that saw large gradients take small steps: move = −η g/(√(Σ_s g_s²) + ε).

    Cost: O(d) per step and O(d) memory.

    Parameters
    ----------
    eta : float
        The size of the first move of each coordinate.
    epsilon : float
        Keeps the quotient finite where no gradient was seen.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> rule = th.optimizers.AdaGrad(eta=0.1)
    >>> rule.move(1, np.array([2.0, -300.0]), np.zeros(2))[0]
    array([-0.1,  0.1])
    """

    eta: float = 0.1
    epsilon: float = 1e-10

    name = "adagrad"

    def __post_init__(self) -> None:
        require_number(self, "eta", above=0)
        require_number(self, "epsilon", above=0)

    def start(self, theta: Array) -> Memory:
        return 0.0 * theta

    def move(self, t: int, gradient: Array, memory: Memory) -> tuple[Array, Memory]:
        xp = array_namespace(gradient)
        squares = memory + gradient * gradient
        return -self.eta * gradient / (xp.sqrt(squares) + self.epsilon), squares


@dataclass(frozen=True)
class Adam(StepRule):
    """Running means m of g and v of g², both corrected for their start at 0: move = −η m̂/(√v̂ + ε).

    Formula: m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g², m̂ = m/(1−β₁ᵗ), v̂ = v/(1−β₂ᵗ). Cost: O(d) per
    step and O(d) memory.

    Parameters
    ----------
    eta : float
        About the largest move of a coordinate.
    beta1, beta2 : float
        How slowly the two running means forget.
    epsilon : float
        Keeps the quotient finite where no gradient was seen.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> rule, theta = th.optimizers.Adam(eta=0.1), np.zeros(1)
    >>> rule.move(1, np.array([40.0]), rule.start(theta))[0]
    array([-0.1])
    """

    eta: float = 0.001
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8

    name = "adam"

    def __post_init__(self) -> None:
        require_number(self, "eta", above=0)
        require_number(self, "beta1", at_least=0, below=1)
        require_number(self, "beta2", at_least=0, below=1)
        require_number(self, "epsilon", above=0)

    def start(self, theta: Array) -> Memory:
        return 0.0 * theta, 0.0 * theta

    def move(self, t: int, gradient: Array, memory: Memory) -> tuple[Array, Memory]:
        xp = array_namespace(gradient)
        first, second = memory
        first = self.beta1 * first + (1 - self.beta1) * gradient
        second = self.beta2 * second + (1 - self.beta2) * gradient * gradient
        size = xp.sqrt(second / (1 - self.beta2**t)) + self.epsilon
        return -self.eta * first / (1 - self.beta1**t) / size, (first, second)


def as_rule(step: float | StepRule) -> StepRule:
    """A number as a `Constant`, which checks it; a rule as it is."""
    return step if isinstance(step, StepRule) else Constant(step)
