"""One iteration of boosting with any regressor, fitted to the gradients by least squares.

    h_m = fit of r = −∂ℓ/∂f;    α_m = argmin_α Σ w·ℓ(y, f + α·h_m);    f ← f + η·α_m·h_m

With one column per class, h_m has one learner per column and a single step size α for all of them,
so that the result does not depend on the order of the classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from thetahat.data.source import row_weights
from thetahat.foundation.types import Array
from thetahat.models.ensemble.adaboost.weak_learners import reseeded, takes_weights
from thetahat.models.ensemble.combination.base import require_weighable
from thetahat.models.ensemble.gradient_boosting.leaf_values import (
    takes_newton_steps,
    turning_points,
)
from thetahat.models.ensemble.gradient_boosting.members import ScaledLearner, answers_of
from thetahat.models.ensemble.gradient_boosting.rounds import Plan, Round, Rows, scores_of

FLAT = 1e-9
"""Slopes smaller than this multiple of the initial slope count as zero."""


@dataclass(frozen=True)
class LearnerRounds:
    """Callable that fits the learners of an iteration and adds their predictions."""

    plan: Plan
    rows: Rows
    estimator: Any
    who: str

    def __post_init__(self) -> None:
        if self.rows.weight is not None and np.ptp(self.rows.weight) > 0:
            require_weighable(self.estimator, "estimator", self.who)

    def __call__(self, now: Round) -> list[ScaledLearner]:
        chosen = now.drawn if now.drawn.size else slice(None)
        rows = self.rows.take(now.drawn) if now.drawn.size else self.rows
        learners = [
            self._fitted(rows, -now.slope[chosen, column], now.random)
            for column in range(self.plan.n_columns)
        ]
        n = len(self.rows.y)
        answers = np.column_stack([answers_of(each, self.rows.X, n) for each in learners])
        step = self.plan.learning_rate * self._coefficient(now, rows, answers[chosen], chosen)
        now.raw[:] += step * answers
        return [ScaledLearner(learner, step) for learner in learners]

    def _fitted(self, rows: Rows, target: Array, random: np.random.Generator) -> Any:
        learner = reseeded(clone(self.estimator), random)
        if rows.weight is None or not takes_weights(learner):
            return learner.fit(rows.X, target)
        return learner.fit(rows.X, target, sample_weight=rows.weight)

    def _coefficient(self, now: Round, rows: Rows, answers: Array, chosen: Any) -> float:
        """Step size α on the drawn rows: the minimum of the loss along h.

        Losses with stable curvature take one Newton step, unless it passes the minimum.
        """
        weight = row_weights(rows.weight, len(rows.y))[:, None]
        raw = now.before[chosen]

        def slope(alpha: Array) -> Array:
            at = now.loss.gradient(rows.y, scores_of(now.loss, raw + alpha * answers))
            return np.array([np.sum(weight * at.reshape(raw.shape) * answers)])

        length = float(np.sum(weight * answers**2))
        if length == 0.0:
            return 0.0
        bend = length
        if now.curvature is not None:
            bend = float(np.sum(weight * now.curvature[chosen] * answers**2))
            bend = bend if bend > 0.0 else length
        if takes_newton_steps(now.loss, self.plan.leaf_update):
            first = float(np.sum(weight * now.slope[chosen] * answers))
            step = -first / bend
            if float(slope(np.array([step]))[0]) * first >= -FLAT * first**2:
                return step
        return float(turning_points(slope, 1, np.array([bend]))[0])
