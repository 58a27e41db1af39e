"""Logistic regression: β̂ = argmin C Σ wᵢ ℓ(yᵢ, xᵢᵀβ + b) + R(β), ℓ the negative log-likelihood."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.callback import with_callbacks

from thetahat.estimator.parameters import Range, at_least, boolean, more_than, none, one_of, whole
from thetahat.foundation.types import Array
from thetahat.models.linear.generalized.logistic_classifier import LogisticClassifier
from thetahat.models.linear.generalized.logistic_objective import (
    LogisticObjective,
    loss_of,
    solver_of,
    strength_and_share,
)
from thetahat.models.linear.inference.likelihood_inference import LikelihoodInference
from thetahat.objective.empirical_risk import EmpiricalRisk

share = Range(lambda value: at_least(0).holds(value) and value <= 1, "a number between 0 and 1")


class LogisticRegression(LikelihoodInference, LogisticClassifier):
    """Class probabilities that are logistic in a linear score, under any of the usual penalties.

    Formula: two classes: P(y=1|x) = σ(z), z = xᵀβ + b; more: P(y=c|x) = e^{z_c}/Σ_j e^{z_j}. The
    fit minimises C·Σ wᵢ ℓᵢ + R(β) with ℓ = −log P(yᵢ|xᵢ) and
    R = l1_ratio·‖β‖₁ + (1 − l1_ratio)/2·‖β‖², b free: scikit-learn's objective. Under the prior
    β ~ N(0, s²) it is the posterior mode for C = s².

    Cost: a gradient, O(n d C), per step, and few steps: the curvature comes from O(d²) per row of
    all rows or of a sample. With an L1 part: O(n a²) per step for a working coefficients. In memory
    or out of core.

    Parameters
    ----------
    penalty : {"deprecated", "l2", "l1", "elasticnet", None}
        scikit-learn's old way to say ``l1_ratio`` (0, 1, in between) and ``C=inf``.
    C : float, default=1.0
        Inverse strength of the penalty, > 0; ``inf`` for none.
    l1_ratio : float, default=0.0
        Share of ‖β‖₁ in the penalty: 0 is L2, 1 is L1, in between the elastic net.
    dual, intercept_scaling, verbose, n_jobs
        Accepted as scikit-learn has them; without effect on the optimum.
    tol : float, default=1e-4
        Largest entry of the gradient of the mean objective, or distance from optimality for L1.
    fit_intercept : bool, default=True
        Whether b is fitted.
    class_weight : dict, "balanced" or None
        Weights of the classes, times ``sample_weight``.
    random_state : int, Generator or None
        Order of the rows for ``solver="sgd"``.
    solver : str or Method, default="lbfgs"
        Any of scikit-learn's names, or "auto": the method that suits penalty and size. "newton"
        ("irls"), "gradient_descent", "sgd" or a value such as ``th.optimizers.LBFGS()``: that one.
    max_iter : int, default=100
        Most steps.
    warm_start : bool, default=False
        Begin at the last solution.
    reference : label, optional
        With three or more classes, the one whose coefficients are 0: C − 1 weight vectors, and
        P(y=c|x) = e^{z_c}/(1 + Σ e^z). Without a penalty the same probabilities as the softmax.

    Attributes
    ----------
    classes_ : array of shape (C,)
        The labels.
    coef_ : array of shape (1, d) or (C, d)
        β; one row for two classes.
    intercept_ : array of shape (1,) or (C,)
        b.
    n_iter_ : array of shape (1,)
        Steps taken.
    solution_ : Solution
        Outcome, gap, solver and the reason for it; ``value`` is the mean loss + R/(C·Σw).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = th.LogisticRegression().fit(X, ["no", "no", "yes", "yes"])
    >>> model.predict([[0.5], [2.5]]).tolist()
    ['no', 'yes']
    >>> float(model.predict_proba([[1.5]])[0, 1].round(3))
    0.5
    """

    _everyday = "logistic regression"
    _ranges = {  # noqa: RUF012
        "penalty": one_of("deprecated", "l2", "l1", "elasticnet") | none,
        "C": more_than(0),
        "l1_ratio": share | none,
        "dual": boolean,
        "tol": at_least(0),
        "fit_intercept": boolean,
        "max_iter": whole(0),
        "warm_start": boolean,
    }

    def __init__(
        self,
        penalty: Any = "deprecated",
        *,
        C: float = 1.0,
        l1_ratio: float | None = 0.0,
        dual: bool = False,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        random_state: Any = None,
        solver: Any = "lbfgs",
        max_iter: int = 100,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        reference: Any = None,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.reference = reference

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> LogisticRegression:
        """Fit to rows in memory (X, y) or to a source that brings its own labels.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Features.
        y : array-like of shape (n,), optional
            Labels: text, numbers or Booleans; None when X is a `Source`.
        sample_weight : array-like of shape (n,), optional
            A row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        source = self._open_classes(X, y, sample_weight, class_weight=self.class_weight)
        C, l1_ratio = strength_and_share(self.penalty, self.C, self.l1_ratio)
        loss = loss_of(self.classes_, self.reference)
        objective = LogisticObjective(source, loss, len(self.classes_), self.fit_intercept)
        risk = objective.risk(C, l1_ratio)
        self._minimise(
            risk,
            X,
            y,
            solver=solver_of(self.solver, self.random_state),
            tolerance=self._aim(risk),
            max_steps=self.max_iter,
            start=self._warm(risk) if self.warm_start else None,
        )
        self.n_iter_ = np.array([self.n_iter_], dtype=np.int32)
        return self

    def _warm(self, risk: EmpiricalRisk) -> Array | None:
        """θ of the last fit, where it has the same shape."""
        rows = len(self.classes_) if risk.predictor.n_outputs else 1
        if getattr(self, "coef_", np.empty(0)).shape != (rows, risk.source.n_features):
            return None
        free = risk.loss.free_scores
        coef = np.ascontiguousarray(free(self.coef_.T), dtype=float)
        return risk.predictor.pack(coef, free(self.intercept_))
