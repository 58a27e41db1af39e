"""A risk of squared loss with a ridge penalty, none or L0, solved directly."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.solution import Solution
from thetahat.mathematics.penalties.base import Penalty
from thetahat.mathematics.penalties.coordinatewise import Coordinatewise, every
from thetahat.mathematics.penalties.l0 import L0
from thetahat.objective.conditioning import watch_through
from thetahat.objective.least_squares.direct import direct_least_squares
from thetahat.objective.least_squares.subsets import counted_least_squares, too_many_subsets


class RidgeTerms(NamedTuple):
    """R(β) = alpha/2·‖β‖², with β ≥ 0 if `positive`."""

    alpha: float
    positive: bool


def ridge_terms(penalty: Penalty, n_features: int) -> RidgeTerms | None:
    """The terms of a penalty that is a ridge, none, or either of them with β ≥ 0; else None."""
    if not isinstance(penalty, Coordinatewise):
        return None
    try:
        l1, l2, lower, upper = penalty.terms((n_features,))
    except ParameterError:
        return None
    if not every((l1 == 0) & (upper == np.inf)):
        return None
    alpha, positive = float(np.max(l2)), every(lower == 0)
    if not (every(l2 == alpha) and (positive or every(lower == -np.inf))):
        return None
    return RidgeTerms(alpha, positive)


def is_direct(risk: Any) -> str | None:
    """A condition for `requires`: one ridge for all coefficients, or none, and no upper bounds; or
    a count of the non-zero coefficients, of few columns."""
    if isinstance(risk.penalty, L0):
        return too_many_subsets(risk)
    if ridge_terms(risk.penalty, risk.predictor.n_features) is not None:
        return None
    return f"the ridge penalty or none, with β ≥ 0 at most; {risk.penalty!r} is another"


def direct_solution(risk: Any, watch: Watch | None = None) -> Solution:
    """θ̂ of (Σ wᵢ(yᵢ − zᵢ)²/2)/(Σ wᵢ) + R(β), as one vector. Cost: as `least_squares`.

    R is α/2·‖β‖², or α·‖β‖₀.
    """
    solve = _subset_solution if isinstance(risk.penalty, L0) else _ridge_solution
    with watch_through(watch, partial(_as_vector, risk)) as inner:
        found = solve(risk, inner)
    theta = _as_vector(risk, found.theta)
    return replace(found, theta=theta, value=found.value / (2 * risk.total_weight))


def _subset_solution(risk: Any, watch: Watch | None) -> Solution:
    unit, intercept = 2 * risk.total_weight, risk.predictor.fit_intercept
    price = unit * risk.penalty.alpha
    found = counted_least_squares(risk.source, price, intercept=intercept, watch=watch)
    return replace(found, gap=found.gap / unit)


def _ridge_solution(risk: Any, watch: Watch | None) -> Solution:
    predictor, total_weight = risk.predictor, risk.total_weight
    terms = ridge_terms(risk.penalty, predictor.n_features)
    assert terms is not None
    return direct_least_squares(
        risk.source,
        ridge=terms.alpha * total_weight,
        intercept=predictor.fit_intercept,
        positive=terms.positive,
        watch=watch,
    ).solution


def _as_vector(risk: Any, stack: Array) -> Array:
    """θ of the predictor from [β; b] of shape (d + 1, 1)."""
    theta: Array = risk.predictor.pack(stack[:-1, 0], stack[-1, 0])
    return theta
