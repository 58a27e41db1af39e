"""All steps of Newton's method with conjugate gradients in one compiled call.

For sparse rows, and for dense rows of so many columns that their Hessian is not formed.
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
from thetahat.mathematics.penalties.norms import L2
from thetahat.objective.bias_column import BiasColumn
from thetahat.objective.forms.compiled_l1 import padded
from thetahat.objective.predictor import LinearPredictor
from thetahat.objective.row_losses import in_rows, kernel_rows

WIDE = 500
"""Parameters from which dense rows are used without a Hessian."""
MOST_ROWS = 10
"""Dense rows per column up to which products cost less than the Hessian of a sample of rows."""
WORTH_SHARING = 1e5
"""Entries of X from which a second thread saves time."""


def cg_is_compiled(risk: Any) -> str | None:
    """A condition for `requires`: sparse or wide rows, one output, a loss of the kernel, and θ²."""
    source, predictor, loss = risk.source, risk.predictor, risk.loss
    if not isinstance(source, InMemory) or not (source.is_sparse or _is_wide(source)):
        return f"rows in memory that are sparse or have more than {WIDE} columns"
    if type(predictor) not in (LinearPredictor, BiasColumn) or predictor.n_outputs:
        return f"a linear predictor with one output; {type(predictor).__name__} is another"
    if not isinstance(risk.penalty, L2) or not risk.penalty.alpha > 0:
        return f"an L2 penalty with alpha > 0; {risk.penalty!r} is not one"
    if not isinstance(loss, Curved) or not loss.convex or compiled(loss) is None:
        return f"a convex curved loss with a compiled kernel; {type(loss).__name__} is not one"
    if loss.linear_in_parts:
        return f"curvature wherever the loss has a slope; {type(loss).__name__} is linear in parts"
    return None if risk.total_weight > 0 else "a row of positive weight"


def _is_wide(source: InMemory) -> bool:
    columns = source.n_features
    return columns > WIDE and source.n_rows <= MOST_ROWS * columns and in_rows(source.X)


def compiled_newton_cg(risk: Any, theta: Array, tolerance: float, max_steps: int) -> NewtonRun:
    """Step until the largest entry of ∇F is within the tolerance. Cost: O(nnz) per product."""
    source, predictor = risk.source, risk.predictor
    known = compiled(risk.loss)
    assert known is not None
    has_constant = predictor.n_parameters > source.n_features
    found = padded(theta, has_constant)
    entries = source.X.nnz if source.is_sparse else source.X.size
    result = _native.newton_cg(
        *kernel_rows(source.X), predictor.constant if has_constant else 0.0,
        np.ascontiguousarray(source.whole.targets, dtype=np.float64),
        np.asarray(source.row_weights, dtype=np.float64) / risk.total_weight, *known,
        padded(risk.penalty_curvature(theta), has_constant), found, tolerance, max_steps,
        n_threads() if entries >= WORTH_SHARING else 1,
    )  # fmt: skip
    return NewtonRun(found if has_constant else found[:-1], *result)
