"""Squared loss with an L2 penalty, solved: min_β Σ wᵢ(yᵢ − xᵢᵀβ − b)² + τ‖β‖².

`choose` selects a solver before any row is read; `direct_least_squares` runs it. ``auto`` starts
with the normal equations, the cheapest dense solver, and uses a more accurate one only if their
condition number shows that digits would be lost:

=========================  ====================================================================
κ of the scaled X          what ``auto`` does
=========================  ====================================================================
up to 1e3                  Cholesky of the normal equations: at least nine digits
up to 1e6                  the same, then refinement in twice the precision
up to 1/(n ε)              Householder QR, then refinement
beyond                     singular values without those at rounding level: least-norm solution
=========================  ====================================================================

Sparse rows of dependent columns get their least-norm solution from LSQR.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.on_device import OnDevice
from thetahat.data.source import Source
from thetahat.data.summaries.moments import Moments, moments
from thetahat.data.views import held
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import CapabilityError, IllConditionedWarning
from thetahat.foundation.memory import require_memory
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.linalg import least_squares as direct
from thetahat.mathematics.linalg.condition import digits_lost
from thetahat.mathematics.linalg.least_squares import LinearFit
from thetahat.mathematics.linalg.refinement import refined
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.objective.least_squares.by_products import BY_PRODUCTS, least_squares_by_products
from thetahat.objective.least_squares.residual_squares import FEW_DIGITS, residual_squares

DIRECT = ("cholesky", "pseudo_inverse", "qr", "svd", "dual")
ON_DEVICE = ("cholesky", "pseudo_inverse", "qr", "svd")
"""Solvers whose passes over the rows also run on devices."""
GRAM_IS_ENOUGH = 1e3
REFINED_GRAM_IS_ENOUGH = 1e6
AUGMENTED_IS_ENOUGH = 1e4
WIDEST_RANK = 500
"""Columns up to which the rank is found beside a solver that does not need the d × d matrix."""
WIDEST_GRAM = 6000
"""Columns up to which the d × d system is formed; beyond, only matrix-vector products are used."""
WIDEST_SPARSE_GRAM = 500
"""Columns of sparse rows up to which it is formed first; it also gives the standard errors."""
WIDEST_DAMPED_GRAM = 300
"""The same with a penalty, with which matrix-vector products need few steps."""
LAST_SPARSE_GRAM = 2000
"""Columns of sparse rows up to which it is formed if matrix-vector products need many steps."""
LSQR_FACTOR = 1e-4
"""Factor of the tolerance of LSQR, whose residual has an error up to κ times smaller than β."""
DAMPED_FACTOR = 1e-2
"""The same if "auto" chose it for a problem with a penalty, which bounds κ."""
REQUESTED_FACTOR = 1e-6
"""The same if it was requested, which may be for rows whose columns are dependent."""
FEWEST_STEPS = 50
"""Number of such steps that are always tried first."""
SPEED_OF_SYSTEMS = 15.0
"""How many times faster the d³ multiplications of a system are than those of sparse products."""


@dataclass(frozen=True)
class Choice:
    """A solver and the one-line reason for it."""

    solver: str
    reason: str


@dataclass(frozen=True)
class LeastSquares:
    """β̂ and b̂, the solver that found them, and the moments (None if they were not formed)."""

    fit: LinearFit
    solution: Solution
    about: Moments | None = None


def choose(n_rows: int | None, n_features: int, *, sparse: bool, ridge: bool) -> Choice:
    """The solver that ``auto`` starts with."""
    if sparse and n_features > (WIDEST_DAMPED_GRAM if ridge else WIDEST_SPARSE_GRAM):
        return Choice("lsqr", f"sparse with {n_features} columns: uses matrix-vector products only")
    if n_rows is not None and n_rows < n_features:
        if n_rows <= WIDEST_GRAM:
            return Choice(
                "dual", f"{n_rows} rows, {n_features} columns: the n × n system is smaller"
            )
        return Choice(
            "lsqr", f"{n_rows} × {n_features} is large both ways: uses matrix-vector products only"
        )
    if n_features > WIDEST_GRAM:
        return Choice("lsqr", f"{n_features} columns: the d × d system is not formed")
    if ridge:
        return Choice("cholesky", "the penalty bounds the condition number: normal equations")
    return Choice("cholesky", "normal equations first: then the condition number is checked")


def direct_least_squares(
    source: Source,
    *,
    solver: str = "auto",
    ridge: float = 0.0,
    intercept: bool = True,
    positive: bool = False,
    tolerance: float = 1e-10,
    max_steps: int | None = None,
    watch: Watch | None = None,
) -> LeastSquares:
    """Minimise Σ wᵢ(yᵢ − xᵢᵀβ − b)² + τ‖β‖² over the rows of a source, β ≥ 0 if `positive`."""
    choice = Choice(solver, f"{solver} was requested")
    if solver == "auto":
        rows = source.n_rows if isinstance(source, InMemory) else None
        choice = choose(rows, source.n_features, sparse=_is_sparse(source), ridge=ridge > 0)
    if isinstance(source, OnDevice) and choice.solver not in ON_DEVICE:
        raise CapabilityError(
            f"solver={choice.solver!r} runs on the CPU, and X is on {source.X.device}. Use solver="
            f'"auto", {", ".join(map(repr, ON_DEVICE))}, or copy X to the host.'
        )
    if positive:
        return _non_negative(source, ridge, intercept, solver)
    if choice.solver in BY_PRODUCTS:
        chosen = DAMPED_FACTOR if ridge > 0 else LSQR_FACTOR
        factor = chosen if solver == "auto" else REQUESTED_FACTOR
        limits = {"tolerance": tolerance * factor, "max_steps": max_steps, "watch": watch}
        few_steps = _steps_of_a_system(source) if solver == "auto" and max_steps is None else None
        if few_steps is not None:
            limits["max_steps"] = few_steps
        found = _by_products(source, choice, ridge, intercept, **limits)
        if few_steps is None or found.solution.outcome is not Outcome.STEPS_EXHAUSTED:
            return found
        choice = Choice("cholesky", f"{choice.reason}; many steps were needed: normal equations")
    if choice.solver == "dual":
        fit = _dual(source, ridge, intercept)
        assert fit.dual is not None
        alpha = fit.dual if source.n_outputs else fit.dual[:, 0]
        return LeastSquares(fit, replace(_solution(fit, choice.reason), multipliers=alpha))
    with one_blas_thread():  # once: to set it takes a part of the time of a small fit
        about = _moments(source, intercept)
        if solver == "auto":
            first = direct.cholesky(about, ridge)
            kappa = np.inf if first is None else first.condition * np.sqrt(about.cancellation)
            if ridge == 0 and kappa > REFINED_GRAM_IS_ENOUGH and _is_sparse(source):
                limits = {"tolerance": tolerance * LSQR_FACTOR, "watch": watch}
                least_norm = _least_norm(source, about, intercept, **limits)
                if least_norm is not None:
                    return least_norm
            fit, reason = _by_condition(source, about, first, kappa, choice, ridge, intercept)
        else:
            fit, reason = _by_name(source, about, choice, ridge, intercept), choice.reason
        fit = _with_digits(fit, source, about, ridge)
    warning = _loss_of_digits(fit, about)
    if warning:
        warn(warning, IllConditionedWarning)
    return LeastSquares(fit, _solution(fit, reason, warning), about)


def _is_sparse(source: Source) -> bool:
    return isinstance(source, InMemory) and source.is_sparse


def _steps_of_a_system(source: Source) -> int | None:
    """The number of steps by products that cost as much as the d × d system; None if too large."""
    d = source.n_features
    if not isinstance(source, InMemory) or d > min(LAST_SPARSE_GRAM, source.n_rows):
        return None
    entries = source.sparse_X.nnz if source.is_sparse else source.n_rows * d
    return max(FEWEST_STEPS, int(d**3 / SPEED_OF_SYSTEMS / (2 * entries + 10 * d)))


def _moments(source: Source, intercept: bool) -> Moments:
    """The moments about the mean or about zero, if the d × d system fits in memory."""
    width = source.n_features + max(1, source.n_outputs)
    require_memory(
        8 * 8 * width**2,
        f"A direct solve with {source.n_features} columns",
        'Use solver="lsqr", which needs matrix-vector products only.',
    )
    about = moments(source)
    return about if intercept else about.about_zero()


def _non_negative(source: Source, ridge: float, intercept: bool, solver: str) -> LeastSquares:
    """Solve with β ≥ 0 by Lawson and Hanson's active sets on the triangle of the rows."""
    if solver not in ("auto", "qr"):
        raise CapabilityError(
            f"positive=True is solved by active sets on the QR triangle, not by {solver!r}. "
            'Use solver="auto".'
        )
    about = _moments(source, intercept)
    fit = direct.non_negative(source, about, intercept=intercept, ridge=ridge)
    reason = "β ≥ 0: active sets on the QR triangle"
    return LeastSquares(fit, _solution(fit, reason), about)


