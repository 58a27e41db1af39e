"""What can be passed as random_state."""

import numpy as np
import pytest

import thetahat as th
from thetahat.foundation.randomness import generator


def test_the_module_stands_for_its_global_state():
    state = np.random.get_state()  # noqa: NPY002
    try:
        np.random.seed(7)  # noqa: NPY002
        first, second = generator(np.random).random(), generator(np.random).random()
        np.random.seed(7)  # noqa: NPY002
        assert generator(np.random).random() == first != second
        assert generator(np.random.RandomState(7)).random() == first
        X = np.arange(20.0)[:, None]
        th.KMeans(2, random_state=np.random).fit(X)
    finally:
        np.random.set_state(state)  # noqa: NPY002


@pytest.mark.parametrize("state", [-1, 1.5, "a", np.array(3), np])
def test_other_things_are_refused(state):
    with pytest.raises(ValueError, match="must be a whole number ≥ 0, a Generator, a RandomState"):
        generator(state)
