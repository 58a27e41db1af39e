"""Standard errors, tests and intervals of least squares.

Under y = Xβ* + b + ε with independent errors of variance σ²,

    E β̂ = β*,   Cov β̂ = σ²(XᵀX)⁻¹,   σ̂² = ‖y − ŷ‖²/(n − p)  unbiased,  ‖y − ŷ‖²/n  by likelihood,

and with normal errors (β̂ⱼ − β*ⱼ)/se(β̂ⱼ) has Student's t distribution with n − p degrees of
freedom.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from thetahat.estimator.coefficient_table import Coefficient, CoefficientTable, p_sign
from thetahat.foundation.arguments import require_level
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import scipy_linalg
from thetahat.foundation.types import Array
from thetahat.objective.least_squares.direct import LeastSquares

EXACT = "the fit is exact: σ̂ = 0, and the F and t statistics are infinite"
CONSTANT = "y is constant, so R² and F are not defined"


@dataclass(frozen=True)
class Evidence:
    """What inference needs from a fit: the triangular factor of X and a few sums."""

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
    log_weights: float = 0.0
    """Σ log w, or −log|S| for a full covariance S of the noise."""

    @classmethod
    def of(
        cls, found: LeastSquares, *, weighted: bool, log_weights: float = 0.0
    ) -> Evidence | None:
        """The evidence of a fit, or None if its solver formed no triangular factor."""
        about, fit = found.about, found.fit
        if about is None or fit.factor is None:
            return None
        assert fit.rank is not None
        d = about.n_features
        with np.errstate(over="ignore"):
            total = np.diagonal(about.scatter)[d:] * about.unit[d:] * about.unit[d:]
        # For a constant y the computed variance is only the rounding of its mean.
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
            log_weights=log_weights,
        )

    @property
    def n_parameters(self) -> int:
        return self.rank + self.intercept

    def degrees(self, weights: str) -> float:
        """n − p; a row of weight 2 counts as two rows, or as one with half the variance."""
        return (self.weight if weights == "frequency" else self.n_rows) - self.n_parameters

    def spread(self, rows: Array) -> Array:
        """Rows z with zᵀz = xᵀ(XᵀX)⁻¹x for centred rows x, used for all standard errors."""
        solve_triangular = scipy_linalg().solve_triangular

        return solve_triangular(self.factor, rows.T, trans="T", check_finite=False).T

    def leverage(self, X: Array) -> Array:
        """xᵀ(XᵀX)⁻¹x, plus 1/n for the intercept."""
        centred = X - self.x_mean if self.intercept else X
        spread = np.einsum("ij,ij->i", *(2 * [self.spread(np.asarray(centred, dtype=float))]))
        return spread + (1.0 / self.weight if self.intercept else 0.0)

    def covariance_root(self) -> Array:
        """The inverse of the triangular factor: rows r_j with r_jᵀr_j = (XᵀX)⁻¹_jj."""
        solve_triangular = scipy_linalg().solve_triangular

        return solve_triangular(self.factor, np.eye(len(self.factor)), check_finite=False)

    def whitened(self, X: Array) -> Array:
        """Centred rows transformed so that their Gram matrix is the identity, with a last column
        for the intercept."""
        rows = self.spread(np.asarray(X - self.x_mean if self.intercept else X, dtype=float))
        if not self.intercept:
            return rows
        return np.column_stack([rows, np.full(len(rows), self.weight**-0.5)])

    def covariance(self, sigma2: float) -> Array:
        """The covariance of β (and b, last) for errors of one variance σ²."""
        back = self.unwhitening()
        return sigma2 * (back @ back.T)

    def unwhitened(self, middle: Array) -> Array:
        """The covariance of β (and b, last) from the covariance of whitened coefficients."""
        back = self.unwhitening()
        return back @ middle @ back.T

    def unwhitening(self) -> Array:
        """The matrix that turns whitened coefficients into β (and b, last)."""
        d, root = len(self.factor), self.covariance_root()
        back = np.zeros((d + self.intercept, d + self.intercept))
        back[:d, :d] = root
        if self.intercept:
            back[d, :d], back[d, d] = -self.x_mean @ root, self.weight**-0.5
        return back


@dataclass(frozen=True, repr=False)
class LinearSummary(CoefficientTable):
    """Summary of a least-squares fit: standard errors, tests and quality; prints as a table.

    Formula: se(β̂ⱼ) = σ̂ √((XᵀX)⁻¹)ⱼⱼ, t = β̂ⱼ/se, confidence interval β̂ⱼ ± t_{n−p}·se. Cost:
    O(d³).

    Attributes
    ----------
    coefficients : tuple of Coefficient
        One entry per coefficient, intercept first: name, estimate, standard error, t statistic (t),
        p-value (p) and confidence interval (low, high).
    level : float
        Confidence level of the intervals.
    n : float
        Number of rows, or the sum of the row weights.
    degrees_of_freedom : float
        Residual degrees of freedom, n − p for p parameters.
    sigma, sigma_mle : float
        Unbiased and maximum-likelihood estimates of the standard deviation of the noise.
    r2, adjusted_r2 : float
        Share of the variance of y that is explained (R²), and the same adjusted for the number of
        columns. NaN if y is constant.
    f, f_p : float
        Statistic and p-value of the F test that all slopes are zero. F is infinite if the fit is
        exact, and NaN if y is constant.
    f_degrees : tuple of int and float
        Degrees of freedom of the F test.
    log_likelihood : float
        Log-likelihood −(n/2)log 2π − n log σ̂ − n/2 at the maximum-likelihood σ̂, plus ½Σ log wᵢ
        if the weights are precisions.
    aic, bic : float
        Akaike and Bayesian information criteria; smaller is better.
    condition : float
        Condition number of X after scaling its columns (κ).
    solver : str
        Name of the solver that was used.
    weights : str
        How row weights were interpreted: "none", "frequency" or "precision".
    covariance : array of shape (p, p)
        Covariance of the estimates, in the order of ``coefficients``.
    covariance_kind : str
        Estimator of the covariance: "model", or the robust one that was used ("HC0" to "HC3").
    output, n_outputs : int
        Number of the target that is summarised, and how many targets the model has.

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
    covariance: Array = field(compare=False)
    covariance_kind: str = "model"
    output: int = 0
    n_outputs: int = 1

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
            lines.append(f"sample weights interpreted as {self.weights} weights")
        if self.sigma == 0:
            lines.append(CONSTANT if np.isnan(self.r2) else EXACT)
        if self.covariance_kind != "model":
            kind = self.covariance_kind
            lines.append(f"robust standard errors ({kind}), also used for F (Wald test)")
        if self.n_outputs > 1:
            place = f"target {self.output} of {self.n_outputs} (counted from 0)"
            lines.append(f"{place}; output= selects another")
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
    """The summary of one target; `robust`, if given, is the covariance of β and b."""
    from scipy import stats

    check_inference(evidence, level, weights)
    n = evidence.weight if weights == "frequency" else float(evidence.n_rows)
    df, rss = evidence.degrees(weights), np.float64(evidence.residual[output])
    total = np.float64(evidence.total[output])
    sigma2 = rss / df
    estimates = slope = np.asarray(coef, dtype=float)
    matrix = evidence.covariance(sigma2) if robust is None else robust
    if evidence.intercept:
        names, estimates = ["(intercept)", *names], np.r_[float(intercept), estimates]
        matrix = np.roll(matrix, (1, 1), axis=(0, 1))
    errors = np.sqrt(np.diagonal(matrix))
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
        if weights == "precision":  # the variance of row i is σ²/wᵢ
            log_likelihood += evidence.log_weights / 2
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
        covariance=matrix,
        covariance_kind=covariance,
        output=output,
        n_outputs=len(evidence.residual),
    )


