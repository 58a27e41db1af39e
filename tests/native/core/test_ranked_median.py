"""The weighted median of ranks against its plain twin, for any number of threads."""

import numpy as np
import pytest

from tests.reference.core.weighted_median import ranked_median
from thetahat import _native


def case(columns, leaves, tied=False):
    """Values of which each column has some of its own; what rows say, by rank."""
    random = np.random.default_rng(columns)
    values = np.sort(random.standard_normal(columns * leaves))
    column_of = random.permutation(np.repeat(np.arange(columns), leaves)).astype(np.int32)
    own = [np.flatnonzero(column_of == column) for column in range(columns)]
    ranks = np.column_stack([random.choice(each, 700) for each in own]).astype(float)
    return ranks, column_of, values.round(0) if tied else values


@pytest.mark.parametrize(("columns", "leaves"), [(1, 1), (2, 40), (7, 9), (40, 8)])
@pytest.mark.parametrize("tied", [False, True])
def test_ranked_median(columns, leaves, tied):
    random = np.random.default_rng(1)
    ranks, column_of, values = case(columns, leaves, tied)
    for count in {1, columns}:
        weight = random.integers(1, 9, count) / 8.0
        expected = np.empty(700)
        ranked_median(ranks, weight, values, expected)
        for threads in (1, 2, 3):
            got = np.empty(700)
            _native.ranked_median(ranks, weight, column_of, values, got, threads)
            np.testing.assert_array_equal(got, expected)


def test_sizes_and_ranks_are_checked():
    ranks, column_of, values = case(3, 5)
    good = {"ranks": ranks, "weight": np.ones(3), "column_of": column_of, "values": values}
    out = np.empty(700)
    for wrong in (
        {"weight": np.ones(4)},
        {"weight": np.empty(0)},
        {"column_of": column_of[:-1]},
        {"column_of": column_of + np.int32(1)},
        {"column_of": column_of - np.int32(1)},
        {"ranks": ranks + 15},
        {"ranks": ranks - 15},
        {"ranks": np.full_like(ranks, np.nan)},
    ):
        with pytest.raises(ValueError, match="must"):
            _native.ranked_median(**{**good, **wrong}, out=out, threads=2)
    with pytest.raises(ValueError, match="must"):
        _native.ranked_median(**good, out=out[1:], threads=1)
