"""Several files by a pattern: the source that one file with all rows gives."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import thetahat as th
from tests.data.on_disk.file_cases import (
    columns,
    every_format,
    write_npy,
    write_parquet,
    write_text,
)
from tests.data.on_disk.test_on_disk import same_blocks


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr("thetahat.data.source.MAX_BLOCK_ROWS", 512)


def write_parts(folder, suffix, write, data, cuts):
    edges = [0, *cuts, len(data["price"])]
    for number, (start, stop) in enumerate(pairwise(edges)):
        part = {name: column[start:stop] for name, column in data.items()}
        write(folder / f"part-{number}{suffix}", part)


@every_format
@pytest.mark.parametrize("cuts", [[512], [1, 2], [100, 700, 1_300]], ids=str)
def test_files_are_joined_in_sorted_order_bit_for_bit(tmp_path, suffix, write, cuts):
    data = columns()
    write(tmp_path / f"whole{suffix}", data)
    write_parts(tmp_path, suffix, write, data, cuts)
    whole = th.scan(tmp_path / f"whole{suffix}", target=3, weight=4)
    source = th.scan(tmp_path / f"part-*{suffix}", target=3, weight=4)
    assert source.n_rows == 1_301
    assert source.schema == whole.schema
    same_blocks(source, whole)
    coef = th.Ridge().fit(whole).coef_
    np.testing.assert_array_equal(th.Ridge().fit(source).coef_, coef)


def test_targets_beside_the_files_cover_all_rows(tmp_path):
    data = columns(600)
    write_parts(tmp_path, ".npy", write_npy, data, [250])
    write_npy(tmp_path / "whole.npy", data)
    target = np.arange(600.0)
    source = th.scan(str(tmp_path / "part-?.npy"), target=target)
    same_blocks(source, th.scan(tmp_path / "whole.npy", target=target))


def test_classes_are_those_of_all_files(tmp_path):
    X = np.random.default_rng(0).standard_normal((900, 2))
    y = np.repeat(["b", "a", "c"], 300)
    for name, part in (("1", slice(0, 450)), ("2", slice(450, 900))):
        write_parquet(
            tmp_path / f"{name}.parquet", {"u": X[part, 0], "v": X[part, 1], "y": y[part]}
        )
    model = th.LogisticRegression().fit(th.scan(tmp_path / "*.parquet", target="y"))
    expected = th.LogisticRegression().fit(X, y)
    assert model.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(model.coef_, expected.coef_)


def test_numbers_in_one_text_file_may_be_labels_in_another(tmp_path):
    (tmp_path / "1.csv").write_text("x,y\n1,1\n2,2\n")
    (tmp_path / "2.csv").write_text("x,y\n3,one\n4,1\n")
    y = th.scan(tmp_path / "*.csv", target="y").arrays()[1]
    assert y.tolist() == ["1", "2", "one", "1"]


def test_the_wider_precision_wins(tmp_path):
    for name, dtype in (("1", np.float32), ("2", np.float64)):
        write_parquet(tmp_path / f"{name}.parquet", {"x": np.array([0.1, 0.2], dtype=dtype)})
    source = th.scan(tmp_path / "*.parquet")
    assert source.dtype == np.float64
    assert source.arrays()[0].ravel().tolist() == [np.float32(0.1), np.float32(0.2), 0.1, 0.2]


@pytest.mark.parametrize(
    ("second", "words"),
    [
        ("a,c\n1,2\n", ["2.csv has no column 'b'", "1.csv"]),
        ("a,b,c\n1,2,3\n", ["2.csv has a column 'c'", "1.csv lacks"]),
        ("b,a\n1,2\n", ["2.csv", "another order"]),
    ],
)
def test_other_columns_are_refused_with_file_and_column(tmp_path, second, words):
    (tmp_path / "1.csv").write_text("a,b\n1,2\n")
    (tmp_path / "2.csv").write_text(second)
    with pytest.raises(th.errors.DataError) as caught:
        th.scan(tmp_path / "*.csv")
    for word in words:
        assert word in str(caught.value)


def test_other_types_and_widths_are_refused(tmp_path):
    write_parquet(tmp_path / "1.parquet", {"a": [1.0], "b": [2.0]})
    write_parquet(tmp_path / "2.parquet", {"a": [1.0], "b": ["x"]})
    with pytest.raises(th.errors.DataError, match=r"2\.parquet: column 'b' has type string"):
        th.scan(tmp_path / "*.parquet")
    write_npy(tmp_path / "1.npy", {"a": [1.0], "b": [2.0]})
    write_npy(tmp_path / "2.npy", {"a": [1.0]})
    with pytest.raises(th.errors.DataError, match=r"2\.npy has 1 column.*has 2"):
        th.scan(tmp_path / "*.npy")


def test_patterns_without_files_and_bad_rows(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"No file matches the pattern '.*x-\*\.csv'"):
        th.scan(tmp_path / "x-*.csv")
    (tmp_path / "1.csv").write_text("a,b\n1,2\n3,4\n")
    (tmp_path / "2.csv").write_text("a,b\n1,\n")
    with pytest.raises(th.errors.DataError, match=r"'b' of \*\.csv .*all 2 files.*row 2"):
        list(th.scan(tmp_path / "*.csv").blocks())


def test_a_file_whose_name_looks_like_a_pattern(tmp_path):
    write_text(tmp_path / "rows[1].csv", columns(5))
    assert th.scan(tmp_path / "rows[1].csv").n_rows == 5


def test_one_matching_file_is_that_file(tmp_path):
    pyarrow.parquet.write_table(pa.table({"a": [1.0, 2.0]}), tmp_path / "only.parquet")
    assert "only.parquet" in repr(th.scan(tmp_path / "*.parquet"))


def test_the_file_of_another_type_is_named(tmp_path):
    parts = [pa.array([1, 2]), pa.array([1.0, 2.0]), pa.nulls(2), pa.array(["a", "b"])]
    for number, values in enumerate(parts):
        pyarrow.parquet.write_table(pa.table({"x": values}), tmp_path / f"{number}.parquet")
    said = r"3\.parquet: column 'x' has type string, but in .*0\.parquet it has type int64"
    with pytest.raises(th.errors.DataError, match=said):
        th.scan(tmp_path / "*.parquet")


def test_text_in_one_file_and_dates_in_another(tmp_path):
    (tmp_path / "0.csv").write_text("day,y\n2020-01-01,1\n")
    (tmp_path / "1.csv").write_text("day,y\nmonday,2\n")
    assert th.scan(tmp_path / "?.csv", features=["y"]).arrays()[0].ravel().tolist() == [1, 2]
    with pytest.raises(th.errors.DataError, match="'day' is of type date32"):
        th.scan(tmp_path / "?.csv", target="y")
