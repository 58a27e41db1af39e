"""How a table becomes the matrix of floats that trees use, in which NaN means missing.

Numbers stay as they are, including ±∞, because only their order matters. Ordered categories become
their positions 0, 1, … in that order and are treated as numbers. Unordered categories and text
become codes 0, …, K−1, which the tree splits into sets. Where the columns to treat as categories
are given, all others are read as numbers, and so are categories that are numbers. A category that
was absent in `learn` is missing in `read`. Sparse rows stay sparse where the model can use them so
and no column is categorical.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from reprlib import repr as short
from typing import Any

import numpy as np

from thetahat.data.columns.schema import Column, Kind, Schema
from thetahat.data.columns.tables import is_table, plain_frame, table_to_numpy
from thetahat.data.columns.variables import ArrayVariable, Variable, is_missing, variables
from thetahat.data.source import Block, Source
from thetahat.data.validation import as_features, is_sparse, require_matrix
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.types import Array, Matrix


@dataclass(frozen=True)
class TreeColumns:
    """Kinds of the columns on which a tree was grown; used to read rows in the same way later."""

    n_features: int
    names: tuple[str, ...] = ()
    """Names of the columns; empty if there are none."""
    levels: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    """For each column stored as codes, its values in the order of the codes."""
    categorical: tuple[int, ...] = ()
    """The columns of codes without an order."""

    @classmethod
    def learn(
        cls,
        X: Any,
        categorical_features: Any = "from_dtype",
        *,
        rows: Array | None = None,
        who: str = "This model",
    ) -> TreeColumns:
        """Determine the columns of X from their types ("from_dtype") or as requested.

        `rows` is a Boolean mask of the rows to use; categories of other rows are not learned. Cost:
        O(d), and O(n) for each column of text or of declared categories.
        """
        if is_sparse(X):
            X = as_features(X, who=who)[0]
            if not _requested(categorical_features, X.shape[1], (), who):
                return cls(X.shape[1])
        X = _as_columns(X, who)
        n_features, names = _width(X), _names(X)
        asked = _requested(categorical_features, n_features, names, who)
        levels: dict[int, tuple[Any, ...]] = {}
        categorical = []
        for place, variable in _coded(X, asked):
            if place not in asked and not _by_type(categorical_features):
                if _numbers_of(variable) is None:
                    example = next(iter(variable.present()), None)
                    raise DataError(_not_listed(variable, example, categorical_features, who))
            elif variable.kind is Kind.ORDINAL and place not in asked:
                levels[place] = variable.categories or ()
            else:
                levels[place] = variable.held(rows)
                categorical.append(place)
        return cls(n_features, names, levels, tuple(categorical))

    @classmethod
    def of_source(
        cls, source: Source, categorical_features: Any = "from_dtype", *, who: str = "This model"
    ) -> TreeColumns:
        """The columns of a source: categories by its schema ("from_dtype") or as requested.

        Cost: O(d), and one pass if `categorical_features` names columns of numbers.
        """
        names, d = source.schema.names, source.n_features
        listed = enumerate(source.schema.columns)
        levels = {place: tuple(column.categories) for place, column in listed if column.categories}
        asked = _requested(categorical_features, d, names, who)
        if not _by_type(categorical_features):
            for place in sorted(set(levels) - asked):
                if (text := _first_text(levels.pop(place))) is not None:
                    name = f"Column {names[place]!r}"
                    raise DataError(_not_listed(name, text, categorical_features, who))
        categorical = {
            place for place in levels if source.schema.columns[place].kind is Kind.CATEGORICAL
        }
        found: dict[int, set[float]] = {place: set() for place in asked - set(levels)}
        if found:
            for each in source.map_blocks(partial(_distinct, sorted(found))):
                for place, values in each.items():
                    found[place].update(values)
        levels.update({place: tuple(sorted(values)) for place, values in found.items()})
        return cls(d, names, levels, tuple(sorted(asked | categorical)))

    def reader_of(self, source: Source) -> Callable[[Array], Array]:
        """From the X of a block of a source to rows with the codes of these columns."""
        own = TreeColumns.of_source(source)
        for place, levels in own.levels.items():
            if place not in self.levels and (text := _first_text(levels)) is not None:
                raise DataError(_not_a_number(f"Column {own.names[place]!r}", text))
        return partial(self._recode, given=own.levels)

    def _recode(self, X: Array, given: dict[int, tuple[Any, ...]]) -> Array:
        rows = X
        for place, levels in self.levels.items():
            if given.get(place) == levels:
                continue
            rows = X.copy() if rows is X else rows
            values = X[:, place]
            if place in given:  # codes of other categories
                objects = np.array([*given[place], None], dtype=object)
                values = objects[np.where(np.isnan(values), -1, values).astype(np.intp)]
            rows[:, place] = ArrayVariable(place, values).codes(levels)
        for place in set(given) - set(self.levels):  # categories that are read as numbers
            rows = X.copy() if rows is X else rows
            numbers = np.array([*given[place], np.nan], dtype=X.dtype)
            codes = X[:, place]
            rows[:, place] = numbers[np.where(np.isnan(codes), -1, codes).astype(np.intp)]
        return rows

    def read(self, X: Any, *, sparse: bool = False, who: str = "This model") -> Matrix:
        """The rows of X as float32 or float64, without a copy if X is already such an array.

        With `sparse`, sparse rows stay sparse (CSR) unless a column is categorical.
        """
        if sparse and is_sparse(X) and not self.levels:
            X = as_features(X, who=who)[0]
        else:
            X = _as_columns(X, who)
        if _width(X) != self.n_features:
            raise DataError(
                f"X has {_width(X)} features, but {who} is expecting {self.n_features} features "
                "as input. Use the same columns as in fit."
            )
        if is_sparse(X):
            return X
        if isinstance(X, np.ndarray) and X.dtype.kind == "f":
            if not self.levels:
                return X
            rows = X.copy()
            for place, levels in self.levels.items():
                rows[:, place] = ArrayVariable(place, X[:, place]).codes(levels)
            return rows
        if not self.levels and (frame := plain_frame(X)) is not None:
            require_matrix(frame[0].shape, who)
            return frame[0]
        columns = variables(X)
        plain = not self.levels and all(column.kind.is_number for column in columns)
        rows = table_to_numpy(X)[0] if is_table(X) and plain else self._encode(columns)
        require_matrix(rows.shape, who)
        return rows

    def _encode(self, columns: list[Variable]) -> Array:
        """The columns as one matrix, float32 if all numeric columns are float32."""
        plain = [column for place, column in enumerate(columns) if place not in self.levels]
        single = bool(plain) and all(column.is_single for column in plain)
        shape = (len(columns[0].values), len(columns))
        rows = np.empty(shape, dtype=np.float32 if single else np.float64, order="F")
        for place, column in enumerate(columns):
            known = self.levels.get(place)
            values = _numbers_of(column) if known is None else column.codes(known)
            if values is None:
                raise DataError(_not_a_number(column, next(iter(column.present()), None)))
            rows[:, place] = values
        return rows

    @property
    def is_categorical(self) -> Array:
        """Whether each column contains unordered codes (bool)."""
        mask = np.zeros(self.n_features, dtype=bool)
        mask[list(self.categorical)] = True
        return mask

    @property
    def n_categories(self) -> Array:
        """Number of unordered categories of each column; 0 for numeric columns (int64)."""
        counts = np.zeros(self.n_features, dtype=np.int64)
        for place in self.categorical:
            counts[place] = len(self.levels[place])
        return counts

    @property
    def schema(self) -> Schema:
        """The columns by name; empty if they have no names."""
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
        return dense_rows(as_features(X, who=who)[0], who)
    if is_table(X) and not _is_lone(X):
        return X
    if type(X) is np.ndarray and X.dtype.kind in "OUST":
        return _as_objects(X, who)
    if isinstance(X, list | tuple) and _holds_text(X):
        # As objects, because NumPy would convert the 1 of [1, "a"] to text.
        return _as_objects(np.array(X, dtype=object), who)
    return as_features(X, who=who)[0]


def _holds_text(X: Any) -> bool:
    try:
        return np.asarray(X).dtype.kind in "OUST"
    except ValueError:  # rows of several lengths, which `as_features` refuses
        return False


def dense_rows(X: Matrix, who: str) -> Array:
    """Sparse rows as a dense array, if the memory suffices; other rows as they are."""
    if not is_sparse(X):
        return X
    n, d = X.shape
    require_memory(
        n * d * X.dtype.itemsize,
        f"{who}: a dense X is needed here; converting the {n} × {d} sparse X",
        "Keep fewer columns (sklearn.feature_selection), use a model that keeps sparse rows, such "
        "as RandomForestClassifier or HistGradientBoostingClassifier without categorical columns, "
        "or raise the limit with th.config(memory=...).",
    )
    return X.toarray()


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
                "string or a real number. Use numbers, or text for categories."
            )
    return X


def _is_lone(X: Any) -> bool:
    return getattr(X, "ndim", 2) == 1 and not isinstance(X, np.ndarray)


def _width(X: Any) -> int:
    if isinstance(X, np.ndarray):
        return len(X.dtype.names) if X.dtype.names is not None else int(X.shape[1])
    return int(X.shape[1]) if is_sparse(X) or hasattr(X, "iloc") else len(variables(X))


def _names(X: Any) -> tuple[str, ...]:
    """Names of the columns, if all of them are strings."""
    if isinstance(X, np.ndarray):
        return tuple(X.dtype.names or ())
    labels = [column.label for column in variables(X)]
    return tuple(labels) if all(isinstance(label, str) for label in labels) else ()


def _coded(X: Any, asked: set[int]) -> list[tuple[int, Variable]]:
    """Columns to store as codes: those requested, and those that are not numeric."""
    if isinstance(X, np.ndarray) and X.dtype.kind == "f":
        return [(place, ArrayVariable(place, X[:, place])) for place in sorted(asked)]
    return [
        (place, column)
        for place, column in enumerate(variables(X))
        if place in asked or not column.kind.is_number
    ]


def _numbers_of(column: Variable) -> Array | None:
    """The numbers of a column, also of categories that are numbers; None if some are not."""
    if column.kind.is_number:
        return column.numbers()
    values, which = column.distinct()
    used = {place: values[place] for place in np.unique(which).tolist() if place >= 0}
    if _first_text(used.values()) is not None:
        return None
    numbers = np.full(len(values) + 1, np.nan)
    for place, value in used.items():
        numbers[place] = np.nan if is_missing(value) else float(value)
    return numbers[which]


def _first_text(levels: Iterable[Any]) -> Any:
    """The first category that is not a number; None if all are."""
    for level in levels:
        is_text = isinstance(level, str | bytes) or not hasattr(level, "__float__")
        if is_text and not is_missing(level):
            return level
    return None


def _not_a_number(column: Variable | str, example: Any) -> str:
    return (
        f"{column} is categorical (it holds {example!r}), but it was numeric in fit. Use the same "
        "columns as in fit, or fit again with these."
    )


def _not_listed(column: Variable | str, example: Any, asked: Any, who: str) -> str:
    return (
        f"{who}: {column} holds {example!r}, but must hold numbers, because it is not among "
        f'categorical_features={short(asked)}. Use categorical_features="from_dtype" to treat '
        "columns of text and of categorical type as categories, list the column there, or drop it."
    )


def _by_type(categorical_features: Any) -> bool:
    """Whether the types of the columns determine which are categorical."""
    return isinstance(categorical_features, str) and categorical_features == "from_dtype"


def _requested(
    categorical_features: Any, n_features: int, names: tuple[str, ...], who: str
) -> set[int]:
    """The columns that `categorical_features` specifies, with the rules of scikit-learn."""
    if categorical_features is None or _by_type(categorical_features):
        return set()
    given = np.asarray(categorical_features)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "biuUO"):
        raise ParameterError(
            f"{who}: categorical_features={categorical_features!r} must be None, 'from_dtype', or "
            "an array-like of bool, int or str: a mask, column numbers or column names."
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
                f"[0, n_features - 1] = [0, {n_features - 1}], but {wrong[0]} is not."
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


def _distinct(places: list[int], block: Block) -> dict[int, list[float]]:
    """The distinct values of some columns of a block, without missing ones."""
    rows = block.X if block.weight is None else block.X[block.weight > 0]
    columns = {place: rows[:, place] for place in places}
    return {
        place: np.unique(values[~np.isnan(values)]).tolist() for place, values in columns.items()
    }
