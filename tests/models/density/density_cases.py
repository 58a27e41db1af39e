"""Rows with known structure, and integrals over a grid."""

import numpy as np

CENTRES = np.array([[-2.0, 0.0], [2.0, 1.0], [0.5, -2.5]])


def blobs(n, seed=0):
    """Three round heaps in the plane."""
    random = np.random.default_rng(seed)
    return CENTRES[random.integers(0, 3, n)] + 0.4 * random.standard_normal((n, 2))


def integral(model, low, high, points=400):
    """∫ p over a rectangle, by midpoints."""
    axes = [
        a + (np.arange(points) + 0.5) * (b - a) / points for a, b in zip(low, high, strict=True)
    ]
    grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, len(axes))
    cell = np.prod((np.asarray(high) - low) / points)
    return float(np.exp(model.log_density(grid)).sum() * cell)
