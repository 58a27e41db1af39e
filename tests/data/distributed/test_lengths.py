"""Partitions whose lengths do not agree, and rows of a cluster that was closed."""

import numpy as np
import pytest

import thetahat as th

dask = pytest.importorskip("dask")
array = pytest.importorskip("dask.array")


@pytest.fixture
def rows():
    X = np.random.default_rng(8).standard_normal((40, 2))
    return X, X[:, 0] + 1


def shorter(values):
    """20 rows are declared in each partition, but the second one has 15."""
    parts = [values[:20], values[20:35]]
    shape = (20, *values.shape[1:])
    return array.concatenate(
        [array.from_delayed(dask.delayed(part), shape=shape, dtype=float) for part in parts]
    )


def refused(X, y, words):
    with pytest.raises(th.errors.DataError, match=words):
        th.LinearRegression().fit(th.from_dask(X, y))


def test_delayed_partitions_of_different_lengths(rows):
    X, y = rows
    parts = [dask.delayed(X[:20]), dask.delayed(X[20:])]
    targets = [dask.delayed(y[:15]), dask.delayed(y[15:])]
    refused(parts, targets, r"partition (0 of y has 15|1 of y has 25) rows, but 20 are expected")


def test_partitions_shorter_than_declared(rows):
    X, y = rows
    whole = array.from_array(X, chunks=(20, -1)), array.from_array(y, chunks=20)
    refused(shorter(X), whole[1], r"partition 1 of X has 15 rows, but 20 are expected")
    refused(whole[0], shorter(y), r"partition 1 of y has 15 rows, but 20 are expected")


def test_rows_of_a_closed_client(rows):
    distributed = pytest.importorskip("distributed")
    X, y = rows
    with distributed.Client(
        processes=False, dashboard_address=None, n_workers=1, threads_per_worker=1
    ) as client:
        source = th.from_dask(array.from_array(X, chunks=(20, -1)), array.from_array(y, chunks=20))
        distributed.wait(client.persist(list(source.parts)))
    with pytest.raises(th.errors.ClusterError, match="client was closed"):
        th.LinearRegression().fit(source)
