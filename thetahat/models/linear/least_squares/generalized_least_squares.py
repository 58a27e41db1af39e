"""Least squares with known noise: β̂ = argmin (y − Xβ)ᵀ S⁻¹ (y − Xβ), S the noise covariance."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.data.summaries.log_weights import log_weights
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.linear import LinearRegressor
from thetahat.estimator.parameters import boolean, one_of
from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.foundation.threads import scipy_linalg
from thetahat.foundation.types import Array
from thetahat.models.linear.inference.least_squares_evidence import Evidence
from thetahat.models.linear.inference.least_squares_inference import Certain
from thetahat.objective.least_squares.direct import DIRECT, LeastSquares
from thetahat.objective.least_squares.solve import least_squares


@with_parameters
class GeneralizedLeastSquares(Certain, LinearRegressor):
    """Weighted and generalised least squares for errors with known variances or covariance.

    Formula: β̂ = (XᵀS⁻¹X)⁻¹XᵀS⁻¹y, where S is the covariance matrix of the errors. If
    S = diag(σᵢ²), this is least squares with the weights 1/σᵢ². In general it is ordinary least
    squares on L⁻¹X and L⁻¹y, where S = LLᵀ. S needs to be known only up to a constant factor, which
    is estimated.

    Cost: O(n d²), plus O(n³) for a full matrix S.

    Parameters
    ----------
    solver : {"auto", "cholesky", "pseudo_inverse", "qr", "svd", "dual"}, default="auto"
        Solver to use, as in `LinearRegression`. "auto" chooses by the size and the condition number
        of X.

    Attributes
    ----------
    rank_ : int
        Effective rank of X, after centring if an intercept is fitted.
    solution_ : Solution
        Report of the solver: its name and the reason for choosing it, how it stopped, the number of
        iterations and the remaining optimality gap.

    Examples
    --------
    >>> import thetahat as th
    >>> X, y, sigma = [[0.0], [1.0], [2.0]], [0.0, 1.1, 5.0], [0.1, 0.1, 10.0]
    >>> model = th.GeneralizedLeastSquares().fit(X, y, noise=sigma)
    >>> round(float(model.coef_[0]), 2)
    1.1
    """

    _: KW_ONLY
    fit_intercept: bool = True
    solver: str = "auto"

    _ranges = {"fit_intercept": boolean, "solver": one_of("auto", *DIRECT)}  # noqa: RUF012
    _weights_mean = "precision"

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, noise: Any = None
    ) -> GeneralizedLeastSquares:
        """Fit the linear model with known noise.

        Parameters
        ----------
        noise : array of shape (n,) or (n, n), optional
            Standard deviations σᵢ of the errors, one per row, or their covariance matrix S. None
            assumes independent errors of equal variance.
        """
        source = self._open(X, y, sample_weight)
        if noise is None:
            found, evidence = self._solve(source, source.has_weight)
        else:
            found, evidence = self._with_noise(source, np.asarray(noise, dtype=float))
        self._keep(found.solution.theta, source)
        self.solution_, self.rank_, self._evidence = found.solution, found.fit.rank, evidence
        return self

    def _with_noise(self, source: Source, noise: Array) -> tuple[LeastSquares, Evidence | None]:
        if not isinstance(source, InMemory):
            raise CapabilityError(
                "GeneralizedLeastSquares: noise needs the rows in memory, but these are read block "
                "by block. For a file, store 1/σ² in a column and open the file with "
                "th.scan(path, target=..., weight=...)."
            )
        n = source.n_rows
        if noise.shape == (n,):
            if not (np.isfinite(noise).all() and (noise > 0).all()):
                row = int(np.flatnonzero(~(np.isfinite(noise) & (noise > 0)))[0])
                raise DataError(
                    f"GeneralizedLeastSquares: noise[{row}] = {noise[row]:g}; standard deviations "
                    "must be finite and > 0. Drop rows whose noise is unknown."
                )
            weight = 1.0 / noise**2
            if source.weight is not None:
                weight = weight * source.weight
            return self._solve(replace(source, weight=weight, has_weight=True), True)
        if noise.shape == (n, n):
            return self._whitened(source, noise)
        raise DataError(
            f"GeneralizedLeastSquares: noise has shape {noise.shape}; give ({n},) standard "
            f"deviations or the ({n}, {n}) covariance matrix."
        )

    def _solve(self, source: Source, weighted: bool) -> tuple[LeastSquares, Evidence | None]:
        found = least_squares(source, solver=self.solver, intercept=self.fit_intercept)
        return found, Evidence.of(found, weighted=weighted, log_weights=log_weights(source))

    def _whitened(self, source: InMemory, S: Array) -> tuple[LeastSquares, Evidence | None]:
        """Ordinary least squares on L⁻¹(X − x̄), with x̄ the mean in the metric of S⁻¹."""
        if source.weight is not None:
            raise DataError(
                "GeneralizedLeastSquares: sample_weight cannot be combined with a full covariance "
                "matrix as noise. Include the weights in the covariance matrix."
            )
        L = _cholesky(S)
        X = source.dense_X
        assert source.y is not None
        y = source.y if source.n_outputs else source.y[:, None]
        ones, white_X, white_y = (_solve_lower(L, part) for part in (np.ones((len(L), 1)), X, y))
        weight = float((ones**2).sum())
        x_mean, y_mean = (ones.T @ white_X / weight)[0], (ones.T @ white_y / weight)[0]
        if self.fit_intercept:
            white_X, white_y = white_X - ones * x_mean, white_y - ones * y_mean
        white = replace(source, X=white_X, y=white_y, n_outputs=white_y.shape[1], dtype=np.float64)
        found = least_squares(white, solver=self.solver, intercept=False)
        log_det = 2.0 * float(np.log(np.diagonal(L)).sum())
        evidence = Evidence.of(found, weighted=True, log_weights=-log_det)
        if self.fit_intercept:
            coef = found.fit.coef
            theta = np.vstack([coef, y_mean - x_mean @ coef])
            found = replace(found, solution=replace(found.solution, theta=theta))
            if evidence is not None:
                evidence = replace(evidence, x_mean=x_mean, weight=weight, intercept=True)
        return found, evidence


def _cholesky(S: Array) -> Array:
    if not np.allclose(S, S.T, rtol=1e-10, atol=0):
        raise DataError(
            "GeneralizedLeastSquares: the noise covariance is not symmetric. Use (S + S.T) / 2 if "
            "the difference is only rounding."
        )
    try:
        return np.linalg.cholesky(S)
    except np.linalg.LinAlgError:
        smallest = float(np.linalg.eigvalsh(S)[0])
        raise DataError(
            f"GeneralizedLeastSquares: the noise covariance is not positive definite (smallest "
            f"eigenvalue {smallest:.3g}). Add a small multiple of the identity."
        ) from None


def _solve_lower(L: Array, rhs: Array) -> Array:
    solve_triangular = scipy_linalg().solve_triangular

    return solve_triangular(L, np.asarray(rhs, dtype=float), lower=True)
