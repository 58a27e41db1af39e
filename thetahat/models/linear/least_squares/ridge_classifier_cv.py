"""Classification by ridge regression with its penalty chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import check_scoring

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.data.views import sign_targets
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.fold_routing import splits_of
from thetahat.estimator.linear_classifier import LinearClassifier
from thetahat.foundation.arguments import returned_number
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.types import Array
from thetahat.models.linear.least_squares.ridge_classifier import RidgeClassifier, scores_of
from thetahat.models.linear.least_squares.ridge_cv import RidgeCV, RidgeSearch


@with_parameters
class RidgeClassifierCV(RidgeSearch, LinearClassifier):
    """Ridge classifier that chooses its penalty by cross-validation.

    Formula: by default α̂ = argmin Σᵢ ‖tᵢ − t̂₋ᵢ(xᵢ; α)‖², where t̂₋ᵢ is fitted without row i. No
    model has to be refitted: one eigendecomposition gives the left-out residuals for all α (see
    `RidgeCV`).

    Cost: about two Gram matrices, O(n d²), for any number of penalties, in memory or block by
    block.

    Parameters
    ----------
    scoring : str, callable or None, default=None
        Score of the predicted labels used to choose the penalty: a name known to scikit-learn or a
        scorer; greater is better. None uses the negative mean squared error of the scores, or the
        accuracy if `cv` is given.
    store_cv_results : bool, default=False
        Whether to keep the results for every row, score and penalty in ``cv_results_``. Only
        possible with ``cv=None``.

    Attributes
    ----------
    alpha_ : float
        The chosen penalty strength.
    best_score_ : float
        Score of the chosen penalty; by default the weighted mean that `RidgeCV` uses.
    cv_results_ : array of shape (n, n_scores, n_alphas)
        Squared errors of the left-out rows times their weights, or their scores if `scoring` is
        given. Only available with ``store_cv_results=True``.

    Examples
    --------
    >>> import thetahat as th
    >>> X, y = [[0.0], [1.0], [4.0], [5.0]], ["low", "low", "high", "high"]
    >>> th.RidgeClassifierCV(alphas=[0.1, 1.0]).fit(X, y).predict([[0.5]]).tolist()
    ['low']
    """

    _: KW_ONLY
    class_weight: Any = None

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any
    ) -> RidgeClassifierCV:
        """Choose the penalty and fit the classifier to all rows.

        Parameters
        ----------
        sample_weight : array-like of shape (n,), optional
            Row weights. None gives every row weight 1. In each fit a row of weight 2 counts as two
            equal rows; it is left out as one.
        """
        for_folds = self._for_folds(params)
        codes = self._open_classes(X, y, sample_weight, class_weight=self.class_weight)
        signs = sign_targets(codes, len(self.classes_))
        alphas, stored = np.atleast_1d(np.asarray(self.alphas, dtype=float)), self.store_cv_results
        search = RidgeCV(alphas=alphas, fit_intercept=self.fit_intercept, store_cv_results=stored)
        if self.cv is not None or self.scoring is not None:
            scores = self._scores(codes, signs, alphas, for_folds)
            search.set_params(alphas=alphas[[int(scores.argmax())]], store_cv_results=False)
        search.fit(signs)
        self.coef_, self.intercept_ = np.atleast_2d(search.coef_), np.atleast_1d(search.intercept_)
        self.alpha_, self.best_score_ = search.alpha_, search.best_score_
        self.solution_ = search.solution_
        if self.cv is not None or self.scoring is not None:
            self.best_score_ = float(scores.max())
        elif stored:
            shape = (-1, len(self.coef_), alphas.size)
            self.cv_results_ = search.cv_results_.reshape(shape)
        return self

    def _scores(
        self, codes: Source, signs: Source, alphas: Array, for_folds: dict[str, Any]
    ) -> Array:
        """The score of every penalty, by leaving out single rows or folds."""
        if not (isinstance(codes, InMemory) and isinstance(signs, InMemory)):
            raise CapabilityError(
                "RidgeClassifierCV: cv and scoring need the rows in memory, but these are read "
                "block by block. Leave both at None to use leave-one-out cross-validation by "
                "squared errors."
            )
        scorer = check_scoring(RidgeClassifier(), scoring=self.scoring)

        def score(*given: Any, **weight: Any) -> float:
            return returned_number(scorer(*given, **weight), "RidgeClassifierCV: the scorer")

        labels = self.classes_[np.asarray(codes.y).astype(np.intp)]
        if self.cv is None:
            left_out = self._left_out(signs, alphas)
            if self.store_cv_results:
                self.cv_results_ = left_out
            weight = _weight_of(signs, slice(None))
            models = (_GivenScores(self.classes_, left_out[:, :, a]) for a in range(alphas.size))
            return np.array([score(model, None, labels, **weight) for model in models])
        if self.store_cv_results:
            raise ParameterError(
                "RidgeClassifierCV: store_cv_results=True is only possible with leave-one-out "
                f"cross-validation, but cv={self.cv!r}. Use cv=None."
            )
        folds = splits_of(
            self.cv, signs.X, labels, who=type(self).__name__, classifier=True, **for_folds
        )
        return np.mean(
            [
                [
                    score(model, signs.X[test], labels[test], **_weight_of(signs, test))
                    for model in models
                ]
                for models, test in self._of_folds(folds, signs, alphas)
            ],
            axis=0,
        )

    def _left_out(self, signs: InMemory, alphas: Array) -> Array:
        """Scores of every row by the model fitted without it, (n, n_scores, n_alphas)."""
        search = RidgeCV(
            alphas=alphas,
            fit_intercept=self.fit_intercept,
            scoring="neg_mean_squared_error",
            store_cv_results=True,
        )
        return search.fit(signs).cv_results_.reshape(signs.n_rows, -1, alphas.size)

    def _of_folds(
        self, folds: Iterable[tuple[Array, Array]], signs: InMemory, alphas: Array
    ) -> Iterator[tuple[list[RidgeClassifier], Array]]:
        """For each fold, a classifier for every penalty and the numbers of the held-out rows."""
        search = RidgeCV(fit_intercept=self.fit_intercept)
        for train, test in folds:
            part = replace(
                signs,
                X=signs.X[train],
                y=None if signs.y is None else signs.y[train],
                weight=None if signs.weight is None else signs.weight[train],
            )
            path = search._path(part, alphas)
            models = []
            for index in range(alphas.size):
                model = RidgeClassifier()
                model.n_features_in_, model.classes_ = signs.n_features, self.classes_
                chosen = np.full(max(1, signs.n_outputs), index)
                model.__dict__.update(scores_of(path.theta(chosen), signs))
                models.append(model)
            yield models, test


def _weight_of(source: InMemory, rows: Any) -> dict[str, Array]:
    """The weights of some rows as keyword arguments of a scorer."""
    return {} if source.weight is None else {"sample_weight": source.weight[rows]}


class _GivenScores(ClassifierMixin, BaseEstimator):
    """A classifier with given scores, in the form that scorers need."""

    def __init__(self, classes: Array, scores: Array) -> None:
        self.classes_, self.scores = classes, scores

    def decision_function(self, X: Any) -> Array:
        return self.scores[:, 0] if self.scores.shape[1] == 1 else self.scores

    def predict(self, X: Any) -> Array:
        z = self.scores
        return self.classes_[(z[:, 0] > 0).view(np.int8) if z.shape[1] == 1 else z.argmax(axis=1)]
