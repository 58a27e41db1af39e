"""Classifiers from a model of the data in every class: Bayes' rule on p(x, c) = π_c·p(x | c).

p(c | x) = π_c p(x | c) / p(x),   p(x) = Σ_c π_c p(x | c),   f(x) = argmax_c log π_c + log p(x | c)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat import _native
from thetahat.data.source import Block, Source
from thetahat.estimator.base import DIRECT_SIZE
from thetahat.estimator.classifier import Classifier
from thetahat.estimator.density import Novelty, require_sample_count
from thetahat.foundation.arguments import numbers
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.randomness import RandomState, generator
from thetahat.foundation.types import Array, Matrix

SHARE_TOLERANCE = 1e-6
"""Largest distance from 1 of the sum of given class probabilities."""

FEW = 1 << 10
"""Scores up to which class probabilities are computed in one compiled call."""

WHOLE = "?" + np.typecodes["AllInteger"]
"""The characters of the types of whole numbers and Booleans."""

LOWEST = {char: float(np.finfo(char).min) for char in "df"}
"""The lowest finite number of double and single precision."""


class BayesRule(Classifier, ABC):
    """Chooses the class with the largest log π_c + log p(x | c), which a subclass computes.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, in sorted order.
    """

    _parametric = True

    @abstractmethod
    def _joint(self, rows: Matrix) -> Array:
        """log π_c + log p(x | c) of every row and class, (n, n_classes)."""

    @abstractmethod
    def _class_shares(self) -> Array:
        """The class probabilities π, (n_classes,)."""

    def _scores(self, rows: Matrix) -> Array:
        """`_joint` up to a constant for each row, where that costs less."""
        return self._joint(rows)

    def _score_rows(self, X: Any) -> Array:
        """The same for all rows of X, which are checked first."""
        X = _few_as_floats(X)
        if self._is_small_and_sound(X):
            return self._scores(X)
        return self._open_again(X).map_rows(self._score_block)

    def _score_block(self, block: Block) -> Array:
        return self._scores(block.X)

    def _best(self, rows: Matrix) -> Array:
        """The number of the class with the largest score; the first one in case of ties."""
        return np.asarray(self._scores(rows).argmax(axis=1))

    def _best_rows(self, X: Any) -> Array:
        """The same for all rows of X, which are checked first."""
        X = _few_as_floats(X)
        if self._is_small_and_sound(X):
            return self._best(X)
        return self._best_of_source(self._open_again(X))

    def _best_of_source(self, source: Source) -> Array:
        return source.map_rows(self._best_block)

    def _best_block(self, block: Block) -> Array:
        return self._best(block.X)

    def _joint_rows(self, X: Any) -> Array:
        """The same for all rows of X, which are checked first."""
        X = _few_as_floats(X)
        if self._is_small_and_sound(X):
            return self._joint(X)
        return self._open_again(X).map_rows(self._joint_block)

    def _joint_block(self, block: Block) -> Array:
        return self._joint(block.X)

    def predict_joint_log_proba(self, X: Any) -> Array:
        """Compute log p(x, c) = log π_c + log p(x | c) of every row and class.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Rows to classify, with the same columns as in `fit`.

        Returns
        -------
        joint : array of shape (n, n_classes)
            Joint log-probabilities in the order of ``classes_``; −inf where they are 0.
        """
        return self._joint_rows(X)

    def predict(self, X: Any) -> Array:
        """Predict the most probable class, which has the smallest probability of an error.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Rows to classify, with the same columns as in `fit`.

        Returns
        -------
        labels : array of shape (n,)
            Predicted labels; the first one in ``classes_`` in case of ties.
        """
        best = self._best_rows(X)  # first, because it notices a model that is not fitted
        return self.classes_[best]

    def predict_log_proba(self, X: Any) -> Array:
        """Compute the logarithms of the class probabilities.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Rows to classify, with the same columns as in `fit`.

        Returns
        -------
        log_probabilities : array of shape (n, n_classes)
            log p(c | x) in the order of ``classes_``.
        """
        return self._log_posterior(self._score_rows(X))

    def predict_proba(self, X: Any) -> Array:
        """Compute the class probabilities p(c | x) by Bayes' rule.

        Where p(x) is 0 in every class, the class probabilities before the row was seen (π) are
        returned.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Rows to classify, with the same columns as in `fit`.

        Returns
        -------
        probabilities : array of shape (n, n_classes)
            Probabilities in the order of ``classes_``; every row sums to 1.
        """
        scores = self._score_rows(X)
        if scores.size <= FEW:
            shares = np.empty(scores.shape, dtype=scores.dtype)
            if _native.class_shares(scores, shares):
                shares[~shares.any(axis=1)] = self._class_shares()
            return shares
        shares = _below_largest(scores)[0]
        np.exp(shares, out=shares)
        total = np.add.reduce(shares, axis=1, keepdims=True)
        if np.count_nonzero(total) < total.size:
            shares[total[:, 0] == 0] = self._class_shares()
            total[total == 0] = 1.0
        shares /= total
        return shares

    def posterior(self, X: Any) -> Array:
        """Compute the class probabilities p(c | x); the same as `predict_proba`.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Rows to classify, with the same columns as in `fit`.

        Returns
        -------
        probabilities : array of shape (n, n_classes)
            Probabilities in the order of ``classes_``; every row sums to 1.
        """
        return self.predict_proba(X)

    def _log_posterior(self, joint: Array) -> Array:
        total = log_sum(joint)
        impossible = total == -np.inf
        if impossible.any():
            with np.errstate(divide="ignore"):
                joint[impossible] = np.log(self._class_shares())
            total[impossible] = 0.0
        return joint - total[:, None]


class GenerativeClassifier(BayesRule, Novelty, ABC):
    """A classifier that models p(x, c); a subclass defines `fit`, `_joint` and `_sample_class`."""

    _generative = True

    @abstractmethod
    def _sample_class(self, code: int, n_samples: int, rng: np.random.Generator) -> Array:
        """Rows drawn from p(x | c), (n_samples, d)."""

    def log_density(self, X: Any) -> Array:
        """Compute log p(x) = log Σ_c π_c p(x | c); −inf where p is 0.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Rows to evaluate, with the same columns as in `fit`.

        Returns
        -------
        log_density : array of shape (n,)
            Natural logarithm of p(x) for every row.
        """
        return log_sum(self._joint_rows(X))

    def sample(self, n_samples: int = 1, random_state: RandomState = None) -> tuple[Array, Array]:
        """Draw rows and their labels: first the class from π, then the row from p(x | c).

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows to draw; at least 1.
        random_state : int, Generator or None, default=None
            Seed of the draws. Pass an int for the same rows on every call.

        Returns
        -------
        X : array of shape (n_samples, d)
            Rows in random order.
        y : array of shape (n_samples,)
            The label of the class from which each row was drawn.
        """
        check_is_fitted(self)
        require_sample_count(n_samples, type(self).__name__, self.n_features_in_)
        rng = generator(random_state)
        codes = rng.choice(len(self.classes_), size=n_samples, p=self._class_shares())
        rows: Array | None = None
        for code in range(len(self.classes_)):
            places = np.flatnonzero(codes == code)
            if places.size:
                drawn = self._sample_class(code, places.size, rng)
                if rows is None:
                    rows = np.empty((n_samples, drawn.shape[1]), dtype=drawn.dtype)
                rows[places] = drawn
        assert rows is not None
        return rows, self.classes_[codes]


def _few_as_floats(X: Any) -> Any:
    """Few rows of whole numbers as float64, so that they are checked in short."""
    whole = type(X) is np.ndarray and X.dtype.char in WHOLE and X.size <= DIRECT_SIZE
    return X.astype(np.float64) if whole else X


def _below_largest(logs: Array) -> tuple[Array, Array]:
    """Logarithms minus the largest of their row, and the largest, which is made finite."""
    lowest = LOWEST[logs.dtype.char]
    top = np.maximum.reduce(logs, axis=1, keepdims=True, initial=lowest)
    return logs - top, top


def log_sum(logs: Array) -> Array:
    """log Σ_c e^{l_c} along the last axis, without overflow; −inf where all l are −inf."""
    below, top = _below_largest(logs)
    with np.errstate(divide="ignore"):
        return top[:, 0] + np.log(np.exp(below, out=below).sum(axis=1))


def class_shares(found: Array, priors: Any, who: str, name: str = "priors") -> Array:
    """The class probabilities: the given ones if there are any, else the shares of the rows."""
    if priors is None:
        return found
    given = numbers(priors, name, who, finite=False)
    if given.shape != found.shape:
        raise ParameterError(
            f"{who}: Number of priors must match number of classes: {name} has shape "
            f"{given.shape}, but there are {len(found)} classes. Give one number ≥ 0 per class."
        )
    if not (np.isfinite(given).all() and (given >= 0).all()):
        raise ParameterError(f"{who}: Priors must be non-negative, but {name}={priors!r:.80}.")
    if abs(given.sum() - 1.0) > SHARE_TOLERANCE:
        raise ParameterError(
            f"{who}: The sum of the priors should be 1, but that of {name} is {given.sum():g}. "
            "Divide them by their sum."
        )
    return given / given.sum()
