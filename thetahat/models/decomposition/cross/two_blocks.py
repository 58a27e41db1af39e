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
from thetahat.foundation.types import Array
from thetahat.models.decomposition.cross.both_scores import BothScores, as_columns
from thetahat.models.decomposition.cross.deflation import Components
from thetahat.models.decomposition.cross.scatter import Frame


@with_parameters
class TwoBlocks(ScoredRegressor, BothScores):
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

    _ranges: ClassVar[dict[str, Range]] = BothScores._ranges | {
        "max_iter": whole(1),
        "tol": at_least(0),
    }
    _generative = False
    _parametric = True

    def _keep(self, frame: Frame, found: Components, source: Source) -> None:
        self._keep_both(frame, found, source.dtype)
        coef = (found.coefficients() * frame.y_scale).T / frame.x_scale
        self.coef_: Array = coef.astype(source.dtype)
        self.intercept_: Array = frame.y_mean.astype(source.dtype)
        self.n_iter_ = list(found.n_iter)
        self._one_target = source.n_outputs == 0

    def _training_scores(self, source: InMemory) -> tuple[Array, Array]:
        """The scores of the rows, and those of y at each deflation."""
        T = source.map_rows(self._transform_block).astype(source.dtype, copy=False)
        assert source.y is not None
        Y = (as_columns(source.y) - self._y_mean) / self._y_std
        V, Q = self.y_weights_, self.y_loadings_
        inner = np.triu(Q.T @ V, 1)  # what the components before explain of each
        size = np.einsum("ij,ij->j", V, V)
        U = (Y @ V - T @ inner) / np.where(size > 0, size, 1.0)
        return T, U.astype(source.dtype, copy=False)

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
