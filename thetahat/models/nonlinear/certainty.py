"""Standard errors of non-linear least squares from the tangent at θ̂ (the delta method).

Near θ̂ the curve is f(x; θ̂) + gᵀ(θ − θ̂) with g = ∂f/∂θ, a linear model with the columns of J.
Therefore Cov θ̂ ≈ σ²(JᵀWJ)⁻¹ and Var f(x; θ̂) ≈ σ²gᵀ(JᵀWJ)⁻¹g, and Student's t with n − p degrees
of freedom gives intervals. With noise N(0, σ²) the likelihood is maximal at the least-squares θ̂
and σ̂² = (1/n) Σ wᵢ(yᵢ − f(xᵢ; θ̂))²; dividing by n − p instead removes the bias to first order.

For another loss ρ the tangent gives the sandwich H⁻¹MH⁻¹·n/(n − p), H = Σ wρ″ggᵀ, M = Σ wψ²ggᵀ if
weights count rows, M = Σ w²ψ²ggᵀ if they are precisions, and σ̂ = 1.4826·median |r|·√(n/(n − p)),
because residuals of n rows after a fit of p parameters have the variance σ²(n − p)/n on average.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from thetahat.estimator.coefficient_table import Coefficient, CoefficientTable
from thetahat.foundation.arguments import require_level
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.residuals.gauss_newton import half_square
from thetahat.mathematics.optimizers.residuals.linearised import Linearised, column_norms
from thetahat.objective.curves.curve_fit import CurveFit

BEYOND = 1e140
"""Larger standard errors, in units of σ, count as infinite, because their squares overflow."""
TO_NORMAL = 1.482602218505602
"""1/Φ⁻¹(3/4): σ is this multiple of the median of |r| if r ~ N(0, σ²)."""
NEGLIGIBLE = 1e-7
"""Smaller fractions of a gradient along undetermined directions count as rounding errors."""


@dataclass(frozen=True)
class CurveEvidence:
    """Quantities of a fit from which standard errors and intervals are computed."""

    root: Array
    """A matrix with σ²·root·rootᵀ = Cov θ̂; rows of parameters at a bound are zero."""
    undetermined: Array
    """Directions of θ that change no prediction, in the units of `scale`."""
    scale: Array
    free: Array
    """Mask of the parameters that are not at a bound."""
    squares: float
    """Σ w r²."""
    weight: float
    n_rows: int
    condition: float
    robust_sigma: float | None
    """Robust estimate of the noise level, for losses other than the squared one."""
    weighted: bool
    log_weights: float = 0.0
    """Σ log w."""
    precise_root: Array | None = None
    """For other losses, the root for weights that are precisions; else None."""
    precise_sigma: float | None = None
    """The robust estimate of the noise of a row of weight 1, for such weights."""

    @classmethod
    def of(cls, fit: CurveFit, theta: Array, free: Array, *, weighted: bool) -> CurveEvidence:
        residuals = fit.predicted(theta) - fit.y
        gradients = fit.slopes(theta)
        gradients = gradients if free.all() else gradients[:, free]
        weighted_gradients, weighted_residuals = fit.weighted(gradients), fit.weighted(residuals)
        scale = _column_sizes(weighted_gradients)
        tangent = Linearised.of(weighted_gradients, weighted_residuals, scale)
        kept = tangent.kept
        about = cls(
            root=_widened(tangent.basis[kept].T / tangent.values[kept], scale, free),
            undetermined=_widened(tangent.basis[~kept].T, np.ones(len(scale)), free),
            scale=_scattered(scale, free),
            free=free,
            squares=2 * half_square(weighted_residuals),
            weight=float(fit.weight.sum()),
            n_rows=len(fit.y),
            condition=float(tangent.values[0] / tangent.values[-1])
            if kept.all() and len(kept)
            else np.inf,
            robust_sigma=None,
            weighted=weighted,
            log_weights=float(np.log(fit.weight).sum()) if weighted else 0.0,
        )
        return about if fit.loss.quadratic else about._sandwiched(fit, theta, gradients)

    def _sandwiched(self, fit: CurveFit, theta: Array, gradients: Array) -> CurveEvidence:
        predicted, weight = fit.curve(fit.X, theta), fit.weight
        pull, curvature = fit.loss.gradient(fit.y, predicted), fit.loss.curvature(fit.y, predicted)
        unit, size = gradients / self.scale[self.free], np.abs(predicted - fit.y)
        with one_blas_thread():
            bread = unit.T @ ((weight * curvature)[:, None] * unit)

        def rooted(slope: Array, size: Array, count: Array, weights: str) -> tuple[Array, float]:
            """The root for Σ slope²ggᵀ, and σ̂, with n/(n − p) rows."""
            ratio = np.sqrt(self._n(weights) / max(self.degrees(weights), 1e-300))
            sigma = TO_NORMAL * _weighted_median(size, count) * ratio
            with one_blas_thread():
                spread = np.linalg.lstsq(bread, (slope[:, None] * unit).T, rcond=None)[0]
                left, values, _ = np.linalg.svd(spread, full_matrices=False)
            root = left * (values * ratio / sigma if sigma > 0 else 0 * values)
            return _widened(root, self.scale[self.free], self.free), sigma

        root, sigma = rooted(np.sqrt(weight) * pull, size, weight, "frequency")
        about = replace(self, root=root, robust_sigma=sigma)
        if not self.weighted:
            return about
        ones = np.ones(len(weight))
        root, sigma = rooted(weight * pull, np.sqrt(weight) * size, ones, "precision")
        return replace(about, precise_root=root, precise_sigma=sigma)

    def _root(self, weights: str) -> Array:
        """The root for this meaning of the weights."""
        precise = weights == "precision" and self.precise_root is not None
        return self.precise_root if precise else self.root  # type: ignore[return-value]

    @property
    def lost(self) -> Array:
        """Mask of the parameters that the rows do not determine."""
        far = column_norms(self.root.T) > BEYOND
        if not self.undetermined.size:
            return far
        return far | (np.linalg.norm(self.undetermined, axis=1) > NEGLIGIBLE)

    @property
    def rank(self) -> int:
        """Rank of J in the free parameters."""
        return int(self.free.sum()) - self.undetermined.shape[1]

    def degrees(self, weights: str) -> float:
        """n − p; `weights` decides how weighted rows are counted."""
        return self._n(weights) - int(self.free.sum())

    def sigma(self, weights: str = "frequency") -> float:
        """Standard deviation of the noise, without bias; NaN without degrees of freedom."""
        degrees = self.degrees(weights)
        if self.robust_sigma is not None:
            precise = weights == "precision" and self.precise_sigma is not None
            robust = self.precise_sigma if precise else self.robust_sigma
            return float(robust) if degrees > 0 else np.nan  # type: ignore[arg-type]
        return float(np.sqrt(self.squares / degrees)) if degrees > 0 else np.nan

    def sigma_mle(self, weights: str = "frequency") -> float:
        """Maximum-likelihood estimate of the noise: √(Σ w r²/n)."""
        return float(np.sqrt(self.squares / self._n(weights)))

    def _n(self, weights: str) -> float:
        if weights not in ("frequency", "precision"):
            raise ParameterError(
                f"weights={weights!r} must be 'frequency' (a row of weight 2 is two rows) or "
                "'precision' (a row of weight 2 was measured with half the variance)."
            )
        return self.weight if weights == "frequency" else float(self.n_rows)

    def covariance(self, weights: str = "frequency") -> Array:
        """Cov θ̂; infinite for parameters that the rows do not determine, NaN at a bound."""
        lost, root = self.lost, self._root(weights)
        known = np.where(lost[:, None], 0.0, root) if lost.any() else root
        covariance = self.sigma(weights) ** 2 * (known @ known.T)
        unknown = lost | ~self.free
        if unknown.any():
            covariance[unknown] = np.nan
            covariance[:, unknown] = np.nan
            covariance[lost, lost] = np.inf
        return covariance

    def deviation(self, gradients: Array, *, noise: bool, weights: str) -> Array:
        """Standard deviation of f(x; θ̂), or of a new y if `noise` is True."""
        with np.errstate(over="ignore", invalid="ignore"):
            variance = np.sum((gradients @ self._root(weights)) ** 2, axis=1) + (
                1.0 if noise else 0.0
            )
        variance[np.isnan(variance)] = np.inf
        scaled = gradients / self.scale
        lost = np.linalg.norm(scaled @ self.undetermined, axis=1)
        variance[lost > NEGLIGIBLE * np.linalg.norm(scaled, axis=1)] = np.inf
        return self.sigma(weights) * np.sqrt(variance)

    def quantile(self, level: float, weights: str) -> float:
        """Quantile of Student's t for a two-sided interval; an error if it does not exist."""
        from scipy import stats

        require_level(level)
        degrees = self.degrees(weights)
        if not degrees > 0:
            raise CapabilityError(
                f"Standard errors need more rows than parameters: n = {self._n(weights):g}, "
                f"p = {int(self.free.sum())}. Add rows, or use a model with fewer parameters."
            )
        return float(stats.t.ppf(0.5 + level / 2, degrees))


