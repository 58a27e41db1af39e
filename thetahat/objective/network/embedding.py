"""Penalties of pairs of rows inside a network: near rows have near outputs, at one layer or at all.

Σ_l λ_l·(mean over pairs (j, k) of ℓ(z_j − z_k)) with the outputs z of layer l. Each step draws as
many pairs of neighbours as random pairs. The slopes at the layers are added on the way back, so
that all layers together cost one forward and one backward pass of the rows of the pairs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from thetahat.foundation.types import Array, Matrix
from thetahat.objective.network.elementwise import Dropout
from thetahat.objective.network.layer import Layer
from thetahat.objective.network.predictor import NetworkPredictor, Pass
from thetahat.objective.network.residual import Residual


class PairPenalty(ABC):
    """ℓ of the difference Δ = z_j − z_k of the outputs of two rows."""

    @abstractmethod
    def value_and_slope(
        self, difference: Array, distance: Array, near: Array
    ) -> tuple[Array, Array]:
        """ℓ, shape (m,), and ∂ℓ/∂Δ, shape (m, units).

        `distance` holds the squared distances of the pairs in the inputs, `near` whether they are
        neighbours.
        """


@dataclass(frozen=True)
class ScalingPenalty(PairPenalty):
    """Multidimensional scaling: (‖Δ‖² − d)², which keeps the distances of the inputs."""

    def value_and_slope(
        self, difference: Array, distance: Array, near: Array
    ) -> tuple[Array, Array]:
        excess = (difference * difference).sum(axis=1) - distance
        return excess * excess, (4.0 * excess)[:, None].astype(difference.dtype) * difference


@dataclass(frozen=True)
class MarginPenalty(PairPenalty):
    """‖Δ‖² of neighbours, (m − ‖Δ‖)₊² of other pairs, which are kept apart by a margin m."""

    margin: float = 1.0

    def value_and_slope(
        self, difference: Array, distance: Array, near: Array
    ) -> tuple[Array, Array]:
        square = (difference * difference).sum(axis=1)
        length = np.sqrt(square)
        lacking = np.maximum(self.margin - length, 0.0)
        value = np.where(near, square, lacking * lacking)
        # Equal outputs have no direction in which to part; the slope 0 is a subgradient.
        apart = -2.0 * lacking / np.where(length > 0, length, 1.0)
        factor = np.where(near, 2.0, apart)
        return value, factor[:, None].astype(difference.dtype) * difference


class EmbeddingTerm:
    """The penalty of drawn pairs as a term of the objective of a descent.

    The rows of the pairs are a batch of the training, from which batch normalisation takes its
    means. Dropout leaves them whole: its noise would be a distance between equal rows.
    """

    def __init__(
        self,
        predictor: NetworkPredictor,
        penalty: PairPenalty,
        strengths: Mapping[int, float],
        X: Matrix,
        neighbours: tuple[Array, Array],
        n_pairs: int,
        unit: float,
    ) -> None:
        """`strengths` are λ by the number of the layer, `unit` that of squared distances."""
        self.predictor = replace(predictor, layers=_without_dropout(predictor.layers))
        self.penalty, self.X = penalty, X
        self.strengths = {layer: each for layer, each in strengths.items() if each > 0}
        self.neighbours, self.n_pairs, self.unit = neighbours, n_pairs, unit
        self.run: Pass | None = None
        self.largest = 0
        self.own = np.empty(0)

    def add_slope(self, theta: Array, into: Array, random: np.random.Generator) -> float:
        """Add the gradient of the term for new pairs to `into`; returns its value."""
        near, m = self.neighbours, self.n_pairs
        drawn = random.integers(0, len(near[0]), m) if len(near[0]) else np.empty(0, np.intp)
        others = random.integers(0, self.X.shape[0], (2, m))
        first = np.concatenate([near[0][drawn], others[0]])
        second = np.concatenate([near[1][drawn], others[1]])
        are_near = np.arange(len(first)) < len(drawn)
        value, slope = self.of_pairs(theta, first, second, are_near, random)
        into += slope
        return value

    def of_pairs(
        self,
        theta: Array,
        first: Array,
        second: Array,
        near: Array,
        random: np.random.Generator | None = None,
    ) -> tuple[float, Array]:
        """The term for these pairs, and its gradient in θ (overwritten by the next call).

        With `random`, as in training.
        """
        m = len(first)
        rows = self.X[np.concatenate([first, second])]
        rows = (rows if isinstance(rows, np.ndarray) else rows.toarray()).astype(
            theta.dtype, copy=False
        )
        if self.run is None or self.own.size != theta.size or m > self.largest:
            self.run, self.largest = Pass(self.predictor, 2 * m, theta.dtype), m
            self.own = np.empty_like(theta)
        self.run.forward(rows, theta, random)
        distance = ((rows[:m] - rows[m:]) ** 2).sum(axis=1) / self.unit
        total, inside = 0.0, {}
        for layer, strength in self.strengths.items():
            z = self.run.run.outputs[layer]
            value, slope = self.penalty.value_and_slope(z[:m] - z[m:], distance, near)
            total += strength * float(value.mean())
            slope *= np.asarray(strength / m, dtype=theta.dtype)
            inside[layer] = np.concatenate([slope, -slope])
        output = np.zeros((2 * m, self.predictor.chain.widths[-1]), dtype=theta.dtype)
        start = output if self.predictor.n_outputs else output[:, 0]
        self.run.backward(start, theta, self.own, inside=inside)
        return total, self.own


def _without_dropout(layers: Sequence[Layer]) -> tuple[Layer, ...]:
    """The layers with the same parameters and no dropout."""
    return tuple(
        Dropout(0.0)
        if isinstance(each, Dropout)
        else Residual(_without_dropout(each.layers))
        if isinstance(each, Residual)
        else each
        for each in layers
    )
