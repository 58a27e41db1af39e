"""Rows with targets of every kind of loss."""

import numpy as np

from thetahat.mathematics.losses.base import Targets

RANDOM = np.random.default_rng(0)
N = 250
X = RANDOM.standard_normal((N, 4))
SCORE = X @ [1.0, -2.0, 0.5, 0.0] + 0.3
TARGETS = {
    Targets.REAL: SCORE + 0.5 * RANDOM.standard_normal(N),
    Targets.NONNEGATIVE: RANDOM.poisson(np.exp(SCORE / 2)).astype(float),
    Targets.POSITIVE: np.exp(SCORE / 2 + 0.2 * np.sin(np.arange(N))),
    Targets.BINARY: (SCORE + RANDOM.logistic(size=N) > 0).astype(float),
    Targets.SIGNS: np.sign(SCORE + RANDOM.logistic(size=N)),
    Targets.CLASSES: RANDOM.integers(0, 3, N).astype(float),
}
