"""Predictions written block by block."""

from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import Pipeline, make_pipeline

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
    with pytest.raises(DataError, match="is not a directory"):
        th.predict_to_file(model, source, "~nobody-of-this-name/out.csv")


NAMES = ["height", "width", "depth"]


def table_of(source):
    X, y, _ = source.arrays()
    return pd.DataFrame(X, columns=NAMES), y


def fitted(kind, source):
    X, y = table_of(source)
    match kind:
        case "pipeline":
            return make_pipeline(th.Standardizer(), th.Ridge()).fit(source)
        case "nested":
            return make_pipeline("passthrough", make_pipeline(th.Standardizer(), th.Ridge())).fit(
                source
            )
        case "mixed":
            return make_pipeline(th.Standardizer(), Ridge()).fit(X, y)
        case _:
            return Ridge().fit(X, y)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", ["pipeline", "nested", "mixed", "foreign"])
def test_columns_are_compared_by_name(tmp_path, source, kind):
    model, path = fitted(kind, source), tmp_path / "out.npy"
    th.predict_to_file(model, source, path)
    np.testing.assert_allclose(np.load(path), model.predict(table_of(source)[0]), rtol=1e-9)
    path.unlink()
    for features in (NAMES[::-1], ["height", "width", "price"]):
        other = th.scan(tmp_path / "rows.parquet", features=features)
        with pytest.raises(DataError, match=r"features=list\(model\.feature_names_in_\)"):
            th.predict_to_file(model, other, path)
    assert not path.exists()


def test_a_pipeline_of_trees_accepts_categories_and_missing_values(tmp_path):
    values = {**columns(), "colour": np.where(columns()["width"] > 0, "red", "blue")}
    values["height"][3] = np.nan
    write_parquet(tmp_path / "rows.parquet", values)
    source = th.scan(tmp_path / "rows.parquet", target="price")
    tree = th.HistGradientBoostingRegressor().fit(source)
    expected = tree.predict(source)
    for model in (Pipeline([("m", tree)]), Pipeline([("p", Pipeline([("m", tree)]))])):
        th.predict_to_file(model, source, tmp_path / "out.npy")
        np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), expected)


@pytest.mark.parametrize("method", ["fit", "fit_predict", "partial_fit", "score", "set_params"])
def test_methods_without_results_are_refused(tmp_path, source, method):
    with pytest.raises(ParameterError, match="one result per row"):
        th.predict_to_file(th.Ridge(), source, tmp_path / "out.npy", method=method)


def test_dask_arrays_need_from_dask(tmp_path):
    array = pytest.importorskip("dask.array").zeros((3, 3))
    with pytest.raises(DataError, match=r"th\.from_dask\(X\)"):
        th.predict_to_file(th.Ridge(), array, tmp_path / "out.npy")


def test_links_and_home_folders(tmp_path, source, monkeypatch):
    model = th.Ridge().fit(source)
    link, real = tmp_path / "link.npy", tmp_path / "real.npy"
    link.symlink_to(real)
    th.predict_to_file(model, source, link)
    assert link.is_symlink()
    assert real.is_file()
    monkeypatch.setenv("HOME", str(tmp_path))
    th.predict_to_file(model, source, "~/home.npy")
    assert (tmp_path / "home.npy").is_file()
