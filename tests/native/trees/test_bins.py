"""Bins against their plain twin, and what the kernels refuse."""

import numpy as np
import pytest

from tests.reference.trees import bins as twin
from thetahat import _native

NONE = np.zeros(2, dtype=np.int64)


@pytest.mark.parametrize("max_bins", [1, 2, 7, 255])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["continuous", "few", "heavy zero", "one value", "infinite"])
def test_cuts_are_those_of_the_twin(kind, dtype, max_bins):
    random = np.random.default_rng(1)
    values = {
        "continuous": random.standard_normal(700),
        "few": random.integers(0, 9, 700),
        "heavy zero": np.maximum(random.standard_normal(700), 0.3),
        "one value": np.full(50, 3.0),
        "infinite": np.array([-np.inf, -np.inf, -3e38, 0.0, 3e38, np.inf]),
    }[kind].astype(dtype)
    weight = random.integers(1, 4, len(values)).astype(float)
    order = np.argsort(values)
    got = _native.quantile_cuts(values[order], weight[order], max_bins)
    with np.errstate(all="ignore"):
        expected = twin.quantile_cuts(values.astype(float), weight, max_bins)
    np.testing.assert_array_equal(got, expected)
    assert np.all(np.diff(got) > 0)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_codes_are_those_of_the_twin(dtype, order):
    random = np.random.default_rng(2)
    x = random.standard_normal((1500, 3)).astype(dtype)
    x[::7, 0] = np.nan
    x[3, 1], x[4, 1] = np.inf, -np.inf
    x[:, 2] = random.integers(-1, 4, 1500) + random.choice([0, 0.5], 1500, p=[0.9, 0.1])
    cuts = np.sort(random.standard_normal(11))
    lookup = np.array([0, 2, 1], dtype=np.uint8)
    by_row, by_column = np.full((1500, 8), 9, np.uint8), np.empty((3, 1500), np.uint8)
    _native.bin_codes(
        np.asarray(x, order=order),
        cuts,
        np.array([0, 4, 11, 11]),
        lookup,
        np.array([0, 0, 0, 3]),
        by_row,
        by_column,
        2,
    )
    np.testing.assert_array_equal(by_column[0], twin.codes(x[:, 0], cuts[:4]))
    np.testing.assert_array_equal(by_column[1], twin.codes(x[:, 1], cuts[4:]))
    known = np.isin(x[:, 2], [0, 1, 2])
    expected = np.where(known, lookup[np.where(known, x[:, 2], 0).astype(int)], 3)
    np.testing.assert_array_equal(by_column[2], expected)
    np.testing.assert_array_equal(by_row[:, :3], by_column.T)
    assert not by_row[:, 3:].any()


def test_bad_sizes_are_refused():
    x, out = np.zeros((4, 1)), np.empty((4, 1), np.uint8)
    none = np.empty((0, 1), np.uint8)
    empty = np.empty(0, np.uint8)
    with pytest.raises(ValueError, match="254 cuts"):
        _native.bin_codes(x, np.arange(255.0), np.array([0, 255]), empty, NONE, out, none, 1)
    with pytest.raises(ValueError, match="offsets"):
        _native.bin_codes(x, np.arange(3.0), np.array([0]), empty, NONE, out, none, 1)
    with pytest.raises(ValueError, match="by_row"):
        _native.bin_codes(x, np.empty(0), NONE, empty, NONE, out[:3], none, 1)
    with pytest.raises(ValueError, match="max_bins"):
        _native.quantile_cuts(np.arange(3.0), np.empty(0), 256)
