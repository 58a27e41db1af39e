"""How sure maximum likelihood is: information at the maximum, and whether there is a maximum.

At θ̂ = argmax Σ w log p(y | z), with H the Hessian of −log p there, θ̂ is about N(θ*, H⁻¹). A
likelihood without a maximum (classes that are separated, groups without a single count) is told by
Newton's step from where the solver stopped: there it still moves some z by about one, at a maximum
by nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.data.source import Block, Source
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.linalg.scaled_cholesky import inverse_factor
from thetahat.mathematics.losses.families import Family
from thetahat.objective.likelihood.information import Information, information
from thetahat.objective.predictor import LinearPredictor

FAR = 0.1
"""A Newton step that moves a z this far is not that of a maximum."""


@dataclass(frozen=True)
class LikelihoodEvidence:
    """What a fit must remember to say how sure it is: a p × p matrix and a few sums."""

    estimates: Array
    """(d or d + 1, k): a column for each score, the intercept last; of classes, against the first
    one."""
    factor: Array | None
    """F with FᵀF = H⁻¹, in the order of the raveled estimates; None where H is singular."""
    n: float
    n_rows: int
    loss: float
    log_likelihood: float
    null_log_likelihood: float
    deviance: float
    null_deviance: float
    dispersion: float
    n_null: int
    """Parameters of the null model: the intercepts."""
    trouble: str
    """Why there are no standard errors; empty where there are."""

    @property
    def n_parameters(self) -> int:
        return int(self.estimates.size)

    @property
    def degrees(self) -> float:
        return self.n - self.n_parameters

    def covariance(self) -> Array:
        """φH⁻¹."""
        assert self.factor is not None
        return self.dispersion * self.factor.T @ self.factor


def likelihood_evidence(
    source: Source, predictor: LinearPredictor, loss: Any, family: Family, theta: Array
) -> LikelihoodEvidence:
    """The evidence in the rows at θ̂. Cost: one pass, O(n d²), and one of O(n d)."""
    found = source.reduce(information, predictor, loss, family, theta)
    against_first, gradient, hessian = _contrasts(found, predictor, family, theta)
    with one_blas_thread():
        inverse = inverse_factor(hessian)
    factor = None if inverse is None else inverse[0]
    p = against_first.size
    n_null = against_first.shape[1] if predictor.fit_intercept else 0
    null = _null_loss(found, predictor, loss, family)
    dispersion = 2 * found.loss / max(found.weight - p, 1.0) if family.dispersed else 1.0
    return LikelihoodEvidence(
        estimates=against_first,
        factor=factor,
        n=found.weight,
        n_rows=found.n_rows,
        loss=found.loss,
        log_likelihood=_log_likelihood(found.loss, found, family),
        null_log_likelihood=_log_likelihood(null, found, family),
        deviance=2 * (found.loss - found.saturated),
        null_deviance=2 * (null - found.saturated),
        dispersion=dispersion,
        n_null=n_null,
        trouble=_trouble(source, predictor, family, factor, gradient, found.weight - p),
    )


def _contrasts(
    found: Information, predictor: LinearPredictor, family: Family, theta: Array
) -> tuple[Array, Array, Array]:
    """θ, gradient and Hessian; of scores that only count as differences, those with the first
    class's held at zero."""
    k = max(1, predictor.n_outputs)
    if not family.symmetric:
        return theta.reshape(-1, k), found.gradient, found.hessian
    table, p = theta.reshape(-1, k), len(theta) // k
    hessian = found.hessian.reshape(p, k, p, k)[:, 1:, :, 1:].reshape(p * (k - 1), p * (k - 1))
    gradient = found.gradient.reshape(p, k)[:, 1:].reshape(-1)
    return table[:, 1:] - table[:, :1], gradient, hessian


def _null_loss(found: Information, predictor: LinearPredictor, loss: Any, family: Family) -> float:
    """Σ wℓ of the intercept alone, or of z = 0 without one."""
    from scipy.special import xlogy

    mean = found.targets / found.weight
    if predictor.n_outputs:
        if not predictor.fit_intercept:
            return found.weight * float(np.log(len(mean)))
        return -found.weight * float(xlogy(mean, mean).sum())
    level = loss.best_constant(mean) if predictor.fit_intercept else np.zeros(())
    if family.dispersed:
        spread = found.squares / found.weight - 2 * float(level) * float(mean[0])
        return found.weight * (spread + float(level) ** 2) / 2
    # The loss is linear in y, so its mean is its value at the mean.
    return found.weight * float(loss.value(mean, level)[0])


def _log_likelihood(loss: float, found: Information, family: Family) -> float:
    if not family.dispersed:
        return -(loss + found.constant)
    with np.errstate(divide="ignore"):
        return -found.weight / 2 * float(np.log(4 * np.pi * loss / found.weight) + 1.0)


def _trouble(
    source: Source,
    predictor: LinearPredictor,
    family: Family,
    factor: Array | None,
    gradient: Array,
    freedom: float,
) -> str:
    if factor is None:
        gram = source.reduce(_plain_gram, predictor).total
        with one_blas_thread():
            dependent = inverse_factor(gram) is None
        return _DEPENDENT if dependent else _SEPARATED
    if family.dispersed:
        return "" if freedom > 0 else _TOO_FEW
    step = factor.T @ (factor @ gradient)
    if family.symmetric:
        k = predictor.n_outputs
        step = np.hstack([np.zeros((len(step) // (k - 1), 1)), step.reshape(-1, k - 1)]).ravel()
    return _SEPARATED if source.reduce(_farthest, predictor, step).distance > FAR else ""


_DEPENDENT = (
    "the columns of X (with the intercept) are linearly dependent, so single coefficients are not "
    "determined. Drop the constant or dependent columns and fit again."
)
_SEPARATED = (
    "the likelihood has no maximum that the solver could reach: some combination of the columns "
    "predicts a part of the rows perfectly (separated classes, groups without a count), so its "
    "coefficient grows without end. Drop the column, or fit with a penalty."
)
_TOO_FEW = "there are no more rows than parameters. Add rows or drop columns."


@dataclass(frozen=True)
class _Gram:
    total: Array

    def merge(self, other: _Gram) -> _Gram:
        return _Gram(self.total + other.total)


def _plain_gram(block: Block, predictor: LinearPredictor) -> _Gram:
    weight = np.ones(block.n_rows) if block.weight is None else block.weight
    return _Gram(predictor.gram(block.X, np.asarray(weight, dtype=np.float64)))


@dataclass(frozen=True)
class _Farthest:
    distance: float

    def merge(self, other: _Farthest) -> _Farthest:
        return _Farthest(max(self.distance, other.distance))


def _farthest(block: Block, predictor: LinearPredictor, step: Array) -> _Farthest:
    """The largest |Δz| among rows that count."""
    moved = np.abs(predictor.raw(block.X, step))
    if block.weight is not None:
        moved = moved[np.asarray(block.weight) > 0]
    return _Farthest(float(moved.max(initial=0.0)))
