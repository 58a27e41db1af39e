"""Stacking for classification."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from thetahat.data.arrays import as_array
from thetahat.data.validation import require_dense_target
from thetahat.estimator.declaration import with_parameters
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.models.ensemble.combination.base import EnsembleClassifier
from thetahat.models.ensemble.combination.label_columns import (
    decoded_columns,
    encoded_columns,
)
from thetahat.models.ensemble.combination.stacking import Stacking, final_has


@with_parameters
class StackingClassifier(Stacking, EnsembleClassifier):
    """Stacking classifier: a final classifier combines the outputs of several models.

    Formula: P(y|x) = g(f₁(x), …, f_M(x)), where fₘ are the probabilities of the members (one column
    for two classes), or else their scores, or else their labels, and g is the final estimator.

    The final estimator is fitted to out-of-fold predictions, made by copies of the members that
    were fitted without the rows they predict (``cv`` folds). Otherwise it would rely most on the
    members that overfit most. With ``cv="prefit"`` the fitted members are used as they are; then
    call `fit` with rows that none of them was fitted to.

    y can have several label columns if the members and the final estimator support them, such as
    forests and `KNeighborsClassifier`. Then ``classes_`` is a list with the classes of each column,
    and `predict_proba` gives what the final estimator returns.

    Cost: M·(folds + 1) fits, run in parallel, and one fit of the final estimator.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members as (name, estimator) pairs. They can be classifiers of thetahat or others,
        including pipelines; regressors are fitted to class codes. They receive X unchanged. Replace
        an estimator by "drop" to leave it out.
    final_estimator : classifier or None, default=None
        The classifier that combines the outputs of the members (g). None uses `LogisticRegression`.
    stack_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        Method of the members whose output is used. "auto" takes, for each member, the first of the
        three methods that it has.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, in sorted order. The members are fitted to their codes 0, 1, ….

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> random = np.random.default_rng(0)
    >>> X = random.standard_normal((200, 2))
    >>> y = np.where(X[:, 0] > 0, "yes", "no")
    >>> members = [("logistic", th.LogisticRegression()), ("ridge", th.RidgeClassifier())]
    >>> model = th.StackingClassifier(members).fit(X, y)
    >>> model.predict([[2.0, 0.0], [-2.0, 0.0]]), model.stack_method_
    (array(['yes', 'no'], dtype='<U3'), ['predict_proba', 'decision_function'])
    """

    estimators: list[tuple[str, Any]]
    final_estimator: Any = None
    _: KW_ONLY
    cv: Any = None
    stack_method: str = "auto"
    n_jobs: int | None = None
    passthrough: bool = False
    verbose: int = 0

    _mixes_kinds = True

    @classmethod
    def _example(cls) -> StackingClassifier:
        from thetahat.models.linear.generalized.logistic_regression import LogisticRegression
        from thetahat.models.linear.least_squares.ridge_classifier import RidgeClassifier

        return cls([("logistic", LogisticRegression()), ("ridge", RidgeClassifier())])

    def _targets(self, y: Any, n_rows: int, dtype: Any = None) -> Array:
        require_dense_target(y, type(self).__name__)
        labels = as_array(y, "y", type(self).__name__)
        if labels.ndim != 2 or labels.shape[1] < 2:
            return super()._targets(y, n_rows)
        if len(labels) != n_rows:
            raise DataError(
                "StackingClassifier: Found input variables with inconsistent numbers of samples: X "
                f"has {n_rows} rows, y has {len(labels)}. Pass one row of labels per row."
            )
        columns = [self._labels(each) for each in labels.T]
        classes, codes = encoded_columns(columns)
        self.classes_ = classes  # type: ignore[assignment]
        return codes

    def _default_final(self) -> Any:
        from thetahat.models.linear.generalized.logistic_regression import LogisticRegression

        return LogisticRegression()

    @available_if(final_has("predict"))
    def predict(self, X: Any, **predict_params: Any) -> Array:
        """Predict class labels. Cost: one prediction of each member.

        Parameters
        ----------
        X : anything the members take, of n rows
            Rows to predict, with the same columns as in `fit`.
        **predict_params
            Passed to ``predict`` of the final estimator.

        Returns
        -------
        array of shape (n,), or (n, n_outputs) for several label columns
            The labels predicted by the final estimator.
        """
        codes = np.asarray(self._final("predict", X, predict_params))
        if isinstance(self.classes_, list):
            return decoded_columns(self.classes_, codes)
        return self.classes_[codes.astype(np.intp)]

    @available_if(final_has("predict_proba"))
    def predict_proba(self, X: Any) -> Array:
        """Predict class probabilities. Cost: one prediction of each member.

        Available if the final estimator has ``predict_proba``.

        Parameters
        ----------
        X : anything the members take, of n rows
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n, n_classes)
            Probabilities in the order of ``classes_``.
        """
        return self._final("predict_proba", X, {})

    @available_if(final_has("decision_function"))
    def decision_function(self, X: Any) -> Array:
        """Compute the scores of the final estimator. Cost: one prediction of each member.

        Available if the final estimator has ``decision_function``.

        Parameters
        ----------
        X : anything the members take, of n rows
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n,) or (n, n_classes)
            The decision scores.
        """
        return self._final("decision_function", X, {})
