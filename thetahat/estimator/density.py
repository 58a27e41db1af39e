"""Models of a probability density p(x): log-density, samples and novelty of rows; outliers.

log p(x),   x ~ p,   score = Σ wᵢ log p(xᵢ) / Σ wᵢ,   novelty(x) = −log p(x)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
from sklearn.base import DensityMixin, OutlierMixin

from thetahat.data.in_memory import InMemory
from thetahat.data.on_disk.model_rows import rows_of_block
from thetahat.data.source import Block, Source
from thetahat.data.validation import as_weight
from thetahat.estimator.base import Estimator
from thetahat.estimator.distributed.routing import on_dask
from thetahat.estimator.parameters import LARGEST_WHOLE, whole
from thetahat.estimator.source_scores import require_weight
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.randomness import RandomState
from thetahat.foundation.types import Array


class Novelty(Estimator, ABC):
    """A model with a density p(x), which says how unlikely a row is."""

    @abstractmethod
    def log_density(self, X: Any) -> Array:
        """Compute the natural logarithm of p(x) for every row; −inf where p is 0."""

    def novelty(self, X: Any) -> Array:
        """Compute how unlikely each row is: −log p(x), in nats.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to evaluate, with the same columns as in `fit`.

        Returns
        -------
        novelty : array of shape (n,)
            The novelty of every row; +inf where p is 0.
        """
        return -self.log_density(X)

    def novelty_threshold(self, X: Any, share: float = 0.01, sample_weight: Any = None) -> float:
        """Compute a threshold for the novelty that at most a given share of rows exceeds.

        Rows with ``novelty(x) > threshold`` can then be treated as new. Use rows that were not used
        by `fit`: on the training rows a flexible model overestimates the density, and the threshold
        becomes too low.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows that are known to be normal.
        share : float, default=0.01
            Largest share of these rows that may exceed the threshold; in [0, 1).
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        threshold : float
            The smallest novelty t among the rows with Σ wᵢ 1[novelty(xᵢ) > t] ≤ share·Σ wᵢ.
        """
        if not 0.0 <= share < 1.0:
            raise ParameterError(
                f"{type(self).__name__}.novelty_threshold: share={share!r} must be a number in "
                "[0, 1)."
            )
        novelty = np.asarray(self.novelty(X), dtype=np.float64)
        n = novelty.shape[0]
        weight = np.ones(n) if sample_weight is None else as_weight(sample_weight, n, "novelty")
        order = np.argsort(novelty, kind="stable")
        beyond = weight.sum() - np.cumsum(weight[order])
        # A small margin, so that rounding of the sums does not exclude a row.
        enough = beyond <= share * weight.sum() * (1.0 + 1e-12)
        return float(novelty[order[np.argmax(enough)]])


@dataclass(frozen=True)
class _LogLikelihood:
    """Σ wᵢ log p(xᵢ) and Σ wᵢ."""

    total: float
    weight: float

    def merge(self, other: _LogLikelihood) -> _LogLikelihood:
        return _LogLikelihood(self.total + other.total, self.weight + other.weight)

    @property
    def mean(self) -> float:
        require_weight(self.weight)
        return self.total / self.weight


def _log_likelihood(block: Block, model: Any, source: Source) -> _LogLikelihood:
    weight = np.asarray(block.row_weights, dtype=np.float64)
    logs = np.asarray(model.log_density(rows_of_block(block, source)), dtype=np.float64)
    counted = weight > 0
    return _LogLikelihood(float(weight[counted] @ logs[counted]), float(weight.sum()))


@on_dask
class OutlierDetector(OutlierMixin):
    """Labels of outliers from a signed score, which is negative for outliers."""

    decision_function: Callable[[Any], Array]
    offset_: Any
    """The score that separates outliers from usual rows."""

    def predict(self, X: Any) -> Array:
        """Label rows as usual rows or outliers. Cost: that of `decision_function`.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to score, with the same columns as in `fit`.

        Returns
        -------
        labels : ndarray of shape (n,)
            1 for usual rows, −1 for outliers.
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)


@on_dask
class Likelihood:
    """Scores of rows by their log-likelihood, for models with a density."""

    log_density: Callable[[Any], Array]

    def score_samples(self, X: Any) -> Array:
        """Compute the log-density of every row; the same as `log_density`.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to evaluate, with the same columns as in `fit`.

        Returns
        -------
        log_density : array of shape (n,)
            Natural logarithm of p(x) for every row.
        """
        return self.log_density(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Compute the mean log-likelihood per row: Σ wᵢ log p(xᵢ) / Σ wᵢ.

        Parameters
        ----------
        X : array-like or Source of shape (n, d)
            Rows to evaluate, with the same columns as in `fit`. A `Source` is read block by block
            and contains the weights.
        y : ignored
            Has no effect. Accepted for compatibility with scikit-learn.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        score : float
            The mean log-likelihood; −inf if a row of positive weight has density 0.
        """
        if isinstance(X, Source):
            return X.reduce(partial(_log_likelihood, model=self, source=X)).mean
        logs = np.asarray(self.log_density(X), dtype=np.float64)
        if sample_weight is None:
            return float(logs.mean())
        weight = as_weight(sample_weight, logs.shape[0], type(self).__name__)
        counted = weight > 0
        return float(np.average(logs[counted], weights=weight[counted]))


class DensityModel(Likelihood, DensityMixin, Novelty, ABC):
    """Base class of density models; a subclass defines `fit`, `log_density` and `sample`.

    The method names of scikit-learn's density models work too: ``score_samples`` is
    ``log_density``. ``score`` is the mean log-likelihood as in GaussianMixture (KernelDensity
    returns the sum), so that sets of rows of different size can be compared.
    """

    _generative = True
    _parametric = False
    _streams = False
    _instead_of_blocks = "use GaussianMixture, which reads blocks"

    @abstractmethod
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Estimate the density from rows; y is ignored."""

    @abstractmethod
    def sample(self, n_samples: int = 1, random_state: RandomState = None) -> Array:
        """Draw independent rows from the fitted density."""

    def _counted(self, X: Any, sample_weight: Any) -> tuple[InMemory, Array]:
        """Rows of positive weight, and their weights."""
        source = cast(InMemory, self._open(X, None, sample_weight, supervised=False))
        if source.weight is None:
            return source, np.ones(source.n_rows)
        if not source.weight.all():
            kept = np.flatnonzero(source.weight)
            source = replace(source.take(kept), numbers=kept)
        return source, cast(Array, source.weight)


def require_sample_count(n_samples: Any, who: str, n_columns: int) -> None:
    """Refuse a number of rows to draw that is not a whole number ≥ 1 or needs too much memory."""
    allowed = whole(1, LARGEST_WHOLE)
    if not allowed.holds(n_samples):
        raise ParameterError(f"{who}.sample(n_samples={n_samples!r}): must be {allowed.words}.")
    # The rows, two arrays of the same shape from which they are computed, and two numbers per row.
    require_memory(
        8 * int(n_samples) * (3 * int(n_columns) + 2),
        f"{who}.sample: drawing {n_samples} rows of {n_columns} "
        + ("column" if n_columns == 1 else "columns"),
        "Draw fewer rows at a time.",
    )
