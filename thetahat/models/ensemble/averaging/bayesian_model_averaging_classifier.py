"""Bayesian model averaging for classification: probabilities weighted by model posteriors."""

from __future__ import annotations

from typing import Any

import numpy as np
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

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, in sorted order. The models are fitted to their codes 0, 1, ….

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

    @classmethod
    def _example(cls) -> BayesianModelAveragingClassifier:
        from thetahat.models.linear.generalized.logistic_regression import LogisticRegression

        return cls([("loose", LogisticRegression()), ("strict", LogisticRegression(C=0.01))])

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
        X = self._same_columns(X)
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

    def _log_density(
        self, scores: Array, y: Array, weight: Array, place: int, noise: list[float | None]
    ) -> float:
        return float(weight @ np.log(np.maximum(scores, LEAST_PROBABILITY)))
