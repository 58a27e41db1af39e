"""A network as a value: layers, their parameters, outputs and gradients."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from thetahat.data.validation import as_numbers, is_sparse
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.foundation.randomness import RandomState, generator
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.losses import named
from thetahat.mathematics.losses.base import Loss, Subdifferentiable, Targets
from thetahat.mathematics.losses.per_output import per_output
from thetahat.mathematics.losses.targets import check_targets
from thetahat.mathematics.parts import require_whole
from thetahat.models.neural.graph import NetworkGraph
from thetahat.models.neural.torch_modules import as_torch
from thetahat.objective.network.dense import Dense
from thetahat.objective.network.layer import Layer, as_layers
from thetahat.objective.network.predictor import NetworkPredictor, Pass


@dataclass(frozen=True)
class Network:
    """A network: a chain of layers with their parameters, as a function of rows.

    Formula: f(x) = (f_L ∘ … ∘ f_1)(x), for dense layers f_l(x) = σ(W_lᵀx + b_l). A network is
    immutable. It can be evaluated, differentiated and plotted; `MLPRegressor` and `MLPClassifier`
    train one. Cost: O(n p) for n rows and p weights.

    Parameters
    ----------
    n_inputs : int
        Number of inputs. Must be at least 1.
    layers : sequence of Layer
        The layers, from the inputs to the outputs. Each takes the outputs of the one before.
    random_state : int, Generator or None, default=0
        Seed of the initial parameters, which the layers draw by their rule.
    parameters : array of shape (n_parameters,), optional
        The weights of all layers, then their intercepts, flat. By default they are drawn.

    Examples
    --------
    Exclusive-or by steps, which no linear function computes:

    >>> import numpy as np
    >>> import thetahat as th
    >>> step = th.activations.Step(at_zero=1)
    >>> network = th.neural.Network(2, [th.neural.Dense(2, step), th.neural.Dense(1, step)])
    >>> xor = network.with_weights([
    ...     ([[1.0, 1.0], [1.0, 1.0]], [-1.5, -0.5]),
    ...     ([[-1.0], [1.0]], [-0.5]),
    ... ])
    >>> xor(np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])).ravel()
    array([0., 1., 1., 0.])
    """

    n_inputs: int
    layers: Sequence[Layer]
    random_state: RandomState = field(default=0, compare=False)
    parameters: Any = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        require_whole(self, "n_inputs", at_least=1)  # type: ignore[arg-type]
        object.__setattr__(self, "layers", as_layers(self.layers, "Network", least=1))
        size = self._predictor.n_parameters
        if self.parameters is None:
            theta = self._predictor.draw(generator(self.random_state))
        else:
            theta = np.array(as_numbers(self.parameters, "parameters", "Network"), np.float64)
            if theta.shape != (size,):
                raise ParameterError(
                    f"Network: parameters has shape {theta.shape}, but these layers have {size} "
                    "parameters. Pass a flat array of that size, or use with_weights."
                )
        theta.flags.writeable = False
        object.__setattr__(self, "parameters", theta)

    @property
    def _predictor(self) -> NetworkPredictor:
        last = NetworkPredictor(tuple(self.layers), self.n_inputs).chain.widths[-1]
        return NetworkPredictor(tuple(self.layers), self.n_inputs, last)

    @property
    def n_outputs(self) -> int:
        """The number of outputs of the last layer."""
        return self._predictor.n_outputs

    @property
    def weights(self) -> list[tuple[Array, Array]]:
        """The weights and intercepts of each dense layer, in order."""
        chain, found = self._predictor.chain, []
        for n, (layer, weights, free) in zip(
            chain.widths, self._predictor.parts(self.parameters), strict=False
        ):
            if isinstance(layer, Dense):
                found.append((weights.reshape(n, -1), free))
        return found

    def with_weights(self, weights: Iterable[tuple[Any, Any]]) -> Network:
        """Return the network with other weights and intercepts of its dense layers.

        Cost: O(number of parameters).

        Parameters
        ----------
        weights : sequence of (W, b) pairs
            For each dense layer the weights of shape (inputs, units) and the intercepts of shape
            (units,).

        Returns
        -------
        Network
            A network with the same layers.
        """
        theta, given = self.parameters.copy(), list(weights)
        chain, dense = self._predictor.chain, 0
        for n, (layer, to_weights, to_free) in zip(
            chain.widths, self._predictor.parts(theta), strict=False
        ):
            if not isinstance(layer, Dense):
                continue
            if dense < len(given):
                W, b = _pair(given[dense], dense)
                if W.shape != (n, layer.units) or b.shape != (layer.units,):
                    raise DataError(
                        f"Network.with_weights: dense layer {dense} needs weights of shape "
                        f"{(n, layer.units)} and intercepts of shape {(layer.units,)}, but they "
                        f"have {W.shape} and {b.shape}. Pass a pair (W, b) of these shapes."
                    )
                to_weights[:], to_free[:] = W.reshape(-1), b
            dense += 1
        if dense != len(given):
            raise DataError(
                f"Network.with_weights: the network has {dense} dense "
                f"{'layer' if dense == 1 else 'layers'}, but {len(given)} "
                f"{'pair' if len(given) == 1 else 'pairs'} of weights and intercepts "
                f"{'is' if len(given) == 1 else 'are'} given. Pass one pair for each."
            )
        return replace(self, parameters=theta)

    def __call__(self, X: Any) -> Array:
        """Compute the outputs of the network, of shape (n, n_outputs)."""
        return self.activations(X)[-1]

    def activations(self, X: Any) -> list[Array]:
        """Compute the outputs of every layer. Cost: O(n p) for p weights.

        Parameters
        ----------
        X : array-like of shape (n, n_inputs)
            Rows of inputs of the network.

        Returns
        -------
        list of arrays
            The outputs of the layers, from the first to the last, of shape (n, units).
        """
        rows = self._rows(X)
        run = Pass(self._predictor, max(1, len(rows)), np.float64)
        with one_blas_thread():
            run.forward(rows, self.parameters)
        return run.run.outputs

    def gradient(self, X: Any, y: Any, loss: str | Loss = "squared") -> tuple[float, Network]:
        """Compute the mean loss, and its derivatives by backpropagation. Cost: O(n p).

        Formula: δ_L = ∂ℓ/∂f, δ_{l−1} = (W_l δ_l) ∘ σ′, ∂F/∂W_l = Σᵢ x_l δ_lᵀ/n.

        Parameters
        ----------
        X : array-like of shape (n, n_inputs)
            Rows of inputs of the network.
        y : array-like of shape (n,) or (n, n_outputs)
            The targets of the loss.
        loss : str or Loss, default="squared"
            The loss of one row. Losses of one output are added over the outputs.

        Returns
        -------
        value : float
            The mean loss over the rows.
        slopes : Network
            A network whose weights are the derivatives of the mean loss.
        """
        rows, chosen = self._rows(X), named(loss)
        if not isinstance(chosen, Subdifferentiable):
            raise CapabilityError(
                f"Network.gradient: {type(chosen).__name__} has no derivative. Use a loss with one."
            )
        predictor, given = self._predictor, as_numbers(y, "y", "Network.gradient")
        targets = given.astype(np.float64, copy=False)
        if targets.ndim == 0 or len(targets) != len(rows):
            raise DataError(
                f"Network.gradient: X has {len(rows)} rows, but y has {np.size(targets)}. Pass "
                "one target per row."
            )
        check_targets(chosen, targets, who="Network.gradient")
        if chosen.columns == "one":
            chosen = per_output(chosen)
            if targets.size != len(rows) * self.n_outputs:
                raise DataError(
                    f"Network.gradient: y has shape {targets.shape}, but the network has "
                    f"{self.n_outputs} {'output' if self.n_outputs == 1 else 'outputs'} for each "
                    f"of {len(rows)} rows. Pass one target for each output of each row."
                )
            targets = targets.reshape(len(rows), -1)
        elif chosen.targets is Targets.CLASSES:
            last = 2 * self.n_outputs - chosen.n_scores(self.n_outputs) - 1
            if targets.ndim != 1 or targets.max() > last:
                raise DataError(
                    f"Network.gradient: {type(chosen).__name__} loss needs one class from 0 to "
                    f"{last} for each row, because the network has {self.n_outputs} "
                    f"{'output' if self.n_outputs == 1 else 'outputs'}, but y has shape "
                    f"{targets.shape} and values up to {targets.max():g}. Number the "
                    "classes, or change the units of the last layer."
                )
        run, into = Pass(predictor, len(rows), np.float64), np.empty_like(self.parameters)
        with one_blas_thread():
            z = run.forward(rows, self.parameters)
            value, slope = chosen.value_and_gradient(targets, z)
            run.backward(slope / len(rows), self.parameters, into)
        return float(value.mean()), replace(self, parameters=into)

    def to_torch(self) -> Any:
        """Convert the network into a module of torch. Cost: O(number of weights).

        Returns
        -------
        torch.nn.Sequential
            A module in evaluation mode with copies of the weights in float64, on the CPU.
        """
        return as_torch(self._predictor, self.parameters, "Network")

    def graph(self, bias: bool = False) -> NetworkGraph:
        """Return the graph of a network of dense layers: nodes are variables, edges weights.

        Cost: O(number of weights).

        Parameters
        ----------
        bias : bool, default=False
            Whether to add a node for the constant 1 of each layer, with the intercepts as edges.

        Returns
        -------
        NetworkGraph
        """
        for layer in self.layers:
            if not isinstance(layer, Dense):
                raise CapabilityError(
                    f"Network.graph needs dense layers only, but a layer is {layer!r}. Leave it "
                    "out, or draw the network that `weights` describes."
                )
        nodes: list[tuple[int, int | str]] = [(0, i) for i in range(self.n_inputs)]
        edges: list[tuple[tuple[int, int | str], tuple[int, int | str], float]] = []
        for number, (W, b) in enumerate(self.weights):
            units: list[tuple[int, int | str]] = [(number + 1, j) for j in range(W.shape[1])]
            edges += [((number, i), units[j], float(W[i, j])) for i, j in np.ndindex(*W.shape)]
            if bias:
                nodes.append((number, "bias"))
                edges += [((number, "bias"), units[j], float(b[j])) for j in range(len(b))]
            nodes += units
        return NetworkGraph(tuple(nodes), tuple(edges))

    def _rows(self, X: Any) -> Array:
        given = as_numbers(X.toarray() if is_sparse(X) else X, "X", "Network")
        rows = given.astype(np.float64, copy=False)
        if rows.ndim != 2 or rows.shape[1] != self.n_inputs or not len(rows):
            raise DataError(
                f"Network: X has shape {rows.shape}, but the network needs rows of "
                f"{self.n_inputs} numbers. Pass an array of shape (n, {self.n_inputs})."
            )
        if not np.isfinite(rows).all():
            raise DataError("Network: X contains NaN or infinity. Replace these values first.")
        return rows


def _pair(given: Any, dense: int) -> tuple[Array, Array]:
    """The weights and the intercepts of a dense layer."""
    who = "Network.with_weights"
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise DataError(
            f"{who}: dense layer {dense} needs a pair of weights and intercepts, but it has a "
            f"{type(given).__name__}. Pass one pair (W, b) for each layer."
        )
    W, b = as_numbers(given[0], "W", who), as_numbers(given[1], "b", who)
    if not (np.isfinite(W).all() and np.isfinite(b).all()):
        raise DataError(
            f"{who}: the weights or intercepts of dense layer {dense} contain NaN or infinity. "
            "Replace these values first."
        )
    return W, b
