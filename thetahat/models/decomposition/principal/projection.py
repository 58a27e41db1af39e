"""Transformers that project rows on a few directions: z = V(x − μ), and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from thetahat.data.source import Block
from thetahat.foundation.types import Array
from thetahat.models.preprocessing.rowwise import RowwiseTransformer


class Projection(ClassNamePrefixFeaturesOutMixin, RowwiseTransformer):
    """A linear map to ``components_``, whose rows are directions in the space of the columns."""

    components_: Array

    def _offset(self) -> Array | None:
        """μ, or None if rows are not centred."""
        return None

    def _output_scale(self) -> Array | None:
        """What components are divided by, or None."""
        return None

    def _column_scale(self) -> Array | None:
        """What centred columns are divided by, or None."""
        return None

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def _transform_block(self, block: Block) -> Array:
        directions, offset = self.components_, self._offset()
        by, divide = self._column_scale(), self._output_scale()
        if by is not None:
            directions = directions / by
        if isinstance(block.X, np.ndarray) and offset is not None:
            # Rows are centred first, because a difference of large products would lose digits.
            found = (block.X - offset) @ directions.T
        else:
            found = block.X @ directions.T
            if offset is not None:
                found = found - offset @ directions.T
        return found if divide is None else found / divide

    def inverse_transform(self, X: Any) -> Array:
        """Compute the rows with the given components, x̂ = μ + Vᵀz. Cost: O(n d k).

        Parameters
        ----------
        X : array-like or table of shape (n, n_components)
            Components, as returned by `transform`.

        Returns
        -------
        array of shape (n, d)
            Rows in the original columns, in the subspace of the directions.
        """
        return self._open_result(X).map_rows(
            lambda block: self._inverse_block(block.X).astype(block.X.dtype, copy=False)
        )

    def _inverse_block(self, Z: Array) -> Array:
        multiply, by, offset = self._output_scale(), self._column_scale(), self._offset()
        rows = (Z if multiply is None else Z * multiply) @ self.components_
        rows = rows if by is None else rows * by
        return rows if offset is None else rows + offset
