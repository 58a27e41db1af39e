"""Epochs of single-row steps, plainly."""

import numpy as np


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
        total += mass * value + (weight[i] if len(weight) else 1.0) * level * carried[0]
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
