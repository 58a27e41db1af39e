"""Alternating least squares: factors of the rows for fixed columns, then the other way round.

    F = ½Σ_known (x_ij − μ − b_i − c_j − a_iᵀv_j)² + ½α(‖A‖² + ‖V‖² + ‖b‖² + ‖c‖²)

For fixed (V, c), every row is a ridge regression of its known entries on [v_j, 1], and likewise for
every column, so F never increases. Without offsets b and c the minimum over factors of full width
is that of ½Σ_known (x_ij − z_ij)² + α‖Z‖_*, the objective of soft-impute.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.loop import Method, State
from thetahat.models.decomposition.completion.entries import Entries

PRODUCTS_AT_ONCE = 1 << 22
"""Numbers in the products of factors that are formed at once."""
ROUNDING = 1e-15
"""Relative errors of sums of squares, for each of their terms."""


@dataclass(frozen=True)
class Ratings:
    """The objective for entries less their mean; θ stacks [A, b] over [V, c], (m + n, k + 1)."""

    entries: Entries
    alpha: float
    n_components: int
    biases: bool

    convex = False

    def value(self, theta: Array) -> float:
        rows, columns = self.parts(theta)
        entries, k = self.entries, self.n_components
        left = entries.values - np.einsum(
            "ij,ij->i", rows[entries.rows, :k], columns[entries.columns, :k]
        )
        left -= rows[entries.rows, k] + columns[entries.columns, k]
        return 0.5 * float(left @ left) + 0.5 * self.alpha * float(np.vdot(theta, theta))

    def parts(self, theta: Array) -> tuple[Array, Array]:
        return theta[: self.entries.shape[0]], theta[self.entries.shape[0] :]

    def sweep(self, theta: Array) -> Array:
        """Rows for fixed columns, then columns for fixed rows."""
        _, columns = self.parts(theta)
        rows = self.rows_given(self.entries, columns)
        return np.vstack([rows, self.rows_given(self.entries.transposed, rows)])

    def rows_given(self, entries: Entries, columns: Array) -> Array:
        """[A, b] of the rows of some entries, for given [V, c]."""
        k = self.n_components
        targets = entries.values - columns[entries.columns, k]
        design = columns.copy()
        design[:, k] = 1.0
        found = np.zeros((entries.shape[0], k + 1))
        width = k + self.biases
        found[:, :width] = ridge_by_row(entries, targets, design[:, :width], self.alpha)
        return found


def ridge_by_row(entries: Entries, targets: Array, design: Array, alpha: float) -> Array:
    """argmin_a Σ_j (t_ij − d_jᵀa)² + α‖a‖² of each row; the shortest a if α is 0. (m, width)."""
    import scipy.sparse

    m, width = entries.shape[0], design.shape[1]
    found = np.zeros((m, width))
    if not width:
        return found
    left, right = np.triu_indices(width)
    ends = np.concatenate([[0], np.cumsum(entries.row_counts)])
    for low, high in _groups(entries.row_counts, len(left)):
        part = slice(ends[low], ends[high])
        used, place = np.unique(entries.columns[part], return_inverse=True)
        factors = design[used]
        index = (place, ends[low : high + 1] - ends[low])
        ones = scipy.sparse.csr_array((np.ones(len(place)), *index), shape=(high - low, len(used)))
        known = scipy.sparse.csr_array((targets[part], *index), shape=ones.shape)
        square = np.empty((high - low, width, width))
        square[:, left, right] = square[:, right, left] = ones @ (
            factors[:, left] * factors[:, right]
        )
        along = (known @ factors)[:, :, None]
        found[low:high] = _shortest(square, along, alpha)[:, :, 0]
    return found


def _shortest(square: Array, along: Array, alpha: float) -> Array:
    """(S + αI)⁻¹b of each row; by pseudo-inverses where α is lost in the rounding errors of S."""
    each = np.arange(square.shape[1])
    lost = ROUNDING * len(each)
    clear = alpha > lost * square[:, each, each].max(axis=1)
    square[:, each, each] += alpha
    found = np.empty_like(along)
    with one_blas_thread():
        if clear.any():
            found[clear] = np.linalg.solve(square[clear], along[clear])
        if not clear.all():
            found[~clear] = np.linalg.pinv(square[~clear], lost, hermitian=True) @ along[~clear]
    return found


def _groups(counts: Array, width: int) -> list[tuple[int, int]]:
    """Ranges of rows whose products of factors fit in the memory for them."""
    most = max(PRODUCTS_AT_ONCE // width, 1)
    ends = [0]
    total = np.cumsum(np.maximum(counts, 1))
    while ends[-1] < len(counts):
        before = total[ends[-1] - 1] if ends[-1] else 0
        ends.append(max(int(np.searchsorted(total, before + most, side="right")), ends[-1] + 1))
    return list(pairwise(ends))


@dataclass(frozen=True)
class Sweeps(Method):
    """One pass over all rows and all columns per iteration."""

    scale: float
    """Half the sum of the squares of the entries."""

    name = "alternating_least_squares"
    needs = ("sweep", "value")
    gap_kind = "decrease of the objective in the last iteration, relative to that of no factors"

    def start(self, problem: Any, theta: Array) -> State:
        return State(theta, problem.value(theta), math.inf)

    def advance(self, problem: Any, state: State) -> State:
        theta = problem.sweep(state.theta)
        value = problem.value(theta)
        return State(theta, value, max(state.value - value, 0.0) / self.scale)
