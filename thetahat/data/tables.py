"""Tables of pandas, polars, Arrow and NumPy, read by the types their columns declare.

Each library holds a column in its own way; a `_Variable` says what is asked of it: its kind, its
categories, its numbers. Kinds come from types and are never guessed from values. The libraries are
recognised by what their objects offer, so none is imported before a table of its own arrives.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.data.schema import Column, Kind, Schema
from thetahat.foundation.errors import DataError
from thetahat.foundation.optional import optional_import

Array = Any


def infer_schema(table: Any) -> Schema:
    """Read names, kinds and categories of the columns of a table from their types.

    Floating point is numeric, integers are discrete, ordered categoricals (polars Enum) are
    ordinal, other categoricals and text are categorical, Booleans are Boolean. The categories
    c₁, ..., c_K come in their declared order; those of text are its distinct values, sorted.
    Cost: O(d), and O(n log n) per text column, whose rows alone are read.

    Parameters
    ----------
    table : pandas, polars or Arrow table or column, or structured NumPy array
        Anything that exports an Arrow stream works too.

    Returns
    -------
    Schema
        One `Column` per column; ``schema.columns[j].kind.task`` names what predicting it is.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> people = np.array([(1.7, 3, True)], dtype=[("size", "f8"), ("age", "i8"), ("member", "?")])
    >>> [column.kind.value for column in th.infer_schema(people).columns]
    ['numeric', 'discrete', 'boolean']
    """
    return Schema(tuple(column.describe(categories=True) for column in _variables(table)))


def is_table(X: Any) -> bool:
    """Whether X carries its own column types: pandas, polars, Arrow, or a structured array."""
    if isinstance(X, np.ndarray):
        return X.dtype.names is not None
    return hasattr(X, "iloc") or hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")


def table_to_numpy(X: Any) -> tuple[Array, Schema]:
    """The numbers of a table, (n, d), or (n,) of a lone column, and what is known of its columns.

    float32 when every column is, else float64; at most one copy; missing values become NaN, so that
    the check for finite numbers names them. Columns that are not numbers are refused by name. The
    schema is empty when the columns are not all named by strings, as in scikit-learn.
    """
    columns = _variables(X)
    for column in columns:
        if not column.kind.is_number:
            raise DataError(column.refusal())
    if _is_lone_column(X):
        return columns[0].numbers(), Schema()
    named = all(isinstance(column.label, str) for column in columns)
    schema = Schema(tuple(column.describe() for column in columns) if named else ())
    if hasattr(X, "iloc") and len({column.dtype for column in columns}) == 1:
        whole = X.to_numpy()
        if whole.dtype in (np.float32, np.float64):
            return whole, schema
    n_rows = len(columns[0].values) if columns else len(X)
    dtype = np.float32 if all(column.is_single for column in columns) else np.float64
    # Columns arrive contiguous and leave as runs of rows: Fortran order suits both.
    numbers = np.empty((n_rows, len(columns)), dtype=dtype, order="F")
    for place, column in enumerate(columns):
        numbers[:, place] = column.numbers()
    return numbers, schema


_KIND_OF_CODE = {
    "f": Kind.NUMERIC,
    "i": Kind.DISCRETE,
    "u": Kind.DISCRETE,
    "b": Kind.BOOLEAN,
    "U": Kind.CATEGORICAL,
    "S": Kind.CATEGORICAL,
    "T": Kind.CATEGORICAL,
    "O": Kind.CATEGORICAL,
}


def kind_of_dtype(dtype: Any) -> Kind | None:
    """The kind by the one-letter code of a NumPy type, which pandas' own types carry as well."""
    return _KIND_OF_CODE.get(dtype.kind)


