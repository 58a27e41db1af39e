"""R² and accuracy on the rows of a source, in one pass of which each block is predicted once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from thetahat.data.columns.labels import without_text_type
from thetahat.data.on_disk.model_rows import accepted, rows_of_block
from thetahat.data.source import Block, Source
from thetahat.data.validation import require_source_alone
from thetahat.estimator.distributed.routing import on_dask
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class _Errors:
    """Sums of squares of the columns of y: about their mean, and of the residuals."""

    weight: float
    mean: Array
    spread: Array
    residual: Array

    def merge(self, other: _Errors) -> _Errors:
        total = self.weight + other.weight
        if not total > 0:
            return self
        apart = other.mean - self.mean
        share = other.weight / total
        return _Errors(
            total,
            self.mean + apart * share,
            self.spread + other.spread + apart**2 * self.weight * share,
            self.residual + other.residual,
        )


@dataclass(frozen=True)
class _Hits:
    """The total weight, and the weight of the rows that are predicted correctly."""

    weight: float
    correct: float

    def merge(self, other: _Hits) -> _Hits:
        return _Hits(self.weight + other.weight, self.correct + other.correct)


def r2_of_source(model: Any, source: Source) -> float:
    """R² = 1 − Σ w(y − ŷ)² / Σ w(y − ȳ)², averaged over the targets. Cost: one pass.

    As in scikit-learn, the score of a constant target is 1 if it is predicted exactly, else 0.
    """
    _require_target(model, source)
    source = accepted(model, source)
    found = source.reduce(partial(_errors, model=model, source=source))
    require_weight(found.weight)
    constant = found.spread == 0
    ratio = found.residual / np.where(constant, 1.0, found.spread)
    scores = np.where(constant, np.where(found.residual == 0, 1.0, 0.0), 1.0 - ratio)
    return float(scores.mean())


def accuracy_of_source(model: Any, source: Source) -> float:
    """The share of the weight of rows whose label is predicted correctly. Cost: one pass."""
    _require_target(model, source)
    source = accepted(model, source)
    found = source.reduce(partial(_hits, model=model, source=source))
    require_weight(found.weight)
    return found.correct / found.weight


@on_dask
class ScoredRegressor(RegressorMixin):
    """A regressor whose ``score`` also accepts a `Source` and Dask collections."""

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Compute R², the explained share of the variance of y. Cost: that of `predict`.

        Formula: R² = 1 − Σ w(y − ŷ)²/Σ w(y − ȳ)², averaged over the targets if there are several.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to predict. A `Source` is read block by block and contains the target and the
            weights.
        y : array-like of shape (n,) or (n, n_targets), optional
            True values of the target. Leave it out if X is a `Source`.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        score : float
            1 for perfect predictions, 0 for predictions no better than the mean of y.
        """
        require_no_target_beside(X, y, sample_weight, type(self).__name__)
        if isinstance(X, Source):
            return r2_of_source(self, X)
        return float(super().score(X, y, sample_weight=sample_weight))


@on_dask
class ScoredClassifier(ClassifierMixin):
    """A classifier whose ``score`` also accepts a `Source` and Dask collections."""

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Compute the accuracy, the share of correct labels. Cost: that of `predict`.

        Formula: accuracy = Σ w·1[ŷ = y]/Σ w.

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            Rows to classify. A `Source` is read block by block and contains the labels and the
            weights.
        y : array-like of shape (n,), optional
            True labels. Leave it out if X is a `Source`.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        score : float
            Share of correct labels, between 0 and 1.
        """
        require_no_target_beside(X, y, sample_weight, type(self).__name__)
        if isinstance(X, Source):
            return accuracy_of_source(self, X)
        if isinstance(y, np.ndarray):
            y = without_text_type(y)
        return float(super().score(X, y, sample_weight=sample_weight))


def _errors(block: Block, model: Any, source: Source) -> _Errors:
    y = np.asarray(block.y, dtype=np.float64).reshape(block.n_rows, -1)
    weight = np.asarray(block.row_weights, dtype=np.float64)
    predicted = np.asarray(_predicted(model, block, source)).reshape(block.n_rows, -1)
    if predicted.shape != y.shape:
        raise DataError(
            f"{type(model).__name__}.score: y has {y.shape[1]} column(s), but the model was fitted "
            f"to {predicted.shape[1]}. Pass the targets of the fit, in the same order."
        )
    total = float(weight.sum())
    mean = weight @ y / total if total > 0 else np.zeros(y.shape[1])
    return _Errors(total, mean, weight @ (y - mean) ** 2, weight @ (y - predicted) ** 2)


def _hits(block: Block, model: Any, source: Source) -> _Hits:
    labels = source.target_values(np.asarray(block.y))
    weight = block.row_weights
    predicted = np.asarray(_predicted(model, block, source))
    if predicted.shape != labels.shape:
        raise DataError(
            f"{type(model).__name__}.score: y has shape {labels.shape}, but the predictions have "
            f"shape {predicted.shape}. Pass the targets of the fit, in the same order."
        )
    correct = predicted == labels if labels.ndim == 1 else (predicted == labels).all(axis=1)
    return _Hits(float(weight.sum()), float(weight[correct].sum()))


def _predicted(model: Any, block: Block, source: Source) -> Array:
    predicted: Array = model.predict(rows_of_block(block, source))
    return predicted


def _require_target(model: Any, source: Source) -> None:
    if not source.has_target:
        raise DataError(
            f"{type(model).__name__}.score needs a target, but the rows have none. Pass y, or name "
            "the target of a source: th.scan(path, target=...) or th.from_dask(X, y)."
        )


def require_no_target_beside(X: Any, y: Any, sample_weight: Any, who: str) -> None:
    """Refuse targets and weights that are given beside a source, and missing ones without it."""
    if isinstance(X, Source):
        require_source_alone(y, sample_weight, f"{who}.score")
    elif y is None:
        raise DataError(f"{who}.score needs the true targets: score(X, y).")


def require_weight(weight: float) -> None:
    """Require that some row of a source counts."""
    if not weight > 0:
        raise DataError(
            "All sample weights are zero, so no row counts. Give at least one row a positive "
            "weight."
        )
