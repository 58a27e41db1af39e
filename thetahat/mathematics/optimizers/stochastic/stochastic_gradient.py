"""Stochastic gradient descent: θ ← θ − η_t ∇F_B(θ) with the gradient of a few terms.

F is an average of n terms (plus a penalty). The gradient of a batch B of uniformly drawn terms has
the mean ∇F(θ) and costs a share |B|/n of the full gradient. One step of the loop is one epoch of n
terms; after each epoch F and its gap are computed on all terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.randomness import RandomState, generator
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.gap import value_and_gap
from thetahat.mathematics.optimizers.loop import Method, State
from thetahat.mathematics.optimizers.steps.step_rules import InverseTime, StepRule, as_rule
from thetahat.mathematics.parts import whole

SAMPLING = ("reshuffle", "replacement")
DEFAULT_STEP = InverseTime(1.0)
LATENESS = 4
"""The power of the weight of late epochs: with it the first of E epochs counts 1/E⁴ of the last."""


@dataclass(frozen=True)
class StochasticGradient(Method):
    """Stochastic gradient descent, θ ← θ − η_t ∇F_B(θ), over random batches B of terms.

    One step of the loop is one epoch. With a constant step size θ keeps a random error of order η;
    with the decreasing step size τ₀/t it converges. Cost per epoch: the gradient of every term, in
    n/|B| batches, plus one value and gradient of F for the gap; O(d) memory. Batches of one term of
    a linear model with a standard loss and a plain step size run in compiled code; other batches
    take one call of Python each.

    Parameters
    ----------
    batch_size : int, default=1
        Number of terms per batch. Larger batches have less noise and make fewer steps per epoch.
        Must be at least 1.
    sampling : {"reshuffle", "replacement"}, default="reshuffle"
        "reshuffle" visits every term once per epoch in a new random order; "replacement" draws each
        batch from all terms.
    step : float or StepRule, default=InverseTime(1.0)
        The constant step size η, or a rule: ``Constant``, ``InverseTime``, ``HeavyBall``,
        ``AdaGrad``, ``Adam``, ...
    averaging : bool or "late", default=False
        Whether to return the mean of all iterates so far, which reduces the noise. "late" weights
        epoch e of E by about (e/E)⁴, so that the way from the starting point does not count.
    random_state : int, Generator or None, default=None
        Seed of the random order of the terms. Pass an int for reproducible results.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> class Mean:
    ...     data = np.array([1.0, 2.0, 6.0])
    ...     n_terms = 3
    ...     def sample_gradient(self, theta, rows):
    ...         return theta - self.data[rows].mean(keepdims=True)
    ...     def value_and_gradient(self, theta):
    ...         error = theta - self.data
    ...         return float(error @ error) / 6, error.mean(keepdims=True)
    >>> method = th.optimizers.StochasticGradient(step=th.optimizers.InverseTime(1.0))
    >>> th.minimise(Mean(), method, np.zeros(1), max_steps=1).theta
    array([3.])
    """

    batch_size: int = whole(1, at_least=1)
    sampling: str = "reshuffle"
    step: float | StepRule = DEFAULT_STEP
    averaging: bool | str = False
    random_state: RandomState = None

    name = "stochastic_gradient"
    aliases = ("sgd",)
    needs = ("n_terms", "sample_gradient")
    default_max_steps = 100
    reaches_optimum = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sampling not in SAMPLING:
            raise ParameterError(
                f"StochasticGradient(sampling={self.sampling!r}): sampling must be "
                f"{' or '.join(map(repr, SAMPLING))}."
            )
        if self.averaging not in (False, True, "late"):
            raise ParameterError(
                f"StochasticGradient(averaging={self.averaging!r}): averaging must be False, True "
                'or "late".'
            )
        as_rule(self.step)

    def start(self, problem: Any, theta: Array) -> State:
        value, gap = value_and_gap(problem, theta)
        memory = {
            "iterate": theta,
            "average": theta,
            "averaged": 0,
            "late": theta,
            "epoch": 0,
            "t": 0,
            "rule": as_rule(self.step).start(theta),
            "random": generator(self.random_state),
        }
        return State(theta, value, gap, memory)

    def advance(self, problem: Any, state: State) -> State:
        memory = self._epoch(problem, state.memory)
        kind = {False: "iterate", True: "average", "late": "late"}[self.averaging]
        reported = memory[kind]
        return State(reported, *value_and_gap(problem, reported), memory)

    def _epoch(self, problem: Any, memory: dict[str, Any]) -> dict[str, Any]:
        """The memory after a visit of n terms, those of one block after another in a file."""
        blocks = problem.term_blocks() if hasattr(problem, "term_blocks") else (problem,)
        if self.averaging == "late":
            memory = memory | {"averaged": 0}
        for block in blocks:
            memory = memory | self._visit(block, memory)
        epoch, late = memory["epoch"] + 1, memory["late"]
        share = (LATENESS + 1) / (LATENESS + epoch)
        return memory | {"epoch": epoch, "late": late + share * (memory["average"] - late)}

    def _visit(self, problem: Any, memory: dict[str, Any]) -> dict[str, Any]:
        """The iterate, the average of all, t and the rule's memory after a visit of n terms."""
        theta, average, t = memory["iterate"], memory["average"], memory["t"]
        averaged = memory["averaged"]
        rule, kept, n = as_rule(self.step), memory["rule"], problem.n_terms
        order = self._order(n, memory["random"])
        rates = rule.rates(t + 1, n) if self.batch_size == 1 else None
        if rates is not None and hasattr(problem, "compiled_epoch"):
            theta, mean = problem.compiled_epoch(theta, order, rates)
            return {
                "iterate": theta,
                "average": average + (mean - average) * n / (averaged + n),
                "averaged": averaged + n,
                "t": t + n,
            }
        for begin in range(0, n, self.batch_size):
            t, averaged = t + 1, averaged + 1
            gradient = problem.sample_gradient(theta, order[begin : begin + self.batch_size])
            move, kept = rule.move(t, gradient, kept)
            theta = theta + move
            average = average + (theta - average) / averaged
        return {"iterate": theta, "average": average, "averaged": averaged, "t": t, "rule": kept}

    def _order(self, n_terms: int, random: np.random.Generator) -> Array:
        if self.sampling == "replacement":
            return random.integers(n_terms, size=n_terms)
        return random.permutation(n_terms)
