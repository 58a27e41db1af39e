"""What is doubtful of a fitted curve, said in one warning.

A solver can do no more than reach a place from which no step leads down. Whether that is the fit
one wanted shows in three signs: it is stuck where the residuals are not orthogonal to the tangent;
some parameters leave every row as it is; a constant would fit better.
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
"""A relative offset above which a run that can go no further has not arrived."""
ROUNDING = 1e-10
"""The share of y below which residuals of a constant are rounding."""


def warn_of_poor_fit(fit: CurveFit, solution: Solution, evidence: CurveEvidence) -> None:
    """Warn, once, of a fit that its own numbers speak against.

    Of a run that was cut short the estimator has already warned.
    """
    if not (solution.outcome.success or solution.outcome is Outcome.STALLED):
        return
    grave = [*_stuck(solution), *_worse_than_a_constant(fit, solution)]
    doubts = grave + _undetermined(evidence, fit.curve.names)
    if doubts:
        warn(
            f"NonlinearRegression: {'; '.join(doubts)}. Try another start, restarts=10, or bounds "
            "that keep the parameters where the model responds to them.",
            ConvergenceWarning if grave else IllConditionedWarning,
        )


def _stuck(solution: Solution) -> list[str]:
    """A run that can go no further, far from where the residuals are orthogonal to J."""
    if solution.outcome is not Outcome.STALLED or solution.gap <= SURELY_STUCK:
        return []
    return [
        f"no step lowers the sum of squares, and the relative offset is still {solution.gap:.2g} "
        f"({solution.solver}, {solution.steps} steps): a parameter may have run to where the rows "
        "no longer feel it, the model may be undefined or have a kink next to θ, or its "
        "derivative may be wrong"
    ]


def _worse_than_a_constant(fit: CurveFit, solution: Solution) -> list[str]:
    constant = np.asarray(fit.loss.best_constant(fit.y, fit.weight), dtype=np.float64)
    found, flat = solution.value, half_square(fit.signed_roots(np.full(len(fit.y), constant)))
    least = half_square(fit.signed_roots(fit.y * (1 + ROUNDING)))
    if found <= flat * (1 + 1e-6) + least:
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
        f"the rows do not determine {', '.join(lost)} at θ̂, where the Jacobian has rank "
        f"{evidence.rank} of {int(evidence.free.sum())}: their standard errors are infinite"
    ]
