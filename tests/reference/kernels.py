"""Plain twins of the compiled kernels: short, slow and easy to believe."""

from fractions import Fraction
from itertools import combinations

import numpy as np


def pack_rows(x, centre, scale, root_weight, out, offset):
    """out[:, offset:offset+d] = (x − centre)·scale·root_weight."""
    root = root_weight[:, None] if len(root_weight) else 1.0
    out[:, offset : offset + x.shape[1]] = (x.astype(float) - centre) * scale * root


def sparse_gram(data, indices, indptr, weight, gram):
    """gram += Σ_i w_i x_i x_iᵀ."""
    for i in range(len(indptr) - 1):
        row = np.zeros(len(gram))
        row[indices[indptr[i] : indptr[i + 1]]] = data[indptr[i] : indptr[i + 1]]
        gram += (weight[i] if len(weight) else 1.0) * np.outer(row, row)


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


def exact_gradient(x, y, weight, centre, scale, gamma):
    """Σ_i w_i z̃_i (y_i − z̃_iᵀγ) with z̃ = (z, 1), in rational arithmetic, rounded once."""
    n, d = x.shape
    k = y.shape[1]
    result = np.zeros((k, d + 1))
    for output in range(k):
        total = [Fraction(0)] * (d + 1)
        for i in range(n):
            z = [
                (Fraction(float(x[i, j])) - Fraction(float(centre[j]))) * Fraction(float(scale[j]))
                for j in range(d)
            ] + [Fraction(1)]
            target = Fraction(float(y[i, output])) - Fraction(float(centre[d + output]))
            r = target * Fraction(float(scale[d + output])) - sum(
                value * Fraction(float(gamma[j, output])) for j, value in enumerate(z)
            )
            r *= Fraction(float(weight[i])) if len(weight) else 1
            total = [t + value * r for t, value in zip(total, z, strict=True)]
        result[output] = [float(t) for t in total]
    return result


def leave_one_out_sums(y, fitted, fit_basis, leverage, basis, weight, base, smallest, total):
    """total += Σ_i w_i (e_i/(1 − w_i·h_i))² for every penalty."""
    mass = weight if len(weight) else np.ones(len(y))
    errors = y[:, None] - fitted @ fit_basis
    kept = 1.0 - mass[:, None] * (leverage @ basis + base)
    total += mass @ (errors / np.maximum(kept, smallest)) ** 2


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


def sgd_losses(loss, knee, y, z):
    """ℓ and ∂ℓ/∂z of the kernel's loss number `loss`."""
    m, r, size = y * z, z - y, abs(z - y)
    return [
        lambda: (max(1 - m, 0), -y * (m < 1)),
        lambda: (max(1 - m, 0) ** 2, -2 * y * max(1 - m, 0)),
        lambda: (np.logaddexp(0, -m), -y / (1 + np.exp(m))),
        lambda: (-4 * m, -4 * y) if m < -1 else (max(1 - m, 0) ** 2, -2 * y * max(1 - m, 0)),
        lambda: (max(-m, 0), -y * (m <= 0)),
        lambda: (r * r / 2, r),
        lambda: (r * r / 2, r) if size <= knee else (knee * (size - knee / 2), knee * np.sign(r)),
        lambda: (max(size - knee, 0), np.sign(r) * (size > knee)),
        lambda: (max(size - knee, 0) ** 2 / 2, np.sign(r) * max(size - knee, 0)),
    ][loss]()


def sgd_epoch(
    x, y, weight, order, rates, loss, knee, rule, multiplier, l2, l1, level, intercept,
    coef, carried, paid, average, average_from,
):  # fmt: skip
    """One step per row: w ← (1 − η l2)w − ηmℓ′x, then the L1 penalty owed by what x shows."""
    total = 0.0

    def pay(shown):
        for j in np.flatnonzero(shown):
            before, due = coef[j], carried[1]
            if before > 0:
                coef[j] = max(0.0, before - (due + paid[j]))
            elif before < 0:
                coef[j] = min(0.0, before + (due - paid[j]))
            paid[j] += coef[j] - before

    for number, (i, eta) in enumerate(zip(order, rates, strict=True), start=1):
        row, mass = x[i].astype(float), multiplier * (weight[i] if len(weight) else 1.0)
        value, slope = sgd_losses(loss, knee, y[i], row @ coef + carried[0])
        total += mass * value
        step = -eta * mass * slope
        if rule and slope:
            norm = row @ row
            step = -np.sign(slope) * mass
            step *= min(eta, value / norm) if rule == 1 else value / (norm + 1 / (2 * eta))
        coef *= max(0.0, 1 - eta * l2)
        coef += step * row
        carried[0] += (step - eta * level) * intercept
        carried[4] += step != 0
        if l1:
            carried[1] += eta * l1
            pay(row)
        if len(average) and number >= average_from:
            average += coef
            carried[2] += carried[0]
            carried[3] += 1
    if l1:
        pay(np.ones_like(coef))
    return total


def splitmix_orders(seed):
    """Shuffle a list in place, repeatedly, as the compiled kernels do."""
    state, mask = seed, (1 << 64) - 1

    def draw():
        nonlocal state
        state = (state + 0x9E3779B97F4A7C15) & mask
        bits = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
        bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & mask
        return bits ^ (bits >> 31)

    def shuffle(places, count):
        for i in range(count, 1, -1):
            j = (draw() >> 32) * i >> 32  # i has at most 32 bits
            places[i - 1], places[j] = places[j], places[i - 1]

    return shuffle


def dual_epochs(x, y, share, lower, upper, kink, curvature, penalty, constant, offset, beta, theta,
                seed, epochs, tolerance):  # fmt: skip
    """Coordinate ascent on the dual with shrinking; θ = Σ share·β·(x, constant)/penalty.

    Without the conjugate gradients that follow the tenth epoch.
    """
    rows = np.column_stack([x.astype(float), np.full(len(y), constant)])
    bend = share * (rows**2).sum(axis=1) / penalty
    shuffle, active, n_active = splitmix_orders(seed), list(range(len(y))), len(y)
    limit, largest = np.inf, 0.0
    for _ in range(epochs):
        shuffle(active, n_active)
        largest, place = 0.0, 0
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
            pull = r + bend[i] * beta[i]
            free = np.sign(pull) * max(abs(pull) - kink, 0.0) / (bend[i] + curvature)
            after = min(max(free, lower[i]), upper[i])
            theta += share[i] * (after - beta[i]) / penalty * rows[i]
            beta[i] = after
        limit = largest if largest > 0 else np.inf
        if largest <= tolerance:
            if n_active == len(y):
                break
            n_active, limit = len(y), np.inf
    return largest


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
