"""Compiled LSQR on sparse rows in memory, on columns of length one where that needs fewer steps.

The number of steps grows like the condition number of √w(X − x̄), which is at least the ratio of the
lengths of its columns. With a penalty the optimum is unique, and the columns may have any scale.
Without one, the solution of least norm depends on the scale unless X has full rank; so a random θ
is added to the solution of the first target and must be found again, which it is not if some of it
lies in the null space of X.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from thetahat import _native
from thetahat.data.in_memory import InMemory
from thetahat.data.source import kernel_weights
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array
from thetahat.mathematics.linalg.lsqr import LSQR
from thetahat.mathematics.optimizers.solution import Outcome, Solution

WORTH_SHARING = 20_000
"""Stored entries times targets from which several threads share the work."""
UNEQUAL = 10.0
"""Ratio of the squared lengths of two columns, of X and the penalty, from which they are scaled."""
VERY_UNEQUAL = 100.0
"""The same without a penalty, where the rank must be checked too."""
ROWS_PER_COLUMN = 2
"""The fewest for which columns of length one, without a penalty, have a small condition number."""
STEPS_WHEN_SCALED = 100
"""Steps after which scaled columns without a penalty are given up."""
SAME = 1e-4
"""Relative difference up to which the random θ is found again."""


def compiled_lsqr(
    source: InMemory,
    x_mean: Array,
    y: Array,
    damp: float,
    tolerance: float,
    max_steps: int | None,
    back: Callable[[Array], Array],
) -> list[Solution]:
    """The solution for each column of y; `back` gives [β; b] of an interrupted solver."""
    X, d, n_targets = source.sparse_X, source.n_features, y.shape[1]
    most = 4 * min(X.shape) + 100 if max_steps is None else max_steps
    root = np.sqrt(kernel_weights(source.weight))

    def solve(targets: Array, scale: Array, most: int) -> tuple[Array, Array]:
        k = len(targets)
        theta, report = np.zeros((k, d)), np.zeros((k, 3))
        threads = n_threads() if k * int(X.nnz) > WORTH_SHARING else 1
        try:
            _native.sparse_least_squares(
                X.data, X.indices, X.indptr, root, np.ascontiguousarray(x_mean), scale,
                targets, damp, tolerance, most, threads, theta, report,
            )  # fmt: skip
        except KeyboardInterrupt as interrupt:
            so_far = back(theta[:n_targets].T)
            interrupt.solution = _solution(so_far, Outcome.INTERRUPTED)  # type: ignore[attr-defined]
            raise
        return theta, report

    def at_full_rank(scale: Array) -> tuple[Array, Array] | None:
        """The solutions on scaled columns; None if X may not have full rank."""
        random = np.random.default_rng(0).choice([-1.0, 1.0], d) * scale
        image = X @ random - x_mean @ random
        image = root * image if len(root) else image
        unit = (float(np.linalg.norm(y[:, 0])) or 1.0) / float(np.linalg.norm(image))
        targets = np.ascontiguousarray(np.vstack([y.T, y[:, 0] + unit * image]))
        theta, report = solve(targets, scale, min(most, STEPS_WHEN_SCALED))
        missed = (theta[-1] - theta[0] - unit * random) / scale
        found_again = float(np.linalg.norm(missed)) <= SAME * unit
        converged = bool(np.all(report[:, 1] <= tolerance))
        return (theta[:-1], report[:-1]) if converged and found_again else None

    scale = _scale(source, x_mean, damp)
    found = at_full_rank(scale) if damp == 0 and len(scale) else None
    if found is None:
        scale = scale if damp > 0 else np.empty(0)
        found = solve(np.array(y.T, order="C"), scale, most)

    def solution(row: Array, steps: float, gap: float, value: float) -> Solution:
        outcome = Outcome.CONVERGED if gap <= tolerance else Outcome.STEPS_EXHAUSTED
        return replace(_solution(row, outcome), steps=int(steps), gap=gap, value=value)

    theta, report = found
    return [solution(row, *facts) for row, facts in zip(theta, report.tolist(), strict=True)]


def _scale(source: InMemory, x_mean: Array, damp: float) -> Array:
    """One over the length of each column of [√w(X − x̄); damp·I] if it saves steps; or nothing.

    Columns of length one have singular values close together unless X leaves more directions free
    than it has rows.
    """
    X, weight = source.sparse_X, kernel_weights(source.weight)
    n, d = X.shape
    if damp == 0 and n < ROWS_PER_COLUMN * d:
        return np.empty(0)
    raw = np.empty(d)
    _native.sparse_squares(X.data, X.indices, X.indptr, weight, raw)
    total = float(weight.sum()) if len(weight) else float(n)
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.maximum(raw - total * x_mean**2, 0.0)
        lengths = squares + damp**2
        constant = bool(np.any(squares <= np.sqrt(EPSILON) * raw))
        spread = lengths.max() / max(float(lengths.min()), np.finfo(float).tiny)
    if not np.isfinite(spread) or (damp == 0 and constant):
        return np.empty(0)
    free = float((squares / lengths).sum())
    unequal = spread >= (UNEQUAL if damp > 0 else VERY_UNEQUAL)
    return 1.0 / np.sqrt(lengths) if unequal and free <= n else np.empty(0)


def _solution(theta: Array, outcome: Outcome) -> Solution:
    return Solution(
        theta=theta,
        outcome=outcome,
        solver=LSQR.name,
        gap_kind=LSQR.gap_kind,
        message=outcome.value,
    )