def arrow_kind(arrow_type: Any) -> Kind | None:
    """The kind of an Arrow type; None for dates, lists and other types that are no variable."""
    types = optional_import("pyarrow.types", extra="table", purpose="Reading an Arrow table")
    if types.is_floating(arrow_type) or types.is_decimal(arrow_type) or types.is_null(arrow_type):
        return Kind.NUMERIC
    if types.is_integer(arrow_type):
        return Kind.DISCRETE
    if types.is_boolean(arrow_type):
        return Kind.BOOLEAN
    if types.is_dictionary(arrow_type):
        return Kind.ORDINAL if arrow_type.ordered else Kind.CATEGORICAL
    text = (types.is_string, types.is_large_string, types.is_string_view)
    return Kind.CATEGORICAL if any(test(arrow_type) for test in text) else None


def arrow_numbers(values: Any) -> Array:
    """An Arrow array of numbers as floating point; nulls become NaN, float32 stays float32."""
    if str(values.type) not in ("float", "double"):
        # Unsafe only in that integers beyond 2⁵³ are rounded, as they are everywhere else.
        values = values.cast("double", safe=False)
    return values.to_numpy(zero_copy_only=False)


@dataclass(frozen=True)
class _Variable(ABC):
    """One column of a table, whatever library holds it."""

    label: Any
    values: Any

    @property
    def dtype(self) -> Any:
        """Its type in the words of its library."""
        return self.values.dtype

    @property
    @abstractmethod
    def declared_kind(self) -> Kind | None:
        """The kind its type declares; None when the type is no variable."""

    @property
    @abstractmethod
    def categories(self) -> tuple[Any, ...] | None:
        """The categories its type lists, in order; None when it lists none."""

    @property
    @abstractmethod
    def is_single(self) -> bool:
        """Whether it holds 32-bit floating point."""

    @abstractmethod
    def numbers(self) -> Array:
        """Its values as an array of numbers, NaN where they are missing."""

    @abstractmethod
    def present(self) -> list[Any]:
        """Its values that are not missing."""

    @property
    def kind(self) -> Kind:
        declared = self.declared_kind
        if declared is None:
            raise DataError(
                f"{self} has type {self.dtype}: no number, Boolean, text or category. Turn it into "
                "numbers (a date into days since a start), or drop it."
            )
        return declared

    def describe(self, *, categories: bool = False) -> Column:
        listed: tuple[Any, ...] = ()
        if categories and not self.kind.is_number:
            declared = self.categories
            listed = _sorted_distinct(self.present()) if declared is None else declared
        return Column(str(self.label), self.kind, listed)

    def refusal(self) -> str:
        values = self.present()
        first = values[0] if values else None
        example = next((value for value in values if not hasattr(value, "__float__")), first)
        return (
            f"{self} is {self.kind.value} (it holds {example!r}); numbers are needed. Encode it "
            "first, for example with sklearn.preprocessing.OneHotEncoder, or drop it."
        )

    def __str__(self) -> str:
        return "The column" if self.label is None else f"Column {self.label!r}"


class _StructuredVariable(_Variable):
    """A field of a structured NumPy array."""

    categories = None

    @property
    def declared_kind(self) -> Kind | None:
        return kind_of_dtype(self.dtype)

    @property
    def is_single(self) -> bool:
        return bool(self.dtype == np.float32)

    def numbers(self) -> Array:
        return self.values

    def present(self) -> list[Any]:
        return [value for value in self.values.tolist() if not is_missing(value)]


class _PandasVariable(_Variable):
    """A pandas Series."""

    @property
    def declared_kind(self) -> Kind | None:
        if hasattr(self.dtype, "categories"):
            return Kind.ORDINAL if self.dtype.ordered else Kind.CATEGORICAL
        if self.dtype == object:
            others = [value for value in self.present() if not hasattr(value, "__float__")]
            are_text = all(isinstance(value, str | bytes) for value in others)
            return Kind.NUMERIC if not others else Kind.CATEGORICAL if are_text else None
        return kind_of_dtype(self.dtype)

    @property
    def categories(self) -> tuple[Any, ...] | None:
        return tuple(self.dtype.categories) if hasattr(self.dtype, "categories") else None

    @property
    def is_single(self) -> bool:
        return str(self.dtype).lower() in ("float32", "float[pyarrow]")

    def numbers(self) -> Array:
        if isinstance(self.dtype, np.dtype) and self.dtype != object:
            return self.values.to_numpy()
        dtype = np.float32 if self.is_single else np.float64
        return self.values.to_numpy(dtype=dtype, na_value=np.nan)

    def present(self) -> list[Any]:
        return list(self.values.dropna())


