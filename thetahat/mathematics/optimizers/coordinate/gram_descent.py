"""Descent on the Gram matrix: min ½βᵀGβ − cᵀβ + Σ_j (l1_j|β_j| + ½ l2_j β_j²) (compiled).

If the signs s of an active set S of coefficients are fixed and the others are zero, F is a
parabola, whose minimum solves

    (G_SS + diag(l2_S)) β_S = c_S − l1_S∘s_S.

A jump goes to this minimum and is accepted if F decreases. Then the columns whose slopes exceed
their l1 join, and so on. If jumps make no progress (after a start far from the optimum, or with
linearly dependent columns), sweeps of coordinate descent find the next active set.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thetahat import _native
from thetahat.foundation.types import Array

POLISHED = 1e-3
"""Share of the largest allowed move that jumps aim at, because one more jump costs little."""


class Terms(NamedTuple):
    """l1, l2 and the lower bound (0 or −∞) of every column, for sums over the rows."""

    l1: Array
    l2: Array
    lower: Array

    def of(self, columns: Array) -> Terms:
        """The terms of some columns."""
        return Terms(*(np.ascontiguousarray(term[columns]) for term in self))


class Limits(NamedTuple):
    """When a descent ends: the gap, the smallest move, the largest number of sweeps, and the share
    of the largest coefficient that a sweep may still move another; infinite for any move."""

    tolerance: float
    floor: float
    sweeps: int
    share: float = np.inf


class Progress(NamedTuple):
    """The progress of a descent."""

    sweeps: int
    gap: float
    stuck: bool
    """Whether the last sweep moved nothing by more than rounding."""


def descend_on_gram(
    gram: Array,
    start: Array,
    target_squared: float,
    terms: Terms,
    beta: Array,
    limits: Limits,
    active: _native.ActiveSet,
) -> tuple[Progress, Array]:
    """Minimise over all of β, in place; the leading entries of `gram` are those of its columns.

    `active` keeps the factor of the active columns from one call to the next. Returns the progress
    and the final slopes c − Gβ. A jump counts as a sweep.
    """
    slopes = np.empty_like(beta)
    tolerance, floor, sweeps, share = limits
    progress = _native.descend_gram(
        gram, start, target_squared, *terms, beta, slopes, active, tolerance, floor, sweeps,
        POLISHED * share,
    )  # fmt: skip
    return Progress(*progress), slopes
