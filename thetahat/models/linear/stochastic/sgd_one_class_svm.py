"""A half-space that contains most rows, by stochastic gradient descent."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from thetahat.data.source import Source
from thetahat.data.views import all_positive
from thetahat.estimator.batches import batch_after
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.density import OutlierDetector
from thetahat.estimator.parameters import Range, one_of, positive_fraction
from thetahat.estimator.watching import with_callbacks
from thetahat.foundation.types import Array
from thetahat.models.linear.stochastic.stochastic import Stochastic
from thetahat.models.linear.stochastic.stochastic_parameters import RANGES, SCHEDULE_RANGES

SCHEDULES = ("constant", "optimal", "invscaling", "adaptive")
SHARED = ("fit_intercept", "max_iter", "tol", "shuffle", "eta0", "warm_start")


@with_parameters
class SGDOneClassSVM(OutlierDetector, Stochastic):
    """Outlier detection by a half-space that contains most rows, fitted by stochastic steps.

    The machine of `OneClassSVM` with a linear kernel, for tables of any length and for rows that
    arrive in batches (see `partial_fit`). With `Nystroem` or `RBFSampler` before it in a pipeline,
    it approximates `OneClassSVM` with a Gaussian kernel.

    Formula: β̂, ρ̂ ≈ argmin (1/n) Σ wᵢ [ρ − xᵢᵀβ]₊ + ν/2·‖β‖² − νρ, by the steps θ ← θ − η_t ∂Fᵢ on
    one row at a time. Rows with xᵀβ < ρ are outliers; at the minimum these are about the share ν of
    the training rows.

    Cost: O(non-zero entries of X) per epoch and O(d) memory.

    Rows in memory are shuffled as a whole; rows of a `Source` are shuffled within each block, with
    one pass over the file per epoch.

    Parameters
    ----------
    nu : float, default=0.5
        Upper bound of the share of training rows that are outliers, and lower bound of the share
        of support vectors (ν). Larger values give more outliers. Must be more than 0 and at most 1.
    fit_intercept : bool, default=True
        Whether to fit the level (ρ). If False, it is 0.
    tol : float or None, default=1e-3
        Tolerance of the stopping rule. The fit stops if the objective of an epoch has not improved
        by at least `tol` for 5 epochs in a row. None runs all `max_iter` epochs.
    learning_rate : {"constant", "optimal", "invscaling", "adaptive"}, default="optimal"
        Learning rate schedule (η_t at step t):

        - "constant": η_t = eta0.
        - "optimal": η_t = 1/(ν(t₀ + t − 1)), with t₀ chosen from ν.
        - "invscaling": η_t = eta0 / t^power_t.
        - "adaptive": eta0, divided by 5 whenever the epochs stop improving.
    eta0 : float, default=0.01
        Initial learning rate (η₀) of "constant", "invscaling" and "adaptive". Larger values make
        larger steps, which learn faster but may diverge. Must be positive.

    Attributes
    ----------
    coef_ : array of shape (d,)
        Estimated normal of the half-space (β̂).
    offset_ : array of shape (1,)
        Estimated level (ρ̂): the decision function is xᵀβ − ρ.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.random.default_rng(0).normal(3.0, 0.5, (500, 2))
    >>> model = th.SGDOneClassSVM(nu=0.1, random_state=0).fit(X)
    >>> model.predict([[3.0, 3.0], [0.0, 0.0]]).tolist()
    [1, -1]
    """

    nu: float = 0.5
    fit_intercept: bool = True
    max_iter: int = 1000
    tol: float | None = 1e-3
    shuffle: bool = True
    verbose: int = 0
    random_state: Any = None
    learning_rate: str = "optimal"
    eta0: float = 0.01
    power_t: float = 0.5
    warm_start: bool = False
    average: Any = False

    # It predicts no target, so it has no kind.
    _generative = None  # type: ignore[assignment]
    _parametric = None  # type: ignore[assignment]
    _ranges: ClassVar[dict[str, Range]] = {
        "nu": positive_fraction,
        **{name: RANGES[name] for name in SHARED},
        "learning_rate": one_of(*SCHEDULES),
        "power_t": SCHEDULE_RANGES["power_t"],
        "average": SCHEDULE_RANGES["average"],
    }

    loss = "perceptron"  # [−z]₊ of z = xᵀβ − ρ, with target +1 for every row
    penalty = "l2"
    l1_ratio = 0.0
    epsilon = 0.0
    early_stopping = False
    validation_fraction = 0.1
    n_iter_no_change = 5

    _level_name = "offset_init"
    _penalty_name = "nu"

    @property
    def alpha(self) -> float:  # type: ignore[override]
        return float(self.nu)

    @property
    def _level(self) -> float:
        return float(self.nu)

    @property
    def intercept_(self) -> Array:  # type: ignore[override]
        """Minus the level ρ̂: the decision function is xᵀβ + intercept."""
        return -self.offset_

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        coef_init: Any = None,
        offset_init: Any = None,
        sample_weight: Any = None,
    ) -> SGDOneClassSVM:
        """Find the half-space by stochastic gradient descent.

        Parameters
        ----------
        y : object, optional
            Not used; accepted for pipelines.
        coef_init : array-like of shape (d,), optional
            Initial coefficients. None starts at 0.
        offset_init : array-like of shape (1,), optional
            Initial level. None starts at 0.
        """
        self._check_parameters()
        source = self._open_rows(X, sample_weight)
        walks = self._first_walks(source, coef_init, offset_init)
        self._descend(source, walks, _as_double, X, y)
        return self

    @with_callbacks
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SGDOneClassSVM:
        """Run one epoch of stochastic gradient descent on the given rows.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to learn from, with the same columns in every call.
        y : object, optional
            Not used; accepted for pipelines.
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
            source = self._open_rows(X, sample_weight)
        if resuming:
            walks = self._resumed_walks(jointly=False)
        else:
            walks = self._first_walks(source, None, None)
        self._descend(source, walks, _as_double, X, y, epochs=1)
        return self

    def decision_function(self, X: Any) -> Array:
        """Compute xᵀβ − ρ, which is negative for outliers. Cost: O(n d).

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to score, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n,)
        """
        return self._raw(X)

    def score_samples(self, X: Any) -> Array:
        """Compute xᵀβ = decision_function(x) + ρ. Cost: O(n d).

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to score, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n,)
        """
        scores = self.decision_function(X)
        return scores + self.offset_.astype(scores.dtype, copy=False)

    def _open_rows(self, X: Any, sample_weight: Any) -> Source:
        source = self._open(
            X, None, sample_weight, supervised=False, check_finite=self._checks_finite
        )
        return all_positive(source)

    def _first_walks(self, source: Source, coef: Any, offset: Any) -> list[Any]:
        """One walk, whose intercept is −ρ."""
        self.t_ = 1.0
        level = None if offset is None else -np.asarray(offset, dtype=np.float64)
        return self._new_walks(1, source.n_features, coef, level, jointly=False)

    def _attributes_of(self, theta: Array, dtype: Any) -> dict[str, Array]:
        return {"coef_": theta[:-1, 0].astype(dtype), "offset_": -theta[-1].astype(dtype)}

    def _has_one_output(self) -> bool:
        return True

    def _score_of(self, y: Array, z: Array, weight: Array | None) -> float:
        """Minus the mean loss."""
        return -float(np.average(self.loss_.value(y, z), weights=weight))


def _as_double(number: int, y: Array) -> Array:
    return np.asarray(y, dtype=np.float64)
