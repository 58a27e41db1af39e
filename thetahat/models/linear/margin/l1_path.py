"""A squared hinge loss with a small L1 penalty: smaller and smaller penalties, one after another.

If rows are few and the cost is large, hardly any row has a loss at the optimum. From θ = 0 Newton's
method needs hundreds of steps to find which coefficients are not 0. The optimum of a larger penalty
is found in a few steps, and is a good start for the next one.
"""

from __future__ import annotations

from dataclasses import replace

from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.proximal.proximal_newton import ProximalNewton
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.mathematics.penalties.norms import L1
from thetahat.objective.empirical_risk import EmpiricalRisk

EASY = 10
"""Steps from θ = 0 within which most problems are solved, so that they need no other penalties."""
FACTOR = 10**0.5
"""Ratio of a penalty to the next one."""
LOOSE = 0.1
"""Violation of the optimality conditions at which the next penalty follows, as a share of λ."""
MOST_STEPS = 50
"""Steps with each of the larger penalties."""
MOST = 1000.0
"""The tolerance is as large as it would be for λ = the largest slope at θ = 0, which is less than
LIBLINEAR allows, but at most MOST times that for λ. The objective is then exact to a share of a few
times `tol`."""


def minimise_along_path(
    risk: EmpiricalRisk, *, tolerance: float, max_steps: int, watch: Watch, reason: str
) -> Solution:
    """Minimise a risk with an L1 penalty by proximal Newton steps. Cost: O(nnz) per sweep."""
    method = ProximalNewton()
    found = minimise(
        risk, method, tolerance=tolerance, max_steps=min(EASY, max_steps), watch=watch,
        reason=reason,
    )  # fmt: skip
    if found.outcome is not Outcome.STEPS_EXHAUSTED or found.steps >= max_steps:
        return found
    theta, strength = risk.predictor.zeros(), float(risk.penalty.get_params()["alpha"])
    steepest = risk.optimality_gap(theta, risk.smooth_value_and_gradient(theta)[1]) + strength
    strengths = [strength * FACTOR]
    while strengths[-1] * FACTOR < steepest:
        strengths.append(strengths[-1] * FACTOR)
    if found.gap <= LOOSE * strength:  # almost there
        theta, strengths = found.theta, []
    left = max_steps - found.steps
    for each in reversed(strengths):
        near = minimise(
            replace(risk, penalty=L1(each)), method, theta, tolerance=LOOSE * each,
            max_steps=min(MOST_STEPS, left - 1), watch=watch, reason=reason,
        )  # fmt: skip
        theta, left = near.theta, left - near.steps
    enough = tolerance * min(max(1.0, steepest / strength), MOST)
    found = minimise(
        risk, method, theta, tolerance=enough, max_steps=left, watch=watch, reason=reason
    )
    return replace(found, steps=max_steps - left + found.steps)
