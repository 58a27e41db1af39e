"""Bayesian model averaging for labels: mean probabilities, weighted by the models' own."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.utils.validation import check_is_fitted

from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.types import Array
from thetahat.models.ensemble.averaging.model_averaging import ModelAveraging
from thetahat.models.ensemble.averaging.model_evidence import LEAST_PROBABILITY
from thetahat.models.ensemble.combination.base import EnsembleClassifier, average


class BayesianModelAveragingClassifier(ModelAveraging, EnsembleClassifier):
    """Classifiers weighted by how probable each is given the data.

    Formula: P(y|x, D) = Σ P(y|x, fₘ, D) P(fₘ|D) with P(fₘ|D) ∝ P(D|fₘ) P(fₘ). P(D|fₘ) is
    exp(−BIC/2) where every model was fitted by maximum likelihood (`LogisticRegression` without a
    penalty), else the probability of labels that copies fitted without them foresaw
    (cross-validation, "pseudo-BMA"). ``approximation_`` says which.

    Cost: one fit of each model, and ``cv`` more for cross-validation, side by side.

    Parameters
    ----------
    estimators : list of (str, classifier)
        The models by name, with ``predict_proba``; of thetahat or your own, pipelines too. "drop"
        leaves one out.
    evidence : {"auto", "exact", "bic", "cv"}, default="auto"
        How P(D|fₘ) is found; "auto": the first of the three that serves all models.
    prior : array-like of shape (n_models,), optional
        P(fₘ) up to a factor; all alike by default.
    cv : int, splitter or iterable, optional
        Folds of "cv"; 5 by default.

    Attributes
    ----------
    classes_ : array of shape (C,)
        The labels; models know them by the codes 0, 1, …
    estimators_, named_estimators_ : list, Bunch
        The models, fitted to all rows.
    posterior_, log_evidences_ : array of shape (n_models,)
        P(fₘ|D) and log P(D|fₘ).
    log_evidence_ : float
        log P(D) = log Σ P(D|fₘ) P(fₘ).
    approximation_ : str
        "exact", "bic" or "cv".

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

    def __init__(
        self,
        estimators: list[tuple[str, Any]],
        *,
        evidence: str = "auto",
        prior: Any = None,
        cv: Any = None,
    ) -> None:
        self.estimators = estimators
        self.evidence = evidence
        self.prior = prior
        self.cv = cv

    @classmethod
    def _example(cls) -> BayesianModelAveragingClassifier:
        from thetahat.models.linear.generalized.logistic_regression import LogisticRegression

        return cls([("loose", LogisticRegression()), ("strict", LogisticRegression(C=0.01))])

    @with_callbacks
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, **fit_params: Any
    ) -> BayesianModelAveragingClassifier:
        """Fit every model to all rows, and find the probability of each.

        Parameters
        ----------
        X : anything the models take, of n rows
            Features.
        y : array-like of shape (n,)
            Labels.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows; every model must take them.
        **fit_params
            Routed to the models, with scikit-learn's metadata routing.

        Returns
        -------
        self
        """
        self._fit_models(X, y, sample_weight, fit_params)
        return self

    def predict(self, X: Any) -> Array:
        """The likeliest label of each row. Cost: one prediction of each model.

        Parameters
        ----------
        X : anything the models take, of n rows
            The rows.

        Returns
        -------
        array of shape (n,)
        """
        codes = self.predict_proba(X).argmax(axis=1)
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> Array:
        """Σ P(y|x, fₘ) P(fₘ|D). Cost: one prediction of each model.

        Parameters
        ----------
        X : anything the models take, of n rows
            The rows.

        Returns
        -------
        array of shape (n, C)
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
                "predict_proba, and probabilities are what is averaged. Use VotingClassifier, or "
                "calibrate it first."
            )

    def _score_fold(self, member: Any, X: Any, y: Array) -> Array:
        """The probability of each row's own label."""
        return self._probabilities(member, X)[np.arange(len(y)), y]

    def _log_density(self, place: int, scores: Array, y: Array, weight: Array) -> float:
        return float(weight @ np.log(np.maximum(scores, LEAST_PROBABILITY)))
