"""Kernel averages where the plain sums have no digits: far from all rows, or without one row.

Weights are compared by their logarithms, so that ratios of numbers that underflow stay exact:

    ŷ(x) = Σ_i e^{l_i − max l} v_i/Σ_i e^{l_i − max l},   l_i = log w_i + log K(d(x, x_i)/h).
"""

from __future__ import annotations

from math import inf, log

import numpy as np

from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.smoothing import Gaussian
from thetahat.mathematics.smoothing.base import SmoothingKernel
from thetahat.models.neighbors.search.index import NeighborIndex
from thetahat.models.neighbors.search.kernel_sums import log_kernel

NEGLIGIBLE = log(1e17)
"""Rows whose weight is smaller than the largest by this logarithm change no digit."""
LARGEST = 1e150
PAIRS_AT_ONCE = 1 << 20


def exact_averages(
    index: NeighborIndex,
    kernel: SmoothingKernel,
    weights: Array,
    values: Array,
    rows: Matrix,
    widths: Array,
    left_out: Array | None = None,
) -> tuple[Array, Array]:
    """The averages around some rows, (m, t), and where no row is in the support of the kernel.

    There the average is that of the nearest rows. ``left_out`` is the number of a training row that
    does not count, for each query. Cost: that of the nearest rows and of those within a radius.
    """
    step = max(1, PAIRS_AT_ONCE // index.n_rows)
    averages = np.empty((rows.shape[0], values.shape[1]))
    alone = np.zeros(rows.shape[0], dtype=bool)
    for start in range(0, rows.shape[0], step):
        some = slice(start, min(start + step, rows.shape[0]))
        own = None if left_out is None else left_out[some]
        averages[some], alone[some] = _block(
            index, kernel, weights, values, rows[some], widths[some], own
        )
    return averages, alone


def _block(
    index: NeighborIndex,
    kernel: SmoothingKernel,
    weights: Array,
    values: Array,
    rows: Matrix,
    widths: Array,
    own: Array | None,
) -> tuple[Array, Array]:
    nearest = index.nearest(rows, 1 if own is None else 2)
    first = nearest.distance[:, 0]
    if own is not None:
        first = np.where(nearest.row[:, 0] == own, nearest.distance[:, 1], first)
    radii = _radii(kernel, first, widths, weights) * (1 + 1e-12)
    found = index.within(rows, radii, False)
    query = np.repeat(np.arange(len(first)), found.counts)
    row, distance = found.row, found.distance
    if own is not None:
        others = row != own[query]
        query, row, distance = query[others], row[others], distance[others]
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        least = np.where(first == 0, 0.0, first / widths)
        scaled = np.where(distance == 0, 0.0, distance / widths[query])
    least, scaled = (np.where(np.isnan(each), np.inf, each) for each in (least, scaled))
    share, alone = _shares(kernel, scaled, least, weights[row], query)
    near = alone[query] & (distance <= first[query])
    share = np.where(alone[query], np.where(near, weights[row], 0.0), share)
    total = np.bincount(query, share, len(first))
    sums = [np.bincount(query, share * column[row], len(first)) for column in values.T]
    return np.stack(sums, axis=1) / total[:, None], alone


def _radii(kernel: SmoothingKernel, first: Array, widths: Array, weights: Array) -> Array:
    """Radii with the nearest row and all others whose weights are not negligible beside it."""
    if kernel.support < inf:
        return np.maximum(first, kernel.support * widths)
    fall = NEGLIGIBLE + log(len(weights)) + log(float(weights.max() / weights.min()))
    with np.errstate(over="ignore"):
        if isinstance(kernel, Gaussian):
            beyond = np.hypot(first, np.sqrt(2 * fall) * widths)
        else:  # the others fall as e^{−cs} with c ≥ 1/√2, from the first on but for a factor
            beyond = first + (1.5 * fall + 2) * widths
    return np.maximum(beyond, first)


def _shares(
    kernel: SmoothingKernel, scaled: Array, least: Array, weight: Array, query: Array
) -> tuple[Array, Array]:
    """Multiples of the weights of the found rows, one multiple per query, and queries without."""
    m = len(least)
    if not kernel.nonnegative:
        share = weight * kernel.value(scaled)
        return share, np.bincount(query, np.abs(share), m) == 0
    with np.errstate(divide="ignore"):
        if isinstance(kernel, Gaussian):  # the squares of large distances have no digits left
            s, first = np.minimum(scaled, LARGEST), np.minimum(least, LARGEST)[query]
            logs = np.log(weight) - 0.5 * (s - first) * (s + first)
        else:
            logs = np.log(weight) + log_kernel(kernel, scaled)
    top = np.full(m, -inf)
    np.maximum.at(top, query, logs)
    alone = top == -inf
    return np.exp(logs - np.where(alone, 0.0, top)[query]), alone
