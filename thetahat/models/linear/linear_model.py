"""The general form: θ̂ = argmin (Σ wᵢ ℓ(yᵢ, xᵢᵀβ + b))/(Σ wᵢ) + R(β), for any loss and penalty."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

from sklearn.base import clone

from thetahat.data.source import Source
from thetahat.estimator.any_loss import AnyLoss
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.linear import Linear
from thetahat.estimator.linear_classifier import without_common_scores
from thetahat.estimator.parameters import at_least, boolean, none, whole
from thetahat.estimator.watching import with_callbacks
from thetahat.foundation.types import Array
from thetahat.mathematics.losses import named as named_loss
from thetahat.mathematics.penalties import named as named_penalty
from thetahat.models.linear.inference.likelihood_inference import LikelihoodInference
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor


@with_parameters
class LinearModel(LikelihoodInference, Linear, AnyLoss):
    """A linear function with any loss and any penalty, and an automatic choice of the solver.

    Formula: β̂, b̂ = argmin (Σ wᵢ ℓ(yᵢ, zᵢ))/(Σ wᵢ) + R(β) with zᵢ = xᵢᵀβ + b. The squared loss gives
    least squares, the logistic loss logistic regression, the Poisson loss a regression for counts,
    Huber's loss robust regression, the hinge loss the support vector machine; the penalty "l2"
    gives ridge regression, "l1" the lasso.

    With a loss of classes the model is a classifier: `fit` takes labels of any kind, `predict`
    returns them, and `score` is the accuracy. The logistic, hinge and other losses of one score are
    for two classes; softmax cross-entropy and the multi-class hinges are for any number. With any
    other loss the model is a regressor, and `score` is R².

    Cost: that of the solver: O(n d²) per Newton step and O(n d) per gradient step, in memory or
    block by block.

    Parameters
    ----------
    loss : str or Loss, default="squared"
        The loss of one row, as a function of its target and raw prediction (ℓ). A name, a value
        such as ``th.losses.Huber(delta=2.0)``, or a loss of your own, ``th.loss(function)``. For
        numbers: "squared", "absolute", "quantile", "huber", "tukey", "cauchy", "forsyth",
        "epsilon_insensitive", "squared_epsilon_insensitive"; for counts: "poisson"; for
        amounts: "gamma", "tweedie"; for two
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
    _against_separation: ClassVar[str] = 'Use a penalty that bounds them, such as penalty="l2"'

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> LinearModel:
        """Fit to rows in memory (X, y) or to a source that contains the targets.

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

    def _rows_again(self, X: Any, y: Any, sample_weight: Any) -> Source:
        other = clone(self)
        other.loss_ = self.loss_
        return other._rows(X, y, sample_weight)[0]

    def _attributes(self, theta: Array, risk: EmpiricalRisk) -> dict[str, Array]:
        return without_common_scores(super()._attributes(theta, risk), risk)

    def raw_prediction(self, X: Any) -> Array:
        """Compute the raw prediction z = Xβ + b. Cost: O(n d)."""
        return self._raw(X)
