"""Transformers to scores t = Rᵀ(x − x̄)/s, whose directions were found together with a target."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, boolean, whole
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array, Matrix
from thetahat.models.decomposition.cross.deflation import Components
from thetahat.models.decomposition.cross.scatter import Frame
from thetahat.models.preprocessing.rowwise import RowwiseTransformer


@with_parameters
class XScores(ClassNamePrefixFeaturesOutMixin, RowwiseTransformer):
    """Scores of the rows of X.

    Parameters
    ----------
    n_components : int, default=2
        Number of components (k).
    scale : bool, default=True
        Whether to divide every column of X and of the target by its standard deviation, so that
        the result does not depend on their units. Constant columns are not divided.
    copy : bool, default=True
        Has no effect, because X and y are never changed. Accepted for compatibility with
        scikit-learn.

    Attributes
    ----------
    x_weights_ : array of shape (d, n_components)
        Unit directions (W) of the columns that are left after the components before, as columns.
        The entry of the largest size of each direction is positive.
    x_loadings_ : array of shape (d, n_components)
        Coefficients of the scores in the reconstruction of X (P).
    x_rotations_ : array of shape (d, n_components)
        Directions (R) that map centred and scaled rows to scores.
    """

    n_components: Any = 2
    _: KW_ONLY
    scale: bool = True
    copy: bool = True

    _ranges: ClassVar[dict[str, Range]] = {
        "n_components": whole(1),
        "scale": boolean,
        "copy": boolean,
    }
    _accepts_sparse = True

    def _require_components(self, k: int, source: Source, most: int, rule: str) -> None:
        who, n = type(self).__name__, source.n_rows
        if isinstance(source, InMemory) and source.weight is not None:
            n = int(np.count_nonzero(source.weight))
            most = min(most, n)
        if n < 2:
            raise DataError(
                f"{who}: n_samples = {n}, but a covariance needs at least 2 rows of positive "
                "weight. Add rows."
            )
        if k > most:
            raise ParameterError(
                f"{who}: `n_components` upper bound is {most}. Got {k} instead. Reduce "
                f"`n_components`. It may be at most {rule}."
            )

    def _keep_x(self, frame: Frame, found: Components, dtype: Any) -> None:
        """Store the directions, and warn if there are fewer than requested."""
        k = found.x_weights.shape[1]
        if found.count < k:
            less = (
                "1 component explains" if found.count == 1 else f"{found.count} components explain"
            )
            warn(
                f"{type(self).__name__}: y residual is constant at iteration {found.count}: "
                f"{less if found.count else 'no component explains'} what X can explain of y, and "
                f"the others are 0. Use n_components={max(found.count, 1)}."
            )
        self.x_weights_: Array = found.x_weights.astype(dtype)
        self.x_loadings_: Array = found.x_loadings.astype(dtype)
        self.x_rotations_: Array = found.x_rotations.astype(dtype)
        self._x_mean, self._x_std = frame.x_mean, frame.x_scale

    @property
    def _n_features_out(self) -> int:
        return int(self.x_rotations_.shape[1])

    def _transform_block(self, block: Block) -> Array:
        return self._centred_product(block.X, self.x_rotations_ / self._x_std[:, None])

    def _centred_product(self, X: Matrix, directions: Array) -> Array:
        """(X − 1x̄ᵀ)·directions, centred first where rows are dense, which loses no digits."""
        if isinstance(X, np.ndarray):
            return (X - self._x_mean) @ directions
        return X @ directions - self._x_mean @ directions

    def inverse_transform(self, X: Any) -> Any:
        """Compute the rows with the given scores, x̂ = x̄ + s·Pt. Cost: O(n d k).

        Parameters
        ----------
        X : array-like or table of shape (n, n_components)
            Scores, as returned by `transform`.

        Returns
        -------
        array of shape (n, d)
            Rows in the original columns. They equal the rows that were transformed if there are as
            many components as the rank of X.
        """

        def rows(block: Block) -> Array:
            found = block.X @ self.x_loadings_.T * self._x_std + self._x_mean
            return found.astype(block.X.dtype, copy=False)

        return self._open_result(X).map_rows(rows)
