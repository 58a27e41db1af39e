"""Summaries of the normal posteriors of linear functions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.estimator.coefficient_table import CoefficientTable
from thetahat.foundation.arguments import require_level
from thetahat.mathematics.distributions.gaussian.posterior import LinearPosterior


def normal_quantile(level: float) -> float:
    """The q with P(|N(0, 1)| ≤ q) = level."""
    from scipy import stats

    require_level(level)
    return float(stats.norm.ppf(0.5 + level / 2))


def quantile_of(level: float, freedom: float | None) -> float:
    """The same for Student's t; None stands for the normal distribution."""
    from scipy import stats

    if freedom is None:
        return normal_quantile(level)
    require_level(level)
    return float(stats.t.ppf(0.5 + level / 2, freedom))


@dataclass(frozen=True)
class PosteriorCoefficient:
    """One line of a posterior summary."""

    name: str
    mean: float
    standard_deviation: float
    low: float
    high: float
    positive: float
    """P(coefficient > 0 | data); NaN for a column that was left out, whose coefficient is 0."""


@dataclass(frozen=True, repr=False)
class PosteriorSummary(CoefficientTable):
    """Summary of the posterior of each coefficient; prints as a table.

    Formula: βⱼ | data ~ N(mⱼ, Vⱼⱼ); credible interval mⱼ ± q·√Vⱼⱼ, P(βⱼ > 0) = Φ(mⱼ/√Vⱼⱼ). If the
    noise is estimated, intervals and probabilities use Student's t instead of the normal
    distribution, and the unbiased noise variance, as ``predict_interval`` does. Cost: O(d).

    Attributes
    ----------
    coefficients : tuple of PosteriorCoefficient
        One entry per coefficient, intercept first: name, posterior mean, standard deviation,
        credible interval, and the probability that the coefficient is positive. This is NaN, and
        "–" in the table, for a column that was left out, as `ARDRegression` does.
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
                "–" if np.isnan(c.positive) else f"{c.positive:.3f}",
            )
            for c in self.coefficients
        ]

    def _footer(self) -> list[str]:
        noise = "one per row" if np.isnan(self.noise) else f"{self.noise:.5g}"
        return [f"credible intervals; noise σ = {noise}, log evidence {self.log_evidence:.4f}"]


def summarise_posterior(
    posterior: LinearPosterior,
    names: list[str],
    *,
    level: float,
    log_evidence: float,
    noise: float,
    freedom: float | None = None,
    inflation: float = 1.0,
) -> PosteriorSummary:
    """The marginal posterior of every coefficient.

    `freedom` and `inflation` are those of an estimated noise variance.
    """
    from scipy import stats

    half = quantile_of(level, freedom) * float(np.sqrt(inflation))
    mean, covariance = posterior.in_units()
    deviation = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    if posterior.intercept:
        names, mean, deviation = (
            ["(intercept)", *names],
            np.roll(mean, 1),
            np.roll(deviation, 1),
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = mean / (deviation * np.sqrt(inflation))  # NaN for 0/0
    positive = stats.norm.cdf(ratio) if freedom is None else stats.t.cdf(ratio, freedom)
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
