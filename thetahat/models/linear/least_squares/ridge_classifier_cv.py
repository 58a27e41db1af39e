"""Classification by ridge regression with its penalty chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.data.views.sign_targets import with_sign_targets
from thetahat.estimator.fold_routing import RoutesToFolds
from thetahat.estimator.linear_classifier import LinearClassifier
from thetahat.estimator.parameters import at_least, boolean, non_negative_array
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.types import Array
from thetahat.models.linear.least_squares.ridge_classifier import RidgeClassifier, scores_of
from thetahat.models.linear.least_squares.ridge_cv import RidgeCV


class RidgeClassifierCV(RoutesToFolds, LinearClassifier):
    """`RidgeClassifier` with its penalty chosen by leave-one-out or by folds.

    Formula: the α of the smallest Σᵢ ‖tᵢ − t̂₋ᵢ(xᵢ; α)‖², in closed form for all α from one
    spectrum of the normal equations (see `RidgeCV`).

    Cost: about two Gram matrices, O(n d²), however many penalties; in memory or out of core.

    Parameters
    ----------
    alphas : array-like, default=(0.1, 1.0, 10.0)
        Penalties to try.
    fit_intercept : bool, default=True
        Whether b is fitted.
    scoring : str, callable or None
        Scorer of labels (greater is better); None: negative squared errors left out, or accuracy
        with `cv`.
    cv : int, splitter, iterable or None
        None: leave-one-out. Otherwise folds as in scikit-learn.
    class_weight : dict, "balanced" or None
        Weights of the classes.
    store_cv_results : bool, default=False
        Keep ``cv_results_``: squared errors per row, score and penalty.

    Attributes
    ----------
    alpha_, best_score_, cv_results_, solution_
        As in `RidgeCV`.
    coef_, intercept_, classes_
        As in `RidgeClassifier`.

    Examples
    --------
    >>> import thetahat as th
    >>> X, y = [[0.0], [1.0], [4.0], [5.0]], ["low", "low", "high", "high"]
    >>> th.RidgeClassifierCV(alphas=[0.1, 1.0]).fit(X, y).predict([[0.5]]).tolist()
    ['low']
    """

    _ranges = {  # noqa: RUF012
        "alphas": non_negative_array | at_least(0),
        "fit_intercept": boolean,
        "store_cv_results": boolean,
    }

    def __init__(
        self,
        alphas: Any = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: Any = None,
        cv: Any = None,
        class_weight: Any = None,
        store_cv_results: bool = False,
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.class_weight = class_weight
        self.store_cv_results = store_cv_results

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any
    ) -> RidgeClassifierCV:
        """Choose the penalty, and fit to all rows.

        Parameters
        ----------
        X, y, sample_weight
            As in `RidgeClassifier.fit`.
        **params
            For the splitter `cv` (``groups``), with scikit-learn's metadata routing enabled.

        Returns
        -------
        self
        """
        for_folds = self._for_folds(params)
        codes = self._open_classes(X, y, sample_weight, class_weight=self.class_weight)
        signs = with_sign_targets(codes, len(self.classes_))
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
        """The score of every penalty, by rows left out one by one or by folds."""
        if not (isinstance(codes, InMemory) and isinstance(signs, InMemory)):
            raise CapabilityError(
                "RidgeClassifierCV: cv= and scoring= need rows in memory. From a file, use the "
                "default, leave-one-out by squared errors."
            )
        scorer = check_scoring(RidgeClassifier(), scoring=self.scoring)
        labels = self.classes_[np.asarray(codes.y).astype(np.intp)]
        if self.cv is None:
            left_out = self._left_out(signs, alphas)
            if self.store_cv_results:
                self.cv_results_ = left_out
            weight = _weight_of(signs, slice(None))
            judged = (_Judged(self.classes_, left_out[:, :, a]) for a in range(alphas.size))
            return np.array([scorer(model, None, labels, **weight) for model in judged])
        if self.store_cv_results:
            raise ParameterError(
                "RidgeClassifierCV: store_cv_results belongs to leave-one-out. Use cv=None."
            )
        folds = check_cv(self.cv, labels, classifier=True).split(signs.X, labels, **for_folds)
        return np.mean(
            [
                [
                    scorer(model, signs.X[test], labels[test], **_weight_of(signs, test))
                    for model in models
                ]
                for models, test in self._of_folds(folds, signs, alphas)
            ],
            axis=0,
        )

    def _left_out(self, signs: InMemory, alphas: Array) -> Array:
        """Scores of every row by the fit without it, (n, n_scores, n_alphas)."""
        search = RidgeCV(
            alphas=alphas,
            fit_intercept=self.fit_intercept,
            scoring="neg_mean_squared_error",
            store_cv_results=True,
        )
        return search.fit(signs).cv_results_.reshape(signs.n_rows, -1, alphas.size)

    def _of_folds(
        self, folds: Iterator[tuple[Array, Array]], signs: InMemory, alphas: Array
    ) -> Iterator[tuple[list[RidgeClassifier], Array]]:
        """For each fold a classifier for every penalty, all from one spectrum; and the rows held
        out."""
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
    """What a scorer is told of the weights of some rows."""
    return {} if source.weight is None else {"sample_weight": source.weight[rows]}


class _Judged(ClassifierMixin, BaseEstimator):
    """A classifier whose scores are known: what scorers ask for."""

    def __init__(self, classes: Array, scores: Array) -> None:
        self.classes_, self.scores = classes, scores

    def decision_function(self, X: Any) -> Array:
        return self.scores[:, 0] if self.scores.shape[1] == 1 else self.scores

    def predict(self, X: Any) -> Array:
        z = self.scores
        return self.classes_[(z[:, 0] > 0).view(np.int8) if z.shape[1] == 1 else z.argmax(axis=1)]
