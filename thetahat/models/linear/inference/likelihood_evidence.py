"""Inference at the maximum of a likelihood, and a test whether the maximum exists.

At θ̂ = argmax Σ w log p(y | z), with H the Hessian of −log p there, θ̂ is approximately N(θ*, H⁻¹).
A likelihood may have no maximum, for example if the classes are separated or a group has no counts.
This is recognised by Newton's step from the point where the solver stopped: at a maximum it is
zero, otherwise it still changes some z by about one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thetahat.data.source import Block, Source
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.linalg.scaled_cholesky import inverse_factor
from thetahat.mathematics.losses.families import Family
from thetahat.models.linear.inference.importance import (
    are_importances,
    inverse_weights,
    sandwich_root,
)
from thetahat.objective.conditioning import Conditioning
from thetahat.objective.likelihood.information import Information, information
from thetahat.objective.predictor import LinearPredictor

FAR = 0.1
"""Change of z by a Newton step above which the point is not a maximum."""
NEAR, MOST_STEPS = 1e-7, 3
"""Change of z up to which a point counts as the maximum, and the largest number of Newton steps
from where the solver stopped."""


@dataclass(frozen=True)
class LikelihoodEvidence:
    """What inference needs from a fit: a p × p matrix and a few sums."""

    estimates: Array
    """Shape (d or d + 1, k): one column per score, the intercept last; classes relative to the
    first one."""
    factor: Array | None
    """F with FᵀF = H⁻¹, in the order of the raveled estimates; None if H is singular."""
    n: float
    n_rows: int
    loss: float
    log_likelihood: float
    null_log_likelihood: float
    deviance: float
    null_deviance: float
    dispersion: float
    n_null: int
    """Number of parameters of the null model, which has only intercepts."""
    trouble: str
    """Why standard errors do not exist; empty if they do."""
    sandwich: Array | None = None
    """R with RᵀR the covariance of the estimates if the classes have weights; else None."""
    marks: Array | None = None
    """Σwx, Σwxy and Σwx² of every column, the intercept's included: (p, 3)."""
    squares: float = 0.0
    """Σwy²."""

    @property
    def root(self) -> Array:
        """R with RᵀR the covariance of the estimates."""
        if self.sandwich is not None:
            return self.sandwich
        assert self.factor is not None
        return self.dispersion**0.5 * self.factor

    @property
    def n_parameters(self) -> int:
        return int(self.estimates.size)

    @property
    def degrees(self) -> float:
        return self.n - self.n_parameters

    def covariance(self) -> Array:
        """φH⁻¹, or the sandwich covariance if the classes have weights."""
        return self.root.T @ self.root


def likelihood_evidence(
    source: Source,
    predictor: LinearPredictor,
    loss: Any,
    family: Family,
    theta: Array,
    most_steps: int = MOST_STEPS,
    class_weights: Array | None = None,
) -> tuple[LikelihoodEvidence, Array]:
    """The evidence of the rows at θ̂, and θ̂. Cost: one pass of O(n d²) and one of O(n d).

    A solver may stop at a tolerance that is too coarse for standard errors and likelihood ratios.
    Then θ̂ is found from there by at most `most_steps` Newton steps, each of which costs the two
    passes again.

    Columns far from 0 are centred first: beside an intercept, the Hessian of such columns has lost
    the digits that standard errors need.

    Class weights, which the row weights contain, are importances: they do not count as rows.
    """
    near = Conditioning.near(source, predictor)
    here = _at(near, predictor, loss, family, theta)
    for _ in range(most_steps):
        if not NEAR < here.distance <= FAR:
            break
        further = near.back(near.to(theta) - here.step)
        there = _at(near, predictor, loss, family, further)
        if not there.evidence.loss <= here.evidence.loss:
            break
        here, theta = there, further
    if class_weights is None or not are_importances(class_weights):
        return here.evidence, theta
    evidence, root = (
        replace(here.evidence, n=float(here.of_class @ inverse_weights(class_weights))),
        None,
    )
    if here.centred is not None:
        parts = (predictor, loss, family, near.to(theta), here.centred, class_weights)
        root = _in_original_columns(sandwich_root(near.source, *parts), near.centre)
    return replace(evidence, sandwich=root), theta


@dataclass(frozen=True)
class _Here:
    """The evidence at some θ, Newton's step from there, and how far it changes any z."""

    evidence: LikelihoodEvidence
    step: Array
    distance: float
    centred: Array | None
    """The factor of the centred columns."""
    of_class: Array
    """Σ w in each class, for losses of classes."""


def _at(
    near: Conditioning, predictor: LinearPredictor, loss: Any, family: Family, theta: Array
) -> _Here:
    found = near.source.reduce(information, predictor, loss, family, near.to(theta))
    gradient, hessian = _contrasts(found, predictor, family)
    against_first = _against_first(predictor, family, theta)
    with one_blas_thread():
        inverse = inverse_factor(hessian)
    centred = None if inverse is None else inverse[0]
    factor = None if centred is None else _in_original_columns(centred, near.centre)
    p = against_first.size
    n_null = against_first.shape[1] if predictor.fit_intercept else 0
    null = _null_loss(found, predictor, loss, family)
    dispersion = 2 * found.loss / max(found.weight - p, 1.0) if family.dispersed else 1.0
    step, distance = np.zeros_like(theta), 0.0
    if centred is not None and not family.dispersed:
        step = _newton_step(predictor, family, centred, gradient)
        distance = near.source.reduce(_farthest, predictor, step).distance
    evidence = LikelihoodEvidence(
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
        marks=_in_original_sums(found.marks, near.centre),
        squares=found.squares,
        trouble=_trouble(near.source, predictor, family, centred, distance, found.weight - p),
    )
    one_score = not predictor.n_outputs
    of_class = np.r_[found.weight - found.targets, found.targets] if one_score else found.targets
    return _Here(evidence, step, distance, centred, of_class)


