"""Forests for classification: averages of the class proportions in the leaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, none, one_of
from thetahat.foundation.arguments import returned_number
from thetahat.foundation.types import Array
from thetahat.models.ensemble.forest.base import Forest
from thetahat.models.ensemble.forest.growing import ForestPlan
from thetahat.models.ensemble.forest.out_of_bag import out_of_bag_predictions, share_interval
from thetahat.models.tree.packed import PackedTrees
from thetahat.models.tree.parameters import ClassificationParameters
from thetahat.models.tree.tree_classifier import TreeClassifierLearner


@with_parameters
class ForestClassifier(Forest, TreeClassifierLearner, ClassificationParameters):
    """Forest classifier with ``classes_`` and, with ``oob_score``, out-of-bag probabilities.

    Parameters
    ----------
    class_weight : dict, list of dict, "balanced", "balanced_subsample" or None, default=None
        Weight of each class, as ``{label: weight}``, or a list of such dicts for several outputs;
        multiplies `sample_weight`. "balanced" sets the weights inversely proportional to the class
        frequencies, so that all classes have the same total weight; "balanced_subsample" does the
        same for the rows drawn for each tree; None gives every class weight 1.

    voting : {"soft", "hard"}, default="soft"
        How the trees are combined. "soft" averages the class proportions of their leaves. "hard"
        lets each tree vote for the majority class of its leaf and predicts the class with the most
        votes; probabilities are then shares of votes. Both choose the first class in case of ties.

    Attributes
    ----------
    oob_decision_function_ : array of shape (n, n_classes)
        Class probabilities of each row, averaged over the trees that did not draw it (with
        ``voting="hard"`` the shares of their votes); NaN where every tree drew the row. Defined
        with ``oob_score``.
    """

    _ranges: ClassVar[dict[str, Range]] = {
        **Forest._ranges,
        "criterion": one_of("gini", "entropy", "log_loss", "error"),
        "voting": one_of("soft", "hard"),
        "class_weight": one_of("balanced", "balanced_subsample")
        | none
        | Range(
            lambda value: isinstance(value, Mapping | list | tuple),
            "a dictionary of labels to weights ≥ 0 (a list of them for several outputs)",
        ),
    }
    _: KW_ONLY
    max_features: Any = "sqrt"
    voting: str = "soft"

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
        forest = replace(self._forest, packed=self._summed())
        answers = out_of_bag_predictions(forest, plan, type(self).__name__)
        known = ~np.isnan(answers[:, 0, 0])
        votes = np.nan_to_num(answers, nan=-1.0).argmax(axis=2)
        by_output = np.moveaxis(answers, 1, 2)
        self.oob_decision_function_ = by_output[:, :, 0] if self.n_outputs_ == 1 else by_output
        y, votes = plan.y[known].astype(np.int64), votes[known]
        if callable(self.oob_score):
            single = self.n_outputs_ == 1
            pair = (y[:, 0], votes[:, 0]) if single else (y, votes)
            self.oob_score_ = returned_number(self.oob_score(*pair), "The function oob_score")
            self.__dict__.pop("oob_score_interval_", None)
            return
        right = (y == votes).all(axis=1)
        self.oob_score_ = float(right.mean())
        self.oob_score_interval_ = share_interval(right, None)

    def _summed(self) -> PackedTrees:
        return self._forest.voting if self.voting == "hard" else super()._summed()

    def _shares(self, X: Any) -> Array:
        return self._mean_answers(X)

    def predict(self, X: Any) -> Array:
        """Predict the class with the largest mean probability, or with the most votes.

        In case of ties, the first class is predicted; see ``voting``. Cost: O(n · trees · depth).

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
