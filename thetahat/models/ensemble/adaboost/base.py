"""What AdaBoost for classes and for numbers share: learners, votes, how the rounds are kept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from thetahat.data.in_memory import InMemory
from thetahat.data.validation import as_features
from thetahat.estimator.base import is_frame
from thetahat.estimator.parameters import Range, boolean, check_ranges, more_than, one_of, whole
from thetahat.estimator.watching import Watched
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Verdict
from thetahat.models.ensemble.adaboost.rounds import Boosting, Judge, Round
from thetahat.models.ensemble.adaboost.weak_learners import WeakLearners, takes_weights
from thetahat.models.ensemble.adaboost.weak_trees import WeakTrees, shares_columns
from thetahat.models.tree.learner import TreeLearner
from thetahat.models.tree.packed import PackedTrees
from thetahat.models.tree.single import SingleTree
from thetahat.models.tree.structure import Tree

Learners = Callable[[Array], tuple[Any, Array]]
"""Weights ↦ a fitted learner and its answers on the training rows."""

RANGES: dict[str, Range] = {
    "n_estimators": whole(1),
    "learning_rate": more_than(0),
    "resample": boolean | one_of("auto"),
}


@dataclass
class Record:
    """The rounds that were made, and what each left behind."""

    learners: list[Any] = field(default_factory=list)
    votes: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    mistakes: list[float] = field(default_factory=list)
    stopped: str = ""
    count_mistakes: Callable[[Round], float] | None = None
    """The training error of all rounds together, where there is such a thing."""

    def add(self, made: Round) -> None:
        # The learner last: what came before it is cut to as many rounds.
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
    """The rows that count, and their weights: a row of weight zero is absent."""
    if source.weight is None:
        return source, np.ones(source.n_rows)
    if not source.weight.all():
        source = source.take(np.flatnonzero(source.weight))
    assert source.weight is not None
    return source, source.weight


class WeightBoosting(Watched, TreeLearner, ABC):
    """Learners fitted one after the other, each on the rows as the ones before have left them.

    Trees take tables with categories and missing values; for other learners rows are opened as
    numbers, and what else they refuse is theirs to say.
    """

    _ranges: ClassVar[dict[str, Range]] = RANGES

    estimator: Any
    n_estimators: int
    learning_rate: float
    random_state: Any
    resample: bool | str

    estimator_: Any
    estimators_: list[Any]
    estimator_weights_: Array
    estimator_errors_: Array
    stopped_: str
    _votes: Array
    """α of the rounds made, as they were given."""
    _walk: PackedTrees | None
    """The learners put together for prediction, if they are trees."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "__sklearn_tags__"):
            tags.input_tags.allow_nan = get_tags(self.estimator).input_tags.allow_nan
        return tags

    @abstractmethod
    def _default_learner(self) -> Any:
        """What is boosted when no `estimator` is given."""

    def _choose_learner(self) -> None:
        """Keep ``estimator_``, or refuse what is no learner."""
        check_ranges(self)
        chosen = self._default_learner() if self.estimator is None else self.estimator
        if not (hasattr(chosen, "fit") and hasattr(chosen, "predict")):
            raise ParameterError(
                f"{type(self).__name__}: estimator={chosen!r} must have fit and predict, or be "
                "None for a small tree."
            )
        if self.resample is False and not takes_weights(chosen):
            raise ParameterError(
                f"{type(self).__name__}: {type(chosen).__name__} doesn't support sample_weight, so "
                "resample=False leaves it no way to see the weights. Use resample='auto'."
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
        """Make the rounds; those made so far are kept on Ctrl-C and when time is up."""
        rounds = Boosting(learners, judge, weight, self.n_estimators)
        verdict = Verdict.GO_ON
        with self._watching(self.n_estimators, self._attributes, X, y) as watch:
            try:
                for number, made in enumerate(rounds, start=1):
                    record.add(made)
                    verdict = watch(number, record, record.losses[-1])
                    if verdict is not Verdict.GO_ON:
                        rounds.stopped = f"round {number}: {verdict.value}"
                        break
            except KeyboardInterrupt:
                if record.n_rounds:
                    record.stopped = f"round {record.n_rounds}: interrupted"
                    self.__dict__.update(self._attributes(record))
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
        """What fits a learner to weighted rows; `source.y` are numbers, or codes of `classes`."""
        learner, random = self.estimator_, generator(self.random_state)
        resample = not takes_weights(learner) if self.resample == "auto" else bool(self.resample)
        if shares_columns(learner):
            return WeakTrees.on(
                learner, source, self._columns, classes, answer_of_values, random, resample
            )
        if isinstance(learner, SingleTree):
            # It is given the rows as read: their categories are numbers from here on.
            kinds = self._columns.is_categorical if self._columns.categorical else None
            learner = clone(learner).set_params(categorical_features=kinds)
        total = float(source.n_rows if source.weight is None else source.weight.sum())
        assert source.y is not None
        target = source.y if classes is None else classes[source.y]
        return WeakLearners(learner, source.X, target, answer, random, resample, total)

    def _attributes(self, record: Record) -> dict[str, Any]:
        """The fitted attributes after the rounds of `record`; votes and errors as many as asked."""
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
                f"{who}: out of time after {len(self.estimators_)} of {self.n_estimators} rounds, "
                "which are kept. Raise th.config(max_time=...), or ask for fewer rounds.",
                ConvergenceWarning,
            )
        elif len(self.estimators_) == 1 and self.stopped_.startswith("round 1: the learner errs"):
            warn(
                f"{who} stopped in {self.stopped_}. It is kept alone. Give a learner that tells "
                "more from these columns, or other columns.",
                ConvergenceWarning,
            )

    def _put_together(self, learners: list[Any], votes: Array) -> PackedTrees | None:
        """The learners as one walk; None if they are no trees on the same columns."""
        if not learners or not shares_columns(learners[0]):
            return None
        trees = [
            replace(learner.tree_, values=self._node_values(learner.tree_, float(vote)))
            for learner, vote in zip(learners, votes, strict=True)
        ]
        return PackedTrees.pack(trees)

    @abstractmethod
    def _node_values(self, tree: Tree, vote: float) -> Array:
        """What each node of a tree adds to the answer, (n_nodes, width)."""

    @property
    def feature_importances_(self) -> Array:
        """What the learners make of each column, averaged by their votes. Cost: O(rounds·d)."""
        check_is_fitted(self)
        if not hasattr(self.estimators_[0], "feature_importances_"):
            raise AttributeError(
                f"{type(self.estimators_[0]).__name__} has no feature_importances_, so the "
                f"{type(self).__name__} of it has none either. Boost trees, or use "
                "sklearn.inspection.permutation_importance."
            )
        importances = [learner.feature_importances_ for learner in self.estimators_]
        return np.average(importances, axis=0, weights=self._votes)
