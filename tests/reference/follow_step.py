"""A plain twin of the kernel that follows a step as far as F falls."""

import numpy as np


def value(gram, start, l1, l2, beta):
    return beta @ gram @ beta / 2 - start @ beta + np.sum(l1 * np.abs(beta) + l2 / 2 * beta**2)


def targets(here, step, sign, bound):
    """Where a step may end: those that would turn are zero, or it ends where the first is."""
    for length in (1.0, 0.5, 0.25):
        there = here + length * step
        turned = bound & (np.sign(there) != sign)
        yield np.where(turned, 0.0, there)
        if not turned.any():
            return
    leaves = bound & (here != 0) & (np.sign(here + step) != sign)
    there = here + np.min(-here[leaves] / step[leaves], initial=1.0) * step
    turned = bound & (np.sign(there) != sign)
    there[turned | (leaves & (np.abs(there) <= 1e-12 * np.abs(here)))] = 0.0
    yield there


def follow_step(gram, members, step, sign, start, l1, l2, lower, beta):
    """β at the first target where F falls, or None."""
    bound = (l1[members] > 0) | (lower[members] == 0)
    before = value(gram, start, l1, l2, beta)
    for target in targets(beta[members], step, sign, bound):
        trial = beta.copy()
        trial[members] = target
        if value(gram, start, l1, l2, trial) < before - 1e-15 * abs(before):
            return trial
    return None
