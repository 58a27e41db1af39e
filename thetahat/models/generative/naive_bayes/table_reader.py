"""How naive Bayes reads tables: numbers stay, categories become codes, and NaN is missing."""

from __future__ import annotations

from abc import ABC
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from thetahat.data.columns.schema import Kind
from thetahat.data.columns.tables import is_table
from thetahat.data.columns.variables import require_distinct_names, sorted_distinct, variables
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.data.validation import is_sparse
from thetahat.estimator.base import is_frame
from thetahat.estimator.generative_classifier import GenerativeClassifier
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.models.tree.growth.columns import TreeColumns


class TableReader(GenerativeClassifier, ABC):
    """A generative classifier of the rows of tables, with the categories that it has seen."""

    _columns: TreeColumns
    _kinds: list[Kind]

    def _open(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        supervised: bool = True,
        check_finite: bool = True,
    ) -> Source:
        """As in the base class, for tables with categories."""
        if isinstance(X, Source) or is_sparse(X):
            source = super()._open(X, y, sample_weight, supervised=supervised)
            self._columns = TreeColumns(source.n_features, source.schema.names)
            self._kinds = [Kind.NUMERIC] * source.n_features
            if isinstance(source, InMemory):
                source.require_finite(missing=True)
            return source
        who = type(self).__name__
        counted = None
        if sample_weight is not None:
            # Categories of rows of weight 0 are not learned.
            weight = np.asarray(sample_weight)
            counted = weight > 0 if weight.ndim == 1 and weight.dtype.kind in "biuf" else None
        columns = TreeColumns.learn(X, who=who)
        if columns.levels and counted is not None and not counted.all():
            columns = TreeColumns.learn(X, rows=counted, who=who)
        self._columns = columns
        self._kinds = _kinds(X, columns.n_features)
        source = super()._open(
            self._coded(X), y, sample_weight, supervised=supervised, check_finite=check_finite
        )
        source = replace(source, schema=columns.schema)
        self._remember(source)
        if is_frame(X):
            validate_data(self, X, skip_check_array=True, reset=True)
        return source

    def _coded(self, X: Any) -> Array:
        """The rows as numbers: K for a category that is not among the K known ones."""
        rows = self._columns.read(X, who=type(self).__name__)
        levels = self._columns.levels
        if levels:
            columns = variables(X if is_table(X) else np.asarray(X, dtype=object))
            for place, known in levels.items():
                unseen = np.isnan(rows[:, place]) & (columns[place].distinct()[1] >= 0)
                rows[unseen, place] = len(known)
        return rows

    def _open_again(self, X: Any) -> Source:
        if self._is_small_and_sound(X) and not self._columns.levels:
            return InMemory(X=X, n_features=X.shape[1], dtype=X.dtype)
        check_is_fitted(self)
        if isinstance(X, Source):
            self._require_same_columns(X)
            return X.with_missing()
        if is_sparse(X):
            return super()._open_again(X)
        if is_frame(X):
            require_distinct_names(X)
            validate_data(self, X, skip_check_array=True, reset=False)
        rows = self._coded(X)
        if not is_frame(X):
            validate_data(self, rows, skip_check_array=True, reset=False)
        source = InMemory(
            X=rows, n_features=rows.shape[1], dtype=rows.dtype, schema=self._columns.schema
        )
        source.require_finite(missing=True)
        return source


def _kinds(X: Any, n_features: int) -> list[Kind]:
    """The kinds of the columns by their types."""
    if is_table(X) or (isinstance(X, np.ndarray) and X.dtype.kind in "OUST"):
        return [column.kind for column in variables(X)]
    if isinstance(X, np.ndarray):
        return [Kind.BOOLEAN if X.dtype.kind == "b" else Kind.NUMERIC] * n_features
    array = np.asarray(X, dtype=object)
    return [column.kind for column in variables(array)]


def joined_columns(earlier: TreeColumns, batch: TreeColumns, who: str) -> TreeColumns:
    """The columns of earlier batches, with the categories of one more batch."""
    other = sorted(earlier.levels.keys() ^ batch.levels.keys())
    if other:
        label = repr(earlier.names[other[0]]) if earlier.names else str(other[0])
        held = ("numbers", "categories") if other[0] in batch.levels else ("categories", "numbers")
        raise DataError(
            f"{who}.partial_fit: Column {label} holds {held[1]} in this batch, but {held[0]} in "
            "earlier ones. Convert it, so that all batches have columns of the same types."
        )
    levels = {}
    for place, known in earlier.levels.items():
        new = [each for each in batch.levels[place] if each not in known]
        ordered = place not in earlier.categorical
        levels[place] = (*known, *new) if ordered or not new else sorted_distinct([*known, *new])
    return replace(earlier, levels=levels)


def new_codes(before: TreeColumns, after: TreeColumns) -> dict[int, Array]:
    """For each column of categories, the codes in `after` of the codes in `before`."""
    return {
        place: np.array([after.levels[place].index(each) for each in known], dtype=np.float64)
        for place, known in before.levels.items()
    }
