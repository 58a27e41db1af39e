"""Parts of files: rows of a range, rows by their numbers, files without rows, damaged files."""

import sys

import numpy as np
import pandas as pd
import pytest

import thetahat as th
from tests.data.on_disk.file_cases import columns, every_format, write_parquet
from thetahat.data.row_subset import some_rows, target_arrays
from thetahat.foundation.errors import DataError, MissingExtraError, ParameterError


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr("thetahat.data.source.MAX_BLOCK_ROWS", 256)


def rows_of(blocks):
    blocks = list(blocks)
    return blocks[0].start, np.concatenate([block.X for block in blocks])


@every_format
@pytest.mark.parametrize(("first", "last"), [(0, 10), (650, 760), (1_290, 1_301)], ids=str)
def test_a_range_of_rows(tmp_path, suffix, write, first, last):
    data = columns()
    write(tmp_path / f"1{suffix}", data)
    source = th.scan(tmp_path / f"1{suffix}", target=3, weight=4)
    whole = source.arrays()[0]
    start, rows = rows_of(source.between(first, last))
    assert start <= first
    assert start + len(rows) >= last
    np.testing.assert_array_equal(rows, whole[start : start + len(rows)])


def test_only_the_row_groups_of_a_range_are_read(tmp_path):
    frame = pd.DataFrame({"x": np.arange(3_000.0), "y": 0.0})
    for number in range(3):
        part = frame.iloc[1_000 * number : 1_000 * (number + 1)]
        part.to_parquet(tmp_path / f"part-{number}.parquet", row_group_size=100)
    source = th.scan(tmp_path / "part-*.parquet", target="y")
    start, rows = rows_of(source.between(1_950, 2_010))
    assert (start, len(rows)) == (1_900, 200)
    chosen = some_rows(source, np.array([2_005, 1_990]))
    np.testing.assert_array_equal(chosen.arrays()[0][:, 0], [1_990.0, 2_005.0])


@every_format
def test_rows_by_their_numbers(tmp_path, suffix, write):
    data = columns()
    write(tmp_path / f"rows{suffix}", data)
    source = th.scan(tmp_path / f"rows{suffix}", target=3, weight=4)
    numbers = np.sort(np.random.default_rng(0).integers(0, 1_301, 400))  # some rows twice
    X, y, weight = source.arrays()
    subset = some_rows(source, numbers)
    assert subset.n_rows == 400
    for found, expected in zip(subset.arrays(), (X, y, weight), strict=True):
        np.testing.assert_array_equal(found, expected[numbers])
    for found, expected in zip(target_arrays(subset), (y, weight), strict=True):
        np.testing.assert_array_equal(found, expected[numbers])
    coef = th.Ridge().fit(X[numbers], y[numbers], weight[numbers]).coef_
    np.testing.assert_allclose(th.Ridge().fit(subset).coef_, coef, rtol=1e-9)


@every_format
def test_parts_without_rows_are_left_out(tmp_path, suffix, write):
    data = columns(300)
    write(tmp_path / f"part-0{suffix}", {name: values[:0] for name, values in data.items()})
    write(tmp_path / f"part-1{suffix}", data)
    assert th.scan(tmp_path / f"part-*{suffix}", target=3).n_rows == 300
    (tmp_path / f"part-1{suffix}").unlink()
    with pytest.raises(DataError, match="no rows"):
        th.scan(tmp_path / f"part-*{suffix}", target=3)


def test_parts_with_one_class_each(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 2)) + np.repeat([[0.0], [2.0]], 300, axis=0)
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(label=np.repeat(["left", "right"], 300))
    frame[:300].to_parquet(tmp_path / "part-0.parquet")
    frame[300:].to_parquet(tmp_path / "part-1.parquet")
    source = th.scan(tmp_path / "part-*.parquet", target="label")
    expected = th.LogisticRegression().fit(frame[["a", "b"]], frame["label"])
    found = th.LogisticRegression().fit(source)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-6)
    one = th.scan(tmp_path / "part-0.parquet", target="label")
    with pytest.raises(DataError, match=r"one class only, 'left'"):
        th.LogisticRegression().fit(one)


def test_damaged_pages_are_an_error_with_the_name_of_the_file(tmp_path):
    write_parquet(tmp_path / "part-0.parquet", columns())
    content = bytearray((tmp_path / "part-0.parquet").read_bytes())
    content[10:5_000] = b"\xff" * 4_990
    (tmp_path / "part-1.parquet").write_bytes(content)
    source = th.scan(tmp_path / "part-*.parquet", target=3)
    with pytest.raises(DataError, match=r"part-1\.parquet is not a complete Parquet file"):
        th.Ridge().fit(source)


def test_columns_to_read(tmp_path):
    write_parquet(tmp_path / "rows.parquet", columns())
    source = th.scan(tmp_path / "rows.parquet", target="price", columns=["width", "price"])
    assert source.schema.names == ("width",)
    with pytest.raises(ParameterError, match="columns and features"):
        th.scan(tmp_path / "rows.parquet", columns=["width"], features=["width"])
    with pytest.raises(DataError, match="no column 'cost' for target"):
        th.scan(tmp_path / "rows.parquet", columns=["width"], target="cost")


@every_format
def test_urls(tmp_path, suffix, write):
    pytest.importorskip("fsspec")
    write(tmp_path / f"part-0{suffix}", columns(300))
    here = th.scan(tmp_path / f"part-0{suffix}", target=3)
    source = th.scan(f"file://{tmp_path}/part-*{suffix}", target=3)
    np.testing.assert_array_equal(source.arrays()[0], here.arrays()[0])
    with pytest.raises(FileNotFoundError, match="No file matches"):
        th.scan(f"file://{tmp_path}/none-*{suffix}")
    with pytest.raises(FileNotFoundError, match="There is no file"):
        th.scan(f"file://{tmp_path}/none{suffix}")


def test_urls_that_cannot_be_opened(tmp_path, monkeypatch):
    pytest.importorskip("fsspec")
    with pytest.raises(DataError, match="cannot be opened"):
        th.scan("nonsense://rows.parquet")
    with pytest.raises(DataError, match="is a directory"):
        th.scan(f"file://{tmp_path}")


def test_urls_need_fsspec(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(MissingExtraError, match="fsspec"):
        th.scan("s3://bucket/rows.parquet")
