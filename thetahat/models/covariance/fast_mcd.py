"""FastMCD: the h rows whose covariance has the smallest determinant (Rousseeuw, Van Driessen 1999).

A C-step takes the h rows closest to the current centre, in the current Mahalanobis distance, and
computes their mean and covariance; the determinant never increases. The search starts from many
random sets of rows, two C-steps each. With many rows, the starts use small groups of rows, the best
of each group continue on the merged groups, and the best of those on all rows until they no longer
change. Last, single rows near the border are exchanged while this lowers the determinant further,
which C-steps cannot do (Hawkins 1994).

Candidates are independent of each other: they are computed in batches of fixed size, so the number
of threads does not change the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from thetahat.foundation.products import product
from thetahat.foundation.threads import parallel_for
from thetahat.foundation.types import Array

STARTS = 500
KEPT = 10
MIDDLE_STEPS = 15
EXCHANGED, EXCHANGES, BORDER = 4, 60, 100
GROUP_ROWS, MOST_GROUPS = 300, 5
MOST_STEPS = 100
BATCH_NUMBERS = 1 << 19
"""Numbers in the work space of one batch of candidates."""
SMALLEST_RATIO = 1e-300
"""Ratio of determinants that stands for 0 and below, which only rounding produces."""
RIDGE = 1e-12
"""Share of the mean variance that is added to a covariance whose Cholesky factor does not exist."""


@dataclass(frozen=True)
class Candidates:
    """Centres (t, d), covariances (t, d, d) and their log-determinants (t,)."""

    centre: Array
    covariance: Array
    log_determinant: Array

    def best(self, count: int) -> Candidates:
        """The candidates with the smallest determinants, each only once."""
        order = np.argsort(self.log_determinant, kind="stable")
        kept: list[int] = []
        for each in order:
            if all(not np.array_equal(self.covariance[each], self.covariance[i]) for i in kept):
                kept.append(int(each))
            if len(kept) == count:
                break
        return self.take(np.asarray(kept))

    def take(self, chosen: Array) -> Candidates:
        return Candidates(
            self.centre[chosen], self.covariance[chosen], self.log_determinant[chosen]
        )


def joined(parts: list[Candidates]) -> Candidates:
    """All candidates of several sets."""
    return Candidates(
        np.concatenate([each.centre for each in parts]),
        np.concatenate([each.covariance for each in parts]),
        np.concatenate([each.log_determinant for each in parts]),
    )


def smallest_determinant(rows: Array, h: int, random: np.random.Generator) -> Array:
    """Which h of the rows have the covariance of smallest determinant, as far as the search finds.

    The rows have a covariance of full rank, and variances near 1. Cost: about 500 C-steps on 300
    rows, 50 on 1500 rows, and 10 times some 10 on all rows; a C-step costs O(n d²).
    """
    n, d = rows.shape
    if h >= n:
        return np.ones(n, dtype=bool)
    if d == 1:
        return _shortest_window(rows[:, 0], h)
    group = max(GROUP_ROWS, 6 * d)
    if n < 2 * group:
        found = c_steps(rows, _starts(rows, h, STARTS, random), h, 2).best(KEPT)
        return _until_unchanged(rows, found, h)
    count = min(MOST_GROUPS, n // group)
    merged = rows[random.permutation(n)[: count * group]]
    share = h / n
    parts = [merged[i * group : (i + 1) * group] for i in range(count)]
    inner = min(group, ceil(group * share))
    first = [
        c_steps(part, _starts(part, inner, STARTS // count, random), inner, 2).best(KEPT)
        for part in parts
    ]
    middle = c_steps(merged, joined(first), ceil(len(merged) * share), MIDDLE_STEPS).best(KEPT)
    return _until_unchanged(rows, middle, h)


def _starts(rows: Array, h: int, count: int, random: np.random.Generator) -> Candidates:
    """Centres and covariances of random sets: half of them of d + 1 rows, half of h rows.

    Small sets are more often free of outliers; large sets start closer to the minimum if there are
    few outliers.
    """
    n, d = rows.shape
    order = np.argsort(random.random((count, n)), axis=1)
    few, many = order[: count // 2, : min(d + 1, h)], order[count // 2 :, :h]
    batch = max(1, BATCH_NUMBERS // (h * d))
    large = [_moments(rows[many[i : i + batch]]) for i in range(0, len(many), batch)]
    return joined([_moments(rows[few]), *large])


def c_steps(rows: Array, start: Candidates, h: int, steps: int) -> Candidates:
    """Some C-steps from each candidate, in batches."""
    count, d = start.centre.shape
    batch = max(1, BATCH_NUMBERS // rows.size)
    found: list[Candidates | None] = [None] * ceil(count / batch)

    def work(number: int) -> None:
        part = start.take(np.arange(number * batch, min(count, (number + 1) * batch)))
        for _ in range(steps):
            distance = _distances(rows, part)
            nearest = np.argpartition(distance, h - 1, axis=1)[:, :h]
            part = _moments(rows[nearest])
        found[number] = part

    parallel_for(work, range(len(found)), products=float(count * rows.size * d * steps))
    return joined([each for each in found if each is not None])


def _until_unchanged(rows: Array, start: Candidates, h: int) -> Array:
    """C-steps on all rows until no candidate improves; the rows of the best one.

    Candidates that have reached the same rows continue as one.
    """
    active = [start.take(np.asarray([i])) for i in range(len(start.centre))]
    previous = [np.inf] * len(active)
    ended: dict[bytes, tuple[float, Array]] = {}
    for step in range(MOST_STEPS):
        supports: list[Array] = [np.zeros(0, dtype=bool)] * len(active)

        def work(i: int, active: list[Candidates] = active, into: list[Array] = supports) -> None:
            distance = _distances(rows, active[i])[0]
            inside = np.zeros(len(rows), dtype=bool)
            inside[np.argpartition(distance, h - 1)[:h]] = True
            active[i] = _moments(rows[inside][None])
            into[i] = inside

        size = float(len(active) * rows.size * rows.shape[1])
        parallel_for(work, range(len(active)), products=size)
        going: dict[bytes, int] = {}
        for i, each in enumerate(active):
            level, key = float(each.log_determinant[0]), np.packbits(supports[i]).tobytes()
            improves = np.isfinite(level) and level < previous[i] - 1e-13 * abs(level)
            if improves and step < MOST_STEPS - 1:
                going.setdefault(key, i)
            else:
                ended[key] = (level, supports[i])
        previous = [float(active[i].log_determinant[0]) for i in going.values()]
        active = [active[i] for i in going.values()]
        if not active:
            break
    best = sorted(ended.values(), key=lambda each: each[0])[:EXCHANGED]
    refined: list[tuple[float, Array]] = [(np.inf, inside) for _, inside in best]

    def refine(i: int) -> None:
        refined[i] = _exchange(rows, refined[i][1])

    parallel_for(refine, range(len(refined)), products=float(rows.size * rows.shape[1]))
    return min(refined, key=lambda each: each[0])[1]


def _exchange(rows: Array, inside: Array) -> tuple[float, Array]:
    """Exchange single rows near the border while this lowers the determinant.

    In coordinates with the scatter I of the h rows inside, exchanging row a for row b multiplies
    the determinant by det(I + [a b] M [a b]ᵀ), M = [[−1 − 1/h, 1/h], [1/h, 1 − 1/h]].
    """
    h = int(inside.sum())
    inside = inside.copy()
    level = np.inf
    for _ in range(EXCHANGES):
        part = _moments(rows[inside][None])
        level = float(part.log_determinant[0])
        if not np.isfinite(level):
            break
        white = np.linalg.inv(_cholesky(part.covariance))[0] / np.sqrt(h)
        away = product(rows - part.centre[0], white.T)
        size = np.einsum("ij,ij->i", away, away)
        own, others = np.flatnonzero(inside), np.flatnonzero(~inside)
        own = own[np.argsort(-size[own], kind="stable")[:BORDER]]
        others = others[np.argsort(size[others], kind="stable")[:BORDER]]
        p, q, r = size[own][:, None], size[others], product(away[own], away[others].T)
        ratio = (1 - (1 + 1 / h) * p + r / h) * (1 + r / h + (1 - 1 / h) * q)
        ratio -= (q / h - (1 + 1 / h) * r) * (p / h + (1 - 1 / h) * r)
        i, j = np.unravel_index(np.argmin(ratio), ratio.shape)
        if not ratio[i, j] < 1 - 1e-12:
            break
        inside[own[i]], inside[others[j]] = False, True
        level += float(np.log(max(ratio[i, j], SMALLEST_RATIO)))
    return level, inside


def _distances(rows: Array, of: Candidates) -> Array:
    """Squared Mahalanobis distances of all rows from each candidate, (t, n)."""
    white = np.linalg.inv(_cholesky(of.covariance))
    away = np.matmul(rows, white.transpose(0, 2, 1))
    away -= np.matmul(white, of.centre[:, :, None]).transpose(0, 2, 1)
    return np.einsum("tij,tij->ti", away, away)


def _cholesky(covariance: Array) -> Array:
    """Cholesky factors; if one does not exist, with a small multiple of I added to all."""
    try:
        return np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        level = np.trace(covariance, axis1=1, axis2=2) / covariance.shape[-1]
        unit = np.where(level > 0, level, 1.0)[:, None, None] * np.eye(covariance.shape[-1])
        return np.linalg.cholesky(covariance + RIDGE * unit)


def _moments(chosen: Array) -> Candidates:
    """Means, covariances and log-determinants of sets of rows of shape (t, h, d)."""
    centre = chosen.mean(axis=1)
    away = chosen - centre[:, None, :]
    covariance = np.matmul(away.transpose(0, 2, 1), away) / chosen.shape[1]
    sign, logs = np.linalg.slogdet(covariance)
    return Candidates(centre, covariance, np.where(sign > 0, logs, -np.inf))


def _shortest_window(values: Array, h: int) -> Array:
    """The h neighbouring values with the smallest variance, which is exact for one column."""
    order = np.argsort(values, kind="stable")
    ordered = values[order] - np.median(values)
    sums, squares = (np.concatenate([[0.0], np.cumsum(each)]) for each in (ordered, ordered**2))
    spread = (squares[h:] - squares[:-h]) - (sums[h:] - sums[:-h]) ** 2 / h
    first = int(np.argmin(spread))
    inside = np.zeros(len(values), dtype=bool)
    inside[order[first : first + h]] = True
    return inside
