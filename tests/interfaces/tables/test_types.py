"""Types of Parquet files that cannot be read as the kind of a column are refused."""

from datetime import date, timedelta

import polars as pl
import pytest

from thetahat.foundation.errors import DataError
from thetahat.interfaces.prediction import UnknownValues, as_seen
from thetahat.interfaces.problem import pose
from thetahat.interfaces.tables.columns import find_columns
from thetahat.interfaces.tables.types import readable

DAYS = [date(2020, 1, 1), date(2020, 1, 2)]


@pytest.mark.parametrize(
    ("values", "kind", "name"),
    [
        (DAYS, "numeric", "Date"),
        ([[1], [2]], "numeric", "List"),
        ([{"a": 1}, {"a": 2}], "categorical", "Struct"),
        ([b"\xff", b"a"], "text", "Binary"),
        ([timedelta(1), timedelta(2)], "numeric", "Duration"),
        ([1, 2], "date", "Int64"),
    ],
)
def test_other_types_are_refused(values, kind, name):
    with pytest.raises(DataError, match=f"'a' has the type {name}, but must hold"):
        as_seen(pl.DataFrame({"a": values}), {"a": kind}, {}, None, UnknownValues())
    with pytest.raises(DataError, match=f"'a' has the type {name}"):
        find_columns(pl.DataFrame({"a": values}), {"a": kind})


def test_categories_are_read_as_their_text():
    column = pl.Series("a", ["1", "2"], dtype=pl.Categorical)
    seen = as_seen(column.to_frame(), {"a": "numeric"}, {}, None, UnknownValues())
    assert seen["a"].to_list() == [1.0, 2.0]
    assert readable(pl.Series("a", DAYS), "date").to_list() == DAYS


def test_truth_values_in_text_are_the_numbers_of_typed_files():
    unknown = UnknownValues()
    batch = pl.DataFrame({"a": ["True", None, "FALSE"]})
    assert as_seen(batch, {"a": "numeric"}, {}, None, unknown)["a"].to_list() == [1.0, None, 0.0]
    assert not unknown.lost
    batch = pl.DataFrame({"a": ["true", "2"]})  # not only truth values
    assert as_seen(batch, {"a": "numeric"}, {}, None, unknown)["a"].to_list() == [None, 2.0]


@pytest.mark.parametrize(
    "values", [[[1], [2]], [{"a": 1}, {"a": 2}], [b"\xff", b"a"], [timedelta(1), timedelta(2)]]
)
def test_a_target_must_be_a_number_or_a_class(values):
    table = pl.DataFrame({"a": [1.0, 2.0] * 10, "y": values * 10})
    with pytest.raises(DataError, match="The target 'y' has the type"):
        pose(table, "y")


def test_lists_are_left_out_in_one_line():
    (found,) = find_columns(pl.DataFrame({"a": [[1, 2], [1, 2]]}))
    assert (found.kind, found.reason) == ("drop", "type List is not a number, text or date")
