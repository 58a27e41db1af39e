"""Normal posteriors of linear functions: β, b | data ~ N(mean, covariance)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.data.source import Source
from thetahat.data.summaries.moments import dense_rows
from thetahat.estimator.coefficient_table import CoefficientTable
from thetahat.foundation.arguments import require_level
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class LinearPosterior:
    """The normal posterior of β and of the prediction c = b + centreᵀβ at `centre`.

    At the mean of the rows, β and c are independent under a flat prior of b, so that variances of
    predictions stay accurate for columns far from zero. Without an intercept there is no c.
    """

    mean: Array
    """(β, c), or β only."""
    covariance: Array
    centre: Array
    intercept: bool

    def spread(self, rows: Array) -> Array:
        """Var(xᵀβ + b | data) for dense rows x."""
        design = self._design(rows)
        return np.maximum(np.einsum("ij,ij->i", design @ self.covariance, design), 0.0)

    def joint(self, rows: Array) -> Array:
        """The covariance of xᵀβ + b between rows."""
        design = self._design(rows)
        return design @ self.covariance @ design.T

    def _design(self, rows: Array) -> Array:
        centred = np.asarray(rows, dtype=np.float64) - self.centre
        return np.column_stack([centred, np.ones(len(centred))]) if self.intercept else centred

    def in_units(self) -> tuple[Array, Array]:
        """Mean and covariance of (β, b), or of β only."""
        if not self.intercept:
            return self.mean, self.covariance
        back = self._back()
        return back @ self.mean, back @ self.covariance @ back.T

    def sample(self, size: int, random: np.random.Generator) -> Array:
        """Draws of (β, b) as rows; of β only without an intercept."""
        with one_blas_thread():
            values, vectors = np.linalg.eigh(self.covariance)
            root = vectors * np.sqrt(np.maximum(values, 0.0))
            draws = self.mean + random.standard_normal((size, len(values))) @ root.T
            return draws @ self._back().T if self.intercept else draws

    def _back(self) -> Array:
        """The matrix that turns (β, c) into (β, b = c − centreᵀβ)."""
        back = np.eye(len(self.mean))
        back[-1, :-1] = -self.centre
        return back


def spread_of(posterior: LinearPosterior, source: Source) -> Array:
    """Var(xᵀβ + b | data) for all rows of a source, block by block."""
    return source.map_rows(lambda block: posterior.spread(dense_rows(block)))


def normal_quantile(level: float) -> float:
    """The q with P(|N(0, 1)| ≤ q) = level."""
    from scipy import stats

    require_level(level)
    return float(stats.norm.ppf(0.5 + level / 2))


@dataclass(frozen=True)
class PosteriorCoefficient:
    """One line of a posterior summary."""

    name: str
    mean: float
    standard_deviation: float
    low: float
    high: float
    positive: float
    """P(coefficient > 0 | data)."""


@dataclass(frozen=True, repr=False)
class PosteriorSummary(CoefficientTable):
    """Summary of the posterior of each coefficient; prints as a table.

    Formula: βⱼ | data ~ N(mⱼ, Vⱼⱼ); credible interval mⱼ ± q·√Vⱼⱼ, P(βⱼ > 0) = Φ(mⱼ/√Vⱼⱼ). Cost:
    O(d).

    Attributes
    ----------
    coefficients : tuple of PosteriorCoefficient
        One entry per coefficient, intercept first: name, posterior mean, standard deviation,
        credible interval, and the probability that the coefficient is positive.
    level : float
        Probability of the credible intervals.
    log_evidence : float
        Log evidence, log p(y | X), for the noise and prior that were used.
    noise : float
        Standard deviation of the noise; NaN if each row has its own.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(50, 2, noise=0.1, random_state=0)
    >>> summary = th.BayesianRidge().fit(data.X, data.y).summary(level=0.9)
    >>> [line.name for line in summary.coefficients]
    ['(intercept)', 'x0', 'x1']
    """

    coefficients: tuple[PosteriorCoefficient, ...]
    level: float
    log_evidence: float
    noise: float

    def _header(self) -> tuple[str, ...]:
        percent = f"{100 * self.level:g}%"
        return ("", "mean", "std. dev.", f"{percent} from", "to", "P(> 0)")

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (
                c.name,
                f"{c.mean:.6g}",
                f"{c.standard_deviation:.4g}",
                f"{c.low:.5g}",
                f"{c.high:.5g}",
                f"{c.positive:.3f}",
            )
            for c in self.coefficients
        ]

    def _footer(self) -> list[str]:
        noise = "one per row" if np.isnan(self.noise) else f"{self.noise:.5g}"
        return [f"credible intervals; noise σ = {noise}, log evidence {self.log_evidence:.4f}"]


def summarise_posterior(
    posterior: LinearPosterior, names: list[str], *, level: float, log_evidence: float, noise: float
) -> PosteriorSummary:
    """The marginal posterior of every coefficient."""
    from scipy import stats

    half = normal_quantile(level)
    mean, covariance = posterior.in_units()
    deviation = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    if posterior.intercept:
        names, mean, deviation = (
            ["(intercept)", *names],
            np.roll(mean, 1),
            np.roll(deviation, 1),
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        positive = np.where(deviation > 0, stats.norm.cdf(mean / deviation), mean > 0)
    lines = zip(
        names, mean, deviation, mean - half * deviation, mean + half * deviation, positive,
        strict=True,
    )  # fmt: skip
    return PosteriorSummary(
        coefficients=tuple(
            PosteriorCoefficient(name, *map(float, numbers)) for name, *numbers in lines
        ),
        level=level,
        log_evidence=log_evidence,
        noise=noise,
    )
