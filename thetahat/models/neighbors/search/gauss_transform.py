"""The fast Gauss transform: sums of Gaussian weights of many rows, for one or two columns.

    G(t) = Σ_s v_s·exp(−‖t − s‖²/δ²) = Σ_boxes Σ_n A_n·h_n((t − c)/δ),   δ = √2·h

A box of side δ with centre c is replaced by its coefficients A_n = Σ_s v_s ((s − c)/δ)^n/n!, and
h_n(x) = e^{−x²}·H_n(x) with the Hermite polynomials H_n. With p terms per column, a row of weight 1
is off by at most 1.09·Σ_{n ≥ p} (ρ√2)^n/√n! per column, where ρ = ½ (Cramér's inequality);
`truncation_error` gives this bound.

Cost: O(n·p^d) for the coefficients and O(boxes in reach · p^d) per query, whatever the number of
rows.
"""

from __future__ import annotations

from math import factorial, sqrt

import numpy as np

from thetahat.foundation.types import Array

TERMS = 18
MOST_COLUMNS = 2
MOST_BOXES = 1 << 12
QUERIES = 2048
"""Queries that are computed together, whose coefficients are copied."""
PER_PAIR, PER_TERM, PER_BOX = 2e-8, 1e-8, {1: 4e-7, 2: 3e-6}
"""Seconds, as measured, for a row at a query otherwise, a row in a term, and a box at a query."""


def truncation_error(n_columns: int) -> float:
    """The largest error of the sum for a row of weight 1, without the factor of the kernel."""
    tail = 1.09 * sum(sqrt(0.5) ** n / sqrt(factorial(n)) for n in range(TERMS, TERMS + 40))
    # Each factor of the product is at most 1.09 + tail where the other is off.
    return n_columns * tail * (1.09 + tail) ** (n_columns - 1)


def boxes_of(rows: Array, width: float) -> tuple[Array, Array, Array] | None:
    """Lowest corner, boxes per column, and the box of every row; None if there are too many."""
    side = sqrt(2.0) * width
    low = rows.min(axis=0)
    counts = np.floor((rows.max(axis=0) - low) / side) + 1
    if not counts.prod() <= MOST_BOXES:
        return None
    shape = counts.astype(np.int64)
    return low, shape, np.minimum(((rows - low) / side).astype(np.int64), shape - 1)


def suits_transform(rows: Array, n_queries: int, width: float, reach: float, n_sums: int) -> bool:
    """Whether the transform is expected to take less than half the time of visiting rows."""
    n, d = rows.shape
    if not 1 <= d <= MOST_COLUMNS or not np.isfinite(reach) or not width > 0:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        spread = np.ptp(rows, axis=0)
        if not np.isfinite(spread).all() or boxes_of(rows, width) is None:
            return False
        share = np.minimum(1.0, 2 * reach * width / np.maximum(spread, width)).prod()
        boxes = np.minimum(2 * np.ceil(reach / sqrt(2.0)) + 3, spread / (sqrt(2.0) * width) + 1)
    whole = n_queries * n * float(share) * PER_PAIR
    transform = n * TERMS**d * n_sums * PER_TERM + n_queries * float(boxes.prod()) * PER_BOX[d]
    return 2 * transform < whole


def gauss_sums(rows: Array, values: Array, queries: Array, width: float, reach: float) -> Array:
    """Σ_s v_s exp(−‖t − s‖²/(2h²)) at every query, (m, t), from boxes within reach·h."""
    side = sqrt(2.0) * width
    boxes = boxes_of(rows, width)
    assert boxes is not None
    low, shape, place = boxes
    coefficients = _coefficients(rows, values, low, shape, place, side)
    scaled = (queries - low) / side
    parts = [
        _evaluated(coefficients, scaled[start : start + QUERIES], shape, reach)
        for start in range(0, len(queries), QUERIES)
    ]
    return np.concatenate(parts)


def _evaluated(coefficients: Array, scaled: Array, shape: Array, reach: float) -> Array:
    """The sums at queries in units of boxes."""
    d = scaled.shape[1]
    # Queries far outside are treated as if in the next box, whose own boxes are all out of reach.
    span = int(np.ceil(reach / sqrt(2.0))) + 1
    at = np.clip(np.floor(scaled), -span - 1, shape + span).astype(np.int64)
    total = np.zeros((len(scaled), coefficients.shape[2]))
    offsets = np.stack(np.meshgrid(*[np.arange(-span, span + 1)] * d), axis=-1).reshape(-1, d)
    for offset in offsets:
        box = at + offset
        some = np.flatnonzero(((box >= 0) & (box < shape)).all(axis=1))
        if not some.size:
            continue
        code = np.ravel_multi_index(tuple(box[some].T), tuple(shape))
        hermite = [_hermite(scaled[some, j] - box[some, j] - 0.5) for j in range(d)]
        a = coefficients[code]
        if d == 1:
            total[some] += np.einsum("mat,ma->mt", a, hermite[0])
        else:
            a = np.einsum("mabt,mb->mat", a.reshape(len(some), TERMS, TERMS, -1), hermite[1])
            total[some] += np.einsum("mat,ma->mt", a, hermite[0])
    return total


def _coefficients(
    rows: Array, values: Array, low: Array, shape: Array, place: Array, side: float
) -> Array:
    """A of every box, (boxes, p^d, t)."""
    n_boxes, d = int(shape.prod()), rows.shape[1]
    code = np.ravel_multi_index(tuple(place.T), tuple(shape))
    powers = []
    for j in range(d):
        x = (rows[:, j] - low[j]) / side - place[:, j] - 0.5
        terms = [np.ones(len(rows))]
        for n in range(1, TERMS):
            terms.append(terms[-1] * x / n)
        powers.append(terms)
    found = np.empty((n_boxes, TERMS**d, values.shape[1]))
    for t, column in enumerate(values.T):
        for n in range(TERMS**d):
            term = column * powers[0][n] if d == 1 else (
                column * powers[0][n // TERMS] * powers[1][n % TERMS]
            )  # fmt: skip
            found[:, n, t] = np.bincount(code, term, minlength=n_boxes)
    return found


def _hermite(x: Array) -> Array:
    """h_0(x), …, h_{p−1}(x), (m, p)."""
    found = np.empty((len(x), TERMS))
    found[:, 0] = np.exp(-x * x)
    found[:, 1] = 2 * x * found[:, 0]
    for n in range(1, TERMS - 1):
        found[:, n + 1] = 2 * x * found[:, n] - 2 * n * found[:, n - 1]
    return found
