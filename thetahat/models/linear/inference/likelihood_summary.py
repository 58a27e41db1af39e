"""The summary of a fit by maximum likelihood: Wald tests, likelihood ratio, deviance, criteria."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.estimator.coefficient_table import (
    Coefficient,
    CoefficientTable,
    p_sign,
)
from thetahat.foundation.arguments import require_level
from thetahat.foundation.types import Array
from thetahat.models.linear.inference.likelihood_evidence import LikelihoodEvidence


@dataclass(frozen=True)
class LikelihoodRatio:
    """A likelihood-ratio test of a model against a smaller one within it.

    Formula: 2(log L − log L₀) follows χ² with as many degrees of freedom as there are further
    parameters, when the smaller model is true. Cost: O(1).

    Attributes
    ----------
    statistic : float
        2(log L − log L₀).
    degrees_of_freedom : int
        Parameters that the smaller model lacks.
    p : float
        Probability of so large a statistic under the smaller model.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X, y = np.arange(8.0)[:, None], [0, 1, 1, 3, 2, 5, 4, 6]
    >>> model = th.PoissonRegressor(alpha=0.0, solver="newton", tol=1e-9).fit(X, y)
    >>> test = model.summary().likelihood_ratio
    >>> test.degrees_of_freedom, bool(test.p < 0.01)
    (1, True)
    """

    statistic: float
    degrees_of_freedom: int
    p: float

    @classmethod
    def of(cls, statistic: float, degrees: int) -> LikelihoodRatio:
        """With its probability."""
        from scipy import stats

        p = float(stats.chi2.sf(statistic, degrees)) if degrees else float("nan")
        return cls(float(statistic), degrees, p)


@dataclass(frozen=True, repr=False)
class LikelihoodSummary(CoefficientTable):
    """A generalised linear model fitted by maximum likelihood, with its certainty.

    Formula: se(θ̂ⱼ) = √(H⁻¹)ⱼⱼ with H the Hessian of −log L at θ̂, or the robust H⁻¹MH⁻¹;
    Wald's z = θ̂ⱼ/se, intervals θ̂ⱼ ± q·se. Cost: O(d³), with a pass over the rows if robust.

    Attributes
    ----------
    coefficients : tuple of Coefficient
        Intercept first, then one per column: estimate, standard error, t (Wald's statistic), p,
        interval.
    family : str
        The distribution of y.
    n, degrees_of_freedom : float
        Rows (by weight) and n − p.
    log_likelihood, null_log_likelihood : float
        Of this model, and of the intercept alone (of z = 0 where there is none).
    likelihood_ratio : LikelihoodRatio
        The test against that null model.
    deviance, null_deviance : float
        Twice the log-likelihood that is missing to a model with a parameter for each row.
    pseudo_r2 : float
        McFadden's 1 − log L/log L₀.
    aic, bic : float
        2p − 2 log L, and p log n − 2 log L.
    dispersion : float
        φ: 1 for Bernoulli and Poisson, the estimated variance for normal y.
    covariance : str
        "model" or the robust covariance that was used.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X, y = np.arange(8.0)[:, None], [0, 1, 1, 3, 2, 5, 4, 6]
    >>> model = th.PoissonRegressor(alpha=0.0, solver="newton", tol=1e-9).fit(X, y)
    >>> summary = model.summary()
    >>> [round(line.estimate, 3) for line in summary.coefficients]
    [-0.399, 0.327]
    """

    coefficients: tuple[Coefficient, ...]
    level: float
    family: str
    n: float
    degrees_of_freedom: float
    log_likelihood: float
    null_log_likelihood: float
    likelihood_ratio: LikelihoodRatio
    deviance: float
    null_deviance: float
    pseudo_r2: float
    aic: float
    bic: float
    dispersion: float
    covariance: str
    statistic: str
    solver: str

    def _header(self) -> tuple[str, ...]:
        percent = f"{100 * self.level:g}%"
        return ("", "estimate", "std. error", self.statistic, "p", f"{percent} from", "to")

    def _footer(self) -> list[str]:
        test = self.likelihood_ratio
        lines = [
            f"{self.family} likelihood, n = {self.n:g}, {self.degrees_of_freedom:g} degrees of "
            f"freedom, deviance {self.deviance:.5g} (null {self.null_deviance:.5g})",
            f"log-likelihood {self.log_likelihood:.4f} (null {self.null_log_likelihood:.4f}), "
            f"χ²({test.degrees_of_freedom}) = {test.statistic:.4g}, p {p_sign(test.p)}",
            f"McFadden's R² = {self.pseudo_r2:.5f}, AIC {self.aic:.2f}, BIC {self.bic:.2f} "
            f"({self.solver})",
        ]
        if not np.isfinite(self.null_log_likelihood):
            lines.append(
                "y is constant: there is nothing to explain, and χ² and R² are not defined"
            )
        if self.covariance != "model":
            lines.append(f"robust standard errors ({self.covariance})")
        return lines


def summarise_likelihood(
    evidence: LikelihoodEvidence,
    covariance: Array,
    names: list[str],
    *,
    family: str,
    dispersed: bool,
    level: float,
    kind: str,
    solver: str,
) -> LikelihoodSummary:
    """The summary, from the covariance of the raveled estimates and their names."""
    from scipy import stats

    require_level(level)
    reference, shape = (stats.t, (evidence.degrees,)) if dispersed else (stats.norm, ())
    estimates = evidence.estimates.ravel()
    errors = np.sqrt(np.diagonal(covariance))
    half = reference.ppf(0.5 + level / 2, *shape) * errors
    with np.errstate(divide="ignore", invalid="ignore"):
        wald = estimates / errors
    lines = [
        Coefficient(name, *map(float, numbers))
        for name, *numbers in zip(
            names,
            estimates,
            errors,
            wald,
            2 * reference.sf(np.abs(wald), *shape),
            estimates - half,
            estimates + half,
            strict=True,
        )
    ]
    # Score by score, and of each the intercept first.
    order = np.arange(estimates.size).reshape(evidence.estimates.shape).T
    order = np.roll(order, 1, axis=1) if evidence.n_null else order
    p, best, null = evidence.n_parameters, evidence.log_likelihood, evidence.null_log_likelihood
    # A constant y is certain without any column: nothing can be likelier.
    ratio = 2 * (best - null) if np.isfinite(null) else float("nan")
    return LikelihoodSummary(
        coefficients=tuple(lines[index] for index in order.ravel()),
        level=level,
        family=family,
        n=evidence.n,
        degrees_of_freedom=evidence.degrees,
        log_likelihood=best,
        null_log_likelihood=null,
        likelihood_ratio=LikelihoodRatio.of(ratio, p - evidence.n_null),
        deviance=evidence.deviance,
        null_deviance=evidence.null_deviance,
        pseudo_r2=float(1.0 - best / null) if null and np.isfinite(null) else float("nan"),
        aic=2 * p - 2 * best,
        bic=float(p * np.log(evidence.n) - 2 * best),
        dispersion=evidence.dispersion,
        covariance=kind,
        statistic="t" if dispersed else "z",
        solver=solver,
    )
