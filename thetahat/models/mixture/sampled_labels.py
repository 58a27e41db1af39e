"""Expectation-maximisation with sampled ("imputed") labels instead of responsibilities.

Each iteration draws the component of every row from the posterior, z ~ γ(x), and computes the
closed form of known labels. The components do not settle, but move around a maximum, and can leave
poor ones. The best iteration is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from thetahat.data.source import Block, Source
from thetahat.data.summaries.frame import dense_rows
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Verdict, Watch
from thetahat.mathematics.optimizers.solution import Outcome
from thetahat.models.mixture.components import (
    Components,
    MixtureSums,
    maximised,
    row_terms,
    sums_of_block,
)
from thetahat.models.mixture.expectation_maximisation import Run, ended_by


def sampled_labels(
    source: Source,
    start: Components,
    *,
    labels: Array | None,
    reg_covar: float,
    max_iter: int,
    rng: np.random.Generator,
    watch: Watch,
    report: Callable[[int, float], None] | None = None,
) -> Run:
    """All iterations, and the components with the largest log-likelihood among them."""
    now, bounds = start, list[float]()
    best: tuple[float, Components, MixtureSums | None, Array | None] = (-np.inf, start, None, None)
    sums = centres = None
    outcome, change = Outcome.STEPS_EXHAUSTED, np.nan
    seed = int(rng.integers(2**63))

    def ended(outcome: Outcome) -> Run:
        bound, components, sums, centres = best
        return Run(components, tuple(bounds), outcome, "sampled", change, sums, centres, bound)

    try:
        for step in range(1, max_iter + 1):
            terms = now.terms()
            found = source.reduce(_sampled_block, terms, labels, (seed, step))
            bound = found.log_likelihood / found.weight
            change = bound - (bounds[-1] if bounds else -np.inf)
            bounds.append(bound)
            if bound > best[0]:
                best = bound, now, sums, centres
            if report is not None:
                report(step, change)
            verdict = watch(step, None if watch.on_step is None else best[1].theta, -bound)
            if verdict is not Verdict.GO_ON:
                outcome = ended_by(verdict)
                break
            sums, centres = found, terms[1]
            now = maximised(now.kind, sums, centres, reg_covar, now)
    except KeyboardInterrupt as interrupt:
        interrupt.solution = ended(Outcome.INTERRUPTED).solution  # type: ignore[attr-defined]
        raise
    return ended(outcome)


def _sampled_block(
    block: Block,
    terms: tuple[Array, Array, Array],
    labels: Array | None,
    seed: tuple[int, int],
) -> MixtureSums:
    """Sums with drawn labels, and the log-likelihood of the current components."""
    logs, shares = row_terms(dense_rows(block), terms, posterior=True)
    k = shares.shape[1]
    draws = np.random.default_rng([*seed, block.start]).random(block.n_rows)
    drawn = np.minimum((np.cumsum(shares, axis=1) < draws[:, None]).sum(axis=1), k - 1)
    value = float(block.row_weights @ logs)
    if labels is not None:
        known = labels[block.start : block.start + block.n_rows]
        drawn = np.where(known >= 0, known, drawn)
        value = sums_of_block(block, terms, labels, None).log_likelihood
    sums = sums_of_block(block, terms, None, lambda _: drawn.astype(np.int64, copy=False))
    return replace(sums, log_likelihood=value)
