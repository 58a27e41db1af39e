"""The general form: θ̂ = argmin (Σ wᵢ ℓ(yᵢ, xᵢᵀβ + b))/(Σ wᵢ) + R(β), for any loss and penalty."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils.metaestimators import available_if

from thetahat.data.source import Source
from thetahat.data.views import sign_targets
from thetahat.estimator.classifier import LabelledEstimator
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.linear import Linear
from thetahat.estimator.linear_classifier import (
    require_two_weighted_classes,
    without_common_scores,
)
from thetahat.estimator.parameters import at_least, boolean, none, whole
from thetahat.estimator.source_scores import (
    accuracy_of_source,
    r2_of_source,
    require_no_target_beside,
)
from thetahat.estimator.watching import with_callbacks
from thetahat.foundation.types import Array
from thetahat.mathematics.losses import named as named_loss
from thetahat.mathematics.losses.base import Loss, Targets
from thetahat.mathematics.losses.links import Link
from thetahat.mathematics.losses.targets import check_targets
from thetahat.mathematics.penalties import named as named_penalty
from thetahat.models.linear.inference.likelihood_inference import LikelihoodInference
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor

OF_CLASSES = (Targets.BINARY, Targets.SIGNS, Targets.CLASSES)
"""Targets that are labels: a model with such a loss is a classifier."""
OF_PROBABILITIES = (Link.LOGIT, Link.SOFTMAX)
"""Links under which a raw prediction is a probability."""


def _loss(model: LinearModel) -> Loss:
    """The loss of the fit; before a fit, the requested one."""
    return model.loss_ if hasattr(model, "coef_") else named_loss(model.loss)


def _classifies(model: LinearModel) -> bool:
    return _loss(model).targets in OF_CLASSES


def _has_probabilities(model: LinearModel) -> bool:
    return _classifies(model) and _loss(model).link in OF_PROBABILITIES


@with_parameters
class LinearModel(LikelihoodInference, LabelledEstimator, Linear):
    """A linear function under any loss and any penalty, with an automatic choice of the solver.

    Formula: β̂, b̂ = argmin (Σ wᵢ ℓ(yᵢ, zᵢ))/(Σ wᵢ) + R(β) with zᵢ = xᵢᵀβ + b. The squared loss gives
    least squares, the logistic loss logistic regression, the Poisson loss a regression for counts,
    Huber's loss robust regression, the hinge loss the support vector machine; the penalty "l2"
    gives ridge regression, "l1" the lasso.

    With a loss of classes the model is a classifier: `fit` takes labels of any kind, `predict`
    returns them, and `score` is the accuracy. The logistic, hinge and other losses of one score are
    for two classes; softmax cross-entropy and the multi-class hinges are for any number. With any
    other loss the model is a regressor, and `score` is R².

    Cost: that of the solver: O(n d²) per Newton step and O(n d) per gradient step, in memory or out
    of core.

    Parameters
    ----------
    loss : str or Loss, default="squared"
        The loss of one row, as a function of its target and raw prediction (ℓ). A name, a value
        such as ``th.losses.Huber(delta=2.0)``, or a loss of your own, ``th.loss(function)``. For
        numbers: "squared", "absolute", "quantile", "huber", "tukey", "cauchy", "forsyth",
        "epsilon_insensitive", "squared_epsilon_insensitive"; for counts: "poisson"; for two
        classes: "logistic", "sign_logistic", "hinge", "squared_hinge", "class_huber",
        "exponential", "perceptron"; for any number of classes: "softmax_cross_entropy",
        "multiclass_hinge", "crammer_singer".
    penalty : str or Penalty, default="l2"
        The penalty on the coefficients (R), added to the mean loss: "none", "l2", "l1", "l0",
        "elastic_net", "l1_ball", "l2_ball", "non_negative", or a value such as
        ``th.penalties.L2(alpha=0.1)``. A name stands for alpha = 1, which is
        strong for many rows: `Ridge` with penalty a has ``L2(alpha=a / n)``, and
        `LogisticRegression` with cost C has ``L2(alpha=1 / (C * n))``, with n the sum of the row
        weights.
    solver : str or Method, default="auto"
        The method that minimises the objective. "auto" chooses by the loss, the penalty and the
        size of the data; ``solution_.reason`` says why. Others to compare: "newton", "lbfgs",
        "irls", "gradient_descent", "momentum", "nesterov", "sgd", "coordinate_descent",
        "working_sets", "proximal_gradient", "proximal_newton", "subgradient_descent",
        "augmented_lagrangian", "dual_coordinate_descent", "interior_point". An error names the
        methods that suit the loss and the penalty.
    fit_intercept : bool, default=True
        Whether to fit an intercept (b). It is never penalised. Set it to False if the columns are
        centred already.
    max_iter : int, optional
        Maximum number of iterations of the solver. None takes the solver's own limit. Increase it
        when a warning reports that the solver did not converge.
    tol : float, default=1e-8
        The solver stops when the largest entry of the gradient is at most this tolerance. Smaller
        values give more digits and need more iterations. The tolerance is relative where the
        columns and the residuals make all gradients small, and never below rounding.

    Attributes
    ----------
    coef_ : array of shape (d,) or (n_classes, d)
        The coefficients; one row for each class where the loss has one score per class.
    intercept_ : float or array of shape (n_classes,)
        The intercept, or one for each class.
    classes_ : array of shape (n_classes,)
        The labels in sorted order; only for losses of classes.
    solution_ : Solution
        How the solver stopped: outcome, iterations, optimality gap, solver and the reason for it.
    n_iter_ : int
        The number of iterations that were run.
    loss_, penalty_ : Loss, Penalty
        The loss and the penalty that were used.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X, y = np.arange(9.0)[:, None], np.arange(9.0)
    >>> y[4] = 100.0
    >>> robust = th.LinearModel(loss=th.losses.Huber(delta=0.1), penalty="none").fit(X, y)
    >>> round(float(robust.coef_[0]), 2)
    1.0
    >>> labels = np.where(y > 3, "high", "low")
    >>> th.LinearModel("logistic").fit(X, labels).predict([[0.0], [8.0]]).tolist()
    ['low', 'high']
    """

    loss: Any = "squared"
    penalty: Any = "l2"
    _: KW_ONLY
    solver: Any = "auto"
    fit_intercept: bool = True
    max_iter: int | None = None
    tol: float = 1e-8

    _ranges = {  # noqa: RUF012
        "fit_intercept": boolean,
        "max_iter": whole(1) | none,
        "tol": at_least(0),
    }
    _multi_output = False
    _against_separation: ClassVar[str] = 'Add a penalty, such as penalty="l2"'

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        targets = named_loss(self.loss).targets
        if targets in OF_CLASSES:
            tags.estimator_type = "classifier"
            tags.classifier_tags = ClassifierTags(multi_class=targets is Targets.CLASSES)
        else:
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        return tags

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> LinearModel:
        """Fit to rows in memory (X, y) or to a source that brings its own targets.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The columns to predict from.
        y : array-like of shape (n,), optional
            The targets, which must suit the loss: numbers, counts, or labels of any kind for a
            loss of classes. None when X is a `Source`.
        sample_weight : array-like of shape (n,), optional
            Row weights; a row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        self.loss_, self.penalty_ = named_loss(self.loss), named_penalty(self.penalty)
        source, n_scores = self._rows(X, y, sample_weight)
        predictor = LinearPredictor(source.n_features, n_scores, fit_intercept=self.fit_intercept)
        risk = EmpiricalRisk(predictor, self.loss_, self.penalty_, source)
        self._minimise(risk, X, y, solver=self.solver, tolerance=self.tol, max_steps=self.max_iter)
        return self

    def _rows(self, X: Any, y: Any, sample_weight: Any) -> tuple[Source, int]:
        """The rows with targets of the loss, and the number of columns of z (0 if it is 1-D)."""
        kind, who = self.loss_.targets, type(self).__name__
        if kind not in OF_CLASSES:
            source = self._open(X, y, sample_weight)
            self.__dict__.pop("classes_", None)  # of an earlier fit with a loss of classes
            for block in source.blocks():
                check_targets(self.loss_, block.y, who=who, start=block.start)
            return source, 0
        several = kind is Targets.CLASSES
        source = self._open_classes(
            X,
            y,
            sample_weight,
            most=None if several else 2,
            remedy='use loss="softmax_cross_entropy", or keep two of them',
        )
        require_two_weighted_classes(source, self.classes_, who)
        if kind is Targets.SIGNS:
            source = sign_targets(source, 2)
        return source, len(self.classes_) if several else 0

    def _rows_again(self, X: Any, y: Any, sample_weight: Any) -> Source:
        other = clone(self)
        other.loss_ = self.loss_
        return other._rows(X, y, sample_weight)[0]

    def _attributes(self, theta: Array, risk: EmpiricalRisk) -> dict[str, Array]:
        return without_common_scores(super()._attributes(theta, risk), risk)

    def raw_prediction(self, X: Any) -> Array:
        """Compute the raw prediction z = Xβ + b. Cost: O(n d).

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to predict.

        Returns
        -------
        array of shape (n,), or (n, n_classes) for losses with one score per class
        """
        return self._raw(X)

    def predict(self, X: Any) -> Array:
        """Predict E[y | x] for numbers and counts, the label for classes. Cost: O(n d).

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to predict.

        Returns
        -------
        array of shape (n,)
        """
        z = self.raw_prediction(X)
        if self.loss_.targets not in OF_CLASSES:
            return self.loss_.mean(z)
        if z.ndim == 2:
            codes = z.argmax(axis=1)
        elif type(self.loss_).mean is Loss.mean:
            codes = (z > 0).astype(np.intp)
        else:  # the loss itself gives probabilities
            codes = (self.loss_.mean(z) > 0.5).astype(np.intp)
        return _labels_of(self, z)[codes]

    def predict_mean(self, X: Any) -> Array:
        """Predict E[y | x] under the link: a value, a rate, or probabilities. Cost: O(n d).

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to predict.

        Returns
        -------
        array of shape (n,), or (n, n_classes) for losses with one score per class
        """
        z = self.raw_prediction(X)
        return self.loss_.mean(z)

    @available_if(_classifies)
    def decision_function(self, X: Any) -> Array:
        """Compute the scores of the classes; only for losses of classes. Cost: O(n d).

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to classify.

        Returns
        -------
        array of shape (n,), positive for ``classes_[1]``, or (n, n_classes)
        """
        return _one_score_for_two(self.raw_prediction(X))

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Predict the probability of each class; only for losses with such a link. Cost: O(n d).

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to classify.

        Returns
        -------
        array of shape (n, n_classes)
        """
        found = self.predict_mean(X)
        return found if found.ndim == 2 else np.column_stack([1 - found, found])

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy for losses of classes, and R² for all others. Cost: O(n d).

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to predict. A `Source` is read block by block and brings its own target and
            weights.
        y : array-like of shape (n,), optional
            The true targets of these rows. Leave it out if X is a `Source`.
        sample_weight : array-like of shape (n,), optional
            Row weights; a row of weight 2 counts as two rows.

        Returns
        -------
        float
        """
        from sklearn.metrics import accuracy_score, r2_score

        require_no_target_beside(X, y, sample_weight, "LinearModel")
        if isinstance(X, Source):
            return accuracy_of_source(self, X) if _classifies(self) else r2_of_source(self, X)
        metric = accuracy_score if _classifies(self) else r2_score
        return float(metric(y, self.predict(X), sample_weight=sample_weight))


def _labels_of(model: LinearModel, z: Array) -> Array:
    """The labels; in models saved by earlier versions, the targets of the loss."""
    if hasattr(model, "classes_"):
        return model.classes_
    if model.loss_.targets is Targets.SIGNS:
        return np.array([-1, 1], dtype=z.dtype)
    return np.arange(z.shape[1] if z.ndim == 2 else 2, dtype=z.dtype)


def _one_score_for_two(z: Array) -> Array:
    """Two columns of scores as their difference, as scikit-learn expects for two classes."""
    return z[:, 1] - z[:, 0] if z.ndim == 2 and z.shape[1] == 2 else z
