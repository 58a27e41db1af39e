"""Dask collections of sparse partitions, for models that take sparse rows."""

import numpy as np
import pytest
from scipy import sparse

import thetahat as th
from tests.dask_rows import synchronous  # noqa: F401
from thetahat.foundation.errors import CapabilityError, DataError

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

REGRESSORS = ["LinearRegression", "Ridge", "Lasso", "ElasticNet", "HuberRegressor", "LassoCV"]
CLASSIFIERS = [
    "LogisticRegression",
    "LinearSVC",
    "RidgeClassifier",
    "MultinomialNB",
    "BernoulliNB",
    "ComplementNB",
    "GaussianNB",
]


def data():
    rng = np.random.default_rng(11)
    X = sparse.csr_array(rng.poisson(0.5, (300, 5)).astype(float))
    z = X @ np.array([1.0, -1.0, 0.5, 0.0, 2.0]) + 0.1 * rng.standard_normal(300)
    return X, z, np.where(z > 1, "high", "low")


def delayed(values, size=110):
    return [dask.delayed(values[low : low + size]) for low in range(0, values.shape[0], size)]


def as_array(X, size=110):
    dense = da.from_array(X.toarray(), chunks=(size, X.shape[1]))
    return dense.map_blocks(sparse.csr_array, meta=sparse.csr_array((0, 0)))


@pytest.mark.parametrize("name", [*REGRESSORS, *CLASSIFIERS])
def test_the_fit_is_that_of_memory(name):
    X, numbers, labels = data()
    y = labels if name in CLASSIFIERS else numbers
    here = getattr(th, name)().fit(X, y)
    there = getattr(th, name)().fit(th.from_dask(delayed(X), delayed(y)))
    method = "predict" if name in REGRESSORS else "decision_function"
    method = method if hasattr(here, method) else "predict_log_proba"
    expected = getattr(here, method)(X)
    np.testing.assert_allclose(getattr(there, method)(X), expected, rtol=2e-3, atol=2e-4)


def test_arrays_of_sparse_chunks():
    X, y, _ = data()
    model = th.Ridge().fit(as_array(X), da.from_array(y, chunks=110))
    np.testing.assert_allclose(model.coef_, th.Ridge().fit(X, y).coef_, rtol=1e-10)
    predicted = model.predict(as_array(X)).compute()
    np.testing.assert_allclose(predicted, model.predict(X), rtol=1e-12)


def test_wide_partitions_are_measured_by_their_entries():
    X = sparse.csr_array((np.ones(3), ([0, 1, 2], [5, 10**8, 7])), shape=(4, 10**8 + 1))
    source = th.from_dask(delayed(X, 2))
    assert source.n_features == 10**8 + 1
    assert source.sparse_blocks


@pytest.mark.parametrize("model", [th.Standardizer(), th.HistGradientBoostingRegressor(max_iter=2)])
def test_models_that_need_dense_partitions_say_so(model):
    X, y, _ = data()
    with pytest.raises(CapabilityError, match=r"partitions of X are sparse.*list of delayed"):
        model.fit(th.from_dask(delayed(X), delayed(y)))
    dense = [part.toarray() for part in delayed(X)]  # as the message says
    model.fit(th.from_dask(dense, delayed(y)))


def test_undeclared_sparse_partitions_are_an_error():
    X, y, _ = data()
    parts = [dask.delayed(X[:100].toarray()), dask.delayed(X[100:])]
    with pytest.raises(DataError, match="from row 100 on is sparse"):
        th.Ridge().fit(th.from_dask(parts, [dask.delayed(y[:100]), dask.delayed(y[100:])]))


def test_dense_partitions_among_sparse_ones():
    X, y, _ = data()
    parts = [dask.delayed(X[:100]), dask.delayed(X[100:].toarray())]
    model = th.Ridge().fit(th.from_dask(parts, [dask.delayed(y[:100]), dask.delayed(y[100:])]))
    np.testing.assert_allclose(model.coef_, th.Ridge().fit(X, y).coef_, rtol=1e-10)


@pytest.mark.parametrize("n_components", ["auto", 40])
def test_a_kernel_model_of_sparse_partitions_is_that_of_memory(n_components):
    X, y, _ = data()
    model = th.KernelModel(n_components=n_components, random_state=0)
    expected = model.fit(X, y).predict(X)
    found = model.fit(as_array(X), da.from_array(y, chunks=110)).predict(X)
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_sparse_rows_are_loaded_as_such():
    X, y, labels = data()
    found, target, weight = th.from_dask(as_array(X), da.from_array(y, chunks=110)).arrays()
    assert sparse.issparse(found)
    np.testing.assert_array_equal(found.toarray(), X.toarray())
    np.testing.assert_array_equal(target, y)
    assert weight is None
    assert th.from_dask(delayed(X), delayed(labels)).arrays()[1].tolist() == labels.tolist()
