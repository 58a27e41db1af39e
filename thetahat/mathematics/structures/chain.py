"""Sequences of labels as structured outputs, with Viterbi's and the forward-backward algorithm.

The score of the states y₁, …, y_T of a sequence x₁, …, x_T is

    w·φ(x, y) = start(y₁) + Σ_t emission(y_t)·x_t + Σ_{t>1} transition(y_{t−1}, y_t),

so that the best sequence is found by dynamic programming: the best score of all sequences that end
in a state at time t follows from those at time t − 1. With sums of exponentials in the place of
maxima, the same recursion gives log Σ_y exp(w·φ(x, y)), the normaliser of a conditional random
field.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.parts import whole
from thetahat.mathematics.structures.base import Structure


@dataclass(frozen=True)
class Chain(Structure):
    """A label for every position of a sequence, with scores of neighbouring labels.

    Formula: w·φ(x, y) = a(y₁) + Σ_t b(y_t)·x_t + Σ_{t>1} c(y_{t−1}, y_t), and Δ(y, y′) is the
    number of positions at which the labels differ. The input x is an array of shape
    (T, n_features), and the output an array of T codes 0, 1, …, n_states − 1. Cost: O(T·k·(k + d))
    for each search with k states and d columns.

    Parameters
    ----------
    n_states : int, default=2
        Number of different labels, at least 2.
    n_features : int, default=1
        Number of columns of every sequence.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> chain = th.structures.Chain(n_states=2, n_features=1)
    >>> weights = np.array([0.0, 0.0, -1.0, 1.0, 0.5, 0.0, 0.0, 0.5])  # start, emission, transition
    >>> chain.decode(np.array([[1.0], [-0.1], [1.0], [-2.0]]), weights).tolist()
    [1, 1, 1, 0]
    """

    n_states: int = whole(2, at_least=2)
    n_features: int = whole(1, at_least=1)

    name = "chain"

    @property
    def size(self) -> int:
        """Number of weights: k for the start, k·d for emissions and k² for transitions."""
        return self.n_states * (1 + self.n_features + self.n_states)

    def split(self, weights: Array) -> tuple[Array, Array, Array]:
        """The weights of the start (k,), of emissions (k, d) and of transitions (k, k)."""
        k, d = self.n_states, self.n_features
        ends = k, k + k * d
        return (
            weights[: ends[0]],
            weights[ends[0] : ends[1]].reshape(k, d),
            weights[ends[1] :].reshape(k, k),
        )

    def features(self, x: Array, y: Array) -> Array:
        """Counts of the first state and of pairs of states, and sums of the rows of each state."""
        found = np.zeros(self.size)
        start, emission, transition = self.split(found)
        start[y[0]] = 1.0
        np.add.at(emission, y, x)
        np.add.at(transition, (y[:-1], y[1:]), 1.0)
        return found

    def loss(self, y: Array, other: Array) -> float:
        """Number of positions at which the labels differ."""
        return float(np.count_nonzero(y != other))

    def decode(self, x: Array, weights: Array, y: Any = None) -> Array:
        """Viterbi's algorithm; of equal scores, the smaller code wins."""
        start, emission, transition = self.split(weights)
        scores = x @ emission.T
        if y is not None:
            scores = scores + (np.arange(self.n_states) != y[:, None])
        n, k = scores.shape
        came_from = np.empty((n, k), dtype=np.intp)
        best = start + scores[0]
        arrange = np.arange(k)
        for t in range(1, n):
            ways = best[:, None] + transition
            came_from[t] = ways.argmax(axis=0)
            best = ways[came_from[t], arrange] + scores[t]
        found = np.empty(n, dtype=np.intp)
        found[-1] = best.argmax()
        for t in range(n - 1, 0, -1):
            found[t - 1] = came_from[t, found[t]]
        return found

    def log_partition(self, x: Array, weights: Array) -> tuple[float, Array]:
        """log Σ_y exp(w·φ(x, y)) and its gradient, the mean of φ(x, y) under the field."""
        start, emission, transition = self.split(weights)
        scores = x @ emission.T
        n, k = scores.shape
        forward, backward = np.empty((n, k)), np.zeros((n, k))
        forward[0] = start + scores[0]
        for t in range(1, n):
            forward[t] = _log_sum(forward[t - 1][:, None] + transition, axis=0) + scores[t]
        for t in range(n - 2, -1, -1):
            backward[t] = _log_sum(transition + scores[t + 1] + backward[t + 1], axis=1)
        total = float(_log_sum(forward[-1], axis=0))
        states = np.exp(forward + backward - total)
        gradient = np.zeros(self.size)
        of_start, of_emission, of_transition = self.split(gradient)
        of_start[:] = states[0]
        of_emission[:] = states.T @ x
        for t in range(1, n):
            ways = forward[t - 1][:, None] + transition + scores[t] + backward[t] - total
            of_transition += np.exp(ways)
        return total, gradient


def _log_sum(values: Array, axis: int) -> Array:
    top = values.max(axis=axis)
    return top + np.log(np.exp(values - np.expand_dims(top, axis)).sum(axis=axis))