def _column_sizes(matrix: Array) -> Array:
    sizes = column_norms(matrix)
    return np.where(sizes > 0, sizes, 1.0)


def _widened(rows: Array, scale: Array, free: Array) -> Array:
    """Rows of the free parameters, with zero rows for the others."""
    whole = np.zeros((len(free), rows.shape[1]))
    with np.errstate(over="ignore"):
        whole[free] = rows / scale[:, None]
    return whole


def _scattered(scale: Array, free: Array) -> Array:
    whole = np.ones(len(free))
    whole[free] = scale
    return whole


def _weighted_median(values: Array, weight: Array) -> float:
    """The value with half of the weight on each side, or the mean of two such values."""
    order = np.argsort(values, kind="stable")
    share = np.cumsum(weight[order])
    half = share[-1] / 2
    low, high = (
        np.searchsorted(share, half * (1 - 1e-12)),
        np.searchsorted(share, half * (1 + 1e-12)),
    )
    ordered = values[order]
    return float((ordered[low] + ordered[min(high, len(ordered) - 1)]) / 2)


@dataclass(frozen=True, repr=False)
class NonlinearSummary(CoefficientTable):
    """Summary of a non-linear regression with standard errors; prints as a table.

    Formula: Cov θ̂ ≈ σ̂²(JᵀJ)⁻¹ with J = ∂f/∂θ at θ̂, intervals θ̂ⱼ ± t_{n−p}·se, and σ̂² = Σr²/(n
    − p), or Σr²/n by maximum likelihood. Cost: O(p³).

    Attributes
    ----------
    coefficients : tuple of Coefficient
        Estimate, standard error, t and p value of θⱼ = 0, and interval of each parameter.
    n : float
        Number of rows, counted by weight.
    degrees_of_freedom : float
        Number of rows minus number of parameters (n − p).
    sigma : float
        Unbiased estimate of the standard deviation of the noise.
    sigma_mle : float
        Maximum-likelihood estimate of the standard deviation of the noise.
    residual_squares : float
        Weighted sum of squared residuals, Σ w (y − f)².
    log_likelihood, aic, bic : float
        Maximum log-likelihood, −(n/2)(log 2πσ̂² + 1), plus ½Σ log wᵢ if the weights are precisions,
        and the information criteria computed from it. NaN for losses other than the squared one,
        because a robust loss does not say how the noise is distributed.
    condition : float
        Condition number (κ) of the Jacobian J with scaled columns.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.load_nonlinear("Misra1a")
    >>> curve = th.NonlinearRegression(data.model, start=data.starts[0]).fit(data.X, data.y)
    >>> round(curve.summary().sigma, 6)
    0.101879
    """

    coefficients: tuple[Coefficient, ...]
    level: float
    n: float
    degrees_of_freedom: float
    sigma: float
    sigma_mle: float
    residual_squares: float
    log_likelihood: float
    aic: float
    bic: float
    condition: float
    solver: str
    weights: str
    at_bound: tuple[str, ...]

    def _footer(self) -> list[str]:
        has_likelihood = not np.isnan(self.log_likelihood)
        mle = f" (maximum likelihood {self.sigma_mle:.5g})" if has_likelihood else ""
        lines = [
            f"n = {self.n:g}, {self.degrees_of_freedom:g} degrees of freedom, "
            f"σ̂ = {self.sigma:.5g}{mle}",
            f"Σr² = {self.residual_squares:.6g}, κ = {self.condition:.3g} ({self.solver})",
        ]
        if has_likelihood:
            lines.append(
                f"log-likelihood {self.log_likelihood:.4f}, AIC {self.aic:.2f}, BIC {self.bic:.2f}"
            )
        if self.weights != "none":
            lines.append(f"sample weights interpreted as {self.weights} weights")
        lost = [c.name for c in self.coefficients if np.isinf(c.standard_error)]
        if lost:
            lines.append(f"not determined by these rows: {', '.join(lost)}")
        if self.at_bound:
            lines.append(f"at a bound, and treated as known: {', '.join(self.at_bound)}")
        return lines


