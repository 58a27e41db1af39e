"""Least squares where one row outweighs others by more digits than a number has.

The mean is this row up to rounding errors, and these errors times its weight hide the other rows.
Differences from the row itself are exact, so that the rows are moved to have it at the origin.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import IllConditionedWarning
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.objective.conditioning import watch_through
from thetahat.objective.least_squares.direct import LeastSquares

LARGEST_RATIO = 1e15
"""Ratio of weights up to which the lighter rows keep digits."""
ENOUGH = 1e30
"""Ratio of weights beyond which a larger one changes nothing."""


def outweighs(source: Source) -> bool:
    """Whether the rows differ in weight by more, and none of them is at the origin yet."""
    if not isinstance(source, InMemory) or source.weight is None or source.is_sparse:
        return False
    weight = source.weight
    if weight.max(initial=0.0) <= LARGEST_RATIO * weight.min(where=weight > 0, initial=np.inf):
        return False
    row = int(np.argmax(weight))
    return bool(np.any(source.dense_X[row]) or np.any(np.asarray(source.y)[row]))


def about_heaviest_row(
    source: Source,
    solve: Callable[[Source, Watch | None], LeastSquares],
    *,
    watch: Watch | None = None,
) -> LeastSquares:
    """Solve on the rows minus the heaviest one; only the intercept and the means depend on it."""
    assert isinstance(source, InMemory)
    assert source.weight is not None
    source.require_finite()
    row = int(np.argmax(source.weight))
    X, y = np.asarray(source.dense_X, dtype=np.float64), np.asarray(source.y, dtype=np.float64)
    used = source.weight[source.weight > 0]
    # The fit passes through the row up to rounding errors already with the smaller weight.
    weight = np.minimum(source.weight, ENOUGH * used.min())
    moved = replace(source, X=X - X[row], y=y - y[row], weight=weight, dtype=np.float64)

    def back(theta: Array) -> Array:
        """[β; b] of the rows themselves."""
        return np.vstack([theta[:-1], theta[-1] + y[row] - X[row] @ theta[:-1]])

    with watch_through(watch, back) as inner:
        found = solve(moved, inner)
    theta, about = back(found.solution.theta), found.about
    if about is not None:
        mean = about.mean + np.append(X[row], y[row])
        about = replace(about, mean=mean, weight=float(used.sum()))
    warn_of_lost_rows(source, found, n_heaviest=2)
    return LeastSquares(
        replace(found.fit, intercept=theta[-1]), replace(found.solution, theta=theta), about
    )


def warn_of_lost_rows(source: Source, found: LeastSquares, *, n_heaviest: int = 1) -> None:
    """Warn if so many rows are so heavy that the light ones do not count in the rank."""
    rank, d = found.fit.rank, source.n_features
    if not isinstance(source, InMemory) or source.weight is None or rank is None or rank == d:
        return
    used = np.sort(source.weight[source.weight > 0])
    if len(used) < n_heaviest or used[-n_heaviest] <= LARGEST_RATIO * used[0]:
        return
    warn(
        f"The weights of the rows reach from {used[0]:.2g} to {used[-1]:.2g}. Rows of small weight "
        f"are lost in rounding errors: the rank is {rank} of {d} columns. Use weights whose ratio "
        f"is at most {LARGEST_RATIO:.0e}.",
        IllConditionedWarning,
    )
