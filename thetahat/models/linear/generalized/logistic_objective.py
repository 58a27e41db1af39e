"""The objective of logistic regression, C Σ wᵢ ℓᵢ + R(β), as a mean loss with its penalty."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thetahat.data.source import Source
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.base import Loss
from thetahat.mathematics.losses.likelihood import Logistic
from thetahat.mathematics.losses.multiclass.class_scores import SoftmaxCrossEntropy
from thetahat.mathematics.losses.multiclass.reference_softmax import ReferenceSoftmax
from thetahat.mathematics.optimizers.by_name import named
from thetahat.mathematics.optimizers.loop import Method
from thetahat.mathematics.optimizers.stochastic.stochastic_gradient import StochasticGradient
from thetahat.mathematics.penalties.base import Penalty
from thetahat.mathematics.penalties.norms import L1, L2, ElasticNet, NoPenalty
from thetahat.models.linear.solver_names import GENERALIZED
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor
from thetahat.objective.sums import weight_sums

LARGEST_PENALTY = 1e150
"""Largest penalty that is applied. Beyond it all coefficients are 0, and squares would overflow."""


@dataclass(frozen=True)
class LogisticObjective:
    """C Σ wᵢ ℓᵢ + R(β) for some rows and any C and l1_ratio, as a mean loss with its penalty."""

    source: Source
    loss: Loss
    n_classes: int
    fit_intercept: bool

    @property
    def predictor(self) -> LinearPredictor:
        outputs = self.loss.n_scores(self.n_classes)
        return LinearPredictor(self.source.n_features, outputs, self.fit_intercept)

    def risk(self, C: float, l1_ratio: float) -> EmpiricalRisk:
        """The mean loss plus R/(C·Σw)."""
        total = self.source.reduce(weight_sums).weight
        alpha = min(1.0 / max(C * total, 1.0 / LARGEST_PENALTY), LARGEST_PENALTY)
        return EmpiricalRisk(self.predictor, self.loss, _penalty(alpha, l1_ratio), self.source)


def _penalty(alpha: float, l1_ratio: float) -> Penalty:
    if alpha == 0:
        return NoPenalty()
    if l1_ratio == 0:
        return L2(alpha)
    return L1(alpha) if l1_ratio == 1 else ElasticNet(alpha, l1_ratio)


def strength_and_share(penalty: Any, C: float, l1_ratio: float | None) -> tuple[float, float]:
    """C and l1_ratio, with the deprecated parameter `penalty` taken into account."""
    if penalty is None:
        return np.inf, 0.0
    return float(C), {"l2": 0.0, "l1": 1.0}.get(penalty, float(l1_ratio or 0.0))


def loss_of(classes: Array, reference: Any = None) -> Loss:
    """The loss for these classes, symmetric or with a reference class."""
    unknown = np.ndim(reference) > 0 or reference not in classes.tolist()
    if reference is not None and unknown:
        raise ParameterError(
            f"LogisticRegression: reference={reference!r} is not one of the classes of y: "
            f"{', '.join(map(repr, classes.tolist()[:10]))}. Give one of them, or None."
        )
    if len(classes) == 2:
        return Logistic()
    if reference is None:
        return SoftmaxCrossEntropy()
    return ReferenceSoftmax(classes.tolist().index(reference))


def solver_of(solver: Any, random_state: Any) -> str | Method:
    """The method for a name; "auto" for names that all find the same optimum."""
    ours = GENERALIZED.get(solver, solver) if isinstance(solver, str) else solver
    if isinstance(ours, str) and ours == "auto":
        return ours
    try:
        method = named(ours)
    except ParameterError as unknown:
        theirs = ", ".join(("auto", *GENERALIZED))
        raise ParameterError(f"{unknown} These names work too: {theirs}.") from None
    if isinstance(method, StochasticGradient) and method.random_state is None:
        return replace(method, random_state=random_state)
    return method
