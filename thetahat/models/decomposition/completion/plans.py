"""Each method of completion as a problem, a solver and a start, with factors as its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thetahat.foundation.memory import require_memory
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.lowrank.decompositions import with_fixed_signs
from thetahat.mathematics.optimizers.loop import Method
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.models.decomposition.completion.alternating import Ratings, Sweeps
from thetahat.models.decomposition.completion.entries import Entries
from thetahat.models.decomposition.completion.offsets import Offsets, offsets_by
from thetahat.models.decomposition.completion.propagation import rank_one_factors
from thetahat.models.decomposition.completion.spectral import (
    FillAndProject,
    Filled,
    singular_values,
)

METHODS = ("als", "soft_impute", "hard_impute", "one_shot", "propagation", "fill")
SMALL = 1 << 20
"""All singular values of a matrix with at most so many entries are computed for a start."""


@dataclass(frozen=True)
class Setting:
    """The parameters of one fit."""

    n_components: int
    method: str
    alpha: float
    biases: bool
    fill: str
    center: bool
    max_iter: int
    tol: float


@dataclass(frozen=True)
class Factors:
    """x̂_ij = μ + b_i + c_j + aᵢᵀvⱼ."""

    offsets: Offsets
    rows: Array
    """A, (m, k)."""
    columns: Array
    """V as rows, (k, n)."""

    @classmethod
    def of(cls, offsets: Offsets, U: Array, s: Array, V: Array) -> Factors:
        """The factors of U·diag(s)·V, each with the root of its singular value."""
        kept = s > 1e-14 * s.max(initial=0.0)
        root = np.sqrt(s[kept])
        columns = with_fixed_signs(V[kept])
        signs = np.where((columns == V[kept]).all(axis=1), 1.0, -1.0)
        return cls(offsets, U[:, kept] * signs * root, columns * root[:, None])

    def at(self, rows: Array, columns: Array) -> Array:
        """The predictions of some entries."""
        found = np.einsum("ij,ji->i", self.rows[rows], self.columns[:, columns])
        offsets = self.offsets
        return found + offsets.mean + offsets.rows[rows] + offsets.columns[columns]


@dataclass(frozen=True)
class Plan:
    """A fit that is ready to run; `factors` gives its result for the θ of the solver."""

    factors: Callable[[Any], Factors]
    problem: Any = None
    method: Method | None = None
    start: Array | None = None
    reason: str = ""

    def run(self, setting: Setting, watch: Watch) -> Solution:
        if self.method is None:
            return Solution(
                theta=None,
                outcome=Outcome.EXACT,
                solver=setting.method,
                reason=self.reason,
                message=Outcome.EXACT.value,
            )
        return minimise(
            self.problem,
            self.method,
            self.start,
            tolerance=setting.tol,
            max_steps=setting.max_iter,
            watch=watch,
            reason=self.reason,
            keep_trace=True,
        )


def plan_of(entries: Entries, setting: Setting, who: str) -> Plan:
    """The fit of some entries with the given setting."""
    if setting.method == "als":
        return _alternating(entries, setting)
    if setting.method == "propagation":
        a, b = rank_one_factors(entries, who)
        size = float(np.linalg.norm(a) * np.linalg.norm(b))
        found = _no_factors(Offsets.none(entries.shape))
        if size > 0:
            U, V = a[:, None] / np.linalg.norm(a), b[None, :] / np.linalg.norm(b)
            found = Factors.of(found.offsets, U, np.array([size]), V)
        return Plan(lambda _: found, reason="each entry follows from the known ones")
    offsets = offsets_by(setting.fill, entries)
    if setting.method == "fill":
        return Plan(lambda _: _no_factors(offsets), reason="means of the known entries")
    return _spectral(entries, setting, offsets, who)


def _no_factors(offsets: Offsets) -> Factors:
    return Factors(offsets, np.empty((len(offsets.rows), 0)), np.empty((0, len(offsets.columns))))


def _spectral(entries: Entries, setting: Setting, offsets: Offsets, who: str) -> Plan:
    m, n = entries.shape
    require_memory(
        6 * 8 * m * n,
        f"{who}: method={setting.method!r} with a full matrix of {m} × {n} entries",
        "Use method='als', which stores the known entries only.",
    )
    if setting.method == "hard_impute":
        entries.require_some_in_each(who, setting.method)
    base, fill = Offsets.none(entries.shape), offsets.full()
    if setting.center:
        base, fill = offsets, np.zeros((1, 1))
        entries = replace(entries, values=entries.values - offsets.at(entries))
    if setting.method == "one_shot":
        U, s, V = singular_values(entries.dense(fill))
        k = setting.n_components
        found = Factors.of(base, U[:, :k], s[:k], V[:k])
        return Plan(lambda _: found, reason="singular values of the filled matrix")
    alpha = setting.alpha if setting.method == "soft_impute" else 0.0
    problem = Filled(entries, alpha, setting.n_components)
    k = setting.n_components

    def factors(Z: Array) -> Factors:
        U, s, V = singular_values(Z)
        return Factors.of(base, U[:, :k], s[:k], V[:k])

    return Plan(
        factors,
        problem,
        FillAndProject(_half_square(entries)),
        np.array(np.broadcast_to(fill, entries.shape)),
        "fills and projects in turn; neither step raises the objective",
    )


def _half_square(entries: Entries) -> float:
    return max(0.5 * float(entries.values @ entries.values), 1e-300)


def _alternating(entries: Entries, setting: Setting) -> Plan:
    mean = float(entries.values.mean()) if setting.biases else 0.0
    about = replace(entries, values=entries.values - mean)
    k = setting.n_components
    problem = Ratings(about, setting.alpha, k, setting.biases)

    def factors(theta: Array) -> Factors:
        rows, columns = problem.parts(theta)
        with one_blas_thread():
            # Singular values of the product from those of two small triangles.
            left, A = np.linalg.qr(rows[:, :k])
            right, B = np.linalg.qr(columns[:, :k])
            U, s, V = np.linalg.svd(A @ B.T)
            return Factors.of(
                Offsets(mean, rows[:, k].copy(), columns[:, k].copy()), left @ U, s, V @ right.T
            )

    return Plan(
        factors,
        problem,
        Sweeps(_half_square(about)),
        _first_factors(about, k),
        "rows and columns are ridge regressions of each other",
    )


def _first_factors(entries: Entries, k: int) -> Array:
    """A start: factors of the columns from the singular values of the entries, 0 where missing."""
    import scipy.sparse
    from scipy.sparse.linalg import svds

    m, n = entries.shape
    theta = np.zeros((m + n, k + 1))
    shape = (entries.rows, entries.columns)
    matrix = scipy.sparse.csr_array((entries.values, shape), shape=entries.shape)
    if not matrix.count_nonzero():
        return theta
    with one_blas_thread():
        if m * n <= SMALL or k >= min(m, n) - 1:
            _, s, V = singular_values(matrix.toarray())
        else:
            _, s, V = svds(matrix, k=k, v0=np.ones(min(m, n)), tol=1e-3)
            s, V = s[::-1], V[::-1]
    k = min(k, len(s))
    # Directions without entries would stay 0 in all sweeps.
    root = np.sqrt(np.maximum(s[:k], 1e-3 * s[0]))
    theta[m:, :k] = (with_fixed_signs(V[:k]) * root[:, None]).T
    return theta
