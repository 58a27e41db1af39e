"""Parts shared by transformers of single rows: each output row depends on one row of X."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from thetahat.data.source import Block, Source
from thetahat.data.validation import as_source
from thetahat.estimator.base import Estimator
from thetahat.estimator.distributed.transformed import (
    is_transformed_later,
    kept_out_of_tables,
    transformed,
)
from thetahat.foundation.errors import DataError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.types import Array


@kept_out_of_tables
class RowwiseTransformer(OneToOneFeatureMixin, TransformerMixin, Estimator, ABC):
    """A `transform` that works in blocks, keeps the precision, and checks the memory first.

    A subclass transforms a block. If it does more than replace each column by another, it also
    defines the number and the names of the output columns.
    """

    _too_large: ClassVar[str] = "Transform fewer rows at a time."
    """Advice in the error message when the result does not fit in memory."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @abstractmethod
    def fit(self, X: Any, *data: Any, **params: Any) -> Any:
        """Fit the transformer.

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            Training rows with finite numbers.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self
            The fitted transformer.
        """

    def transform(self, X: Any) -> Any:
        """Transform every row. Cost: one pass over X, and the memory of the result.

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            Rows to transform, with the same columns as in `fit`.

        Returns
        -------
        array or Source of shape (n, n_features_out)
            The transformed rows in the precision of X; a table if requested by ``set_output``. A
            `Source` on disk with a target gives a `Source` with the same target, whose rows are
            transformed as they are read, so that a pipeline can be fitted to a file.
        """
        source = self._open_again(X)
        if is_transformed_later(source):
            return transformed(self, source, self._rows_of, self._n_features_out)
        width, size = self._n_features_out, np.dtype(source.dtype).itemsize
        require_memory(
            # Twice, for the blocks and for the whole result.
            2 * source.n_rows * width * size,
            f"{type(self).__name__}: {source.n_rows} rows of {width} features",
            self._too_large,
        )
        return source.map_rows(self._rows_of)

    def _change_block(self, block: Block) -> Block:
        return replace(block, X=self._rows_of(block))

    def _rows_of(self, block: Block) -> Array:
        return self._transform_block(block).astype(block.X.dtype, copy=False)

    def _open_result(self, X: Any) -> Source:
        """Validated rows for `inverse_transform`."""
        check_is_fitted(self)
        who = f"{type(self).__name__}.inverse_transform"
        source = as_source(X, who=who, accept_sparse=False)
        if source.n_features != self._n_features_out:
            raise DataError(
                f"{who}: X has {source.n_features} columns, but transform returns "
                f"{self._n_features_out}. Pass the output of transform."
            )
        return source

    @property
    def _n_features_out(self) -> int:
        return self.n_features_in_

    @abstractmethod
    def _transform_block(self, block: Block) -> Array:
        """The transformed rows of a block."""

    def _label(self, column: int) -> str:
        """Name of a column of X in error messages."""
        names = getattr(self, "feature_names_in_", None)
        return str(column) if names is None else repr(str(names[column]))
