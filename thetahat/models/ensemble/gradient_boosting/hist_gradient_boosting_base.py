"""Parts shared by the two estimators of histogram gradient boosting."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from thetahat.data.on_disk.code_store import bins_of_rows
from thetahat.data.source import Source
from thetahat.data.validation import as_source
from thetahat.estimator.watching import with_callbacks
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.targets import check_targets
from thetahat.models.ensemble.gradient_boosting.base import BaseBoosting
from thetahat.models.ensemble.gradient_boosting.distributed.boosting import (
    DistributedBoosting,
    Workers,
    on_workers,
)
from thetahat.models.ensemble.gradient_boosting.gradient_trees import NO_LIMIT, TreeRules
from thetahat.models.ensemble.gradient_boosting.members import Member
from thetahat.models.ensemble.gradient_boosting.parameters import (
    HistGradientBoostingParameters,
)
from thetahat.models.ensemble.gradient_boosting.raw_scores import scorer_of_raw
from thetahat.models.ensemble.gradient_boosting.rounds import Boosting, Plan, Rows, Scorer
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
    _streams = True
    _reads_on_client = False
    _search_space = {  # noqa: RUF012
        "learning_rate": (0.02, 0.04, 0.07, 0.1, 0.15, 0.25),
        "max_iter": (60, 100, 200, 400),
        "max_leaf_nodes": (4, 8, 16, 31, 63),
        "min_samples_leaf": (3, 8, 20, 50),
        "l2_regularization": (0.0, 0.1, 1.0, 10.0),
        "max_features": (0.3, 0.6, 1.0),
    }

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Any:
        """Fit the model by boosting. Cost: at most O(iterations · n · d · depth).

        Parameters
        ----------
        X : table of shape (n, d)
            Training rows with numbers, categories and missing values: an array, a sparse array or a
            data frame.
        y : array-like of shape (n,)
            Target of each training row: class labels or numbers.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.
        X_val : table of shape (n_val, d), optional
            Held-out rows for early stopping, with the same columns as X. No training rows are held
            out then, and ``early_stopping="auto"`` stops early. In a `Pipeline`, pass
            ``transform_input=["X_val"]``, so that these rows are transformed as the training rows.
        y_val : array-like of shape (n_val,), optional
            Target of each held-out row. Required with `X_val`.
        sample_weight_val : array-like of shape (n_val,), optional
            Weights of the held-out rows; ``class_weight`` does not change them. None gives every
            held-out row weight 1.

        Returns
        -------
        self
            The fitted estimator.
        """
        validation = None
        if X_val is not None or y_val is not None or sample_weight_val is not None:
            self._require_validation(X_val, y_val)
            validation = partial(self._further_rows, X_val, y_val, sample_weight_val)
        return self._boost(X, y, sample_weight, validation=validation)

    def _further_rows(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """Rows outside the training rows, with the same columns."""
        who = type(self).__name__
        opened: Any = as_source(
            self._read(X),
            self._further_targets(y),
            sample_weight,
            who=who,
            multi_output=False,
            check_finite=False,
        )
        rows = self._rows_that_count(opened)
        check_targets(self.loss_, rows.y, who=who)
        return rows

    def _require_validation(self, X_val: Any, y_val: Any) -> None:
        """Raise an error unless held-out rows have targets and early stopping uses them."""
        who, given = type(self).__name__, {"X_val": X_val, "y_val": y_val}
        if isinstance(X_val, Source):
            raise CapabilityError(
                f"{who}: X_val is a source that is read block by block, but held-out rows must be "
                "in memory. Load them with X_val, y_val, sample_weight_val = source.arrays()."
            )
        missing = [name for name, value in given.items() if value is None]
        if len(missing) == 2:
            raise DataError(
                f"{who}: sample_weight_val is provided, but X_val and y_val were not provided. "
                "Pass the held-out rows to fit, too."
            )
        if missing:
            other = "y_val" if missing == ["X_val"] else "X_val"
            raise DataError(
                f"{who}: {other} is provided, but {missing[0]} was not provided. Held-out rows "
                "need both."
            )
        if self.early_stopping is False:
            raise ParameterError(
                f"{who}: X_val and y_val are passed to fit while at the same time early_stopping "
                'is False, so that they would not be used. Set early_stopping to "auto" or True, '
                "or leave them out."
            )

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

    def _begin(
        self, rows: Rows, held: Rows | None, before: Sequence[Member]
    ) -> tuple[Boosting, Rows | None]:
        """As in memory; rows of a Dask collection stay on the workers where they can."""
        plan = self._plan(rows)
        if (
            not on_workers(rows)
            or self.reoptimise == "all"
            or (self.do_early_stopping_ and self.scoring != "loss")
        ):
            return super()._begin(rows, held, before)
        counts = self._columns.n_categories.tolist()
        self._bins = bins_of_rows(
            rows.X,
            rows.weight,
            max_bins=self.max_bins,
            n_categories={place: counts[place] for place in self._columns.categorical},
        )
        of_partitions = held is not None and on_workers(held)
        return DistributedBoosting(
            plan,
            rows,
            start=self._start,
            members=list(before),
            bins=self._bins,
            rules=self._rules(rows),
            workers=Workers.begin(
                rows,
                held if of_partitions else None,
                self._bins,
                self._start,
                before,
                own_targets=not hasattr(self, "classes_"),
            ),
        ), None if of_partitions else held

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