def _least_norm(
    source: Source, about: Moments, intercept: bool, **options: Any
) -> LeastSquares | None:
    """The solution of least norm from products with sparse rows; None if X has full rank.

    Dependent columns are usual in sparse rows (all categories of several variables), and a dense
    factorisation would take the time of n·d² multiplications.
    """
    rank, factor = _rank_and_factor(about)
    if rank == about.n_features:
        return None
    reason = f"rank {rank} of {about.n_features}, sparse: least norm by matrix-vector products"
    fit, solution = least_squares_by_products(
        source, "lsqr", ridge=0.0, intercept=intercept, max_steps=None, **options
    )
    if solution.outcome is Outcome.STEPS_EXHAUSTED:
        return None
    fit, solution = replace(fit, rank=rank, factor=factor), replace(solution, rank=rank)
    return LeastSquares(fit, replace(solution, reason=reason), about)


def _rank_and_factor(about: Moments) -> tuple[int, Array | None]:
    """The rank, and the triangular factor of X unless there are many columns, from XᵀX."""
    d = about.n_features
    if d > WIDEST_RANK:
        return direct.rank_of(about), None
    system = direct.NormalEquations.of(about)
    values, vectors = np.linalg.eigh(system.A)
    kept = values > d * EPSILON * max(float(values[-1]), 0.0)
    root = np.sqrt(np.where(kept, values, 0.0))
    triangle: Array = np.asarray(np.linalg.qr((vectors * root).T, mode="r"))
    return int(kept.sum()), triangle * system.scale


