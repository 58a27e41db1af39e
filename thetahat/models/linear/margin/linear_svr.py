"""Linear support vector regression: ½‖β‖² + C·Σ wᵢ [|yᵢ − f(xᵢ)| − ε]₊, or the excess squared."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.callback import with_callbacks

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.estimator.linear import LinearRegressor
from thetahat.estimator.parameters import Range, at_least, boolean, more_than, one_of, whole
from thetahat.estimator.watching import Watched
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.base import Loss, Targets
from thetahat.mathematics.losses.residual.tube import EpsilonInsensitive, SquaredEpsilonInsensitive
from thetahat.mathematics.losses.targets import check_targets
from thetahat.mathematics.optimizers.loop import minimise
from thetahat.models.linear.margin.cost_and_bias import (
    CostAndBias,
    coefficients,
    pull,
    support_rows,
)
from thetahat.objective.empirical_risk import EmpiricalRisk


class LinearSVR(CostAndBias, Watched, LinearRegressor):
    """Linear regression that ignores errors inside a tube of half-width ε.

    Formula: min ½‖β‖² + C·Σ wᵢ [|yᵢ − f(xᵢ)| − ε]₊ with f(x) = xᵀβ + b; the squared form takes
    [·]₊². Rows strictly inside the tube have no say in β: moving one changes nothing while it stays
    inside. The bias is penalised as the coefficient of a constant column; `LinearModel` leaves it
    free.

    Cost: O(n d²) for each of a few Newton steps; O(n d) per sweep where there are many columns.

    Parameters
    ----------
    epsilon : float, default=0.0
        Half the width of the tube, in units of y.
    tol : float, default=1e-4
        The fit stops when the largest entry of the gradient of the objective above is `tol`, or
        its duality gap `tol`/100 (for the coordinate method: that share of the objective of β = 0).
    C : float, default=1.0
        Cost of an error; the larger, the less β is shrunk.
    loss : str or Loss, default="epsilon_insensitive"
        "epsilon_insensitive", "squared_epsilon_insensitive", or a loss of your own such as
        ``th.losses.Huber()``: then min ½‖β‖² + C·Σ wᵢ ℓ(yᵢ, f(xᵢ)), and `epsilon` is not used.
    fit_intercept : bool, default=True
        Whether there is a bias.
    intercept_scaling : float, default=1.0
        The entry of the constant column; the larger, the less the bias is shrunk.
    dual : bool or "auto", default="auto"
        Whether the dual is solved. The plain tube always is solved through its dual.
    verbose : int, default=0
        Ignored; follow a fit with ``set_callbacks``.
    random_state : int, Generator or RandomState, optional
        Order of the rows for the coordinate method; always the same if None.
    max_iter : int, default=1000
        Most Newton steps or sweeps.

    Attributes
    ----------
    coef_ : array of shape (d,)
        β.
    intercept_ : array of shape (1,), or 0.0
        b.
    support_ : array of shape (n_support,)
        Rows on or outside the tube, the only ones with a say in β. This and the next two are there
        when the dual was solved.
    dual_coef_ : array of shape (1, n_support)
        αᵢ of each: |αᵢ| = C·wᵢ outside the tube, less on it; β = dual_coef_ @ support_vectors_.
    support_vectors_ : array or sparse of shape (n_support, d)
        Those rows, where they are in memory.
    solution_ : Solution
        Outcome, steps, gap, solver and the reason for it.
    n_iter_ : int
        Steps or sweeps taken.

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

    _ranges = {  # noqa: RUF012
        "epsilon": at_least(0),
        "tol": more_than(0),
        "C": more_than(0),
        "loss": one_of("epsilon_insensitive", "squared_epsilon_insensitive")
        | Range(lambda value: isinstance(value, Loss), "a loss such as th.losses.Huber()"),
        "fit_intercept": boolean,
        "intercept_scaling": more_than(0),
        "dual": boolean | one_of("auto"),
        "max_iter": whole(1),
    }
    _multi_output = False

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 1e-4,
        C: float = 1.0,
        loss: Any = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        dual: Any = "auto",
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
    ) -> None:
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> LinearSVR:
        """Fit to rows in memory (X, y) or to a source that brings its own targets.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Features.
        y : array-like of shape (n,), optional
            Targets; None when X is a `Source`.
        sample_weight : array-like of shape (n,), optional
            A row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        source = self._open(X, y, sample_weight)
        loss, cost = self._loss_and_cost()
        self._require_suitable_targets(loss, source)
        risk = self._risk(source, loss, cost)
        method, reason, steps = self._method(risk)
        with self._watching(steps, lambda theta: self._split(theta, risk), X, y) as watch:
            self.solution_ = minimise(
                risk,
                method,
                tolerance=self._tolerance(risk, method),
                max_steps=steps,
                watch=watch,
                reason=reason,
            )
        self.__dict__.update(self._split(self.solution_.theta, risk))
        self.n_iter_ = self._iterations(method, self.solution_.steps)
        self._keep_support(risk)
        self._warn_unless_converged()
        return self

    def _loss_and_cost(self) -> tuple[Loss, float]:
        """ℓ and its factor; the library's squared tube carries a ½ that scikit-learn's does not."""
        if isinstance(self.loss, Loss):
            return self.loss, float(self.C)
        if self.loss == "squared_epsilon_insensitive":
            return SquaredEpsilonInsensitive(self.epsilon), 2.0 * self.C
        if self.dual is False:
            raise ParameterError(
                f"LinearSVR: Unsupported set of arguments (loss={self.loss!r}, dual=False): this "
                "loss is solved in its dual. Use dual=True or dual='auto'."
            )
        return EpsilonInsensitive(self.epsilon), float(self.C)

    def _require_suitable_targets(self, loss: Loss, source: Source) -> None:
        if loss.targets not in (Targets.REAL, Targets.NONNEGATIVE):
            raise ParameterError(
                f"LinearSVR: {loss!r} is a loss for {loss.targets.value}, and this is regression. "
                "Use LinearSVC or LinearModel."
            )
        for block in source.blocks():
            check_targets(loss, block.y, who=type(self).__name__, start=block.start)

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
