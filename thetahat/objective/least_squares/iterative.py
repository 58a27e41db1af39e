"""Least squares by descent: full gradients, single rows, or small batches.

    w ← w − η · (1/|B|) Σ_{i∈B} (wᵀxᵢ + b − yᵢ) xᵢ

with B all rows (gradient descent), one row (stochastic) or a few (mini-batch). The rows are centred
and scaled first, so that one step size suits all columns, and the result is transformed back.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.data.summaries.moments import Moments, moments
from thetahat.data.views import one_target
from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.randomness import RandomState
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.linalg.least_squares import LinearFit
from thetahat.mathematics.losses.residual.squared import Squared
from thetahat.mathematics.optimizers.joined import worst
from thetahat.mathematics.optimizers.loop import Method, minimise
from thetahat.mathematics.optimizers.smooth.gradient_descent import GradientDescent
from thetahat.mathematics.optimizers.solution import Solution
from thetahat.mathematics.optimizers.stochastic.stochastic_gradient import StochasticGradient
from thetahat.mathematics.penalties.norms import L2
from thetahat.objective.conditioning import Conditioning, watch_through
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor

ITERATIVE = ("gradient_descent", "sgd", "mini_batch")
MINI_BATCH = 64


def iterative(
    source: Source,
    solver: str,
    *,
    ridge: float,
    intercept: bool,
    tolerance: float,
    max_steps: int | None,
    random_state: RandomState,
    watch: Watch | None,
) -> tuple[LinearFit, Solution]:
    """β̂ and b̂ by descent, one target after the other."""
    about = moments(source)
    about = about if intercept else about.about_zero()
    predictor = LinearPredictor(source.n_features, fit_intercept=intercept)

    def column(theta: Array) -> Array:
        return np.append(*predictor.split(theta))[:, None]

    found = []
    for target in range(max(1, source.n_outputs)):
        one = one_target(source, target) if source.n_outputs else source
        scale, unit = _spreads(about, target, uniform=ridge > 0)
        rows = Conditioning.standardised(
            one,
            predictor,
            centre=about.x_mean,
            scale=scale,
            level=about.y_mean[target : target + 1],
            unit=unit,
        )
        risk = EmpiricalRisk(
            predictor,
            Squared(),
            L2(ridge / about.weight / float(scale[0]) ** 2),
            rows.source if solver == "gradient_descent" else _materialised(rows.source, one),
        )
        with watch_through(watch, column) as outer, rows.watch(outer) as inner:
            solution = minimise(
                risk,
                _method(solver, source.n_features, random_state),
                tolerance=tolerance,
                max_steps=max_steps,
                watch=inner,
                reason=f"{solver} was asked for",
            )
        found.append(replace(solution, theta=column(rows.back(solution.theta))))
    theta = np.hstack([solution.theta for solution in found])
    solution = replace(worst(found), theta=theta)
    return _fit(theta, solution.solver, about), solution


def _spreads(about: Moments, target: int, *, uniform: bool) -> tuple[Array, Array]:
    """The spread of each column (with a penalty, one for all columns) and of the target."""
    spread = np.sqrt(np.diagonal(about.covariance()))
    d = about.n_features
    scale = np.where(spread > 0, spread, 1.0)
    x_scale = np.full(d, np.sqrt((scale[:d] ** 2).mean())) if uniform else scale[:d]
    return x_scale, scale[d + target : d + target + 1]


def _materialised(view: Source, rows: Source) -> InMemory:
    """The standardised rows as one array, for stochastic methods."""
    if not isinstance(rows, InMemory):
        raise CapabilityError(
            "Stochastic solvers visit rows in random order, which a file cannot give. Use "
            'solver="gradient_descent", or "auto", which needs one or two passes.'
        )
    blocks = list(view.blocks())
    return replace(
        rows,
        X=np.concatenate([block.X for block in blocks]),
        y=np.concatenate([block.y for block in blocks]),
        dtype=np.float64,
    )


def _method(solver: str, n_features: int, random_state: RandomState) -> Method:
    """The method; a step of 1/(2(d + 1)) is stable for rows of squared length about d."""
    if solver == "gradient_descent":
        return GradientDescent()
    return StochasticGradient(
        batch_size=1 if solver == "sgd" else MINI_BATCH,
        step=1.0 / (2.0 * (n_features + 1)),
        averaging=True,
        random_state=random_state,
    )


def _fit(theta: Array, solver: str, about: Moments) -> LinearFit:
    """The result of descent, with the residual from the moments and no factor."""
    d = about.n_features
    full = np.vstack([-theta[:-1], np.eye(theta.shape[1])]) * about.unit[:, None]
    residual = np.einsum("ij,ik,kj->j", full, about.scatter, full)
    offset = about.y_mean - about.x_mean @ theta[:-1] - theta[-1]
    return LinearFit(
        coef=theta[:-1],
        intercept=theta[-1],
        solver=solver,
        rank=d,
        condition=float("nan"),
        residual=residual + about.weight * offset**2,
    )
