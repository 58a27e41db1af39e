"""Least squares by descent: full gradients, single rows, or small batches.

    w ← w − η · (1/|B|) Σ_{i∈B} (wᵀxᵢ + b − yᵢ) xᵢ

with B all rows (gradient descent), one row (stochastic) or a few (mini-batch); over random B the
mean step is the full gradient. The rows are centred and scaled first, so that one step size suits
all columns, and the result is transformed back. A user's own method of smooth optimisation runs on
the same rows.

A mini-batch has a tenth of the rows and at most 64. Its step is 1/L_B, with L_B the expected
largest curvature of a batch (Gower and others, 2019):

    L_B = n(B − 1)/(B(n − 1))·λ_max(XᵀX/n) + (n − B)/(B(n − 1))·maxᵢ ‖xᵢ‖².

With a constant step the iterates keep moving around the solution and their mean approaches it; the
mean leaves out the way from the start. After the default 100 epochs the coefficients of
standardised columns and target are within 0.03 of the solution if n ≥ 20 and the correlation matrix
has a condition number of up to about 50. More epochs come closer.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.data.summaries.moments import Moments, moments
from thetahat.data.views import held, one_target
from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.randomness import RandomState
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.linalg.least_squares import LinearFit, rank_of
from thetahat.mathematics.losses.residual.squared import Squared
from thetahat.mathematics.optimizers.joined import worst
from thetahat.mathematics.optimizers.loop import Method
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.smooth.gradient_descent import GradientDescent
from thetahat.mathematics.optimizers.solution import Solution
from thetahat.mathematics.optimizers.stochastic.stochastic_gradient import StochasticGradient
from thetahat.mathematics.penalties.norms import L2
from thetahat.objective.conditioning import Conditioning, watch_through
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor

ITERATIVE = ("gradient_descent", "sgd", "mini_batch")
LARGEST_BATCH = 64
BATCHES_PER_EPOCH = 10


def iterative(
    source: Source,
    solver: str | Method,
    *,
    ridge: float,
    intercept: bool,
    tolerance: float,
    max_steps: int | None,
    random_state: RandomState,
    watch: Watch | None,
) -> tuple[LinearFit, Solution]:
    """β̂ and b̂ by descent, one target after the other."""
    source = held(source) if _visits_rows(solver) else source
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
            _materialised(rows.source, one) if _visits_rows(solver) else rows.source,
        )
        with watch_through(watch, column) as outer, rows.watch(outer) as inner:
            solution = minimise(
                risk,
                _method(solver, risk, random_state),
                tolerance=tolerance,
                max_steps=max_steps,
                watch=inner,
                reason=f"{solver if isinstance(solver, str) else solver.name} was requested",
            )
        found.append(replace(solution, theta=column(rows.back(solution.theta))))
    theta = np.hstack([solution.theta for solution in found])
    solution = replace(worst(found), theta=theta)
    fit = _fit(theta, solution.solver, about, ridge)
    return fit, replace(solution, value=float(fit.residual.sum()), rank=fit.rank)


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


def _visits_rows(solver: str | Method) -> bool:
    """Whether the solver visits single rows in random order."""
    return solver in ("sgd", "mini_batch") or isinstance(solver, StochasticGradient)


def _method(solver: str | Method, risk: EmpiricalRisk, random_state: RandomState) -> Method:
    """The method; a step of 1/(2(d + 1)) is stable for single rows of squared length about d."""
    if isinstance(solver, Method):
        return solver
    if solver == "gradient_descent":
        return GradientDescent()
    batch = 1
    step = 1.0 / (2.0 * (risk.source.n_features + 1))
    if solver == "mini_batch":
        batch = max(1, min(LARGEST_BATCH, risk.n_terms // BATCHES_PER_EPOCH))
        step = 1.0 / _curvature_of_batches(risk, batch)
    return StochasticGradient(
        batch_size=batch, step=step, averaging="late", random_state=random_state
    )


def _curvature_of_batches(risk: EmpiricalRisk, batch: int) -> float:
    """L_B of the standardised rows, an intercept among their columns; at least 1."""
    assert isinstance(risk.source, InMemory)
    X, n = risk.source.X, risk.n_terms
    share = risk.source.whole.row_weights * (n / risk.total_weight)
    rows = float((share * ((X * X).sum(axis=1) + 1.0)).max())
    with one_blas_thread():
        largest = max(1.0, float(np.linalg.eigvalsh((X * share[:, None]).T @ X / n)[-1]))
    if n == 1:
        return rows + float(risk.penalty_curvature(risk.predictor.zeros()).max())
    mixed = (n * (batch - 1) * largest + (n - batch) * rows) / (batch * (n - 1))
    return mixed + float(risk.penalty_curvature(risk.predictor.zeros()).max())


def _fit(theta: Array, solver: str, about: Moments, ridge: float) -> LinearFit:
    """The record of a fit found by descent: the residual from the moments, no factor."""
    full = np.vstack([-theta[:-1], np.eye(theta.shape[1])]) * about.unit[:, None]
    residual = np.einsum("ij,ik,kj->j", full, about.scatter, full)
    offset = about.y_mean - about.x_mean @ theta[:-1] - theta[-1]
    return LinearFit(
        coef=theta[:-1],
        intercept=theta[-1],
        solver=solver,
        rank=rank_of(about),
        condition=float("nan"),
        residual=residual + about.weight * offset**2 + ridge * (theta[:-1] ** 2).sum(axis=0),
    )
