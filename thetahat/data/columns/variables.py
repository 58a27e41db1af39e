"""Columns of pandas, polars, Arrow and NumPy, read by their types.

Each library stores a column in its own way; a `Variable` gives its kind, categories, numbers and
distinct values. Kinds follow from types and are never guessed from values. Libraries are recognised
by the attributes of their objects, so none is imported before it is needed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.data.columns.schema import Column, Kind
from thetahat.foundation.errors import DataError
from thetahat.foundation.optional import optional_import
from thetahat.foundation.types import Array

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


def _kind_of_objects(present: list[Any]) -> Kind | None:
    """The kind of a column of objects: numbers, text (possibly with numbers), or none."""
    others = [value for value in present if not hasattr(value, "__float__")]
    are_text = all(isinstance(value, str | bytes) for value in others)
    return Kind.NUMERIC if not others else Kind.CATEGORICAL if are_text else None


def kind_of_dtype(dtype: Any) -> Kind | None:
    """The kind by the one-letter code of a NumPy type, which pandas' types have as well."""
    return _KIND_OF_CODE.get(dtype.kind)


def arrow_kind(arrow_type: Any) -> Kind | None:
    """The kind of an Arrow type; None for dates, lists and other unsupported types."""
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
        # Unsafe only because integers beyond 2⁵³ are rounded, as they are everywhere else.
        values = values.cast("double", safe=False)
    return values.to_numpy(zero_copy_only=False)


@dataclass(frozen=True)
class Variable(ABC):
    """One column of a table of any library."""

    label: Any
    values: Any

    @property
    def dtype(self) -> Any:
        """Its type, as its library names it."""
        return self.values.dtype

    @property
    @abstractmethod
    def declared_kind(self) -> Kind | None:
        """The kind of its type; None if the type is not supported."""

    @property
    @abstractmethod
    def categories(self) -> tuple[Any, ...] | None:
        """The categories of its type, in order; None if it has none."""

    @property
    @abstractmethod
    def is_single(self) -> bool:
        """Whether it holds 32-bit floating point."""

    @abstractmethod
    def numbers(self) -> Array:
        """Its values as an array of numbers; NaN where missing."""

    @abstractmethod
    def present(self) -> list[Any]:
        """Its values that are not missing."""

    @abstractmethod
    def distinct(self) -> tuple[list[Any], Array]:
        """Its distinct values, and the number of the value at each row; −1 where missing."""

    def codes(self, levels: tuple[Any, ...]) -> Array:
        """The position of each row's value among `levels` (float64); NaN if not among them."""
        place = {level: code for code, level in enumerate(levels)}
        values, which = self.distinct()
        return np.array([place.get(value, np.nan) for value in values] + [np.nan])[which]

    def held(self, rows: Array | None = None) -> tuple[Any, ...]:
        """The distinct values of (some of) its rows in ascending order, without missing ones."""
        values, which = self.distinct()
        found = np.unique(which if rows is None else which[rows])
        return sorted_distinct([values[k] for k in found if k >= 0 and not is_missing(values[k])])

    @property
    def kind(self) -> Kind:
        declared = self.declared_kind
        if declared is None:
            raise DataError(
                f"{self} has type {self.dtype}, which is not a number, Boolean, text or category. "
                "Convert it to numbers (for example a date to days since a start), or drop it."
            )
        return declared

    def describe(self, *, categories: bool = False) -> Column:
        listed: tuple[Any, ...] = ()
        if categories and not self.kind.is_number:
            declared = self.categories
            listed = sorted_distinct(self.present()) if declared is None else declared
        return Column(str(self.label), self.kind, listed)

    def refusal(self) -> str:
        values = self.present()
        first = values[0] if values else None
        example = next((value for value in values if not hasattr(value, "__float__")), first)
        return (
            f"{self} is {self.kind.value} (it holds {example!r}), but must hold numbers. Encode it "
            "first, for example with sklearn.preprocessing.OneHotEncoder, or drop it."
        )

    def __str__(self) -> str:
        return "The column" if self.label is None else f"Column {self.label!r}"


class ArrayVariable(Variable):
    """A field of a structured NumPy array, or a column of a plain one."""

    categories = None

    @property
    def declared_kind(self) -> Kind | None:
        if self.dtype == object:
            return _kind_of_objects(self.present())
        return kind_of_dtype(self.dtype)

    @property
    def is_single(self) -> bool:
        return bool(self.dtype == np.float32)

    def numbers(self) -> Array:
        if self.dtype != object:
            return self.values
        try:
            return np.array(
                [np.nan if is_missing(value) else float(value) for value in self.values]
            )
        except OverflowError as failure:
            raise DataError(
                f"{self} holds an integer of more than 308 digits, which no float can hold. "
                "Rescale the column, or drop the row."
            ) from failure

    def present(self) -> list[Any]:
        return [value for value in self.values.tolist() if not is_missing(value)]

    def distinct(self) -> tuple[list[Any], Array]:
        if self.dtype == object:
            place: dict[Any, int] = {}
            rows = [
                -1 if is_missing(value) else place.setdefault(value, len(place))
                for value in self.values.tolist()
            ]
            return list(place), np.array(rows, dtype=np.intp)
        values, which = np.unique(self.values, return_inverse=True, equal_nan=True)
        if self.dtype.kind == "f" and np.isnan(values[-1]):
            return values[:-1].tolist(), np.where(which == values.size - 1, -1, which)
        return values.tolist(), which


