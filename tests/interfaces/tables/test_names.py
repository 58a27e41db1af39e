"""Names of files and of columns."""

import pandas as pd
import pytest

import thetahat as th
from thetahat.interfaces.tables.reading import column_names, read_batches, read_table


def test_the_index_of_a_data_frame_is_named(tmp_path):
    path = str(tmp_path / "data.csv")
    pd.DataFrame({"x": [1, 2], "y": [3, 4]}).to_csv(path)
    assert read_table(path).columns == column_names(path) == ["index", "x", "y"]
    (batch,) = read_batches(path, columns=["y", "index"])
    assert batch["index"].to_list() == ["0", "1"]
    pd.DataFrame({"x": [1], "index": [3]}).to_csv(path)
    with pytest.raises(th.errors.DataError, match=r"Column 1 .* has no name"):
        read_table(path)


@pytest.mark.parametrize("name", ["data.json", "data.xls", "data.csv.gz"])
def test_other_formats_are_refused_with_a_way_to_convert_them(tmp_path, name):
    path = tmp_path / name
    path.write_text('[{"a": 1}]')
    with pytest.raises(th.errors.DataError, match=r"not (read|supported)"):
        read_table(str(path))
