"""Sequential minimal optimisation, and kernel functions at rows, written plainly."""

import numpy as np


def kernel_matrix(X, Z, kind, gamma, coef0, degree):
    products = X @ Z.T
    if kind == 0:
        return products
    if kind == 1:
        return (gamma * products + coef0) ** degree
    if kind == 2:
        return np.exp(-gamma * ((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2))
    return np.tanh(gamma * products + coef0)


def smo(K, linear, lower, upper, kink, split, start, steps, tolerance):
    """β after at most so many steps, and the largest violation before the last one."""
    beta, G = start.copy(), K @ start + linear
    groups = [np.arange(len(beta))[:split], np.arange(len(beta))[split:]]
    for step in range(steps + 1):
        rise = np.where(beta >= upper, np.inf, G + np.where(beta >= 0, kink, -kink))
        fall = np.where(beta <= lower, -np.inf, G + np.where(beta > 0, kink, -kink))
        violation, best = 0.0, (0.0, None, None)
        for group in groups:
            if not len(group) or not np.isfinite(rise[group].min()):
                continue
            i = group[np.argmin(rise[group])]
            violation = max(violation, fall[group].max() - rise[i])
            gap = np.maximum(fall[group] - rise[i], 0)
            eta = np.maximum(1e-12, K[i, i] + np.diag(K)[group] - 2 * K[i, group])
            gain = gap**2 / eta
            if gain.max() > best[0]:
                best = gain.max(), i, group[np.argmax(gain)]
        if violation <= tolerance or step == steps:
            return beta, violation
        _, i, j = best
        eta = max(1e-12, K[i, i] + K[j, j] - 2 * K[i, j])
        up = min(0.0, upper[i]) if kink > 0 and beta[i] < 0 else upper[i]
        down = max(0.0, lower[j]) if kink > 0 and beta[j] > 0 else lower[j]
        move = min((fall[j] - rise[i]) / eta, up - beta[i], beta[j] - down)
        beta[i] += move
        beta[j] -= move
        G += move * (K[i] - K[j])
    return beta, violation


def gaussian_block(products, of_rows, of_columns, gamma):
    """e^(−γ·max(‖x‖² + ‖z‖² − 2·xᵀz, 0))."""
    return np.exp(-gamma * np.maximum(of_rows[:, None] + of_columns - 2 * products, 0.0))
