"""Transformed sources and Dask collections: the same models as in memory, and never tables."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import thetahat as th
from tests.dask_rows import synchronous  # noqa: F401
from thetahat.catalog import estimators

COLUMNS = ["a", "b", "c"]
TRANSFORMERS = [
    name
    for name, kind in estimators().items()
    if hasattr(kind, "fit_transform") and kind._example()._streams
]


def table():
    random = np.random.default_rng(0)
    X = random.random((60, 3))
    rows = pd.DataFrame(X, columns=COLUMNS)
    rows["y"] = X @ [1.0, 2.0, 3.0] + 0.1 * random.standard_normal(60)
    rows["label"] = (X[:, 0] > X[:, 1]).astype(int)
    return rows


@pytest.fixture
def scan(tmp_path):
    table().to_parquet(tmp_path / "rows.parquet")
    return lambda target: th.scan(tmp_path / "rows.parquet", target=target, features=COLUMNS)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TRANSFORMERS)
def test_a_source_with_a_target_stays_one(name, scan):
    model = estimators()[name]._example()
    target = "label" if model.__sklearn_tags__().target_tags.required else "y"
    changed = clone(model).fit_transform(scan(target))
    with sklearn.config_context(transform_output="pandas"):
        named = clone(model).fit_transform(scan(target))
    np.testing.assert_array_equal(changed.arrays()[1], table()[target])
    assert changed.schema.names == ()
    assert len(named.schema.names) == named.n_features == changed.n_features


@pytest.mark.parametrize("output", ["default", "pandas", "polars"])
@pytest.mark.parametrize(
    "steps",
    [
        (th.LinearDiscriminantAnalysis(), th.LogisticRegression()),
        (th.PCA(2), th.HistGradientBoostingClassifier(max_iter=3)),
        (th.Standardizer(), th.RandomForestClassifier(3, random_state=0, splits="histogram")),
    ],
)
@pytest.mark.filterwarnings("error")
def test_pipelines_of_files_are_those_of_memory(steps, output, scan):
    rows = table()
    with sklearn.config_context(transform_output=output):
        found = make_pipeline(*map(clone, steps)).fit(scan("label"))
        expected = make_pipeline(*map(clone, steps)).fit(rows[COLUMNS], rows["label"])
        np.testing.assert_array_equal(found.predict(rows[COLUMNS]), expected.predict(rows[COLUMNS]))
    names = [getattr(model[-1], "feature_names_in_", None) for model in (found, expected)]
    np.testing.assert_array_equal(*names)


def test_names_of_the_columns_before_a_transformer_are_not_those_after_it(scan):
    boosting = th.HistGradientBoostingRegressor(categorical_features=["b"])
    with pytest.raises(th.errors.ParameterError, match="without feature names"):
        make_pipeline(th.PCA(2), boosting).fit(scan("y"))


def test_dask_collections_stay_lazy():
    dd = pytest.importorskip("dask.dataframe")
    rows = dd.from_pandas(table(), npartitions=3)
    with sklearn.config_context(transform_output="pandas"):
        model = make_pipeline(th.Standardizer(), th.Ridge()).fit(rows[COLUMNS], rows["y"])
        changed = model[0].transform(rows[COLUMNS])
    assert type(changed).__module__.startswith("dask.array")
    here = make_pipeline(th.Standardizer(), th.Ridge()).fit(table()[COLUMNS], table()["y"])
    np.testing.assert_allclose(model[-1].coef_, here[-1].coef_, rtol=1e-10)