def _newton_step(
    predictor: LinearPredictor, family: Family, factor: Array, gradient: Array
) -> Array:
    """H⁻¹ times the gradient, with zeros for the first score where only differences matter."""
    step = factor.T @ (factor @ gradient)
    if not family.symmetric:
        return step
    k = predictor.n_outputs
    return np.hstack([np.zeros((len(step) // (k - 1), 1)), step.reshape(-1, k - 1)]).ravel()


def _contrasts(
    found: Information, predictor: LinearPredictor, family: Family
) -> tuple[Array, Array]:
    """Gradient and Hessian; for scores of which only differences matter, of all but the first."""
    k = max(1, predictor.n_outputs)
    if not family.symmetric:
        return found.gradient, found.hessian
    p = len(found.gradient) // k
    hessian = found.hessian.reshape(p, k, p, k)[:, 1:, :, 1:].reshape(p * (k - 1), p * (k - 1))
    return found.gradient.reshape(p, k)[:, 1:].reshape(-1), hessian


def _against_first(predictor: LinearPredictor, family: Family, theta: Array) -> Array:
    """θ as a table, one column per score; relative to the first where only differences matter."""
    table = theta.reshape(-1, max(1, predictor.n_outputs))
    return table[:, 1:] - table[:, :1] if family.symmetric else table


def _in_original_columns(factor: Array, centre: Array | None) -> Array:
    """F of the original columns from that of centred ones: b = b′ − centreᵀβ."""
    if centre is None:
        return factor
    parts = factor.reshape(len(factor), len(centre) + 1, -1).copy()
    parts[:, -1] -= (centre[:, None] * parts[:, :-1]).sum(axis=1)
    return parts.reshape(factor.shape)


def _in_original_sums(marks: Array, centre: Array | None) -> Array:
    """The sums of the original columns from those of centred ones; the last row is of ones."""
    if centre is None:
        return marks
    weight, of_targets, _ = marks[-1]
    mean, product, square = marks[:-1].T
    return np.vstack(
        [
            np.column_stack(
                [
                    mean + weight * centre,
                    product + of_targets * centre,
                    square + 2 * mean * centre + weight * centre**2,
                ]
            ),
            marks[-1],
        ]
    )


def _null_loss(found: Information, predictor: LinearPredictor, loss: Any, family: Family) -> float:
    """Σ wℓ of a model with only an intercept, or of z = 0 without one."""
    from scipy.special import xlogy

    mean = found.targets / found.weight
    if predictor.n_outputs:
        if not predictor.fit_intercept:
            return found.weight * float(np.log(len(mean)))
        return -found.weight * float(xlogy(mean, mean).sum())
    level = loss.best_constant(mean) if predictor.fit_intercept else np.zeros(())
    if family.dispersed:
        spread = found.squares / found.weight - 2 * float(level) * float(mean[0])
        return found.weight * (spread + float(level) * float(level)) / 2
    # The loss is linear in y, so its mean is its value at the mean of y.
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
    distance: float,
    freedom: float,
) -> str:
    if factor is None:
        gram = source.reduce(_plain_gram, predictor).total
        with one_blas_thread():
            dependent = inverse_factor(gram) is None
        return _DEPENDENT if dependent else _SEPARATED
    if family.dispersed:
        return "" if freedom > 0 else _TOO_FEW
    return _SEPARATED if distance > FAR else ""


_DEPENDENT = (
    "the columns of X (with the intercept) are linearly dependent, so single coefficients are not "
    "determined. Drop constant or linearly dependent columns and fit again."
)
_SEPARATED = (
    "the likelihood has no maximum: some combination of the columns predicts a part of the rows "
    "perfectly (separated classes, groups without counts), so its coefficient grows without bound. "
    "Drop the column, or fit with a penalty."
)
_TOO_FEW = "there must be more rows than parameters. Add rows or drop columns."


@dataclass(frozen=True)
class _Gram:
    total: Array

    def merge(self, other: _Gram) -> _Gram:
        return _Gram(self.total + other.total)


def _plain_gram(block: Block, predictor: LinearPredictor) -> _Gram:
    weight = block.row_weights
    return _Gram(predictor.gram(block.X, np.asarray(weight, dtype=np.float64)))


@dataclass(frozen=True)
class _Farthest:
    distance: float

    def merge(self, other: _Farthest) -> _Farthest:
        return _Farthest(max(self.distance, other.distance))


def _farthest(block: Block, predictor: LinearPredictor, step: Array) -> _Farthest:
    """The largest |Δz| among rows of positive weight."""
    moved = np.abs(predictor.raw(block.X, step))
    if block.weight is not None:
        moved = moved[np.asarray(block.weight) > 0]
    return _Farthest(float(moved.max(initial=0.0)))
