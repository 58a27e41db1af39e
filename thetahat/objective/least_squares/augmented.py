"""Ridge regression as ordinary least squares on augmented rows, by any of its solvers.

    min ‖y − Xβ‖² + τ‖β‖² = min ‖[y; 0] − [X; √τ I]β‖²

X and y are centred first, if there is an intercept, and weighted by √w.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.data.summaries.means import means
from thetahat.data.views import held
from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.types import Array, Matrix
from thetahat.foundation.watch import Watch
from thetahat.objective.conditioning import watch_through
from thetahat.objective.least_squares.direct import LeastSquares

PREFIX = "augmented_"


def augmented_least_squares(
    source: Source,
    solve: Callable[[Source, Watch | None], LeastSquares],
    *,
    ridge: float,
    intercept: bool,
    watch: Watch | None = None,
) -> LeastSquares:
    """Solve on the augmented rows; `solve` takes rows that need neither intercept nor penalty.

    Cost: O((n + d)·d) memory, and the time of the solver on n + d rows.
    """
    source = held(source)
    if not isinstance(source, InMemory):
        raise CapabilityError(
            "The augmented rows [X; √α I] are formed in the memory of the CPU, and X is not there. "
            'Use solver="augmented", which adds them to a QR factorisation block by block, or '
            'solver="auto".'
        )
    source.require_finite()
    d, about = source.n_features, means(source)
    x_mean = about.mean[:d] if intercept else np.zeros(d)
    y_mean = about.mean[d:] if intercept else np.zeros(len(about.mean) - d)

    def back(theta: Array) -> Array:
        """[β; b] of the rows themselves."""
        return np.vstack([theta[:-1], y_mean - x_mean @ theta[:-1]])

    rows = _augmented(source, x_mean, y_mean, ridge)
    with watch_through(watch, back) as inner:
        found = solve(rows, inner)
    fit, solution = found.fit, found.solution
    theta = back(solution.theta)
    reason = f"{solution.solver} on the augmented rows [X; √α I], [y; 0]"
    return LeastSquares(
        replace(fit, intercept=theta[-1], factor=None, dual=None),
        replace(solution, theta=theta, reason=reason, multipliers=None),
    )


def _augmented(source: InMemory, x_mean: Array, y_mean: Array, ridge: float) -> InMemory:
    n, d = source.n_rows, source.n_features
    root = np.sqrt(source.row_weights)[:, None]
    y = np.asarray(source.y, dtype=np.float64).reshape(n, -1)
    target = np.vstack([root * (y - y_mean), np.zeros((d, y.shape[1]))])
    return replace(
        source,
        X=_rows(source, root, x_mean, np.sqrt(ridge)),
        y=target if source.n_outputs else target[:, 0],
        weight=None,
        dtype=np.float64,
    )


def _rows(source: InMemory, root: Array, x_mean: Array, damp: float) -> Matrix:
    """√w(X − x̄) above √τ I; sparse if X is, and nothing is to be centred."""
    n, d = source.n_rows, source.n_features
    if source.is_sparse and not x_mean.any():
        from scipy import sparse

        weighted = sparse.csr_array(source.sparse_X.multiply(root))
        return sparse.csr_array(sparse.vstack([weighted, damp * sparse.eye_array(d)]))
    require_memory(
        8 * (n + d) * d, f"{n + d} augmented rows of {d} columns", 'Use solver="augmented".'
    )
    X = np.asarray(source.dense_X, dtype=np.float64)
    return np.vstack([root * (X - x_mean), damp * np.eye(d)])
