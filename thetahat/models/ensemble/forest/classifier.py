"""Forests for classification: averages of the class proportions in the leaves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.estimator.parameters import Range, one_of
from thetahat.foundation.types import Array
from thetahat.models.ensemble.forest.base import Forest
from thetahat.models.ensemble.forest.growing import ForestPlan
from thetahat.models.ensemble.forest.out_of_bag import out_of_bag_predictions, share_interval
from thetahat.models.tree.tree_classifier import TreeClassifierLearner


class ForestClassifier(Forest, TreeClassifierLearner):
    """Forest classifier with ``classes_`` and, with ``oob_score``, out-of-bag probabilities."""

    _ranges: ClassVar[dict[str, Range]] = {
        **Forest._ranges,
        "criterion": one_of("gini", "entropy", "log_loss", "error"),
    }
    oob_decision_function_: Array
    oob_score_: float
    oob_score_interval_: tuple[float, float]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _open_targets(self, X: Any, y: Any, sample_weight: Any) -> tuple[InMemory, tuple[int, ...]]:
        class_weight = self.class_weight
        if isinstance(class_weight, str) and class_weight == "balanced_subsample":
            class_weight = None if self.bootstrap else "balanced"
        source = self._open_labels(X, y, sample_weight, class_weight=class_weight)
        return source, tuple(np.atleast_1d(self.n_classes_).tolist())

    def _plan(self, source: InMemory, n_classes: tuple[int, ...]) -> ForestPlan:
        per_draw = isinstance(self.class_weight, str) and self.class_weight == "balanced_subsample"
        plan = super()._plan(source, n_classes)
        return replace(plan, balanced=per_draw and self.bootstrap)

    def _score_out_of_bag(self, source: InMemory, plan: ForestPlan) -> None:
        answers = out_of_bag_predictions(self._forest, plan, type(self).__name__)
        known = ~np.isnan(answers[:, 0, 0])
        votes = np.nan_to_num(answers, nan=-1.0).argmax(axis=2)
        by_output = np.moveaxis(answers, 1, 2)
        self.oob_decision_function_ = by_output[:, :, 0] if self.n_outputs_ == 1 else by_output
        y, votes = plan.y[known].astype(np.int64), votes[known]
        if callable(self.oob_score):
            single = self.n_outputs_ == 1
            pair = (y[:, 0], votes[:, 0]) if single else (y, votes)
            self.oob_score_ = float(self.oob_score(*pair))
            self.__dict__.pop("oob_score_interval_", None)
            return
        right = (y == votes).all(axis=1)
        self.oob_score_ = float(right.mean())
        self.oob_score_interval_ = share_interval(right, None)

    def predict_proba(self, X: Any) -> Any:
        """Predict class probabilities: class proportions in the leaves, averaged over the trees.

        Cost: O(n · trees · depth).

        Parameters
        ----------
        X : table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n, n_classes), or a list of such arrays for several outputs
            Probabilities in the order of ``classes_``.
        """
        shares = self._mean_answers(X)
        if self.n_outputs_ == 1:
            return shares[:, 0]
        return [shares[:, k, :n_classes] for k, n_classes in enumerate(self.n_classes_)]

    def predict_log_proba(self, X: Any) -> Any:
        """Predict the logarithms of the class probabilities; −∞ where a probability is 0.

        Cost: as `predict_proba`.

        Parameters
        ----------
        X : table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n, n_classes), or a list of such arrays for several outputs
        """
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return np.log(shares) if self.n_outputs_ == 1 else [np.log(share) for share in shares]

    def predict(self, X: Any) -> Array:
        """Predict the class with the largest mean probability; the first one in case of ties.

        Cost: O(n · trees · depth).

        Parameters
        ----------
        X : table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n,) or (n, n_outputs)
            The predicted class labels.
        """
        shares = self._mean_answers(X)
        if self.n_outputs_ == 1:
            return self.classes_.take(shares[:, 0].argmax(axis=1))
        winners = [
            classes.take(shares[:, k, : len(classes)].argmax(axis=1))
            for k, classes in enumerate(self.classes_)
        ]
        return np.stack(winners, axis=1)
