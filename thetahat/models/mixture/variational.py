"""Variational Bayes for Gaussian mixtures: the posterior of the parameters and the evidence bound.

    q(π)·Π_k q(μ_k, Λ_k),   q(μ_k | Λ_k) = N(m_k, (β_k Λ_k)⁻¹),   q(Λ_k) = Wishart(W_k, ν_k),

with E Λ_k = ν_k W_k = C_k⁻¹ for the covariances C_k that are reported. Responsibilities follow from

    log ρ_ik = E log π_k + ½ E log |Λ_k| − ½ d log 2π − ½ d/β_k − ½ (x_i − m_k)ᵀ C_k⁻¹ (x_i − m_k)
               − ½ reg_covar·tr(C_k⁻¹),

and the bound is Σ_i log Σ_k ρ_ik − KL(q ‖ prior). The last term is that of rows with an additional
variance of reg_covar, with which the update of C_k is exact and the bound never decreases. Diagonal
precisions are a Wishart variable of one dimension per column. A spherical one is a single variable
with d·ν degrees of freedom, and a tied one a matrix with k·ν and the prior of all k components.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.data.source import Source
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Verdict, Watch
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.models.mixture.components import (
    Components,
    MixtureSums,
    moments_of,
    pass_over,
    precisions_of,
    terms_of,
)
from thetahat.models.mixture.expectation_maximisation import ended_by


@dataclass(frozen=True)
class Prior:
    """The prior of the parameters, and reg_covar."""

    kind: str
    process: bool
    """Whether weights follow a Dirichlet process, and not a Dirichlet distribution."""
    concentration: float
    mean_precision: float
    mean: Array
    degrees: float
    covariance: Array
    reg_covar: float

    def updated(self, sums: MixtureSums, centres: Array) -> Posterior:
        """The posterior given the responsibilities of the sums (the M step). Cost: O(k d³)."""
        count = sums.count
        means, spread = moments_of(self.kind, sums, centres)
        precision = self.mean_precision + count
        middle = (self.mean_precision * self.mean + count[:, None] * means) / precision[:, None]
        away = means - self.mean
        share = count * self.mean_precision / precision
        degrees = self.degrees + count
        if self.kind in ("full", "tied"):
            scatter = count[:, None, None] * spread
            scatter += (share[:, None] * away)[:, :, None] * away[:, None, :]
            np.einsum("kii->ki", scatter)[...] += self.reg_covar * count[:, None]
            if self.kind == "tied":
                degrees = np.array(self.degrees + count.sum() / len(count))
                covariances = (self.covariance + scatter.sum(axis=0) / len(count)) / degrees
            else:
                covariances = (self.covariance + scatter) / degrees[:, None, None]
        else:
            scatter = count[:, None] * (spread + self.reg_covar) + share[:, None] * away**2
            if self.kind == "spherical":
                covariances = (self.covariance + scatter.mean(axis=1)) / degrees
            else:
                covariances = (self.covariance + scatter) / degrees[:, None]
        concentration = self._concentration(count)
        weights = self._weights(concentration)
        found = Components.of(self.kind, weights, middle, covariances)
        return Posterior(self, concentration, precision, degrees, found)

    def _concentration(self, count: Array) -> Array:
        if not self.process:
            return (self.concentration + count)[None]
        after = np.append(np.cumsum(count[::-1])[-2::-1], 0.0)
        return np.stack([1.0 + count, self.concentration + after])

    def _weights(self, concentration: Array) -> Array:
        """E π; for the process scaled to the sum 1."""
        if not self.process:
            return np.asarray(concentration[0] / concentration[0].sum())
        total = concentration.sum(axis=0)
        left = np.append(1.0, np.cumprod(concentration[1] / total)[:-1])
        weights = concentration[0] / total * left
        return np.asarray(weights / weights.sum())

    @property
    def log_determinant(self) -> Array:
        """log of the prior scales: of the matrix, of each column, or of the sphere."""
        if self.kind in ("full", "tied"):
            return np.array(np.linalg.slogdet(self.covariance)[1])
        return np.log(self.covariance)


@dataclass(frozen=True)
class Posterior:
    """q(π), q(μ, Λ), and the components at their expected parameters."""

    prior: Prior
    concentration: Array
    mean_precision: Array
    degrees: Array
    components: Components

    @property
    def theta(self) -> Array:
        """All numbers as one vector."""
        parts = (self.concentration, self.mean_precision, self.degrees)
        return np.concatenate([self.components.theta, *(np.ravel(each) for each in parts)])

    @classmethod
    def at(cls, prior: Prior, k: int, theta: Array) -> Posterior:
        """The posterior with this vector."""
        n_degrees, n_rows = 1 if prior.kind == "tied" else k, 2 if prior.process else 1
        ends = np.cumsum([n_degrees, k, n_rows * k])
        degrees, precision, concentration = (
            theta[len(theta) - end : len(theta) - start]
            for start, end in zip([0, *ends[:2]], ends, strict=True)
        )
        found = Components.at(prior.kind, k, len(prior.mean), theta[: len(theta) - ends[-1]])
        degrees = degrees[0] if prior.kind == "tied" else degrees
        return cls(prior, concentration.reshape(n_rows, k), precision, np.array(degrees), found)

    def log_weights(self) -> Array:
        """E log π_k."""
        from scipy.special import psi

        if not self.prior.process:
            return np.asarray(psi(self.concentration[0]) - psi(self.concentration[0].sum()))
        first, second = psi(self.concentration)
        total = psi(self.concentration.sum(axis=0))
        return np.asarray(first - total + np.append(0.0, np.cumsum(second - total)[:-1]))

    @property
    def _wishart(self) -> tuple[int, Array, float, float]:
        """Dimension, degrees of freedom, those of the prior, and how often the prior counts."""
        k, d = self.components.means.shape
        size = {"full": (d, 1), "tied": (d, k), "diag": (1, 1), "spherical": (1, d)}
        dimension, times = size[self.prior.kind]
        return dimension, times * self.degrees, times * self.prior.degrees, float(times)

    def terms(self) -> tuple[Array, Array, Array]:
        """The arguments of a pass over rows: log-scales, centres and factors."""
        found, d = self.components, self.components.means.shape[1]
        flat = np.ones(len(found.means))
        scale, centres, factors = terms_of(found.kind, flat, found.means, found.root)
        dimension, degrees, _, _ = self._wishart
        # E log |Λ| − log |E Λ|, of all columns.
        less = _digammas(degrees, dimension) + dimension * np.log(2.0 / degrees)
        less = less * (d / dimension)
        trace = np.sum(found.root**2, axis=tuple(range(1, found.root.ndim)))
        if found.kind == "tied":
            trace = np.sum(found.root**2)
        elif found.kind == "spherical":
            trace = d * trace
        scale = scale + self.log_weights() + 0.5 * (less - d / self.mean_precision)
        return scale - 0.5 * self.prior.reg_covar * trace, centres, factors

    def divergence(self) -> float:
        """KL(q ‖ prior) of weights, means and precisions. Cost: O(k d³)."""
        found, prior = self.components, self.prior
        d = found.means.shape[1]
        precisions = precisions_of(found.kind, found.root)
        away = found.means - prior.mean
        if found.kind == "full":
            distance = np.einsum("ki,kij,kj->k", away, precisions, away)
        elif found.kind == "tied":
            distance = np.einsum("ki,ij,kj->k", away, precisions, away)
        elif found.kind == "diag":
            distance = np.einsum("ki,ki,ki->k", away, precisions, away)
        else:
            distance = precisions * np.einsum("ki,ki->k", away, away)
        ratio = prior.mean_precision / self.mean_precision
        means = 0.5 * np.sum(d * (ratio - 1.0 - np.log(ratio)) + prior.mean_precision * distance)
        return float(means) + self._weight_divergence() + self._wishart_divergence(precisions)

    def _weight_divergence(self) -> float:
        from scipy.special import betaln, gammaln, psi

        prior, found = self.prior, self.concentration
        if prior.process:
            total = psi(found.sum(axis=0))
            first, second = psi(found)
            parts = (found[0] - 1.0) * (first - total)
            parts = parts + (found[1] - prior.concentration) * (second - total)
            return float(np.sum(parts - betaln(*found) + betaln(1.0, prior.concentration)))
        k, each = found.shape[1], found[0]
        value = float(gammaln(each.sum()) - gammaln(each).sum())
        value += k * float(gammaln(prior.concentration)) - float(gammaln(k * prior.concentration))
        return value + float((each - prior.concentration) @ self.log_weights())

    def _wishart_divergence(self, precisions: Array) -> float:
        prior, found = self.prior, self.components
        dimension, degrees, degrees_before, times = self._wishart
        if found.kind in ("full", "tied"):
            log_root = np.log(np.diagonal(found.root, 0, -2, -1)).sum(axis=-1)
            trace = np.einsum("...ij,ij->...", precisions, prior.covariance)
        else:
            log_root = np.log(found.root)
            trace = precisions * prior.covariance
            if found.kind == "diag":
                degrees = degrees[:, None]
        # W⁻¹ = ν·C, and the scale of the prior counts `times`.
        log_w = 2.0 * log_root - dimension * np.log(degrees)
        log_w_before = -prior.log_determinant - dimension * math.log(times)
        value = _log_norm(degrees, log_w, dimension)
        value = value - _log_norm(np.array(degrees_before), log_w_before, dimension)
        expected = _digammas(degrees, dimension) + dimension * math.log(2.0) + log_w
        value = value + 0.5 * (degrees - degrees_before) * expected
        return float(np.sum(value - 0.5 * degrees * dimension + 0.5 * times * trace))


def _digammas(degrees: Array, dimension: int) -> Array:
    """Σ_{i < dimension} ψ((ν − i)/2)."""
    from scipy.special import psi

    return np.asarray(psi(0.5 * (degrees[..., None] - np.arange(dimension))).sum(axis=-1))


def _log_norm(degrees: Array, log_w: Array, dimension: int) -> Array:
    """log of the norming constant of Wishart(W, ν), given log |W|."""
    from scipy.special import gammaln

    gammas = gammaln(0.5 * (degrees[..., None] - np.arange(dimension))).sum(axis=-1)
    gammas = gammas + 0.25 * dimension * (dimension - 1) * math.log(math.pi)
    return np.asarray(-0.5 * degrees * (log_w + dimension * math.log(2.0)) - gammas)


@dataclass(frozen=True)
class Ascent:
    """The posterior after the last step, and the bound before each step."""

    posterior: Posterior
    bounds: tuple[float, ...]
    outcome: Outcome
    change: float = np.nan

    @property
    def bound(self) -> float:
        return self.bounds[-1] if self.bounds else -np.inf

    @property
    def solution(self) -> Solution:
        """The report of the run; the objective is the negative bound."""
        return Solution(
            theta=self.posterior.theta,
            outcome=self.outcome,
            solver="variational Bayes",
            reason="the bound of a mixture has several maxima; one of them is approached",
            steps=len(self.bounds),
            value=-float(self.bound),
            gap=abs(self.change),
            gap_kind="change of the lower bound",
            message=self.outcome.value,
            trace=tuple(-each for each in self.bounds),
        )


def variational_ascent(
    source: Source,
    start: Posterior,
    *,
    tol: float,
    max_iter: int,
    before: float,
    watch: Watch,
    report: Callable[[int, float], None] | None = None,
) -> Ascent:
    """Steps until the bound changes by less than the tolerance. Cost: a pass over X per step."""
    now, bounds, change = start, list[float](), np.nan
    outcome = Outcome.STEPS_EXHAUSTED
    try:
        for step in range(1, max_iter + 1):
            terms = now.terms()
            sums = pass_over(source, terms)
            bound = sums.log_likelihood - now.divergence()
            now = now.prior.updated(sums, terms[1])
            change = bound - (bounds[-1] if bounds else before)
            bounds.append(bound)
            if report is not None:
                report(step, change)
            verdict = watch(step, None if watch.on_step is None else now.theta, -bound)
            if abs(change) < tol:
                outcome = Outcome.LOCAL
                break
            if verdict is not Verdict.GO_ON:
                outcome = ended_by(verdict)
                break
    except KeyboardInterrupt as interrupt:
        run: Any = Ascent(now, tuple(bounds), Outcome.INTERRUPTED, change)
        interrupt.solution = run.solution  # type: ignore[attr-defined]
        raise
    return Ascent(now, tuple(bounds), outcome, change)
