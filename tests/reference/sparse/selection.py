"""Matching pursuit, sparse codes, least angles and best subsets, plainly."""

from itertools import combinations

import numpy as np

from tests.reference.sparse.coordinate_descent import quadratic_sweeps


def matching_pursuit(gram, correlation, squares, most, tolerance):
    """β, ‖r‖² and steps of orthogonal matching pursuit, each refit from scratch."""
    coefs, residuals, steps = [], [], []
    for c, square in zip(correlation, squares, strict=True):
        coef, active, left = np.zeros(len(c)), [], square
        while len(active) < most and left > tolerance:
            slope = np.abs(c - gram @ coef)
            slope[active] = -1.0
            if slope.max() <= 1e-12 * np.sqrt(square * gram.diagonal().max()):
                break
            active.append(int(slope.argmax()))
            coef[active] = np.linalg.solve(gram[np.ix_(active, active)], c[active])
            left = square - 2 * c @ coef + coef @ gram @ coef
        coefs.append(coef)
        residuals.append(left)
        steps.append(len(active))
    return np.array(coefs), np.array(residuals), np.array(steps)


def sparse_codes(gram, l1, positive, correlation, sweeps=1500):
    """argmin ½uᵀGu − cᵀu + l1·‖u‖₁ for every row c, by many sweeps of coordinate descent."""
    k = len(gram)
    lower, l1s = np.full(k, 0.0 if positive else -np.inf), np.full(k, l1)
    codes = np.zeros_like(correlation)
    for u, c in zip(codes, correlation, strict=True):
        quadratic_sweeps(gram, l1s, np.zeros(k), lower, np.full(k, np.inf), u, -c, sweeps)
    return codes


def least_angles(gram, correlation, most):
    """Least angle regression: all active correlations shrink alike until another one joins."""
    coefs = []
    for c in correlation:
        coef, active = np.zeros(len(c)), []
        for _ in range(most):
            slope = c - gram @ coef
            free = [j for j in range(len(c)) if j not in active]
            active.append(max(free, key=lambda j: abs(slope[j])))
            largest, signs = abs(slope[active[-1]]), np.sign(slope[active])
            direction = np.zeros(len(c))
            direction[active] = np.linalg.solve(gram[np.ix_(active, active)], signs)
            along, steps = gram @ direction, [largest]
            for j in (j for j in free if j != active[-1]):
                steps += [(largest - slope[j]) / (1 - along[j])]
                steps += [(largest + slope[j]) / (1 + along[j])]
            coef += min(step for step in steps if step > 1e-13) * direction
        coefs.append(coef)
    return np.array(coefs)


def best_subsets(factor, z, rss, largest):
    """The smallest residual sum of squares of each size, by trying every subset."""
    best = [rss + z @ z]
    for size in range(1, largest + 1):
        best.append(
            min(
                rss + z @ z - z @ factor[:, list(A)] @ np.linalg.lstsq(factor[:, list(A)], z)[0]
                for A in combinations(range(len(z)), size)
            )
        )
    return np.array(best)
