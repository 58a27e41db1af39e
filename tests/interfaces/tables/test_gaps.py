"""What stands for a missing value is one, however the file writes it."""

import polars as pl
import pytest

from thetahat.interfaces.problem import pose
from thetahat.interfaces.tables.gaps import ERRORS, without_gaps
from thetahat.interfaces.tables.reading import read_batches, read_table


def both_ways(path):
    """The table as training and as prediction read it."""
    return [read_table(str(path)), pl.concat(read_batches(str(path)))]


@pytest.mark.parametrize("gap", ["NAN", "Nan", "+nan", " NA", "NA ", " NaN ", "#NA"])
def test_gaps_in_text(tmp_path, gap):
    path = tmp_path / "gaps.csv"
    path.write_text(f"a,y\n{gap},1\n2,2\n3,{gap}\n")
    for table in both_ways(path):
        assert table["a"].to_list() == [None, "2", "3"]
        assert table["y"].to_list() == ["1", "2", None]


def test_numbers_that_are_no_numbers(tmp_path):
    path = tmp_path / "nan.parquet"
    nan = float("nan")
    pl.DataFrame({"a": [nan, *range(29)], "y": [0.5 + i for i in range(29)] + [nan]}).write_parquet(
        path
    )
    for table in both_ways(path):
        assert table["a"].null_count() == table["y"].null_count() == 1
    problem = pose(read_table(str(path)), "y")
    assert problem.n_rows == 29
    assert problem.columns[0].n_missing == 1


def test_names_that_stand_for_other_columns():
    table = pl.DataFrame({"*": [" NA", "1"], "^a$": ["2", "NaN "], "a": [1.0, float("nan")]})
    assert without_gaps(table).rows() == [(None, "2", 1.0), ("1", None, None)]


def test_errors_of_a_sheet(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [["a", "y"], *([error, 1] for error in ERRORS), [2, 3]]:
        book.active.append(row)
    path = tmp_path / "errors.xlsx"
    book.save(path)
    assert read_table(str(path))["a"].to_list() == [None] * len(ERRORS) + ["2"]
