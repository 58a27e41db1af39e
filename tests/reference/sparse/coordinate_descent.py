"""Coordinate descent and the bounds of the lasso, plainly."""

import numpy as np


def quadratic_sweeps(gram, l1, l2, lower, upper, theta, gradient, sweeps):
    """Cyclic coordinate descent; gradient = Gθ − c throughout."""
    largest = 0.0
    for _ in range(sweeps):
        largest = 0.0
        for j in range(len(theta)):
            curvature = gram[j, j] + l2[j]
            if curvature <= 0:
                continue
            pull = gram[j, j] * theta[j] - gradient[j]
            free = np.sign(pull) * max(abs(pull) - l1[j], 0.0) / curvature
            move = min(max(free, lower[j]), upper[j]) - theta[j]
            theta[j] += move
            gradient += move * gram[j]
            largest = max(largest, abs(move) * np.sqrt(curvature))
    return largest


def _steepest(slopes, slack, lower):
    return slopes + np.where(lower == 0, slack, np.copysign(slack, slopes))


def lasso_room(beta, slopes, slack, squares, l1, l2, lower, scale):
    """How far each column is from being in use."""
    tilted = _steepest(slopes, slack, lower) - l2 * beta
    size = np.where(lower == 0, tilted, np.abs(tilted))
    length = np.sqrt(squares + l2)
    return np.where(length > 0, (l1 - scale * size) / np.where(length > 0, length, 1), np.inf)


def lasso_move(beta, slopes, slack, squares, l1, l2, lower):
    """The largest move of a step of coordinate descent, and the largest coefficient."""
    used = squares > 0
    curvature = np.where(used, squares + l2, 1.0)
    pull = squares * beta + _steepest(slopes, slack, lower)
    to = np.maximum(np.sign(pull) * np.maximum(np.abs(pull) - l1, 0) / curvature, lower)
    scale = np.where(used, np.sqrt(curvature), 0.0)
    return (np.abs(to - beta) * scale).max(initial=0), (np.abs(beta) * scale).max(initial=0)


def lasso_gap(beta, slopes, slack, l1, l2, lower, rr, yr):
    """The smaller of two duality gaps, the scaled one alone and its scale; and F."""
    nonnegative, slopes = lower == 0, _steepest(slopes, slack, lower)
    tilted = slopes - l2 * beta
    size = np.where(nonnegative, np.maximum(tilted, 0), np.abs(tilted))
    over = np.maximum(np.where(nonnegative, np.maximum(slopes, 0), np.abs(slopes)) - l1, 0)
    length, absolute = rr + (l2 * beta**2).sum(), (l1 * np.abs(beta)).sum()
    scaled, scale = np.inf, 0.0
    if (size[l1 == 0] == 0).all():
        steepest = max((size[l1 > 0] / l1[l1 > 0]).max(initial=0), 1e-300)
        scale = min(max(0.0, yr / length), 1 / steepest)
        scaled = max(0.0, length * (1 + scale**2) / 2 - scale * yr + absolute)
    paid = np.inf
    if (over[l2 == 0] == 0).all():
        excess = (over[l2 > 0] ** 2 / (2 * l2[l2 > 0])).sum()
        paid = max(0.0, rr - yr + absolute + (l2 * beta**2).sum() / 2 + excess)
    return min(scaled, paid), scaled, scale, rr / 2 + absolute + (l2 * beta**2).sum() / 2


def descend_gram(gram, start, l1, l2, lower, beta, sweeps):
    """Plain cyclic coordinate descent: the minimum, and the slopes there."""
    for _ in range(sweeps):
        for j in range(len(beta)):
            pull = start[j] - gram[j] @ beta + gram[j, j] * beta[j]
            free = np.sign(pull) * max(abs(pull) - l1[j], 0.0) / (gram[j, j] + l2[j])
            beta[j] = max(free, lower[j])
    return start - gram @ beta


def descend_tasks(gram, start, l1, l2, beta, sweeps):
    """The same over rows of B, which are shrunk as a whole."""
    for _ in range(sweeps):
        for j in range(len(beta)):
            pull = start[j] - gram[j] @ beta + gram[j, j] * beta[j]
            length = np.linalg.norm(pull)
            beta[j] = max(1 - l1[j] / length, 0.0) * pull / (gram[j, j] + l2[j])
    return start - gram @ beta
