"""Predictions written block by block."""

from dataclasses import fields

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import thetahat as th
from tests.data.on_disk.file_cases import columns, write_parquet
from thetahat.data.row_subset import RowSubset
from thetahat.data.source import Source
from thetahat.foundation.errors import DataError, ParameterError

ENDINGS = [".npy", ".csv", ".parquet", ".arrow", ".feather", ".ipc"]


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setattr("thetahat.data.source.MAX_BLOCK_ROWS", 256)
    write_parquet(tmp_path / "rows.parquet", columns())
    return th.scan(tmp_path / "rows.parquet", target="price", weight="count")


def facts_of(source):
    return {each.name: getattr(source, each.name) for each in fields(Source)}


def written(path):
    return np.load(path) if path.suffix == ".npy" else th.scan(path).arrays()[0]


@pytest.mark.parametrize("ending", ENDINGS)
def test_numbers(tmp_path, source, ending):
    model, path = th.Ridge().fit(source), tmp_path / f"out{ending}"
    assert th.predict_to_file(model, source, path) == 1_301
    np.testing.assert_array_equal(written(path).ravel(), model.predict(source))


@pytest.mark.parametrize("ending", ENDINGS)
def test_several_columns(tmp_path, source, ending):
    X = source.arrays()[0]
    model = th.LogisticRegression().fit(X, X[:, 0] > 0)
    path = tmp_path / f"out{ending}"
    th.predict_to_file(model, source, path, method="predict_proba")
    np.testing.assert_array_equal(written(path), model.predict_proba(X))


def test_transformed_rows(tmp_path, source):
    model = th.PCA(2).fit(source)
    th.predict_to_file(model, source, tmp_path / "out.npy", method="transform")
    expected = model.transform(source).arrays()[0]
    np.testing.assert_allclose(np.load(tmp_path / "out.npy"), expected, rtol=1e-12)


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow"])
def test_labels(tmp_path, source, ending):
    X = source.arrays()[0]
    model = th.GaussianNB().fit(X, np.where(X[:, 0] > 0, "positive", "no"))
    path = tmp_path / f"out{ending}"
    th.predict_to_file(model, source, path)
    labels = th.scan(path).with_categories()
    codes = labels.arrays()[0][:, 0].astype(int)
    found = np.array(labels.schema.columns[0].categories)[codes]
    np.testing.assert_array_equal(found, model.predict(X))
    with pytest.raises(ParameterError, match=r"labels of text"):
        th.predict_to_file(model, source, tmp_path / "out.npy")
    assert not (tmp_path / "out.npy").exists()


def test_a_model_of_another_library(tmp_path, source):
    X, y, _ = source.arrays()
    model = Ridge().fit(X, y)
    th.predict_to_file(model, source, tmp_path / "out.npy")
    np.testing.assert_allclose(np.load(tmp_path / "out.npy"), model.predict(X), rtol=1e-12)


def test_a_failure_leaves_the_old_file(tmp_path, source):
    path = tmp_path / "out.csv"
    path.write_text("old")
    model = th.Ridge().fit(source)
    other = th.scan(tmp_path / "rows.parquet", features=["width"])
    with pytest.raises(DataError, match="features"):
        th.predict_to_file(model, other, path)
    assert path.read_text() == "old"


def test_files_of_the_source_are_not_replaced(tmp_path):
    write_parquet(tmp_path / "a.parquet", columns())
    write_parquet(tmp_path / "b.parquet", columns())
    whole = th.scan(tmp_path / "?.parquet", target="price", weight="count")
    np.save(tmp_path / "y.npy", np.zeros(whole.n_rows))
    beside = th.scan(tmp_path / "?.parquet", target=tmp_path / "y.npy")
    model = th.Ridge().fit(whole)
    (tmp_path / "link.parquet").symlink_to(tmp_path / "b.parquet")
    before = (tmp_path / "b.parquet").read_bytes()
    for source, name in [
        (whole, "b.parquet"),
        (whole, "link.parquet"),
        (RowSubset(**facts_of(whole), source=whole, numbers=np.arange(9)), "a.parquet"),
        (beside, "y.npy"),
    ]:
        with pytest.raises(DataError, match=rf"{name} cannot be written: it is the same file as"):
            th.predict_to_file(model, source, tmp_path / name)
    assert (tmp_path / "b.parquet").read_bytes() == before


def test_what_cannot_be_written(tmp_path, source):
    model = th.Ridge().fit(source)
    with pytest.raises(ParameterError, match=r"ending '\.txt'"):
        th.predict_to_file(model, source, tmp_path / "out.txt")
    with pytest.raises(ParameterError, match="no such method"):
        th.predict_to_file(model, source, tmp_path / "out.csv", method="predict_proba")
    with pytest.raises(DataError, match="needs a source"):
        th.predict_to_file(model, np.zeros((3, 3)), tmp_path / "out.csv")
    with pytest.raises(DataError, match="not a directory"):
        th.predict_to_file(model, source, tmp_path / "none" / "out.csv")
