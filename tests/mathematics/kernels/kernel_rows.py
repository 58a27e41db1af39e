"""Rows to compare by kernels."""

import numpy as np

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((40, 3))
Z = RANDOM.standard_normal((7, 3))
