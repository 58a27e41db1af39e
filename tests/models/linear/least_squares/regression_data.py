"""Rows with a known linear answer."""

import numpy as np

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((400, 5)) * [1, 10, 0.1, 3, 1] + [0, 50, 0, -2, 1]
BETA = np.array([1.0, -0.2, 30.0, 0.5, 2.0])
Y = X @ BETA + 3.0 + RANDOM.standard_normal(400)
