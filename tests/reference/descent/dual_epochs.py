"""Epochs over the dual variables of linear machines, plainly."""

import numpy as np

from tests.reference.descent.sgd_epoch import splitmix_orders


def dual_epochs(x, y, share, lower, upper, kink, curvature, penalty, constant, offset, beta, theta,
                seed, epochs, tolerance):  # fmt: skip
    """Coordinate ascent on the dual with shrinking; θ = Σ share·β·(x, constant)/penalty.

    Without the conjugate gradients that follow the tenth epoch.
    """
    rows = np.column_stack([x.astype(float), np.full(len(y), constant)])
    bend = share * (rows**2).sum(axis=1) / penalty
    shuffle, active, n_active = splitmix_orders(seed), list(range(len(y))), len(y)
    limit, largest, epoch = np.inf, 0.0, 0
    while epoch < epochs:
        epoch += 1
        shuffle(active, n_active)
        largest, lack, place = 0.0, 0.0, 0
        while place < n_active:
            i = active[place]
            r = y[i] - offset - rows[i] @ theta
            rise = r - curvature * beta[i] - (kink if beta[i] >= 0 else -kink)
            fall = r - curvature * beta[i] - (kink if beta[i] > 0 else -kink)
            above, below = beta[i] < upper[i], beta[i] > lower[i]
            violation = rise if above and rise > 0 else -fall if below and fall < 0 else 0.0
            violation *= share[i] != 0
            if violation == 0:
                held_up, held_down = not above or rise < -limit, not below or fall > limit
                at_top, at_bottom = not above and fall > limit, not below and rise < -limit
                at_kink = beta[i] == 0 and held_up and held_down
                if share[i] == 0 or at_top or at_bottom or at_kink:
                    n_active -= 1
                    active[place], active[n_active] = active[n_active], active[place]
                else:
                    place += 1
                continue
            place += 1
            largest = max(largest, violation)
            way = upper[i] - beta[i] if above and rise > 0 else beta[i] - lower[i]
            if curvature > 0:
                way = min(way, violation / curvature)
            lack += share[i] * way * (violation - curvature / 2 * way)
            pull = r + bend[i] * beta[i]
            free = np.sign(pull) * max(abs(pull) - kink, 0.0) / (bend[i] + curvature)
            after = min(max(free, lower[i]), upper[i])
            theta += share[i] * (after - beta[i]) / penalty * rows[i]
            beta[i] = after
        limit = largest if largest > 0 else np.inf
        if lack <= tolerance:
            if n_active == len(y):
                break
            n_active, limit = len(y), np.inf
    return largest, epoch


def class_dual_epochs(x, y, cost, constant, alpha, weights, seed, epochs, tolerance):
    """Block ascent on the dual of Crammer and Singer; rows at rest are skipped for ten epochs."""
    rows = np.column_stack([x.astype(float), np.full(len(y), constant)])
    shuffle, order = splitmix_orders(seed), list(range(len(y)))
    classes, active = weights.shape[1], len(y)
    for epoch in range(epochs):
        if epoch % 10 == 0:
            active = len(y)
        shuffle(order, active)
        largest, place = 0.0, 0
        while place < active:
            i = order[place]
            hot, square = np.eye(classes)[y[i]], rows[i] @ rows[i]
            slope = rows[i] @ weights + 1 - hot
            bound = cost[i] * hot
            violation = max(0.0, slope.max() - slope[alpha[i] < bound].min(initial=np.inf))
            largest = max(largest, violation)
            if violation == 0:
                active -= 1
                order[place], order[active] = order[active], order[place]
                continue
            place += 1
            pull = slope - square * alpha[i]
            # Σ_m min(bound_m, (level − pull_m)/square) rises with the level: find its root.
            low, high = pull.min() - 1.0, (pull + square * bound).max() + 1.0
            for _ in range(200):
                level = (low + high) / 2
                total = np.minimum(bound, (level - pull) / square).sum()
                low, high = (level, high) if total < 0 else (low, level)
            after = np.minimum(bound, (level - pull) / square)
            weights += np.outer(rows[i], after - alpha[i])
            alpha[i] = after
    return largest
