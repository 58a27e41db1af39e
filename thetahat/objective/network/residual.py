"""Residual connections: x ↦ x + g(x), with g a chain of layers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array, Matrix
from thetahat.objective.network.chain import Chain
from thetahat.objective.network.layer import Cell, Layer, as_layers


@dataclass(frozen=True)
class Residual(Layer):
    """A residual connection around some layers: x ↦ x + g(x).

    The inner layers g must have as many outputs as inputs. Gradients pass through the sum
    unchanged, so that deep networks can be trained. Cost: that of the inner layers, plus O(n m).

    Parameters
    ----------
    layers : sequence of Layer, default=()
        The inner layers (g), in order.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> inner = th.neural.Dense(2, "relu", initialisation="zeros")
    >>> network = th.neural.Network(2, [th.neural.Residual([inner])])
    >>> network(np.array([[-1.0, 2.0]]))
    array([[-1.,  2.]])
    """

    layers: tuple[Layer, ...] = ()

    name = "residual"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "layers", as_layers(self.layers, "Residual"))

    @property
    def depends_on_batch(self) -> bool:  # type: ignore[override]
        return any(layer.depends_on_batch for layer in self.layers)

    @property
    def smooth(self) -> bool:  # type: ignore[override]
        return all(layer.smooth for layer in self.layers)

    def n_outputs(self, n_inputs: int) -> int:
        found = Chain(self.layers, n_inputs).widths[-1]
        if found != n_inputs:
            raise ParameterError(
                f"Residual: the inner layers have {found} outputs for {n_inputs} inputs, but x + "
                f"g(x) needs as many. End them with Dense({n_inputs})."
            )
        return n_inputs

    def n_weights(self, n_inputs: int) -> int:
        return Chain(self.layers, n_inputs).n_weights

    def n_free(self, n_inputs: int) -> int:
        return Chain(self.layers, n_inputs).n_free

    def start(self, n_inputs: int, random: np.random.Generator) -> tuple[Array, Array]:
        return Chain(self.layers, n_inputs).start(random)

    def cell(self, n_inputs: int, n_rows: int, dtype: Any) -> Cell:
        return _ResidualCell(Chain(self.layers, n_inputs), n_rows, dtype)


class _ResidualCell(Cell):
    def __init__(self, chain: Chain, n_rows: int, dtype: Any) -> None:
        self.run = chain.run(n_rows, dtype)
        self.out = np.empty((n_rows, chain.widths[0]), dtype=dtype)
        self.back = np.empty_like(self.out)

    def forward(
        self, x: Matrix, weights: Array, free: Array, random: np.random.Generator | None
    ) -> Array:
        rows = x if isinstance(x, np.ndarray) else x.toarray()
        inner = self.run.forward(rows, weights, free, random, self.row_weights)
        return np.add(rows, inner, out=self.out[: rows.shape[0]])

    def backward(
        self,
        slope: Array,
        weights: Array,
        free: Array,
        to_weights: Array,
        to_free: Array,
        wants_input: bool,
    ) -> Array | None:
        kept = self.back[: slope.shape[0]]
        kept[...] = slope
        inner = self.run.backward(slope, weights, free, to_weights, to_free, wants_input)
        if inner is not None:
            kept += inner
        return kept
