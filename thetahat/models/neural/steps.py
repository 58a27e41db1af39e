"""Approximation of any function of one variable by a network of steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from thetahat.foundation.errors import DataError, ParameterError
from thetahat.mathematics.activations.step import Step
from thetahat.models.neural.network import Network
from thetahat.objective.network.dense import Dense


def step_network(
    function: Callable[[Any], Any], low: float = 0.0, high: float = 1.0, n_steps: int = 10
) -> Network:
    """Approximate a function on an interval by a network of steps, without training.

    Formula: f(x) ≈ Σᵢ (fᵢ − f_{i−1})·1[x ≥ aᵢ] with m knots aᵢ = low + (i + ½)·w, cells of width
    w = (high − low)/m around them, fᵢ the value of f between the knots i and i + 1, and f_{−1} = f
    below the first. If f is Lipschitz with constant K, the error is at most K·w: with enough steps,
    networks with one hidden layer approximate every continuous function. Cost: O(m).

    Parameters
    ----------
    function : callable
        The function f; it takes an array of points and returns an array of values.
    low, high : float, default=0.0 and 1.0
        The ends of the interval. `low` must be less than `high`.
    n_steps : int, default=10
        Number of hidden units (m). More steps give a smaller error. Must be at least 1.

    Returns
    -------
    Network
        A network with one input, `n_steps` hidden steps and one output.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> network = th.neural.step_network(np.sin, 0.0, 3.0, n_steps=100)
    >>> x = np.linspace(0, 3, 1000)[:, None]
    >>> bool(np.abs(network(x) - np.sin(x)).max() <= 3 / 100)
    True
    """
    if not callable(function):
        raise ParameterError(
            f"step_network: function={function!r} must be a function of an array of points, such "
            "as numpy.sin."
        )
    numbers = all(isinstance(end, Real) and math.isfinite(end) for end in (low, high))
    if not (numbers and low < high):
        raise ParameterError(
            f"step_network: low={low!r} must be less than high={high!r}, and both finite."
        )
    if not isinstance(n_steps, int | np.integer) or isinstance(n_steps, bool) or n_steps < 1:
        raise ParameterError(f"step_network: n_steps={n_steps!r} must be a whole number ≥ 1.")
    width = (high - low) / n_steps
    knots = low + (np.arange(n_steps) + 0.5) * width
    points = low + np.arange(n_steps + 1) * width
    values = np.asarray(function(points), dtype=np.float64)
    if values.shape != points.shape or not np.isfinite(values).all():
        raise DataError(
            "step_network: the function must return one finite number for each point of an array, "
            f"but it returns an array of shape {values.shape}."
        )
    hidden = Dense(int(n_steps), Step(at_zero=1))
    network = Network(1, [hidden, Dense(1, "identity")])
    first = (np.ones((1, n_steps)), -knots)
    return network.with_weights([first, (np.diff(values)[:, None], values[:1])])
