"""AdaBoost.R2: regressors fitted to rows reweighted by earlier errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar

import numpy as np

from thetahat import _native
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import one_of
from thetahat.estimator.source_scores import ScoredRegressor
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array
from thetahat.models.ensemble.adaboost.base import (
    AdaBoostParameters,
    Record,
    WeightBoosting,
    counted_rows,
)
from thetahat.models.ensemble.adaboost.ranked_trees import RankedTrees
from thetahat.models.ensemble.adaboost.votes import Votes
from thetahat.models.tree.regression import DecisionTreeRegressor
from thetahat.models.tree.structure import Tree

ROWS_PER_THREAD = 1024
"""Minimum number of rows per thread."""


@with_parameters
class AdaBoostRegressor(ScoredRegressor, WeightBoosting):
    """AdaBoost regressor (AdaBoost.R2): the weighted median of regressors.

    Each iteration fits a regressor to the weighted rows and then increases the weights of the rows
    with large errors, so that the next one concentrates on them.

    Formula: with eᵢ = |yᵢ − G(xᵢ)|/max|y − G| and the loss Lᵢ = eᵢ (linear), eᵢ² (square) or 1 −
    e^{−eᵢ} (exponential), let ε = Σ wL/Σw and β = ε/(1 − ε). Rows get w ← w·β^{ν(1 − L)}, the
    learner gets the weight α = ν·log(1/β), and the prediction is the α-weighted median of the
    learners. Boosting ends early when ε ≥ ½ or ε = 0; see ``stopped_``.

    Cost: one fit of the learner per iteration, plus O(n); prediction O(T) per row for T learners.

    Parameters
    ----------
    estimator : regressor or None, default=None
        The learner to boost. None uses a regression tree of depth 3.
    loss : {"linear", "square", "exponential"}, default="linear"
        Loss of the relative errors that determines the new weights of the rows (L).
    resample : bool or "auto", default=True
        If True, rows are drawn in proportion to the weights, as in the original method; the
        learners then differ more, which improves their median. A learner that supports weights
        receives weights multiplied by exponential random numbers instead (the Bayesian bootstrap).
        If False, the learner receives the weights. "auto" draws rows only for learners that do not
        support weights.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> model = th.AdaBoostRegressor(n_estimators=30).fit(X, np.sin(X[:, 0]))
    >>> model.score(X, np.sin(X[:, 0])) > 0.95
    True
    """

    _: KW_ONLY
    loss: str = "linear"
    resample: bool | str = True

    _draws_rows = True
    _ranges = {  # noqa: RUF012
        **AdaBoostParameters._ranges,
        "loss": one_of("linear", "square", "exponential"),
    }
    _ranked: ClassVar[RankedTrees | None] = None
    """The learners as trees with ranks for values, if they are small trees; models saved by earlier
    versions do not have it."""

    def _fit_learners(self, X: Any, y: Any, sample_weight: Any) -> None:
        source, weight = counted_rows(self._open(X, y, sample_weight, check_finite=False))
        target = np.asarray(source.y, dtype=np.float64)
        source = replace(source, y=target)
        learners = self._learners(source, None, self._answer, lambda values: values[:, 0])
        judge = Votes(lambda answer: 1.0 - self._losses(answer, target), 0.5, self.learning_rate)
        self._boost(learners, judge, weight, Record(), X, y)

    def predict(self, X: Any) -> Array:
        """Predict the weighted median of the learners. Cost: their predictions, and O(T) per row.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n,)
            The predicted targets.
        """
        rows = self._rows(X)
        return self._median(self._answers(rows), self._votes).astype(rows.dtype, copy=False)

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Predict targets after each iteration. Cost: that of T predictions.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to predict, with the same columns as in `fit`.

        Yields
        ------
        array of shape (n,)
            Predictions of the model with one more learner.
        """
        rows = self._rows(X)
        answers = self._answers(rows)
        for made in range(1, len(self.estimators_) + 1):
            median = self._median(answers, self._votes[:made])
            yield median.astype(rows.dtype, copy=False)

    def _score_of(self, y: Any, predicted: Array, sample_weight: Any) -> float:
        from sklearn.metrics import r2_score

        return float(r2_score(y, predicted, sample_weight=sample_weight))

    def _default_learner(self) -> Any:
        return DecisionTreeRegressor(max_depth=3)

    def _node_values(self, tree: Tree, vote: float) -> Array:
        return tree.values

    def _answer(self, learner: Any, rows: Array) -> Array:
        return np.asarray(learner.predict(rows), dtype=np.float64)

    def _answers(self, rows: Array) -> Array:
        """Prediction of every learner for every row, (n, T); for small trees, its rank."""
        if self._ranked is not None:
            return self._ranked.ranks(rows)
        if self._walk is not None:
            return self._walk.sum(rows, n_columns=self._walk.n_trees)
        return np.column_stack([self._answer(learner, rows) for learner in self.estimators_])

    def _median(self, answers: Array, votes: Array) -> Array:
        """Weighted median per row over the first learners, as many as there are votes."""
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
    """For each row, the smallest value with at least half of the weight at or below it.

    Uses the first columns of `values`, as many as there are weights.
    """
    out = np.empty(values.shape[0])
    threads = min(n_threads(), 1 + values.shape[0] // ROWS_PER_THREAD)
    _native.weighted_median(values, weight, out, threads)
    return out
