"""Files that change or disappear after they were opened: one error, and no partial output."""

import os

import numpy as np
import pytest

import thetahat as th
from tests.data.on_disk.file_cases import columns, every_format, write_npy, write_parquet
from thetahat.foundation.errors import DataError

CHANGED = r"rows\.[a-z.]+ changed from \d+ to \d+ bytes after its rows were opened.*th\.scan"


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    """Blocks of 512 rows, so that small files have several."""
    monkeypatch.setattr("thetahat.data.source.MAX_BLOCK_ROWS", 512)


@every_format
@pytest.mark.parametrize("n_rows", [800, 1_900])
def test_another_number_of_rows_is_refused(tmp_path, suffix, write, n_rows):
    path = tmp_path / f"rows{suffix}"
    write(path, columns())
    source = th.scan(path, target=np.arange(1_301.0))
    write(path, columns(n_rows))
    with pytest.raises(DataError, match=CHANGED):
        th.LinearRegression().fit(source)
    with pytest.raises(DataError, match=CHANGED):
        list(source.between(600, 700))


@every_format
def test_a_removed_file_is_the_same_error_in_all_formats(tmp_path, suffix, write):
    path = tmp_path / f"rows{suffix}"
    write(path, columns())
    source = th.scan(path, target=3)
    path.unlink()
    with pytest.raises(DataError, match=r"rows\.[a-z.]+ does not exist any more"):
        th.LinearRegression().fit(source)
    with pytest.raises(DataError, match="does not exist any more"):
        _ = source.n_rows


@every_format
def test_a_file_of_garbage_is_reported_as_changed(tmp_path, suffix, write):
    path = tmp_path / f"rows{suffix}"
    write(path, columns())
    source = th.scan(path, target=3)
    path.write_bytes(b"\x00garbage\xff" * 3)
    with pytest.raises(DataError, match=CHANGED):
        list(source.blocks())


def test_the_same_size_with_another_time_is_refused(tmp_path):
    path = tmp_path / "rows.npy"
    write_npy(path, columns())
    source = th.scan(path, target=3)
    os.utime(path, ns=(1, 1))
    with pytest.raises(DataError, match=r"rows\.npy changed after its rows were opened"):
        list(source.blocks())


def test_the_part_that_changed_is_named_before_the_first_row(tmp_path):
    for part in "abc":
        write_parquet(tmp_path / f"part-{part}.parquet", columns(600))
    source = th.scan(tmp_path / "part-*.parquet", target="price")
    assert source.n_rows == 1_800
    write_parquet(tmp_path / "part-c.parquet", columns(500))
    with pytest.raises(DataError, match=r"part-c\.parquet changed"):
        next(source.blocks())


def test_a_second_file_that_changed_is_named(tmp_path):
    write_npy(tmp_path / "rows.npy", columns())
    np.save(tmp_path / "target.npy", np.arange(1_301.0))
    source = th.scan(tmp_path / "rows.npy", target=tmp_path / "target.npy")
    np.save(tmp_path / "target.npy", np.arange(1_200.0))
    with pytest.raises(DataError, match=r"target\.npy changed"):
        th.LinearRegression().fit(source)


@pytest.mark.parametrize("suffix", [".npy", ".csv", ".parquet", ".arrow"])
def test_predictions_are_complete_or_not_written(tmp_path, suffix):
    """A file that changes between two blocks is seen at the end of the pass."""
    path = tmp_path / "rows.npy"
    write_npy(path, columns())
    source = th.scan(path)

    class Model:
        def predict(self, X):
            os.utime(path, ns=(1, 1))
            return X[:, 0]

        def __sklearn_tags__(self):
            return th.LinearRegression().__sklearn_tags__()

    out = tmp_path / f"predictions{suffix}"
    with th.config(threads=1), pytest.raises(DataError, match=r"rows\.npy changed"):
        th.predict_to_file(Model(), source, out)
    assert [file.name for file in tmp_path.iterdir()] == ["rows.npy"]


def test_predictions_of_another_number_are_not_written(tmp_path):
    write_npy(tmp_path / "rows.npy", columns())

    class Model:
        def predict(self, X):
            return X[1:, 0]

        def __sklearn_tags__(self):
            return th.LinearRegression().__sklearn_tags__()

    with pytest.raises(DataError, match=r"shape \(511,\) for 512 rows"):
        th.predict_to_file(Model(), th.scan(tmp_path / "rows.npy"), tmp_path / "out.npy")
    assert [file.name for file in tmp_path.iterdir()] == ["rows.npy"]
