"""Stacking for labels: a classifier of what other classifiers say."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.utils.metaestimators import available_if

from thetahat.foundation.types import Array
from thetahat.models.ensemble.combination.base import EnsembleClassifier
from thetahat.models.ensemble.combination.stacking import Stacking, final_has


class StackingClassifier(Stacking, EnsembleClassifier):
    """Models as features: a last classifier learns how much to trust each of the others.

    Formula: P(y|x) = g(f₁(x), …, f_M(x)) where fₘ are the members' probabilities (one column for
    two classes), else their scores, else their labels.

    Beware of overfitting: members look better on the rows they learned than they are, and the most
    overfitted would be trusted most. So g learns from predictions of rows by copies of the members
    that did not see them (``cv`` folds). With ``cv="prefit"`` the members are taken as they are:
    give rows that none of them was fitted to.

    Cost: M·(folds + 1) fits, side by side, and one of g.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members by name, of thetahat or your own; regressors too, which then predict codes. X
        reaches them as you gave it. "drop" in the place of one leaves it out.
    final_estimator : classifier, optional
        g; by default `LogisticRegression`.
    cv : int, splitter, iterable or "prefit", optional
        Folds in which each row is held back once (5 by default, stratified, in the order of the
        rows); "prefit": the members are fitted already.
    stack_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        What is asked of the members; "auto": the first of the three that each has.
    n_jobs, verbose
        Kept for compatibility: ``th.config(threads=...)`` governs, and callbacks report progress.
    passthrough : bool, default=False
        Whether g sees X too.

    Attributes
    ----------
    classes_ : array of shape (C,)
        The labels; members know them by the codes 0, 1, …
    estimators_ : list of estimators
        The members, fitted to all rows.
    named_estimators_ : Bunch
        The same by name.
    final_estimator_ : classifier
        g.
    stack_method_ : list of str
        What was asked of each member.

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

    _mixes_kinds = True

    def __init__(
        self,
        estimators: list[tuple[str, Any]],
        final_estimator: Any = None,
        *,
        cv: Any = None,
        stack_method: str = "auto",
        n_jobs: int | None = None,
        passthrough: bool = False,
        verbose: int = 0,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.stack_method = stack_method
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.verbose = verbose

    @classmethod
    def _example(cls) -> StackingClassifier:
        from thetahat.models.linear.generalized.logistic_regression import LogisticRegression
        from thetahat.models.linear.least_squares.ridge_classifier import RidgeClassifier

        return cls([("logistic", LogisticRegression()), ("ridge", RidgeClassifier())])

    def _default_final(self) -> Any:
        from thetahat.models.linear.generalized.logistic_regression import LogisticRegression

        return LogisticRegression()

    @with_callbacks
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, **fit_params: Any
    ) -> StackingClassifier:
        """Fit the members, and the last classifier to their out-of-fold answers.

        Parameters
        ----------
        X : anything the members take, of n rows
            Features.
        y : array-like of shape (n,)
            Labels.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows; every member must take them.
        **fit_params
            Routed to the members, with scikit-learn's metadata routing.

        Returns
        -------
        self
        """
        self._fit_stack(X, y, sample_weight, fit_params)
        return self

    @available_if(final_has("predict"))
    def predict(self, X: Any, **predict_params: Any) -> Array:
        """The label that g finds in the members' answers. Cost: one prediction of each member.

        Parameters
        ----------
        X : anything the members take, of n rows
            The rows.
        **predict_params
            For ``predict`` of the last classifier.

        Returns
        -------
        array of shape (n,)
        """
        codes = np.asarray(self._final("predict", X, predict_params))
        return self.classes_[codes.astype(np.intp)]

    @available_if(final_has("predict_proba"))
    def predict_proba(self, X: Any) -> Array:
        """P(y|x) by the last classifier. Cost: one prediction of each member.

        Parameters
        ----------
        X : anything the members take, of n rows
            The rows.

        Returns
        -------
        array of shape (n, C)
        """
        return self._final("predict_proba", X, {})

    @available_if(final_has("decision_function"))
    def decision_function(self, X: Any) -> Array:
        """The scores of the last classifier. Cost: one prediction of each member.

        Parameters
        ----------
        X : anything the members take, of n rows
            The rows.

        Returns
        -------
        array of shape (n,) or (n, C)
        """
        return self._final("decision_function", X, {})
