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


def class_loss_sums(x, y, weight, theta, n_classes):
    """Σ wℓ and Σ w∂ℓ/∂z·x̃ᵀ, flat, of ℓ = log Σ_c e^{z_c − z_y}."""
    rows = design(x, len(theta) // n_classes, 1.0)
    own = weight if weight.size else np.ones(len(y))
    z = rows @ theta.reshape(-1, n_classes)
    z = z - z.max(axis=1, keepdims=True)
    right = np.arange(n_classes) == y[:, None]
    share = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    value = np.log(np.exp(z).sum(axis=1)) - z[right]
    return float(np.sum(own * value)), (rows.T @ (own[:, None] * (share - right))).ravel()
