"""Batch normalisation: columns of mean 0 and variance 1 within each batch, then scale and shift."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.parts import number
from thetahat.objective.network.layer import Cell, Layer


@dataclass(frozen=True)
class BatchNorm(Layer):
    """Batch normalisation of each input, with a learned scale and shift.

    Formula: x ↦ γ(x − m)/√(v + ε) + β. In training, m and v are the mean and variance of the batch,
    with the weights of its rows; for predictions they are running means over the batches of the
    training. A batch of one row has no variance: it takes the running means as they are. γ and β
    are free parameters. Cost: O(n m)
    for n rows of m inputs.

    Parameters
    ----------
    momentum : float, default=0.9
        Share of the old running mean that is kept at each batch. Larger values average over more
        batches. Must be at least 0 and less than 1.
    epsilon : float, default=1e-5
        Added to the variances to avoid a division by zero (ε). Must be positive.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> network = th.neural.Network(2, [th.neural.BatchNorm(epsilon=1e-12)])
    >>> network(np.array([[-1.0, 2.0]]))
    array([[-1.,  2.]])
    """

    momentum: float = number(0.9, at_least=0, below=1)
    epsilon: float = number(1e-5, above=0)

    name = "batch_norm"
    depends_on_batch = True

    def n_outputs(self, n_inputs: int) -> int:
        return n_inputs

    def n_free(self, n_inputs: int) -> int:
        """γ, β, and the running means of m and v, which have no gradient in training."""
        return 4 * n_inputs

    def start(self, n_inputs: int, random: np.random.Generator) -> tuple[Array, Array]:
        one, zero = np.ones(n_inputs), np.zeros(n_inputs)
        return zero[:0], np.concatenate([one, zero, zero, one])

    def cell(self, n_inputs: int, n_rows: int, dtype: Any) -> Cell:
        return _BatchNormCell(self, n_inputs, n_rows, dtype)


class _BatchNormCell(Cell):
    def __init__(self, layer: BatchNorm, n_inputs: int, n_rows: int, dtype: Any) -> None:
        self.layer = layer
        self.out = np.empty((n_rows, n_inputs), dtype=dtype)
        self.centred = np.empty((n_rows, n_inputs), dtype=dtype)
        self.shares: Array | None = None
        """wᵢ/Σ w of the rows of the last pass, or None if the weights are equal."""

    def forward(
        self, x: Matrix, weights: Array, free: Array, random: np.random.Generator | None
    ) -> Array:
        scale, shift, mean, variance = free.reshape(4, -1)
        rows = x if isinstance(x, np.ndarray) else x.toarray()
        self.trains, n, weight = random is not None, rows.shape[0], self.row_weights
        counted = n if weight is None else np.count_nonzero(weight)
        self.own = self.trains and counted > 1  # one row minus its own mean is 0 whatever it holds
        self.unit, result = self.centred[:n], self.out[:n]
        if self.own:
            self.shares = None if weight is None else (weight / weight.sum()).astype(rows.dtype)
            middle = self._mean(rows)
            np.subtract(rows, middle, out=self.unit)
            spread = self._mean_product(self.unit, self.unit)
            kept = self.layer.momentum
            mean[...] = kept * mean + (1 - kept) * middle
            variance[...] = kept * variance + (1 - kept) * spread
        else:
            np.subtract(rows, mean, out=self.unit)
            spread = variance
        self.root = np.sqrt(spread + self.layer.epsilon)
        self.unit /= self.root
        np.multiply(self.unit, scale, out=result)
        result += shift
        return result

    def backward(
        self,
        slope: Array,
        weights: Array,
        free: Array,
        to_weights: Array,
        to_free: Array,
        wants_input: bool,
    ) -> Array | None:
        scale = free.reshape(4, -1)[0]
        to_scale, to_shift, to_mean, to_variance = to_free.reshape(4, -1)
        to_scale[...] = np.einsum("ij,ij->j", slope, self.unit)
        to_shift[...] = slope.sum(axis=0)
        slope *= scale / self.root
        if not self.trains:  # the running means are parameters of the prediction
            to_mean[...] = -to_shift * scale / self.root
            to_variance[...] = -to_scale * scale / (2 * self.root**2)
            return slope
        to_mean[...] = to_variance[...] = 0.0
        if not self.own:
            return slope
        if self.shares is None:
            along = self._mean_product(slope, self.unit)
            slope -= slope.mean(axis=0)
            slope -= self.unit * along
            return slope
        pulled, along = slope.sum(axis=0), np.einsum("ij,ij->j", slope, self.unit)
        slope -= self.shares[:, None] * (pulled + self.unit * along)
        return slope

    def _mean(self, rows: Array) -> Array:
        """Σ wᵢxᵢ/Σ wᵢ."""
        return np.asarray(rows.mean(axis=0) if self.shares is None else self.shares @ rows)

    def _mean_product(self, first: Array, second: Array) -> Array:
        """Σ wᵢxᵢyᵢ/Σ wᵢ."""
        if self.shares is None:
            return np.asarray(np.einsum("ij,ij->j", first, second) / first.shape[0])
        return np.asarray(np.einsum("i,ij,ij->j", self.shares, first, second))
