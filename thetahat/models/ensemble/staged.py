"""What the faces of gradient boosting by rounds of whole trees share."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from thetahat.estimator.parameters import Range, at_least, more_than, none, one_of, whole
from thetahat.mathematics.losses.base import Link
from thetahat.mathematics.losses.likelihood import Logistic
from thetahat.mathematics.losses.links import link
from thetahat.mathematics.losses.residual import Squared
from thetahat.models.ensemble.boosted import Boosted, inside
from thetahat.models.ensemble.boosting import Boosting, Plan, Rows
from thetahat.models.ensemble.gradient_trees import NO_LIMIT, TreeRules
from thetahat.models.tree.directions import Directions
from thetahat.models.tree.regression import DecisionTreeRegressor
from thetahat.models.tree.single import share

Array = Any

NO_DIRECTIONS = Directions(np.empty((0, 2), dtype=np.int64), np.empty((0, 2)))

RANGES: dict[str, Range] = {
    "n_estimators": whole(1),
    "subsample": Range(lambda value: more_than(0).holds(value) and value <= 1, "in (0, 1]"),
    "min_samples_split": whole(2) | share,
    "min_samples_leaf": whole(1) | share,
    "min_weight_fraction_leaf": Range(
        lambda value: at_least(0).holds(value) and value <= 0.5, "a number from 0 to 0.5"
    ),
    "max_depth": whole(1) | none,
    "min_impurity_decrease": at_least(0),
    "init": one_of("zero") | none | Range(lambda value: hasattr(value, "fit"), "an estimator"),
    "max_features": whole(1) | share | one_of("sqrt", "log2") | none,
    "max_leaf_nodes": whole(2) | none,
    "validation_fraction": inside,
    "n_iter_no_change": whole(1) | none,
    "max_bins": Range(lambda value: whole(2).holds(value) and value <= 255, "from 2 to 255"),
}


class Staged(Boosted):
    """What the two faces share."""

    _ranges: ClassVar[dict[str, Range]] = {**Boosted._ranges, **RANGES}

    @property
    def _n_rounds(self) -> int:
        return int(self.n_estimators)

    @property
    def n_estimators_(self) -> int:
        """Rounds of the fitted model."""
        return self._rounds_of(self._trees)

    @property
    def estimators_(self) -> Array:
        """Every tree as a `DecisionTreeRegressor`, (n_estimators, n_trees_per_iteration).

        Their values are multiplied by the learning rate already.
        """
        check_is_fitted(self, "_trees")
        held = np.empty(len(self._trees), dtype=object)
        for place, tree in enumerate(self._trees):
            held[place] = _as_estimator(self, tree)
        return held.reshape(-1, self.n_trees_per_iteration_)

    @property
    def train_score_(self) -> Array:
        """The loss of the rows fitted after every round (the deviance, for likelihoods)."""
        return np.asarray(self._scores.get("fitted", []))

    @property
    def oob_improvement_(self) -> Array:
        """By how much each round lowered the loss of rows it did not draw; with subsample < 1."""
        kept = np.reshape(self._scores.get("out of bag", []), (-1, 2))
        return kept[:, 0] - kept[:, 1]

    @property
    def oob_scores_(self) -> Array:
        """The loss after each round of the rows it did not draw; with subsample < 1."""
        return np.reshape(self._scores.get("out of bag", []), (-1, 2))[:, 1]

    def apply(self, X: Any) -> Array:
        """The leaf of every row in every tree.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, n_estimators, n_trees_per_iteration)
        """
        check_is_fitted(self, "_trees")
        leaves = self._packed.leaves(self._rows(X)).T
        return leaves.reshape(len(leaves), -1, self.n_trees_per_iteration_).astype(np.float64)

    def _rules(self, rows: Rows) -> TreeRules:
        n, d = len(rows.y), rows.X.shape[1]
        total = float(n if rows.weight is None else rows.weight.sum())
        self.max_features_ = _columns_to_look_at(self.max_features, d)

        def least(number: Any) -> float:
            return float(number) if isinstance(number, Integral) else float(np.ceil(number * total))

        drawn = total * self.subsample
        return TreeRules(
            max_leaves=self.max_leaf_nodes or NO_LIMIT,
            max_depth=NO_LIMIT if self.max_depth is None else self.max_depth,
            min_split=max(2.0, least(self.min_samples_split)),
            min_rows=max(least(self.min_samples_leaf), self.min_weight_fraction_leaf * drawn),
            min_gain=self.min_impurity_decrease * drawn,
            max_features=self.max_features_,
        )

    def _plan(self, rows: Rows) -> Plan:
        return Plan(
            loss=self.loss_,
            learning_rate=float(self.learning_rate),
            rules=self._rules(rows),
            n_columns=self.n_trees_per_iteration_,
            subsample=float(self.subsample),
            leaf_update=self.leaf_update,
            curved_splits=False,
            huber_level=self._huber_level,
            ccp_alpha=float(self.ccp_alpha),
            seed=self._seed,
        )

    @property
    def _huber_level(self) -> float | None:
        return None

    def _patience(self, rows: Rows) -> int | None:
        return self.n_iter_no_change

    def _best_constant(self, rows: Rows) -> Array:
        if self.init is None:
            found = super()._best_constant(rows)
            self.init_ = found
            return found
        if isinstance(self.init, str):
            self.init_ = np.zeros(self.n_trees_per_iteration_)
            return np.zeros(self.n_trees_per_iteration_)
        labels = self.classes_[np.maximum(rows.y, 0).astype(int)] if self._labelled_y else rows.y
        weighted = rows.weight is not None and has_fit_parameter(self.init, "sample_weight")
        extra = {"sample_weight": rows.weight} if weighted else {}
        self.init_ = clone(self.init).fit(rows.X, labels, **extra)
        return np.zeros(self.n_trees_per_iteration_)

    @property
    def _labelled_y(self) -> bool:
        return hasattr(self, "classes_")

    def _first(self, rows: Rows) -> Array:
        return self._started(rows.X)

    def _started(self, rows: Array) -> Array:
        raw = super()._started(rows)
        return raw if isinstance(self.init_, np.ndarray) else raw + self._by_init(rows)

    def _by_init(self, rows: Array) -> Array:
        """Raw predictions of the model that comes first, (n, n_columns)."""
        if self._labelled_y:
            return self._raw_from_probabilities(self.init_.predict_proba(rows))
        said = np.asarray(self.init_.predict(rows), dtype=np.float64).reshape(len(rows), 1)
        if self.loss_.link is Link.IDENTITY:
            return said
        return np.asarray(link(self.loss_.link, said))

    def _note(self, boosting: Boosting, out_of_bag: Array | None) -> None:
        factor = 2.0 if isinstance(self.loss_, Squared | Logistic) else 1.0
        self._scores.setdefault("fitted", []).append(factor * boosting.mean_loss())
        if boosting.left_out_losses is not None:
            losses = self._scores.setdefault("out of bag", [])
            losses.extend(factor * loss for loss in boosting.left_out_losses)


def _columns_to_look_at(max_features: Any, d: int) -> int:
    if max_features is None:
        return d
    if isinstance(max_features, str):
        return max(1, int(np.sqrt(d) if max_features == "sqrt" else np.log2(d)))
    if isinstance(max_features, Integral):
        return min(int(max_features), d)
    return max(1, int(max_features * d))


def _as_estimator(boosted: Boosted, tree: Any) -> DecisionTreeRegressor:
    """A tree of the ensemble as a regressor of its own."""
    alone = DecisionTreeRegressor()
    alone.tree_, alone._columns = tree, boosted._columns
    alone.n_features_in_, alone.n_outputs_ = boosted.n_features_in_, 1
    alone.max_features_, alone._directions = tree.n_features, NO_DIRECTIONS
    return alone
