"""The multilayer perceptron for numbers: f(x) = W_Lᵀσ(… σ(W₀ᵀx + b₀) …) + b_L with any loss."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from thetahat.data.extremes import require_squares_of_target
from thetahat.data.source import Source
from thetahat.data.views import with_one_target
from thetahat.estimator.batches import batch_after
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.source_scores import ScoredRegressor
from thetahat.estimator.watching import with_callbacks
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.losses import named
from thetahat.mathematics.losses.base import Loss, Subdifferentiable, Targets
from thetahat.mathematics.losses.per_output import per_output
from thetahat.mathematics.losses.targets import check_source_targets
from thetahat.models.neural.network_model import Head
from thetahat.models.neural.parameters import LossOfNumbers
from thetahat.models.neural.placement import on_host
from thetahat.models.neural.trained_network import TrainedNetwork, takes_batches


@with_parameters
class MLPRegressor(ScoredRegressor, TrainedNetwork, LossOfNumbers):
    """A multilayer perceptron that predicts numbers, with any loss.

    Formula: f(x) = W_Lᵀx_L + b_L with x_0 = x and x_{l+1} = σ(W_lᵀx_l + b_l), fitted by
    Ŵ, b̂ = argmin (Σ wᵢ ℓ(yᵢ, f(xᵢ)))/(Σ wᵢ) + α/(2n)·Σ_l ‖W_l‖². The gradient is computed by
    backpropagation. The objective is not convex: a fit finds a local minimum that depends on the
    initial weights.

    Cost: O(n p) per epoch for n rows and p weights; memory for the weights, twice as much for the
    averages of "adam", and for the outputs of all layers of one batch.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> x = np.linspace(-3, 3, 200)[:, None]
    >>> y = np.sin(x).ravel()
    >>> model = th.MLPRegressor(hidden_layer_sizes=20, activation="tanh", solver="lbfgs",
    ...                         max_iter=1000, alpha=0.0, random_state=0)
    >>> bool(model.fit(x, y).score(x, y) > 0.999)
    True
    """

    _everyday = "small network"
    _multi_output = True
    _accepts_devices = True

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MLPRegressor:
        """Fit the network.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Training rows. Columns of similar size are learned faster.
        y : array-like of shape (n,) or (n, n_targets), optional
            Target values. Leave it out if X is a `Source`.
        sample_weight : array-like of shape (n,), optional
            Row weights: the loss of each row is multiplied by its weight. None gives every row
            weight 1.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        source, head = self._open_targets(X, y, sample_weight)
        self._check_combinations()
        self._train(source, head, X, y)
        return self

    @available_if(takes_batches)
    @with_callbacks
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MLPRegressor:
        """Run one epoch of steps on the given rows. Not available for "lbfgs".

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to learn from, with the same columns in every call.
        y : array-like of shape (n,) or (n, n_targets), optional
            Target values. Leave it out if X is a `Source`.
        sample_weight : array-like of shape (n,), optional
            Row weights: the loss of each row is multiplied by its weight. None gives every row
            weight 1.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._check_combinations(resuming=True)
        with batch_after(self, X, first=not self.__sklearn_is_fitted__()):
            source, head = self._open_targets(X, y, sample_weight)
        self._train(source, head, X, y, resuming=True)
        return self

    def _open_targets(self, X: Any, y: Any, sample_weight: Any) -> tuple[Source, Head]:
        loss, who = self._head(0).loss, type(self).__name__
        y, sample_weight = on_host(X, y, sample_weight, who)
        if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1 and not hasattr(y, "toarray"):
            y = np.asarray(y)[:, 0]
        source = self._open(X, y, sample_weight)
        if source.n_outputs == 1:  # a list of lists, a table, or a source with a list of columns
            source = with_one_target(source, who)
        require_squares_of_target(source, who=who)
        if loss.targets is not Targets.REAL:
            check_source_targets(loss, source, who=who)
        return source, self._head(source.n_outputs)

    def _head(self, several: int) -> Head:
        """The loss of this many targets; 0 if the target is 1-D."""
        loss, who = named(self.loss), type(self).__name__
        if loss.columns != "one":
            raise ParameterError(
                f"{who}: {type(loss).__name__} is a loss for classes. Use MLPClassifier for labels."
            )
        if not isinstance(loss, Subdifferentiable):
            raise CapabilityError(
                f"{who}: {type(loss).__name__} has no derivative, which training needs. Use a "
                "loss with a gradient, such as 'squared_error' or 'huber'."
            )
        return Head(per_output(loss) if several else loss, several)

    def predict(self, X: Any) -> Array:
        """Predict the target: the output of the network through the link of the loss.

        Cost: O(n p) for p weights.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to predict.

        Returns
        -------
        y : array of shape (n,) or (n, n_targets)
            Predicted values.
        """
        z = self._raw(X)
        return self.loss_function_.mean(z)

    def _held_out_score(self, loss: Loss, y: Array, z: Array, weight: Array | None) -> float:
        """R² of the predictions."""
        from sklearn.metrics import r2_score

        means = loss.mean(z)
        if not np.isfinite(means).all():
            return float("nan")
        return float(r2_score(y, means, sample_weight=weight))
