"""Shared by linear support vector machines: the cost C and a penalised intercept.

The objective is ½(‖β‖² + c²) + C·Σ wᵢ ℓ(yᵢ, xᵢᵀβ + s·c), where c is the coefficient of a constant
column with value s. So the intercept b = s·c is shrunk, and less so for larger s. Divided by C·Σw,
the objective is a mean loss with the L2 penalty λ = 1/(C·Σw).
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import (
    LARGEST_FACTOR,
    Range,
    boolean,
    infinity,
    more_than,
    one_of,
    whole,
)
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.base import Loss
from thetahat.mathematics.optimizers.dual.augmented_lagrangian import AugmentedLagrangian
from thetahat.mathematics.optimizers.dual.class_dual_descent import ClassDualDescent
from thetahat.mathematics.optimizers.dual.dual_coordinate_descent import (
    DualCoordinateDescent,
    steps_for_sweeps,
    sweeps_in_steps,
)
from thetahat.mathematics.optimizers.loop import Method
from thetahat.mathematics.optimizers.programs.interior_point import InteriorPoint
from thetahat.mathematics.optimizers.smooth.newton_cg import NewtonCG
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.mathematics.penalties.norms import L1, L2
from thetahat.objective.bias_column import BiasColumn
from thetahat.objective.choose import SMALL_HESSIAN, method_for
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.forms.dual_form import weights_of_rows
from thetahat.objective.predictor import LinearPredictor
from thetahat.objective.sums import weight_sums

SMALL_SYSTEM = 50
"""Parameters up to which a step of the augmented Lagrangian method takes hardly any time."""
FEW_ROWS = 5
"""Rows per parameter up to which sweeps over the rows take less time than its larger systems."""
SWEEPS = 10
"""Passes over the rows in the first step of coordinate descent."""


@with_parameters
class CostAndBias:
    """An estimator with a cost C of the losses and a penalised intercept.

    Parameters
    ----------
    tol : float, default=1e-4
        Tolerance of the solver. It stops when the largest entry of the gradient of the objective is
        at most `tol`, or the duality gap is at most `tol`/100. For coordinate descent, the gap is
        at most this fraction of the objective at β = 0, and at most the fraction `tol` of the
        objective reached (`tol`/100 for squared losses). Smaller values give a more exact solution
        and take longer.
    fit_intercept : bool, default=True
        Whether to fit an intercept (b). If False, the intercept is 0 and the data are expected to
        be centred.
    intercept_scaling : float, default=1
        Value of the constant column whose coefficient gives the intercept. As this coefficient is
        penalised too, larger values reduce the effect of the penalty on the intercept. Must be
        positive.
    random_state : int, Generator, RandomState or None, default=None
        Seed for the order of the rows in dual coordinate descent. None always uses the same order.
    max_iter : int, default=1000
        Maximum number of iterations: Newton steps, or passes over the rows in coordinate descent.

    Attributes
    ----------
    support_vectors_ : array or sparse of shape (n_support, d)
        The support vectors, if the rows are in memory.
    """

    _: KW_ONLY
    C: float = 1.0
    fit_intercept: bool = True
    intercept_scaling: float = 1
    dual: Any = "auto"
    tol: float = 1e-4
    max_iter: int = 1000
    random_state: Any = None
    verbose: int = 0

    _search_space: ClassVar[dict[str, tuple[Any, ...]]] = {
        "C": (0.001, 0.01, 0.1, 1.0, 10.0, 100.0),
    }
    _ranges: ClassVar[dict[str, Range]] = {
        "C": more_than(0) | infinity,
        "fit_intercept": boolean,
        "intercept_scaling": more_than(0, LARGEST_FACTOR),
        "dual": boolean | one_of("auto"),
        "tol": more_than(0),
        "max_iter": whole(1),
    }

    def _risk(
        self, source: Source, loss: Loss, cost: float, *, sparse: bool = False, outputs: int = 0
    ) -> EmpiricalRisk:
        """½‖θ‖² (or ‖θ‖₁ if sparse) + cost·Σ wᵢ ℓᵢ, as a mean loss with its penalty."""
        strength = 1.0 / (cost * self._total_weight(source))
        if not math.isfinite(strength):
            raise ParameterError(
                f"{type(self).__name__}: C={self.C!r} is so small that the penalty 1/C overflows. "
                "Use C ≥ 1e-100."
            )
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
                f"{type(self).__name__}: all sample weights are zero. Give at least one row a "
                "positive weight."
            )
        return total

    def _method(self, risk: EmpiricalRisk) -> tuple[Method, str, int]:
        """The method, the reason for it, and its maximum number of steps from ``max_iter``."""
        method, reason = method_for(risk)
        wide = risk.predictor.n_parameters > SMALL_HESSIAN["memory"]
        wide = wide and not isinstance(method, NewtonCG)
        is_smooth = hasattr(risk, "hessian")
        if hasattr(risk, "dual_rows") and is_smooth:
            if self.dual is True or (self.dual == "auto" and (wide or _has_few_rows(risk, 1))):
                method = DualCoordinateDescent()
                reason = "dual=True" if self.dual is True else "too many columns for Newton"
        if isinstance(method, AugmentedLagrangian) and _has_few_rows(risk, FEW_ROWS):
            method, reason = DualCoordinateDescent(), "few rows: coordinate descent on the dual"
        seed = 0 if self.random_state is None else _seed(self.random_state)
        # Conjugate gradients make the dual of smooth losses exact in a few sweeps.
        share = min(1.0, max(EPSILON, self.tol / 100 if is_smooth else self.tol))
        if isinstance(method, DualCoordinateDescent):
            steps = steps_for_sweeps(SWEEPS, self.max_iter)
            return DualCoordinateDescent(SWEEPS, seed, share), reason, steps
        if isinstance(method, ClassDualDescent):
            steps = steps_for_sweeps(SWEEPS, self._sweeps)
            return ClassDualDescent(SWEEPS, seed, share), reason, steps
        return method, reason, self.max_iter

    def _iterations(self, method: Method, steps: int) -> int:
        """Newton steps, or the passes over the rows in that many steps of coordinate descent."""
        if isinstance(method, DualCoordinateDescent):
            return max(1, min(self.max_iter, sweeps_in_steps(method.sweeps, steps)))
        if isinstance(method, ClassDualDescent):
            return max(1, min(self._sweeps, sweeps_in_steps(method.sweeps, steps)))
        return max(1, steps)

    @property
    def _sweeps(self) -> int:
        """The limit on the passes of "crammer_singer"."""
        return 10 * int(self.max_iter)

    def _tolerance(self, risk: EmpiricalRisk, method: Method) -> float:
        """``tol`` in units of the mean risk.

        A duality gap decreases with the square of the distance to the optimum, so `tol` is divided
        by 100. The objective may decrease to far less than its value at β = 0; the methods' `share`
        bounds the gap in relation to it.
        """
        # Without a penalty (C=inf), `tol` is in units of the mean risk.
        in_sums = self.tol * (float(risk.penalty.get_params()["alpha"]) or 1.0)
        if isinstance(method, InteriorPoint):  # its gap is already relative
            return self.tol / 100
        if method.gap_kind != "duality gap":
            return in_sums
        if isinstance(method, DualCoordinateDescent | ClassDualDescent):
            return self.tol / 100 * risk.value(risk.predictor.zeros())
        return in_sums / 100


def judged(found: Solution, method: Method, steps: int) -> Solution:
    """The same solution; out of steps if its gap is small only compared with the start."""
    if not isinstance(method, DualCoordinateDescent | ClassDualDescent) or found.steps < steps:
        return found
    if found.outcome is Outcome.CONVERGED and found.gap > method.share * found.value:
        outcome = Outcome.STEPS_EXHAUSTED
        return replace(found, outcome=outcome, message=outcome.value)
    return found


def pull(multipliers: Array, risk: EmpiricalRisk) -> Array:
    """The contribution of each row to β = Σ pullᵢ·xᵢ: wᵢmᵢ/(λ·Σw) = C·wᵢ·mᵢ."""
    weight = weights_of_rows(risk.source)
    return weight * multipliers / (risk.penalty.get_params()["alpha"] * weight.sum())


def coefficients(theta: Array, risk: EmpiricalRisk) -> tuple[Array, Array]:
    """β and b from the θ of a risk."""
    predictor = risk.predictor
    return predictor.bias(theta) if isinstance(predictor, BiasColumn) else predictor.split(theta)


def support_rows(multipliers: Array, source: Source) -> Array:
    """The support vectors: rows of positive weight whose multiplier is not 0."""
    size = np.abs(multipliers) if multipliers.ndim == 1 else np.abs(multipliers).max(axis=1)
    pulling = size > 1e-10 * size.max(initial=0.0)
    if isinstance(source, InMemory) and source.weight is not None:
        pulling &= np.asarray(source.weight) > 0
    return np.flatnonzero(pulling)


def _seed(random_state: Any) -> int:
    return int(generator(random_state).integers(2**31))


def _has_few_rows(risk: EmpiricalRisk, per_parameter: int) -> bool:
    """Whether the dual has few variables, and the rows, which it visits one by one, are in memory.

    All solvers converge to the same tolerance, so rows may be counted without their weights.
    """
    size, rows = risk.predictor.n_parameters, risk.source
    few = isinstance(rows, InMemory) and rows.n_rows <= per_parameter * size
    return few and size > SMALL_SYSTEM
