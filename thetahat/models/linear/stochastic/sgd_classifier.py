"""Linear classification by stochastic gradient descent, with any loss."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.stochastic import RANGES, SCHEDULE_RANGES
from thetahat.estimator.stochastic_classifier import StochasticClassifier
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.links import Link


def _has_probabilities(model: SGDClassifier) -> bool:
    loss = model._parts()[0]
    if loss.link in (Link.LOGIT, Link.SOFTMAX) or loss.linear_probability:
        return True
    raise AttributeError(
        f"probability estimates are not available for loss={model.loss!r}. Use loss='log_loss' or "
        "'modified_huber', or calibrate with sklearn.calibration.CalibratedClassifierCV."
    )


@with_parameters
class SGDClassifier(StochasticClassifier):
    """Linear classifier fitted by stochastic gradient descent (SGD).

    Formula: θ̂ ≈ argmin (1/n) Σ wᵢ ℓ(yᵢ, xᵢᵀβ + b) + α((1 − ρ)/2·‖β‖² + ρ‖β‖₁) with yᵢ = ±1, by the
    steps θ ← θ − η_t ∂(wᵢ ℓᵢ + R) on one row at a time. The hinge loss gives a linear support
    vector machine, the logistic loss gives logistic regression: w ← w + η(y − σ(wᵀx))x for labels 0
    and 1. More than two classes are fitted one against the rest, or jointly with
    ``loss="softmax_cross_entropy"``. The fit stops when the mean loss of an epoch has not improved
    by `tol` for `n_iter_no_change` epochs in a row.

    The rows may be in memory, in a file, or arrive in batches (see `partial_fit`). Scale the
    columns to similar ranges first; otherwise the steps may diverge, which a warning or an error
    reports.

    Cost: O(non-zero entries of X) per epoch and class, O(d) memory per class. Rows in memory are
    shuffled as a whole; rows of a `Source` are shuffled within each block, with one pass over the
    file per epoch.

    Parameters
    ----------
    loss : str or Loss, default="hinge"
        Loss to minimise. "hinge" is a linear support vector machine, "log_loss" is logistic
        regression, "modified_huber" is a smooth loss that tolerates outliers and gives
        probabilities, "squared_hinge" penalises errors quadratically, and "perceptron" is the loss
        of the perceptron. The losses of `SGDRegressor` on labels ±1, any other loss of this library
        and your own ``th.loss(function)`` work too; losses other than the named ones run in Python
        and are about a hundred times slower.
    penalty : {"l2", "l1", "elasticnet"} or None, default="l2"
        Penalty on the coefficients. "l2" shrinks all coefficients, "l1" and "elasticnet" also set
        some of them to zero. None adds no penalty.
    alpha : float, default=0.0001
        Strength of the penalty (α). Larger values shrink the coefficients more. It also sets the
        step size of the "optimal" learning rate. Must be ≥ 0.
    l1_ratio : float, default=0.15
        Share of the L1 norm in the "elasticnet" penalty (ρ), between 0 and 1. 1 is the L1 penalty,
        0 the L2 penalty. Other penalties ignore it.
    fit_intercept : bool, default=True
        Whether to fit an intercept (b). If False, the intercept is 0 and the data are expected to
        be centred. The intercept is never penalised.
    max_iter : int, default=1000
        Maximum number of epochs, which are passes over the training rows. Only used by `fit`;
        `partial_fit` always runs one epoch.
    tol : float or None, default=1e-3
        Tolerance of the stopping rule. The fit stops if the mean loss of an epoch (with
        `early_stopping`, the score on held-out rows) has not improved by at least `tol` for
        `n_iter_no_change` epochs in a row. None runs all `max_iter` epochs.
    shuffle : bool, default=True
        Whether to shuffle the rows before each epoch.
    verbose : int, default=0
        Has no effect. Accepted for compatibility with scikit-learn; use ``set_callbacks`` to follow
        the progress of a fit.
    epsilon : float, default=0.1
        Threshold of the losses "huber", "epsilon_insensitive" and "squared_epsilon_insensitive".
        For "huber" it is the residual at which the loss becomes linear; for the others, residuals
        smaller than it cost nothing. Must be ≥ 0.
    n_jobs : int or None, default=None
        Has no effect. Accepted for compatibility with scikit-learn; the classes are fitted in
        parallel on the threads set by ``th.config(threads=...)``.
    random_state : int, RandomState, Generator or None, default=None
        Seed for shuffling the rows. Pass an int for the same result on every call.
    learning_rate : str, default="optimal"
        Learning rate schedule (η_t at step t):

        - "constant": η_t = eta0.
        - "optimal": η_t = 1/(α(t₀ + t − 1)), with t₀ chosen from the loss and `alpha`.
        - "invscaling": η_t = eta0 / t^power_t.
        - "adaptive": eta0, divided by 5 whenever the epochs stop improving.
        - "pa1", "pa2": passive-aggressive steps; only for ``loss="hinge"``.
    eta0 : float, default=0.01
        Initial learning rate (η₀) of "constant", "invscaling" and "adaptive"; for "pa1" and "pa2",
        the aggressiveness of the steps. Larger values make larger steps, which learn faster but may
        diverge. Must be positive.
    power_t : float, default=0.5
        Exponent of the "invscaling" learning rate (p). Larger values make the steps shrink faster.
    early_stopping : bool, default=False
        Whether to stop when the score on held-out rows no longer improves. If True, the share
        `validation_fraction` of the training rows of each class is held out, and the epochs are
        compared by the accuracy on these rows.
    validation_fraction : float, default=0.1
        Share of the training rows that is held out for `early_stopping`. Must be between 0 and 1.
        Only used if ``early_stopping=True``.
    n_iter_no_change : int, default=5
        Number of epochs in a row without improvement after which the fit stops.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, as ``{label: weight}``; multiplies `sample_weight`. "balanced" sets
        the weights inversely proportional to the class frequencies, so that all classes have the
        same total weight. None gives every class weight 1.
    warm_start : bool, default=False
        Whether to start from the solution of the previous call to `fit`, if there is one. If False,
        the previous solution is ignored.
    average : bool or int, default=False
        Whether to report the average of the coefficients over all steps instead of the last ones.
        An int starts averaging after that many steps. Averaging often gives better results with a
        constant or slowly decreasing learning rate.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, in sorted order.
    coef_ : array of shape (1, d) or (n_classes, d)
        Estimated coefficients (β̂): one row for two classes, otherwise one row per class.
    intercept_ : array of shape (1,) or (n_classes,)
        Estimated intercepts (b̂), one for each row of ``coef_``; 0 if ``fit_intercept=False``.
    n_iter_ : int
        Number of epochs that were run, for the class that needed the most.
    t_ : float
        Number of steps (rows visited) during the fit, plus one.
    loss_ : Loss
        The loss that was used.
    solution_ : Solution
        Report of the fit: how it stopped, the number of epochs and the last mean loss.

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

    loss: Any = "hinge"
    _: KW_ONLY
    penalty: str | None = "l2"
    alpha: float = 0.0001
    l1_ratio: float = 0.15
    fit_intercept: bool = True
    max_iter: int = 1000
    tol: float | None = 1e-3
    shuffle: bool = True
    verbose: int = 0
    epsilon: float = 0.1
    n_jobs: int | None = None
    random_state: Any = None
    learning_rate: str = "optimal"
    eta0: float = 0.01
    power_t: float = 0.5
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    class_weight: Any = None
    warm_start: bool = False
    average: Any = False

    _ranges = RANGES | SCHEDULE_RANGES

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Predict class probabilities. Cost: O(n d k) for k classes.

        Available for ``loss="log_loss"``, where P = σ(z), for "modified_huber", where P = (clip(z,
        −1, 1) + 1)/2, and for losses of class scores, where P is the softmax. One-against-rest
        probabilities are divided by their sum; if all are 0 for a row, the classes get equal
        probabilities.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to classify, with the same columns as in `fit`.

        Returns
        -------
        probabilities : array of shape (n, n_classes)
            Probability of each class, with columns in the order of ``classes_``.
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

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> Array:
        """Predict the logarithm of class probabilities. Cost: O(n d k) for k classes.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to classify, with the same columns as in `fit`.

        Returns
        -------
        log_probabilities : array of shape (n, n_classes)
            Logarithm of the probability of each class, with columns in the order of ``classes_``.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))
