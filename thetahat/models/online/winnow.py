"""Winnow: disjunctions of few among many variables, by multiplying weights."""

from __future__ import annotations

import numpy as np

from thetahat.estimator.parameters import more_than, none, whole
from thetahat.foundation.types import Array
from thetahat.models.online.boolean_learner import BooleanLearner


class Winnow(BooleanLearner):
    """Multiply the weights of true variables up on misses and down on false alarms.

    Formula: h(x) = 1[Σ w_i x_i ≥ θ], w = 1 at first and θ = n; on a mistake, w_i ← α·w_i (row true)
    or w_i/α (row false) for every variable true in x. With α = 2 a disjunction of k of n variables
    costs at most 2 + 3k(1 + log₂ n) mistakes: few, however many variables do not matter.

    Cost: O(n_variables) per row; memory as `MonotoneDisjunction`.

    Parameters
    ----------
    alpha : float, default=2.0
        The factor; > 1.
    n_relevant : int, optional
        k, where it is known: for ``mistake_bound_`` and ``consistent_`` alone.

    Attributes
    ----------
    weights_ : array of shape (n_variables,)
        w.
    mistakes_, n_rounds_, classes_
        As in `MonotoneDisjunction`.
    mistake_bound_ : float or None
        2 + 3k(1 + log₂ n), with `n_relevant` given and α = 2.
    consistent_ : bool
        False once no monotone disjunction agrees with every row so far, or once more mistakes were
        made than any of `n_relevant` variables can cause. (Whether one of k variables agrees is a
        covering problem, too hard to be answered in every round.)

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

    _ranges = {"alpha": more_than(1), "n_relevant": whole(1) | none}  # noqa: RUF012

    weights_: Array

    def __init__(self, *, alpha: float = 2.0, n_relevant: int | None = None) -> None:
        self.alpha = alpha
        self.n_relevant = n_relevant

    @property
    def mistake_bound_(self) -> float | None:
        """The most mistakes on any sequence that a disjunction of `n_relevant` variables labels."""
        if self.n_relevant is None or self.alpha != 2:
            return None
        return float(2 + 3 * self.n_relevant * (1 + np.log2(max(2, self.n_features_in_))))

    def _begin(self, width: int) -> None:
        self.weights_ = np.ones(width)

    def _score(self, truth: Array) -> Array:
        # At least θ is "true", so a tie counts as positive.
        total = truth @ self.weights_ - truth.shape[1]
        return np.where(total == 0, np.finfo(float).tiny, total)

    def _update(self, truth: Array, label: bool, answer: bool) -> None:
        if label == answer:
            return
        factor = self.alpha if label else 1.0 / self.alpha
        # Far beyond any bound the weights stay within what numbers can hold.
        self.weights_ = np.clip(
            np.where(truth, factor * self.weights_, self.weights_), 1e-300, 1e300
        )
