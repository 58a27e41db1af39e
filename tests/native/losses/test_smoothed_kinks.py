"""Losses rounded off around multipliers: the passes over rows against their plain twins."""

import numpy as np
import pytest

import thetahat as th
from tests.reference.losses import smoothed_kinks as twin
from tests.reference.losses.row_losses import design
from thetahat import _native

LOSSES = {
    "hinge": th.losses.Hinge(),
    "squared hinge": th.losses.SquaredHinge(),
    "tube": th.losses.EpsilonInsensitive(0.3),
    "squared tube": th.losses.SquaredEpsilonInsensitive(0.3),
}
SIZES = [1, 15, 128, 129, 1000, 5000]


def rows(loss, n, weighted=False):
    """Targets, scores, anchors in the box, weights, and the box itself."""
    random = np.random.default_rng(n)
    signs = loss.targets == th.losses.Hinge().targets
    y = random.choice([-1.0, 1.0], n) if signs else random.standard_normal(n)
    box = loss.dual_box(y)
    anchor = np.clip(random.standard_normal(n), box.lower, box.upper)
    weight = random.integers(0, 3, n).astype(float) if weighted else np.empty(0)
    return y, random.standard_normal(n), anchor, weight, box


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", LOSSES)
def test_rounded_rows(name, n, weighted):
    loss = LOSSES[name]
    y, z, anchor, weight, box = rows(loss, n, weighted)
    results = []
    for kernel in (_native.rounded_rows, twin.rounded_rows):
        out = [np.empty(n), np.empty(n), np.empty(n), np.empty(4)]
        kernel(z, y, anchor, weight, box.lower, box.upper, box.kink, box.curvature, 0.7, *out)
        results.append(out)
    for got, expected in zip(*results, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)
    own = weight if weighted else np.ones(n)
    assert results[0][3][1] == pytest.approx(float(np.sum(own * loss.value(y, z))), rel=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (15, 4), (129, 9), (1000, 31), (60, 700)])
@pytest.mark.parametrize("name", LOSSES)
def test_rounded_sums(name, n, d, weighted, dtype):
    loss = LOSSES[name]
    y, _, anchor, weight, box = rows(loss, n, weighted)
    random = np.random.default_rng(d)
    x = random.standard_normal((n, d + 2)).astype(dtype)[:, 1 : d + 1]
    theta = random.standard_normal(d + 1) / np.sqrt(d + 1)
    given = (y, anchor, weight, box.lower, box.upper, box.kink, box.curvature, 0.7)
    for parameters, constant in ((theta, 1.0), (theta, 3.0), (theta[:d], 1.0)):
        size = len(parameters)
        got = [np.full(n, np.nan), np.full(n, np.nan), np.full(4, np.nan)]
        pull, gram = np.full(size, np.nan), np.full((size, size), np.nan)
        _native.rounded_sums(x, parameters, constant, *given, *got, pull, gram)
        whole = design(x, size, constant)
        z, expected = whole @ parameters, [np.empty(n), np.empty(n), np.empty(n), np.empty(4)]
        np.testing.assert_allclose(got[0], z, rtol=1e-12, atol=1e-12)
        twin.rounded_rows(got[0], *given, *expected)
        np.testing.assert_allclose(got[1], expected[0], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(got[2], expected[3], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(pull, whole.T @ expected[1], rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(
            gram, whole.T @ (expected[2][:, None] * whole), rtol=1e-10, atol=1e-10
        )


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", LOSSES)
def test_flat_step(name, n):
    y, z, anchor, _, box = rows(LOSSES[name], n)
    random = np.random.default_rng(n)
    share, across = random.random(n) / n, random.standard_normal(n)
    terms = (share, box.lower, box.upper, box.kink, box.curvature, 0.7)
    pull = twin.slope(0.0, y, z, across, anchor, *terms, 0.0, 0.0)
    for stiff, flat in ((1e-6, 0.1), (0.1, 1e-6), (100.0, 0.1)):
        # The level makes the first slope −1, as of a direction that leads downhill.
        arguments = (y, z, across, anchor, *terms, -1.0 - pull, stiff)
        step = _native.flat_step(*arguments, flat)
        assert step == pytest.approx(twin.flat_step(*arguments, flat), rel=1e-9)
        assert abs(twin.slope(step, *arguments)) <= 1.001 * flat


def test_what_is_not_a_number_stays_so():
    out = [np.empty(3), np.empty(3), np.empty(3), np.empty(4)]
    z = np.array([0.0, np.nan, 0.5])
    box = th.losses.Hinge().dual_box(np.ones(3))
    _native.rounded_rows(
        z, np.ones(3), np.zeros(3), np.empty(0), box.lower, box.upper, 0.0, 0.0, 1.0, *out
    )
    assert np.isnan(out[0]).tolist() == [False, True, False]
    assert np.isnan(out[3]).all()


def test_sizes_are_checked():
    three, two, four = np.zeros(3), np.zeros(2), np.zeros(4)
    with pytest.raises(ValueError, match="one entry per row"):
        _native.rounded_rows(
            three, two, three, two, three, three, 0.0, 0.0, 1.0, three, three, three, four
        )
    with pytest.raises(ValueError, match="weight"):
        _native.rounded_rows(
            three, three, three, two, three, three, 0.0, 0.0, 1.0, three, three, three, four
        )
    with pytest.raises(ValueError, match="four"):
        _native.rounded_rows(
            three, three, three, three, three, three, 0.0, 0.0, 1.0, three, three, three, two
        )
    with pytest.raises(ValueError, match="one entry per row"):
        _native.flat_step(three, three, two, three, three, three, three, 0, 0, 1, 0, 0, 0.1)
    x, square, more = np.ones((3, 2)), np.empty((2, 2)), np.empty((3, 3))
    given = (three, three, np.empty(0), three, three, 0.0, 0.0, 1.0)
    for parameters, z, pull, gram, rule in (
        (four, three, four, more, "theta must have"),
        (two, two, two, square, "z and multipliers"),
        (two, three, three, square, "size of theta"),
        (two, three, two, more, "size of theta"),
    ):
        with pytest.raises(ValueError, match=rule):
            _native.rounded_sums(x, parameters, 1.0, *given, z, three, four, pull, gram)
