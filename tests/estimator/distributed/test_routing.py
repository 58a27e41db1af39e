"""Estimators take Dask collections: the fit in memory up to rounding, and lazy predictions."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

import thetahat as th
from tests.dask_rows import synchronous  # noqa: F401
from thetahat.errors import CapabilityError

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

N = 400
CHUNKS = (150, 0, 3, 247)


def data():
    random = np.random.default_rng(0)
    X = random.standard_normal((N, 4)) + np.repeat([[0.0], [3.0]], N // 2, axis=0)
    y = X @ [1.0, -2.0, 0.5, 0.0] + 0.1 * random.standard_normal(N)
    return X, y, random


def targets(kind):
    _, y, random = data()
    return {
        "number": y,
        "positive": np.exp(y / 10),
        "count": random.poisson(np.exp(y / 10)),
        "class": np.array(["a", "b", "c"])[(y > -3).astype(int) + (y > 0)],
        "sorted": np.repeat(["a", "b"], N // 2),
        "none": None,
    }[kind]


CASES = {
    "least squares": (th.LinearRegression(), "number"),
    "ridge": (th.Ridge(), "number"),
    "lasso": (th.Lasso(alpha=0.05), "number"),
    "elastic net": (th.ElasticNet(alpha=0.05), "number"),
    "bayesian ridge": (th.BayesianRidge(), "number"),
    "huber": (th.LinearModel(loss="huber"), "number"),
    "poisson": (th.PoissonRegressor(), "count"),
    "gamma": (th.GammaRegressor(), "positive"),
    "logistic": (th.LogisticRegression(), "class"),
    "one class per partition": (th.LogisticRegression(), "sorted"),
    "linear SVC": (th.LinearSVC(), "sorted"),
    "linear SVR": (th.LinearSVR(), "number"),
    "LDA": (th.LinearDiscriminantAnalysis(), "class"),
    "QDA": (th.QuadraticDiscriminantAnalysis(), "class"),
    "naive Bayes": (th.GaussianNB(), "class"),
    "PCA": (th.PCA(2), "none"),
    "k-means": (th.KMeans(3, random_state=0), "none"),
    "mixture": (th.GaussianMixture(2, random_state=0), "none"),
    "soft k-means": (th.SoftKMeans(2, random_state=0), "none"),
    "Nystroem": (th.Nystroem(n_components=20, random_state=0), "none"),
    "standardizer": (th.Standardizer(), "none"),
}
TOLERANCE = {"linear SVR": 1e-3, "linear SVC": 1e-4}


@pytest.mark.parametrize("case", CASES)
def test_a_fit_equals_that_in_memory(case):
    model, kind = CASES[case]
    X, y = data()[0], targets(kind)
    dX = da.from_array(X, chunks=(CHUNKS, 2))
    dy = None if y is None else da.from_array(y, chunks=100)
    here, there = clone(model).fit(X, y), clone(model).fit(dX, dy)
    close = {"rtol": TOLERANCE.get(case, 1e-6), "atol": TOLERANCE.get(case, 1e-8)}
    compared = 0
    for name in ("coef_", "means_", "theta_", "cluster_centers_", "components_", "labels_"):
        if hasattr(here, name):
            np.testing.assert_allclose(getattr(there, name), getattr(here, name), **close)
            compared += 1
    for name in ("predict", "predict_proba", "transform"):
        if hasattr(here, name):
            lazy, eager = getattr(there, name)(dX), getattr(here, name)(X)
            assert isinstance(lazy, da.Array)
            assert lazy.shape == eager.shape
            assert lazy.dtype == eager.dtype
            assert lazy.chunks[0] == (150, 3, 247)
            if eager.dtype.kind == "f":
                np.testing.assert_allclose(lazy.compute(), eager, **close)
            else:
                np.testing.assert_array_equal(lazy.compute(), eager)
            compared += 1
    if y is not None:
        assert there.score(dX, dy) == pytest.approx(here.score(X, y), abs=1e-6)
    assert compared


def test_dataframes_keep_their_columns_and_weights():
    X, y, random = data()
    weight = random.random(N)
    table = pd.DataFrame(X, columns=list("abcd"))
    lazy = dd.from_pandas(table.assign(y=y, w=weight), npartitions=3)
    columns = lazy[list("abcd")]
    model = th.Ridge().fit(columns, lazy["y"], sample_weight=lazy["w"])
    expected = th.Ridge().fit(table, y, sample_weight=weight)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-8)
    assert list(model.feature_names_in_) == list("abcd")
    np.testing.assert_allclose(model.predict(columns).compute(), expected.predict(table))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(lazy[list("abdc")])


def test_nothing_is_computed_before_the_result_is_asked_for():
    X, y, _ = data()
    model, calls = th.Ridge().fit(X, y), []

    def seen(rows):
        calls.append(len(rows))
        return rows

    dX = da.from_array(X, chunks=(100, 4)).map_blocks(seen, meta=np.empty((0, 0)))
    lazy = model.predict(dX)
    assert len(calls) <= 1  # the first row tells the type
    lazy.compute()
    assert sum(calls) >= N


def test_fit_and_transform_of_a_collection():
    X = data()[0]
    dX = da.from_array(X, chunks=(100, 4))
    lazy = th.PCA(2).fit_transform(dX)
    assert isinstance(lazy, da.Array)
    np.testing.assert_allclose(lazy.compute(), th.PCA(2).fit_transform(X), atol=1e-8)
    labels = th.KMeans(2, random_state=0).fit_predict(dX)
    np.testing.assert_array_equal(labels, th.KMeans(2, random_state=0).fit_predict(X))


def test_trees_take_missing_values_and_grow_as_in_memory():
    X, y, random = data()
    X[random.random(X.shape) < 0.1] = np.nan
    dX, dy = da.from_array(X, chunks=(CHUNKS, 4)), da.from_array(y, chunks=100)
    model = th.HistGradientBoostingRegressor(max_iter=5, early_stopping=False)
    here, there = clone(model).fit(X, y), clone(model).fit(dX, dy)
    np.testing.assert_allclose(there.predict(dX).compute(), here.predict(X), rtol=1e-12)
    with pytest.raises(ValueError, match=r"missing|NaN"):
        th.Ridge().fit(dX, dy)


def test_models_that_need_all_rows_say_so():
    X, y, _ = data()
    dX, dy = da.from_array(X, chunks=(100, 4)), da.from_array(y, chunks=100)
    with pytest.raises(CapabilityError, match="needs its rows in memory"):
        th.KernelRidge().fit(dX, dy)
    with pytest.raises(CapabilityError, match="one batch in memory"):
        th.SGDRegressor().partial_fit(dX, dy)


def test_an_unfitted_model_and_a_failed_fit():
    from sklearn.exceptions import NotFittedError

    X, y, _ = data()
    dX = da.from_array(X, chunks=(100, 4))
    with pytest.raises(NotFittedError):
        th.Ridge().predict(dX)
    model = th.Ridge().fit(X, y)
    before = model.coef_
    bad = da.from_array(np.where(np.arange(N) == 7, np.nan, y), chunks=100)
    with pytest.raises(th.errors.DataError, match="row 7"):
        model.fit(dX, bad)
    assert model.coef_ is before


def test_methods_that_exist_for_some_parameters_are_lazy_too():
    X, _, _ = data()
    y = targets("sorted")
    dX = da.from_array(X, chunks=(150, 4))
    cases = {
        "decision_function": th.NearestCentroid(),
        "predict_proba": th.SGDClassifier(loss="logistic", random_state=0),
    }
    for name, model in cases.items():
        model.fit(X, y)
        lazy = getattr(model, name)(dX)
        assert isinstance(lazy, da.Array)
        np.testing.assert_allclose(lazy.compute(), getattr(model, name)(X), rtol=1e-9)


def test_lazy_predictions_of_models_that_need_their_rows_in_memory():
    X, y, _ = data()
    dX = da.from_array(X, chunks=(150, 4))
    for model in (th.KNeighborsRegressor(3), th.DecisionTreeRegressor(max_depth=3)):
        lazy = model.fit(X, y).predict(dX)
        np.testing.assert_array_equal(lazy.compute(), model.predict(X))


def test_a_collection_is_never_loaded_silently():
    X, y, _ = data()
    dy = da.from_array(y, chunks=100)
    with pytest.raises(CapabilityError, match=r"y is a Dask collection.*y.compute"):
        th.Ridge().fit(X, dy)


def test_a_fit_goes_on_after_its_client_has_ended(tmp_path, monkeypatch):
    X = data()[0]
    dX, path = da.from_array(X, chunks=(150, 4)), tmp_path / "fit.npz"
    expected = th.KMeans(4, random_state=0).fit(dX)
    write, left = th.resumable._write, [2]

    def written(self):
        write(self)
        left[0] -= 1
        if not left[0]:
            raise RuntimeError("the client ends")

    with monkeypatch.context() as patch:
        patch.setattr(th.resumable, "_write", written)
        with pytest.raises(RuntimeError), th.resumable(path, every=0):
            th.KMeans(4, random_state=0).fit(dX)
    with pytest.raises(th.errors.DataError, match="other values in X"), th.resumable(path):
        th.KMeans(4, random_state=0).fit(dX + 1.0)
    with th.resumable(path):
        found = th.KMeans(4, random_state=0).fit(dX)
    assert found.n_iter_ == expected.n_iter_
    np.testing.assert_array_equal(found.cluster_centers_, expected.cluster_centers_)


def test_kernel_features_in_a_pipeline():
    from sklearn.pipeline import make_pipeline

    X, y, _ = data()
    dX, dy = da.from_array(X, chunks=(CHUNKS, 4)), da.from_array(y, chunks=100)
    model = make_pipeline(th.Nystroem(n_components=30, random_state=0), th.Ridge(alpha=0.1))
    here, there = clone(model).fit(X, y), clone(model).fit(dX, dy)
    np.testing.assert_allclose(there.predict(dX).compute(), here.predict(X), rtol=1e-6)


@pytest.mark.parametrize("weight", [0.0, 1e-165, 1e-101])
def test_weights_without_a_usable_size_are_refused_as_in_memory(tmp_path, weight):
    X, y, _ = data()
    weights = np.full(N, weight)
    weights[:200] = 0.0
    with pytest.raises(th.errors.DataError) as expected:
        th.LinearRegression().fit(X, y, sample_weight=weights)
    assert ("all sample weights are zero" in str(expected.value)) == (weight == 0)
    dX, dy, dw = (da.from_array(part, chunks=(150, *part.shape[1:])) for part in (X, y, weights))
    with pytest.raises(th.errors.DataError) as found:
        th.LinearRegression().fit(dX, dy, sample_weight=dw)
    assert str(found.value) == str(expected.value)
    table = tmp_path / "rows.parquet"
    pd.DataFrame(X, columns=list("abcd")).assign(y=y, w=weights).to_parquet(table)
    with pytest.raises(th.errors.DataError) as found:
        th.LinearRegression().fit(th.scan(table, target="y", weight="w"))
    assert str(found.value).endswith(str(expected.value).partition(": ")[2])


def test_a_usable_weight_in_the_last_partition_is_enough():
    X, y, _ = data()
    weights = np.where(np.arange(N) < 300, 0.0, 1.0)
    dX, dy, dw = (da.from_array(part, chunks=(150, *part.shape[1:])) for part in (X, y, weights))
    here = th.LinearRegression().fit(X, y, sample_weight=weights)
    there = th.LinearRegression().fit(dX, dy, sample_weight=dw)
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-9, atol=1e-12)


def test_a_fit_in_memory_loads_a_dask_collection_with_compute():
    X, y, _ = data()
    rows = da.from_array(X, chunks=(100, 4))
    with pytest.raises(CapabilityError, match=r"Load them with X\.compute\(\) and y\.compute\(\),"):
        th.SVR().fit(rows, da.from_array(y, chunks=100))
    with pytest.raises(CapabilityError, match=r"X\.compute\(\),"):
        th.AgglomerativeClustering().fit(rows)
    with pytest.raises(CapabilityError, match=r"source\.arrays\(\)"):
        th.SVR().fit(th.from_dask(rows, y))


def test_an_argument_that_a_fit_does_not_take_is_named_with_the_model():
    X, _, _ = data()
    rows = da.from_array(X, chunks=(100, 4))
    with pytest.raises(TypeError, match=r"KernelPCA\.fit: .*'sample_weight'.*arguments: X, y"):
        th.KernelPCA().fit(rows, sample_weight=da.ones(N, chunks=100))


def test_sparse_results_are_made_for_each_partition_of_a_collection():
    X, _, _ = data()
    model = th.SparseRandomProjection(2, random_state=0).fit(X)
    with pytest.raises(CapabilityError, match=r"X\.map_blocks"):
        model.transform(da.from_array(X, chunks=(100, 4)).map_blocks(sparse.csr_array))
