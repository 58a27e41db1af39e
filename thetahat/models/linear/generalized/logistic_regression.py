"""Logistic regression: β̂ = argmin C Σ wᵢ ℓ(yᵢ, xᵢᵀβ + b) + R(β), ℓ the negative log-likelihood."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from thetahat.data.class_weights import times_class, weights_of_classes
from thetahat.data.source import Source
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.devices.routing import on_devices
from thetahat.estimator.devices.scores import accuracy
from thetahat.estimator.linear_classifier import require_two_weighted_classes
from thetahat.estimator.parameters import (
    at_least,
    boolean,
    fraction,
    infinity,
    more_than,
    none,
    one_of,
    whole,
)
from thetahat.estimator.watching import with_callbacks
from thetahat.foundation.types import Array
from thetahat.models.linear.generalized import logistic_on_device
from thetahat.models.linear.generalized.logistic_classifier import LogisticClassifier
from thetahat.models.linear.generalized.logistic_objective import (
    LogisticObjective,
    loss_of,
    solver_of,
    strength_and_share,
)
from thetahat.models.linear.inference.likelihood_inference import LikelihoodInference
from thetahat.objective.empirical_risk import EmpiricalRisk


@with_parameters
class LogisticPenalty:
    """A given penalty. Fields of the last base class are the first parameters."""

    penalty: Any = "deprecated"
    _: KW_ONLY
    C: float = 1.0
    l1_ratio: float | None = 0.0


@on_devices(
    "coef_",
    "intercept_",
    fit=logistic_on_device.fit,
    predict=logistic_on_device.predict,
    predict_proba=logistic_on_device.predict_proba,
    predict_log_proba=logistic_on_device.predict_log_proba,
    decision_function=logistic_on_device.decision_function,
    score=accuracy,
)
@with_parameters
class LogisticRegression(LikelihoodInference, LogisticClassifier, LogisticPenalty):
    """Logistic regression classifier with an L2, L1 or elastic-net penalty.

    Formula: for two classes P(y=1|x) = σ(z) with z = xᵀβ + b; for more classes
    P(y=c|x) = e^{z_c}/Σ_j e^{z_j}. The fit minimises C·Σ wᵢ ℓᵢ + R(β) with ℓᵢ = −log P(yᵢ|xᵢ) and
    R(β) = l1_ratio·‖β‖₁ + (1 − l1_ratio)/2·‖β‖². The intercept b is not penalised. With the L2
    penalty β̂ is the posterior mode under the prior β ~ N(0, C).

    Without a penalty (``C=math.inf``), `summary` reports standard errors and tests, and
    `predict_interval` gives intervals for the probability. Row weights count rows; class weights
    are importances, which do not add rows, so that standard errors come from the sandwich formula.

    Cost: O(n d k) per iteration for k classes, and few iterations: the curvature is computed from
    all rows or from a sample, O(d²) per row. With an L1 part, O(n a²) per iteration for a non-zero
    coefficients. Rows may be read block by block.

    Parameters
    ----------
    penalty : {"deprecated", "l2", "l1", "elasticnet", None}, default="deprecated"
        Deprecated in scikit-learn; use `l1_ratio` and `C` instead. "l2" means ``l1_ratio=0``, "l1"
        means ``l1_ratio=1``, "elasticnet" uses `l1_ratio` as given, and None means ``C=math.inf``.
    C : float, default=1.0
        Inverse of the strength of the penalty. Smaller values mean a stronger penalty and smaller
        coefficients. Must be positive; ``C=math.inf`` fits without a penalty.
    l1_ratio : float or None, default=0.0
        Share of the L1 norm in the penalty, between 0 and 1. 0 is the L2 penalty, 1 the L1 penalty,
        which sets coefficients exactly to zero; values in between combine both (elastic net).
    tol : float, default=1e-4
        Tolerance of the solver. It stops when the largest entry of the gradient of the mean
        objective (with an L1 penalty, the largest violation of the optimality conditions) is at
        most `tol`. Smaller values give a more exact solution and take longer.
    reference : label or None, default=None
        Reference class for three or more classes. Its coefficients are 0, and only the other
        classes have coefficients: P(y=c|x) = e^{z_c}/(1 + Σ e^z). Without a penalty the
        probabilities do not depend on this choice. None treats all classes alike.

    Attributes
    ----------
    n_iter_ : array of shape (1,)
        Number of iterations that the solver ran.
    solution_ : Solution
        Report of the solver: its name and the reason for choosing it, how it stopped, the number of
        iterations and the remaining optimality gap. ``solution_.value`` is the mean loss +
        R/(C·Σw).

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

    _: KW_ONLY
    warm_start: bool = False
    reference: Any = None

    _everyday = "logistic regression"
    _search_space = {  # noqa: RUF012
        "C": (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0),
    }
    _ranges = {  # noqa: RUF012
        "penalty": one_of("deprecated", "l2", "l1", "elasticnet") | none,
        "C": more_than(0) | infinity,
        "l1_ratio": fraction | none,
        "dual": boolean,
        "intercept_scaling": more_than(0),
        "tol": at_least(0),
        "fit_intercept": boolean,
        "max_iter": whole(0),
        "warm_start": boolean,
    }

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> LogisticRegression:
        source, of_class = self._with_class_weights(self._open_classes(X, y, sample_weight))
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
            class_weights=of_class,
        )
        self.n_iter_ = np.array([min(self.n_iter_, self.max_iter)], dtype=np.int32)
        return self

    def _with_class_weights(self, rows: Source) -> tuple[Source, Array | None]:
        """The rows weighted by their classes, and the weights, which standard errors need."""
        if self.class_weight is None:
            return rows, None
        who = type(self).__name__
        of_class = weights_of_classes(rows, self.classes_, self.class_weight, who)
        source = times_class(rows, of_class, who)
        require_two_weighted_classes(source, self.classes_, who)
        return source, of_class

    def _warm(self, risk: EmpiricalRisk) -> Array | None:
        """θ of the previous fit if it has the same shape."""
        rows = len(self.classes_) if risk.predictor.n_outputs else 1
        if getattr(self, "coef_", np.empty(0)).shape != (rows, risk.source.n_features):
            return None
        free = risk.loss.free_scores
        coef = np.ascontiguousarray(free(self.coef_.T), dtype=float)
        return risk.predictor.pack(coef, free(self.intercept_))
