"""The plain twins of the kernels that sum losses over rows: short, slow and easy to believe."""

import numpy as np


def design(x, size, constant):
    """x̃ = (x, constant), or x itself."""
    x = np.asarray(x, dtype=np.float64)
    return x if size == x.shape[1] else np.column_stack([x, np.full(len(x), constant)])


def loss_sums(x, y, weight, theta, constant, loss):
    """Σ wℓ and Σ w∂ℓ/∂z·x̃."""
    rows = design(x, len(theta), constant)
    own = weight if weight.size else np.ones(len(y))
    z = rows @ theta
    return float(np.sum(own * loss.value(y, z))), rows.T @ (own * loss.gradient(y, z))


def curved_gram(x, y, weight, theta, constant, loss):
    """Σ w∂²ℓ/∂z²·x̃x̃ᵀ."""
    rows = design(x, len(theta), constant)
    own = weight if weight.size else np.ones(len(y))
    return rows.T @ ((own * loss.curvature(y, rows @ theta))[:, None] * rows)
