"""Inner products of sparse rows, as a dense matrix."""

import numpy as np
import pytest
import scipy.sparse

from thetahat import _native
from thetahat.mathematics.kernels.pairs import inner_products


def sparse_rows(n, d, dtype, seed):
    entries = np.random.default_rng(seed).standard_normal((n, d))
    return scipy.sparse.csr_array(np.where(np.abs(entries) > 0.8, entries, 0.0).astype(dtype))


@pytest.mark.parametrize("places", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1, 1), (7, 4, 3), (20, 30, 50), (5, 6, 0)])
def test_products_are_those_of_dense_rows(shape, dtype, places):
    n, m, d = shape
    X, Z = sparse_rows(n, d, dtype, 0), sparse_rows(m, d, dtype, 1)
    for each in (X, Z):
        each.indices, each.indptr = each.indices.astype(places), each.indptr.astype(places)
    found = inner_products(X, Z)
    assert type(found) is np.ndarray
    assert found.dtype == dtype
    expected = X.toarray() @ Z.toarray().T
    np.testing.assert_allclose(found, expected, rtol=1e-5 if dtype == np.float32 else 1e-12,
                               atol=1e-6)  # fmt: skip


@pytest.mark.parametrize("kind", ["csc", "coo", "lil", "bsr"])
def test_all_formats_and_numbers_are_accepted(kind):
    X, Z = sparse_rows(6, 4, np.float64, 2), sparse_rows(5, 4, np.float32, 3)
    expected = X.toarray() @ Z.toarray().T
    np.testing.assert_allclose(inner_products(X.asformat(kind), Z.asformat(kind)), expected)
    whole = (3 * X).astype(np.int64)
    found = inner_products(whole.asformat(kind), Z)
    np.testing.assert_allclose(found, whole.toarray() @ Z.toarray().T)


@pytest.mark.parametrize("part", range(6))
def test_damaged_parts_are_refused(part):
    X = sparse_rows(6, 4, np.float64, 4)
    Z = X.tocsc()
    parts = [each.copy() for a in (X, Z) for each in (a.data, a.indices, a.indptr)]
    parts[part] = parts[part][:-1] if part % 3 == 0 else parts[part] + 100
    with pytest.raises(ValueError, match=r"indptr|indices"):
        _native.products_of_sparse_rows(*parts, np.zeros((6, 6)))
