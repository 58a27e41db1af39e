"""Products with factors of few columns beside NumPy's."""

import numpy as np
import pytest

from thetahat import _native


@pytest.mark.parametrize(("dtype", "accuracy"), [(np.float64, 1e-12), (np.float32, 1e-4)])
@pytest.mark.parametrize(
    ("n", "d", "k"), [(1, 1, 1), (7, 5, 3), (70, 9, 12), (33, 600, 2), (100, 21, 30), (5, 4, 0)]
)
def test_products(n, d, k, dtype, accuracy):
    rng = np.random.default_rng(n)
    X, B, W = (rng.standard_normal(size).astype(dtype) for size in ((n, d), (d, k), (n, k)))
    rows, columns = np.full((n, k), np.nan, dtype), np.full((d, k), np.nan, dtype)
    _native.row_products(X, B, rows)
    _native.column_products(X, W, columns)
    np.testing.assert_allclose(rows, X @ B, rtol=accuracy, atol=10 * accuracy)
    np.testing.assert_allclose(columns, X.T @ W, rtol=accuracy, atol=10 * accuracy)


def test_wrong_shapes_are_refused():
    X, B, W = np.ones((4, 3)), np.ones((3, 2)), np.ones((4, 2))
    for product, factor, shape in (
        (_native.row_products, W, (4, 2)),
        (_native.row_products, B, (3, 2)),
        (_native.column_products, B, (3, 2)),
        (_native.column_products, W, (4, 2)),
    ):
        with pytest.raises(ValueError, match="must have"):
            product(X, factor, np.empty(shape))
