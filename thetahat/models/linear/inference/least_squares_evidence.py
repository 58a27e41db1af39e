"""How sure least squares is: standard errors, tests and intervals.

Under y = Xβ* + b + ε with independent errors of variance σ²,

    E β̂ = β*,   Cov β̂ = σ²(XᵀX)⁻¹,   σ̂² = ‖y − ŷ‖²/(n − p)  unbiased,  ‖y − ŷ‖²/n  by likelihood,

and with normal errors (β̂ⱼ − β*ⱼ)/se(β̂ⱼ) follows Student's t with n − p degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.estimator.coefficient_table import Coefficient, CoefficientTable, p_sign
from thetahat.foundation.arguments import require_level
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.threads import scipy_linalg
from thetahat.foundation.types import Array
from thetahat.objective.least_squares.direct import LeastSquares

EPSILON = float(np.finfo(float).eps)
EXACT = "the fit is exact: σ̂ = 0, so that tests against it are certain (F and t infinite)"
CONSTANT = "y is constant: there is nothing to explain, and R² and F are not defined"


@dataclass(frozen=True)
class Evidence:
    """What a fit must remember to say how sure it is: the triangle of X and a few sums."""

    factor: Array
    x_mean: Array
    weight: float
    n_rows: int
    residual: Array
    total: Array
    rank: int
    condition: float
    intercept: bool
    weighted: bool

    @classmethod
    def of(cls, found: LeastSquares, *, weighted: bool) -> Evidence | None:
        """What `found` knows, or None when its solver formed no triangle."""
        about, fit = found.about, found.fit
        if about is None or fit.factor is None:
            return None
        d = about.n_features
        with np.errstate(over="ignore"):
            total = np.diagonal(about.scatter)[d:] * about.unit[d:] * about.unit[d:]
        # The spread of a constant is the rounding of its mean.
        spread = np.sqrt(np.diagonal(about.scatter)[d:] / about.weight) * about.unit[d:]
        constant = spread <= EPSILON * np.abs(about.y_mean)
        return cls(
            factor=fit.factor,
            x_mean=about.x_mean,
            weight=about.weight,
            n_rows=about.n_rows,
            residual=np.where(constant, 0.0, fit.residual),
            total=np.where(constant, 0.0, total),
            rank=fit.rank,
            condition=fit.condition,
            intercept=about.is_centred,
            weighted=weighted,
        )

    @property
    def n_parameters(self) -> int:
        return self.rank + self.intercept

    def degrees(self, weights: str) -> float:
        """n − p, where a row of weight 2 counts as two rows or as one measured more precisely."""
        return (self.weight if weights == "frequency" else self.n_rows) - self.n_parameters

    def spread(self, rows: Array) -> Array:
        """Rows z with zᵀz = xᵀ(XᵀX)⁻¹x about the mean: the geometry of every standard error."""
        solve_triangular = scipy_linalg().solve_triangular

        return solve_triangular(self.factor, rows.T, trans="T", check_finite=False).T

    def leverage(self, X: Array) -> Array:
        """xᵀ(XᵀX)⁻¹x, plus 1/n for the intercept."""
        centred = X - self.x_mean if self.intercept else X
        spread = np.einsum("ij,ij->i", *(2 * [self.spread(np.asarray(centred, dtype=float))]))
        return spread + (1.0 / self.weight if self.intercept else 0.0)

    def covariance_root(self) -> Array:
        """The inverse triangle: rows r_j with r_jᵀr_j = (XᵀX)⁻¹_jj."""
        solve_triangular = scipy_linalg().solve_triangular

        return solve_triangular(self.factor, np.eye(len(self.factor)), check_finite=False)

    def whitened(self, X: Array) -> Array:
        """Rows v whose Gram matrix is the identity: x about the mean in the metric of (XᵀX)⁻¹,
        with a last column for the intercept."""
        rows = self.spread(np.asarray(X - self.x_mean if self.intercept else X, dtype=float))
        if not self.intercept:
            return rows
        return np.column_stack([rows, np.full(len(rows), self.weight**-0.5)])

    def unwhitened(self, middle: Array) -> Array:
        """The covariance of β (and b, last) from that of coefficients of the whitened rows."""
        d, root = len(self.factor), self.covariance_root()
        back = np.zeros((d + self.intercept, d + self.intercept))
        back[:d, :d] = root
        if self.intercept:
            back[d, :d], back[d, d] = -self.x_mean @ root, self.weight**-0.5
        return back @ middle @ back.T


@dataclass(frozen=True, repr=False)
class LinearSummary(CoefficientTable):
    """A fitted linear regression with its certainty; prints as a table.

    Formula: se(β̂ⱼ) = σ̂ √((XᵀX)⁻¹)ⱼⱼ, t = β̂ⱼ/se, intervals β̂ⱼ ± t_{n−p}·se. Cost: O(d³).

    Attributes
    ----------
    coefficients : tuple of Coefficient
        Intercept first, then one per column: estimate, standard error, t, p, interval.
    n, degrees_of_freedom : float
        Rows (by weight) and n − p.
    sigma, sigma_mle : float
        Unbiased and maximum-likelihood estimates of the noise's standard deviation.
    r2, adjusted_r2, f, f_p : float
        Explained share, and the F test that all slopes are zero. Where the fit is exact, σ̂ = 0 and
        F = ∞; where y is constant, R² and F are NaN. The printed table says so.
    log_likelihood, aic, bic : float
        −(n/2)log 2π − n log σ̂ − n/2 at the maximum-likelihood σ̂, and criteria from it.
    condition : float
        κ of the column-scaled X.
    covariance : str
        "model" or the robust covariance that was used.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.load_longley()
    >>> summary = th.LinearRegression().fit(data.X, data.y).summary()
    >>> round(summary.r2, 6)
    0.995479
    """

    coefficients: tuple[Coefficient, ...]
    level: float
    n: float
    degrees_of_freedom: float
    sigma: float
    sigma_mle: float
    r2: float
    adjusted_r2: float
    f: float
    f_p: float
    f_degrees: tuple[int, float]
    log_likelihood: float
    aic: float
    bic: float
    condition: float
    solver: str
    weights: str
    covariance: str = "model"

    def _footer(self) -> list[str]:
        first, second = self.f_degrees
        lines = [
            f"n = {self.n:g}, {self.degrees_of_freedom:g} degrees of freedom, "
            f"σ̂ = {self.sigma:.5g} (maximum likelihood {self.sigma_mle:.5g})",
            f"R² = {self.r2:.5f} (adjusted {self.adjusted_r2:.5f}), "
            f"F({first}, {second:g}) = {self.f:.4g}, p {p_sign(self.f_p)}",
            f"log-likelihood {self.log_likelihood:.4f}, AIC {self.aic:.2f}, BIC {self.bic:.2f}, "
            f"κ = {self.condition:.3g} ({self.solver})",
        ]
        if self.weights != "none":
            lines.append(f"sample weights read as {self.weights} weights")
        if self.sigma == 0:
            lines.append(CONSTANT if np.isnan(self.r2) else EXACT)
        if self.covariance != "model":
            lines.append(f"robust standard errors ({self.covariance}), F by Wald's test with them")
        return lines


def summarise_fit(
    evidence: Evidence,
    coef: Array,
    intercept: float,
    names: list[str],
    *,
    output: int,
    level: float,
    weights: str,
    solver: str,
    covariance: str = "model",
    robust: Array | None = None,
) -> LinearSummary:
    """The summary of one output of a fit; `robust`, where given, is the covariance of β and b."""
    from scipy import stats

    check_inference(evidence, level, weights)
    n = evidence.weight if weights == "frequency" else float(evidence.n_rows)
    df, rss = evidence.degrees(weights), np.float64(evidence.residual[output])
    total = np.float64(evidence.total[output])
    sigma2 = rss / df
    estimates = slope = np.asarray(coef, dtype=float)
    errors = _errors(evidence, sigma2) if robust is None else np.sqrt(np.diagonal(robust))
    if evidence.intercept:
        names, estimates = ["(intercept)", *names], np.r_[float(intercept), estimates]
        errors = np.roll(errors, 1)
    half = stats.t.ppf(0.5 + level / 2, df) * errors
    with np.errstate(divide="ignore", invalid="ignore"):
        t = estimates / errors
        slopes = evidence.n_parameters - evidence.intercept
        f: float = (total - rss) / slopes / sigma2
        if robust is not None:
            among = robust[: len(slope), : len(slope)]
            f = float(slope @ np.linalg.solve(among, slope)) / slopes
        r2 = 1.0 - rss / total  # NaN where y is constant
        log_likelihood = -n / 2 * (np.log(2 * np.pi * rss / n) + 1.0)
    p = 2 * stats.t.sf(np.abs(t), df)
    parameters = evidence.n_parameters + 1
    return LinearSummary(
        coefficients=tuple(
            Coefficient(*row)
            for row in zip(
                names,
                map(float, estimates),
                map(float, errors),
                map(float, t),
                map(float, p),
                map(float, estimates - half),
                map(float, estimates + half),
                strict=True,
            )
        ),
        level=level,
        n=n,
        degrees_of_freedom=df,
        sigma=float(np.sqrt(sigma2)),
        sigma_mle=float(np.sqrt(rss / n)),
        r2=float(r2),
        adjusted_r2=float(1.0 - (1.0 - r2) * (n - evidence.intercept) / df),
        f=float(f),
        f_p=float(stats.f.sf(f, slopes, df)),
        f_degrees=(slopes, df),
        log_likelihood=float(log_likelihood),
        aic=float(2 * (parameters - 1) - 2 * log_likelihood),
        bic=float(np.log(n) * (parameters - 1) - 2 * log_likelihood),
        condition=evidence.condition,
        solver=solver,
        weights=weights if evidence.weighted else "none",
        covariance=covariance,
    )


def _errors(evidence: Evidence, sigma2: float) -> Array:
    """Standard errors of β, and of b last."""
    variances = (evidence.covariance_root() ** 2).sum(axis=1)
    if evidence.intercept:
        at_mean = evidence.spread(evidence.x_mean[None, :])
        variances = np.append(variances, 1.0 / evidence.weight + float((at_mean**2).sum()))
    return np.sqrt(sigma2 * variances)


def interval(
    evidence: Evidence, leverage: Array, predicted: Array, *, level: float, kind: str, weights: str
) -> tuple[Array, Array]:
    """Bounds around predictions: for the mean ("confidence") or a new y ("prediction")."""
    from scipy import stats

    if kind not in ("confidence", "prediction"):
        raise ParameterError(
            f"kind={kind!r} must be 'confidence' (of the mean) or 'prediction' (of a new y)."
        )
    check_inference(evidence, level, weights)
    df = evidence.degrees(weights)
    variance = leverage + (1.0 if kind == "prediction" else 0.0)
    sigma = np.sqrt(evidence.residual / df)
    half = stats.t.ppf(0.5 + level / 2, df) * np.sqrt(variance)[:, None] * sigma
    half = half if predicted.ndim == 2 else half[:, 0]
    return predicted - half, predicted + half


def check_inference(evidence: Evidence, level: float, weights: str) -> None:
    """Refuse levels and weights that do not exist, and fits that determine no errors."""
    require_level(level)
    if weights not in ("frequency", "precision"):
        raise ParameterError(
            f"weights={weights!r} must be 'frequency' (a row of weight 2 is two rows) or "
            "'precision' (a row of weight 2 was measured with half the variance)."
        )
    if evidence.rank < len(evidence.factor):
        raise CapabilityError(
            f"Standard errors do not exist: the columns of X have rank {evidence.rank} of "
            f"{len(evidence.factor)}, so single coefficients are not determined. Drop the "
            "constant or dependent columns and fit again."
        )
    if not evidence.degrees(weights) > 0:
        raise CapabilityError(
            f"Standard errors need more rows than parameters: n = {evidence.weight:g}, "
            f"p = {evidence.n_parameters}. Add rows or drop columns."
        )
