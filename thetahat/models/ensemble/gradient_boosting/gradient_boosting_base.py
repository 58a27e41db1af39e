"""Parts shared by GradientBoostingClassifier and GradientBoostingRegressor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from thetahat.data.in_memory import InMemory
from thetahat.estimator.watching import with_callbacks
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.links import Link, link
from thetahat.models.ensemble.combination.rows_as_given import open_as_given, rows_as_given
from thetahat.models.ensemble.gradient_boosting.fitted_attributes import FittedAttributes
from thetahat.models.ensemble.gradient_boosting.gradient_trees import NO_LIMIT, TreeRules
from thetahat.models.ensemble.gradient_boosting.learner_rounds import LearnerRounds
from thetahat.models.ensemble.gradient_boosting.members import Member
from thetahat.models.ensemble.gradient_boosting.parameters import GradientBoostingParameters
from thetahat.models.ensemble.gradient_boosting.rounds import Boosting, Learn, Plan, Rows
from thetahat.models.ensemble.members import MemberSequence
from thetahat.models.tree.structure import Tree
from thetahat.models.tree.weighted_trees import WeightedTrees


class BaseGradientBoosting(GradientBoostingParameters, MemberSequence, FittedAttributes):
    """Boosting of regression trees, or of any regressor.

    Trees accept tables with categories and missing values; what another base estimator accepts
    depends on that estimator.

    Attributes
    ----------
    estimators_ : array of shape (n_iterations, n_trees_per_iteration)
        The fitted trees or base estimators, one row per iteration. The raw prediction is that of
        ``init_`` plus the sum of their predictions times ``estimator_weights_``.
    estimator_weights_ : array of shape (n_iterations, n_trees_per_iteration)
        Factor of each base estimator in the raw prediction: η for trees, η·α for others.
    n_estimators_ : int
        Number of boosting iterations of the fitted model.
    init_ : estimator or "zero"
        The fitted model that makes the initial predictions.
    train_score_ : array of shape (n_iterations,)
        Mean loss on the training rows after each iteration: for likelihoods the deviance, for the
        squared error the mean squared error.
    feature_importances_ : array of shape (d,)
        Relative importance of each column: its share of the total gain of all splits. With a base
        estimator, the weighted mean of the importances that it provides.
    """

    _search_space: ClassVar[dict[str, tuple[Any, ...]]] = {
        "learning_rate": (0.02, 0.05, 0.1, 0.2),
        "n_estimators": (50, 100, 200, 400),
        "max_depth": (2, 3, 4, 6),
        "min_samples_leaf": (1, 5, 20),
        "subsample": (0.5, 0.8, 1.0),
        "max_features": (None, "sqrt", 0.5),
    }

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        monitor: Callable[[int, Any, dict[str, Any]], Any] | None = None,
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
        monitor : callable, optional
            Function that is called after each iteration as ``monitor(i, self, state)`` with the
            number of the iteration (from 0), the estimator with the trees so far, and a dict with
            "X", "y", "sample_weight" and "raw_predictions". A true result ends the fit, and the
            trees so far are kept. Each call costs O(trees so far).

        Returns
        -------
        self
            The fitted estimator.
        """
        if monitor is not None and not callable(monitor):
            raise ParameterError(
                f"{type(self).__name__}: monitor={monitor!r} must be a function monitor(i, model, "
                "state) that returns whether the fit ends, or None."
            )
        ends = None if monitor is None else partial(self._ends, monitor)
        return self._boost(X, y, sample_weight, ends=ends)

    def _ends(self, monitor: Callable[[int, Any, dict[str, Any]], Any], boosting: Boosting) -> bool:
        """Call the monitor with the model so far; return whether it ends the fit."""
        rows = boosting.rows
        state = {"X": rows.X, "y": rows.y, "sample_weight": rows.weight}
        self.__dict__.update(self._fitted_with(boosting.members))
        state["raw_predictions"] = boosting.raw
        return bool(monitor(boosting.n_rounds - 1, self, state))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "__sklearn_tags__"):
            inner = get_tags(self.estimator).input_tags
            tags.input_tags.allow_nan, tags.input_tags.sparse = inner.allow_nan, inner.sparse
        return tags

    def _open(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        supervised: bool = True,
        check_finite: bool = False,
    ) -> InMemory:
        if self.estimator is None:
            return super()._open(X, y, sample_weight, supervised=supervised)
        if self.checkpoint is not None:
            raise ParameterError(
                f"{type(self).__name__}: checkpoint={self.checkpoint!r} can save trees only, but "
                f"estimator={self.estimator!r} was given. Leave one of them out; with "
                "warm_start=True a fit continues with any estimator."
            )
        self.__dict__.pop("_columns", None)
        return open_as_given(self, X, y, sample_weight, self.estimator)

    def _rows(self, X: Any) -> Any:
        if "_columns" in self.__dict__:
            return super()._rows(X)
        check_is_fitted(self)
        return rows_as_given(self, X, self.estimator, reset=False)

    def _trees_to_continue(self) -> Sequence[Member]:
        before = super()._trees_to_continue()
        if before and isinstance(before[0], Tree) != (self.estimator is None):
            raise ParameterError(
                f"{type(self).__name__}: warm_start=True continues the last fit, which used "
                f"{'trees' if self.estimator is not None else 'another estimator'}, but "
                f"estimator={self.estimator!r} now. Set warm_start=False to start from the "
                "beginning."
            )
        return before

    @property
    def _n_rounds(self) -> int:
        return int(self.n_estimators)

    def apply(self, X: Any) -> Array:
        """Return the leaf that each row reaches in each tree.

        Parameters
        ----------
        X : table of shape (n, d)
            Rows to send through the trees, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n, n_iterations, n_trees_per_iteration)
            Number of the leaf within its tree.
        """
        check_is_fitted(self, "_trees")
        if self._packed is None:
            raise CapabilityError(
                f"{type(self).__name__}: apply needs trees, and {self.estimator!r} has no leaves. "
                "Use estimator=None to boost trees."
            )
        leaves = self._packed.leaves(self._rows(X)).T
        return leaves.reshape(len(leaves), -1, self.n_trees_per_iteration_).astype(np.float64)

    def _rules(self, rows: Rows) -> TreeRules:
        n, d = len(rows.y), self.n_features_in_
        total = float(n if rows.weight is None else rows.weight.sum())
        self.max_features_ = _columns_to_look_at(self.max_features, d)

        def least(number: Any) -> float:
            if isinstance(number, Integral):
                return rows.unit_weight * float(number)
            return rows.unit_weight * float(np.ceil(number * total / rows.unit_weight))

        drawn = total * self.subsample
        return TreeRules(
            max_leaves=self.max_leaf_nodes or NO_LIMIT,
            max_depth=NO_LIMIT if self.max_depth is None else self.max_depth,
            min_split=max(2.0 * rows.unit_weight, least(self.min_samples_split)),
            min_rows=max(least(self.min_samples_leaf), self.min_weight_fraction_leaf * drawn),
            min_gain=self.min_impurity_decrease * drawn,
            max_features=self.max_features_,
        )

    def _plan(self, rows: Rows) -> Plan:
        return Plan(
            loss=self.loss_,
            learning_rate=float(self.learning_rate),
            n_columns=self.n_trees_per_iteration_,
            subsample=float(self.subsample),
            leaf_update=self.leaf_update,
            huber_level=self._huber_level,
            seed=self._seed,
        )

    def _learn(self, plan: Plan, rows: Rows) -> Learn:
        if self.estimator is None:
            return super()._learn(plan, rows)
        return LearnerRounds(plan, rows, self.estimator, type(self).__name__)

    def _tree_options(self) -> dict[str, Any]:
        return {"curved_splits": False, "ccp_alpha": float(self.ccp_alpha)}

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
        extra = {} if rows.weight is None else {"sample_weight": rows.weight}
        if extra and not has_fit_parameter(self.init, "sample_weight"):
            raise ParameterError(
                f"{type(self).__name__}: The initial estimator {type(self.init).__name__} does not "
                "support sample weights, and sample_weight or class_weight was given. Leave the "
                "weights out, or use an estimator whose fit accepts sample_weight."
            )
        first = clone(self.init).fit(rows.X, labels, **extra)
        if self._labelled_y and not hasattr(first, "predict_proba"):
            raise ParameterError(
                f"{type(self).__name__}: init={self.init!r} must have predict_proba, because "
                "boosting starts from its class probabilities. Use a classifier with "
                "probabilities, such as LogisticRegression, or init=None."
            )
        self.init_ = first
        return np.zeros(self.n_trees_per_iteration_)

    @property
    def _labelled_y(self) -> bool:
        return hasattr(self, "classes_")

    def _first(self, rows: Rows) -> Array:
        return self._started(rows.X)

    def _weighted_trees(self) -> WeightedTrees:
        if not self._starts_from_numbers:
            raise CapabilityError(
                f"{type(self).__name__}: contributions of columns are only available for trees "
                "that start from a constant. Leave out init."
            )
        return super()._weighted_trees()

    def _started(self, rows: Array) -> Array:
        raw = super()._started(rows)
        return raw if self._starts_from_numbers else raw + self._by_init(rows)

    def _by_init(self, rows: Array) -> Array:
        """Raw predictions of the initial model, of shape (n, n_columns)."""
        if self._labelled_y:
            return self._raw_from_probabilities(self.init_.predict_proba(rows))
        predicted = np.asarray(self.init_.predict(rows), dtype=np.float64).reshape(-1, 1)
        if self.loss_.link is Link.IDENTITY:
            return predicted
        return np.asarray(link(self.loss_.link, predicted))

    def _record(self, boosting: Boosting, out_of_bag: Array | None) -> None:
        factor = self.loss_.deviance_factor
        self._scores.setdefault("fitted", []).append(factor * boosting.mean_loss())
        if boosting.out_of_bag_losses is not None:
            losses = self._scores.setdefault("out of bag", [])
            losses.extend([0.0] * (2 * (boosting.n_rounds - 1) - len(losses)))
            losses.extend(factor * loss for loss in boosting.out_of_bag_losses)


def _columns_to_look_at(max_features: Any, d: int) -> int:
    if max_features is None:
        return d
    if isinstance(max_features, str):
        return max(1, int(np.sqrt(d) if max_features == "sqrt" else np.log2(d)))
    if isinstance(max_features, Integral):
        return min(int(max_features), d)
    return max(1, int(max_features * d))
