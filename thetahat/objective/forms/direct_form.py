"""A risk of squared loss with a ridge penalty or none, solved directly."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.solution import Solution
from thetahat.mathematics.penalties.base import Penalty
from thetahat.mathematics.penalties.coordinatewise import Coordinatewise
from thetahat.objective.least_squares.direct import direct_least_squares


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
    if np.any(l1) or not np.all(np.isposinf(upper)):
        return None
    alpha, positive = np.ravel(l2), bool(np.all(np.equal(lower, 0)))
    if np.any(alpha != alpha[0]) or not (positive or np.all(np.isneginf(lower))):
        return None
    return RidgeTerms(float(alpha[0]), positive)


def is_ridge(risk: Any) -> str | None:
    """A condition for `requires`: one ridge for all coefficients, or none, and no upper bounds."""
    if ridge_terms(risk.penalty, risk.predictor.n_features) is not None:
        return None
    return f"the ridge penalty or none, with β ≥ 0 at most; {risk.penalty!r} is another"


def direct_solution(risk: Any, watch: Watch | None = None) -> Solution:
    """θ̂ of (Σ wᵢ(yᵢ − zᵢ)²/2)/(Σ wᵢ) + α/2·‖β‖², as one vector. Cost: as `least_squares`."""
    predictor, total_weight = risk.predictor, risk.total_weight
    terms = ridge_terms(risk.penalty, predictor.n_features)
    assert terms is not None
    found = direct_least_squares(
        risk.source,
        ridge=terms.alpha * total_weight,
        intercept=predictor.fit_intercept,
        positive=terms.positive,
        watch=watch,
    ).solution
    stack = found.theta[:, 0]
    theta = predictor.pack(stack[:-1], stack[-1])
    return replace(found, theta=theta, value=found.value / (2 * total_weight))
