"""Layers at work on arrays of torch, on any device: array operations without buffers of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.arrays import like, namespace
from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.activations.base import Activation as Function
from thetahat.objective.network.dense import Dense
from thetahat.objective.network.elementwise import Activation, Dropout
from thetahat.objective.network.layer import Cell, Layer


def is_device_dtype(dtype: Any) -> bool:
    """Whether this is a dtype of torch."""
    return type(dtype).__module__.partition(".")[0] == "torch"


def device_cell(layer: Layer, n_inputs: int) -> Cell:
    """The layer at work on arrays of torch."""
    match layer:
        case Dense():
            return _DenseOnDevice(layer.function, (n_inputs, layer.units))
        case Activation():
            assert isinstance(layer.activation, Function)
            return _ActivationOnDevice(layer.activation)
        case Dropout():
            return _DropoutOnDevice(layer.rate)
    raise CapabilityError(
        f"{type(layer).__name__} layers run on NumPy arrays only, but X is a torch tensor. Pass "
        "X.cpu().numpy(), or use Dense, Activation and Dropout layers."
    )


class _DenseOnDevice(Cell):
    def __init__(self, function: Function, shape: tuple[int, int]) -> None:
        self.function, self.shape = function, shape

    def forward(
        self, x: Matrix, weights: Array, free: Array, random: np.random.Generator | None
    ) -> Array:
        self.x = x
        out = x @ weights.reshape(self.shape)
        out += free
        self.result = self.function.apply(out)
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
        slope = self.function.pull(self.result, slope)
        to_weights.reshape(self.shape)[...] = self.x.T @ slope
        to_free[...] = namespace(slope).sum(slope, axis=0)
        return slope @ weights.reshape(self.shape).T if wants_input else None


class _ActivationOnDevice(Cell):
    def __init__(self, function: Function) -> None:
        self.function = function

    def forward(
        self, x: Matrix, weights: Array, free: Array, random: np.random.Generator | None
    ) -> Array:
        self.result = self.function.apply(namespace(x).asarray(x, copy=True))
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
        return self.function.pull(self.result, slope) if wants_input else None


class _DropoutOnDevice(Cell):
    """The same units as on the CPU are dropped, because the host draws them."""

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def forward(
        self, x: Matrix, weights: Array, free: Array, random: np.random.Generator | None
    ) -> Array:
        self.factor: Array | None = None
        if random is None or self.rate == 0:
            return x
        kept = random.random(tuple(x.shape), dtype=np.float32) >= self.rate
        self.factor = like(kept / (1 - self.rate), x)
        return x * self.factor

    def backward(
        self,
        slope: Array,
        weights: Array,
        free: Array,
        to_weights: Array,
        to_free: Array,
        wants_input: bool,
    ) -> Array | None:
        return slope if self.factor is None else slope * self.factor
