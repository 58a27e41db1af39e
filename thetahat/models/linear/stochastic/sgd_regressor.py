"""Linear regression by stochastic gradient descent, with any loss."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from thetahat.data.extremes import require_squares_of_target
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.estimator.batches import batch_after
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.linear import OneTargetRegressor
from thetahat.estimator.watching import with_callbacks
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.base import Targets
from thetahat.mathematics.losses.links import Link
from thetahat.mathematics.losses.targets import check_source_targets
from thetahat.models.linear.stochastic.stochastic import Stochastic
from thetahat.models.linear.stochastic.stochastic_parameters import (
    ScheduleParameters,
    StochasticParameters,
)


@with_parameters
class SGDRegressor(ScheduleParameters, StochasticParameters, Stochastic, OneTargetRegressor):
    """Linear regression fitted by stochastic gradient descent (SGD).

    Formula: θ̂ ≈ argmin (1/n) Σ wᵢ ℓ(yᵢ, xᵢᵀβ + b) + α((1 − ρ)/2·‖β‖² + ρ‖β‖₁), by the steps θ ← θ
    − η_t ∂(wᵢ ℓᵢ + R) on one row at a time. The fit stops when the mean loss of an epoch has not
    improved by `tol` for `n_iter_no_change` epochs in a row.

    The rows may be in memory, in a file, or arrive in batches (see `partial_fit`). Scale the
    columns to similar ranges first; otherwise the steps may diverge, which a warning or an error
    reports.

    Cost: O(non-zero entries of X) per epoch and O(d) memory.

    Rows in memory are shuffled as a whole; rows of a `Source` are shuffled within each block, with
    one pass over the file per epoch. The coefficients from a file therefore differ from those in
    memory as they do between two seeds; with ``shuffle=False`` they agree up to rounding.

    Parameters
    ----------
    loss : str or Loss, default="squared_error"
        Loss to minimise: "squared_error", "huber", "epsilon_insensitive",
        "squared_epsilon_insensitive" (these three use `epsilon`), or any other loss of this
        library, including your own ``th.loss(function)``. Losses other than the named ones run in
        Python and are about a hundred times slower.
    learning_rate : str, default="invscaling"
        Learning rate schedule (η_t at step t):

        - "constant": η_t = eta0.
        - "optimal": η_t = 1/(α(t₀ + t − 1)), with t₀ chosen from the loss and `alpha`.
        - "invscaling": η_t = eta0 / t^power_t.
        - "adaptive": eta0, divided by 5 whenever the epochs stop improving.
        - "pa1", "pa2": passive-aggressive steps; only for ``loss="epsilon_insensitive"``.
    early_stopping : bool, default=False
        Whether to stop when the score on held-out rows no longer improves. If True, the share
        `validation_fraction` of the training rows is held out, and the epochs are compared by R² on
        these rows.

    Attributes
    ----------
    intercept_ : array of shape (1,)
        Estimated intercept (b̂); 0 if ``fit_intercept=False``.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.linspace(-1, 1, 200)[:, None]
    >>> model = th.SGDRegressor(alpha=0.0, tol=1e-6, random_state=0).fit(X, 3 * X[:, 0] + 1)
    >>> np.round([model.coef_[0], model.intercept_[0]], 1).tolist()
    [3.0, 1.0]
    """

    _: KW_ONLY
    learning_rate: str = "invscaling"
    power_t: float = 0.25

    _passive_aggressive_loss = "epsilon_insensitive"

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> SGDRegressor:
        self._check_parameters()
        source = self._open_targets(X, y, sample_weight)
        walks = self._new_walks(1, source.n_features, coef_init, intercept_init, jointly=False)
        self.t_ = 1.0
        self._descend(source, walks, _as_double, X, y)
        return self

    @with_callbacks
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SGDRegressor:
        """Run one epoch of stochastic gradient descent on the given rows.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to learn from, with the same columns in every call.
        y : array-like of shape (n,), optional
            Target values. Leave it out if X is a `Source`.
        sample_weight : array-like of shape (n,), optional
            Row weights: the loss of each row is multiplied by its weight. Rows of weight 0 are
            ignored. None gives every row weight 1.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._check_parameters(resuming=True)
        resuming = hasattr(self, "_last_iterate")
        with batch_after(self, X, first=not resuming):
            source = self._open_targets(X, y, sample_weight)
        if resuming:
            walks = self._resumed_walks(jointly=False)
        else:
            walks, self.t_ = self._new_walks(1, source.n_features, None, None, jointly=False), 1.0
        self._descend(source, walks, _as_double, X, y, epochs=1)
        return self

    def predict(self, X: Any) -> Array:
        """Predict the target. Cost: O(n d).

        The prediction is Xβ + b, transformed by the link of the loss if it has one.

        Returns
        -------
        y : array of shape (n,)
            Predicted values.
        """
        z = self._raw(X)
        return z if self.loss_.link is Link.IDENTITY else self.loss_.mean(z)

    def _open_targets(self, X: Any, y: Any, sample_weight: Any) -> Source:
        loss, who = self._parts()[0], type(self).__name__
        if loss.columns != "one":
            raise ParameterError(
                f"{who}: {type(loss).__name__} is a loss for classes. Use SGDClassifier for labels."
            )
        source = self._open(X, y, sample_weight, check_finite=self._checks_finite)
        require_squares_of_target(source, who=who)
        if loss.targets is Targets.REAL and isinstance(source, InMemory):
            return source  # _open has checked that they are numbers
        check_source_targets(loss, source, who=who)
        return source

    def _attributes_of(self, theta: Array, dtype: Any) -> dict[str, Array]:
        return {"coef_": theta[:-1, 0].astype(dtype), "intercept_": theta[-1].astype(dtype)}

    def _score_of(self, y: Array, z: Array, weight: Array | None) -> float:
        """R² of the predictions."""
        from sklearn.metrics import r2_score

        return float(r2_score(y, self.loss_.mean(z), sample_weight=weight))


def _as_double(number: int, y: Array) -> Array:
    return np.ascontiguousarray(y, dtype=np.float64)
