"""Linear support vector regression: ½‖β‖² + C·Σ wᵢ [|yᵢ − f(xᵢ)| − ε]₊, or the excess squared."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.linear import OneTargetRegressor
from thetahat.estimator.parameters import Range, at_least, one_of
from thetahat.estimator.watching import WatchedSolver, with_callbacks
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.base import Loss, Targets
from thetahat.mathematics.losses.residual.tube import EpsilonInsensitive, SquaredEpsilonInsensitive
from thetahat.mathematics.losses.targets import check_source_targets
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.models.linear.margin.cost_and_bias import (
    CostAndBias,
    coefficients,
    judged,
    pull,
    support_rows,
)
from thetahat.objective.empirical_risk import EmpiricalRisk


@with_parameters
class LinearSVR(CostAndBias, WatchedSolver, OneTargetRegressor):
    """Linear support vector regression, which ignores small residuals.

    Formula: min ½‖β‖² + C·Σ wᵢ [|yᵢ − f(xᵢ)| − ε]₊ with f(x) = xᵀβ + b; the squared form uses
    [·]₊². Residuals up to ε cost nothing. Rows strictly inside this tube do not influence β: moving
    one changes nothing as long as it stays inside.

    As in scikit-learn, the intercept is penalised too, as the coefficient of a constant column;
    `LinearModel` does not penalise it.

    Cost: O(n d²) for each of a few Newton steps; O(n d) per iteration of coordinate descent if
    there are many columns.

    Parameters
    ----------
    epsilon : float, default=0.0
        Half the width of the tube (ε), in units of y: smaller residuals cost nothing. Larger values
        use fewer support vectors. Must be ≥ 0.
    C : float, default=1.0
        Inverse of the strength of the penalty. Larger values fit the training rows more closely;
        smaller values give smaller coefficients. Must be positive.
    loss : str or Loss, default="epsilon_insensitive"
        Loss to minimise: "epsilon_insensitive" (absolute residuals beyond ε) or
        "squared_epsilon_insensitive" (their squares). Any other loss for real targets works too,
        such as ``th.losses.Huber()``; the objective is then ½‖β‖² + C·Σ wᵢ ℓ(yᵢ, f(xᵢ)), and
        `epsilon` is not used.
    dual : bool or "auto", default="auto"
        Whether to solve the dual problem. "auto" chooses by the size of the data.
        ``loss="epsilon_insensitive"`` is always solved through its dual.

    Attributes
    ----------
    intercept_ : array of shape (1,), or 0.0
        Estimated intercept (b̂); 0.0 if ``fit_intercept=False``.
    support_ : array of shape (n_support,)
        Row numbers of the support vectors, which lie on or outside the tube. Only available if the
        dual was solved, like ``dual_coef_`` and ``support_vectors_``.
    dual_coef_ : array of shape (1, n_support)
        Dual coefficients αᵢ of the support vectors: |αᵢ| = C·wᵢ outside the tube, and less on it.
        ``coef_`` equals ``dual_coef_[0] @ support_vectors_``.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.arange(6.0)[:, None]
    >>> y = np.array([0.0, 1.2, 1.8, 3.1, 3.9, 8.0])
    >>> tube = th.LinearSVR(epsilon=0.25, C=100.0).fit(X, y)
    >>> tube.coef_.round(4), tube.intercept_.round(4), tube.support_.tolist()
    (array([1.1]), array([-0.15]), [1, 2, 4, 5])
    """

    _: KW_ONLY
    epsilon: float = 0.0
    loss: Any = "epsilon_insensitive"
    intercept_scaling: float = 1.0

    _ranges = CostAndBias._ranges | {
        "epsilon": at_least(0),
        "loss": one_of("epsilon_insensitive", "squared_epsilon_insensitive")
        | Range(lambda value: isinstance(value, Loss), "a loss such as th.losses.Huber()"),
    }

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> LinearSVR:
        source = self._open(X, y, sample_weight)
        loss, cost = self._loss_and_cost()
        self._require_suitable_targets(loss, source)
        risk = self._risk(source, loss, cost)
        method, reason, steps = self._method(risk)
        with (
            one_blas_thread(),  # set once, not in each of many short passes
            self._watching(steps, lambda theta: self._split(theta, risk), X, y) as watch,
        ):
            found = minimise(
                risk,
                method,
                tolerance=self._tolerance(risk, method),
                max_steps=steps,
                watch=watch,
                reason=reason,
            )
        self.solution_ = judged(found, method, steps)
        self.__dict__.update(self._split(self.solution_.theta, risk))
        self.n_iter_ = self._iterations(method, self.solution_.steps)
        self._keep_support(risk)
        self._warn_unless_converged()
        return self

    def _loss_and_cost(self) -> tuple[Loss, float]:
        """The loss and its factor; the squared tube loss has a ½ that scikit-learn's lacks."""
        if isinstance(self.loss, Loss):
            return self.loss, float(self.C)
        if self.loss == "squared_epsilon_insensitive":
            return SquaredEpsilonInsensitive(self.epsilon), 2.0 * self.C
        if self.dual is False:
            raise ParameterError(
                f"LinearSVR: Unsupported set of arguments (loss={self.loss!r}, dual=False): this "
                "loss can only be solved in the dual. Use dual=True or dual='auto'."
            )
        return EpsilonInsensitive(self.epsilon), float(self.C)

    def _require_suitable_targets(self, loss: Loss, source: Source) -> None:
        if loss.targets not in (Targets.REAL, Targets.NONNEGATIVE):
            raise ParameterError(
                f"LinearSVR: {loss!r} is a loss for {loss.targets.value}, but a loss for real "
                "targets is needed. Use LinearSVC or LinearModel."
            )
        check_source_targets(loss, source, who=type(self).__name__)

    def _split(self, theta: Array, risk: EmpiricalRisk) -> dict[str, Any]:
        coef, intercept = coefficients(theta, risk)
        dtype = risk.source.dtype
        return {
            "coef_": np.ascontiguousarray(coef, dtype=dtype),
            "intercept_": np.atleast_1d(intercept).astype(dtype) if self.fit_intercept else 0.0,
        }

    def _keep_support(self, risk: EmpiricalRisk) -> None:
        for name in ("support_", "dual_coef_", "support_vectors_"):
            self.__dict__.pop(name, None)
        multipliers = self.solution_.multipliers
        if multipliers is None:
            return
        source, pulls = risk.source, pull(multipliers, risk)
        self.support_ = support_rows(pulls, source)
        self.dual_coef_ = pulls[None, self.support_].astype(source.dtype)
        if isinstance(source, InMemory):
            self.support_vectors_ = source.X[self.support_]
