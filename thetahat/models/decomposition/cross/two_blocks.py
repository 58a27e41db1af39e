"""Components of X and y together, with scores of both and predictions of y."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, at_least, whole
from thetahat.estimator.source_scores import ScoredRegressor
from thetahat.foundation.arguments import numbers
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.models.decomposition.cross.deflation import Components
from thetahat.models.decomposition.cross.scatter import Frame
from thetahat.models.decomposition.cross.x_scores import XScores


@with_parameters
class TwoBlocks(ScoredRegressor, XScores):
    """Scores of X and y, and predictions of y from those of X.

    Parameters
    ----------
    max_iter : int, default=500
        Maximum number of power iterations per component. Has no effect if the singular vectors are
        computed directly. Must be at least 1.
    tol : float, default=1e-6
        The power iterations stop when the squared change of the weights is below this value.
        Smaller values are more accurate. Must be at least 0.

    Attributes
    ----------
    y_weights_ : array of shape (n_targets, n_components)
        Directions of the targets, as columns.
    y_loadings_ : array of shape (n_targets, n_components)
        Coefficients of the scores in the reconstruction of y (Q).
    y_rotations_ : array of shape (n_targets, n_components)
        Directions that map centred and scaled targets to scores.
    coef_ : array of shape (n_targets, d)
        Coefficients of the linear model ŷ = ȳ + coef_·(x − x̄), in the units of the data.
    intercept_ : array of shape (n_targets,)
        The mean of each target (ȳ), which is the prediction at x̄. Predictions subtract the means
        of the columns first, as in scikit-learn.
    n_iter_ : list of int
        Number of power iterations of each component; 1 if none were needed.
    """

    _: KW_ONLY
    max_iter: int = 500
    tol: float = 1e-06

    _ranges: ClassVar[dict[str, Range]] = XScores._ranges | {
        "max_iter": whole(1),
        "tol": at_least(0),
    }
    _multi_output = True
    _generative = False
    _parametric = True

    def _keep(self, frame: Frame, found: Components, source: Source) -> None:
        self._keep_x(frame, found, source.dtype)
        self.y_weights_: Array = found.y_weights.astype(source.dtype)
        self.y_loadings_: Array = found.y_loadings.astype(source.dtype)
        self.y_rotations_: Array = found.y_rotations.astype(source.dtype)
        self._y_mean, self._y_std = frame.y_mean, frame.y_scale
        coef = (found.coefficients() * frame.y_scale).T / frame.x_scale
        self.coef_: Array = coef.astype(source.dtype)
        self.intercept_: Array = frame.y_mean.astype(source.dtype)
        self.n_iter_ = list(found.n_iter)
        self._one_target = source.n_outputs == 0

    def _training_scores(self, source: InMemory) -> tuple[Array, Array]:
        """The scores of the rows, and those of y at each deflation."""
        T = source.map_rows(self._transform_block).astype(source.dtype, copy=False)
        assert source.y is not None
        Y = (_columns(source.y) - self._y_mean) / self._y_std
        V, Q = self.y_weights_, self.y_loadings_
        inner = np.triu(Q.T @ V, 1)  # what the components before explain of each
        size = np.einsum("ij,ij->j", V, V)
        U = (Y @ V - T @ inner) / np.where(size > 0, size, 1.0)
        return T, U.astype(source.dtype, copy=False)

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
        targets = _columns(numbers(y, "y", f"{type(self).__name__}.transform"))
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

    def predict(self, X: Any, copy: bool = True) -> Array:
        """Predict the target: ŷ = ȳ + coef_·(x − x̄). Cost: O(n d).

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to predict, with the same columns as in `fit`. A `Source` is read block by block.
        copy : bool, default=True
            Has no effect, because X is never changed. Accepted for compatibility with scikit-learn.

        Returns
        -------
        y : array of shape (n,) or (n, n_targets)
            Predicted values.
        """
        return self._open_again(X).map_rows(self._predicted)

    def _predicted(self, block: Block) -> Array:
        found = self._centred_product(block.X, self.coef_.T) + self.intercept_
        found = found.astype(block.X.dtype, copy=False)
        return found[:, 0] if self._one_target else found


def _columns(y: Array) -> Array:
    return y if y.ndim == 2 else y[:, None]
