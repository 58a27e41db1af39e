"""Products with X and XᵀX of sparse rows beside NumPy's."""

import numpy as np
import pytest
import scipy.sparse as sp

from thetahat import _native


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize(("d", "k"), [(7, 1), (9, 5), (12, 30), (4000, 35)])
def test_product(d, k, dtype, index):
    rng = np.random.default_rng(k)
    X = np.where(rng.random((20, d)) < 0.7, 0.0, rng.standard_normal((20, d))).astype(dtype)
    X[3] = 0.0
    stored, Q, shift = sp.csr_array(X), rng.standard_normal((d, k)), rng.standard_normal(k)
    parts = stored.data, stored.indices.astype(index), stored.indptr.astype(index)
    found = np.full((20, k), np.nan)
    _native.sparse_products(*parts, Q, found)
    np.testing.assert_allclose(found, X @ Q, rtol=1e-9, atol=1e-9)
    for weight in (np.empty(0), rng.random(20)):
        back, total = np.full((d, k), np.nan), np.full(k, np.nan)
        _native.sparse_normal_product(*parts, weight, Q, shift, back, total)
        image = (X @ Q - shift) * (weight[:, None] if weight.size else 1.0)
        np.testing.assert_allclose(total, image.sum(axis=0), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(back, X.T @ image, rtol=1e-9, atol=1e-9)


def test_wrong_shapes_are_refused():
    X, Q = sp.csr_array(np.eye(3)), np.ones((3, 2))
    parts, none = (X.data, X.indices, X.indptr), np.empty(0)
    for given in (
        (none, Q, np.ones(3), np.empty((3, 2)), np.empty(2)),
        (none, Q, np.ones(2), np.empty((2, 2)), np.empty(2)),
        (np.ones(2), Q, np.ones(2), np.empty((3, 2)), np.empty(2)),
        (none, Q[:2], np.ones(2), np.empty((2, 2)), np.empty(2)),
    ):
        with pytest.raises(ValueError, match=r"must|need|out of range"):
            _native.sparse_normal_product(*parts, *given)
    for of, out in ((Q, np.empty((2, 2))), (Q, np.empty((3, 1))), (Q[:2], np.empty((3, 2)))):
        with pytest.raises(ValueError, match=r"needs|out of range"):
            _native.sparse_products(*parts, of, out)
