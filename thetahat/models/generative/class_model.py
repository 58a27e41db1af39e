"""Shared by the classifiers that are fitted from the moments of the classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.source import Block, Source
from thetahat.data.summaries.class_moments import ClassMoments, class_moments
from thetahat.estimator.generative_classifier import GenerativeClassifier
from thetahat.estimator.linear_classifier import require_two_weighted_classes
from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.threads import ordered_map
from thetahat.foundation.types import Array, Matrix


class ClassModel(GenerativeClassifier):
    """A classifier that is a function of the moments of its classes; a subclass defines `_solve`.

    Missing values (NaN) are accepted in predictions: the columns that are missing in a row are left
    out, which is exact for Gaussian classes. `fit` needs complete rows.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : array of shape (d,)
        Names of the columns seen in `fit`. Defined only when X has column names that are all
        strings.
    """

    _accepts_sparse = True
    _moments: ClassMoments | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _require_usable(self, source: Source) -> None:
        """Refuse infinity; NaN is a missing value."""
        for _ in ordered_map(_require_no_infinity, source.blocks()):
            pass

    def _kind(self, source: Source, *, mergeable: bool) -> str:
        """The kind of moments that `_solve` needs: "pooled", "full" or "diagonal"."""
        raise NotImplementedError

    def _solve(self, moments: ClassMoments, source: Source, *, final: bool) -> None:
        """Set the fitted attributes; warnings and refusals of few rows only if it is final."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Training rows without missing values. A `Source` (see ``th.scan``) is read block by
            block and brings its own labels.
        y : array-like of shape (n,), optional
            Class labels: text, numbers or Booleans. Leave it out if X is a `Source`.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        source = self._open_classes(X, y, sample_weight, check_finite=False)
        require_two_weighted_classes(source, self.classes_, type(self).__name__)
        self._forget()
        self._moments = self._summary(source, mergeable=False)
        self._solve(self._moments, source, final=True)
        return self

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Any:
        """Add a batch of rows to those seen so far, and fit again.

        The result is that of one `fit` to all rows. Cost: that of `fit` for the batch. A summary
        of the rows is kept; the rows are not.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Rows of the batch, without missing values.
        y : array-like of shape (n,)
            Class labels of the batch.
        classes : array-like of shape (n_classes,), optional
            All labels that can occur in any batch. Needed in the first call only.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._require_mergeable()
        if isinstance(X, Source) or y is None:
            raise DataError(
                f"{type(self).__name__}.partial_fit needs the rows X and the labels y of a batch. "
                "Use fit for a Source."
            )
        source, fresh = self._open_batch(X, y, classes, sample_weight)
        before = None if fresh else self._moments
        found = self._summary(source, mergeable=True)
        merged = found if before is None else before.merge(found).centred()
        self._moments = merged
        self._solve(merged, source, final=False)
        return self

    def _require_mergeable(self) -> None:
        """Refuse `partial_fit` for parameters that need all rows at once."""
        if hasattr(self, "classes_") and getattr(self, "_moments", None) is None:
            raise CapabilityError(
                f"{type(self).__name__}.partial_fit: the previous fit kept no summary of its rows. "
                "Start with partial_fit(X, y, classes=...) on a new estimator."
            )

    def _forget(self) -> None:
        """Drop attributes of an earlier fit that this one may not set."""

    def _summary(self, source: Source, *, mergeable: bool) -> ClassMoments:
        d, count = source.n_features, len(self.classes_)
        kind = self._kind(source, mergeable=mergeable)
        size = {"pooled": d * d, "full": count * d * d, "diagonal": count * d}[kind]
        require_memory(
            3 * 8 * size,
            f"{type(self).__name__} with {count} classes and {d} columns",
            'Select fewer columns, or use covariance="diagonal".',
        )
        return class_moments(source, count, kind)

    def _filled(self, rows: Matrix, scores: Array) -> Array:
        """The scores, in which rows with missing values were NaN."""
        lost = np.isnan(scores[:, 0])
        if lost.any():
            scores[lost] = self._joint_of_known(np.asarray(_dense(rows[lost]), dtype=np.float64))
        return scores

    def _joint_of_known(self, rows: Array) -> Array:
        """log π_c + log p(known columns of x | c) of rows with missing values."""
        raise NotImplementedError

    def decision_function(self, X: Any) -> Array:
        """Compute the scores of the classes, the logarithms of p(x, c) up to a constant per row.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to classify, with the same columns as in `fit`. NaN marks missing values.

        Returns
        -------
        scores : array of shape (n,) for two classes, or (n, n_classes)
            For two classes log p(c₁ | x) − log p(c₀ | x), which is positive for ``classes_[1]``.
        """
        scores = self._score_rows(X)
        if scores.shape[1] == 2:
            with np.errstate(invalid="ignore"):
                return scores[:, 1] - scores[:, 0]
        return scores


def _dense(rows: Matrix) -> Array:
    return rows if isinstance(rows, np.ndarray) else rows.toarray()


def dense_float64(rows: Matrix) -> Array:
    """Rows as a dense array in double precision; without a copy if they are one."""
    return np.asarray(_dense(rows), dtype=np.float64)


def _require_no_infinity(block: Block) -> None:
    entries = block.X if isinstance(block.X, np.ndarray) else block.X.data
    if np.isinf(entries).any():
        raise DataError(
            f"Input X contains infinity (in rows {block.start} to {block.start + block.n_rows - 1})"
            ". Replace infinite values; NaN marks a missing value."
        )
