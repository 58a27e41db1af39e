"""Self-training: a classifier that labels unlabelled rows, most confident first."""

from __future__ import annotations

from typing import Any, ClassVar, cast

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.data.validation import as_features
from thetahat.estimator.base import is_frame
from thetahat.estimator.classifier import Classifier
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import (
    Range,
    at_least,
    boolean,
    check_ranges,
    none,
    one_of,
    whole,
)
from thetahat.estimator.watching import Watched, keep_so_far, with_callbacks
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.checked_value import check_rule
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Verdict
from thetahat.models.ensemble.combination.metadata_routing import routing_enabled, rows_of_params
from thetahat.models.semi_supervised.partial_labels import PartlyLabelled
from thetahat.models.semi_supervised.routed_arguments import RoutedArguments
from thetahat.models.semi_supervised.self_training import Round, rounds


def _learner_has(method: str) -> Any:
    """Whether the base estimator, fitted or not, has a method."""

    def check(model: SelfTrainingClassifier) -> bool:
        return hasattr(getattr(model, "estimator_", None) or model._learner(), method)

    return check


@with_parameters
class SelfTrainingClassifier(
    RoutedArguments, MetaEstimatorMixin, Watched, Classifier, PartlyLabelled
):
    """Self-training: lets any classifier with probabilities learn from unlabelled rows too.

    The classifier is fitted to the labelled rows, its most confident predictions for unlabelled
    rows are accepted as labels, and it is fitted again. This helps if the classes form separate
    clusters. It can reduce the accuracy otherwise, because wrong labels that were accepted are
    never removed.

    Formula: a row x gets the label argmaxₖ p(k given x) if its largest probability exceeds
    ``threshold``, or if it is among the ``k_best`` most confident rows; repeat until nothing
    changes.

    Cost: one fit of ``estimator`` per iteration, and its predictions for the unlabelled rows.

    Parameters
    ----------
    estimator : classifier or None, default=None
        The base estimator, with ``predict_proba``. None uses `LogisticRegression`.
    threshold : float, default=0.75
        Probability above which a prediction is accepted as a label, with ``criterion="threshold"``.
        Larger values accept fewer labels. Must lie in [0, 1).
    criterion : {"threshold", "k_best"}, default="threshold"
        Whether to accept all predictions above the threshold, or the ``k_best`` most confident ones
        in each iteration.
    k_best : int, default=10
        Number of predictions accepted per iteration, with ``criterion="k_best"``.
    max_iter : int or None, default=10
        Maximum number of iterations. None iterates until no more labels are accepted.
    verbose : bool or int, default=False
        If True or a positive number, print the number of labels that each iteration adds.

    Attributes
    ----------
    estimator_ : classifier
        The base estimator, fitted to the labels of the last iteration.
    classes_ : ndarray of shape (n_classes,)
        The class labels, in sorted order.
    transduction_ : ndarray of shape (n,)
        Labels of the training rows, given or accepted; −1 for rows without a label.
    labeled_iter_ : ndarray of shape (n,)
        Iteration in which each row was labelled; 0 for rows that had a label, −1 for rows without
        one.
    n_iter_ : int
        Number of iterations that were made.
    termination_condition_ : {"no_change", "max_iter", "all_labeled"}
        Reason why the iterations ended.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[-3.0], [-2.5], [-2.0], [2.0], [2.5], [3.0]]
    >>> model = th.SelfTrainingClassifier(threshold=0.6).fit(X, [0, -1, -1, -1, -1, 1])
    >>> model.transduction_
    array([0, 0, 0, 1, 1, 1])
    """

    _prints_itself = True
    _parametric = True

    estimator: Any = None
    threshold: float = 0.75
    criterion: str = "threshold"
    k_best: int = 10
    max_iter: int | None = 10
    verbose: bool | int = False

    _streams = False
    _may_make_no_round = True
    """`n_iter_` is 0 if all rows have labels."""
    _ranges: ClassVar[dict[str, Range]] = {
        "threshold": at_least(0),
        "criterion": one_of("threshold", "k_best"),
        "k_best": whole(1),
        "max_iter": none | whole(0),
        "verbose": boolean | whole(0),
    }

    @classmethod
    def _example(cls) -> SelfTrainingClassifier:
        from thetahat.models.linear.generalized.logistic_regression import LogisticRegression

        return cls(LogisticRegression())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._learner())
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags

    def _learner(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        from thetahat.models.linear.generalized.logistic_regression import LogisticRegression

        return LogisticRegression()

    def _check_loaded(self) -> None:
        if self.__sklearn_is_fitted__():
            check_rule(self, "estimator_" in vars(self), "estimator_ is missing")

    @with_callbacks
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any
    ) -> SelfTrainingClassifier:
        """Fit the classifier to labelled and unlabelled rows. Cost: one fit per iteration.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, d)
            Training rows with and without labels.
        y : array-like of shape (n,)
            Class labels, −1 for unlabelled rows. To mix text labels with −1, use an array of
            objects.
        sample_weight : array-like of shape (n,), optional
            Row weights, passed to the base estimator.
        **params : dict
            Arguments for ``fit`` of the base estimator, with scikit-learn's metadata routing.
            Arguments with one entry per row are passed for the rows that have labels.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_ranges(self)
        learner = self._checked_learner(sample_weight)
        self._accepts_sparse = get_tags(learner).input_tags.sparse
        source = cast(
            InMemory, self._open(X, None, sample_weight, supervised=False, check_finite=False)
        )
        labels, known = self._partial_labels(source.y if y is None else y, source.n_rows)
        self._warn_of_few_unlabelled(int(np.count_nonzero(~known)))

        arguments = self._arguments("fit", params, source.weight)

        def learn(rows: Array, given: Array) -> Any:
            extra = rows_of_params(arguments, rows, source.n_rows)
            return clone(learner).fit(source.X[rows], given, **extra)

        def probabilities(model: Any, rows: Array) -> Array:
            return np.asarray(model.predict_proba(source.X[rows]))

        verdict = Verdict.GO_ON
        with self._watching(self.max_iter, _attributes, X, y) as watch:
            made = None
            try:
                for made in rounds(
                    learn, probabilities, self._choose, labels, known, self.max_iter
                ):
                    self._print_progress(made)
                    verdict = watch(made.number, made, float("nan"))
                    if verdict is not Verdict.GO_ON:
                        break
            except KeyboardInterrupt as interrupt:
                if made is not None:
                    keep_so_far(self, interrupt, **_attributes(made))
                raise
        assert made is not None
        self.__dict__.update(_attributes(made))
        if verdict is Verdict.OUT_OF_TIME and not self.termination_condition_:
            warn(
                f"SelfTrainingClassifier: out of time; iterations made: {self.n_iter_}. The last "
                "fit is kept. Increase th.config(max_time=...), or reduce max_iter.",
                ConvergenceWarning,
            )
        return self

    def _checked_learner(self, sample_weight: Any) -> Any:
        learner = self._learner()
        if not hasattr(learner, "predict_proba"):
            raise ParameterError(
                f"SelfTrainingClassifier: estimator={learner!r} has no predict_proba, which "
                "self-training needs. Use a classifier with probabilities."
            )
        if sample_weight is not None and not has_fit_parameter(learner, "sample_weight"):
            raise ParameterError(
                f"SelfTrainingClassifier: {type(learner).__name__} doesn't support sample_weight. "
                "Leave the weights out, or use a classifier that supports them."
            )
        if self.threshold >= 1 and self.criterion == "threshold":
            raise ParameterError(
                f"SelfTrainingClassifier: threshold={self.threshold!r} must be below 1, because no "
                "probability exceeds 1."
            )
        return learner

    def _warn_of_few_unlabelled(self, unlabelled: int) -> None:
        if not unlabelled:
            warn(
                "SelfTrainingClassifier: y contains no unlabeled samples, so the base estimator is "
                "fitted once, to all rows. Mark unlabelled rows by −1.",
                UserWarning,
            )
        elif self.criterion == "k_best" and self.k_best > unlabelled:
            warn(
                f"SelfTrainingClassifier: k_best is larger than the number of unlabelled rows "
                f"({self.k_best} > {unlabelled}), so the first iteration labels all of them. "
                "Reduce k_best.",
                UserWarning,
            )

    def _choose(self, surest: Array) -> Array:
        """Unlabelled rows to accept, given their largest probabilities."""
        if self.criterion == "threshold":
            return np.flatnonzero(surest > self.threshold)
        return np.argsort(-surest, kind="stable")[: self.k_best]

    def _print_progress(self, made: Round) -> None:
        added = np.count_nonzero(made.since == made.number)
        if self.verbose and added and not made.stopped:  # the last fit adds no labels
            print(f"End of iteration {made.number}, added {added} new labels.")

    def _rows(self, X: Any) -> Array:
        check_is_fitted(self)
        if isinstance(X, Source):
            return self._open_whole(X).X
        accepts = get_tags(self.estimator_).input_tags.sparse
        features, _ = as_features(X, who=type(self).__name__, accept_sparse=accepts)
        validate_data(self, X if is_frame(X) else features, skip_check_array=True, reset=False)
        return features

    def predict(self, X: Any, **params: Any) -> Array:
        """Predict the class label of each row. Cost: one prediction of the base estimator.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, d)
            Rows to predict, with the same columns as in `fit`.
        **params : dict
            Arguments for this method of the base estimator, with scikit-learn's metadata routing.

        Returns
        -------
        ndarray of shape (n,)
            The predicted class labels.
        """
        rows = self._rows(X)
        return self.estimator_.predict(rows, **self._arguments("predict", params))

    @available_if(_learner_has("predict_proba"))
    def predict_proba(self, X: Any, **params: Any) -> Array:
        """Predict class probabilities. Cost: one prediction of the base estimator.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, d)
            Rows to predict, with the same columns as in `fit`.
        **params : dict
            Arguments for this method of the base estimator, with scikit-learn's metadata routing.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Probabilities in the order of ``classes_``.
        """
        rows = self._rows(X)
        return self.estimator_.predict_proba(rows, **self._arguments("predict_proba", params))

    @available_if(_learner_has("predict_log_proba"))
    def predict_log_proba(self, X: Any, **params: Any) -> Array:
        """Predict the logarithms of the class probabilities.

        Available if the base estimator has this method. Cost: one prediction of it.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, d)
            Rows to predict, with the same columns as in `fit`.
        **params : dict
            Arguments for this method of the base estimator, with scikit-learn's metadata routing.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Log-probabilities in the order of ``classes_``.
        """
        rows = self._rows(X)
        return self.estimator_.predict_log_proba(
            rows, **self._arguments("predict_log_proba", params)
        )

    @available_if(_learner_has("decision_function"))
    def decision_function(self, X: Any, **params: Any) -> Array:
        """Compute the decision scores of the base estimator.

        Available if the base estimator has this method. Cost: one prediction of it.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, d)
            Rows to predict, with the same columns as in `fit`.
        **params : dict
            Arguments for this method of the base estimator, with scikit-learn's metadata routing.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
            The decision scores.
        """
        rows = self._rows(X)
        return self.estimator_.decision_function(
            rows, **self._arguments("decision_function", params)
        )

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> float:
        """Compute the accuracy, the share of rows whose class is predicted correctly.

        With scikit-learn's metadata routing it is the score of the base estimator.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, d)
            Rows to evaluate, with the same columns as in `fit`.
        y : array-like of shape (n,)
            True class labels, one per row.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.
        **params : dict
            Arguments for ``score`` of the base estimator, with scikit-learn's metadata routing.

        Returns
        -------
        accuracy : float
            Share of correct labels, from 0 to 1.
        """
        arguments = self._arguments("score", params, sample_weight)
        if not routing_enabled():
            return super().score(X, y, sample_weight)
        rows = self._rows(X)
        return float(self.estimator_.score(rows, y, **arguments))


def _attributes(made: Round) -> dict[str, Any]:
    return {
        "estimator_": made.model,
        "classes_": made.model.classes_,
        "transduction_": made.labels,
        "labeled_iter_": made.since,
        "n_iter_": made.number,
        "termination_condition_": made.stopped,
    }
