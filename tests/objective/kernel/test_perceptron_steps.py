"""The perceptron under a kernel."""

import numpy as np

from thetahat.objective.kernel.perceptron_steps import perceptron_steps


def test_every_row_is_visited_in_its_order_until_none_is_wrong():
    random = np.random.default_rng(0)
    X = random.standard_normal((40, 3))
    signs = np.where(X[:, 0] > 0.1, 1.0, -1.0)
    steps = signs * random.integers(1, 4, 40)
    K = (1 + X @ X.T) ** 2
    counts, f, passes = perceptron_steps(K.__getitem__, signs, steps, 1000)
    expected, slow, made = np.zeros(40), np.zeros(40), True
    visits = 0
    while made:
        made, visits = False, visits + 1
        for i in range(40):
            if (slow[i] > 0) != (signs[i] > 0):
                made = True
                expected[i] += 1
                slow += steps[i] * K[i]
    assert passes == visits
    np.testing.assert_array_equal(counts, expected)
    np.testing.assert_array_equal(f, slow)
    np.testing.assert_array_equal(f > 0, signs > 0)


def test_the_number_of_passes_is_limited():
    counts, _, passes = perceptron_steps(lambda i: np.ones(2), np.array([1.0, -1.0]), np.ones(2), 3)
    assert passes == 3
    assert counts.sum() > 2
