"""A chain of layers, each of which takes the outputs of the one before, and its passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from thetahat.foundation.types import Array, Matrix
from thetahat.objective.network.device_cells import device_cell, is_device_dtype
from thetahat.objective.network.layer import Layer


class Chain:
    """Layers in order: the widths between them, and the places of their parameters."""

    def __init__(self, layers: Sequence[Layer], n_inputs: int) -> None:
        self.layers, self.widths = tuple(layers), [n_inputs]
        weights, free = [0], [0]
        for layer in self.layers:
            inputs = self.widths[-1]
            self.widths.append(layer.n_outputs(inputs))
            weights.append(weights[-1] + layer.n_weights(inputs))
            free.append(free[-1] + layer.n_free(inputs))
        self.n_weights, self.n_free = weights[-1], free[-1]
        self.weights = [slice(*ends) for ends in pairwise(weights)]
        self.free = [slice(*ends) for ends in pairwise(free)]

    def start(self, random: np.random.Generator) -> tuple[Array, Array]:
        """Initial weights and free parameters of all layers, flat, drawn layer by layer."""
        pairs = [layer.start(n, random) for layer, n in zip(self.layers, self.widths, strict=False)]
        weights = [np.zeros(0), *(first for first, _ in pairs)]
        free = [np.zeros(0), *(second for _, second in pairs)]
        return np.concatenate(weights), np.concatenate(free)

    def run(self, n_rows: int, dtype: Any) -> Run:
        """Buffers for passes of at most this many rows."""
        return Run(self, n_rows, dtype)


class Run:
    """The cells of a chain: forward passes, and the backward pass of the last one."""

    def __init__(self, chain: Chain, n_rows: int, dtype: Any) -> None:
        self.chain = chain
        self.cells = [
            device_cell(layer, n) if is_device_dtype(dtype) else layer.cell(n, n_rows, dtype)
            for layer, n in zip(chain.layers, chain.widths, strict=False)
        ]
        self.outputs: list[Array] = []

    def forward(
        self,
        x: Matrix,
        weights: Array,
        free: Array,
        random: np.random.Generator | None = None,
        row_weights: Array | None = None,
    ) -> Array:
        """The outputs of the last layer; `row_weights` count in means over the rows."""
        for cell in self.cells:
            cell.row_weights = row_weights
        places = zip(self.chain.weights, self.chain.free, strict=True)
        return self.through(x, [(weights[w], free[f]) for w, f in places], random)

    def through(
        self,
        x: Matrix,
        pairs: Sequence[tuple[Array, Array]],
        random: np.random.Generator | None = None,
    ) -> Array:
        """The outputs of the last of as many layers as there are weights and free parameters."""
        self.outputs.clear()
        for cell, (weights, free) in zip(self.cells, pairs, strict=False):
            x = cell.forward(x, weights, free, random)
            self.outputs.append(x)
        return x

    def backward(
        self,
        slope: Array,
        weights: Array,
        free: Array,
        to_weights: Array,
        to_free: Array,
        wants_input: bool = False,
        inside: Mapping[int, Array] | None = None,
    ) -> Array | None:
        """Write the slopes of all parameters; `inside` adds slopes at the outputs of layers.

        Returns the slope of the inputs if it is wanted. `slope` is overwritten.
        """
        going: Array | None = slope
        for number in range(len(self.cells) - 1, -1, -1):
            w, f = self.chain.weights[number], self.chain.free[number]
            assert going is not None
            if inside is not None and number in inside:
                going += inside[number]
            going = self.cells[number].backward(
                going, weights[w], free[f], to_weights[w], to_free[f], wants_input or number > 0
            )
        return going
