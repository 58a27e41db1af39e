"""Expectation-maximisation: a lower bound of the log-likelihood that is raised in turn.

    LB(θ, ρ) = Σᵢ wᵢ E_ρ[log p(xᵢ, z | θ) − log ρ(z | xᵢ)] ≤ Σᵢ wᵢ log p(xᵢ | θ)

The E step sets ρ to the posterior p(z | x, θ), where the bound equals the log-likelihood; the M
step maximises the bound over θ. The log-likelihood therefore never decreases if reg_covar is 0, and
the result is a local maximum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from thetahat.data.source import Source
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Verdict, Watch
from thetahat.models.mixture.components import (
    Components,
    MixtureSums,
    maximised,
    moments_of,
    pass_over,
)


@dataclass(frozen=True)
class Run:
    """The components after the last step, and the mean log-likelihood before each step."""

    components: Components
    bounds: tuple[float, ...]
    converged: bool
    sums: MixtureSums | None = None
    centres: Array | None = None
    best: float | None = None
    """The largest bound, if it is not the last one."""

    @property
    def bound(self) -> float:
        if self.best is not None:
            return self.best
        return self.bounds[-1] if self.bounds else -np.inf


def expectation_maximisation(
    source: Source,
    start: Components,
    *,
    labels: Array | None,
    reg_covar: float,
    tol: float,
    max_iter: int,
    before: float = -np.inf,
    watch: Watch,
    report: Callable[[int, float], None] | None = None,
) -> Run:
    """Steps until the mean log-likelihood per row changes by less than the tolerance."""
    now, bounds = start, list[float]()
    sums = centres = None
    converged = False
    for step in range(1, max_iter + 1):
        terms = now.terms()
        centres = terms[1]
        sums = pass_over(source, terms, labels=labels)
        now = maximised(now.kind, sums, centres, reg_covar, now)
        bound = sums.log_likelihood / sums.weight
        change = bound - (bounds[-1] if bounds else before)
        bounds.append(bound)
        if report is not None:
            report(step, change)
        if abs(change) < tol:
            converged = True
            break
        if watch(step, None, -bound) is not Verdict.GO_ON:
            break
    return Run(now, tuple(bounds), converged, sums, centres)


def from_known_labels(source: Source, start: Components, labels: Array, reg_covar: float) -> Run:
    """The maximum of the likelihood in closed form, if the component of every row is known."""
    terms = start.terms()
    sums = pass_over(source, terms, labels=labels)
    found = maximised(start.kind, sums, terms[1], reg_covar, start)
    value = pass_over(source, found.terms(), labels=labels)
    return Run(found, (value.log_likelihood / value.weight,), True, sums, terms[1])


def collapsed_components(run: Run, reg_covar: float) -> Array:
    """The numbers of the components that have no rows, or no variance in some direction.

    A variance counts as none if it is at most reg_covar, or 1e-12 of that of all rows, although
    all rows together vary in every direction.
    """
    if run.sums is None or run.centres is None:
        return np.empty(0, dtype=np.int64)
    found, spread = moments_of(run.components.kind, run.sums, run.centres)
    share = run.sums.count / run.sums.count.sum()
    away = found - share @ found
    if spread.ndim == 3:
        whole = np.tensordot(share, spread, axes=1) + (away.T * share) @ away
        if run.components.kind == "tied":
            spread = np.tensordot(share, spread, axes=1)[None]
        least, least_of_all = np.linalg.eigvalsh(spread)[:, 0], np.linalg.eigvalsh(whole)[0]
        size = np.trace(whole) / len(whole)
    else:
        whole = share @ (spread + away**2)
        spherical = run.components.kind == "spherical"
        least = spread.mean(axis=1) if spherical else spread.min(axis=1)
        least_of_all, size = whole.mean() if spherical else whole.min(), whole.mean()
    floor = max(reg_covar, 1e-12 * size)
    narrow = (least <= floor) & (least_of_all > 10 * floor)
    return np.flatnonzero((run.sums.count <= 0) | narrow)
