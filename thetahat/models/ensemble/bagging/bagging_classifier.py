"""Bagging for labels: mean probabilities, or votes, of members fitted to bootstrap samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.metaestimators import available_if

from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.models.ensemble.bagging.base import Bagging
from thetahat.models.ensemble.bagging.out_of_bag import (
    OutOfBagError,
    OutOfBagErrors,
    OutOfBagPredictions,
)
from thetahat.models.ensemble.combination.base import EnsembleClassifier, average
from thetahat.models.ensemble.combination.metadata_routing import routed


def _base_decides(bag: Any) -> bool:
    members = getattr(bag, "estimators_", None)
    return hasattr(members[0] if members else bag._base(), "decision_function")


class BaggingClassifier(Bagging, EnsembleClassifier):
    """The mean probabilities of a classifier's fits to bootstrap samples.

    Formula: P(y|x) = (1/M) Σ Pₘ(y|x), each Pₘ fitted to n rows drawn with replacement; members
    without probabilities vote. The label is the likeliest class. The spread of the Pₘ says how far
    a single fit may stray, and the 37 % of rows that a member did not draw say how often the whole
    is wrong (`oob_error`).

    Cost: M fits and M predictions, side by side; the result is the same for any number of threads.
    Rows are not copied where the learner takes weights: a row drawn twice has weight 2.

    Parameters
    ----------
    estimator : classifier, optional
        The learner, of thetahat or your own; by default a `DecisionTreeClassifier`. Trees of
        thetahat break ties between columns at random (``ties="random"``).
    n_estimators : int, default=10
        M.
    max_samples : int, float or None
        Rows that each member draws: a number, a part of them (counted by their weights), or as
        many as there are (None).
    max_features : int or float, default=1.0
        Columns that each member sees: a number, or a part of them.
    bootstrap : bool, default=True
        Whether a row may be drawn again.
    bootstrap_features : bool, default=False
        Whether a column may be drawn again.
    oob_score : bool, default=False
        Whether to judge every row by the members that did not draw it.
    warm_start : bool, default=False
        Whether the next `fit` keeps the members there are and adds to them.
    n_jobs, verbose
        Kept for compatibility: ``th.config(threads=...)`` governs, and callbacks report progress.
    random_state : int, Generator or None
        Same seed, same draws; also the seed of each member's own choices.

    Attributes
    ----------
    classes_, n_classes_ : array and int
        The labels and their number; members know them by the codes 0, 1, …
    estimator_ : estimator
        The learner that was copied.
    estimators_ : list of estimators
        The members, as many as were fitted before time was up or Ctrl-C was pressed.
    estimators_samples_, estimators_features_ : list of arrays
        The rows and columns that each member drew.
    oob_score_ : float
        Share of rows whose label the members that left them out get right.
    oob_decision_function_ : array of shape (n, C)
        Their mean probabilities; NaN for rows that no member left out.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> random = np.random.default_rng(0)
    >>> X = random.standard_normal((200, 2))
    >>> y = np.where(X[:, 0] + 0.5 * random.standard_normal(200) > 0, "yes", "no")
    >>> bag = th.BaggingClassifier(th.LogisticRegression(), 20, oob_score=True, random_state=0)
    >>> bag.fit(X, y).predict([[3.0, 0.0]])
    array(['yes'], dtype='<U3')
    >>> error, low, high = bag.oob_error()
    >>> 0 < low < error < high < 0.3
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: int | float | None = None,
        max_features: int | float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, **fit_params: Any
    ) -> BaggingClassifier:
        """Fit every member to its own draw.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Features, of any kind that the learner takes.
        y : array-like of shape (n,)
            Labels.
        sample_weight : array-like of shape (n,), optional
            Rows are drawn in proportion to it.
        **fit_params
            Routed to the members, with scikit-learn's metadata routing.

        Returns
        -------
        self
        """
        self._fit_bag(X, y, sample_weight, fit_params)
        return self

    def predict(self, X: Any, **params: Any) -> Array:
        """The likeliest class of each row. Cost: M predictions.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            The rows.
        **params
            Routed to the members' ``predict_proba``, or ``predict`` where they have none.

        Returns
        -------
        array of shape (n,)
        """
        codes = self.predict_proba(X, **params).argmax(axis=1)
        return self.classes_[codes]

    def predict_proba(self, X: Any, return_std: bool = False, **params: Any) -> Any:
        """The mean of the members' probabilities, or the share of their votes.

        Cost: M predictions.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            The rows.
        return_std : bool, default=False
            Also return the standard deviation of the members: that of a single fit, by the
            bootstrap.
        **params
            Routed to the members' ``predict_proba``, or ``predict`` where they have none.

        Returns
        -------
        array of shape (n, C), or two of them
        """
        method = "predict_proba" if hasattr(self._base(), "predict_proba") else "predict"
        given = routed(self, "predict_proba", params)["estimator"][method]
        if not return_std:
            return self._mean(X, given)
        outputs = self._outputs(X, given)
        mean = average(outputs)
        return mean, np.std(outputs, axis=0, ddof=min(1, len(outputs) - 1)).astype(mean.dtype)

    def predict_log_proba(self, X: Any, **params: Any) -> Array:
        """log P(y|x); −∞ where no member thinks a class possible. Cost: M predictions.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            The rows.
        **params
            As for `predict_proba`.

        Returns
        -------
        array of shape (n, C)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, **params))

    @available_if(_base_decides)
    def decision_function(self, X: Any, **params: Any) -> Array:
        """The mean of the members' scores, where the learner has them. Cost: M predictions.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            The rows.
        **params
            Routed to the members' ``decision_function``.

        Returns
        -------
        array of shape (n,) or (n, C)
        """
        given = routed(self, "decision_function", params)["estimator"]["decision_function"]
        return average(self._outputs(X, given, method="decision_function"))

    def oob_error(self, level: float = 0.95) -> OutOfBagError:
        """How often rows are mistaken by the members that left them out, with an interval.

        Cost: O(n). Needs ``oob_score=True``.

        Parameters
        ----------
        level : float, default=0.95
            Level of the interval, Wilson's for a rate.

        Returns
        -------
        error, low, high : float
        """
        return self._require_left_out().error(level)

    def get_metadata_routing(self) -> MetadataRouter:
        """Who gets what of the metadata given to `fit` and `predict`."""
        method = "predict_proba" if hasattr(self._base(), "predict_proba") else "predict"
        mapping = MethodMapping().add(caller="decision_function", callee="decision_function")
        for caller in ("predict", "predict_proba", "predict_log_proba"):
            mapping.add(caller=caller, callee=method)
        return self._routes(mapping)

    def _default(self) -> Any:
        from thetahat.models.tree.classification import DecisionTreeClassifier

        return DecisionTreeClassifier()

    def _targets(self, y: Any, n_rows: int, dtype: Any = None) -> Array:
        codes = super()._targets(y, n_rows)
        self.n_classes_ = len(self.classes_)
        return codes

    def _answer_of(self, member: Any, X: Any, method: str, params: dict[str, Any]) -> Array:
        if method == "decision_function":
            return np.asarray(member.decision_function(X, **params))
        if hasattr(member, "predict_proba"):
            found = np.asarray(member.predict_proba(X, **params))
            return self._of_all_classes(member, found)
        votes = np.zeros((X.shape[0], len(self.classes_)))
        votes[np.arange(len(votes)), np.asarray(member.predict(X, **params)).astype(np.intp)] = 1.0
        return votes

    def _all_drawn(self, y: Array, rows: Array) -> bool:
        return bool(np.bincount(y[rows], minlength=len(self.classes_)).all())

    def _explain(self, y: Array, rows: Array, failure: Exception) -> None:
        held = np.unique(y[rows])
        if len(held) == 1:
            raise DataError(
                f"{type(self).__name__}: a member drew rows of one class only, "
                f"{self.classes_.tolist()[held[0]]!r}, which {type(self.estimator_).__name__} "
                "cannot learn from. Give more rows of the other classes, draw more rows "
                "(max_samples), or bag a learner that takes one class, such as a tree."
            ) from failure

    def _judge_left_out(self, y: Array, answers: OutOfBagPredictions, weight: Array | None) -> None:
        self.oob_decision_function_, rows = answers.mean(type(self).__name__)
        found = self.oob_decision_function_[rows].argmax(axis=1)
        share = np.ones(len(rows)) if weight is None else weight[rows]
        self._left_out = OutOfBagErrors((found != y[rows]).astype(np.float64), share, labels=True)
        self.oob_score_ = 1.0 - self._left_out.error(0.95).error
