"""How an estimator minimises its risk: the solver chosen or named, watched, and kept."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from thetahat.estimator.watching import Watched
from thetahat.mathematics.optimizers.loop import Method, minimise
from thetahat.objective.choose import method_for
from thetahat.objective.empirical_risk import EmpiricalRisk

Array = Any


class RiskMinimiser(Watched):
    """An estimator whose ``fit`` is θ̂ = argmin of an `EmpiricalRisk`.

    A face states its loss and penalty in scikit-learn's parameters, builds the risk, and calls
    `_minimise`; it leaves ``coef_``, ``intercept_``, ``solution_`` and ``n_iter_``.
    """

    _attributes: Callable[..., dict[str, Any]]
    n_iter_: Any

    def _minimise(
        self,
        risk: EmpiricalRisk,
        X: Any,
        y: Any,
        *,
        solver: str | Method = "auto",
        tolerance: float,
        max_steps: int | None = None,
        start: Array | None = None,
    ) -> None:
        method, reason = method_for(risk, solver)
        attributes = partial(self._attributes, risk=risk)
        with self._watching(max_steps, attributes, X, y) as watch:
            self.solution_ = minimise(
                risk,
                method,
                start,
                tolerance=tolerance,
                max_steps=max_steps,
                watch=watch,
                reason=reason,
            )
        self.__dict__.update(attributes(self.solution_.theta))
        self.n_iter_ = max(1, self.solution_.steps)
        self._warn_unless_converged()
