"""Linear classifiers fitted row by row: one walk per class against the rest, or one for all.

Two classes have one walk. More classes have one walk each, with labels +1 for the class and −1 for
all others; the walks visit the rows in the same order, in parallel. A loss of class scores
(softmax) has one walk for all classes instead.
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from thetahat.data.class_weights import class_weighted
from thetahat.data.columns.labels import LabelEncoding
from thetahat.data.source import Source
from thetahat.estimator.batches import batch_after
from thetahat.estimator.classifier import require_same_classes
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.linear_classifier import LinearClassifier
from thetahat.estimator.watching import with_callbacks
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.base import Subdifferentiable, Targets
from thetahat.models.linear.stochastic.stochastic import Stochastic
from thetahat.models.linear.stochastic.stochastic_parameters import StochasticParameters


@with_parameters
class StochasticClassifier(StochasticParameters, Stochastic, LinearClassifier):
    """`fit` and `partial_fit` of classifiers whose epochs visit one row at a time.

    Parameters
    ----------
    early_stopping : bool, default=False
        Whether to stop when the score on held-out rows no longer improves. If True, the share
        `validation_fraction` of the training rows of each class is held out, and the epochs are
        compared by the accuracy on these rows.
    n_jobs : int or None, default=None
        Has no effect. Accepted for compatibility with scikit-learn; the classes are fitted in
        parallel on the threads set by ``th.config(threads=...)``.

    Attributes
    ----------
    n_iter_ : int
        Number of epochs that were run, for the class that needed the most.
    """

    _: KW_ONLY
    n_jobs: int | None = None
    class_weight: Any = None

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> Any:
        """Fit the classifier by stochastic gradient descent."""
        self._check_parameters()
        known = getattr(self, "classes_", None)
        source = self._open_classes(
            X, y, sample_weight, class_weight=self.class_weight, check_finite=self._checks_finite
        )
        if self.warm_start and known is not None and not np.array_equal(known, self.classes_):
            raise DataError(
                f"{type(self).__name__}: warm_start=True needs the classes of the previous fit, "
                f"{known.tolist()}, but y contains {self.classes_.tolist()}. Use "
                "partial_fit(classes=...), or warm_start=False."
            )
        n_scores = 1 if len(self.classes_) == 2 and not self._jointly else len(self.classes_)
        walks = self._new_walks(
            n_scores, source.n_features, coef_init, intercept_init, jointly=self._jointly
        )
        self.t_ = 1.0
        self._descend(source, walks, self._target, X, y, stratify=True)
        return self

    @with_callbacks
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Any:
        """Run one epoch of stochastic gradient descent on the given rows.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to learn from, with the same columns in every call.
        y : array-like of shape (n,), optional
            Class labels: text, numbers or Booleans. Leave it out if X is a `Source`.
        classes : array-like, optional
            All class labels that may occur in any call. Required in the first call, and can be left
            out in later ones.
        sample_weight : array-like of shape (n,), optional
            Row weights: the loss of each row is multiplied by its weight. Rows of weight 0 are
            ignored. None gives every row weight 1.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._check_parameters(resuming=True)
        resuming = hasattr(self, "_last_iterate")
        encoding = self._classes_to_come(classes, resuming)
        with batch_after(self, X, first=not resuming):
            source = self._open_more(X, y, sample_weight, encoding)
        self.classes_ = encoding.classes
        if resuming:
            walks = self._resumed_walks(jointly=self._jointly)
        else:
            n_scores = 1 if encoding.n_classes == 2 and not self._jointly else encoding.n_classes
            walks = self._new_walks(n_scores, source.n_features, None, None, jointly=self._jointly)
            self.t_ = 1.0
        self._descend(source, walks, self._target, X, y, epochs=1)
        return self

    def _classes_to_come(self, classes: Any, resuming: bool) -> LabelEncoding:
        """The classes, which the first call determines."""
        who = type(self).__name__
        if self.class_weight == "balanced":
            raise ParameterError(
                f"{who}: class_weight='balanced' is not supported for partial_fit, because it "
                "needs the class counts of all batches. Give a dictionary of weights."
            )
        if not resuming:
            if classes is None:
                raise DataError(
                    f"{who}: classes must be passed on the first call to partial_fit, because "
                    "later batches may contain other labels. Pass classes=[...] with all labels."
                )
            encoding = LabelEncoding.of(classes)
            if encoding.n_classes < 2:
                raise DataError(
                    f"{who}: classes={encoding.classes.tolist()} is a single class, but at least "
                    "two are needed. Pass all labels that may occur."
                )
            return encoding
        require_same_classes(classes, self.classes_, who)
        return LabelEncoding(self.classes_)

    def _open_more(self, X: Any, y: Any, sample_weight: Any, encoding: LabelEncoding) -> Source:
        """The rows of one call, with their labels as codes of the known classes."""
        who = type(self).__name__
        try:
            if isinstance(X, Source) or y is None:
                source = self._open_coded(X, y, sample_weight, encoding)[0]
            else:
                codes = encoding.encode(self._labels(y))
                source = self._open(X, codes, sample_weight, check_finite=False)
        except DataError as failure:
            if "belong to no class" not in str(failure):
                raise
            raise DataError(
                f"{who}.partial_fit: {failure} Pass all classes in the first call."
            ) from failure
        return class_weighted(source, encoding.classes, self.class_weight, who)

    # What each walk learns.

    @property
    def _jointly(self) -> bool:
        return self._parts()[0].columns != "one"

    def _parts(self) -> tuple[Subdifferentiable, float]:
        loss, multiplier = super()._parts()
        # The same numbers for labels ±1, as all walks here have them.
        signed = loss.with_signs()
        assert isinstance(signed, Subdifferentiable)
        return signed, multiplier

    def _target(self, number: int, codes: Array) -> Array:
        """The targets of a walk: +1 for its class, −1 (0 for some losses) for the others."""
        kind = self.loss_.targets
        if kind is Targets.CLASSES:
            return np.asarray(codes, dtype=np.float64)
        positive = 1 if len(self.classes_) == 2 else number
        low = 0.0 if kind in (Targets.BINARY, Targets.NONNEGATIVE) else -1.0
        return np.where(np.asarray(codes) == positive, 1.0, low)

    def _score_of(self, y: Array, z: Array, weight: Array | None) -> float:
        """Accuracy: the share of rows with the correct sign or class."""
        right = z.argmax(axis=1) == y if z.ndim == 2 else (z > 0) == (y > 0)
        return float(np.average(right, weights=weight))
