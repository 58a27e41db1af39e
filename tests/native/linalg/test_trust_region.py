"""The compiled steps of a trust region beside those in Python."""

import numpy as np
import pytest

from thetahat import _native
from thetahat.mathematics.optimizers.residuals import trust_region
from thetahat.mathematics.optimizers.residuals.linearised import Linearised, relative_offset


def place(J, r, theta, before=None, bounds=None):
    d = J.shape[1]
    low, high = bounds or (np.full(d, -np.inf), np.full(d, np.inf))
    before = np.zeros(d) if before is None else before
    scale, values, image = np.empty((3, d))
    triangle, basis = np.empty((d + 1, d + 1)), np.empty((d, d))
    gap = _native.trust_region_place(
        J, r, theta, low, high, before, scale, triangle, values, basis, image
    )
    return gap, Linearised(scale, values, basis, image, np.ones(d, bool), triangle, len(r))


def problem(n=50, d=3, noise=1.0):
    random = np.random.default_rng(n + d)
    J, theta = random.standard_normal((n, d)), random.standard_normal(d)
    return J, J @ (0.01 * theta) + noise * random.standard_normal(n), theta


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("noise", [1.0, 1e-9, 0.0])
@pytest.mark.parametrize(("n", "d"), [(50, 3), (600, 1), (1100, 16), (4, 4)])
def test_the_place_is_that_of_python(n, d, noise, order):
    J, r, theta = problem(n, d, noise)
    norms = np.linalg.norm(J, axis=0)
    for before in (None, 5 * norms, 1e12 * norms):
        gap, tangent = place(np.asarray(J, order=order), r, theta, before)
        scale = norms if before is None else np.minimum(before, 1e8 * norms)
        np.testing.assert_allclose(tangent.scale, scale, rtol=1e-14)
        expected = Linearised.of(J, r, scale)
        np.testing.assert_allclose(tangent.values, expected.values, rtol=1e-11)
        again = relative_offset(expected, r, theta)
        assert gap == pytest.approx(again, rel=1e-6) or (gap > 1e5 and again > 1e5)


def test_unusual_places_are_left_to_python():
    J, r, theta = problem()
    free = (np.full(3, -np.inf), np.full(3, np.inf))
    assert place(J, r, theta, bounds=free)[0] is not None
    assert place(J, r, theta, bounds=(theta, free[1]))[0] is None
    assert place(J, r, theta, bounds=(free[0], theta))[0] is None
    assert place(J * [1.0, 0.0, 1.0], r, theta)[0] is None
    assert place(J * [1.0, 1e-150, 1.0], r, theta)[0] is None
    assert place(J * [1.0, 1e150, 1.0], r, theta)[0] is None
    assert place(J[:, [0, 0, 1]].copy(), r, theta)[0] is None
    wrong = J.copy()
    wrong[3, 1] = np.nan
    assert place(wrong, r, theta)[0] is None


@pytest.mark.parametrize("radius", [1e-200, 1e-6, 0.01, 1.0, 1e6])
def test_the_step_is_that_of_python(radius):
    J, r, theta = problem()
    tangent = place(J, r, theta)[1]
    move, moved = np.empty((2, 3))
    args = (tangent.values, tangent.basis, tangent.image, tangent.scale, theta)
    free = (np.full(3, -np.inf), np.full(3, np.inf))
    found = _native.trust_region_step(*args, *free, radius, move, moved)
    expected = tangent.step(radius)
    np.testing.assert_allclose(move, expected.move, rtol=1e-12)
    np.testing.assert_array_equal(moved, theta + move)
    np.testing.assert_allclose(found, expected[1:], rtol=1e-12)
    if radius == 1.0:  # a bound on the way
        low = np.where(move < 0, theta + move / 2, -np.inf)
        assert _native.trust_region_step(*args, low, free[1], radius, move, moved) is None


def test_runs_are_those_without_compiled_steps(monkeypatch):
    import thetahat as th

    class Rosenbrock:
        def residuals(self, b):
            return np.array([10 * (b[1] - b[0] ** 2), 1 - b[0], 0.1 * b[1]])

        def jacobian(self, b):
            return np.array([[-20 * b[0], 10.0], [-1.0, 0.0], [0.0, 0.1]])

    start, runs = np.array([-1.2, 1.0]), []
    for few in (trust_region.FEW, 0):
        monkeypatch.setattr(trust_region, "FEW", few)
        runs.append(th.minimise(Rosenbrock(), th.optimizers.TrustRegion(), start))
    assert runs[0].steps == runs[1].steps
    np.testing.assert_allclose(runs[0].theta, runs[1].theta, rtol=1e-10)


def test_wrong_sizes_are_refused():
    J, r, theta = problem()
    with pytest.raises(ValueError, match="one entry per row"):
        place(J, r[1:], theta)
    with pytest.raises(ValueError, match="one entry per column"):
        place(J, r, theta[1:])
