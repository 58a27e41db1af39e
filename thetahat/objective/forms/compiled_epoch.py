"""A whole epoch of single-row steps of an empirical risk, compiled: θ ← θ − η_t ∇F_i(θ)."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.losses.compiled import compiled
from thetahat.mathematics.penalties.norms import L2
from thetahat.objective.stochastic.steps import Steps, Walk, take


def epoch_is_compiled(risk: Any) -> str | None:
    """A condition for `requires`: the kernel has the risk's loss and penalty."""
    if compiled(risk.loss) is None:
        return f"a loss with compiled steps; {type(risk.loss).__name__} has none"
    return None


def compiled_epoch(risk: Any, theta: Array, rows: Array, rates: Array) -> tuple[Array, Array]:
    """θ after a step for each of the rows in turn, and the mean of the iterates; NaN on overflow.

    Cost: O(entries of those rows).
    """
    alpha = risk.penalty.alpha if isinstance(risk.penalty, L2) else 0.0
    if (
        alpha * rates.max(initial=0.0) > 1
    ):  # the kernel stops at 0, where a step would change the sign of β
        return _one_by_one(risk, theta, rows, rates)
    source = risk.source
    steps = Steps(
        risk.loss,
        l2=alpha,
        fit_intercept=risk.predictor.fit_intercept,
        multiplier=1.0 if source.weight is None else risk.n_terms / risk.total_weight,
    )
    coef, intercept = risk.predictor.split(theta)
    walk = Walk(coef.copy(), float(intercept), averages=True)
    X = risk.contiguous_rows
    total = take(steps, walk, X, _double(source.y), _double(source.weight), rows, rates)
    if not np.isfinite(total):
        return np.full_like(theta, np.nan), np.full_like(theta, np.nan)
    pack = risk.predictor.pack
    return pack(walk.coef, walk.intercept), pack(*walk.reported())


def _one_by_one(risk: Any, theta: Array, rows: Array, rates: Array) -> tuple[Array, Array]:
    total = np.zeros_like(theta)
    for row, rate in zip(rows, rates, strict=True):
        theta = theta - rate * risk.sample_gradient(theta, row[None])
        total += theta
    return theta, total / len(rows)


def _double(values: Array | None) -> Any:
    return None if values is None else np.ascontiguousarray(values, dtype=np.float64)
