"""Shared by the classifiers that are fitted from the moments of the classes."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.data.summaries.class_moments import ClassMoments, class_moments, codes_of
from thetahat.data.views import View
from thetahat.estimator.batches import batch_after
from thetahat.estimator.generative_classifier import GenerativeClassifier
from thetahat.estimator.linear_classifier import require_two_weighted_classes
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array, Matrix
from thetahat.models.generative.gaussian import are_finite

LARGE = 1 << 26
"""Bytes of a summary from which the memory that is left is checked first."""


class ClassModel(GenerativeClassifier):
    """A classifier that is a function of the moments of its classes; a subclass defines `_solve`.

    Missing values (NaN) in a row to predict are left out: the class densities of the other columns
    are used, which is exact for Gaussian classes. `fit` uses the rows without missing values, and
    warns how many it left out; a class that has no rows left is an error. A class whose rows all
    have weight 0 gets the probability 0.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : array of shape (d,)
        Names of the columns seen in `fit`. Defined only when X has column names that are all
        strings.
    """

    _accepts_sparse = True
    _leaves_out_missing = True
    _moments: ClassMoments | None

    @abstractmethod
    def _kind(self, source: Source, *, mergeable: bool) -> str:
        """The kind of moments that `_solve` needs: "pooled", "full" or "diagonal"."""

    @abstractmethod
    def _solve(self, moments: ClassMoments, source: Source, *, final: bool) -> None:
        """Set the fitted attributes; warnings and refusals of few rows only if it is final."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Training rows; those with missing values are left out. A `Source` (see ``th.scan``) is
            read block by block and contains the labels.
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
        with one_blas_thread():
            self._moments, complete = self._summary(source, mergeable=False)
            if complete is not source and not self._moments.weight.all():
                self._require_complete_rows(self._moments, source)
            self._solve(self._moments, complete, final=True)
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
            Rows of the batch; those with missing values are left out.
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
        with batch_after(self, X, first=not hasattr(self, "classes_")):
            source, fresh = self._open_batch(X, y, classes, sample_weight)
        before = None if fresh else self._moments
        with one_blas_thread():
            try:
                found, source = self._summary(source, mergeable=True)
            except DataError:
                source.require_finite(missing=True)
                lost = sum(source.map_blocks(_incomplete))
                if before is None or lost < source.n_rows:
                    raise
                self._warn_of_incomplete(lost)
                return self
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

    def _require_complete_rows(self, moments: ClassMoments, source: Source) -> None:
        """Refuse a class whose rows of positive weight all have missing values."""
        count = partial(_class_weights, n_classes=len(self.classes_))
        before = np.sum(list(source.map_blocks(count)), axis=0)
        lost = (moments.weight == 0) & (before > 0)
        if lost.any():
            label = self.classes_.tolist()[int(np.argmax(lost))]
            raise DataError(
                f"{type(self).__name__}: class {label!r} has no rows to fit, because all of its "
                "rows have missing values (NaN). Impute missing values first, or leave the rows of "
                "this class out of X and y."
            )

    def _summary(self, source: Source, *, mergeable: bool) -> tuple[ClassMoments, Source]:
        """The moments of the classes, and the rows they are of: those without missing values."""
        d, count = source.n_features, len(self.classes_)
        kind = self._kind(source, mergeable=mergeable)
        size = {"pooled": d * d, "full": count * d * d, "diagonal": count * d}[kind]
        if 24 * size > LARGE:
            require_memory(
                24 * size,
                f"{type(self).__name__} with {count} classes and {d} columns",
                'Select fewer columns, or use covariance="diagonal".',
            )
        try:
            return class_moments(source, count, kind), source
        except DataError:
            complete = self._complete(source)
            if complete is None:
                raise
        return class_moments(complete, count, kind), complete

    def _complete(self, source: Source) -> Source | None:
        """The rows without missing values; None if no value is missing."""
        source.require_finite(missing=True)
        lost = sum(source.map_blocks(_incomplete))
        if not lost:
            return None
        who = type(self).__name__
        if lost == source.n_rows:
            raise DataError(
                f"{who}: Input X contains NaN in every row. Impute missing values first."
            )
        self._warn_of_incomplete(lost)
        if isinstance(source, InMemory):
            return source.take(np.flatnonzero(_is_complete(source.whole)))
        return View.of(source, _without_incomplete, has_weight=True)

    def _warn_of_incomplete(self, lost: int) -> None:
        rows = (
            "1 row with missing values (NaN) is"
            if lost == 1
            else (f"{lost:,} rows with missing values (NaN) are")
        )
        warn(
            f"{type(self).__name__}: {rows} left out of the fit. Impute missing values first if "
            "this affects many rows, or if values are not missing at random."
        )

    def _filled(self, rows: Matrix, scores: Array) -> Array:
        """The scores, in which rows with missing values were NaN."""
        if are_finite(scores):
            return scores
        lost = np.isnan(scores[:, 0])
        if lost.any():
            scores[lost] = self._joint_of_known(np.asarray(_dense(rows[lost]), dtype=np.float64))
        return scores

    def _joint_of_known(self, rows: Array) -> Array:
        """log π_c + log p(known columns of x | c) of rows with missing values."""
        raise NotImplementedError

    def _decision_rows(self, X: Any) -> Array:
        """The scores that `decision_function` returns for more than two classes."""
        return self._score_rows(X)

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
        scores = self._decision_rows(X)
        if scores.shape[1] == 2:
            with np.errstate(invalid="ignore"):
                scores = scores[:, 1] - scores[:, 0]
        single = getattr(X, "dtype", None) == np.float32
        return scores.astype(np.float32) if single else scores


def _dense(rows: Matrix) -> Array:
    return rows if isinstance(rows, np.ndarray) else rows.toarray()


def dense_float64(rows: Matrix) -> Array:
    """Rows as a dense array in double precision; without a copy if they are one."""
    return np.asarray(_dense(rows), dtype=np.float64)


def _class_weights(block: Block, n_classes: int) -> Array:
    return np.bincount(codes_of(block), block.row_weights, minlength=n_classes)


def _is_complete(block: Block) -> Array:
    X = block.X
    if isinstance(X, np.ndarray):
        return np.logical_not(np.isnan(X).any(axis=1))
    holes = np.zeros(block.n_rows, dtype=bool)
    holes[np.repeat(np.arange(block.n_rows), np.diff(X.indptr))[np.isnan(X.data)]] = True
    return ~holes


def _incomplete(block: Block) -> int:
    return int(np.count_nonzero(~_is_complete(block)))


def _without_incomplete(block: Block) -> Block:
    """The same rows, of which the incomplete ones have weight 0."""
    weight = np.where(_is_complete(block), block.row_weights, 0.0)
    return replace(block, X=np.nan_to_num(block.X), weight=weight)
