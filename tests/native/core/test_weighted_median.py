"""The weighted median against its plain twin, for any number of threads."""

import numpy as np
import pytest

from tests.reference.core.weighted_median import weighted_median
from thetahat import _native


@pytest.mark.parametrize("columns", [1, 2, 7, 40])
@pytest.mark.parametrize("kind", ["distinct", "tied", "missing"])
def test_weighted_median(columns, kind):
    random = np.random.default_rng(1)
    values = random.standard_normal((700, columns))
    if kind == "tied":
        values = values.round(0)
    if kind == "missing":
        values[random.random(values.shape) < 0.2] = np.nan
    for count in {1, columns}:
        weight = random.integers(1, 9, count) / 8.0
        expected = np.empty(700)
        weighted_median(values, weight, expected)
        for threads in (1, 2, 3):
            got = np.empty(700)
            _native.weighted_median(values, weight, got, threads)
            np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("shapes", [((5, 2), 3, 5), ((5, 2), 0, 5), ((5, 2), 2, 4)])
def test_sizes_are_checked(shapes):
    values, weights, rows = shapes
    with pytest.raises(ValueError, match="must"):
        _native.weighted_median(np.zeros(values), np.ones(weights), np.zeros(rows), 1)
