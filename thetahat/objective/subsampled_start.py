"""A starting point for Newton's method: the optimum over every eighth row.

A step over these rows costs an eighth of a full step. The risk is a mean, so this optimum is within
sampling error of that over all rows, and few full steps remain.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.loop import Method
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.objective.empirical_risk import EmpiricalRisk

EVERY = 8
ROWS_PER_PARAMETER = 30
"""Smallest number of rows per parameter in the subsample."""
FEWEST_ROWS = 1000


def subsampled_start(risk: EmpiricalRisk, method: Method) -> Array | None:
    """θ̂ of every eighth row, itself started from every 64th and so on; None for few rows."""
    source = risk.source
    if not isinstance(source, InMemory) or not isinstance(source.X, np.ndarray):
        return None
    kept = -(-source.n_rows // EVERY)
    if kept < max(FEWEST_ROWS, ROWS_PER_PARAMETER * risk.predictor.n_parameters):
        return None
    rows: Any = slice(None, None, EVERY)
    thinned = source.take(rows)
    if thinned.weight is not None and not np.sum(thinned.weight) > 0:
        return None
    part = replace(risk, source=thinned)
    start = subsampled_start(part, method)
    # Digits beyond the sampling error do not help the full problem.
    found = minimise(part, method, start, tolerance=1.0 / source.n_rows, max_steps=20)
    return found.theta
