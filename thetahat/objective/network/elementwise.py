"""Layers without weights of their own: an activation, and dropout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.activations import named
from thetahat.mathematics.activations.base import Activation as Function
from thetahat.mathematics.parts import number
from thetahat.objective.network.layer import Cell, Layer


@dataclass(frozen=True)
class Activation(Layer):
    """A layer that applies an activation to its inputs: x ↦ σ(x).

    It stands after layers that have none of their own, such as `BatchNorm` or `Residual`. Cost:
    O(n m) for n rows of m inputs.

    Parameters
    ----------
    activation : str or activation, default="relu"
        The function applied to each input (σ), as in `Dense`.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> network = th.neural.Network(2, [th.neural.Activation("relu")])
    >>> network(np.array([[-1.0, 2.0]]))
    array([[0., 2.]])
    """

    activation: str | Function = "relu"

    name = "activation"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "activation", named(self.activation))

    @property
    def smooth(self) -> bool:  # type: ignore[override]
        assert isinstance(self.activation, Function)
        return self.activation.smooth

    def n_outputs(self, n_inputs: int) -> int:
        return n_inputs

    def cell(self, n_inputs: int, n_rows: int, dtype: Any) -> Cell:
        assert isinstance(self.activation, Function)
        return _ActivationCell(self.activation, n_inputs, n_rows, dtype)


class _ActivationCell(Cell):
    def __init__(self, function: Function, n_inputs: int, n_rows: int, dtype: Any) -> None:
        self.function = function
        self.out = np.empty((n_rows, n_inputs), dtype=dtype)

    def forward(
        self, x: Matrix, weights: Array, free: Array, random: np.random.Generator | None
    ) -> Array:
        self.result = self.out[: x.shape[0]]
        self.result[...] = x if isinstance(x, np.ndarray) else x.toarray()
        return self.function.apply(self.result)

    def backward(
        self,
        slope: Array,
        weights: Array,
        free: Array,
        to_weights: Array,
        to_free: Array,
        wants_input: bool,
    ) -> Array | None:
        return self.function.pull(self.result, slope) if wants_input else None


@dataclass(frozen=True)
class Dropout(Layer):
    """Dropout: in training, each input is set to 0 with a probability, and the others grow.

    Formula: x ↦ x·m/(1 − rate) with m = 0 with probability `rate` and 1 otherwise, drawn for each
    row and step; x ↦ x for predictions, which is the mean. Cost: O(n m) for n rows of m inputs.

    Parameters
    ----------
    rate : float, default=0.5
        Probability of setting an input to 0 in training. Larger values regularise more. Must be at
        least 0 and less than 1.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> network = th.neural.Network(2, [th.neural.Dropout(0.5)])
    >>> network(np.array([[-1.0, 2.0]]))
    array([[-1.,  2.]])
    """

    rate: float = number(0.5, at_least=0, below=1)

    name = "dropout"
    depends_on_batch = True

    def n_outputs(self, n_inputs: int) -> int:
        return n_inputs

    def cell(self, n_inputs: int, n_rows: int, dtype: Any) -> Cell:
        return _DropoutCell(self.rate, n_inputs, n_rows, dtype)


class _DropoutCell(Cell):
    def __init__(self, rate: float, n_inputs: int, n_rows: int, dtype: Any) -> None:
        self.rate = rate
        self.out = np.empty((n_rows, n_inputs), dtype=dtype)
        self.factor: Array | None = None

    def forward(
        self, x: Matrix, weights: Array, free: Array, random: np.random.Generator | None
    ) -> Array:
        result = self.out[: x.shape[0]]
        result[...] = x if isinstance(x, np.ndarray) else x.toarray()
        self.factor = None
        if random is not None and self.rate > 0:
            kept = random.random(result.shape, dtype=np.float32) >= self.rate
            self.factor = kept / np.asarray(1 - self.rate, dtype=result.dtype)
            result *= self.factor
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
        if self.factor is not None:
            slope *= self.factor
        return slope