class _PandasVariable(Variable):
    """A pandas Series."""

    @property
    def declared_kind(self) -> Kind | None:
        if hasattr(self.dtype, "categories"):
            return Kind.ORDINAL if self.dtype.ordered else Kind.CATEGORICAL
        if self.dtype == object:
            return _kind_of_objects(self.present())
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

    def distinct(self) -> tuple[list[Any], Array]:
        if hasattr(self.dtype, "categories"):
            return list(self.dtype.categories), self.values.cat.codes.to_numpy()
        which, values = self.values.factorize()
        return values.tolist(), which


class _PolarsVariable(Variable):
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

    def distinct(self) -> tuple[list[Any], Array]:
        import polars

        listed = type(self.dtype).__name__ in ("Enum", "Categorical")
        rows = self.values.cast(polars.String) if listed else self.values
        values = rows.drop_nulls().unique(maintain_order=True).to_list()
        places = range(len(values))
        which = rows.replace_strict(values, places, default=-1, return_dtype=polars.Int64)
        return values, which.to_numpy()


class _ArrowVariable(Variable):
    """An Arrow array, contiguous or chunked."""

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

    def distinct(self) -> tuple[list[Any], Array]:
        whole = self.values.combine_chunks() if hasattr(self.values, "chunk") else self.values
        coded = whole.dictionary_encode()
        # The codes of a dictionary may be unsigned, which cannot hold −1.
        which = coded.indices.cast("int64").fill_null(-1).to_numpy()
        return coded.dictionary.to_pylist(), which


def variables(table: Any) -> list[Variable]:
    """The columns of a table, or the single column that `table` is."""
    if isinstance(table, np.ndarray) and table.dtype.names is None:
        return [ArrayVariable(place, table[:, place]) for place in range(table.shape[1])]
    if isinstance(table, np.ndarray):
        return [ArrayVariable(name, _field(table, name)) for name in table.dtype.names or ()]
    if hasattr(table, "iloc"):
        if is_lone_column(table):
            return [_PandasVariable(table.name, table)]
        require_distinct_names(table)
        return [_PandasVariable(label, table.iloc[:, j]) for j, label in enumerate(table.columns)]
    if hasattr(table, "get_columns"):
        return [_PolarsVariable(series.name, series) for series in table.get_columns()]
    if type(table).__module__.startswith("polars"):
        return [_PolarsVariable(table.name, table)]
    if is_lone_column(table):
        return [_ArrowVariable(None, table)]
    if not hasattr(table, "column_names"):
        pyarrow = optional_import("pyarrow", extra="table", purpose="Reading an Arrow stream")
        table = pyarrow.table(table)
    require_distinct_names(table)
    return [_ArrowVariable(name, table.column(j)) for j, name in enumerate(table.column_names)]


def _field(table: Array, name: str) -> Array:
    """One field of an array with named fields, which must have one value in each row."""
    if table.ndim != 1:
        raise DataError(
            f"An array with named fields must be 1-D, with one record in each row, but it has "
            f"shape {table.shape}. Use array.reshape(-1) if each row holds one record."
        )
    values: Array = table[name]
    if values.ndim != 1:
        raise DataError(
            f"Each field of an array with named fields must hold one value, but field {name!r} "
            f"holds an array of shape {values.shape[1:]}. Use "
            "numpy.lib.recfunctions.structured_to_unstructured(array) to make columns of them."
        )
    return values


def require_distinct_names(table: Any) -> None:
    """Raise an error if two columns of a table of pandas or Arrow have the same name."""
    columns: Any = getattr(table, "columns", ())
    if getattr(columns, "is_unique", False) or is_lone_column(table):  # pandas stores it
        return
    names = list(columns if hasattr(table, "iloc") else getattr(table, "column_names", ()))
    if repeated := [name for name, count in Counter(names).items() if count > 1]:
        more = f" and {len(repeated) - 1} more" if len(repeated) > 1 else ""
        raise DataError(
            f"The table has {names.count(repeated[0])} columns named {repeated[0]!r}{more}, but "
            "the names of columns must be distinct. Rename them, or leave one out: "
            "X.loc[:, ~X.columns.duplicated()] in pandas."
        )


def is_lone_column(table: Any) -> bool:
    """Whether it is a single column (by its class, as columns of a table may be attributes)."""
    if isinstance(table, np.ndarray):
        return False
    return hasattr(type(table), "dtype") or hasattr(type(table), "type")


def sorted_distinct(values: list[Any]) -> tuple[Any, ...]:
    """Distinct values sorted by type first, so that numbers and text can be mixed."""
    return tuple(sorted(set(values), key=lambda value: (type(value).__name__, value)))


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, or pandas' NA, which has no truth value."""
    return value is None or type(value).__name__ == "NAType" or bool(value != value)
