"""Shared by models with a network: its layers, predictions and hidden features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn import get_config
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from thetahat.data.arrays import is_device_array, namespace, to_host
from thetahat.data.source import Block
from thetahat.estimator.base import Estimator
from thetahat.estimator.distributed.transformed import transformed
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.types import Array
from thetahat.mathematics.activations import named as named_activation
from thetahat.mathematics.losses.base import Smooth, Subdifferentiable
from thetahat.models.neural.parameters import NetworkParameters
from thetahat.models.neural.placement import require_same_place
from thetahat.models.neural.torch_modules import as_torch
from thetahat.objective.network.dense import Dense
from thetahat.objective.network.elementwise import Activation, Dropout
from thetahat.objective.network.layer import Layer
from thetahat.objective.network.predictor import NetworkPredictor
from thetahat.objective.network.residual import Residual

Term = Callable[[Array, Array, np.random.Generator], float]
"""A further term of an objective: adds its gradient at θ, and returns its value."""


@dataclass(frozen=True)
class Head:
    """The loss of a network, and the outputs that it needs."""

    loss: Subdifferentiable
    n_outputs: int
    """Columns of z; 0 if z is 1-D."""
    stratify: bool = False


class NetworkModel(TransformerMixin, ClassNamePrefixFeaturesOutMixin, NetworkParameters, Estimator):
    """A network of layers with a loss.

    Attributes
    ----------
    coefs_ : list of arrays
        The weights of each layer, of shape (inputs, units).
    intercepts_ : list of arrays
        The intercepts of each layer, of shape (units,).
    layers_ : tuple of Layer
        The layers of the network, the output layer included.
    n_layers_ : int
        Number of layers, the inputs and the output included.
    n_outputs_ : int
        Number of outputs of the network.
    out_activation_ : str
        Name of the function from the outputs to predictions.
    loss_function_ : Loss
        The loss that was minimised, as a function of target and output.
    """

    _generative = False
    _parametric = True
    _accepts_sparse = True
    _visits_rows_in_order = True

    loss: Any
    _smooth_loss: ClassVar[str] = "huber"
    """A smooth loss to suggest."""
    coefs_: list[Array]
    intercepts_: list[Array]
    layers_: tuple[Layer, ...]
    loss_function_: Any
    n_outputs_: int
    _several_labels: bool

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coefs_")

    # The network.

    def _layers(self, n_outputs: int) -> tuple[Layer, ...]:
        """The hidden layers and the output layer."""
        who, sizes = type(self).__name__, self.hidden_layer_sizes
        entries = list(np.atleast_1d(sizes)) if np.ndim(sizes) == 0 else list(sizes)
        numbers = [each for each in entries if not isinstance(each, Layer)]
        for each in numbers:
            whole = isinstance(each, int | np.integer) and not isinstance(each, bool)
            if not whole or each < 1:
                rule = "must be > 0" if whole else "must hold whole numbers or layers"
                raise ParameterError(
                    f"{who}: hidden_layer_sizes {rule}, but an entry is {each!r}. Give whole "
                    "numbers ≥ 1 or layers of th.neural; () has no hidden layer."
                )
        functions = self.activation
        if isinstance(functions, str) or not isinstance(functions, Sequence):
            functions = [functions] * len(numbers)
        if len(functions) != len(numbers):
            raise ParameterError(
                f"{who}: activation must have one entry for each number of units in "
                f"hidden_layer_sizes, which is {len(numbers)}, but it has {len(functions)}. Give "
                "one activation for each, or one for all."
            )
        for function in functions:
            self._require_slope(function)
        remaining, found = iter(functions), list[Layer]()
        for each in entries:
            if isinstance(each, Layer):
                self._require_slopes(each)
                found.append(each)
                continue
            found.append(Dense(int(each), next(remaining), self.initialisation))
            if self.dropout > 0:
                found.append(Dropout(float(self.dropout)))
        return (*found, Dense(max(1, n_outputs), "identity", self.initialisation))

    def _require_slope(self, function: Any) -> None:
        if not named_activation(function).differentiable:
            raise ParameterError(
                f"{type(self).__name__}: activation={function!r} has a derivative of 0 everywhere, "
                "so that gradients cannot train the network. Use 'logistic', or build the network "
                "with th.neural.Network."
            )

    def _require_slopes(self, layer: Layer) -> None:
        """The same for the activation of a layer, and of the layers in it."""
        if isinstance(layer, Dense | Activation):
            self._require_slope(layer.activation)
        for inner in layer.layers if isinstance(layer, Residual) else ():
            self._require_slopes(inner)

    def _predictor(
        self, head: Head, n_features: int, layers: tuple[Layer, ...] | None = None
    ) -> NetworkPredictor:
        """The network of these layers, or of those that the parameters describe."""
        layers = self._layers(head.n_outputs) if layers is None else layers
        predictor = NetworkPredictor(layers, n_features, head.n_outputs)
        size = predictor.n_parameters
        require_memory(
            8 * 6 * size,
            f"{type(self).__name__}: the weights of the network ({size:,} numbers) with their "
            "gradients and averages",
            "Use fewer or smaller hidden layers.",
        )
        if self.solver == "lbfgs" and predictor.depends_on_batch:
            raise CapabilityError(
                f"{type(self).__name__}: solver='lbfgs' needs a loss that is a fixed function of "
                "the weights, but dropout and batch normalisation change it from step to step. Use "
                "solver='adam', or leave these layers out."
            )
        if self.solver == "lbfgs" and not isinstance(head.loss, Smooth):
            raise CapabilityError(
                f"{type(self).__name__}: solver='lbfgs' needs a smooth loss, but "
                f"loss={self.loss!r} has a kink. Use solver='adam', or a smooth loss such as "
                f"{self._smooth_loss!r}."
            )
        return predictor

    def _require_same_network(
        self, predictor: NetworkPredictor, theta: Array, resuming: bool
    ) -> None:
        """The network whose weights θ a fit continues from must be the one of the parameters."""
        who, ours, theirs = type(self).__name__, predictor.layers, self.layers_
        if ours == theirs and theta.size == predictor.n_parameters:
            return
        if ours[:-1] != theirs[:-1]:
            what = f"the hidden layers {list(theirs[:-1])}, but the parameters give "
            what += f"{list(ours[:-1])}"
        elif ours != theirs:
            units = [_counted(layers[-1].n_outputs(1), "output") for layers in (theirs, ours)]
            what = f"{units[0]}, but y needs {units[1]}"
        else:
            what = f"another number of columns, but X has {predictor.n_features}"
        how = "partial_fit" if resuming else "warm_start=True"
        remedy = "Fit a new model" if resuming else "Set warm_start=False"
        raise DataError(
            f"{who}: {how} continues from the weights of the last fit, whose network has {what}, "
            f"so that the weights cannot be used. {remedy}, or pass what the last fit had."
        )

    def _attributes(self, theta: Array, predictor: NetworkPredictor, dtype: Any) -> dict[str, Any]:
        coefs, intercepts = [], []
        chain = predictor.chain
        for n_inputs, (layer, weights, free) in zip(
            chain.widths, predictor.parts(theta), strict=False
        ):
            if weights.shape[0]:
                shape = (n_inputs, -1) if isinstance(layer, Dense) else (-1,)
                coefs.append(_own(weights.reshape(shape), dtype))
            if free.shape[0]:
                intercepts.append(_own(free, dtype))
        return {"coefs_": coefs, "intercepts_": intercepts}

    # Predictions.

    def _theta(self) -> Array:
        """θ from the fitted weights and intercepts."""
        parts = [each.reshape(-1) for each in (*self.coefs_, *self.intercepts_)]
        return namespace(parts[0]).concat(parts)

    def _fitted_predictor(self) -> NetworkPredictor:
        several = self.n_outputs_ if self._several_outputs() else 0
        return NetworkPredictor(self.layers_, self.n_features_in_, several)

    def _several_outputs(self) -> bool:
        return self.n_outputs_ > 1 or self.loss_function_.columns != "one"

    def _outputs(self, depth: int) -> Callable[[Block], Array]:
        """The outputs of the first `depth` layers as a function of a block of rows.

        The weights are used where they are: a copy of all in one θ takes longer than a few rows.
        """
        predictor, pairs = self._fitted_predictor(), list[tuple[Array, Array]]()
        parts, dtype = [*self.coefs_, *self.intercepts_], self.coefs_[0].dtype
        if not is_device_array(parts[0]):  # users may have set other weights
            dtype = np.result_type(*parts)
            parts = [each.astype(dtype, copy=False) for each in parts]
        coefs, intercepts = iter(parts), iter(parts[len(self.coefs_) :])
        none = parts[0].reshape(-1)[:0]
        for layer, n in zip(predictor.layers, predictor.chain.widths, strict=False):
            weights = next(coefs).reshape(-1) if layer.n_weights(n) else none
            pairs.append((weights, next(intercepts) if layer.n_free(n) else none))

        def outputs(block: Block) -> Array:
            return predictor.outputs_of(_as_dtype(block, dtype), pairs[:depth], dtype)

        return outputs

    def _raw(self, X: Any) -> Array:
        """z of every row, in the precision of the weights."""
        check_is_fitted(self)
        require_same_place(X, self.coefs_[0], type(self).__name__)
        source, outputs = self._open_again(X), self._outputs(len(self.layers_))
        z = source.map_rows(outputs)
        return z if self._several_outputs() else z[:, 0]

    def transform(self, X: Any, layer: int = -1) -> Any:
        """Compute the outputs of a hidden layer: features that the network has learned.

        The output layer is a linear model of the last hidden layer, φ(x), which any other model can
        use as well. Cost: that of the layers up to it.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to transform.
        layer : int, default=-1
            Number of the hidden layer, from 0; −1 is the last one. Dropout layers, which
            predictions leave out, are not counted.

        Returns
        -------
        features : array of shape (n, units)
            The outputs of that layer. A `Source` with a target gives a `Source`.
        """
        check_is_fitted(self)
        return self._hidden_outputs(X, self._depth(layer))

    def _hidden_outputs(self, X: Any, depth: int) -> Any:
        """The outputs of the first `depth` layers."""
        who = type(self).__name__
        require_same_place(X, self.coefs_[0], who)
        width = self._fitted_predictor().chain.widths[depth]
        own = self.__dict__.get("_sklearn_output_config", {})  # where set_output keeps it
        wanted = own.get("transform", get_config()["transform_output"])
        if wanted != "default" and width != self._n_features_out:
            raise CapabilityError(
                f"{who}.transform: set_output(transform={wanted!r}) names the "
                f"{self._n_features_out} columns of the default layer, but this layer has {width}. "
                'Use set_output(transform="default") for other layers.'
            )
        return transformed(self, self._open_again(X), self._outputs(depth), width)

    def to_torch(self) -> Any:
        """Convert the network into a module of torch, which computes the outputs before the link.

        Cost: O(number of weights).

        Returns
        -------
        torch.nn.Sequential
            A module in evaluation mode with copies of the weights, in their dtype, on the CPU.
        """
        check_is_fitted(self)
        theta = np.asarray(to_host(self._theta()))
        return as_torch(self._fitted_predictor(), theta, type(self).__name__)

    def _depth(self, layer: int) -> int:
        """The number of layers up to hidden layer `layer`."""
        who, depths = type(self).__name__, range(1, len(self.layers_))
        hidden = [depth for depth in depths if not isinstance(self.layers_[depth - 1], Dropout)]
        count = len(hidden)
        if not count:
            raise ParameterError(
                f"{who}.transform: the network has no hidden layer, whose outputs it could return. "
                "Give hidden_layer_sizes at least one layer."
            )
        whole = isinstance(layer, int | np.integer) and not isinstance(layer, bool)
        if not whole or not -count <= layer < count:
            raise ParameterError(
                f"{who}.transform: layer={layer!r} must be a whole number from {-count} to "
                f"{count - 1}, because the network has {count} hidden "
                f"{'layer' if count == 1 else 'layers'}."
            )
        return hidden[layer]

    @property
    def _n_features_out(self) -> int:
        return self._fitted_predictor().chain.widths[-2]


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _own(part: Array, dtype: Any) -> Array:
    """A copy; that of a NumPy array has this dtype."""
    if type(part) is np.ndarray:
        return part.astype(dtype)
    return namespace(part).asarray(part, copy=True)


def _as_dtype(block: Block, dtype: Any) -> Any:
    return block.X if block.X.dtype == dtype else block.X.astype(dtype)
