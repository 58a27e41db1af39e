"""Support vector regression that finds the width of its tube."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import infinity, more_than, positive_fraction
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.types import Array
from thetahat.models.kernel.support.machine import costs
from thetahat.models.kernel.support.regressor import SupportVectorRegressor
from thetahat.models.kernel.support.rows import TrainingRows
from thetahat.models.kernel.support.start import filled
from thetahat.objective.kernel.support_dual import BoxDual


@with_parameters
class NuSVR(SupportVectorRegressor):
    """Support vector regression with a bound on the share of rows outside the tube.

    Formula: min ½‖f‖² + C·(ν·ε·Σw + Σ wᵢ [|yᵢ − f(xᵢ) − b| − ε]₊) over f, b and ε ≥ 0. The width ε
    of the tube is found: at most the share ν of the rows lies outside, and at least the share ν are
    support vectors.

    Cost: as for `SVC` with twice as many rows.

    Parameters
    ----------
    nu : float, default=0.5
        Upper bound of the share of rows outside the tube, and lower bound of the share of support
        vectors (ν). Larger values give a narrower tube. Must be more than 0 and at most 1.
    C : float, default=1.0
        Cost of residuals beyond the tube. Larger values fit the training rows more closely;
        smaller values give smoother functions. Must be positive.

    Attributes
    ----------
    epsilon_ : float
        Half the width of the tube that was found (ε).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.arange(6.0)[:, None]
    >>> model = th.NuSVR(C=100.0, kernel="linear").fit(X, 2 * X[:, 0])
    >>> model.predict([[2.5]]).round(2).tolist()
    [5.0]
    """

    _: KW_ONLY
    nu: float = 0.5
    C: float = 1.0
    kernel: Any = "rbf"
    degree: Any = 3
    gamma: Any = "scale"
    coef0: Any = 0.0
    shrinking: bool = True
    tol: float = 1e-3
    cache_size: Any = 200
    verbose: Any = False
    max_iter: int = -1

    _ranges = SupportVectorRegressor._ranges | {
        "C": more_than(0) | infinity,
        "nu": positive_fraction,
    }

    def _fit_tube(self, rows: InMemory, used: Array, weight: Array, targets: Array) -> None:
        n = len(used)
        cost, zero = costs(self.C, weight), np.zeros(n)
        training, budget = self._training_rows(rows), self.nu * float(cost.sum())
        steps = 0
        if self._is_lost(training, used, budget):
            # The best β of ε = 0 is the best of all if the sum of its sizes is within the budget.
            found = self._solve(training, used, BoxDual(-targets, -cost, cost))
            steps = found.steps
            if float(np.abs(found.beta).sum()) <= budget:
                self.epsilon_ = 0.0
                self._keep_function(rows, used, found.beta, found.offsets[0], found)
                return
        start = filled(cost, budget / 2)
        # Each row has a variable for either side of the tube; their sums are fixed.
        dual = BoxDual(
            linear=-np.concatenate([targets, targets]),
            lower=np.concatenate([zero, -cost]),
            upper=np.concatenate([cost, zero]),
            split=n,
            start=np.concatenate([start, -start]),
        )
        both = np.concatenate([used, used])
        found = self._solve(training, both, dual, steps_before=steps)
        found = replace(found, steps=steps + found.steps)
        above, below = found.offsets
        self.epsilon_ = max(0.0, (above - below) / 2)
        beta = found.beta[:n] + found.beta[n:]
        self._keep_function(rows, used, beta, (above + below) / 2, found)

    def _is_lost(self, training: TrainingRows, used: Array, budget: float) -> bool:
        """Whether β is lost in the rounding errors of the variables, whose sum is fixed."""
        largest = float(np.abs(training.kernel.diagonal(training.X)[used]).max(initial=0.0))
        return EPSILON * budget * largest > 0.1 * self.tol
