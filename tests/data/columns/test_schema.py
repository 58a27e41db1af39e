"""Kinds come from declared types, in every library alike; tables become arrays with one copy."""

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from thetahat.data.columns.schema import Column, Kind, Schema
from thetahat.data.columns.tables import infer_schema, is_table, table_to_numpy
from thetahat.data.validation import as_source
from thetahat.foundation.errors import DataError

COLUMNS = {
    "size": ([1.5, 2.5, -1.0], Kind.NUMERIC),
    "age": ([3, 1, 2], Kind.DISCRETE),
    "member": ([True, False, True], Kind.BOOLEAN),
    "type": ([0.0, 1.0, 0.0], Kind.NUMERIC),
}
"""A column may have the name of an attribute."""

NUMBERS = np.array([values for values, _ in COLUMNS.values()], dtype=float).T
DATA = {name: values for name, (values, _) in COLUMNS.items()}


def structured(data):
    columns = [np.array(values) for values in data.values()]
    return np.rec.fromarrays(columns, names=list(data)).view(np.ndarray)


class Stream:
    """Some other library's table, known by its Arrow stream alone."""

    def __init__(self, data):
        self.table = pa.table(data)

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


LIBRARIES = [pd.DataFrame, pl.DataFrame, pa.table, pa.record_batch, structured, Stream]
TABLES = [pd.DataFrame, pl.DataFrame, pa.table]
every_library = pytest.mark.parametrize("build", LIBRARIES, ids=lambda build: build.__name__)
every_table = pytest.mark.parametrize(
    "build", TABLES, ids=lambda build: f"{build.__module__}.{build.__name__}"
)


@every_library
def test_names_kinds_and_numbers(build):
    table = build(DATA)
    assert is_table(table)
    numbers, schema = table_to_numpy(table)
    assert numbers.dtype == np.float64
    np.testing.assert_array_equal(numbers, NUMBERS)
    assert schema == infer_schema(table)
    assert schema.names == tuple(DATA)
    assert [column.kind for column in schema.columns] == [kind for _, kind in COLUMNS.values()]


@every_library
def test_single_precision_stays(build):
    table = build({"a": np.float32([1.5, 2.0]), "b": np.float32([0.1, 3.0])})
    numbers, _ = table_to_numpy(table)
    assert numbers.dtype == np.float32
    mixed = build({"a": np.float32([1.5, 2.0]), "b": np.array([0.1, 3.0])})
    assert table_to_numpy(mixed)[0].dtype == np.float64


@every_table
def test_missing_values_become_nan(build):
    table = build({"a": [1.0, None], "b": [2.0, 3.0]})
    np.testing.assert_array_equal(table_to_numpy(table)[0], [[1, 2], [np.nan, 3]])
    with pytest.raises(DataError, match="NaN: column 'a'"):
        as_source(table)


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "boolean", "int64[pyarrow]", "object"])
def test_missing_values_of_pandas_types(dtype):
    column = pd.array([1, None], dtype=dtype) if dtype != "object" else [decimal.Decimal(1), None]
    numbers, _ = table_to_numpy(pd.DataFrame({"a": pd.Series(column, dtype=dtype)}))
    np.testing.assert_array_equal(numbers, [[1], [np.nan]])
    lone, _ = table_to_numpy(pd.Series(column, dtype=dtype))
    np.testing.assert_array_equal(lone, [1, np.nan])


@pytest.mark.parametrize("values", [[1, None], [True, None], [decimal.Decimal("1"), None]])
def test_missing_values_of_arrow_and_polars(values):
    for table in (pa.table({"a": values}), pl.DataFrame({"a": values})):
        np.testing.assert_array_equal(table_to_numpy(table)[0], [[1], [np.nan]])


@pytest.mark.parametrize(
    "build", [pd.Series, pl.Series, pa.array], ids=["pandas", "polars", "arrow"]
)
def test_a_lone_column_is_one_dimensional(build):
    column = build([1, 2, 3])
    assert is_table(column)
    numbers, schema = table_to_numpy(column)
    np.testing.assert_array_equal(numbers, [1.0, 2.0, 3.0])
    assert schema == Schema()
    assert infer_schema(column).columns[0].kind is Kind.DISCRETE


@pytest.mark.parametrize("X", [np.ones((2, 2)), [[1, 2]], 3.0, None, "text", pd.Index([1])])
def test_other_things_are_no_tables(X):
    assert not is_table(X)


def test_a_pandas_block_is_not_copied():
    table = pd.DataFrame(np.arange(12.0).reshape(4, 3), columns=list("abc"))
    assert np.shares_memory(table_to_numpy(table)[0], table.to_numpy())


@pytest.mark.parametrize("labels", [[0, 1], ["a", 1]])
def test_names_are_kept_only_if_all_are_strings(labels):
    table = pd.DataFrame(np.ones((2, 2)), columns=labels)
    assert table_to_numpy(table)[1] == Schema()


