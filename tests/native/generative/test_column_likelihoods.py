"""Likelihoods of rows whose columns have different ones, against plain NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.reference.generative import column_likelihoods as reference
from thetahat import _native
from thetahat.mathematics.distances import Manhattan
from thetahat.mathematics.smoothing import named
from thetahat.models.neighbors.search.index import NeighborIndex
from thetahat.models.neighbors.search.kernel_sums import KernelSums

CLASSES = 3


def places(*columns):
    return np.array(columns, dtype=np.int64)


def estimates(values, weights):
    return [
        KernelSums(NeighborIndex(x[:, None], Manhattan(), "kd_tree", 8), w)._compiled
        for x, w in zip(values, weights, strict=True)
    ]


def rows_and_sums(n, dtype, kernel="gaussian"):
    """Rows of all kinds of columns, the compiled likelihoods and the expected logs."""
    random = np.random.default_rng(5)
    known = np.array([-1.0, 0.0, 2.0, 7.0]), np.arange(3.0)
    width = random.uniform(0.3, 0.8, (1, CLASSES))
    x = np.column_stack(
        [
            random.choice([*known[0], 5.0], n),
            random.normal(2, 3, n),
            random.choice([*known[1], 0.5], n),
            random.uniform(-3, 3, n),
            random.normal(size=n),
            random.normal(size=n),
        ]
    ).astype(dtype)
    x[random.random(x.shape) < 0.1] = np.nan
    mean, factor, scale = random.uniform(0.1, 2, (3, CLASSES, 2))
    tables = [random.normal(size=(len(each) + 1, CLASSES)) for each in known]
    histogram = random.normal(size=(6, CLASSES))
    values = [np.sort(random.normal(size=40)) for _ in range(CLASSES)]
    weights = [random.uniform(0.5, 2, 40) for _ in range(CLASSES)]
    compiled = _native.ColumnLikelihoods(6, CLASSES)
    compiled.add_gaussians(places(4, 1), mean, factor, scale)
    compiled.add_levels(
        places(0, 2), np.concatenate(known), places(0, 4, 7), np.concatenate(tables)
    )
    compiled.add_bins(places(3), np.array([-1.0]), np.array([0.5]), places(0, 4), histogram)
    shape = named(kernel)
    level = -np.log(width) - np.log([[w.sum() for w in weights]])
    compiled.add_kernels(places(5), estimates(values, weights), shape.code, width, level)
    X = x.astype(np.float64)
    with np.errstate(divide="ignore"):
        expected = (
            reference.gaussian(X[:, 4], mean[:, 0], factor[:, 0], scale[:, 0])
            + reference.gaussian(X[:, 1], mean[:, 1], factor[:, 1], scale[:, 1])
            + reference.levels(X[:, 0], known[0], tables[0])
            + reference.levels(X[:, 2], known[1], tables[1])
            + reference.bins(X[:, 3], -1.0, 0.5, histogram)
            + reference.kernels(X[:, 5], values, weights, width[0], shape.value)
        )
    return x, compiled, expected


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov", "exponential"])
def test_likelihoods_of_all_kinds_are_those_of_numpy(dtype, order, kernel):
    x, compiled, expected = rows_and_sums(300, dtype, kernel)
    start = np.array([0.5, -1.0, -2.0])
    found = np.empty((300, CLASSES))
    compiled.logs(np.asarray(x, order=order), start, found, 1)
    assert_allclose(found, start + expected, rtol=1e-12, atol=1e-12)


def test_bits_depend_neither_on_threads_nor_on_the_rows_beside():
    x, compiled, _ = rows_and_sums(2000, np.float64)
    start, one, two, alone = np.zeros(CLASSES), *np.empty((3, 2000, CLASSES))
    compiled.logs(x, start, one, 1)
    compiled.logs(x, start, two, 4)
    for i in range(0, 2000, 97):
        compiled.logs(x[i : i + 1], start, alone[i : i + 1], 1)
    assert_array_equal(one, two)
    assert_array_equal(alone[::97], one[::97])


def test_wrong_sizes_are_refused():
    one, table = places(0), np.zeros((2, CLASSES))
    compiled = _native.ColumnLikelihoods(1, CLASSES)
    with pytest.raises(ValueError, match="places must be columns"):
        compiled.add_bins(places(1), np.zeros(1), np.ones(1), places(0, 1), table)
    with pytest.raises(ValueError, match="one number per class and column"):
        compiled.add_gaussians(one, table, table, table)
    with pytest.raises(ValueError, match="one row per entry"):
        compiled.add_levels(one, np.zeros(3), places(0, 3), table)
    with pytest.raises(ValueError, match="first must not decrease"):
        compiled.add_levels(places(0, 0), np.zeros(1), places(0, 5, 1), table)
    with pytest.raises(ValueError, match="divide the levels"):
        compiled.add_levels(one, np.zeros(2), places(0, 1), table)
    with pytest.raises(ValueError, match="must have a bin"):
        compiled.add_bins(one, np.zeros(1), np.ones(1), places(0, 0), table)
    with pytest.raises(ValueError, match="one number per column"):
        compiled.add_bins(one, np.zeros(2), np.ones(1), places(0, 0), table)
    ones = np.ones((1, CLASSES))
    sums = estimates([np.zeros(2)] * CLASSES, [np.ones(2)] * CLASSES)
    with pytest.raises(ValueError, match="one estimate per column"):
        compiled.add_kernels(one, sums[:2], 6, ones, ones)
    with pytest.raises(ValueError, match="widths must be positive"):
        compiled.add_kernels(one, sums, 6, 0 * ones, ones)
    with pytest.raises(ValueError, match="negative values"):
        compiled.add_kernels(one, sums, 10, ones, ones)
    with pytest.raises(ValueError, match="the columns of the likelihoods"):
        compiled.logs(np.zeros((2, 3)), np.zeros(CLASSES), np.zeros((2, CLASSES)), 1)
    with pytest.raises(ValueError, match="rows × classes"):
        compiled.logs(np.zeros((2, 1)), np.zeros(CLASSES), np.zeros((1, CLASSES)), 1)
