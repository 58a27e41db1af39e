"""Plain NumPy versions of the kernels of latent Dirichlet allocation."""

import numpy as np
from scipy.special import psi


def expected_logs(parameters):
    """E log of Dirichlet variables, one distribution per row."""
    return psi(parameters) - psi(parameters.sum(axis=1))[:, None]


def topic_shares(X, components, prior, steps, tolerance):
    """γ of every row of X, E log p(words) of every row, and Σ_d x_dw φ_dwk."""
    weights = np.exp(expected_logs(components))
    gamma, values = np.ones((len(X), len(components))), np.zeros(len(X))
    counts = np.zeros(components.shape)
    for i, x in enumerate(X):
        for _ in range(steps):
            theta = np.exp(expected_logs(gamma[i : i + 1]))[0]
            norm = theta @ weights
            after = prior + theta * (weights @ (x / norm))
            moved = np.abs(after - gamma[i]).mean()
            gamma[i] = after
            if moved < tolerance:
                break
        theta = np.exp(expected_logs(gamma[i : i + 1]))[0]
        norm = theta @ weights
        counts += theta[:, None] * weights * (x / norm)
        values[i] = x @ np.log(norm)
    return gamma, values, counts
