"""Credible intervals, summaries and draws for estimators with a normal posterior."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.data.source import Source
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.models.linear.bayesian.posterior import (
    LinearPosterior,
    PosteriorSummary,
    normal_quantile,
    spread_of,
    summarise_posterior,
)


class Credible:
    """A fitted linear model that keeps the posterior of its coefficients."""

    _posterior: LinearPosterior
    log_evidence_: float
    n_features_in_: int
    _raw: Callable[[Any], Array]
    _open_again: Callable[[Any], Source]

    @abstractmethod
    def _noise_variance(self, n_rows: int, noise: Any) -> Any:
        """The variance of the noise in a new y: a number, or one per row."""

    def summary(self, *, level: float = 0.95) -> PosteriorSummary:
        """Posterior mean, standard deviation and credible interval of each coefficient.

        Cost: O(d²).

        Parameters
        ----------
        level : float, default=0.95
            Probability of the credible intervals.

        Returns
        -------
        PosteriorSummary
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        noise = self._noise_variance(0, None) if self._has_one_noise else np.nan
        return summarise_posterior(
            self._posterior,
            [f"x{j}" for j in range(self.n_features_in_)] if names is None else list(names),
            level=level,
            log_evidence=self.log_evidence_,
            noise=float(np.sqrt(noise)),
        )

    @property
    def _has_one_noise(self) -> bool:
        return True

    def predict_interval(
        self, X: Any, *, level: float = 0.95, kind: str = "prediction", noise: Any = None
    ) -> tuple[Array, Array]:
        """Bounds that hold a new y, or its mean, with probability `level`. Cost: O(n d²).

        Formula: xᵀm + b ± q·√(xᵀVx [+ σ² for a new y]), V the posterior covariance.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows.
        level : float, default=0.95
            The probability.
        kind : {"prediction", "credible"}
            Whether the bounds are for a new y, or for its mean xᵀβ + b.
        noise : float or array of shape (n,), optional
            Standard deviation of the noise of the new y; by default that of the fit.

        Returns
        -------
        low, high : arrays of shape (n,)
        """
        if kind not in ("credible", "prediction"):
            raise ParameterError(
                f"kind={kind!r} must be 'credible' (of the mean) or 'prediction' (of a new y)."
            )
        quantile, mean = normal_quantile(level), self._raw(X)
        variance = spread_of(self._posterior, self._open_again(X))
        if kind == "prediction":
            variance = variance + self._noise_variance(len(mean), noise)
        half = quantile * np.sqrt(variance)
        return mean - half, mean + half

    def sample_posterior(self, size: int = 1, *, random_state: Any = None) -> tuple[Array, Array]:
        """Draw coefficients and intercepts from the posterior. Cost: O(d³ + size·d²).

        Parameters
        ----------
        size : int, default=1
            How many draws.
        random_state : int, Generator or None
            The source of randomness.

        Returns
        -------
        coef, intercept : arrays of shape (size, d) and (size,)
        """
        check_is_fitted(self)
        draws = self._posterior.sample(size, generator(random_state))
        if not self._posterior.intercept:
            return draws, np.zeros(size)
        return draws[:, :-1], draws[:, -1]