def summarise_curve(
    evidence: CurveEvidence,
    theta: Array,
    names: list[str],
    *,
    level: float,
    weights: str,
    solver: str,
) -> NonlinearSummary:
    """The summary of a fitted curve."""
    from scipy import stats

    quantile, degrees = evidence.quantile(level, weights), evidence.degrees(weights)
    n, sigma_mle = evidence._n(weights), evidence.sigma_mle(weights)
    errors = np.sqrt(np.diagonal(evidence.covariance(weights)))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = theta / errors
        log_likelihood = -n / 2 * (np.log(2 * np.pi * sigma_mle**2) + 1.0)
        if evidence.robust_sigma is not None:
            log_likelihood = np.nan
        if weights == "precision":  # the variance of row i is σ²/wᵢ
            log_likelihood += evidence.log_weights / 2
        half = quantile * errors
        rows = zip(
            names,
            theta,
            errors,
            t,
            2 * stats.t.sf(np.abs(t), degrees),
            theta - half,
            theta + half,
            strict=True,
        )
    p = int(evidence.free.sum())
    return NonlinearSummary(
        coefficients=tuple(Coefficient(name, *map(float, row)) for name, *row in rows),
        level=level,
        n=n,
        degrees_of_freedom=degrees,
        sigma=evidence.sigma(weights),
        sigma_mle=sigma_mle,
        residual_squares=evidence.squares,
        log_likelihood=float(log_likelihood),
        aic=float(2 * p - 2 * log_likelihood),
        bic=float(np.log(n) * p - 2 * log_likelihood),
        condition=evidence.condition,
        solver=solver,
        weights=weights if evidence.weighted else "none",
        at_bound=tuple(name for name, free in zip(names, evidence.free, strict=True) if not free),
    )
