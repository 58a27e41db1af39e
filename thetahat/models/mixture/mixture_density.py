"""The density of a Gaussian mixture: responsibilities, samples and information criteria."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.data.row_subset import target_arrays
from thetahat.data.source import Source
from thetahat.data.summaries.frame import dense_rows
from thetahat.data.validation import as_weight, require_source_alone
from thetahat.estimator.density import DensityModel
from thetahat.estimator.parameters import whole
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.randomness import RandomState, generator
from thetahat.foundation.types import Array
from thetahat.models.mixture.components import (
    Components,
    count_parameters,
    precisions_of,
    row_terms,
    terms_of,
)


class MixtureDensity(DensityModel):
    """Predictions of a fitted Gaussian mixture; a subclass defines `fit`."""

    covariance_type: str
    random_state: Any
    weights_: Array
    means_: Array
    covariances_: Array
    precisions_cholesky_: Array

    def _components(self) -> Components:
        """The fitted components, in float64."""
        arrays = (self.weights_, self.means_, self.covariances_, self.precisions_cholesky_)
        in_double = (np.asarray(each, dtype=np.float64) for each in arrays)
        return Components(self.covariance_type, *in_double)

    def _attributes(self, found: Components, dtype: Any) -> dict[str, Any]:
        """The fitted attributes of the components."""
        attributes = {
            "weights_": found.weights,
            "means_": found.means,
            "covariances_": found.covariances,
            "precisions_cholesky_": found.root,
            "precisions_": precisions_of(found.kind, found.root),
        }
        with np.errstate(over="ignore"):
            attributes = {name: each.astype(dtype) for name, each in attributes.items()}
        for name, each in attributes.items():
            if not np.isfinite(each).all():
                raise DataError(
                    f"{type(self).__name__}: {name} exceeds the range of {np.dtype(dtype)}. "
                    "Rescale the columns, or convert X to float64."
                )
        return attributes

    def _terms(self) -> tuple[Array, Array, Array]:
        return terms_of(self.covariance_type, self.weights_, self.means_, self.precisions_cholesky_)

    def _gaussian_components(self) -> tuple[Array, Array, Array]:
        """The components of p(x), for classifiers that score several densities at once."""
        return self._terms()

    def _membership_terms(self) -> tuple[Array, Array, Array]:
        """The terms that decide to which component a row belongs."""
        return self._terms()

    def _rows(
        self, X: Any, terms_of_model: Callable[[], Any], *, posterior: bool
    ) -> tuple[Array, Array]:
        """log p(x) of every row, and its γ or log joint densities of all components."""
        if self._is_small_and_sound(X):
            return row_terms(X, terms_of_model(), posterior=posterior)
        check_is_fitted(self)
        source, terms = self._open_again(X), terms_of_model()
        joined = source.map_rows(
            lambda block: np.column_stack(row_terms(dense_rows(block), terms, posterior=posterior))
        )
        return joined[:, 0], joined[:, 1:]

    def log_density(self, X: Any) -> Array:
        """Compute log p(x) = log Σ_k π_k N(x | μ_k, Σ_k) for every row. Cost: O(n k d²).

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            Rows to evaluate, with the same columns as in `fit`.

        Returns
        -------
        log_density : array of shape (n,)
            Natural logarithm of p(x) for every row.
        """
        logs, _ = self._rows(X, self._terms, posterior=True)
        return logs.astype(self.means_.dtype, copy=False)

    def predict_proba(self, X: Any) -> Array:
        """Compute the probability of every component given a row. Cost: O(n k d²).

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            Rows to evaluate, with the same columns as in `fit`.

        Returns
        -------
        probabilities : array of shape (n, k)
            The responsibilities γ of the components; every row sums to 1.
        """
        logs, shares = self._rows(X, self._membership_terms, posterior=True)
        self._require_reached(logs)
        return np.ascontiguousarray(shares, dtype=self.means_.dtype)

    def predict(self, X: Any) -> Array:
        """Return the number of the most probable component of every row. Cost: O(n k d²).

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            Rows to assign, with the same columns as in `fit`.

        Returns
        -------
        labels : array of int of shape (n,)
            Numbers of the components, from 0 to k − 1.
        """
        logs, joint = self._rows(X, self._membership_terms, posterior=False)
        self._require_reached(logs)
        return joint.argmax(axis=1)

    def _require_reached(self, logs: Array) -> None:
        """Raise an error for rows whose densities are 0, so that no component can be named."""
        if not np.isfinite(logs).all():
            row = int(np.argmin(np.isfinite(logs)))
            raise DataError(
                f"{type(self).__name__}: row {row} is so far from all components that its squared "
                "distances overflow, so that its component is not known. Rescale the columns, or "
                "leave out the row."
            )

    def lower_bound(self, X: Any, responsibilities: Any, sample_weight: Any = None) -> float:
        """Compute the lower bound of the mean log-likelihood at given responsibilities ρ.

        Formula: Σᵢ wᵢ Σ_k ρ_ik (log π_k N(xᵢ | μ_k, Σ_k) − log ρ_ik) / Σᵢ wᵢ, which is at most
        `score` and equal to it at ρ = ``predict_proba(X)``. Cost: O(n k d²).

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to evaluate, with the same columns as in `fit`.
        responsibilities : array-like of shape (n, k)
            Probabilities of the components for every row (ρ); every row sums to 1.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        bound : float
            The lower bound, in nats per row.
        """
        _, joint = self._rows(X, self._terms, posterior=False)
        rho = np.asarray(responsibilities, dtype=np.float64)
        sums_to_one = rho.shape == joint.shape and bool(
            (rho >= 0).all() and (abs(rho.sum(axis=1) - 1.0) <= 1e-6).all()
        )
        if not sums_to_one:
            raise DataError(
                "GaussianMixture.lower_bound: responsibilities must have the shape "
                f"{joint.shape}, with numbers ≥ 0 that sum to 1 in every row. Use predict_proba."
            )
        some = rho > 0
        logs = np.log(rho, where=some, out=np.zeros_like(rho))
        each = np.where(some, rho * (np.where(some, joint, 0.0) - logs), 0.0).sum(axis=1)
        if sample_weight is None:
            return float(each.mean())
        weight = as_weight(sample_weight, len(each), type(self).__name__)
        return float(np.average(each, weights=weight))

    def sample(self, n_samples: int = 1, random_state: RandomState = None) -> Any:
        """Draw rows and their components from the mixture. Cost: O(n d²).

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows to draw; at least 1.
        random_state : int, Generator or None, default=None
            Seed of the draws. None uses the `random_state` of the mixture.

        Returns
        -------
        X : array of shape (n_samples, d)
            The drawn rows, in the order of their components.
        labels : array of int of shape (n_samples,)
            The component of every row.
        """
        check_is_fitted(self)
        if not whole(1).holds(n_samples):
            raise ParameterError(
                f"Invalid value for 'n_samples': {n_samples!r}. GaussianMixture.sample needs "
                f"{whole(1).words}."
            )
        rng = generator(self.random_state if random_state is None else random_state)
        now = self._components()
        d = now.means.shape[1]
        counts = rng.multinomial(n_samples, now.weights / now.weights.sum())
        labels = np.repeat(np.arange(len(counts)), counts)
        rows = rng.standard_normal((n_samples, d))
        ends = np.cumsum(counts)
        for k, (start, end) in enumerate(zip(ends - counts, ends, strict=True)):
            part = rows[start:end]
            if now.kind in ("diag", "spherical"):
                rows[start:end] = part / now.root[k]
            else:
                root = now.root if now.kind == "tied" else now.root[k]
                rows[start:end] = np.linalg.solve(root.T, part.T).T
            rows[start:end] += now.means[k]
        return rows.astype(self.means_.dtype, copy=False), labels

    def _n_parameters(self) -> int:
        k, d = self.means_.shape
        return count_parameters(self.covariance_type, k, d)

    def bic(self, X: Any, sample_weight: Any = None) -> float:
        """Compute the Bayesian information criterion of rows; smaller is better.

        Formula: −2 log L + p log n, with p the number of free parameters and n the sum of the
        weights. Cost: O(n k d²).

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            Rows to evaluate, usually the training rows.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        bic : float
            The criterion. The number of components with the smallest value is preferred.
        """
        value, n = self._log_likelihood(X, sample_weight)
        return -2.0 * value + self._n_parameters() * float(np.log(n))

    def aic(self, X: Any, sample_weight: Any = None) -> float:
        """Compute Akaike's information criterion of rows; smaller is better.

        Formula: −2 log L + 2p, with p the number of free parameters. Cost: O(n k d²).

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            Rows to evaluate, usually the training rows.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        aic : float
            The criterion. It prefers more components than `bic`.
        """
        value, _ = self._log_likelihood(X, sample_weight)
        return -2.0 * value + 2.0 * self._n_parameters()

    def _log_likelihood(self, X: Any, sample_weight: Any) -> tuple[float, float]:
        """Σ w log p(x) and n = Σ w."""
        logs = np.asarray(self.log_density(X), dtype=np.float64)
        if isinstance(X, Source):
            require_source_alone(None, sample_weight, type(self).__name__)
            sample_weight = target_arrays(X)[1]
        if sample_weight is None:
            return float(logs.sum()), float(len(logs))
        weight = as_weight(sample_weight, len(logs), type(self).__name__)
        return float(weight @ logs), float(weight.sum())
