"""Shared by autoencoders: a network of mirrored layers that reproduces its inputs.

min Σ wᵢ ℓ(xᵢ, g(f(xᵢ))) over an encoder f from d columns to k codes and a decoder g back.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.data.extremes import require_squares_of_rows
from thetahat.data.source import Block, Source
from thetahat.data.summaries.frame import dense_rows
from thetahat.data.summaries.means import means
from thetahat.data.validation import as_source
from thetahat.data.views import View
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import whole
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.types import Array
from thetahat.mathematics.activations import named as named_activation
from thetahat.mathematics.losses import named
from thetahat.mathematics.losses.base import Loss, Subdifferentiable, Targets
from thetahat.mathematics.losses.per_output import per_output
from thetahat.mathematics.losses.targets import check_targets
from thetahat.models.neural.network_model import Head
from thetahat.models.neural.parameters import NetworkParameters
from thetahat.models.neural.trained_network import TrainedNetwork
from thetahat.objective.network.dense import Dense
from thetahat.objective.network.elementwise import Dropout
from thetahat.objective.network.layer import Layer
from thetahat.objective.network.predictor import NetworkPredictor


@with_parameters
class AutoencoderModel(TrainedNetwork):
    """A network of an encoder and a decoder, trained to reproduce its inputs.

    Parameters
    ----------
    n_components : int, default=2
        Number of units of the middle layer, whose outputs are the code of a row (k). More units
        reconstruct the rows better and compress them less. Must be at least 1.
    hidden_layer_sizes : int or sequence, default=(100,)
        Number of units of each layer between the inputs and the code. The decoder has the same
        layers in the opposite order. An empty sequence gives an encoder of one layer.
    code_activation : str or Activation, default="identity"
        The function of the units of the middle layer, as in `activation`.
    loss : str or Loss, default="squared_error"
        The loss of one number of a row and its reconstruction (ℓ), as in `MLPRegressor`. The losses
        of all columns are added. "log_loss" suits columns of 0 and 1.

    Attributes
    ----------
    n_components_ : int
        Number of units of the code.
    """

    n_components: int = 2
    _: KW_ONLY
    hidden_layer_sizes: Any = (100,)
    activation: Any = "relu"
    code_activation: Any = "identity"
    loss: Any = "squared_error"

    _ranges = NetworkParameters._ranges | {"n_components": whole(1)}
    _generative = None  # type: ignore[assignment]
    _parametric = None  # type: ignore[assignment]

    @classmethod
    def _example(cls) -> Any:
        """A small network that a few epochs fit."""
        small: dict[str, Any] = {"hidden_layer_sizes": (10,), "activation": "tanh"}
        return cls(learning_rate_init=0.02, tol=0.01, n_iter_no_change=2, **small)

    # The network.

    def _layers(self, n_outputs: int) -> tuple[Layer, ...]:
        """The encoder, and its layers in the opposite order."""
        who, hidden = type(self).__name__, super()._layers(1)[:-1]
        back: list[Layer] = []
        for layer in reversed(hidden):
            if isinstance(layer, Dense):
                back.append(Dense(layer.units, layer.function, self.initialisation))
                if self.dropout > 0:
                    back.append(Dropout(float(self.dropout)))
        if len(back) != len(hidden):
            raise ParameterError(
                f"{who}: hidden_layer_sizes={self.hidden_layer_sizes!r} must have numbers of units "
                "only, because the decoder has the same layers in the opposite order. Leave other "
                "layers out; the parameter dropout adds dropout after each layer."
            )
        if not named_activation(self.code_activation).differentiable:
            raise ParameterError(
                f"{who}: code_activation={self.code_activation!r} has a derivative of 0 "
                "everywhere, so that gradients cannot train the network. Use 'logistic'."
            )
        code = Dense(int(self.n_components), self.code_activation, self.initialisation)
        last = Dense(n_outputs, self._output_function(), self.initialisation)
        return (*hidden, code, *back, last)

    def _output_function(self) -> Any:
        """The function of the units of the output layer."""
        return "identity"

    @property
    def _code_depth(self) -> int:
        """The number of layers up to the code."""
        return len(self.layers_) // 2

    # The fit.

    def _open_rows(self, X: Any, sample_weight: Any) -> tuple[Source, Head]:
        """The rows as their own targets, and the loss of all columns."""
        loss, who = named(self.loss), type(self).__name__
        if loss.columns != "one" or loss.targets is Targets.SIGNS:
            raise ParameterError(
                f"{who}: {type(loss).__name__} is a loss for classes. Use 'squared_error', or "
                "another loss for numbers."
            )
        if not isinstance(loss, Subdifferentiable):
            raise CapabilityError(
                f"{who}: {type(loss).__name__} has no derivative, which training needs. Use "
                "'squared_error' or 'huber'."
            )
        source = self._open(X, None, sample_weight, supervised=False)
        require_squares_of_rows(source, who=who)
        d = source.n_features
        if getattr(source, "is_sparse", False):
            require_memory(
                source.n_rows * d * np.dtype(source.dtype).itemsize,
                f"{who}: {source.n_rows} dense rows of {d} columns as the target",
                "Use fewer rows or columns.",
            )
        target = View.of(source, _rows_as_targets, n_outputs=d, has_target=True, labels=None)
        if loss.targets is not Targets.REAL:
            for block in target.blocks():
                check_targets(loss, block.targets.ravel(), who=who, start=block.start)
        return target, Head(per_output(loss), d)

    def _held_out_score(self, loss: Loss, y: Array, z: Array, weight: Array | None) -> float:
        """The share of the variance that the reconstruction explains."""
        error = ((y - loss.mean(z)) ** 2).sum(axis=1)
        mean = np.average(y.astype(np.float64, copy=False), axis=0, weights=weight)
        return _explained_share(error, ((y - mean) ** 2).sum(axis=1), weight, mean)

    # Codes and reconstructions.

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def transform(self, X: Any, layer: int | None = None) -> Any:
        """Compute the code of each row: the outputs of the middle layer.

        Cost: that of the layers up to it.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to encode.
        layer : int or None, default=None
            Number of another hidden layer, from 0, without those of dropout; None is the middle
            one.

        Returns
        -------
        codes : array of shape (n, n_components)
            The outputs of that layer. A `Source` with a target gives a `Source`.
        """
        check_is_fitted(self)
        return self._hidden_outputs(X, self._code_depth if layer is None else self._depth(layer))

    def inverse_transform(self, X: Any) -> Array:
        """Compute the rows that the decoder makes of codes. Cost: that of the decoder.

        Parameters
        ----------
        X : array-like or table of shape (n, n_components)
            Codes, as returned by `transform`.

        Returns
        -------
        rows : array of shape (n, d)
            The reconstructions, in the original columns.
        """
        check_is_fitted(self)
        who, width = f"{type(self).__name__}.inverse_transform", self._n_features_out
        source = as_source(X, who=who, accept_sparse=False)
        if source.n_features != width:
            raise DataError(
                f"{who}: X has {source.n_features} columns, but transform returns {width}. Pass "
                "the output of transform."
            )
        predictor, theta = self._decoder()
        mean = self.loss_function_.mean
        return source.map_rows(
            lambda block: mean(predictor.raw(block.X.astype(theta.dtype, copy=False), theta))
        )

    def _decoder(self) -> tuple[NetworkPredictor, Array]:
        """The layers above the code with their parameters."""
        parts = list(self._fitted_predictor().parts(self._theta()))[self._code_depth :]
        layers = tuple(layer for layer, _, _ in parts)
        predictor = NetworkPredictor(layers, self._n_features_out, self.n_outputs_)
        weights, free = [w for _, w, _ in parts], [f for _, _, f in parts]
        return predictor, np.concatenate([*weights, *free])

    def reconstruction_error(self, X: Any) -> Array:
        """Compute the squared distance of each row from its reconstruction.

        Formula: ‖x − g(f(x))‖². Rows that are unlike the training rows have large errors. Cost:
        O(n p) for p weights.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to encode and decode.

        Returns
        -------
        errors : array of shape (n,)
            One number ≥ 0 for each row.
        """
        check_is_fitted(self)
        return self._open_again(X).map_rows(self._errors)

    def _errors(self, block: Block) -> Array:
        theta, predictor = self._theta(), self._fitted_predictor()
        rows = dense_rows(block).astype(theta.dtype, copy=False)
        return ((rows - self.loss_function_.mean(predictor.raw(rows, theta))) ** 2).sum(axis=1)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Compute the share of the variance of the rows that the reconstructions explain.

        Formula: 1 − (Σ w‖x − g(f(x))‖²)/(Σ w‖x − x̄‖²). It is 1 for perfect reconstructions and 0
        for the mean. Cost: O(n p) for p weights.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to encode and decode.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.
        sample_weight : array-like of shape (n,), optional
            Row weights. None gives every row weight 1.

        Returns
        -------
        score : float
            The explained share, at most 1.
        """
        check_is_fitted(self)
        source = self._open_again(X)
        if sample_weight is not None:
            source = as_source(X, None, sample_weight, who=type(self).__name__, accept_sparse=True)
        mean = means(source).mean[: source.n_features]
        spread = source.map_rows(lambda b: ((dense_rows(b) - mean) ** 2).sum(axis=1))
        weight = source.map_rows(lambda block: block.row_weights)
        return _explained_share(source.map_rows(self._errors), spread, weight, mean)

    def pretrained_layers(self) -> tuple[Layer, ...]:
        """Return the layers of the encoder, which start from the fitted weights.

        They can be the hidden layers of another network, which is then trained further:
        ``th.MLPClassifier(hidden_layer_sizes=model.pretrained_layers())``. Cost: O(number of
        weights).

        Returns
        -------
        layers : tuple of Layer
            Dense layers from the inputs to the code.
        """
        check_is_fitted(self)
        dense = [layer for layer in self.layers_ if isinstance(layer, Dense)]
        kept = zip(dense, self.coefs_, self.intercepts_, strict=True)
        layers = [Dense(layer.units, layer.function, (W, b)) for layer, W, b in kept]
        return tuple(layers[: len(layers) // 2])


def _rows_as_targets(block: Block) -> Block:
    return replace(block, y=dense_rows(block))


def _explained_share(error: Array, spread: Array, weight: Array | None, mean: Array) -> float:
    """1 − Σ w·error/Σ w·spread. Constant columns differ from their mean by its rounding only."""
    lost, total = (float(np.average(each, weights=weight)) for each in (error, spread))
    if not np.isfinite(lost):
        return float("nan")
    rounding = (64 * np.finfo(np.float64).eps) ** 2 * float(mean @ mean)
    if total <= rounding:
        return 1.0 if lost <= rounding else 0.0
    return 1.0 - lost / total
