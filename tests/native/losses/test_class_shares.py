"""Class probabilities from scores, against plain NumPy."""

import numpy as np
import pytest

from tests.reference.losses.class_shares import class_shares
from thetahat import _native


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_class_shares(dtype, order):
    scores = 300.0 * np.random.default_rng(0).standard_normal((20, 5))
    scores[3] = -np.inf
    scores[4, :2] = -np.inf
    scores[5] += 1e30
    scores = np.asarray(scores, dtype=dtype, order=order)
    out = np.empty((20, 5), dtype=dtype)
    assert _native.class_shares(scores, out) == 1
    np.testing.assert_allclose(out, class_shares(scores), rtol=1e-5 if dtype == "f" else 1e-6)
    np.testing.assert_allclose(np.delete(out, 3, axis=0).sum(axis=1), 1.0, rtol=1e-6)


def test_shapes_must_agree():
    with pytest.raises(ValueError, match="shape of the scores"):
        _native.class_shares(np.zeros((2, 3)), np.zeros((3, 2)))
