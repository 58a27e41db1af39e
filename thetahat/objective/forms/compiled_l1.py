"""All steps of the proximal Newton method with an L1 penalty in one compiled call.

The sweeps work on the columns of X, so sparse columns cost their entries only, and no matrix of
curvatures is formed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat import _native
from thetahat.data.in_memory import InMemory
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.base import Curved
from thetahat.mathematics.losses.compiled import compiled
from thetahat.mathematics.optimizers.smooth.newton import NewtonRun
from thetahat.mathematics.penalties.norms import L1, ElasticNet
from thetahat.objective.bias_column import BiasColumn
from thetahat.objective.predictor import LinearPredictor
from thetahat.objective.row_losses import kernel_rows

MOST_ENTRIES = 1 << 24
"""Entries of a dense X up to which a copy in columns is made."""
FEW_ENTRIES = 1 << 17
"""Entries of a dense X that caches hold, so that sweeps over its columns cost little."""
ROWS_PER_COLUMN = 64
"""Rows of a larger dense X per column from which curvatures of all pairs of columns cost less."""
MANY = 1 << 17
"""Entries of X from which several threads share the gradients of the columns."""


def l1_newton_is_compiled(risk: Any) -> str | None:
    """A condition for `requires`: rows in memory, one output, a loss of the kernel, and |θ|."""
    source, predictor, penalty = risk.source, risk.predictor, risk.penalty
    if not isinstance(source, InMemory):
        return "rows in memory"
    if not source.is_sparse and not _few_rows(*source.X.shape):
        return "sparse rows, or few dense rows per column"
    if type(predictor) not in (LinearPredictor, BiasColumn) or predictor.n_outputs:
        return f"a linear predictor with one output; {type(predictor).__name__} is another"
    if not isinstance(penalty, L1 | ElasticNet):
        return f"an L1 or elastic net penalty; {type(penalty).__name__} is another"
    loss = risk.loss
    if not isinstance(loss, Curved) or not loss.convex or compiled(loss) is None:
        return f"a convex curved loss with a compiled kernel; {type(loss).__name__} is not one"
    if loss.linear_in_parts:
        return f"curvature wherever the loss has a slope; {type(loss).__name__} is linear in parts"
    return None if risk.total_weight > 0 else "a row of positive weight"


def _few_rows(n: int, d: int) -> bool:
    return n * d <= FEW_ENTRIES or (n <= ROWS_PER_COLUMN * d and n * d <= MOST_ENTRIES)


def compiled_l1_newton(risk: Any, theta: Array, tolerance: float, max_steps: int) -> NewtonRun:
    """Step until the optimality conditions hold within the tolerance. Cost: O(nnz) per sweep."""
    source, predictor = risk.source, risk.predictor
    known = compiled(risk.loss)
    assert known is not None
    has_constant = predictor.n_parameters > source.n_features
    l1, l2, _, _ = risk.separable_terms()
    columns = kernel_rows(source.X.tocsc().T if source.is_sparse else source.X.T)
    whole = source.whole
    weight = np.asarray(source.row_weights, dtype=np.float64)
    found = padded(theta, has_constant)
    entries = int(source.X.nnz) if source.is_sparse else source.X.size
    result = _native.l1_newton(
        *columns, predictor.constant if has_constant else 0.0,
        np.ascontiguousarray(whole.targets, dtype=np.float64), weight / risk.total_weight, *known,
        padded(l1, has_constant), padded(l2, has_constant), found, tolerance, max_steps,
        n_threads() if entries > MANY else 1,
    )  # fmt: skip
    return NewtonRun(found if has_constant else found[:-1], *result)


def padded(values: Array, has_constant: bool) -> Array:
    """A copy with an entry for the constant column."""
    return np.append(values, [] if has_constant else [0.0]).astype(np.float64)
