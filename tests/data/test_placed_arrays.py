"""Arrays that begin at odd addresses, as cut out of bytes or received by a worker of a cluster."""

import pickle

import numpy as np
import pytest
import scipy.sparse
import sklearn.base

import thetahat as th
from thetahat.data.in_memory import InMemory
from thetahat.data.validation import as_source
from thetahat.estimator.base import DIRECT_SIZE


def odd(array):
    """The same array, three bytes off the address where it should begin."""
    array = np.ascontiguousarray(array)
    raw = bytearray(array.nbytes + 3)
    moved = np.frombuffer(raw, dtype=array.dtype, count=array.size, offset=3).reshape(array.shape)
    moved[...] = array
    assert not moved.flags.aligned
    return moved


def received(value):
    """The value, pickled as for a cluster, with its arrays at odd addresses of the messages."""
    sent = []
    stream = pickle.dumps(value, protocol=5, buffer_callback=sent.append)
    assert sent
    moved = [memoryview(bytearray(3) + bytearray(each.raw()))[3:] for each in sent]
    return pickle.loads(stream, buffers=moved)


@pytest.fixture
def table():
    random = np.random.default_rng(0)
    X = random.standard_normal((300, 5))
    return X, X[:, 0] + random.standard_normal(300)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays_at_odd_addresses_are_copied_at_the_door(table, dtype):
    X, y = (each.astype(dtype) for each in table)
    source = as_source(odd(X), odd(y), odd(np.ones(len(y))), who="test")
    for found, given in zip((source.X, source.y, source.weight), (X, y, 1.0), strict=True):
        assert found.flags.aligned
        np.testing.assert_array_equal(found, np.broadcast_to(given, found.shape))


def test_sparse_rows_at_odd_addresses_are_copied_at_the_door(table):
    X = scipy.sparse.csr_array(np.where(table[0] > 0, table[0], 0.0))
    moved = X.copy()
    moved.data, moved.indices, moved.indptr = map(odd, (X.data, X.indices, X.indptr))
    found = as_source(moved, table[1], who="test").X
    assert all(each.flags.aligned for each in (found.data, found.indices, found.indptr))
    np.testing.assert_array_equal(found.toarray(), X.toarray())


def test_rows_received_at_odd_addresses_are_copied(table):
    X, y = table
    found = received(InMemory(X=X, y=y, n_features=5, dtype=X.dtype))
    assert found.X.flags.aligned
    assert found.y.flags.aligned
    np.testing.assert_array_equal(found.X, X)


def test_stored_trees_at_odd_addresses_are_copied(table):
    X, y = table
    model = th.RandomForestRegressor(5, random_state=0).fit(X, y)
    trees = received(model)._forest
    arrays = [each for each in vars(trees).values() if isinstance(each, np.ndarray)]
    assert arrays
    assert all(each.flags.aligned for each in arrays)


@pytest.mark.parametrize("n", [1, 300])
def test_predictions_of_rows_at_odd_addresses(table, n):
    X, y = table
    model = th.HistGradientBoostingRegressor(max_iter=5).fit(X, y)
    assert X[:1].size <= DIRECT_SIZE
    np.testing.assert_array_equal(model.predict(odd(X[:n])), model.predict(X[:n]))


@pytest.mark.parametrize("model", [th.KMeans(3), th.KNeighborsRegressor(), th.SVR()])
def test_arrays_of_models_received_at_odd_addresses_are_copied(model, table):
    model = sklearn.base.clone(model).fit(*table)
    again = received(model)
    arrays = {name: each for name, each in vars(again).items() if isinstance(each, np.ndarray)}
    assert arrays
    assert all(each.flags.aligned for each in arrays.values())
    np.testing.assert_array_equal(again.predict(table[0]), model.predict(table[0]))