def _by_condition(
    source: Source,
    about: Moments,
    fit: LinearFit | None,
    kappa: float,
    choice: Choice,
    ridge: float,
    intercept: bool,
) -> tuple[LinearFit, str]:
    """The fit by Cholesky, or by a more accurate solver if the condition number requires it."""
    if fit is not None and kappa <= GRAM_IS_ENOUGH:
        return fit, choice.reason
    if ridge > 0:
        found = direct.qr(source, about, intercept=intercept, ridge=ridge)
        # The error of QR grows like κ² where the rows are not on the plane; that of the filtered
        # singular values does not, but theirs are a share of the largest column.
        if found is not None and found.condition <= AUGMENTED_IS_ENOUGH:
            return found, f"κ = {kappa:.1e} with the penalty: QR of the augmented rows"
        return (
            direct.svd(source, about, intercept=intercept, ridge=ridge),
            "almost singular even with the penalty: singular values",
        )
    if fit is not None and kappa <= REFINED_GRAM_IS_ENOUGH:
        fit = refined(source, about, fit, intercept=intercept)
        return fit, f"κ = {kappa:.1e}: normal equations, refined in twice the precision"
    found = direct.qr(source, about, intercept=intercept)
    if found is not None and found.condition * about.n_features * EPSILON < 0.01:
        found = refined(source, about, found, intercept=intercept)
        return found, f"κ = {found.condition:.1e}: Householder QR, refined in twice the precision"
    fit = direct.svd(source, about, intercept=intercept)
    return fit, f"rank {fit.rank} of {about.n_features}: singular values, least norm"


