"""How sure least squares is: standard errors, tests and intervals.

Under y = Xβ* + b + ε with independent errors of variance σ²,

    E β̂ = β*,   Cov β̂ = σ²(XᵀX)⁻¹,   σ̂² = ‖y − ŷ‖²/(n − p)  unbiased,  ‖y − ŷ‖²/n  by likelihood,

and with normal errors (β̂ⱼ − β*ⱼ)/se(β̂ⱼ) follows Student's t with n − p degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.objective.least_squares import LeastSquares

Array = Any


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
        return cls(
            factor=fit.factor,
            x_mean=about.x_mean,
            weight=about.weight,
            n_rows=about.n_rows,
            residual=fit.residual,
            total=np.diagonal(about.scatter)[d:] * about.unit[d:] ** 2,
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
        from scipy.linalg import solve_triangular

        return solve_triangular(self.factor, rows.T, trans="T", check_finite=False).T

    def leverage(self, X: Array) -> Array:
        """xᵀ(XᵀX)⁻¹x, plus 1/n for the intercept."""
        centred = X - self.x_mean if self.intercept else X
        spread = np.einsum("ij,ij->i", *(2 * [self.spread(np.asarray(centred, dtype=float))]))
        return spread + (1.0 / self.weight if self.intercept else 0.0)

    def covariance_root(self) -> Array:
        """The inverse triangle: rows r_j with r_jᵀr_j = (XᵀX)⁻¹_jj."""
        from scipy.linalg import solve_triangular

        return solve_triangular(self.factor, np.eye(len(self.factor)), check_finite=False)


@dataclass(frozen=True)
class Coefficient:
    """One line of a summary."""

    name: str
    estimate: float
    standard_error: float
    t: float
    p: float
    low: float
    high: float


@dataclass(frozen=True)
class LinearSummary:
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
        Explained share, and the F test that all slopes are zero.
    log_likelihood, aic, bic : float
        −(n/2)log 2π − n log σ̂ − n/2 at the maximum-likelihood σ̂, and criteria from it.
    condition : float
        κ of the column-scaled X.

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

    def __getitem__(self, name: str) -> Coefficient:
        for coefficient in self.coefficients:
            if coefficient.name == name:
                return coefficient
        raise KeyError(name)

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (
                c.name,
                f"{c.estimate:.6g}",
                f"{c.standard_error:.4g}",
                f"{c.t:.2f}",
                _p_value(c.p),
                f"{c.low:.5g}",
                f"{c.high:.5g}",
            )
            for c in self.coefficients
        ]

    def _header(self) -> tuple[str, ...]:
        percent = f"{100 * self.level:g}%"
        return ("", "estimate", "std. error", "t", "p", f"{percent} from", "to")

    def _footer(self) -> list[str]:
        first, second = self.f_degrees
        lines = [
            f"n = {self.n:g}, {self.degrees_of_freedom:g} degrees of freedom, "
            f"σ̂ = {self.sigma:.5g} (maximum likelihood {self.sigma_mle:.5g})",
            f"R² = {self.r2:.5f} (adjusted {self.adjusted_r2:.5f}), "
            f"F({first}, {second:g}) = {self.f:.4g}, p {_p_sign(self.f_p)}",
            f"log-likelihood {self.log_likelihood:.4f}, AIC {self.aic:.2f}, BIC {self.bic:.2f}, "
            f"κ = {self.condition:.3g} ({self.solver})",
        ]
        if self.weights != "none":
            lines.append(f"sample weights read as {self.weights} weights")
        return lines

    def __str__(self) -> str:
        rows = [self._header(), *self._rows()]
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = [
            "  ".join(
                cell.ljust(width) if i == 0 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        rule = "─" * max(len(line) for line in lines)
        return "\n".join([lines[0], rule, *lines[1:], rule, *self._footer()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(cell)}</th>" for cell in self._header())
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self._rows()
        )
        foot = "<br>".join(escape(line) for line in self._footer())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{foot}</p>"


def _p_sign(p: float) -> str:
    shown = _p_value(p)
    return f"< {shown[1:]}" if shown.startswith("<") else f"= {shown}"


def _p_value(p: float) -> str:
    return "nan" if np.isnan(p) else "<1e-16" if p < 1e-16 else f"{p:.3g}"


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
) -> LinearSummary:
    """The summary of one output of a fit."""
    from scipy import stats

    _check(evidence, level, weights)
    n = evidence.weight if weights == "frequency" else float(evidence.n_rows)
    df, rss = evidence.degrees(weights), float(evidence.residual[output])
    total = float(evidence.total[output])
    sigma2 = rss / df
    root = evidence.covariance_root()
    variances = (root**2).sum(axis=1)
    estimates, errors = np.asarray(coef, dtype=float), np.sqrt(sigma2 * variances)
    if evidence.intercept:
        at_mean = evidence.spread(evidence.x_mean[None, :])
        error = np.sqrt(sigma2 * (1.0 / evidence.weight + float((at_mean**2).sum())))
        names, estimates = ["(intercept)", *names], np.r_[float(intercept), estimates]
        errors = np.r_[error, errors]
    half = stats.t.ppf(0.5 + level / 2, df) * errors
    with np.errstate(divide="ignore", invalid="ignore"):
        t = estimates / errors
        slopes = evidence.n_parameters - evidence.intercept
        f = (total - rss) / slopes / sigma2
        r2 = 1.0 - rss / total
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
    )


def interval(
    evidence: Evidence, leverage: Array, predicted: Array, *, level: float, kind: str, weights: str
) -> tuple[Array, Array]:
    """Bounds around predictions: for the mean ("confidence") or a new y ("prediction")."""
    from scipy import stats

    if kind not in ("confidence", "prediction"):
        raise ParameterError(
            f"kind={kind!r} must be 'confidence' (of the mean) or 'prediction' (of a new y)."
        )
    _check(evidence, level, weights)
    df = evidence.degrees(weights)
    variance = leverage + (1.0 if kind == "prediction" else 0.0)
    sigma = np.sqrt(evidence.residual / df)
    half = stats.t.ppf(0.5 + level / 2, df) * np.sqrt(variance)[:, None] * sigma
    half = half if predicted.ndim == 2 else half[:, 0]
    return predicted - half, predicted + half


def _check(evidence: Evidence, level: float, weights: str) -> None:
    if not 0 < level < 1:
        raise ParameterError(f"level={level!r} must be between 0 and 1, for example 0.95.")
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
