"""What tests of Dask collections share: computing in this process, and rows in partitions."""

import pytest

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


@pytest.fixture(autouse=True)
def synchronous():
    with dask.config.set(scheduler="synchronous"):
        yield


def chunked(values, size):
    return None if values is None else da.from_array(values, chunks=(size, *values.shape[1:]))
