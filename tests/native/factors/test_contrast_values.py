"""The contrasts of independent components, against plain NumPy."""

import numpy as np
import pytest

from thetahat import _native


def plain(u, kind, alpha):
    """g(u) and g'(u)."""
    if kind == 0:
        return np.tanh(alpha * u), alpha / np.cosh(alpha * u) ** 2
    if kind == 1:
        return u * np.exp(-(u**2) / 2), (1 - u**2) * np.exp(-(u**2) / 2)
    return u**3, 3 * u**2


@pytest.mark.parametrize("kind", [0, 1, 2])
@pytest.mark.parametrize("columns", [1, 7, 256, 700])
@pytest.mark.parametrize("weighted", [False, True])
def test_values_and_sums_of_derivatives(kind, columns, weighted):
    random = np.random.default_rng(kind)
    u = random.normal(size=(3, columns)) * [[1.0], [1e-3], [30.0]]
    weight = random.uniform(0, 2, columns)
    values, slopes = plain(u, kind, 1.5)
    share = weight if weighted else np.ones(columns)
    found, sums = u.copy(), np.full(3, np.nan)
    _native.contrast_values(found, weight if weighted else np.empty(0), kind, 1.5, sums)
    np.testing.assert_allclose(found, values * share, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(sums, slopes @ share, rtol=1e-12, atol=1e-13)


def test_large_projections_do_not_overflow():
    for kind, expected in ((0, [-1.0, 0.0, 1.0]), (1, [0.0, 0.0, 0.0])):
        u, sums = np.array([[-1e200, 0.0, 1e200]]), np.empty(1)
        _native.contrast_values(u, np.empty(0), kind, 1.0, sums)
        np.testing.assert_allclose(u[0], expected, atol=1e-15)
        assert sums[0] == pytest.approx(1.0)


@pytest.mark.parametrize(("weights", "slopes", "kind"), [(2, 2, 0), (0, 3, 0), (0, 2, 3)])
def test_sizes_are_checked(weights, slopes, kind):
    with pytest.raises(ValueError, match="must"):
        _native.contrast_values(np.ones((2, 3)), np.ones(weights), kind, 1.0, np.empty(slopes))
