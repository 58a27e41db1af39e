"""Linear classifiers fitted by single-row steps: one walk per class against the rest, or jointly.

Two classes have one walk. More have one each, with labels +1 for the class and −1 for all others;
the walks visit the rows in the same order, side by side. A loss of class scores (softmax) has one
walk for all classes instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.callback import with_callbacks

from thetahat.data.class_weights import class_weighted
from thetahat.data.columns.labels import LabelEncoding
from thetahat.data.source import Source
from thetahat.data.views.relabelled import relabelled
from thetahat.estimator.linear_classifier import LinearClassifier
from thetahat.estimator.stochastic import Stochastic
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.base import Subdifferentiable, Targets


class StochasticClassifier(Stochastic, LinearClassifier):
    """`fit` and `partial_fit` of classifiers whose epochs visit one row at a time."""

    class_weight: Any

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> Any:
        """Fit by epochs.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Features.
        y : array-like of shape (n,), optional
            Labels: text, numbers or Booleans; None when X is a `Source`.
        coef_init, intercept_init : array-like, optional
            Where to begin, instead of 0: of the shapes of ``coef_`` and ``intercept_``.
        sample_weight : array-like of shape (n,), optional
            Factors of the rows' losses; a row of weight 0 is not there.

        Returns
        -------
        self
        """
        self._check_parameters()
        known = getattr(self, "classes_", None)
        source = self._open_classes(
            X, y, sample_weight, class_weight=self.class_weight, check_finite=self._checks_finite
        )
        if self.warm_start and known is not None and not np.array_equal(known, self.classes_):
            raise DataError(
                f"{type(self).__name__}: warm_start goes on with the classes {known.tolist()}, and "
                f"y holds {self.classes_.tolist()}. Use partial_fit(classes=...), or "
                "warm_start=False."
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
        """One more epoch over these rows.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`; later calls need the columns of the first.
        classes : array-like, optional
            Every label that will ever come; needed in the first call.

        Returns
        -------
        self
        """
        self._check_parameters(resuming=True)
        resuming = hasattr(self, "_last_iterate")
        encoding = self._classes_to_come(classes, resuming)
        if resuming:
            self._require_same_schema(X)
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
        """The classes, fixed by the first call."""
        who = type(self).__name__
        if self.class_weight == "balanced":
            raise ParameterError(
                f"{who}: class_weight='balanced' is not supported for partial_fit: it needs the "
                "counts of all rows to come. Give a dictionary of weights."
            )
        if not resuming:
            if classes is None:
                raise DataError(
                    f"{who}: classes must be passed on the first call to partial_fit, since later "
                    "rows may hold labels that these do not. Pass classes=[...] with all of them."
                )
            encoding = LabelEncoding.of(classes)
            if encoding.n_classes < 2:
                raise DataError(
                    f"{who}: classes={encoding.classes.tolist()} names a single class; telling "
                    "classes apart takes at least two."
                )
            return encoding
        if classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise DataError(
                f"{who}: `classes={np.asarray(classes).tolist()}` is not the same as on last call "
                f"to partial_fit, was: {self.classes_.tolist()}. Name all classes in the first "
                "call."
            )
        return LabelEncoding(self.classes_)

    def _open_more(self, X: Any, y: Any, sample_weight: Any, encoding: LabelEncoding) -> Source:
        """Rows of one call, their labels as codes of classes that are known beforehand."""
        who = type(self).__name__
        try:
            if isinstance(X, Source) or y is None:
                source = relabelled(self._open(X, y, sample_weight), encoding)[0]
            else:
                codes = encoding.encode(self._labels(y))
                source = self._open(X, codes, sample_weight, check_finite=False)
        except DataError as failure:
            if "belong to no class" not in str(failure):
                raise
            raise DataError(
                f"{who}.partial_fit: {failure} The first call fixes them: name all in its classes."
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
        """The targets of a walk: +1 for its class, −1 (or 0, as the loss wants) for the others."""
        kind = self.loss_.targets
        if kind is Targets.CLASSES:
            return np.asarray(codes, dtype=np.float64)
        positive = 1 if len(self.classes_) == 2 else number
        low = 0.0 if kind in (Targets.BINARY, Targets.NONNEGATIVE) else -1.0
        return np.where(np.asarray(codes) == positive, 1.0, low)

    def _score_of(self, y: Array, z: Array, weight: Array | None) -> float:
        """The share of rows on the right side."""
        right = z.argmax(axis=1) == y if z.ndim == 2 else (z > 0) == (y > 0)
        return float(np.average(right, weights=weight))
