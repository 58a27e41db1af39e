"""Parts shared by AdaBoostClassifier and AdaBoostRegressor."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from thetahat.data.in_memory import InMemory
from thetahat.data.validation import as_features
from thetahat.estimator.base import is_frame
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import (
    LARGEST_FACTOR,
    MOST_MEMBERS,
    Range,
    boolean,
    check_ranges,
    more_than,
    one_of,
    whole,
)
from thetahat.estimator.watching import Watched, keep_so_far, with_callbacks
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Verdict
from thetahat.models.ensemble.adaboost.rounds import Boosting, Judge, Round
from thetahat.models.ensemble.adaboost.weak_learners import WeakLearners, takes_weights
from thetahat.models.ensemble.adaboost.weak_trees import WeakTrees, shares_columns
from thetahat.models.ensemble.members import MemberSequence
from thetahat.models.tree.learner import TreeLearner
from thetahat.models.tree.packed import PackedTrees
from thetahat.models.tree.single import SingleTree
from thetahat.models.tree.structure import Tree

Learners = Callable[[Array], tuple[Any, Array]]
"""Maps row weights to a fitted learner and its predictions for the training rows."""


@with_parameters
class AdaBoostParameters:
    """Parameters of the classifier and the regressor.

    Parameters
    ----------
    n_estimators : int, default=50
        Maximum number of boosting iterations. Fewer are made if a learner is perfect or no better
        than guessing. Must be at least 1.
    learning_rate : float, default=1.0
        Shrinks the contribution of each learner by this factor (ν). Smaller values need more
        iterations. Must be positive.
    random_state : int, Generator, RandomState or None, default=None
        Seed for drawing rows, and for learners that make random choices. Pass an int for the same
        result on every call.
    """

    _ranges: ClassVar[dict[str, Range]] = {
        "n_estimators": whole(1, MOST_MEMBERS),
        "learning_rate": more_than(0, LARGEST_FACTOR),
        "resample": boolean | one_of("auto"),
    }

    estimator: Any = None
    _: KW_ONLY
    n_estimators: int = 50
    learning_rate: float = 1.0
    random_state: Any = None


@dataclass
class Record:
    """Results of the iterations made so far."""

    learners: list[Any] = field(default_factory=list)
    votes: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    mistakes: list[float] = field(default_factory=list)
    stopped: str = ""
    count_mistakes: Callable[[Round], float] | None = None
    """Training error of the model so far, for classification."""

    def add(self, made: Round) -> None:
        # The learner last: the other lists are cut to the number of learners.
        self.votes.append(made.judgement.vote)
        self.errors.append(made.judgement.error)
        self.losses.append(made.loss)
        if self.count_mistakes is not None:
            self.mistakes.append(self.count_mistakes(made))
        self.learners.append(made.learner)

    @property
    def n_rounds(self) -> int:
        return len(self.learners)


def counted_rows(source: InMemory) -> tuple[InMemory, Array]:
    """Rows of positive weight, and their weights."""
    if source.weight is None:
        return source, np.ones(source.n_rows)
    if not source.weight.all():
        source = source.take(np.flatnonzero(source.weight))
    assert source.weight is not None
    return source, source.weight


class WeightBoosting(AdaBoostParameters, MemberSequence, Watched, TreeLearner, ABC):
    """Learners fitted one after another, each to rows reweighted by the errors of the earlier ones.

    Trees accept tables with categories and missing values; for other learners, rows are read as
    numbers, and the learner validates the rest. Sparse rows stay sparse, unless trees split
    categories or oblique directions.

    Attributes
    ----------
    estimator_ : estimator
        The unfitted learner that was boosted.
    estimators_ : list of estimators
        The fitted learners, in the order of the iterations.
    estimator_weights_, estimator_errors_ : arrays of shape (n_estimators,)
        Weight and weighted error of each learner (α and ε). For iterations that were not made they
        are 0 and 1.
    stopped_ : str
        Reason why boosting ended, as text.
    feature_importances_ : array of shape (d,)
        Relative importance of each column: the mean of the importances of the learners, weighted by
        ``estimator_weights_``.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : array of shape (d,)
        Names of the columns seen in `fit`. Defined only when X has column names that are all
        strings.
    """

    _keeps_sparse = True
    resample: bool | str

    estimator_: Any
    estimators_: list[Any]
    estimator_weights_: Array
    estimator_errors_: Array
    stopped_: str
    _votes: Array
    """α of the iterations made, before normalisation."""
    _walk: PackedTrees | None
    """The learners packed for prediction, if they are trees."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "__sklearn_tags__"):
            tags.input_tags.allow_nan = get_tags(self.estimator).input_tags.allow_nan
        return tags

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit the learners one after another. Cost: one fit of the learner per iteration.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Training rows, of any kind that the learner accepts.
        y : array-like of shape (n,)
            Class label or target value of each training row.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._choose_learner()
        self._fit_learners(X, y, sample_weight)
        return self

    @abstractmethod
    def _fit_learners(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Read the rows and boost ``estimator_``."""

    @abstractmethod
    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Predictions after each iteration."""

    @abstractmethod
    def _score_of(self, y: Any, predicted: Array, sample_weight: Any) -> float:
        """Accuracy of predicted labels, or R² of predicted targets."""

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Compute the accuracy or R² after each iteration. Cost: as `staged_predict`.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to predict, with the same columns as in `fit`.
        y : array-like of shape (n,)
            True label or target of each row.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Yields
        ------
        float
            Score of the model with one more learner.
        """
        for predicted in self.staged_predict(X):
            yield self._score_of(y, predicted, sample_weight)

    @abstractmethod
    def _default_learner(self) -> Any:
        """The learner used when `estimator` is None."""

    def _choose_learner(self) -> None:
        """Set ``estimator_``; an error if it is not an estimator."""
        check_ranges(self)
        chosen = self._default_learner() if self.estimator is None else self.estimator
        if not (hasattr(chosen, "fit") and hasattr(chosen, "predict")):
            raise ParameterError(
                f"{type(self).__name__}: estimator={chosen!r} must have fit and predict, or be "
                "None for a small tree."
            )
        if self.resample is False and not takes_weights(chosen):
            raise ParameterError(
                f"{type(self).__name__}: {type(chosen).__name__} doesn't support sample_weight, "
                "which resample=False requires. Use resample='auto'."
            )
        self.estimator_ = chosen

    def _open(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        supervised: bool = True,
        check_finite: bool = False,
    ) -> Any:
        if isinstance(self.estimator_, SingleTree):
            categories = self.estimator_.categorical_features
            return self._open_columns(
                X, y, sample_weight, categorical_features=categories, supervised=supervised
            )
        self.__dict__.pop("_columns", None)
        return super(TreeLearner, self)._open(
            X, y, sample_weight, supervised=supervised, check_finite=False
        )

    def _rows(self, X: Any) -> Array:
        check_is_fitted(self)
        if "_columns" in self.__dict__:
            return super()._rows(X)
        features, _ = as_features(X, who=type(self).__name__)
        validate_data(self, X if is_frame(X) else features, skip_check_array=True, reset=False)
        return features

    def _boost(
        self, learners: Learners, judge: Judge, weight: Array, record: Record, X: Any, y: Any
    ) -> None:
        """Iterate; the learners so far are kept on Ctrl-C and when the time limit is reached."""
        rounds = Boosting(learners, judge, weight, self.n_estimators)
        verdict = Verdict.GO_ON
        with self._watching(self.n_estimators, self._attributes, X, y) as watch:
            try:
                for number, made in enumerate(rounds, start=1):
                    record.add(made)
                    verdict = watch(number, record, record.losses[-1])
                    if verdict is not Verdict.GO_ON:
                        rounds.stopped = f"iteration {number}: {verdict.value}"
                        break
            except KeyboardInterrupt as interrupt:
                if record.n_rounds:
                    record.stopped = f"iteration {record.n_rounds}: interrupted"
                    keep_so_far(self, interrupt, **self._attributes(record))
                raise
        record.stopped = rounds.stopped
        self.__dict__.update(self._attributes(record))
        self._warn_if_cut_short(verdict)

    def _learners(
        self,
        source: InMemory,
        classes: Array | None,
        answer: Callable[[Any, Array], Array],
        answer_of_values: Callable[[Array], Array],
    ) -> Learners:
        """Function that fits a learner to weighted rows; `source.y`: numbers or class codes."""
        learner, random = self.estimator_, generator(self.random_state)
        resample = not takes_weights(learner) if self.resample == "auto" else bool(self.resample)
        if shares_columns(learner):
            return WeakTrees.on(
                learner, source, self._columns, classes, answer_of_values, random, resample
            )
        if isinstance(learner, SingleTree):
            # The learner receives the encoded rows, in which categories are numbers.
            kinds = self._columns.is_categorical if self._columns.categorical else None
            learner = clone(learner).set_params(categorical_features=kinds)
        total = float(source.n_rows if source.weight is None else source.weight.sum())
        assert source.y is not None
        target = source.y if classes is None else classes[source.y]
        return WeakLearners(learner, source.X, target, answer, random, resample, total)

    def _attributes(self, record: Record) -> dict[str, Any]:
        """Fitted attributes after the iterations of `record`."""
        n, rounds = self.n_estimators, record.n_rounds
        votes, errors = np.zeros(n), np.ones(n)
        votes[:rounds], errors[:rounds] = record.votes[:rounds], record.errors[:rounds]
        return {
            "estimators_": list(record.learners),
            "_votes": votes[:rounds],
            "_walk": self._put_together(record.learners, votes[:rounds]),
            "estimator_weights_": votes,
            "estimator_errors_": errors,
            "stopped_": record.stopped,
        }

    def _warn_if_cut_short(self, verdict: Verdict) -> None:
        who = type(self).__name__
        if verdict is Verdict.OUT_OF_TIME:
            warn(
                f"{who}: out of time after {len(self.estimators_)} of {self.n_estimators} "
                "iterations; the learners so far are kept. Increase th.config(max_time=...), or "
                "reduce n_estimators.",
                ConvergenceWarning,
            )
        elif len(self.estimators_) == 1 and self.stopped_.startswith(
            "iteration 1: the weighted error"
        ):
            warn(
                f"{who} stopped in {self.stopped_}. The model consists of this learner alone. Use "
                "a stronger learner, such as a deeper tree, or more informative columns.",
                ConvergenceWarning,
            )

    def _put_together(self, learners: list[Any], votes: Array) -> PackedTrees | None:
        """The learners packed together; None if they are not trees on the same columns."""
        if not learners or not shares_columns(learners[0]):
            return None
        trees = [
            replace(learner.tree_, values=self._node_values(learner.tree_, float(vote)))
            for learner, vote in zip(learners, votes, strict=True)
        ]
        return PackedTrees.pack(trees)

    @abstractmethod
    def _node_values(self, tree: Tree, vote: float) -> Array:
        """Contribution of each node of a tree to the scores, (n_nodes, width)."""

    @property
    def feature_importances_(self) -> Array:
        """Mean of the importances of the learners, weighted by their votes. Cost: O(T·d)."""
        check_is_fitted(self)
        if not hasattr(self.estimators_[0], "feature_importances_"):
            raise AttributeError(
                f"{type(self).__name__} has no feature_importances_, because its learner "
                f"{type(self.estimators_[0]).__name__} has none. Boost trees, or use "
                "sklearn.inspection.permutation_importance."
            )
        importances = [learner.feature_importances_ for learner in self.estimators_]
        return np.average(importances, axis=0, weights=self._votes)
