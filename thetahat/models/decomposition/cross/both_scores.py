"""Scores of X and of y, whose directions were found together."""

from __future__ import annotations

from typing import Any

from thetahat.estimator.declaration import with_parameters
from thetahat.foundation.arguments import numbers
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.models.decomposition.cross.deflation import Components
from thetahat.models.decomposition.cross.scatter import Frame
from thetahat.models.decomposition.cross.x_scores import XScores


@with_parameters
class BothScores(XScores):
    """Scores of the rows of X and of y.

    Attributes
    ----------
    y_weights_ : array of shape (n_targets, n_components)
        Directions of the targets, as columns.
    y_loadings_ : array of shape (n_targets, n_components)
        Coefficients of the scores in the reconstruction of y (Q).
    y_rotations_ : array of shape (n_targets, n_components)
        Directions that map centred and scaled targets to scores.
    """

    _multi_output = True

    def _keep_both(self, frame: Frame, found: Components, dtype: Any) -> None:
        self._keep_x(frame, found, dtype)
        self.y_weights_: Array = found.y_weights.astype(dtype)
        self.y_loadings_: Array = found.y_loadings.astype(dtype)
        self.y_rotations_: Array = found.y_rotations.astype(dtype)
        self._y_mean, self._y_std = frame.y_mean, frame.y_scale

    def transform(self, X: Any, y: Any = None, copy: bool = True) -> Any:
        """Compute the scores of rows, and of targets if given. Cost: O(n d k).

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to transform, with the same columns as in `fit`.
        y : array-like of shape (n,) or (n, n_targets), optional
            Targets to transform, with the same columns as in `fit`.
        copy : bool, default=True
            Has no effect, because X and y are never changed. Accepted for compatibility with
            scikit-learn.

        Returns
        -------
        array of shape (n, n_components), or two of them
            The scores of X; with y, the pair of the scores of X and of y.
        """
        scores = super().transform(X)
        if y is None:
            return scores
        targets = as_columns(numbers(y, "y", f"{type(self).__name__}.transform"))
        q = self.y_rotations_.shape[0]
        if targets.shape != (len(scores), q):
            raise DataError(
                f"{type(self).__name__}.transform: y has shape {targets.shape}, but X has "
                f"{len(scores)} rows and there were {q} targets in fit. Pass y of shape "
                f"({len(scores)}, {q})."
            )
        return scores, (targets - self._y_mean) / self._y_std @ self.y_rotations_

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit the model and compute the scores of the same rows. Cost: that of `fit`.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Training rows with finite numbers.
        y : array-like of shape (n,) or (n, n_targets), optional
            Target values. Leave it out if X is a `Source`.
        **params : dict
            Passed on to `fit`, for example ``sample_weight``.

        Returns
        -------
        array of shape (n, n_components), or two of them
            The scores of X; with y, the pair of the scores of X and of y.
        """
        return self.fit(X, y, **params).transform(X, y)

    def inverse_transform(self, X: Any, y: Any = None) -> Any:
        """Compute rows from their scores, and targets if given. Cost: O(n d k).

        Formula: x̂ = x̄ + s·Pt, and likewise for y with its own loadings.

        Parameters
        ----------
        X : array-like or table of shape (n, n_components)
            Scores of X, as returned by `transform`.
        y : array-like of shape (n, n_components), optional
            Scores of y, as returned by `transform`.

        Returns
        -------
        array of shape (n, d), or a pair with one of shape (n, n_targets)
            Rows in the original columns, and with y also targets.
        """
        rows = super().inverse_transform(X)
        if y is None:
            return rows
        scores = numbers(y, "y", f"{type(self).__name__}.inverse_transform")
        if scores.ndim != 2 or scores.shape[1] != self._n_features_out:
            raise DataError(
                f"{type(self).__name__}.inverse_transform: y has shape {scores.shape}, but it must "
                f"have {self._n_features_out} columns. Pass the scores that transform returns."
            )
        return rows, scores @ self.y_loadings_.T * self._y_std + self._y_mean


def as_columns(y: Array) -> Array:
    """The targets as columns of a matrix."""
    return y if y.ndim == 2 else y[:, None]
