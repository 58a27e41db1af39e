"""What transformers of single rows share: each row of the output follows from one row of X."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from thetahat.data.source import Block, Source
from thetahat.data.validation import as_source
from thetahat.estimator.base import Estimator
from thetahat.foundation.errors import DataError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.types import Array


class RowwiseTransformer(OneToOneFeatureMixin, TransformerMixin, Estimator, ABC):
    """A `transform` that goes block by block, keeps the precision, and asks for memory first.

    A subclass says what becomes of a block and, where it does more than replace each column by
    another, how wide the result is and what its columns are called.
    """

    _too_large: ClassVar[str] = "Transform fewer rows at a time."
    """The remedy when the result does not fit in memory."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def transform(self, X: Any) -> Array:
        """Transform every row. Cost: one pass over X, and the memory of the result.

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, n_features_out)
            In the precision of X; a table if ``set_output`` says so.
        """
        source = self._open_again(X)
        width, size = self._n_features_out, np.dtype(source.dtype).itemsize
        require_memory(
            # Twice: the blocks, and the whole that they are put together to.
            2 * source.n_rows * width * size,
            f"{type(self).__name__}: {source.n_rows} rows of {width} features",
            self._too_large,
        )
        return source.map_rows(
            lambda block: self._transform_block(block).astype(block.X.dtype, copy=False)
        )

    def _open_result(self, X: Any) -> Source:
        """Rows that `transform` made, on their way back."""
        check_is_fitted(self)
        who = f"{type(self).__name__}.inverse_transform"
        source = as_source(X, who=who, accept_sparse=False)
        if source.n_features != self._n_features_out:
            raise DataError(
                f"{who}: X has {source.n_features} columns; transform makes "
                f"{self._n_features_out}. Pass what it returned."
            )
        return source

    @property
    def _n_features_out(self) -> int:
        return self.n_features_in_

    @abstractmethod
    def _transform_block(self, block: Block) -> Array:
        """The new rows of a block."""

    def _label(self, column: int) -> str:
        """How an error message calls a column of X."""
        names = getattr(self, "feature_names_in_", None)
        return str(column) if names is None else repr(str(names[column]))
