"""From a point near the optimum of a piecewise linear sum to the optimum itself.

Terms that stay on their kink give equations x·θ = kink; the others lie on one of their lines, with
its slope. The equations (and, with θ² terms, the balance of all pulls) determine θ and the slopes
of the terms on their kinks. Whether that is the optimum, the duality gap tells.
"""

from __future__ import annotations

import numpy as np

from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.programs.piecewise_linear import PiecewiseLinearSum

INDEPENDENT = 1e-10
"""Share of its own length below which what is left of a row depends on the rows before it."""
ROUNDING = 1e-12
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
    """θ and the slopes of all terms; None where no slopes within their bounds are in balance.

    `to_bound` is how far a slope is from its bounds, `to_kink` how far the term is from its kink:
    at the optimum one of them is 0. `unit` is the size of distances that are not. Cost: O(p³), and
    one or two products.
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
            # Fewer equations than parameters leave some of θ free: it stays as near as they allow.
            theta = theta + np.linalg.lstsq(rows, kink - rows @ theta, rcond=None)[0]
            s = lines.distances(theta)
            resting = _at_rest(lines, s, slopes, abs(s) <= ROUNDING * unit, terms)
            found = np.linalg.lstsq(rows.T, -lines.pull_back(resting), rcond=None)[0] / weight
    low, high = lines.term_below[terms], lines.term_above[terms]
    slack = 1e-9 * (high - low)
    if not (np.all(found >= low - slack) and np.all(found <= high + slack)):
        return None
    resting[terms] = np.clip(found, low, high)
    at_zero = held[lines.kinks.size :] & (abs(theta) <= ROUNDING * np.max(abs(theta)))
    # What moves no distance further than rounding is rounding itself.
    reach = np.max(abs(rows), axis=0, initial=0.0)
    theta[at_zero | ((reach > 0) & (abs(theta) * reach <= ROUNDING * unit))] = 0.0
    return theta, resting


def _at_rest(
    lines: PiecewiseLinearSum, s: Array, slopes: Array, on_kink: Array, terms: Array
) -> Array:
    """Off its kink a term has the slope of its line; on it, the one it had, and `terms` have 0."""
    resting: Array = np.where(s > 0, lines.term_above, lines.term_below)
    resting = np.where(on_kink, slopes, resting)
    resting[terms] = 0.0
    return resting


def _independent(lines: PiecewiseLinearSum, terms: Array) -> Array:
    """Those whose row does not depend on the rows before it; at most one for each parameter."""
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
