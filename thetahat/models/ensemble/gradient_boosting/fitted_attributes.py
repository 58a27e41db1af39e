"""What a fitted GradientBoosting model shows: its start, its members and their weights, its losses.

    raw(x) = start + Σ weight · member(x)

for trees and other base estimators alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.foundation.types import Array
from thetahat.models.baseline.constant_classifier import ConstantClassifier
from thetahat.models.baseline.constant_regressor import ConstantRegressor
from thetahat.models.ensemble.gradient_boosting.base import BaseBoosting
from thetahat.models.ensemble.gradient_boosting.members import times
from thetahat.models.tree.growth.directions import Directions
from thetahat.models.tree.regression import DecisionTreeRegressor
from thetahat.models.tree.structure import Tree

NO_DIRECTIONS = Directions(np.empty((0, 2), dtype=np.int64), np.empty((0, 2)))

OF_TREES = (
    "ccp_alpha",
    "max_depth",
    "max_features",
    "max_leaf_nodes",
    "min_impurity_decrease",
    "min_samples_leaf",
    "min_samples_split",
    "min_weight_fraction_leaf",
)
"""Parameters that the trees of the ensemble share with it."""


class FittedAttributes(BaseBoosting):
    """The fitted attributes of scikit-learn's models of the same names."""

    @property
    def init_(self) -> Any:
        """The fitted model of the initial predictions, or "zero"."""
        held = self._held_init
        if held is None:
            raise AttributeError(f"{type(self).__name__} has init_ after fit. Call fit first.")
        if not self._starts_from_numbers:
            return held
        return "zero" if isinstance(self.init, str) and not held.any() else self._constant_model()

    @init_.setter
    def init_(self, held: Any) -> None:
        self.__dict__["_init"] = held

    @property
    def _held_init(self) -> Any:
        """The model of the initial predictions, or the constants; None before `fit`."""
        own = self.__dict__
        return own.get("_init", own.get("init_"))  # the name in files of version 0.1 at first

    @property
    def _starts_from_numbers(self) -> bool:
        """Whether the initial raw predictions are constants, not those of a model."""
        return isinstance(self._held_init, np.ndarray)

    def _constant_model(self) -> Any:
        """A fitted model that predicts what boosting starts from."""
        raw = self._start[None]
        answer, d = self._predicted(raw, None), self.n_features_in_
        if not hasattr(self, "classes_"):
            return ConstantRegressor().fit(np.zeros((1, d)), answer)
        shares = self.classes_ == answer
        if hasattr(self, "predict_proba"):
            shares = self._probable(raw)[0]
        return ConstantClassifier().fit(np.zeros((len(shares), d)), self.classes_, shares)

    @property
    def n_estimators_(self) -> int:
        """Number of boosting iterations of the fitted model."""
        return self._rounds_of(self._trees)

    @property
    def estimators_(self) -> Array:
        """The fitted base estimators, of shape (n_iterations, n_trees_per_iteration).

        Trees are given as `DecisionTreeRegressor`; ``estimator_weights_`` has the factor of each.
        """
        check_is_fitted(self, "_trees")
        held = np.empty(len(self._trees), dtype=object)
        for place, member in enumerate(self._trees):
            if isinstance(member, Tree):
                held[place] = _as_estimator(self, times(member, 1.0 / self._rate))
            else:
                held[place] = member.learner
        return held.reshape(-1, self.n_trees_per_iteration_)

    @property
    def estimator_weights_(self) -> Array:
        """Factor of each base estimator in the prediction, in the shape of ``estimators_``.

        The learning rate; for base estimators other than trees, times the coefficient with the
        smallest loss.
        """
        check_is_fitted(self, "_trees")
        weights = [getattr(member, "coefficient", self._rate) for member in self._trees]
        return np.array(weights).reshape(-1, self.n_trees_per_iteration_)

    @property
    def _rate(self) -> float:
        """The learning rate; 1 if it was set to 0 after the fit, since values are divided by it."""
        return float(self.learning_rate) or 1.0

    @property
    def feature_importances_(self) -> Array:
        """Relative importance of each column: its share of the total gain of all splits.

        With another base estimator, the mean of the importances that the fitted estimators provide,
        weighted by ``estimator_weights_``.
        """
        check_is_fitted(self)
        if not self._trees or isinstance(self._trees[0], Tree):
            return super().feature_importances_
        found = [each.feature_importances_ for each in self.estimators_.ravel()]
        sums = np.abs(self.estimator_weights_).ravel() @ np.array(found)
        return sums / sums.sum() if sums.any() else sums

    @property
    def train_score_(self) -> Array:
        """Loss on the training rows after each iteration (for likelihoods, the deviance)."""
        return np.asarray(self._scores.get("fitted", []))

    @property
    def oob_improvement_(self) -> Array:
        """Decrease of the loss on the out-of-bag rows in each iteration, with ``subsample`` < 1."""
        kept = self._out_of_bag_losses()
        return kept[:, 0] - kept[:, 1]

    @property
    def oob_scores_(self) -> Array:
        """Loss on the out-of-bag rows after each iteration, with ``subsample`` < 1."""
        return self._out_of_bag_losses()[:, 1]

    @property
    def oob_score_(self) -> float:
        """Last entry of ``oob_scores_``."""
        return float(self.oob_scores_[-1])

    def _out_of_bag_losses(self) -> Array:
        """Losses before and after each iteration; zeros for those of a warm start without them."""
        check_is_fitted(self, "_trees")
        if not self._scores.get("out of bag"):
            raise AttributeError(
                f"{type(self).__name__} has out-of-bag losses after a fit with subsample < 1 only, "
                f"and subsample={self.subsample!r}. Reduce subsample and fit it."
            )
        kept = np.reshape(self._scores["out of bag"], (-1, 2))
        return np.pad(kept, ((0, max(0, self.n_estimators_ - len(kept))), (0, 0)))


def _as_estimator(boosted: BaseBoosting, tree: Any) -> DecisionTreeRegressor:
    """A tree of the ensemble as a `DecisionTreeRegressor`."""
    alone = DecisionTreeRegressor(
        **{name: value for name, value in boosted.get_params(False).items() if name in OF_TREES}
    )
    alone.tree_, alone._columns = tree, boosted._columns
    alone.n_features_in_, alone.n_outputs_ = boosted.n_features_in_, 1
    alone.max_features_, alone._directions = tree.n_features, NO_DIRECTIONS
    return alone
