"""Support vector regression: min ½‖f‖² + C·Σ wᵢ [|yᵢ − f(xᵢ) − b| − ε]₊ over kernel functions."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

from thetahat.data.in_memory import InMemory
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import at_least, infinity, more_than
from thetahat.foundation.types import Array
from thetahat.models.kernel.support.machine import costs
from thetahat.models.kernel.support.regressor import SupportVectorRegressor
from thetahat.objective.kernel.support_dual import BoxDual


@with_parameters
class SVR(SupportVectorRegressor):
    """Support vector regression with a kernel, which ignores small residuals.

    Formula: min ½‖f‖² + C·Σ wᵢ [|yᵢ − f(xᵢ) − b| − ε]₊ with f(x) = Σ βᵢ k(xᵢ, x). The dual is
    max Σ yᵢβᵢ − ε·Σ|βᵢ| − ½βᵀKβ with |βᵢ| ≤ C·wᵢ and Σβᵢ = 0. Rows strictly inside the tube have
    βᵢ = 0: moving one changes nothing as long as it stays inside. Rows outside have |βᵢ| = C·wᵢ.

    Cost: as for `SVC`; each row has one dual variable, for both sides of the tube.

    Parameters
    ----------
    C : float, default=1.0
        Cost of residuals beyond the tube. Larger values fit the training rows more closely;
        smaller values give smoother functions. Must be positive.
    epsilon : float, default=0.1
        Half the width of the tube (ε), in units of y: smaller residuals cost nothing. Larger values
        use fewer support vectors. Must be ≥ 0.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.linspace(0.0, 6.0, 50)[:, None]
    >>> y = np.sin(X[:, 0])
    >>> model = th.SVR(C=10.0, epsilon=0.05).fit(X, y)
    >>> bool(np.abs(model.predict(X) - y).max() < 0.06), len(model.support_) < 25
    (True, True)
    """

    _: KW_ONLY
    kernel: Any = "rbf"
    degree: Any = 3
    gamma: Any = "scale"
    coef0: Any = 0.0
    tol: float = 1e-3
    C: float = 1.0
    epsilon: float = 0.1
    shrinking: bool = True
    cache_size: Any = 200
    verbose: Any = False
    max_iter: int = -1

    _search_space: ClassVar[dict[str, tuple[Any, ...]]] = {
        "C": (0.1, 1.0, 10.0, 100.0, 1000.0),
        "gamma": ("scale", 0.003, 0.01, 0.03, 0.1, 0.3, 1.0),
        "epsilon": (0.01, 0.1, 0.3),
    }
    _ranges = SupportVectorRegressor._ranges | {
        "C": more_than(0) | infinity,
        "epsilon": at_least(0),
    }

    def _fit_tube(self, rows: InMemory, used: Array, weight: Array, targets: Array) -> None:
        cost = costs(self.C, weight)
        dual = BoxDual(-targets, -cost, cost, kink=float(self.epsilon))
        which = used if len(used) < rows.n_rows else None
        found = self._solve(self._training_rows(rows), which, dual)
        self._keep_function(rows, used, found.beta, found.offsets[0], found)
