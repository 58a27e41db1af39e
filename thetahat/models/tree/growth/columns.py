"""How a table becomes what trees eat: a matrix of floats in which NaN means missing.

Numbers stay as they are, ±∞ among them, for only their order counts. Ordered categories become
their places 0, 1, … in that order, and are numbers from there on. Unordered categories and text
become codes 0, …, K−1, and the tree divides them by sets. A category that was not there in `learn`
is missing in `read`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thetahat.data.columns.schema import Column, Kind, Schema
from thetahat.data.columns.tables import is_table, table_to_numpy
from thetahat.data.columns.variables import ArrayVariable, Variable, variables
from thetahat.data.validation import as_features, is_sparse, require_matrix
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class TreeColumns:
    """The columns a tree was grown on; a value, the same for every row read later."""

    n_features: int
    names: tuple[str, ...] = ()
    """Their names, empty when they came without."""
    levels: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    """Of each column that is held as codes, the values in the order of the codes."""
    categorical: tuple[int, ...] = ()
    """Which of those have no order."""

    @classmethod
    def learn(
        cls,
        X: Any,
        categorical_features: Any = None,
        *,
        rows: Array | None = None,
        who: str = "This model",
    ) -> TreeColumns:
        """What the columns of X are, by their types and by `categorical_features`.

        `rows` (a Boolean mask) are those that count; categories of the others are not learned.
        Cost: O(d), and O(n) for each column of text or of declared categories.
        """
        X = _as_columns(X, who)
        n_features, names = _width(X), _names(X)
        asked = _asked_for(categorical_features, n_features, names, who)
        levels: dict[int, tuple[Any, ...]] = {}
        categorical = []
        for place, variable in _coded(X, asked):
            if variable.kind is Kind.ORDINAL and place not in asked:
                levels[place] = variable.categories or ()
            else:
                levels[place] = variable.held(rows)
                categorical.append(place)
        return cls(n_features, names, levels, tuple(categorical))

    def read(self, X: Any, *, who: str = "This model") -> Array:
        """The rows of X as float32 or float64, in place where X is such an array already."""
        X = _as_columns(X, who)
        if _width(X) != self.n_features:
            raise DataError(
                f"X has {_width(X)} features, but {who} is expecting {self.n_features} features "
                "as input. Give the columns of fit."
            )
        if isinstance(X, np.ndarray) and X.dtype.kind == "f":
            if not self.levels:
                return X
            rows = X.copy()
            for place, levels in self.levels.items():
                rows[:, place] = ArrayVariable(place, X[:, place]).codes(levels)
            return rows
        columns = variables(X)
        for place, column in enumerate(columns):
            if place not in self.levels and not column.kind.is_number:
                raise DataError(_not_a_number(column))
        rows = table_to_numpy(X)[0] if is_table(X) and not self.levels else self._encode(columns)
        require_matrix(rows.shape, who)
        return rows

    def _encode(self, columns: list[Variable]) -> Array:
        """Columns side by side, float32 when all that hold numbers are."""
        plain = [column for place, column in enumerate(columns) if place not in self.levels]
        single = bool(plain) and all(column.is_single for column in plain)
        shape = (len(columns[0].values), len(columns))
        rows = np.empty(shape, dtype=np.float32 if single else np.float64, order="F")
        for place, column in enumerate(columns):
            known = self.levels.get(place)
            rows[:, place] = column.numbers() if known is None else column.codes(known)
        return rows

    @property
    def is_categorical(self) -> Array:
        """Per column, whether it holds unordered codes (bool)."""
        mask = np.zeros(self.n_features, dtype=bool)
        mask[list(self.categorical)] = True
        return mask

    @property
    def n_categories(self) -> Array:
        """Per column, the number of its unordered categories; 0 for columns of numbers (int64)."""
        counts = np.zeros(self.n_features, dtype=np.int64)
        for place in self.categorical:
            counts[place] = len(self.levels[place])
        return counts

    @property
    def schema(self) -> Schema:
        """The columns by name, empty when they have none."""
        return Schema(
            tuple(
                Column(name, self._kind(place), self.levels.get(place, ()))
                for place, name in enumerate(self.names)
            )
        )

    def _kind(self, place: int) -> Kind:
        if place in self.categorical:
            return Kind.CATEGORICAL
        return Kind.ORDINAL if place in self.levels else Kind.NUMERIC


def _as_columns(X: Any, who: str) -> Any:
    """X as a table, a 2-D array of objects or text, or a 2-D float array (sparse ones dense)."""
    if is_sparse(X):
        csr, _ = as_features(X, who=who)
        n, d = csr.shape
        require_memory(
            n * d * csr.dtype.itemsize,
            f"{who}: trees read X dense, and the {n} × {d} sparse X",
            "Keep fewer columns (sklearn.feature_selection), use a model for sparse rows such as "
            "LogisticRegression, or raise the limit with th.config(memory=...).",
        )
        return csr.toarray()
    if is_table(X) and not _is_lone(X):
        return X
    if type(X) is np.ndarray and X.dtype.kind in "OUST":
        return _as_objects(X, who)
    if isinstance(X, list | tuple) and np.asarray(X).dtype.kind in "OUST":
        # As objects at once: NumPy would write the 1 of [1, "a"] as text.
        return _as_objects(np.array(X, dtype=object), who)
    return as_features(X, who=who)[0]


def _as_objects(X: Array, who: str) -> Array:
    require_matrix(X.shape, who)
    for column in variables(X):
        if column.declared_kind is None:
            strange = next(
                (row, value)
                for row, value in enumerate(column.values.tolist())
                if not isinstance(value, str | bytes) and not hasattr(value, "__float__")
            )
            raise TypeError(
                f"{who}: {column} holds {strange[1]!r} at row {strange[0]}: argument must be a "
                "string or a real number. Give numbers, or text for categories."
            )
    return X


def _is_lone(X: Any) -> bool:
    return getattr(X, "ndim", 2) == 1 and not isinstance(X, np.ndarray)


def _width(X: Any) -> int:
    if isinstance(X, np.ndarray):
        return len(X.dtype.names) if X.dtype.names is not None else int(X.shape[1])
    return len(variables(X))


def _names(X: Any) -> tuple[str, ...]:
    """The names of the columns, where all are text."""
    if isinstance(X, np.ndarray):
        return tuple(X.dtype.names or ())
    labels = [column.label for column in variables(X)]
    return tuple(labels) if all(isinstance(label, str) for label in labels) else ()


def _coded(X: Any, asked: set[int]) -> list[tuple[int, Variable]]:
    """The columns to be held as codes: those asked for, and those that are no numbers."""
    if isinstance(X, np.ndarray) and X.dtype.kind == "f":
        return [(place, ArrayVariable(place, X[:, place])) for place in sorted(asked)]
    return [
        (place, column)
        for place, column in enumerate(variables(X))
        if place in asked or not column.kind.is_number
    ]


def _not_a_number(column: Variable) -> str:
    values = column.present()
    return (
        f"{column} is {column.kind.value} (it holds {values[0] if values else None!r}), and held "
        "numbers in fit. Give the same columns as in fit, or fit anew with these."
    )


def _asked_for(
    categorical_features: Any, n_features: int, names: tuple[str, ...], who: str
) -> set[int]:
    """The columns that `categorical_features` names, as scikit-learn reads it."""
    if categorical_features is None:
        return set()
    if isinstance(categorical_features, str) and categorical_features == "from_dtype":
        return set()
    given = np.asarray(categorical_features)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "biuUO"):
        raise ParameterError(
            f"{who}: categorical_features={categorical_features!r} must be None, 'from_dtype', or "
            "an array-like of bool, int or str: a mask, places, or names of columns."
        )
    if given.dtype.kind == "b":
        if given.size != n_features:
            raise ParameterError(
                f"{who}: categorical_features set as a boolean mask must have shape (n_features,) "
                f"= ({n_features},), got: {given.shape}."
            )
        return set(np.flatnonzero(given).tolist())
    if given.dtype.kind in "iu":
        wrong = given[(given < 0) | (given >= n_features)]
        if wrong.size:
            raise ParameterError(
                f"{who}: categorical_features set as integer indices must be in "
                f"[0, n_features - 1] = [0, {n_features - 1}], and {wrong[0]} is not."
            )
        return set(given.tolist())
    if given.size and not names:
        raise ParameterError(
            f"{who}: categorical_features should be passed as an array of integers or as a boolean "
            "mask when the model is fitted on data without feature names."
        )
    for name in given.tolist():
        if name not in names:
            raise ParameterError(
                f"{who}: categorical_features has an item value {name!r} which is not a valid "
                f"feature name of the training data: {', '.join(names[:10])}."
            )
    return {names.index(name) for name in given.tolist()}
