"""Parts shared by the two estimators of histogram gradient boosting."""

from __future__ import annotations

import numpy as np

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.models.ensemble.gradient_boosting.base import BaseBoosting
from thetahat.models.ensemble.gradient_boosting.gradient_trees import NO_LIMIT, TreeRules
from thetahat.models.ensemble.gradient_boosting.parameters import (
    HistGradientBoostingParameters,
)
from thetahat.models.ensemble.gradient_boosting.raw_scores import scorer_of_raw
from thetahat.models.ensemble.gradient_boosting.rounds import Plan, Rows, Scorer
from thetahat.models.tree.growth.constraints import directions, meeting_groups

MANY_ROWS = 10_000
"""``early_stopping="auto"`` stops early if there are more rows."""
LEAST_CURVATURE = 1e-3
"""Minimum sum of the curvature (Hessian) over the rows of a leaf."""


class BaseHistGradientBoosting(HistGradientBoostingParameters, BaseBoosting):
    """Parts shared by the classifier and the regressor.

    Attributes
    ----------
    n_iter_ : int
        Number of boosting iterations of the fitted model.
    train_score_, validation_score_ : array of shape (n_iterations + 1,)
        Scores before the first and after every iteration, on the training rows and on the held-out
        rows. Empty without early stopping, and ``validation_score_`` also without held-out rows.
    feature_importances_ : array of shape (d,)
        Relative importance of each column: its share of the total gain of all splits. The shares
        sum to 1.
    """

    _everyday = "boosted trees"

    @property
    def _n_rounds(self) -> int:
        return int(self.max_iter)

    @property
    def n_iter_(self) -> int:
        """Number of boosting iterations of the fitted model."""
        return self._rounds_of(self._trees)

    @property
    def train_score_(self) -> Array:
        """Scores on the training rows before and after every iteration, with early stopping."""
        return np.asarray(self._scores.get("train", []))

    @property
    def validation_score_(self) -> Array:
        """Scores on the held-out rows before and after every iteration, with early stopping."""
        return np.asarray(self._scores.get("validation", []))

    @property
    def is_categorical_(self) -> Array | None:
        """Boolean mask of the categorical columns; None if there are none."""
        mask = self._columns.is_categorical
        return mask if mask.any() else None

    def _rules(self, rows: Rows) -> TreeRules:
        who, d = type(self).__name__, rows.X.shape[1]
        monotonic = directions(self.monotonic_cst, self._columns, who)
        if monotonic is not None and self.n_trees_per_iteration_ > 1:
            raise ParameterError(
                f"{who}: monotonic constraints are not supported for multiclass classification, "
                f"and y has {self.n_trees_per_iteration_} classes. Set monotonic_cst=None."
            )
        n_classes = self.n_trees_per_iteration_
        several = n_classes > 1
        # Rows counted by curvature are rounded to the nearest whole number.
        least_rows = self.min_samples_leaf - 0.5 if several else self.min_samples_leaf
        # The curvature of one row with equal class probabilities, times K/(K − 1).
        one_row = 1.0 / n_classes if several else 0.0
        return TreeRules(
            max_leaves=self.max_leaf_nodes or NO_LIMIT,
            max_depth=self.max_depth or NO_LIMIT,
            min_split=2.0 * rows.unit_weight,
            min_rows=rows.unit_weight * least_rows,
            min_hessian=rows.unit_weight * LEAST_CURVATURE,
            l2=float(self.l2_regularization) / rows.common_weight + rows.unit_weight * one_row,
            rows_by_curvature=several,
            max_features=max(1, int(self.max_features * d)),
            monotonic=monotonic,
            groups=meeting_groups(self.interaction_cst, d, who),
        )

    def _plan(self, rows: Rows) -> Plan:
        return Plan(
            loss=self.loss_,
            learning_rate=float(self.learning_rate),
            n_columns=self.n_trees_per_iteration_,
            leaf_update=self.leaf_update,
            seed=self._seed,
        )

    def _patience(self, rows: Rows) -> int | None:
        stops = self.early_stopping
        if stops == "auto":
            total = len(rows.y) if rows.weight is None else rows.weight.sum()
            stops = total > MANY_ROWS * rows.unit_weight
        return int(self.n_iter_no_change) if stops else None

    def _scorer(self, rows: Rows) -> Scorer:
        if self.scoring == "loss":
            return super()._scorer(rows)
        return scorer_of_raw(self, self.scoring, rows)
