"""Models of p(x): how likely a row is, new rows like the old ones, and how new a row is.

log p(x),   x ~ p,   score = Σ wᵢ log p(xᵢ) / Σ wᵢ,   novelty(x) = −log p(x)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.base import DensityMixin

from thetahat.data.validation import as_weight
from thetahat.estimator.base import Estimator
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.randomness import RandomState
from thetahat.foundation.types import Array


class DensityModel(DensityMixin, Estimator, ABC):
    """What every model of a density answers; a subclass fits, gives log p(x), and samples.

    The names of scikit-learn's density models work as well: ``score_samples`` is ``log_density``.
    ``score`` is the mean, as that of GaussianMixture (KernelDensity's is the sum), so that it can
    be compared between sets of rows.
    """

    _streams = False

    @abstractmethod
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Learn p from rows; y is ignored."""

    @abstractmethod
    def log_density(self, X: Any) -> Array:
        """The natural logarithm of p(x) for every row; −inf where p is 0."""

    @abstractmethod
    def sample(self, n_samples: int = 1, random_state: RandomState = None) -> Array:
        """Draw independent rows from p."""

    def score_samples(self, X: Any) -> Array:
        """The same as `log_density`, under scikit-learn's name.

        Parameters
        ----------
        X : array of shape (n, d)
            The rows.

        Returns
        -------
        ndarray of shape (n,)
            log p(x).
        """
        return self.log_density(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The mean log-likelihood of a row: Σ wᵢ log p(xᵢ) / Σ wᵢ.

        Parameters
        ----------
        X : array of shape (n, d)
            The rows.
        y : ignored
        sample_weight : array of shape (n,), optional
            How often each row counts.

        Returns
        -------
        float
            −inf if any row that counts has density 0.
        """
        logs = np.asarray(self.log_density(X), dtype=np.float64)
        if sample_weight is None:
            return float(logs.mean())
        weight = as_weight(sample_weight, logs.shape[0], type(self).__name__)
        counted = weight > 0
        return float(np.average(logs[counted], weights=weight[counted]))

    def novelty(self, X: Any) -> Array:
        """How surprising each row is: −log p(x), in nats; +inf where p is 0.

        Parameters
        ----------
        X : array of shape (n, d)
            The rows.

        Returns
        -------
        ndarray of shape (n,)
        """
        return -self.log_density(X)

    def novelty_threshold(self, X: Any, share: float = 0.01, sample_weight: Any = None) -> float:
        """The novelty that only `share` of these rows exceed: ``novelty(x) > threshold`` is new.

        Rows that were not used by `fit` give an honest threshold; on the rows of `fit` a flexible
        model is too sure of itself, and the threshold comes out low.

        Parameters
        ----------
        X : array of shape (n, d)
            Rows of the usual kind.
        share : float in [0, 1)
            How many of them, at most, may count as new.
        sample_weight : array of shape (n,), optional
            How often each row counts.

        Returns
        -------
        float
            The smallest novelty t among the rows with Σ wᵢ 1[novelty(xᵢ) > t] ≤ share·Σ wᵢ.
        """
        if not 0.0 <= share < 1.0:
            raise ParameterError(
                f"{type(self).__name__}.novelty_threshold(share={share!r}): a share of the rows "
                "lies in [0, 1)."
            )
        novelty = np.asarray(self.novelty(X), dtype=np.float64)
        n = novelty.shape[0]
        weight = np.ones(n) if sample_weight is None else as_weight(sample_weight, n, "novelty")
        order = np.argsort(novelty, kind="stable")
        beyond = weight.sum() - np.cumsum(weight[order])
        # Rounding of the sums must not cost a row.
        enough = beyond <= share * weight.sum() * (1.0 + 1e-12)
        return float(novelty[order[np.argmax(enough)]])
