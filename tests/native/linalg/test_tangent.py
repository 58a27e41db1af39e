"""The compiled factors of a linearised problem beside those of LAPACK."""

import numpy as np
import pytest

from thetahat import _native
from thetahat.mathematics.optimizers.residuals.linearised import Linearised, _triangle


def problem(n, d, seed=0):
    random = np.random.default_rng(seed)
    J, r = random.standard_normal((n, d)), random.standard_normal(n)
    return J, r, np.maximum(np.linalg.norm(J, axis=0), 1e-3)


def by_lapack(J, r, scale):
    return Linearised._factored(_triangle(J, r, scale), scale, len(r))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("n", "d"), [(2, 1), (4, 3), (200, 3), (513, 8), (3000, 16)])
def test_factors_are_those_of_lapack(n, d, order):
    J, r, scale = problem(n, d)
    ours, theirs = Linearised.of(np.asarray(J, order=order), r, scale), by_lapack(J, r, scale)
    np.testing.assert_allclose(ours.values, theirs.values, rtol=1e-12)
    np.testing.assert_allclose(np.abs(ours.image), np.abs(theirs.image), atol=1e-9)
    np.testing.assert_allclose(ours.basis @ ours.basis.T, np.eye(d), atol=1e-13)
    np.testing.assert_allclose(np.abs(ours.triangle), np.abs(theirs.triangle), atol=1e-10)
    assert (np.tril(ours.triangle, -1) == 0).all()
    for radius in (1e-3, 0.1, 1e3):
        expected = theirs.step(radius)
        found = ours.step(radius)
        np.testing.assert_allclose(found.move, expected.move, rtol=1e-8, atol=1e-12)
        assert found.predicted == pytest.approx(expected.predicted, rel=1e-9)


def test_fewer_rows_than_parameters():
    J, r, scale = problem(2, 4)
    ours, theirs = Linearised.of(J, r, scale), by_lapack(J, r, scale)
    assert ours.kept.tolist() == [True, True, False, False]
    np.testing.assert_allclose(
        ours.gauss_newton() @ ours.basis, theirs.gauss_newton() @ theirs.basis, atol=1e-12
    )


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_residuals_whose_squares_leave_the_range(size):
    J, r, scale = problem(50, 3)
    ours = Linearised.of(J, r * size, scale)
    np.testing.assert_allclose(ours.image / size, Linearised.of(J, r, scale).image, rtol=1e-12)


def test_columns_that_vanish_or_repeat():
    J, r, scale = problem(40, 3)
    J[:, 1] = 0.0
    assert Linearised.of(J, r, scale).kept.tolist() == [True, True, False]
    J[:, 1] = 2 * J[:, 0]
    found = Linearised.of(J, r, scale)
    assert found.kept.tolist() == [True, True, False]
    np.testing.assert_allclose(found.explained(), by_lapack(J, r, scale).explained(), rtol=1e-10)


def test_wrong_sizes_are_refused():
    J, r, scale = problem(5, 2)
    out = np.empty((3, 3)), np.empty(2), np.empty((2, 2)), np.empty(2)
    with pytest.raises(ValueError, match="one entry per row"):
        _native.tangent(J, r[:4], scale, *out)
    with pytest.raises(ValueError, match="one entry per column"):
        _native.tangent(J, r, scale[:1], *out)
    with pytest.raises(ValueError, match="one row and column more"):
        _native.tangent(J, r, scale, np.empty((2, 2)), *out[1:])
    with pytest.raises(ValueError, match="square"):
        _native.tangent(J, r, scale, *out[:2], np.empty((2, 3)), out[3])
