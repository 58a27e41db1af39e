"""Linear classification by stochastic gradient descent, with any loss."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from thetahat.estimator.declaration import with_parameters
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.links import Link
from thetahat.models.linear.stochastic.stochastic_classifier import StochasticClassifier
from thetahat.models.linear.stochastic.stochastic_parameters import ScheduleParameters


def _has_probabilities(model: SGDClassifier) -> bool:
    loss = model._parts()[0]
    if loss.link in (Link.LOGIT, Link.SOFTMAX) or loss.linear_probability:
        return True
    raise AttributeError(
        f"probability estimates are not available for loss={model.loss!r}. Use loss='log_loss' or "
        "'modified_huber', or calibrate with sklearn.calibration.CalibratedClassifierCV."
    )


@with_parameters
class SGDClassifier(ScheduleParameters, StochasticClassifier):
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

    Cost: O(non-zero entries of X) per epoch and class, O(d) memory per class.

    Rows in memory are shuffled as a whole; rows of a `Source` are shuffled within each block, with
    one pass over the file per epoch. The coefficients from a file therefore differ from those in
    memory as they do between two seeds; with ``shuffle=False`` they agree up to rounding.

    Parameters
    ----------
    loss : str or Loss, default="hinge"
        Loss to minimise. "hinge" is a linear support vector machine, "log_loss" is logistic
        regression, "modified_huber" is a smooth loss that tolerates outliers and gives
        probabilities, "squared_hinge" penalises errors quadratically, and "perceptron" is the loss
        of the perceptron. The losses of `SGDRegressor` on labels ±1, any other loss of this library
        and your own ``th.loss(function)`` work too; losses other than the named ones run in Python
        and are about a hundred times slower.
    learning_rate : str, default="optimal"
        Learning rate schedule (η_t at step t):

        - "constant": η_t = eta0.
        - "optimal": η_t = 1/(α(t₀ + t − 1)), with t₀ chosen from the loss and `alpha`.
        - "invscaling": η_t = eta0 / t^power_t.
        - "adaptive": eta0, divided by 5 whenever the epochs stop improving.
        - "pa1", "pa2": passive-aggressive steps; only for ``loss="hinge"``.

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
