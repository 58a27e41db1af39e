"""The quadratic program of known cutting planes, by a primal-dual interior point method.

    minimise λ/2·‖w‖² + Σᵢ cᵢξᵢ    with    s = ξᵢ − Δ + w·ψ ≥ 0 for every plane (ψ, Δ) of term i.

The multipliers are m = cᵢa with λw = Σ mψ and Σ m = cᵢ over the planes of a term. Each step solves
one system of the size of w twice (Mehrotra's predictor and corrector). The number of steps hardly
depends on the scale of the planes, unlike that of steps from term to term.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.programs.interior_point import factored

MOST_STEPS = 60
SHORT_OF_THE_BOUNDARY = 0.995
"""Largest share of the distance to the nearest bound that a step may cover."""
SHORTEST_STEP = 1e-8
"""If steps are shorter than this share, rounding limits the accuracy of the equations."""
TINY = 1e-300


def plane_program(
    psi: Array, delta: Array, term: Array, shares: Array, alpha: float, tolerance: float
) -> tuple[Array, Array]:
    """w, and the weight a of every plane, of which each term must have one; Σ a = 1 in each.

    Stops when the complementarity Σ m·s is at most the tolerance. Cost per step: O(planes·size² +
    size³).
    """
    terms, size = len(shares), psi.shape[1]
    counts = np.bincount(term, minlength=terms)
    m = (shares / counts)[term]
    w = psi.T @ m / alpha
    values = delta - psi @ w
    top = np.full(terms, -np.inf)
    np.maximum.at(top, term, values)
    room = max(1.0, float(np.max(np.abs(values), initial=0.0)))
    xi = top + room
    s = xi[term] - values
    for _ in range(MOST_STEPS):
        level = float(m @ s)
        loose = alpha * w - psi.T @ m
        open_terms = shares - np.bincount(term, m, terms)
        off = s - (xi[term] - delta + psi @ w)
        D = m / s
        total = np.bincount(term, D, terms)
        mean = np.zeros((terms, size))
        np.add.at(mean, term, (D / total[term])[:, None] * psi)
        apart = psi - mean[term]
        with one_blas_thread():
            matrix = apart.T @ (D[:, None] * apart)
        np.einsum("ii->i", matrix)[:] += alpha
        solve = factored(matrix)

        towards = partial(
            _step, psi, term, (m, s, D), (loose, open_terms, off), (total, mean), solve
        )
        _, _, ds, dm = towards(np.zeros_like(m))
        reach = min(_reach(m, dm), _reach(s, ds))
        ahead = float((m + reach * dm) @ (s + reach * ds))
        aim = (max(ahead, 0.0) / max(level, TINY)) ** 3 * level / len(m)
        dw, dxi, ds, dm = towards(aim - dm * ds)
        if not (np.isfinite(dw).all() and np.isfinite(dm).all() and np.isfinite(ds).all()):
            break
        reach = min(_reach(m, dm), _reach(s, ds))
        if reach < SHORTEST_STEP:
            break
        w, xi = w + reach * dw, xi + reach * dxi
        m, s = np.maximum(m + reach * dm, TINY), np.maximum(s + reach * ds, TINY)
        if float(m @ s) <= tolerance:
            break
    a = m / np.bincount(term, m, terms)[term]
    return w, a


def _step(
    psi: Array,
    term: Array,
    point: tuple[Array, Array, Array],
    misfit: tuple[Array, Array, Array],
    of_terms: tuple[Array, Array],
    solve: Callable[[Array], Array],
    wanted: Array,
) -> tuple[Array, Array, Array, Array]:
    """The changes of w, ξ, s and m after which m·s is, to first order, `wanted`."""
    m, s, D = point
    loose, open_terms, off = misfit
    total, mean = of_terms
    q = wanted / s - m + D * off
    rest = np.bincount(term, q, len(total)) - open_terms
    dw = solve(-loose + psi.T @ q - mean.T @ rest)
    dxi = rest / total - mean @ dw
    ds = dxi[term] + psi @ dw - off
    return dw, dxi, ds, wanted / s - m - D * ds


def _reach(values: Array, change: Array) -> float:
    """The longest step, up to 1, that keeps the values positive."""
    shrinks = change < 0
    if not shrinks.any():
        return 1.0
    return min(1.0, SHORT_OF_THE_BOUNDARY * float(np.min(-values[shrinks] / change[shrinks])))
