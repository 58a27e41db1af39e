"""The compiled step of Adam against the plain one, and against the rule of th.optimizers."""

import numpy as np
import pytest

import thetahat as th
from tests.reference.neural.adam import adam_step
from thetahat import _native


@pytest.mark.parametrize(("dtype", "error"), [(np.float64, 1e-13), (np.float32, 1e-5)])
def test_as_the_plain_step(dtype, error):
    random = np.random.default_rng(0)
    ours = [random.uniform(0.1, 1, 1003).astype(dtype) for _ in range(4)]
    theirs = [each.astype(np.float64) for each in ours]
    constants = (0.01, 0.9, 0.999, 0.19, 0.002, 1e-8)
    _native.adam_step(*ours, *constants)
    adam_step(*theirs, *constants)
    for found, expected in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(found, expected, rtol=error)


def test_steps_in_place_are_the_moves_of_the_rule():
    rule, random = th.optimizers.Adam(0.1), np.random.default_rng(1)
    theta = random.standard_normal(50)
    moved, memory, kept = theta.copy(), rule.start(theta), rule.start(theta)
    for t in range(1, 6):
        gradient = random.standard_normal(50)
        kept = rule.step(t, gradient, moved, kept)
        move, memory = rule.move(t, gradient, memory)
        theta = theta + move
    np.testing.assert_allclose(moved, theta, rtol=1e-12)


def test_wrong_sizes_are_refused():
    one, two = np.zeros(1), np.zeros(2)
    with pytest.raises(ValueError, match="must have the size of theta"):
        _native.adam_step(two, one, one, one, 0.1, 0.9, 0.9, 0.1, 0.1, 1e-8)
    with pytest.raises(ValueError, match="corrections must be positive"):
        _native.adam_step(one, one, one, one, 0.1, 0.9, 0.9, 0.0, 0.1, 1e-8)
