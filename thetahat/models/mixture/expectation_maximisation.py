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
from thetahat.mathematics.optimizers.resumable import begin_run, end_run
from thetahat.mathematics.optimizers.solution import Outcome, Solution
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
    outcome: Outcome
    solver: str
    change: float = np.nan
    """The distance from optimality at the end: the last change of the bound, or a gradient."""
    sums: MixtureSums | None = None
    centres: Array | None = None
    best: float | None = None
    """The largest bound, if it is not the last one."""

    @property
    def converged(self) -> bool:
        """Whether the tolerance was reached, or the method has none and ended as planned."""
        planned = self.solver == "sampled" and self.outcome is Outcome.STEPS_EXHAUSTED
        return self.outcome.success or planned

    @property
    def solution(self) -> Solution:
        """The report of the run; the objective is the negative mean log-likelihood per row."""
        gradient = self.solver == "gradient"
        return Solution(
            theta=self.components.theta,
            outcome=self.outcome,
            solver=self.solver,
            reason="the likelihood of a mixture has several maxima; one of them is approached",
            steps=len(self.bounds),
            value=-float(self.bound),
            gap=abs(self.change),
            gap_kind="largest gradient entry" if gradient else "change of the lower bound per row",
            message=self.outcome.value,
            trace=tuple(-float(each) for each in self.bounds),
        )

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
    kept, token = begin_run("a mixture by expectation-maximisation")
    if kept is not None:
        theta, bounds = kept.start(start.theta), kept.trace
        now = start if np.array_equal(theta, start.theta) else start.moved(theta)
    sums = centres = None
    outcome, change = Outcome.STEPS_EXHAUSTED, np.nan
    try:
        for step in range(len(bounds) + 1, max_iter + 1):
            if kept is not None:
                kept.keep(now.theta, len(bounds), bounds)
            terms = now.terms()
            found = pass_over(source, terms, labels=labels)
            now = maximised(now.kind, found, terms[1], reg_covar, now)
            sums, centres = found, terms[1]
            bound = sums.log_likelihood / sums.weight
            change = bound - (bounds[-1] if bounds else before)
            bounds.append(bound)
            if report is not None:
                report(step, change)
            verdict = watch(step, None if watch.on_step is None else now.theta, -bound)
            if abs(change) < tol:
                outcome = Outcome.LOCAL
                break
            if verdict is not Verdict.GO_ON:
                outcome = ended_by(verdict)
                break
    except KeyboardInterrupt as interrupt:
        run = Run(now, tuple(bounds), Outcome.INTERRUPTED, "em", change, sums, centres)
        interrupt.solution = run.solution  # type: ignore[attr-defined]
        raise
    finally:
        end_run(token)
    return Run(now, tuple(bounds), outcome, "em", change, sums, centres)


def ended_by(verdict: Verdict) -> Outcome:
    """The outcome of a run that a watch ended."""
    late = verdict is Verdict.OUT_OF_TIME
    return Outcome.OUT_OF_TIME if late else Outcome.INTERRUPTED


def from_known_labels(source: Source, start: Components, labels: Array, reg_covar: float) -> Run:
    """The maximum of the likelihood in closed form, if the component of every row is known."""
    terms = start.terms()
    sums = pass_over(source, terms, labels=labels)
    found = maximised(start.kind, sums, terms[1], reg_covar, start)
    value = pass_over(source, found.terms(), labels=labels)
    bounds = (value.log_likelihood / value.weight,)
    return Run(found, bounds, Outcome.EXACT, "closed form", 0.0, sums, terms[1])


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
