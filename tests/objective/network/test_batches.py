"""Batches of rows that are not in memory are those of rows in memory."""

import numpy as np
import pytest

import thetahat as th
from tests.dask_rows import synchronous  # noqa: F401

da = pytest.importorskip("dask.array")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("rows", [150, 64, 50, 7])
def test_partitions_do_not_change_the_batches(rows):
    random = np.random.default_rng(0)
    X = random.standard_normal((150, 3))
    y = X @ [1.0, 2.0, 3.0]
    model = th.MLPRegressor(
        random_state=0, shuffle=False, batch_size=50, max_iter=5, hidden_layer_sizes=(4,)
    )
    expected = model.fit(X, y).predict(X)
    found = model.fit(da.from_array(X, chunks=(rows, 3)), da.from_array(y, chunks=rows)).predict(X)
    np.testing.assert_allclose(found, expected, rtol=1e-10)
