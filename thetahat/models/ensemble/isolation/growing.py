"""Draws of rows and columns for isolation trees, and their growth in batches."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.data.validation import is_sparse
from thetahat.foundation.types import Array, Matrix
from thetahat.foundation.watch import Verdict, Watch
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.models.ensemble.forest.growing import BATCH_SECONDS
from thetahat.models.tree.growth.grown_forest import GrownForest

BATCH_CELLS = 1 << 22
"""Approximate size of the numbers of rows and columns of the trees of a batch."""


@dataclass(frozen=True)
class Draws:
    """Draws the rows and columns of a tree as a function of its seed."""

    n_rows: int
    size: int
    """Number of rows of a tree."""
    weight: Array | None
    """Probabilities of the rows, up to a factor; None for equal probabilities."""
    replacement: bool
    n_columns: int
    width: int
    """Number of columns of a tree."""

    def of(self, seed: int) -> tuple[Array, Array]:
        """Numbers of the rows and of the columns, both ascending (uint32)."""
        random = np.random.Generator(np.random.PCG64(seed))
        columns = np.arange(self.n_columns)
        if self.draws_columns:
            columns = np.sort(random.choice(self.n_columns, self.width, replace=False))
        return np.sort(self._rows(random)).astype(np.uint32), columns.astype(np.uint32)

    @property
    def draws_columns(self) -> bool:
        """Whether trees differ in their columns."""
        return self.width < self.n_columns

    @property
    def cells(self) -> int:
        """Size of the numbers of the rows and columns of a tree."""
        return self.size + (self.width if self.draws_columns else 0)

    def _rows(self, random: np.random.Generator) -> Array:
        if self.weight is None:
            if self.size == self.n_rows and not self.replacement:
                return np.arange(self.n_rows)
            return random.choice(self.n_rows, self.size, replace=self.replacement, shuffle=False)
        if self.replacement:
            ends = np.cumsum(self.weight)
            found = np.searchsorted(ends, random.random(self.size) * ends[-1], side="right")
            return np.minimum(found, np.flatnonzero(self.weight)[-1])
        # The first of exponential waiting times with the weights as rates.
        with np.errstate(divide="ignore", over="ignore"):
            waiting = random.standard_exponential(self.n_rows) / self.weight
        # A quotient that overflows still comes before the rows of weight 0.
        np.minimum(waiting, np.finfo(np.float64).max, out=waiting, where=self.weight > 0)
        return np.argpartition(waiting, self.size - 1)[: self.size]


@dataclass(frozen=True)
class IsolationPlan:
    """Settings and data common to all trees."""

    X: Matrix
    draws: Draws
    max_depth: int
    threads: int

    def empty(self) -> GrownForest:
        """The forest before its first tree."""
        return GrownForest.empty("squared_error", 1, (1,), self.X.shape[1])


def grow_isolation_forest(plan: IsolationPlan, seeds: Array, watch: Watch) -> Solution:
    """Grow one tree per seed, or as many as the time allows; θ is the `GrownForest`.

    On Ctrl-C, the trees grown so far are attached to the exception. Cost: O(ψ log ψ) per tree of ψ
    rows, besides the draw of the rows.
    """
    batches: list[tuple[Array, ...]] = []
    done, outcome = 0, Outcome.EXACT

    def solution(outcome: Outcome) -> Solution:
        return Solution(
            theta=plan.empty().extended(batches, seeds[:done]),
            outcome=outcome,
            solver="isolation forest",
            reason="trees are grown independently of one another",
            steps=done,
            message=f"{done} of {len(seeds)} trees",
        )

    size, began = plan.threads, time.monotonic()
    try:
        while done < len(seeds) and outcome is Outcome.EXACT:
            batches.append(_batch(plan, seeds[done : done + size], batches))
            before, done = done, min(done + size, len(seeds))
            for step in range(before + 1, done + 1):
                theta = None if watch.on_step is None else solution(outcome).theta
                verdict = watch(step, theta, float("nan"))
                if verdict is not Verdict.GO_ON:
                    timed_out = verdict is Verdict.OUT_OF_TIME
                    outcome = Outcome.OUT_OF_TIME if timed_out else Outcome.INTERRUPTED
                    break
            each = (time.monotonic() - began) / done
            if watch.on_step is None:
                most = min(BATCH_SECONDS / max(each, 1e-9), BATCH_CELLS / plan.draws.cells)
                size = max(1, int(most / plan.threads)) * plan.threads
    except KeyboardInterrupt as interrupt:
        if done:
            interrupt.solution = solution(Outcome.INTERRUPTED)  # type: ignore[attr-defined]
        raise
    return solution(outcome if done < len(seeds) else Outcome.EXACT)


def _batch(plan: IsolationPlan, seeds: Array, before: list[tuple[Array, ...]]) -> tuple[Any, ...]:
    """Trees in the form that `GrownForest.extended` takes."""
    drawn = [plan.draws.of(seed) for seed in seeds.tolist()]
    columns = [columns for _, columns in drawn]
    settings: dict[str, Any] = {
        "rows": np.stack([rows for rows, _ in drawn]),
        "columns": np.stack(columns if plan.draws.draws_columns else columns[:1]),
        "seeds": seeds,
        "max_depth": plan.max_depth,
        "first_value": sum(batch[2].shape[0] for batch in before),
        "threads": plan.threads,
    }
    X, n_columns = plan.X, plan.X.shape[1]
    if is_sparse(X):
        found = _native.grow_sparse_isolation_trees(
            X.data, X.indices, X.indptr, n_columns, **settings
        )
    else:
        found = _native.grow_isolation_trees(x=X, **settings)
    nodes, sizes, lengths, counts = found
    sets, gains = np.empty((0, 0), dtype=np.uint32), np.empty((0, 16), dtype=np.uint8)
    return nodes, sizes, lengths, sets, counts, counts, np.zeros(len(counts)), gains