def _by_name(
    source: Source, about: Moments, choice: Choice, ridge: float, intercept: bool
) -> LinearFit:
    if choice.solver == "cholesky":
        fit = direct.cholesky(about, ridge)
    elif choice.solver == "pseudo_inverse":
        return direct.pseudo_inverse(about, ridge)
    elif choice.solver == "qr":
        fit = direct.qr(source, about, intercept=intercept, ridge=ridge)
    else:
        return direct.svd(source, about, intercept=intercept, ridge=ridge)
    if fit is None:
        raise CapabilityError(
            f"{choice.solver} needs linearly independent columns, and these are not (to rounding). "
            'Use solver="svd" for the least-norm solution, drop columns, or use Ridge.'
        )
    return fit


def _with_digits(fit: LinearFit, source: Source, about: Moments, ridge: float) -> LinearFit:
    """The fit with its residuals summed over the rows if the moments lost too many digits."""
    d = about.n_features
    with np.errstate(over="ignore"):
        total = np.diagonal(about.scatter)[d:] * about.unit[d:] * about.unit[d:]
    squared = fit.solver in ("cholesky", "pseudo_inverse")
    if not (squared and np.any(fit.residual < FEW_DIGITS * total)):
        return fit
    residual = residual_squares(source, fit.coef, about.x_mean, about.y_mean)
    return replace(fit, residual=residual + ridge * (fit.coef**2).sum(axis=0))


def _loss_of_digits(fit: LinearFit, about: Moments) -> str:
    """The warning if the solution has fewer than six correct digits; empty otherwise."""
    squared = fit.solver in ("cholesky", "pseudo_inverse")
    assert fit.rank is not None
    if fit.refined or (fit.rank < about.n_features and not squared):
        return ""
    kept = -np.log10(EPSILON) - digits_lost(max(fit.condition, 1.0), fit.solver)
    if kept >= 6:
        return ""
    return (
        f"Ill-conditioned: κ = {fit.condition:.1e} leaves about {int(kept)} correct digits with "
        f'{fit.solver}. Use solver="auto", centre and scale the columns, drop nearly dependent '
        "ones, or add a ridge penalty."
    )


def _solution(fit: LinearFit, reason: str, warning: str = "") -> Solution:
    return Solution(
        theta=np.vstack([fit.coef, fit.intercept]),
        outcome=Outcome.EXACT,
        solver=fit.solver,
        reason=reason,
        value=float(fit.residual.sum()),
        message=warning or Outcome.EXACT.value,
        condition=fit.condition,
        rank=fit.rank,
    )


def _dual(source: Source, ridge: float, intercept: bool) -> LinearFit:
    source = held(source)
    if not isinstance(source, InMemory):
        raise CapabilityError('The dual solver needs all rows in memory. Use solver="svd".')
    n, d = source.n_rows, source.n_features
    require_memory(
        8 * (3 * n * n + 2 * n * d),
        f"The dual solve of {n} rows",
        'Use solver="lsqr", which needs matrix-vector products only.',
    )
    source.require_finite()
    X = source.dense_X
    assert source.y is not None
    return direct.dual(
        np.asarray(X, dtype=np.float64),
        np.asarray(source.y, dtype=np.float64),
        source.weight,
        intercept=intercept,
        ridge=ridge,
    )


def _by_products(
    source: Source, choice: Choice, ridge: float, intercept: bool, **options: Any
) -> LeastSquares:
    fit, solution = least_squares_by_products(
        source, choice.solver, ridge=ridge, intercept=intercept, **options
    )
    fit = replace(fit, rank=None if ridge > 0 else _small_rank(source, intercept))
    return LeastSquares(fit, replace(solution, reason=choice.reason, rank=fit.rank))


def _small_rank(source: Source, intercept: bool) -> int | None:
    """The rank, where the d × d matrix that it takes costs little; None otherwise."""
    if source.n_features > WIDEST_RANK:
        return None
    return direct.rank_of(_moments(source, intercept))
