"""Bagging for classification: average probabilities, or votes, over bootstrap samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.metaestimators import available_if

from thetahat.data.source import weights_of
from thetahat.estimator.declaration import with_parameters
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.models.ensemble.bagging.base import Bagging
from thetahat.models.ensemble.bagging.out_of_bag import OutOfBagErrors, OutOfBagPredictions
from thetahat.models.ensemble.combination.base import EnsembleClassifier, average
from thetahat.models.ensemble.combination.metadata_routing import routed


def _base_decides(bag: Any) -> bool:
    members = getattr(bag, "estimators_", None)
    return hasattr(members[0] if members else bag._base(), "decision_function")


@with_parameters
class BaggingClassifier(Bagging, EnsembleClassifier):
    """Bagging classifier: the average of one classifier fitted to many bootstrap samples.

    Averaging reduces the variance of unstable classifiers such as decision trees. The members that
    did not draw a row (on average 37 % of them) can be used to estimate the error without a test
    set, see `oob_error`.

    Formula: P(y|x) = (1/M) Σ Pₘ(y|x), where each Pₘ is fitted to n rows drawn with replacement.
    Members without probabilities vote. The prediction is the class with the largest probability.

    Cost: M fits and M predictions, run in parallel; the result is the same for any number of
    threads. Rows are not copied if the base estimator supports weights: a row drawn twice has
    weight 2.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, in sorted order. The members are fitted to their codes 0, 1, ….
    n_classes_ : int
        Number of classes in the training data.
    oob_score_ : float
        Accuracy of the out-of-bag predictions. Defined with ``oob_score=True``.
    oob_decision_function_ : array of shape (n, n_classes)
        Out-of-bag class probabilities; NaN for rows that every member drew. Defined with
        ``oob_score=True``.

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

    def predict(self, X: Any, **params: Any) -> Array:
        """Predict the class with the largest probability. Cost: M predictions.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.
        **params
            Passed to ``predict_proba`` of the members, or to ``predict`` if they have no
            probabilities.

        Returns
        -------
        array of shape (n,)
            The predicted class labels.
        """
        codes = self.predict_proba(X, **params).argmax(axis=1)
        return self.classes_[codes]

    def predict_proba(self, X: Any, return_std: bool = False, **params: Any) -> Any:
        """Predict class probabilities: the mean over the members, or their votes.

        Cost: M predictions.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.
        return_std : bool, default=False
            If True, also return the standard deviation over the members, the bootstrap estimate of
            the standard error of a single fit.
        **params
            Passed to ``predict_proba`` of the members, or to ``predict`` if they have no
            probabilities.

        Returns
        -------
        array of shape (n, n_classes), or a pair of such arrays
            Probabilities and, with ``return_std=True``, their standard deviations.
        """
        method = "predict_proba" if hasattr(self._base(), "predict_proba") else "predict"
        given = routed(self, "predict_proba", params)["estimator"][method]
        return self._mean_and_deviation(X, given) if return_std else self._mean(X, given)

    def predict_log_proba(self, X: Any, **params: Any) -> Array:
        """Predict the logarithms of the class probabilities. Cost: M predictions.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.
        **params
            Passed to ``predict_proba`` of the members, or to ``predict`` if they have no
            probabilities.

        Returns
        -------
        array of shape (n, n_classes)
            Log-probabilities; −∞ where a probability is 0.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, **params))

    @available_if(_base_decides)
    def decision_function(self, X: Any, **params: Any) -> Array:
        """Average the decision scores of the members. Cost: M predictions.

        Available if the base estimator has ``decision_function``.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.
        **params
            Passed to ``decision_function`` of the members.

        Returns
        -------
        array of shape (n,) or (n, n_classes)
            The mean scores.
        """
        given = routed(self, "decision_function", params)["estimator"]["decision_function"]
        return average(self._outputs(X, given, method="decision_function"))

    def get_metadata_routing(self) -> MetadataRouter:
        """Return scikit-learn's description of how metadata are routed to the members."""
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
                f"{self.classes_.tolist()[held[0]]!r}, which {type(self.estimator_).__name__} does "
                "not support. Use more rows of the other classes, increase max_samples, or use an "
                "estimator that accepts a single class, such as a tree."
            ) from failure

    def _score_out_of_bag(
        self, y: Array, answers: OutOfBagPredictions, weight: Array | None
    ) -> dict[str, Any]:
        shares, rows = answers.mean(type(self).__name__, weight)
        found = shares[rows].argmax(axis=1)
        counted = (weights_of(weight, rows) > 0).astype(np.float64)
        errors = OutOfBagErrors((found != y[rows]).astype(np.float64), counted, labels=True)
        return {
            "oob_decision_function_": shares,
            "oob_score_": 1.0 - errors.error(0.95).error,
            "_left_out": errors,
        }
