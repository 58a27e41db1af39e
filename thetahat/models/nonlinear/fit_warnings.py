"""Warnings about unreliable non-linear fits.

A solver only finds a point from which no step decreases the objective. Three signs show that this
may not be a good fit: the residuals are not orthogonal to the tangent; some parameters have no
effect on any row; a constant fits better.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import IllConditionedWarning
from thetahat.mathematics.optimizers.residuals.gauss_newton import half_square
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.models.nonlinear.certainty import CurveEvidence
from thetahat.objective.curves.curve_fit import CurveFit

SURELY_STUCK = 1e-4
"""Relative offset above which a run that cannot continue counts as not converged."""
CONSTANT_ROUNDING = 1e-10
"""Residuals of a constant below this fraction of y count as rounding errors."""


def warn_of_poor_fit(fit: CurveFit, solution: Solution, evidence: CurveEvidence) -> None:
    """Warn once about an unreliable fit.

    The estimator has already warned about runs that were stopped early.
    """
    if not (solution.outcome.success or solution.outcome is Outcome.STALLED):
        return
    grave = [*_stuck(solution), *_worse_than_a_constant(fit, solution)]
    problems = grave + _undetermined(evidence, fit.curve.names)
    if problems:
        warn(
            f"NonlinearRegression: {'; '.join(problems)}. Try another start, restarts=10, or "
            "bounds that keep the parameters in a plausible range.",
            ConvergenceWarning if grave else IllConditionedWarning,
        )


def _stuck(solution: Solution) -> list[str]:
    """A run that cannot continue although the residuals are not orthogonal to J."""
    if solution.outcome is not Outcome.STALLED or solution.gap <= SURELY_STUCK:
        return []
    return [
        f"no step decreases the sum of squares, but the relative offset is still "
        f"{solution.gap:.2g} ({solution.solver}, iterations: {solution.steps}): a parameter may "
        "have moved to a region where it has no effect, the model may be undefined or not "
        "differentiable near θ, or its derivative may be wrong"
    ]


def _worse_than_a_constant(fit: CurveFit, solution: Solution) -> list[str]:
    constant = np.asarray(fit.loss.best_constant(fit.y, fit.weight), dtype=np.float64)
    found, flat = solution.value, half_square(fit.signed_roots(np.full(len(fit.y), constant)))
    if found <= flat * (1 + 1e-6):
        return []
    if found <= flat * (1 + 1e-6) + half_square(fit.signed_roots(fit.y * (1 + CONSTANT_ROUNDING))):
        return []
    return [
        f"the curve fits worse than the constant {float(constant):.4g} (sum of losses "
        f"{found:.4g} against {flat:.4g})"
    ]


def _undetermined(evidence: CurveEvidence, names: Any) -> list[str]:
    lost = [name for name, is_lost in zip(names, evidence.lost, strict=True) if is_lost]
    if not lost:
        return []
    return [
        f"the rows do not determine {', '.join(lost)} at θ̂ (the Jacobian has rank "
        f"{evidence.rank} of {int(evidence.free.sum())}), so their standard errors are infinite"
    ]
