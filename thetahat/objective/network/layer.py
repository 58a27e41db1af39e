"""Interface of layers: what a network is composed of.

A layer is a frozen value: how many outputs it has, how many parameters, and their initial values.
Its cell has the buffers for a number of rows and does the work: forward, then backward. Weights are
penalised; free parameters (intercepts, scales) are not.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.parts import Part


class Cell(ABC):
    """One layer at work on at most as many rows as its buffers have.

    The arrays that it returns are its buffers; the next call overwrites them.
    """

    row_weights: Array | None = None
    """The weights of the rows of the next pass in training; None if all are equal."""

    @abstractmethod
    def forward(
        self, x: Matrix, weights: Array, free: Array, random: np.random.Generator | None
    ) -> Array:
        """The outputs of the layer; `random` is None for predictions and given in training."""

    @abstractmethod
    def backward(
        self,
        slope: Array,
        weights: Array,
        free: Array,
        to_weights: Array,
        to_free: Array,
        wants_input: bool,
    ) -> Array | None:
        """∂F/∂x from ∂F/∂(output) of the last forward pass, or None if it is not wanted.

        The slopes of the parameters are written to `to_weights` and `to_free`; `slope` may be
        overwritten.
        """


class Layer(Part, ABC):
    """Base class of the layers of a network; concrete layers are frozen dataclasses.

    A layer maps rows of n numbers to rows of m numbers, x ↦ f(x), with weights, which are
    penalised, and free parameters, which are not. Its `cell` computes f and its derivatives. Cost:
    that of the concrete layer.

    Examples
    --------
    >>> import thetahat as th
    >>> layer = th.neural.Dense(5, "tanh")
    >>> isinstance(layer, th.neural.Layer), layer.n_outputs(3), layer.n_weights(3)
    (True, 5, 15)
    """

    depends_on_batch: ClassVar[bool] = False
    """Whether training outputs of one row depend on the other rows or on random numbers, so that
    the risk is not a fixed function of the parameters."""
    smooth: ClassVar[bool] = True
    """Whether outputs are smooth functions of the inputs and the parameters."""

    @abstractmethod
    def n_outputs(self, n_inputs: int) -> int:
        """Return the number of outputs; raise an error if the layer cannot take these inputs."""

    def n_weights(self, n_inputs: int) -> int:
        """Return the number of penalised parameters."""
        return 0

    def n_free(self, n_inputs: int) -> int:
        """Return the number of parameters without a penalty."""
        return 0

    def start(self, n_inputs: int, random: np.random.Generator) -> tuple[Array, Array]:
        """Return initial weights and free parameters, both flat."""
        return np.zeros(self.n_weights(n_inputs)), np.zeros(self.n_free(n_inputs))

    @abstractmethod
    def cell(self, n_inputs: int, n_rows: int, dtype: Any) -> Cell:
        """Return buffers for at most this many rows."""


def as_layers(given: Any, who: str, *, least: int = 0) -> tuple[Layer, ...]:
    """The layers as a tuple, or an error that names what is none."""
    many = isinstance(given, Iterable) and not isinstance(given, str)
    layers = tuple(given) if many else (given,)
    if not many or len(layers) < least or not all(isinstance(each, Layer) for each in layers):
        raise ParameterError(
            f"{who}(layers={layers if many else given!r}): layers must be a "
            f"{'non-empty ' if least else ''}sequence of layers, such as [th.neural.Dense(10), "
            "th.neural.Dense(1, 'identity')]."
        )
    return layers
