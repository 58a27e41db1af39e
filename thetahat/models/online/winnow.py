"""Winnow: learns disjunctions of few among many variables by multiplicative updates."""

from __future__ import annotations

from dataclasses import KW_ONLY

import numpy as np

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import LARGEST_FACTOR, more_than, none, whole
from thetahat.foundation.types import Array
from thetahat.models.online.boolean_learner import BooleanLearner


@with_parameters
class Winnow(BooleanLearner):
    """Winnow: online learner of disjunctions of few among many variables.

    The number of mistakes grows only with the logarithm of the number of variables, so it is suited
    for many irrelevant variables.

    Formula: h(x) = 1[Σ w_i x_i ≥ θ] with w = 1 at first and θ = n. After a mistake, w_i ← α·w_i
    (row labelled true) or w_i/α (row labelled false) for every variable that is true in x. With α =
    2, a disjunction of k of n variables causes at most 2 + 3k(1 + log₂ n) mistakes.

    Cost: O(n_variables) per row; memory as `MonotoneDisjunction`.

    Parameters
    ----------
    alpha : float, default=2.0
        Factor by which weights are multiplied or divided after a mistake. Larger values adapt
        faster. Must be larger than 1.
    n_relevant : int or None, default=None
        Number of variables in the disjunction (k), if it is known. Used only for ``mistake_bound_``
        and ``consistent_``.

    Attributes
    ----------
    weights_ : array of shape (n_variables,)
        Current weights of the variables (w).
    mistake_bound_ : float or None
        The bound 2 + 3k(1 + log₂ n), if ``n_relevant`` is given and α = 2.
    consistent_ : bool
        False once no monotone disjunction agrees with every row so far, or once there were more
        mistakes than any disjunction of ``n_relevant`` variables can cause. (Whether a disjunction
        of k variables agrees is a covering problem, which is too expensive to solve in every
        round.)

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> random = np.random.default_rng(0)
    >>> X = random.integers(0, 2, (300, 100))
    >>> learner = th.online.Winnow(n_relevant=2).fit(X, X[:, 0] | X[:, 1])
    >>> learner.mistakes_ <= learner.mistake_bound_
    True
    """

    _: KW_ONLY
    alpha: float = 2.0
    n_relevant: int | None = None

    _ranges = {"alpha": more_than(1, LARGEST_FACTOR), "n_relevant": whole(1) | none}  # noqa: RUF012

    @property
    def mistake_bound_(self) -> float | None:
        """Maximum number of mistakes for disjunctions of `n_relevant` variables."""
        if self.n_relevant is None or self.alpha != 2:
            return None
        return float(2 + 3 * self.n_relevant * (1 + np.log2(max(2, self.n_features_in_))))

    def _begin(self, width: int) -> None:
        self.weights_: Array = np.ones(width)

    def _score(self, truth: Array) -> Array:
        # Scores of at least θ mean "true", so ties are positive.
        total = truth @ self.weights_ - truth.shape[1]
        return np.where(total == 0, np.finfo(float).tiny, total)

    def _update(self, truth: Array, label: bool, answer: bool) -> None:
        if label == answer:
            return
        factor = self.alpha if label else 1.0 / self.alpha
        # Weights are clipped so that they cannot overflow.
        self.weights_ = np.clip(
            np.where(truth, factor * self.weights_, self.weights_), 1e-300, 1e300
        )
