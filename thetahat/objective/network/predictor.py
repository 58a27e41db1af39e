"""The network as a predictor: z = f_θ(x) by layers, ∂z/∂θ by backpropagation.

θ holds the weights of all layers, then their free parameters (intercepts). With z_l = W_lᵀx_l + b_l
and x_{l+1} = σ(z_l), the backward pass is δ_l = (W_l δ_{l+1}) ∘ σ′(z_{l−1}), and the slope of W_l
is the sum over the rows of x_l δ_{l+1}ᵀ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.data.arrays import namespace
from thetahat.foundation.cached import cached_property
from thetahat.foundation.types import Array, Matrix
from thetahat.objective.network.chain import Chain
from thetahat.objective.network.device_cells import is_device_dtype
from thetahat.objective.network.layer import Layer
from thetahat.objective.predictor import Predictor, in_double

ROWS_AT_ONCE = 1024
"""Rows of a forward pass for predictions, so that its buffers stay in the cache."""
ROWS_ON_DEVICE = 1 << 16
"""The same on a device, which needs more work at once."""


@dataclass(frozen=True)
class NetworkPredictor(Predictor):
    """z = f_θ(x), the composition of some layers.

    Cost: O(n p) for n rows and p weights, to predict and to pull back; the buffers of a pass hold
    the outputs of all layers.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> from thetahat.objective.network.predictor import NetworkPredictor
    >>> predictor = NetworkPredictor((th.neural.Dense(1, "identity"),), n_features=2)
    >>> predictor.raw(np.array([[1.0, 2.0]]), np.array([10.0, 1.0, 0.5]))
    array([12.5])
    """

    layers: tuple[Layer, ...]
    n_features: int
    n_outputs: int = 0
    """Columns of z; 0 if the last layer has one output and z is 1-D."""

    @cached_property
    def chain(self) -> Chain:
        """The layers with the places of their parameters."""
        return Chain(self.layers, self.n_features)

    @property
    def n_parameters(self) -> int:
        """The size of θ."""
        return self.chain.n_weights + self.chain.n_free

    @property
    def depends_on_batch(self) -> bool:
        """Whether training outputs of a row depend on other rows or on random numbers."""
        return any(layer.depends_on_batch for layer in self.layers)

    @property
    def smooth(self) -> bool:
        """Whether z is a smooth function of θ."""
        return all(layer.smooth for layer in self.layers)

    def draw(self, random: np.random.Generator) -> Array:
        """Initial parameters: different for every unit, because equal units stay equal."""
        return np.concatenate(self.chain.start(random))

    def start(self) -> Array:
        """Initial parameters from a fixed seed."""
        return self.draw(np.random.default_rng(0))

    def split(self, theta: Array) -> tuple[Array, Array]:
        """The weights of all layers, flat, and the free parameters."""
        return theta[: self.chain.n_weights], theta[self.chain.n_weights :]

    def pack(self, coef: Array, free: Array | float) -> Array:
        """θ from weights and free parameters; `free` may be one number for all."""
        theta = np.empty(self.n_parameters, dtype=coef.dtype)
        theta[: self.chain.n_weights] = coef.reshape(-1)
        theta[self.chain.n_weights :] = free
        return theta

    def raw(self, X: Matrix, theta: Array) -> Array:
        """z, shape (n,) or (n, k), computed for some rows at a time."""
        return self.shaped(self.outputs(X, theta, len(self.layers)))

    def outputs(self, X: Matrix, theta: Array, depth: int) -> Array:
        """The outputs of the first `depth` layers, shape (n, width)."""
        pairs = [(weights, free) for _, weights, free in self.parts(theta)]
        return self.outputs_of(X, pairs[:depth], theta.dtype)

    def outputs_of(self, X: Matrix, pairs: Sequence[tuple[Array, Array]], dtype: Any) -> Array:
        """The same from the weights and free parameters of each of these layers, without θ."""
        n = X.shape[0]
        if is_device_dtype(dtype):
            run = self.chain.run(n, dtype)
            cuts = [slice(at, at + ROWS_ON_DEVICE) for at in range(0, n, ROWS_ON_DEVICE)]
            parts = [run.through(X[rows], pairs) for rows in cuts]
            return namespace(parts[0]).concat(parts, axis=0)
        X = in_double(X) if dtype == np.float64 else X
        found = np.empty((n, self.chain.widths[len(pairs)]), dtype=dtype)
        run = self.chain.run(min(n, ROWS_AT_ONCE), dtype)
        for begin in range(0, n, ROWS_AT_ONCE):
            rows = slice(begin, min(n, begin + ROWS_AT_ONCE))
            x = run.through(X[rows], pairs)
            found[rows] = x if isinstance(x, np.ndarray) else x.toarray()
        return found

    def pullback(self, X: Matrix, slope: Array, theta: Array) -> Array:
        """Σ_i ∂z_i/∂θ · slope_i, by a forward and a backward pass."""
        return self.raw_and_pullback(X, theta)[1](slope)

    def raw_and_pullback(self, X: Matrix, theta: Array) -> tuple[Array, Callable[[Array], Array]]:
        """z and the function slope ↦ Σ_i ∂z_i/∂θ · slope_i, which uses the outputs of the layers.

        Rows go through the layers some at a time.
        """
        n = X.shape[0]
        X = in_double(X) if theta.dtype == np.float64 else X
        cuts = [slice(at, min(n, at + ROWS_AT_ONCE)) for at in range(0, n, ROWS_AT_ONCE)]
        runs = [Pass(self, rows.stop - rows.start, theta.dtype) for rows in cuts]
        z = np.concatenate(
            [run.forward(X[rows], theta) for run, rows in zip(runs, cuts, strict=True)]
        )

        def pullback(slope: Array) -> Array:
            total = np.zeros(self.n_parameters, dtype=theta.dtype)
            part = np.empty_like(total)
            for run, rows in zip(runs, cuts, strict=True):
                run.backward(slope[rows].copy(), theta, part)
                total += part
            return total

        return z, pullback

    def shaped(self, outputs: Array) -> Array:
        """Outputs of the last layer as z: 1-D unless there are several."""
        return outputs if self.n_outputs else outputs[:, 0]

    def parts(self, theta: Array) -> Iterator[tuple[Layer, Array, Array]]:
        """Each layer with its weights and free parameters, flat views of θ."""
        weights, free = self.split(theta)
        for layer, w, f in zip(self.layers, self.chain.weights, self.chain.free, strict=True):
            yield layer, weights[w], free[f]


class Pass:
    """Forward and backward passes of a predictor with buffers that are used again."""

    def __init__(self, predictor: NetworkPredictor, n_rows: int, dtype: Any) -> None:
        self.predictor = predictor
        self.run = predictor.chain.run(n_rows, dtype)

    def forward(
        self,
        X: Matrix,
        theta: Array,
        random: np.random.Generator | None = None,
        row_weights: Array | None = None,
    ) -> Array:
        """z; with `random`, as in training on rows of these weights."""
        split = self.predictor.split(theta)
        return self.predictor.shaped(self.run.forward(X, *split, random, row_weights))

    def backward(
        self,
        slope: Array,
        theta: Array,
        into: Array,
        inside: Mapping[int, Array] | None = None,
    ) -> None:
        """Write Σ_i ∂z_i/∂θ · slope_i of the last forward pass; `slope` is overwritten.

        `inside` holds slopes at the outputs of hidden layers, by their number.
        """
        slope = slope if self.predictor.n_outputs else slope[:, None]
        split = self.predictor.split
        self.run.backward(slope, *split(theta), *split(into), inside=inside)