class _PolarsVariable(_Variable):
    """A polars Series."""

    @property
    def declared_kind(self) -> Kind | None:
        if self.dtype.is_integer():
            return Kind.DISCRETE
        if self.dtype.is_numeric():
            return Kind.NUMERIC
        kinds = {
            "Null": Kind.NUMERIC,
            "Boolean": Kind.BOOLEAN,
            "Enum": Kind.ORDINAL,
            "Categorical": Kind.CATEGORICAL,
            "String": Kind.CATEGORICAL,
        }
        return kinds.get(type(self.dtype).__name__)

    @property
    def categories(self) -> tuple[Any, ...] | None:
        return tuple(self.dtype.categories) if self.declared_kind is Kind.ORDINAL else None

    @property
    def is_single(self) -> bool:
        return str(self.dtype) == "Float32"

    def numbers(self) -> Array:
        import polars

        return self.values.cast(polars.Float32 if self.is_single else polars.Float64).to_numpy()

    def present(self) -> list[Any]:
        return list(self.values.drop_nulls())


class _ArrowVariable(_Variable):
    """An Arrow array, in one piece or in chunks."""

    @property
    def dtype(self) -> Any:
        return self.values.type

    @property
    def declared_kind(self) -> Kind | None:
        return arrow_kind(self.dtype)

    @property
    def categories(self) -> tuple[Any, ...] | None:
        if not hasattr(self.dtype, "ordered") or not len(self.values):
            return None
        values = self.values
        whole = values.unify_dictionaries().chunk(0) if hasattr(values, "chunk") else values
        return tuple(whole.dictionary.to_pylist())

    @property
    def is_single(self) -> bool:
        return str(self.dtype) == "float"

    def numbers(self) -> Array:
        return arrow_numbers(self.values)

    def present(self) -> list[Any]:
        return list(self.values.drop_null().to_pylist())


def _variables(table: Any) -> list[_Variable]:
    """The columns of a table, or the lone column that `table` is."""
    if isinstance(table, np.ndarray):
        return [_StructuredVariable(name, table[name]) for name in table.dtype.names or ()]
    if hasattr(table, "iloc"):
        if _is_lone_column(table):
            return [_PandasVariable(table.name, table)]
        return [_PandasVariable(label, table.iloc[:, j]) for j, label in enumerate(table.columns)]
    if hasattr(table, "get_columns"):
        return [_PolarsVariable(series.name, series) for series in table.get_columns()]
    if type(table).__module__.startswith("polars"):
        return [_PolarsVariable(table.name, table)]
    if _is_lone_column(table):
        return [_ArrowVariable(None, table)]
    if not hasattr(table, "column_names"):
        pyarrow = optional_import("pyarrow", extra="table", purpose="Reading an Arrow stream")
        table = pyarrow.table(table)
    return [_ArrowVariable(name, table.column(j)) for j, name in enumerate(table.column_names)]


def _is_lone_column(table: Any) -> bool:
    """Whether it has one type for all it holds (asked of the class: columns may be attributes)."""
    if isinstance(table, np.ndarray):
        return False
    return hasattr(type(table), "dtype") or hasattr(type(table), "type")


def _sorted_distinct(values: list[Any]) -> tuple[Any, ...]:
    """By type first, so that numbers and text in one column can be put in order."""
    return tuple(sorted(set(values), key=lambda value: (type(value).__name__, value)))


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, or pandas' NA, which has no truth value of its own."""
    return value is None or type(value).__name__ == "NAType" or bool(value != value)
