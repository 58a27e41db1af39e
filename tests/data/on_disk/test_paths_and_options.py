"""Paths that `scan` accepts, and options that do not fit to a file."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import thetahat as th
from tests.data.on_disk.file_cases import WRITERS, columns, write_parquet
from thetahat.errors import DataError, ParameterError


def test_a_list_of_paths_is_one_table_in_the_order_of_the_list(tmp_path):
    for part, n_rows in (("a", 300), ("b", 200), ("c", 100)):
        write_parquet(tmp_path / f"{part}.parquet", columns(n_rows))
    listed = [str(tmp_path / "b.parquet"), tmp_path / "[ac].parquet"]
    source = th.scan(listed, target="price")
    assert source.n_rows == 600
    assert [path[-9:] for path in source.files] == ["b.parquet", "a.parquet", "c.parquet"]
    alone = [th.scan(tmp_path / f"{part}.parquet", target="price").arrays()[0] for part in "bac"]
    np.testing.assert_array_equal(source.arrays()[0], np.concatenate(alone))
    assert th.scan(listed[:1], target="price").n_rows == 200


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (None, "path must be text or a path object, but got NoneType"),
        (b"rows.csv", "but got bytes"),
        ("", "path is empty"),
        ([], "list of paths is empty"),
        (["rows.csv", None], "There is no file|got NoneType"),
    ],
)
def test_what_is_no_path_is_refused(path, message):
    with pytest.raises((DataError, FileNotFoundError), match=message):
        th.scan(path)


@pytest.mark.parametrize(
    ("path", "message"),
    [(None, "got NoneType"), ("", "is empty"), ("memory://out/found.parquet", "is a URL, but")],
)
def test_predictions_need_a_path_of_this_machine(tmp_path, path, message):
    write_parquet(tmp_path / "rows.parquet", columns())
    source = th.scan(tmp_path / "rows.parquet", target="price")
    with pytest.raises(DataError, match=message):
        th.predict_to_file(th.LinearRegression().fit(source), source, path)


@pytest.mark.parametrize(
    ("suffix", "write"),
    [case for case in WRITERS if not case[0].startswith((".csv", ".tsv"))],
)
@pytest.mark.parametrize(
    "option", [{"delimiter": ";"}, {"header": False}, {"decimal": ","}, {"encoding": "latin-1"}]
)
def test_options_of_text_files_are_refused_for_other_files(tmp_path, suffix, write, option):
    write(tmp_path / f"rows{suffix}", columns())
    (name,) = option
    with pytest.raises(ParameterError, match=f"{name}=.* is for text files, but .*Leave {name}"):
        th.scan(tmp_path / f"rows{suffix}", **option)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_text_with_two_bytes_per_character_is_named(tmp_path, encoding):
    pytest.importorskip("pyarrow")
    path = tmp_path / "rows.csv"
    lines = ["height,price", *(f"{row},{3 * row}" for row in range(20))]
    path.write_bytes("\n".join(lines).encode(encoding))
    with pytest.raises(DataError, match=f'is not utf-8 text.*Pass encoding="{encoding}"'):
        th.scan(path, target="price")
    source = th.scan(path, target="price", encoding=encoding)
    np.testing.assert_array_equal(source.arrays()[1], 3 * np.arange(20))


@pytest.mark.parametrize("name", [None, "id"])
@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_the_index_of_a_table_is_no_feature(tmp_path, suffix, name):
    rows = pd.DataFrame({"x": [1.0, 2.0, 4.0], "y": [3.0, 5.0, 9.0]}, index=[7, 5, 6])
    table, path = pa.Table.from_pandas(rows.rename_axis(name)), tmp_path / f"rows.{suffix}"
    if suffix == "parquet":
        pa.parquet.write_table(table, path)
    else:
        pa.feather.write_feather(table, str(path))
    assert th.scan(path, target="y").schema.names == ("x",)
    index = name or "__index_level_0__"
    asked = th.scan(path, target="y", features=["x", index])
    assert asked.arrays()[0].tolist() == [[1.0, 7.0], [2.0, 5.0], [4.0, 6.0]]
