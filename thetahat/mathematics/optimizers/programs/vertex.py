"""From a point near the optimum of a piecewise linear sum to the exact optimum.

Terms at their kinks give equations x·θ = kink; the other terms have the slope of one of their
lines. The equations (and, with θ² terms, the balance of all slopes) determine θ and the slopes of
the terms at their kinks. The duality gap shows whether the result is the optimum.
"""

from __future__ import annotations

import numpy as np

from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.programs.piecewise_linear import PiecewiseLinearSum

INDEPENDENT = 1e-10
"""If less than this share of a row remains, it depends linearly on the rows before it."""
NEGLIGIBLE = 1e-12
"""Distances below this share of their unit count as zero."""


def nearest_vertex(
    lines: PiecewiseLinearSum,
    theta: Array,
    s: Array,
    slopes: Array,
    *,
    to_bound: Array,
    to_kink: Array,
    unit: float,
) -> tuple[Array, Array] | None:
    """θ and the slopes of all terms; None if no slopes within their bounds are in balance.

    `to_bound` is the distance of a slope from its bounds, `to_kink` the distance of the term from
    its kink; at the optimum one of them is 0. `unit` is the typical size of distances that are not
    0. Cost: O(p³), and one or two products.
    """
    held = (lines.term_weight > 0) & (to_bound * unit > to_kink)
    terms = np.flatnonzero(held)
    order = np.argsort(to_kink[terms] / np.maximum(to_bound[terms], 1e-300), kind="stable")
    terms = _independent(lines, terms[order][: 4 * len(lines.l1) + 20])
    k, p = len(terms), len(lines.l1)
    rows = lines.term_rows(terms)
    weight, kink = lines.term_weight[terms], lines.term_kink[terms]
    with one_blas_thread():
        if lines.l2.any():
            resting = _at_rest(lines, s, slopes, held, terms)
            system = np.block([[np.diag(lines.l2), rows.T * weight], [rows, np.zeros((k, k))]])
            right = np.concatenate([-lines.pull_back(resting), kink])
            both = np.linalg.lstsq(system, right, rcond=None)[0]
            theta, found = both[:p], both[p:]
        else:
            # With fewer equations than parameters, θ stays as near to its old value as possible.
            theta = theta + np.linalg.lstsq(rows, kink - rows @ theta, rcond=None)[0]
            s = lines.distances(theta)
            resting = _at_rest(lines, s, slopes, abs(s) <= NEGLIGIBLE * unit, terms)
            found = np.linalg.lstsq(rows.T, -lines.pull_back(resting), rcond=None)[0] / weight
    low, high = lines.term_below[terms], lines.term_above[terms]
    slack = 1e-9 * (high - low)
    if not (np.all(found >= low - slack) and np.all(found <= high + slack)):
        return None
    resting[terms] = np.clip(found, low, high)
    at_zero = held[lines.kinks.size :] & (abs(theta) <= NEGLIGIBLE * np.max(abs(theta)))
    # Changes that move no distance by more than rounding are rounding errors themselves.
    reach = np.max(abs(rows), axis=0, initial=0.0)
    theta[at_zero | ((reach > 0) & (abs(theta) * reach <= NEGLIGIBLE * unit))] = 0.0
    return theta, resting


def _at_rest(
    lines: PiecewiseLinearSum, s: Array, slopes: Array, on_kink: Array, terms: Array
) -> Array:
    """Slopes: that of its line for a term off its kink, 0 for `terms`, unchanged for the others."""
    resting: Array = np.where(s > 0, lines.term_above, lines.term_below)
    resting = np.where(on_kink, slopes, resting)
    resting[terms] = 0.0
    return resting


def _independent(lines: PiecewiseLinearSum, terms: Array) -> Array:
    """Terms whose row is linearly independent of the rows before it; at most one per parameter."""
    if not len(terms):
        return terms
    rows = lines.term_rows(terms)
    basis = np.zeros((0, rows.shape[1]))
    chosen = []
    with one_blas_thread():
        for term, row in zip(terms, rows, strict=True):
            rest = row - basis.T @ (basis @ row)
            rest -= basis.T @ (basis @ rest)
            length = float(np.sqrt(np.sum(rest * rest)))
            if length > INDEPENDENT * float(np.sqrt(np.sum(row * row))):
                basis = np.vstack([basis, rest / length])
                chosen.append(int(term))
            if len(chosen) == rows.shape[1]:
                break
    return np.array(chosen, dtype=np.int64)
