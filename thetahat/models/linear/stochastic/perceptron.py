"""The perceptron: on a mistake, w ← w + η y x; else nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.estimator.stochastic import RANGES
from thetahat.estimator.stochastic_classifier import StochasticClassifier


class Perceptron(StochasticClassifier):
    """Rosenblatt's perceptron: the classifier that learns from its mistakes alone.

    Formula: for a row with y·(wᵀx + b) ≤ 0, w ← w + η₀·y·x and b ← b + η₀·y; a row on its right
    side changes nothing. Where a unit vector w* separates the rows with margin ρ = min y·(w*ᵀx) and
    ‖x‖ ≤ R, it makes at most R²/ρ² mistakes, in whatever order the rows come (with an intercept, of
    the rows with a last column of ones). With more than two classes, one against the rest. These
    are the stochastic steps of the loss [−m]₊; a penalty shrinks w at every row besides.

    Cost: O(entries of X) per epoch and class, O(d) memory.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"} or None, default=None
        R; None is the perceptron of the theorem.
    alpha, l1_ratio, fit_intercept, max_iter, tol, shuffle, verbose
        As in `SGDRegressor`.
    eta0 : float, default=1.0
        η₀. Without a penalty it scales w and b, and changes no prediction.
    n_jobs, random_state, early_stopping, validation_fraction, n_iter_no_change, class_weight, \
warm_start
        As in `SGDClassifier`; ``random_state=0`` by default.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, t_, loss_, solution_
        As in `SGDClassifier`.
    n_mistakes_ : array of shape (1,) or (C,)
        Mistakes made during the last fit, of each separator.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.array([[2.0, 1.0], [1.0, 2.0], [-1.0, -2.0], [-2.0, -1.0]])
    >>> model = th.Perceptron(fit_intercept=False, shuffle=False).fit(X, [1, 1, 0, 0])
    >>> model.coef_, model.n_mistakes_
    (array([[2., 1.]]), array([1]))
    """

    _ranges = RANGES

    loss = "perceptron"
    learning_rate = "constant"
    power_t = 0.5
    epsilon = 0.0
    average = False

    def __init__(
        self,
        *,
        penalty: str | None = None,
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        eta0: float = 1.0,
        n_jobs: int | None = None,
        random_state: Any = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start

    def _keep_walks(self, walks: Any, dtype: Any) -> None:
        super()._keep_walks(walks, dtype)
        self.n_mistakes_ = np.array([int(walk.n_moves) for walk in walks])
