"""Parts shared by all estimators based on trees: reading tables for fitting and prediction."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from thetahat.data.columns.variables import require_distinct_names
from thetahat.data.in_memory import InMemory
from thetahat.data.row_pieces import StreamedRows
from thetahat.data.row_subset import target_arrays
from thetahat.data.source import Source
from thetahat.data.validation import require_positive_weight
from thetahat.estimator.base import Estimator, is_frame, needs_memory
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array, Matrix
from thetahat.models.tree.growth.columns import TreeColumns


class TreeLearner(Estimator):
    """Accepts numbers, categories and missing values; ``_columns`` stores the kinds of the columns.

    It must precede `Classifier` and similar classes among the bases, because they read rows through
    `_open`, which is defined here.
    """

    _generative = False
    _parametric = False
    _accepts_sparse = True
    _accepts_sparse_blocks: ClassVar[bool] = False
    _accepts_categories: ClassVar[bool] = True
    _streams: ClassVar[bool] = False
    _reads_on_client = True
    _instead_of_blocks: ClassVar[str] = (
        "use a model of trees that reads blocks, such as HistGradientBoostingClassifier, "
        "HistGradientBoostingRegressor, RandomForestClassifier or RandomForestRegressor"
    )
    _keeps_sparse: ClassVar[bool] = False
    """Whether sparse rows stay sparse; otherwise they are converted to a dense array."""
    _accepts_infinity = True
    _columns: TreeColumns

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _open(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        supervised: bool = True,
        check_finite: bool = False,
    ) -> InMemory:
        """Like `_open_columns`, with ``categorical_features`` of the estimator if it has them."""
        return self._open_columns(
            X,
            y,
            sample_weight,
            categorical_features=getattr(self, "categorical_features", "from_dtype"),
            supervised=supervised,
        )

    def _open_columns(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        categorical_features: Any = "from_dtype",
        supervised: bool = True,
    ) -> InMemory:
        """Validate parameters and data, store the columns, and return the rows in memory.

        X of the returned source is float32 or float64, with NaN for missing values and codes for
        categories, which ``_columns`` lists. Cost: O(1) for a float array, O(n·d) for a table.
        """
        who = type(self).__name__
        if self._streams and isinstance(X, Source) and not isinstance(X, InMemory):
            return self._open_streamed(X, categorical_features, supervised=supervised)
        given = self._in_memory(X) if isinstance(X, Source) else None
        table = X if given is None else given.X
        columns = TreeColumns.learn(table, categorical_features, who=who)
        features = columns.read(table, sparse=self._keeps_sparse, who=who)
        if given is not None:
            columns = replace(columns, names=given.schema.names)
            opened: Any = super()._open(
                replace(given, X=features, dtype=features.dtype), supervised=supervised
            )
        else:
            opened = super()._open(
                features, y, sample_weight, supervised=supervised, check_finite=False
            )
        if columns.categorical and opened.weight is not None and not opened.weight.all():
            # Rows of weight zero are ignored, and so are categories that only they contain.
            columns = TreeColumns.learn(
                table, categorical_features, rows=opened.weight > 0, who=who
            )
            opened = replace(opened, X=columns.read(table, who=who))
        opened = replace(opened, schema=columns.schema)
        self._remember(opened)
        if is_frame(X):
            validate_data(self, X, skip_check_array=True, reset=True)
        self._columns = columns
        return opened

    def _open_streamed(
        self, source: Source, categorical_features: Any, *, supervised: bool
    ) -> InMemory:
        """Rows that are read from a source in each pass; only targets and weights are in memory."""
        source = source.with_missing().with_categories()
        columns = TreeColumns.of_source(source, categorical_features, who=type(self).__name__)
        y, weight = target_arrays(source)
        if weight is not None:
            require_positive_weight(weight, type(self).__name__)
        opened: Any = super()._open(
            InMemory(
                X=StreamedRows(source, columns.reader_of(source), source.n_rows),
                y=y,
                weight=weight,
                **{each.name: getattr(source, each.name) for each in fields(Source)},
            ),
            supervised=supervised,
        )
        opened = replace(opened, schema=columns.schema)
        self._remember(opened)
        self._columns = columns
        return opened

    def _rows(self, X: Any) -> Matrix:
        """Rows for a fitted estimator, with their columns compared with those of `fit`."""
        columns: Any = self.__dict__.get("_columns")
        if columns is None:
            check_is_fitted(self)
        if (
            type(X) is np.ndarray
            and (X.dtype == np.float64 or X.dtype == np.float32)
            and not (columns.levels or columns.names)
            and X.ndim == 2
            and X.shape[1] == columns.n_features
            and X.shape[0] > 0
        ):
            return X
        check_is_fitted(self)
        return self._read(X)

    def _read(self, X: Any) -> Array:
        """Rows with the columns of the training rows, for an estimator that has opened these."""
        columns, who = self._columns, type(self).__name__
        if isinstance(X, Source):
            self._require_same_columns(X)
            source = X.with_missing().with_categories()
            if self._streams and not isinstance(X, InMemory):
                rows: Any = StreamedRows(source, columns.reader_of(source), source.n_rows)
                return rows
            held = self._in_memory(X).X
            if any(column.categories for column in X.schema.columns):  # a block of a source
                return columns.reader_of(source)(held)
            return columns.read(held, sparse=self._keeps_sparse, who=who)
        structured = isinstance(X, np.ndarray) and X.dtype.names is not None
        if structured and columns.names and columns.names != X.dtype.names:
            raise DataError(
                "The feature names should match those that were passed during fit: "
                f"{', '.join(columns.names)}, in this order; got {', '.join(X.dtype.names)}."
            )
        if is_frame(X):
            require_distinct_names(X)
            validate_data(self, X, skip_check_array=True, reset=False)
        rows = columns.read(X, sparse=self._keeps_sparse, who=who)
        if not structured and not is_frame(X):
            validate_data(self, rows, skip_check_array=True, reset=False)
        return rows

    def _whole_rows(self, X: Any) -> Array:
        """As `_rows`, for methods that need all rows at once."""
        rows = self._rows(X)
        if isinstance(rows, StreamedRows):
            raise needs_memory(type(self).__name__, "take some of the rows")
        return rows

    def _in_memory(self, source: Source) -> InMemory:
        if not isinstance(source, InMemory):
            raise needs_memory(type(self).__name__, self._instead_of_blocks)
        return source
