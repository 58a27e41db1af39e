"""Bayesian model averaging for classification: probabilities weighted by model posteriors."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.utils.validation import check_is_fitted

from thetahat.estimator.declaration import with_parameters
from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.types import Array
from thetahat.models.ensemble.averaging.model_averaging import ModelAveraging
from thetahat.models.ensemble.averaging.model_evidence import LEAST_PROBABILITY
from thetahat.models.ensemble.combination.base import EnsembleClassifier, average


@with_parameters
class BayesianModelAveragingClassifier(ModelAveraging, EnsembleClassifier):
    """Bayesian model averaging of classifiers, weighted by their posterior probabilities.

    Formula: P(y|x, D) = Σ P(y|x, fₘ, D) P(fₘ|D) with P(fₘ|D) ∝ P(D|fₘ) P(fₘ). The evidence P(D|fₘ)
    is exp(−BIC/2) if every model was fitted by maximum likelihood (`LogisticRegression` without a
    penalty), and otherwise the cross-validated probability of the labels ("pseudo-BMA").
    ``approximation_`` reports which one was used.

    Cost: one fit of each model, and ``cv`` more for cross-validation, run in parallel.

    Parameters
    ----------
    estimators : list of (str, classifier)
        The models as (name, classifier) pairs, with ``predict_proba``. They can be classifiers of
        thetahat or others, including pipelines. Replace a classifier by "drop" to leave it out.
    evidence : {"auto", "exact", "bic", "cv"}, default="auto"
        How the evidence P(D|fₘ) is computed. "exact" integrates over the parameters, "bic" uses the
        BIC, "cv" uses cross-validation. "auto" takes the first of these that is available for all
        models.
    prior : array-like of shape (n_models,) or None, default=None
        Prior probabilities of the models, up to a factor (P(fₘ)). Must be positive. None gives all
        models the same probability.
    cv : int, splitter, iterable or None, default=None
        Folds for cross-validation: a number of folds, a splitter, or an iterable of (train, test)
        rows. None uses 5 folds. Used only with cross-validated evidence.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, in sorted order. The models are fitted to their codes 0, 1, ….
    estimators_ : list of classifiers
        The models, fitted to all rows.
    named_estimators_ : Bunch
        The fitted models by name; access them as attributes or keys.
    posterior_ : array of shape (n_models,)
        Posterior probability of each model (P(fₘ|D)).
    log_evidences_ : array of shape (n_models,)
        Logarithm of the evidence of each model (log P(D|fₘ)).
    log_evidence_ : float
        Logarithm of the total evidence, log P(D) = log Σ P(D|fₘ) P(fₘ).
    approximation_ : str
        Kind of evidence that was used: "exact", "bic" or "cv".

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> random = np.random.default_rng(0)
    >>> X = random.standard_normal((200, 2))
    >>> y = np.where(X[:, 0] + random.standard_normal(200) > 0, "yes", "no")
    >>> models = [("loose", th.LogisticRegression()), ("strict", th.LogisticRegression(C=1e-3))]
    >>> average = th.BayesianModelAveragingClassifier(models).fit(X, y)
    >>> average.posterior_.round(2), average.approximation_
    (array([1., 0.]), 'cv')
    """

    estimators: list[tuple[str, Any]]
    _: KW_ONLY
    evidence: str = "auto"
    prior: Any = None
    cv: Any = None

    @classmethod
    def _example(cls) -> BayesianModelAveragingClassifier:
        from thetahat.models.linear.generalized.logistic_regression import LogisticRegression

        return cls([("loose", LogisticRegression()), ("strict", LogisticRegression(C=0.01))])

    @with_callbacks
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, **fit_params: Any
    ) -> BayesianModelAveragingClassifier:
        """Fit every model to all rows, and compute their posterior probabilities.

        Cost: one fit of each model, and ``cv`` more for cross-validation.

        Parameters
        ----------
        X : anything the models take, of n rows
            Training rows, of any kind that the models accept; they receive X unchanged.
        y : array-like of shape (n,)
            Class label of each training row.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. All models must support
            weights. None gives every row weight 1.
        **fit_params
            Passed to the ``fit`` method of the models through scikit-learn's metadata routing.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._fit_models(X, y, sample_weight, fit_params)
        return self

    def predict(self, X: Any) -> Array:
        """Predict the most probable class of each row. Cost: one prediction of each model.

        Parameters
        ----------
        X : anything the models take, of n rows
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n,)
            The predicted class labels.
        """
        codes = self.predict_proba(X).argmax(axis=1)
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> Array:
        """Predict class probabilities, averaged over the models.

        Formula: Σ P(y|x, fₘ) P(fₘ|D). Cost: one prediction of each model.

        Parameters
        ----------
        X : anything the models take, of n rows
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n, n_classes)
            Probabilities in the order of ``classes_``.
        """
        check_is_fitted(self)
        self._same_columns(X)
        each = [self._probabilities(member, X) for member in self.estimators_]
        return average(each, self.posterior_)

    def _probabilities(self, member: Any, X: Any) -> Array:
        return self._of_all_classes(member, np.asarray(member.predict_proba(X)))

    def _require_kind(self, name: str, member: Any) -> None:
        super()._require_kind(name, member)
        if not hasattr(member, "predict_proba"):
            raise CapabilityError(
                f"{type(self).__name__}: {name!r}, a {type(member).__name__}, has no "
                "predict_proba, which model averaging needs. Use VotingClassifier, or calibrate "
                "the classifier first."
            )

    def _score_fold(self, member: Any, X: Any, y: Array) -> Array:
        """Predicted probability of the true label of each row."""
        return self._probabilities(member, X)[np.arange(len(y)), y]

    def _log_density(self, place: int, scores: Array, y: Array, weight: Array) -> float:
        return float(weight @ np.log(np.maximum(scores, LEAST_PROBABILITY)))
