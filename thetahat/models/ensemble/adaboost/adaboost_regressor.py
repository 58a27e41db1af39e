"""AdaBoost.R2: regressors, each fitted to the rows where the ones before were far off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.callback import with_callbacks

from thetahat import _native
from thetahat.estimator.parameters import one_of
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array
from thetahat.models.ensemble.adaboost.base import RANGES, Record, WeightBoosting, counted_rows
from thetahat.models.ensemble.adaboost.ranked_trees import RankedTrees
from thetahat.models.ensemble.adaboost.votes import Votes
from thetahat.models.tree.regression import DecisionTreeRegressor
from thetahat.models.tree.structure import Tree

ROWS_PER_THREAD = 1024
"""Fewer rows than this are not worth a thread of their own."""


class AdaBoostRegressor(RegressorMixin, WeightBoosting):
    """Boosted regressors that answer with the weighted median of theirs.

    Formula: with eᵢ = |yᵢ − G(xᵢ)|/max|y − G| and the loss Lᵢ = eᵢ (linear), eᵢ² (square) or
    1 − e^{−eᵢ} (exponential), ε = Σ wL/Σw and β = ε/(1 − ε): rows w ← w·β^{ν(1 − L)}, votes
    α = ν·log(1/β), answer the α-weighted median of the learners. Rounds end early when ε ≥ ½ or
    ε = 0; ``stopped_`` says so.

    Cost: one fit of the learner per round, plus O(n); to predict, O(T) a row for T learners.

    Parameters
    ----------
    estimator : regressor, default=None
        The learner; None is a tree of depth 3.
    n_estimators : int, default=50
        Rounds at most.
    learning_rate : float, default=1.0
        ν.
    loss : {"linear", "square", "exponential"}, default="linear"
        L.
    random_state : int, Generator, RandomState or None, default=None
        For the draws of rows, and for the learner if it makes random choices.
    resample : bool or "auto", default=True
        Draw rows in proportion to the weights, as the method was published: the learners then
        differ more, which helps their median. A learner that takes weights gets them times
        exponential random numbers instead (the Bayesian bootstrap). False gives it the weights as
        they are, "auto" does so unless it takes none.

    Attributes
    ----------
    estimator_ : regressor
        The learner that was boosted.
    estimators_ : list of regressors
        Those fitted, in their order.
    estimator_weights_, estimator_errors_ : arrays of shape (n_estimators,)
        α and ε of each round; 0 and 1 for rounds that were not made.
    stopped_ : str
        Why the rounds ended.
    feature_importances_ : array of shape (d,)
        What the learners make of each column, averaged by their votes.
    n_features_in_, feature_names_in_
        The columns of `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> model = th.AdaBoostRegressor(n_estimators=30).fit(X, np.sin(X[:, 0]))
    >>> model.score(X, np.sin(X[:, 0])) > 0.95
    True
    """

    _draws_rows = True
    _ranges = {**RANGES, "loss": one_of("linear", "square", "exponential")}  # noqa: RUF012
    _ranked: RankedTrees | None = None
    """The learners as trees with ranks for values, if they are small trees (and the file that the
    model comes from knows of them)."""

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        loss: str = "linear",
        random_state: Any = None,
        resample: bool | str = True,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.loss = loss
        self.random_state = random_state
        self.resample = resample

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> AdaBoostRegressor:
        """Make the rounds. Cost: one fit of the learner each.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows; what the learner takes.
        y : array-like of shape (n,)
            Their targets.
        sample_weight : array-like of shape (n,), optional
            How often each row counts.

        Returns
        -------
        self
        """
        self._choose_learner()
        source, weight = counted_rows(self._open(X, y, sample_weight, check_finite=False))
        target = np.asarray(source.y, dtype=np.float64)
        source = replace(source, y=target)
        learners = self._learners(source, None, self._answer, lambda values: values[:, 0])
        judge = Votes(lambda answer: 1.0 - self._losses(answer, target), 0.5, self.learning_rate)
        self._boost(learners, judge, weight, Record(), X, y)
        return self

    def predict(self, X: Any) -> Array:
        """The weighted median of the learners' answers. Cost: theirs, and O(T) a row.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n,)
        """
        rows = self._rows(X)
        return self._median(self._answers(rows), self._votes).astype(rows.dtype, copy=False)

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """The predictions after each round, one after the other. Cost: that of T predictions.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Yields
        ------
        array of shape (n,)
        """
        rows = self._rows(X)
        answers = self._answers(rows)
        for made in range(1, len(self.estimators_) + 1):
            median = self._median(answers, self._votes[:made])
            yield median.astype(rows.dtype, copy=False)

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """R² after each round. Cost: as `staged_predict`.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.
        y : array-like of shape (n,)
            Their targets.
        sample_weight : array-like of shape (n,), optional
            How often each row counts.

        Yields
        ------
        float
        """
        from sklearn.metrics import r2_score

        for prediction in self.staged_predict(X):
            yield float(r2_score(y, prediction, sample_weight=sample_weight))

    def _default_learner(self) -> Any:
        return DecisionTreeRegressor(max_depth=3)

    def _node_values(self, tree: Tree, vote: float) -> Array:
        return tree.values

    def _answer(self, learner: Any, rows: Array) -> Array:
        return np.asarray(learner.predict(rows), dtype=np.float64)

    def _answers(self, rows: Array) -> Array:
        """Every learner's answer to every row, (n, T); of small trees, its rank."""
        if self._ranked is not None:
            return self._ranked.ranks(rows)
        if self._walk is not None:
            return self._walk.sum(rows, n_columns=self._walk.n_trees)
        return np.column_stack([self._answer(learner, rows) for learner in self.estimators_])

    def _median(self, answers: Array, votes: Array) -> Array:
        """The median of the first answers to each row, as many as there are votes."""
        if self._ranked is not None:
            return self._ranked.median(answers, votes)
        return weighted_median(answers, votes)

    def _attributes(self, record: Record) -> dict[str, Any]:
        fitted = super()._attributes(record)
        return fitted | {"_ranked": RankedTrees.of(fitted["_walk"])}

    def _losses(self, answer: Array, target: Array) -> Array:
        """L of every row, in [0, 1]."""
        apart = np.abs(answer - target)
        farthest = apart.max()
        share = apart / farthest if farthest > 0.0 else apart
        if self.loss == "square":
            return share**2
        return -np.expm1(-share) if self.loss == "exponential" else share


def weighted_median(values: Array, weight: Array) -> Array:
    """Of each row, the least value that has half the weight at or below it.

    Over the first columns of `values`, as many as there are weights.
    """
    out = np.empty(values.shape[0])
    threads = min(n_threads(), 1 + values.shape[0] // ROWS_PER_THREAD)
    _native.weighted_median(values, weight, out, threads)
    return out
