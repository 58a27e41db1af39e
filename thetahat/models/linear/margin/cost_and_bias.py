"""What linear support vector machines share: the cost C, and a bias that is penalised.

Their objective is ½(‖β‖² + c²) + C·Σ wᵢ ℓ(yᵢ, xᵢᵀβ + s·c), where c is the coefficient of a constant
column s, so the bias b = s·c is shrunk a little, the less the larger s is. Divided by C·Σw it is a
mean loss with the L2 penalty λ = 1/(C·Σw).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.foundation.errors import DataError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.base import Loss
from thetahat.mathematics.optimizers.dual.class_dual_descent import ClassDualDescent
from thetahat.mathematics.optimizers.dual.dual_coordinate_descent import (
    DualCoordinateDescent,
    steps_for_sweeps,
    sweeps_in_steps,
)
from thetahat.mathematics.optimizers.loop import Method
from thetahat.mathematics.optimizers.programs.interior_point import InteriorPoint
from thetahat.mathematics.penalties.norms import L1, L2
from thetahat.objective.bias_column import BiasColumn
from thetahat.objective.choose import SMALL_HESSIAN, method_for
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor
from thetahat.objective.sums import weight_sums

SWEEPS = 10
"""Sweeps of a coordinate method in the first step of its loop."""


class CostAndBias:
    """An estimator with parameters C, fit_intercept, intercept_scaling, dual and random_state."""

    fit_intercept: bool
    intercept_scaling: float
    dual: Any
    max_iter: int
    random_state: Any
    tol: float

    def _risk(
        self, source: Source, loss: Loss, cost: float, *, sparse: bool = False, outputs: int = 0
    ) -> EmpiricalRisk:
        """½‖θ‖² + cost·Σ wᵢ ℓᵢ as a mean loss with its penalty; ‖θ‖₁ instead when sparse."""
        strength = 1.0 / (cost * self._total_weight(source))
        d = source.n_features
        predictor = (
            BiasColumn(d + 1, outputs, scaling=float(self.intercept_scaling))
            if self.fit_intercept
            else LinearPredictor(d, outputs, fit_intercept=False)
        )
        penalty = L1(strength) if sparse else L2(strength)
        return EmpiricalRisk(predictor, loss, penalty, source)

    def _total_weight(self, source: Source) -> float:
        total = source.reduce(weight_sums).weight
        if not total > 0:
            raise DataError(
                f"{type(self).__name__}: all sample weights are zero, so no row counts. Give at "
                "least one row a positive weight."
            )
        return total

    def _method(self, risk: EmpiricalRisk) -> tuple[Method, str, int]:
        """The method, why, and the most steps that ``max_iter`` allows it."""
        method, reason = method_for(risk)
        # By the columns alone: rows repeated or weighted must be solved alike.
        wide = risk.predictor.n_parameters > SMALL_HESSIAN["memory"]
        if hasattr(risk, "dual_rows") and hasattr(risk, "hessian"):
            if self.dual is True or (self.dual == "auto" and wide):
                method = DualCoordinateDescent()
                reason = "dual=True" if self.dual is True else "more columns than Newton is for"
        seed = 0 if self.random_state is None else _seed(self.random_state)
        if isinstance(method, DualCoordinateDescent):
            steps = steps_for_sweeps(SWEEPS, self.max_iter)
            return DualCoordinateDescent(SWEEPS, seed), reason, steps
        if isinstance(method, ClassDualDescent):
            return ClassDualDescent(SWEEPS, seed), reason, self.max_iter
        return method, reason, self.max_iter

    def _iterations(self, method: Method, steps: int) -> int:
        """Newton steps, or the sweeps in so many steps of a coordinate method."""
        if isinstance(method, DualCoordinateDescent):
            return max(1, min(self.max_iter, sweeps_in_steps(method.sweeps, steps)))
        return max(1, steps * getattr(method, "sweeps", 1))

    def _tolerance(self, risk: EmpiricalRisk, method: Method) -> float:
        """``tol`` in units of the mean risk.

        A duality gap shrinks with the square of the distance to the optimum, hence the hundredth.
        """
        # Without a penalty (C=inf) there are no units but those of the mean risk.
        in_sums = self.tol * (float(risk.penalty.get_params()["alpha"]) or 1.0)
        if isinstance(method, InteriorPoint):  # its gap is a share already
            return self.tol / 100
        if method.gap_kind != "duality gap":
            return in_sums
        if isinstance(method, DualCoordinateDescent | ClassDualDescent):
            return self.tol / 100 * risk.value(risk.predictor.zeros())
        return in_sums / 100


def pull(multipliers: Array, risk: EmpiricalRisk) -> Array:
    """What each row adds to β, in the unit of β = Σ pullᵢ·xᵢ: wᵢmᵢ/(λ·Σw) = C·wᵢ·mᵢ."""
    weight = risk.source.map_rows(
        lambda block: np.ones(block.n_rows) if block.weight is None else block.weight
    )
    return weight * multipliers / (risk.penalty.get_params()["alpha"] * weight.sum())


def coefficients(theta: Array, risk: EmpiricalRisk) -> tuple[Array, Array]:
    """β and b of a risk's θ."""
    predictor = risk.predictor
    return predictor.bias(theta) if isinstance(predictor, BiasColumn) else predictor.split(theta)


def support_rows(multipliers: Array, source: Source) -> Array:
    """The rows with a pull: a multiplier that is not 0, of a row that counts."""
    size = np.abs(multipliers) if multipliers.ndim == 1 else np.abs(multipliers).max(axis=1)
    pulling = size > 1e-10 * size.max(initial=0.0)
    if isinstance(source, InMemory) and source.weight is not None:
        pulling &= np.asarray(source.weight) > 0
    return np.flatnonzero(pulling)


def _seed(random_state: Any) -> int:
    return int(generator(random_state).integers(2**31))
