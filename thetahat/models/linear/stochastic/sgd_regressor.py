"""Linear regression by single-row steps: scikit-learn's SGDRegressor, with any loss."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.callback import with_callbacks

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.estimator.linear import LinearRegressor
from thetahat.estimator.stochastic import RANGES, SCHEDULE_RANGES, Stochastic
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.base import Targets
from thetahat.mathematics.losses.links import Link
from thetahat.mathematics.losses.targets import check_targets


class SGDRegressor(Stochastic, LinearRegressor):
    """A linear function fitted one row at a time, in memory, from a file, or as rows arrive.

    Formula: θ̂ ≈ argmin (1/n) Σ wᵢ ℓ(yᵢ, xᵢᵀβ + b) + α((1 − ρ)/2·‖β‖² + ρ‖β‖₁) by the steps
    θ ← θ − η_t ∂(wᵢ ℓᵢ + R). It stops when the mean loss of an epoch has not fallen by `tol` for
    `n_iter_no_change` epochs. Columns should be of like scale; steps that diverge are refused with
    a message.

    Cost: O(entries of X) per epoch and O(d) memory. Rows in memory are shuffled as a whole, rows of
    a `Source` within each block, which is one pass over the file per epoch.

    Parameters
    ----------
    loss : str or Loss, default="squared_error"
        "squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive" (with
        `epsilon`), or any loss of the library, ``th.loss(function)`` too. Those other than the
        standard ones step in Python, some hundred times slower.
    penalty : {"l2", "l1", "elasticnet"} or None, default="l2"
        R.
    alpha : float, default=0.0001
        Its strength; also the rate of the "optimal" schedule.
    l1_ratio : float, default=0.15
        ρ of the elastic net.
    fit_intercept : bool, default=True
        Whether b is fitted; it is never penalised.
    max_iter : int, default=1000
        Most epochs.
    tol : float or None, default=1e-3
        Improvement of the mean loss that counts; None runs all epochs.
    shuffle : bool, default=True
        Whether each epoch has a new random order.
    verbose : int, default=0
        Not used; ``set_callbacks`` reports progress.
    epsilon : float, default=0.1
        Half the tube, or δ of "huber".
    random_state : int, RandomState, Generator or None
        Fixes the order of the rows.
    learning_rate : str, default="invscaling"
        "constant", "optimal", "invscaling", "adaptive"; "pa1" and "pa2" with
        "epsilon_insensitive".
    eta0 : float, default=0.01
        η₀; the aggressiveness of "pa1" and "pa2".
    power_t : float, default=0.25
        Exponent of "invscaling".
    early_stopping : bool, default=False
        Judge epochs by R² on rows held out.
    validation_fraction : float, default=0.1
        Their share.
    n_iter_no_change : int, default=5
        Epochs without improvement before the end.
    warm_start : bool, default=False
        Whether `fit` begins where the last one ended.
    average : bool or int, default=False
        Report the mean of all iterates; an int begins after that many steps.

    Attributes
    ----------
    coef_ : array of shape (d,)
        β̂.
    intercept_ : array of shape (1,)
        b̂.
    n_iter_ : int
        Epochs.
    t_ : float
        Steps taken, plus one.
    loss_ : Loss
        The loss that was used.
    solution_ : Solution
        How the epochs ended.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.linspace(-1, 1, 200)[:, None]
    >>> model = th.SGDRegressor(alpha=0.0, tol=1e-6, random_state=0).fit(X, 3 * X[:, 0] + 1)
    >>> np.round([model.coef_[0], model.intercept_[0]], 1).tolist()
    [3.0, 1.0]
    """

    _ranges = RANGES | SCHEDULE_RANGES
    _multi_output = False
    _passive_aggressive_loss = "epsilon_insensitive"

    def __init__(
        self,
        loss: Any = "squared_error",
        *,
        penalty: str | None = "l2",
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        epsilon: float = 0.1,
        random_state: Any = None,
        learning_rate: str = "invscaling",
        eta0: float = 0.01,
        power_t: float = 0.25,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        warm_start: bool = False,
        average: Any = False,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.epsilon = epsilon
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.average = average

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> SGDRegressor:
        """Fit by epochs.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Features.
        y : array-like of shape (n,), optional
            Targets; None when X is a `Source`.
        coef_init, intercept_init : array-like, optional
            Where to begin, instead of 0.
        sample_weight : array-like of shape (n,), optional
            Factors of the rows' losses; a row of weight 0 is not there.

        Returns
        -------
        self
        """
        self._check_parameters()
        source = self._open_targets(X, y, sample_weight)
        walks = self._new_walks(1, source.n_features, coef_init, intercept_init, jointly=False)
        self.t_ = 1.0
        self._descend(source, walks, _as_double, X, y)
        return self

    @with_callbacks
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SGDRegressor:
        """One more epoch over these rows; parameters as in `fit`.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`; later calls need the columns of the first.

        Returns
        -------
        self
        """
        self._check_parameters(resuming=True)
        if resuming := hasattr(self, "_last_iterate"):
            self._require_same_schema(X)
        source = self._open_targets(X, y, sample_weight)
        if resuming:
            walks = self._resumed_walks(jointly=False)
        else:
            walks, self.t_ = self._new_walks(1, source.n_features, None, None, jointly=False), 1.0
        self._descend(source, walks, _as_double, X, y, epochs=1)
        return self

    def predict(self, X: Any) -> Array:
        """E[y | x]: Xβ + b, through the loss's link where it has one. Cost: O(n d).

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to predict.

        Returns
        -------
        array of shape (n,)
        """
        z = self._raw(X)
        return z if self.loss_.link is Link.IDENTITY else self.loss_.mean(z)

    def _open_targets(self, X: Any, y: Any, sample_weight: Any) -> Source:
        loss, who = self._parts()[0], type(self).__name__
        if loss.columns != "one":
            raise ParameterError(
                f"{who}: {type(loss).__name__} scores classes. Use SGDClassifier for labels."
            )
        source = self._open(X, y, sample_weight, check_finite=self._checks_finite)
        if loss.targets is Targets.REAL and isinstance(source, InMemory):
            return source  # the door has seen that they are numbers
        for block in source.blocks():
            check_targets(loss, block.y, who=who, start=block.start)
        return source

    def _attributes_of(self, theta: Array, dtype: Any) -> dict[str, Array]:
        return {"coef_": theta[:-1, 0].astype(dtype), "intercept_": theta[-1].astype(dtype)}

    def _score_of(self, y: Array, z: Array, weight: Array | None) -> float:
        """R²."""
        from sklearn.metrics import r2_score

        return float(r2_score(y, self.loss_.mean(z), sample_weight=weight))


def _as_double(number: int, y: Array) -> Array:
    return np.ascontiguousarray(y, dtype=np.float64)
