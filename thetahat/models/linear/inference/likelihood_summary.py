"""Summary of a maximum-likelihood fit: Wald and likelihood-ratio tests, deviance, AIC, BIC."""

from __future__ import annotations

from dataclasses import dataclass, field

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
    """Result of a likelihood-ratio test of a model against a smaller, nested one.

    Formula: if the smaller model is true, 2(log L − log L₀) has a χ² distribution with as many
    degrees of freedom as the larger model has additional parameters. Cost: O(1).

    Attributes
    ----------
    statistic : float
        The test statistic, 2(log L − log L₀).
    degrees_of_freedom : int
        Number of additional parameters of the larger model.
    p : float
        Probability of a statistic at least this large if the smaller model is true (p-value).

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
        """Compute the p-value of a statistic. Cost: O(1).

        Parameters
        ----------
        statistic : float
            The test statistic, 2(log L − log L₀).
        degrees : int
            Number of additional parameters of the larger model.

        Returns
        -------
        test : LikelihoodRatio
            The test with its p-value.
        """
        from scipy import stats

        p = float(stats.chi2.sf(statistic, degrees)) if degrees else float("nan")
        return cls(float(statistic), degrees, p)


@dataclass(frozen=True, repr=False)
class LikelihoodSummary(CoefficientTable):
    """Summary of a maximum-likelihood fit: standard errors, tests and quality; prints as a table.

    Formula: se(θ̂ⱼ) = √(H⁻¹)ⱼⱼ with H the Hessian of −log L at θ̂, or the robust covariance
    H⁻¹MH⁻¹; Wald statistic z = θ̂ⱼ/se, confidence interval θ̂ⱼ ± q·se. Cost: O(d³), and one more
    pass over the rows for a robust covariance.

    Attributes
    ----------
    coefficients : tuple of Coefficient
        One entry per coefficient, intercept first: name, estimate, standard error, Wald statistic
        (t), p-value (p) and confidence interval (low, high).
    level : float
        Confidence level of the intervals.
    family : str
        Name of the distribution of y.
    n : float
        Number of rows, or the sum of the row weights.
    degrees_of_freedom : float
        Residual degrees of freedom, n − p for p parameters.
    log_likelihood, null_log_likelihood : float
        Log-likelihood of this model, and of the null model, which has only an intercept (z = 0 if
        no intercept is fitted).
    likelihood_ratio : LikelihoodRatio
        Likelihood-ratio test of this model against the null model.
    deviance, null_deviance : float
        Deviance of this model and of the null model: twice the difference in log-likelihood to a
        model with one parameter per row. Smaller is better.
    pseudo_r2 : float
        McFadden's pseudo R², 1 − log L/log L₀; 0 for the null model.
    aic, bic : float
        Akaike and Bayesian information criteria, 2p − 2 log L and p log n − 2 log L; smaller is
        better.
    dispersion : float
        Dispersion of y (φ): 1 for Bernoulli and Poisson, the estimated noise variance for normal y.
    covariance : array of shape (p, p)
        Covariance of the estimates, in the order of ``coefficients``.
    covariance_kind : str
        Estimator of the covariance: "model", or the robust one that was used ("HC0" to "HC3").
    statistic : str
        Distribution of the Wald statistic: "z" (normal), or "t" if the dispersion is estimated.
    solver : str
        Name of the solver that was used.
    class_weighted : bool
        Whether classes have weights other than 1. If so, standard errors use the sandwich formula,
        the log-likelihoods and deviances are weighted sums, and `likelihood_ratio`, `aic` and `bic`
        are NaN.

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
    covariance: Array = field(compare=False)
    covariance_kind: str
    statistic: str
    solver: str
    class_weighted: bool = False

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
            lines.append("y is constant, so χ² and R² are not defined")
        if self.covariance_kind != "model":
            lines.append(f"robust standard errors ({self.covariance_kind})")
        if self.class_weighted:
            lines.append(
                "class weights count as importances, so standard errors use the sandwich formula,"
            )
            lines.append("and χ², AIC and BIC are not defined")
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
    class_weighted: bool = False,
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
    # Sorted by score, with the intercept first in each.
    order = np.arange(estimates.size).reshape(evidence.estimates.shape).T
    order = np.roll(order, 1, axis=1) if evidence.n_null else order
    p, best, null = evidence.n_parameters, evidence.log_likelihood, evidence.null_log_likelihood
    # If y is constant, the null model already has probability 1.
    ratio = 2 * (best - null) if np.isfinite(null) and not class_weighted else float("nan")
    weighted = float("nan") if class_weighted else 0.0  # a weighted loss is no likelihood
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
        aic=2 * p - 2 * best + weighted,
        bic=float(p * np.log(evidence.n) - 2 * best) + weighted,
        dispersion=evidence.dispersion,
        covariance=covariance[np.ix_(order.ravel(), order.ravel())],
        covariance_kind=kind,
        statistic="t" if dispersed else "z",
        solver=solver,
        class_weighted=class_weighted,
    )