def test_chunks_and_slices_of_arrow():
    chunked = pa.chunked_array([[1.0, 2.0], [], [3.0]])
    table = pa.table({"a": chunked, "b": chunked}).slice(1)
    np.testing.assert_array_equal(table_to_numpy(table)[0], [[2, 2], [3, 3]])


# Categories.

SIZES = ("small", "medium", "large")
ORDINAL = [
    pd.DataFrame({"s": pd.Categorical(["large", "small"], categories=SIZES, ordered=True)}),
    pl.DataFrame({"s": ["large", "small"]}, schema={"s": pl.Enum(SIZES)}),
    pa.table({"s": pa.DictionaryArray.from_arrays([2, 0], list(SIZES), ordered=True)}),
]
CATEGORICAL = [
    pd.DataFrame({"s": pd.Categorical(["b", "a"])}),
    pd.DataFrame({"s": ["b", "a", None]}),
    pl.DataFrame({"s": ["b", "a", None]}),
    pl.DataFrame({"s": ["b", "a"]}, schema={"s": pl.Categorical}),
    pa.table({"s": ["b", "a", None]}),
    structured({"s": ["b", "a"]}),
]


@pytest.mark.parametrize("table", ORDINAL, ids=["pandas", "polars", "arrow"])
def test_ordered_categories_are_ordinal(table):
    assert infer_schema(table).columns == (Column("s", Kind.ORDINAL, SIZES),)


@pytest.mark.parametrize("table", CATEGORICAL)
def test_text_and_categories_are_categorical(table):
    assert infer_schema(table).columns == (Column("s", Kind.CATEGORICAL, ("a", "b")),)


def test_arrow_categories_come_in_the_order_of_their_dictionary():
    parts = [pa.array(["b"]).dictionary_encode(), pa.array(["a"]).dictionary_encode()]
    table = pa.table({"s": pa.chunked_array(parts)})
    assert infer_schema(table).columns == (Column("s", Kind.CATEGORICAL, ("b", "a")),)


def test_mixed_objects_have_an_order_too():
    table = pd.DataFrame({"s": pd.Series([2, "a", 1, None], dtype=object)})
    assert infer_schema(table).columns == (Column("s", Kind.CATEGORICAL, (1, 2, "a")),)


@pytest.mark.parametrize("kind", Kind)
def test_the_kind_of_the_response_names_the_task(kind):
    assert kind.task == ("regression" if kind is Kind.NUMERIC else "classification")


# Refusals.


@pytest.mark.parametrize("table", [*CATEGORICAL, *ORDINAL])
def test_columns_that_are_no_numbers_are_named(table):
    with pytest.raises(DataError, match=r"Column 's' is (categorical|ordinal) .*OneHotEncoder"):
        table_to_numpy(table)


def test_the_offending_value_is_shown():
    table = pd.DataFrame({"x": [1.0, 2.0], "s": pd.Series([1, "red"], dtype=object)})
    with pytest.raises(DataError, match=r"Column 's' is categorical .it holds 'red'"):
        table_to_numpy(table)
    with pytest.raises(DataError, match=r"The column is categorical .it holds 'red'"):
        table_to_numpy(pd.Series(["red"]))


@every_table
@pytest.mark.parametrize("value", [datetime.date(2020, 1, 1), [1, 2]])
def test_types_that_are_no_variables(build, value):
    with pytest.raises(DataError, match="Column 'when' has type"):
        infer_schema(build({"when": [value]}))
    with pytest.raises(DataError, match="Column 'when' has type"):
        table_to_numpy(build({"when": [value]}))


def test_a_frame_of_numbers_is_read_as_a_whole(monkeypatch):
    pandas = pytest.importorskip("pandas")
    from thetahat.data.columns import tables

    frame = pandas.DataFrame({"a": [1.5, 2.5], "b": [1, 2], "c": [True, False]})
    slow = [column.numbers().tolist() for column in tables.variables(frame)]
    kinds = [column.kind for column in tables.infer_schema(frame).columns]
    monkeypatch.setattr(tables, "variables", None)
    numbers, schema = tables.table_to_numpy(frame)
    assert numbers.dtype == np.float64
    assert numbers.T.tolist() == slow
    assert [column.kind for column in schema.columns] == kinds
    assert schema.names == ("a", "b", "c")
    single, schema = tables.table_to_numpy(pandas.DataFrame(np.ones((2, 2), dtype=np.float32)))
    assert single.dtype == np.float32
    assert schema.names == ()


def test_arrays_with_named_fields_have_one_value_in_each_row_and_field():
    with pytest.raises(DataError, match=r"must be 1-D.*shape \(5, 1\).*reshape"):
        as_source(np.zeros((5, 1), [("a", "f8"), ("b", "f4")]), who="fit")
    with pytest.raises(DataError, match=r"field 'b' holds an array of shape \(2,\).*unstructured"):
        as_source(np.zeros(5, [("a", "f8"), ("b", "f8", (2,))]), who="fit")
