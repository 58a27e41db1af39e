"""The dense layer: x ↦ σ(Wᵀx + b), one product and one elementwise pass each way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.activations import named
from thetahat.mathematics.activations.base import Activation
from thetahat.mathematics.activations.relu import LeakyReLU, ReLU
from thetahat.mathematics.parts import whole
from thetahat.objective.network.initial_weights import (
    GivenWeights,
    given_weights,
    initial_weights,
    require_rule,
)
from thetahat.objective.network.layer import Cell, Layer


@dataclass(frozen=True)
class Dense(Layer):
    """A dense layer: every unit computes σ(wᵀx + b) of all inputs.

    Formula: x ↦ σ(Wᵀx + b) with weights W of shape (inputs, units) and intercepts b. Cost:
    O(n m k) for n rows, m inputs and k units.

    Parameters
    ----------
    units : int
        Number of outputs of the layer. More units can represent more functions and cost more. Must
        be at least 1.
    activation : str or Activation, default="relu"
        The function applied to each output (σ): "identity", "sigmoid", "tanh", "relu",
        "leaky_relu", "softmax", "step", or a value of ``th.activations``.
    initialisation : str or pair of arrays, default="glorot"
        How initial weights are drawn: "glorot" (uniform, for any activation), "he" (normal, for
        rectified linear units), or "small". "large", "equal" and "zeros" demonstrate bad starts. A
        pair (W, b) of weights of shape (inputs, units) and intercepts starts from these.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> network = th.neural.Network(2, [th.neural.Dense(1, th.activations.Step(at_zero=1))])
    >>> both = network.with_weights([([[1.0], [1.0]], [-1.5])])
    >>> both(np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0]])).ravel()
    array([0., 0., 1.])
    """

    units: int = whole(1, at_least=1)
    activation: str | Activation = "relu"
    initialisation: Any = "glorot"

    name = "dense"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "activation", named(self.activation))
        if isinstance(self.initialisation, tuple | list):
            given = given_weights(self.initialisation, self.units, "Dense")
            object.__setattr__(self, "initialisation", given)
        elif not isinstance(self.initialisation, GivenWeights):
            require_rule(self.initialisation, "Dense")

    @property
    def function(self) -> Activation:
        """The activation as a value."""
        assert isinstance(self.activation, Activation)
        return self.activation

    @property
    def smooth(self) -> bool:  # type: ignore[override]
        return self.function.smooth

    def n_outputs(self, n_inputs: int) -> int:
        return self.units

    def n_weights(self, n_inputs: int) -> int:
        return n_inputs * self.units

    def n_free(self, n_inputs: int) -> int:
        return self.units

    def start(self, n_inputs: int, random: np.random.Generator) -> tuple[Array, Array]:
        weights, intercepts = initial_weights(
            self.initialisation, n_inputs, self.units, self.function.gain, random
        )
        return weights.reshape(-1), intercepts

    def cell(self, n_inputs: int, n_rows: int, dtype: Any) -> Cell:
        return _DenseCell(self.function, n_inputs, self.units, n_rows, dtype)


class _DenseCell(Cell):
    def __init__(
        self, function: Activation, n_inputs: int, units: int, n_rows: int, dtype: Any
    ) -> None:
        self.function, self.shape = function, (n_inputs, units)
        self.leak = function.leak if isinstance(function, ReLU | LeakyReLU) else None
        """The slope of rectified units below 0; their passes are compiled."""
        self.out = np.empty((n_rows, units), dtype=dtype)
        self.ones = np.ones(n_rows, dtype=dtype)
        self.back: Array | None = None
        self.x: Matrix = self.out

    def forward(
        self, x: Matrix, weights: Array, free: Array, random: np.random.Generator | None
    ) -> Array:
        self.x = x
        W = weights.reshape(self.shape)
        if isinstance(x, np.ndarray):
            out = np.dot(x, W, out=self.out[: x.shape[0]])
        else:
            out = np.ascontiguousarray(x @ W)
        if self.leak is None:
            out += free
            self.result = self.function.apply(out)
        else:
            _native.rectify(out, free, self.leak)
            self.result = out
        return self.result

    def backward(
        self,
        slope: Array,
        weights: Array,
        free: Array,
        to_weights: Array,
        to_free: Array,
        wants_input: bool,
    ) -> Array | None:
        n = slope.shape[0]
        if self.leak is None:
            slope = self.function.pull(self.result, slope)
            np.dot(self.ones[:n], slope, out=to_free)
        else:
            slope = np.ascontiguousarray(slope)
            _native.pull_rectified(self.result, slope, to_free, self.leak)
        into = to_weights.reshape(self.shape)
        if isinstance(self.x, np.ndarray):
            np.dot(self.x.T, slope, out=into)
        else:
            into[...] = self.x.T @ slope
        if not wants_input:
            return None
        if self.back is None:
            self.back = np.empty((len(self.out), self.shape[0]), dtype=self.out.dtype)
        return np.dot(slope, weights.reshape(self.shape).T, out=self.back[:n])