def interval(
    evidence: Evidence, leverage: Array, predicted: Array, *, level: float, kind: str, weights: str
) -> tuple[Array, Array]:
    """Bounds around predictions: for the mean ("confidence") or a new y ("prediction")."""
    from scipy import stats

    if kind not in ("confidence", "prediction"):
        raise ParameterError(
            f"kind={kind!r} must be 'confidence' (for the mean) or 'prediction' (for a new y)."
        )
    check_inference(evidence, level, weights)
    df = evidence.degrees(weights)
    variance = leverage + (1.0 if kind == "prediction" else 0.0)
    sigma = np.sqrt(evidence.residual / df)
    half = stats.t.ppf(0.5 + level / 2, df) * np.sqrt(variance)[:, None] * sigma
    half = half if predicted.ndim == 2 else half[:, 0]
    return predicted - half, predicted + half


def check_inference(evidence: Evidence, level: float, weights: str) -> None:
    """Raise an error for an invalid level or weights, or a fit without standard errors."""
    require_level(level)
    if weights not in ("frequency", "precision"):
        raise ParameterError(
            f"weights={weights!r} must be 'frequency' (a row of weight 2 counts as two rows) or "
            "'precision' (a row of weight 2 has half the noise variance)."
        )
    if evidence.rank < len(evidence.factor):
        raise CapabilityError(
            f"Standard errors do not exist: X has {len(evidence.factor)} columns but rank "
            f"{evidence.rank}, so single coefficients are not determined. Drop constant or "
            "linearly dependent columns and fit again."
        )
    if not evidence.degrees(weights) > 0:
        rows = evidence.weight if weights == "frequency" else evidence.n_rows
        remedy = "Add rows or drop columns."
        if weights == "frequency" and evidence.n_rows > evidence.n_parameters:
            remedy = (
                "The weights are counted as numbers of rows; if they are precisions of the "
                f'{evidence.n_rows} rows, pass weights="precision".'
            )
        raise CapabilityError(
            f"Standard errors need more rows than parameters: n = {rows:g}, "
            f"p = {evidence.n_parameters}. {remedy}"
        )
