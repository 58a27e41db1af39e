"""Files that fsspec opens: changes are noticed, and copies belong to one file alone."""

import pickle
from uuid import uuid4

import numpy as np
import pytest

import thetahat as th
from thetahat.errors import DataError

fsspec = pytest.importorskip("fsspec")
pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


@pytest.fixture
def folder():
    """A new folder in the memory of fsspec."""
    return f"memory://{uuid4().hex}"


def table(slope=2.0, n_rows=50):
    x = np.arange(float(n_rows))
    return pd.DataFrame({"a": x, "b": x % 7, "y": slope * x})


def put(url, frame):
    with fsspec.open(url, "wb") as file:
        if url.endswith(".csv"):
            file.write(frame.to_csv(index=False).encode())
        else:
            frame.to_parquet(file, index=False)


def slope(source):
    return float(th.LinearRegression().fit(source).coef_[0].round(6))


@pytest.mark.parametrize(
    "model",
    [th.Ridge(), th.HistGradientBoostingRegressor(max_iter=2), th.RandomForestRegressor(2)],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize(
    "after",
    [table(3.0), table(n_rows=20), table().rename(columns={"a": "q"})],
    ids=["other-values", "fewer-rows", "other-names"],
)
def test_a_changed_file_is_an_error_that_names_it(folder, model, after):
    put(f"{folder}/rows.parquet", table())
    source = th.scan(f"{folder}/rows.parquet", target="y")
    put(f"{folder}/rows.parquet", after)
    with pytest.raises(DataError, match=r"rows\.parquet changed.* after its rows were opened"):
        model.fit(source)


def test_a_removed_file_is_an_error_that_names_it(folder):
    put(f"{folder}/rows.parquet", table())
    source = th.scan(f"{folder}/rows.parquet", target="y")
    fsspec.filesystem("memory").rm(f"{folder}/rows.parquet")
    with pytest.raises(DataError, match=r"rows\.parquet does not exist any more"):
        th.Ridge().fit(source)


def test_an_unchanged_file_is_read_again_also_by_a_copy_of_the_source(folder):
    put(f"{folder}/rows.parquet", table())
    source = pickle.loads(pickle.dumps(th.scan(f"{folder}/rows.parquet", target="y")))
    assert slope(source) == slope(source) == 2.0


def test_text_files_of_the_same_name_in_two_folders_are_two_files(folder):
    put(f"{folder}/one/rows.csv", table(2.0))
    put(f"{folder}/two/rows.csv", table(5.0))
    first, second = (th.scan(f"{folder}/{name}/rows.csv", target="y") for name in ("one", "two"))
    assert (slope(first), slope(second)) == (2.0, 5.0)
    both = th.scan(f"{folder}/*/rows.csv", target="y").arrays()[1]
    np.testing.assert_array_equal(both[[1, 51]], [2.0, 5.0])


def test_a_text_file_that_is_opened_again_has_its_new_rows(folder):
    put(f"{folder}/rows.csv", table(2.0))
    old = th.scan(f"{folder}/rows.csv", target="y")
    put(f"{folder}/rows.csv", table(7.0))
    assert slope(th.scan(f"{folder}/rows.csv", target="y")) == 7.0
    assert slope(old) == 2.0  # of the copy
