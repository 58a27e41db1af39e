"""Principal components as a Gaussian model of the rows: x = μ + Az + ε.

z ~ N(0, I), ε ~ N(0, σ²I), so that x ~ N(μ, C) with C = Σ_k (λ_k − σ²)v_k v_kᵀ + σ²I. With all
components C is the covariance itself, VᵀΛV.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.data.source import Block
from thetahat.data.summaries.frame import dense_rows
from thetahat.estimator.density import Likelihood, Novelty, require_sample_count
from thetahat.foundation.errors import DataError
from thetahat.foundation.randomness import RandomState, generator
from thetahat.foundation.types import Array
from thetahat.models.decomposition.principal.projection import Projection


class GaussianSubspace(Likelihood, Novelty, Projection):
    """The density, samples and covariance of a Gaussian with equal noise outside a subspace."""

    explained_variance_: Array
    noise_variance_: float
    mean_: Array

    def get_covariance(self) -> Array:
        """Compute the covariance of the model, C = Vᵀ(Λ − σ²I)V + σ²I. Cost: O(d² k).

        Returns
        -------
        covariance : array of shape (d, d)
            Covariance matrix of the rows.
        """
        check_is_fitted(self)
        above = np.maximum(self.explained_variance_ - self.noise_variance_, 0.0)
        found: Array = (self.components_.T * above) @ self.components_
        np.einsum("ii->i", found)[:] += self.noise_variance_
        by = self._column_scale()
        return found if by is None else found * by * by[:, None]

    def get_precision(self) -> Array:
        """Compute the inverse of `get_covariance`. Cost: O(d² k).

        Returns
        -------
        precision : array of shape (d, d)
            Inverse of the covariance matrix of the rows.
        """
        noise, spread = self._require_density()
        complete = len(spread) == self._width()
        inner = 1.0 / spread - (0.0 if complete else 1.0 / noise)
        found: Array = (self.components_.T * inner) @ self.components_
        if not complete:
            np.einsum("ii->i", found)[:] += 1.0 / noise
        by = self._column_scale()
        return found if by is None else found / by / by[:, None]

    def _require_density(self) -> tuple[float, Array]:
        """σ² and the variances along the components, which must be positive."""
        check_is_fitted(self)
        noise = float(self.noise_variance_)
        spread = np.maximum(np.asarray(self.explained_variance_, dtype=np.float64), noise)
        if (spread.size and not spread[-1] > 0) or (noise <= 0 and len(spread) < self._width()):
            raise DataError(
                f"{type(self).__name__}: the rows have no density, because they vary in fewer "
                f"directions than they have columns, {self._width()}, and the noise variance is "
                "0. Use n_components below the rank of the rows, or more rows."
            )
        return noise, spread

    def _width(self) -> int:
        return int(self.components_.shape[1])

    def log_density(self, X: Any) -> Array:
        """Compute log p(x) under the Gaussian model. Cost: O(n d k).

        Formula: −½(log det C + d·log 2π + Σ_k z_k²/λ_k + (‖x − μ‖² − Σ_k z_k²)/σ²), z = V(x − μ).

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Rows to evaluate, with the same columns as in `fit`.

        Returns
        -------
        log_density : array of shape (n,)
            Natural logarithm of p(x) for every row.
        """
        noise, spread = self._require_density()
        d, k = self._width(), len(spread)
        level = d * np.log(2 * np.pi) + np.log(spread).sum()
        if k < d:
            level += (d - k) * np.log(noise)
        by = self._column_scale()
        if by is not None:
            level += 2.0 * np.log(by).sum()

        def of_block(block: Block) -> Array:
            rows = dense_rows(block)
            apart = rows - self.mean_ if by is None else (rows - self.mean_) / by
            along = apart @ self.components_.T
            distance = ((along / np.sqrt(spread)) ** 2).sum(axis=1)
            if k < d:
                rest = apart - along @ self.components_
                distance += ((rest / np.sqrt(noise)) ** 2).sum(axis=1)
            return (-0.5 * (level + distance)).astype(rows.dtype, copy=False)

        return self._open_again(X).map_rows(of_block)

    def sample(self, n_samples: int = 1, random_state: RandomState = None) -> Array:
        """Draw rows from the Gaussian model. Cost: O(n d k).

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows to draw; at least 1.
        random_state : int, Generator or None, default=None
            Seed of the draws. Pass an int for the same rows on every call.

        Returns
        -------
        array of shape (n_samples, d)
            The drawn rows.
        """
        check_is_fitted(self)
        require_sample_count(n_samples, type(self).__name__, self._width())
        rng = generator(random_state)
        noise = float(self.noise_variance_)
        above = np.sqrt(np.maximum(self.explained_variance_ - noise, 0.0))
        rows = (rng.standard_normal((n_samples, len(above))) * above) @ self.components_
        rows += np.sqrt(noise) * rng.standard_normal((n_samples, self._width()))
        by = self._column_scale()
        rows = rows if by is None else rows * by
        return (rows + self.mean_).astype(self.components_.dtype, copy=False)


def scale_of_scores(deviation: Array, xp: Any) -> Array:
    """Standard deviations to divide by, at least the rounding error of the largest of them."""
    largest = float(xp.max(deviation)) if deviation.shape[0] else 0.0
    smallest = float(xp.finfo(deviation.dtype).eps) * (largest or 1.0)
    return xp.clip(deviation, smallest, None)


class GaussianView(GaussianSubspace):
    """Principal components as orthogonal projections, with the density of the Gaussian model."""

    whiten: bool

    def _output_scale(self) -> Array | None:
        if not self.whiten:
            return None
        return scale_of_scores(np.sqrt(self.explained_variance_), np)

    def residual_distance(self, X: Any) -> Array:
        """Compute the distance of each row from the subspace of the components. Cost: O(n d k).

        Formula: ‖x − x̂‖ with x̂ = μ + VᵀV(x − μ), so that ‖x − μ‖² = ‖V(x − μ)‖² + distance².

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Rows to compare with their reconstruction.

        Returns
        -------
        distance : array of shape (n,)
            Euclidean distances, between scaled columns if `scale` is True.
        """
        source, by = self._open_again(X), self._column_scale()

        def of_block(block: Block) -> Array:
            rows = dense_rows(block)
            apart = rows - self.mean_
            apart = apart if by is None else apart / by
            rest = apart - (apart @ self.components_.T) @ self.components_
            return np.sqrt((rest**2).sum(axis=1)).astype(rows.dtype, copy=False)

        return source.map_rows(of_block)
