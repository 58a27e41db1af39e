"""Decisions from class likelihoods p(x | k): Bayes' rule, log-odds and maximum likelihood.

p(k | x) = π_k p(x | k) / Σ_j π_j p(x | j),   log-odds(x) = log p(x | 1)/p(x | 0) + log π₁/π₀
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.estimator.generative_classifier import log_sum
from thetahat.estimator.parameters import check_value, real
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.theory.decision.probabilities import as_classes, as_log_likelihood, as_probabilities


def class_posterior(log_likelihood: Any, priors: Any = None) -> Array:
    """Compute class probabilities from likelihoods by Bayes' rule, in logarithms.

    Likelihoods of any size are allowed: only their ratios matter, and they are never computed
    themselves.

    Formula: p(k | x) = π_k p(x | k) / Σ_j π_j p(x | j). Cost: O(n·C).

    Parameters
    ----------
    log_likelihood : array-like of shape (n, C) or (C,)
        log p(x | k) of each row and class; −inf where the likelihood is 0. The rows may also be
        whole samples, with the sums of the logarithms over their values.
    priors : array-like of shape (C,), optional
        The class probabilities before x is seen (π); they must sum to 1. By default all classes are
        equally probable.

    Returns
    -------
    array of shape (n, C)
        The class probabilities p(k | x); each row sums to 1.

    Examples
    --------
    Has the sun exploded? A detector that errs with probability 1e-4 says so, but the prior is
    1e-8:

    >>> import numpy as np
    >>> import thetahat as th
    >>> says_yes = np.log([1e-4, 1 - 1e-4])
    >>> th.theory.class_posterior(says_yes, [1 - 1e-8, 1e-8]).round(8)
    array([9.9990002e-01, 9.9980000e-05])
    """
    who = "class_posterior"
    logs = as_log_likelihood(log_likelihood, who)
    joint = logs + _log_priors(priors, logs.shape[-1], who)
    flat = joint.reshape(-1, joint.shape[-1])
    total = log_sum(flat)
    if (total == -np.inf).any():
        raise DataError(
            f"{who}: row {int((total == -np.inf).argmax())} of log_likelihood has probability 0 in "
            "every class with a positive prior, so that its class probabilities are not defined. "
            "Remove the row, or use likelihoods that are positive everywhere."
        )
    shares = np.exp(flat - flat.max(axis=1, keepdims=True))
    return (shares / shares.sum(axis=1, keepdims=True)).reshape(joint.shape)


def log_odds(log_likelihood: Any, priors: Any = None) -> Array:
    """Compute the log-odds of the second of two classes.

    They are positive where the second class is more probable than the first. With equal priors
    they are the logarithm of the likelihood ratio.

    Formula: log p(x | 1)/p(x | 0) + log π₁/π₀ = log p(1 | x)/p(0 | x). Cost: O(n).

    Parameters
    ----------
    log_likelihood : array-like of shape (n, 2) or (2,)
        log p(x | k) of each row and class; −inf where the likelihood is 0.
    priors : array-like of shape (2,), optional
        The probabilities of the two classes before x is seen (π). By default both are 1/2.

    Returns
    -------
    array of shape (n,)
        The log-odds of each row; ±inf where only one class is possible.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.theory.log_odds(np.log([[0.2, 0.6]]), [0.75, 0.25]).round(6) + 0.0
    array([0.])
    """
    who = "log_odds"
    logs = as_log_likelihood(log_likelihood, who, n_classes=2)
    joint = logs + _log_priors(priors, 2, who)
    impossible = np.atleast_1d((joint == -np.inf).all(axis=-1))
    if impossible.any():
        raise DataError(
            f"{who}: row {int(impossible.ravel().argmax())} of log_likelihood has probability 0 in "
            "both classes, so that its log-odds are not defined. Remove the row."
        )
    return joint[..., 1] - joint[..., 0]


def log_odds_decision(
    log_likelihood: Any, priors: Any = None, *, threshold: float = 0.0, classes: Any = None
) -> Array:
    """Decide between two classes by comparing the log-odds with a threshold.

    Threshold 0 is the Bayes rule. If a false positive costs c_fp and a false negative c_fn, the
    smallest expected cost is reached with threshold log(c_fp/c_fn).

    Formula: the second class iff log p(x | 1)/p(x | 0) + log π₁/π₀ ≥ t. Cost: O(n).

    Parameters
    ----------
    log_likelihood : array-like of shape (n, 2) or (2,)
        log p(x | k) of each row and class; −inf where the likelihood is 0.
    priors : array-like of shape (2,), optional
        The probabilities of the two classes before x is seen (π). By default both are 1/2.
    threshold : float, default=0.0
        The smallest log-odds for which the second class is decided (t). A larger value decides for
        the second class less often.
    classes : array-like of shape (2,), optional
        The labels of the two classes. By default 0 and 1.

    Returns
    -------
    array of shape (n,)
        The label that is decided for each row.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> logs = np.log([[0.3, 0.6], [0.7, 0.2]])
    >>> th.theory.log_odds_decision(logs, classes=[-1, 1])
    array([ 1, -1])
    >>> th.theory.log_odds_decision(logs, [0.8, 0.2], classes=[-1, 1])
    array([-1, -1])
    """
    who = "log_odds_decision"
    check_value(threshold, real, "threshold", who)
    labels = as_classes(classes, 2, who)
    return labels[(log_odds(log_likelihood, priors) >= threshold).astype(int)]


def likelihood_decision(log_likelihood: Any, *, classes: Any = None) -> Array:
    """Decide for the class under which the row is most likely, whatever the priors are.

    This is the Bayes rule for equal priors. If one class is rare, it makes many more errors than
    the Bayes rule.

    Formula: f(x) = argmax_k p(x | k); the first class where several are equal. Cost: O(n·C).

    Parameters
    ----------
    log_likelihood : array-like of shape (n, C) or (C,)
        log p(x | k) of each row and class; −inf where the likelihood is 0.
    classes : array-like of shape (C,), optional
        The labels of the columns. By default 0, 1, ..., C − 1.

    Returns
    -------
    array of shape (n,)
        The label that is decided for each row.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> says_yes = np.log([1e-4, 1 - 1e-4])
    >>> str(th.theory.likelihood_decision(says_yes, classes=["no", "yes"]))
    'yes'
    """
    who = "likelihood_decision"
    logs = as_log_likelihood(log_likelihood, who)
    labels = as_classes(classes, logs.shape[-1], who)
    if (logs == -np.inf).all(axis=-1).any():
        raise DataError(
            f"{who}: a row of log_likelihood has probability 0 in every class, so that no class is "
            "most likely. Remove the row."
        )
    return labels[logs.argmax(axis=-1)]


def _log_priors(priors: Any, n_classes: int, who: str) -> Array:
    if priors is None:
        return np.full(n_classes, -np.log(n_classes))
    found = as_probabilities(priors, "priors", who)
    if found.shape != (n_classes,):
        raise ParameterError(
            f"{who}: priors has shape {found.shape}, but log_likelihood has {n_classes} columns. "
            "Give one prior for each class."
        )
    with np.errstate(divide="ignore"):
        return np.log(found)
