"""Linear classification by single-row steps: scikit-learn's SGDClassifier, with any loss."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from thetahat.estimator.stochastic import RANGES, SCHEDULE_RANGES
from thetahat.estimator.stochastic_classifier import StochasticClassifier
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.links import Link


def _says_probabilities(model: SGDClassifier) -> bool:
    loss = model._parts()[0]
    if loss.link in (Link.LOGIT, Link.SOFTMAX) or loss.linear_probability:
        return True
    raise AttributeError(
        f"probability estimates are not available for loss={model.loss!r}. Use loss='log_loss' or "
        "'modified_huber', or calibrate with sklearn.calibration.CalibratedClassifierCV."
    )


class SGDClassifier(StochasticClassifier):
    """A linear classifier fitted one row at a time, in memory, from a file, or as rows arrive.

    Formula: θ̂ ≈ argmin (1/n) Σ wᵢ ℓ(yᵢ, xᵢᵀβ + b) + α((1 − ρ)/2·‖β‖² + ρ‖β‖₁) with yᵢ = ±1, by the
    steps θ ← θ − η_t ∂(wᵢ ℓᵢ + R). The hinge loss gives a linear support vector machine, the
    logistic one logistic regression: w ← w + η(y − σ(wᵀx))x for labels 0 and 1. More than two
    classes are told apart one against the rest, or jointly with ``loss="softmax_cross_entropy"``.
    It stops when the mean loss of an epoch has not fallen by `tol` for `n_iter_no_change` epochs.

    Cost: O(entries of X) per epoch and class, O(d) memory. Rows in memory are shuffled as a whole,
    rows of a `Source` within each block, which is one pass over the file per epoch.

    Parameters
    ----------
    loss : str or Loss, default="hinge"
        "hinge", "log_loss", "modified_huber", "squared_hinge", "perceptron", the losses of
        `SGDRegressor` on labels ±1, or any loss of the library, ``th.loss(function)`` too. Those
        other than the standard ones step in Python, some hundred times slower.
    penalty, alpha, l1_ratio, fit_intercept, max_iter, tol, shuffle, verbose, epsilon
        As in `SGDRegressor`.
    n_jobs : int or None, default=None
        Not used; ``th.config(threads=...)`` says how many classes run side by side.
    random_state : int, RandomState, Generator or None
        Fixes the order of the rows.
    learning_rate : str, default="optimal"
        "constant", "optimal", "invscaling", "adaptive"; "pa1" and "pa2" with "hinge".
    eta0, power_t : float, default=0.01, 0.5
        As in `SGDRegressor`; "optimal" uses neither.
    early_stopping : bool, default=False
        Judge epochs by the accuracy on rows held out, a like share of each class.
    validation_fraction, n_iter_no_change
        As in `SGDRegressor`.
    class_weight : dict, "balanced" or None, default=None
        Factors of the classes' rows, in each of the one-against-rest problems.
    warm_start, average
        As in `SGDRegressor`.

    Attributes
    ----------
    classes_ : array of shape (C,)
        The labels.
    coef_ : array of shape (1, d) or (C, d)
        β̂ of the second class, or of each.
    intercept_ : array of shape (1,) or (C,)
        b̂.
    n_iter_ : int
        Epochs; of the class that took the most.
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
    >>> X = np.array([[-2.0, -1.0], [-1.0, -1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> y = np.array(["left", "left", "right", "right"])
    >>> model = th.SGDClassifier(random_state=0).fit(X, y)
    >>> model.predict([[-0.8, -1.0]]).tolist()
    ['left']
    >>> blocks = th.SGDClassifier(loss="log_loss", random_state=0)
    >>> for rows in (slice(0, 4, 2), slice(1, 4, 2)):
    ...     blocks = blocks.partial_fit(X[rows], y[rows], classes=["left", "right"])
    >>> blocks.predict_proba([[3.0, 3.0]]).argmax()
    np.int64(1)
    """

    _ranges = RANGES | SCHEDULE_RANGES

    def __init__(
        self,
        loss: Any = "hinge",
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
        n_jobs: int | None = None,
        random_state: Any = None,
        learning_rate: str = "optimal",
        eta0: float = 0.01,
        power_t: float = 0.5,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
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
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.average = average

    @available_if(_says_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """P(class | x): σ(z), (clip(z, −1, 1) + 1)/2 for "modified_huber", or the softmax.

        One-against-rest probabilities are divided by their sum; a row for which all are 0 gets
        equal ones. Cost: O(n d C).

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to judge.

        Returns
        -------
        array of shape (n, C)
        """
        z = self._raw(X)
        if self.loss_.link is Link.SOFTMAX:
            return self.loss_.mean(z)
        if self.loss_.linear_probability:
            share = (np.clip(z, -1, 1) + 1) / 2
        else:
            share = self.loss_.mean(z)
        if z.shape[1] == 1:
            return np.hstack([1 - share, share])
        total = share.sum(axis=1, keepdims=True)
        nothing = total == 0
        return np.where(nothing, 1 / z.shape[1], share / np.where(nothing, 1, total)).astype(
            z.dtype
        )

    @available_if(_says_probabilities)
    def predict_log_proba(self, X: Any) -> Array:
        """log P(class | x). Cost: O(n d C).

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to judge.

        Returns
        -------
        array of shape (n, C)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))
