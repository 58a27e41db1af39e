"""Support vector classification: min ½‖f‖² + C·Σ wᵢ [1 − yᵢ(f(xᵢ) + b)]₊ over kernel functions."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import infinity, more_than
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.models.kernel.support.classifier import SupportVectorClassifier
from thetahat.models.kernel.support.machine import costs
from thetahat.models.kernel.support.pairs import PairFit, fit_small_pairs
from thetahat.models.kernel.support.rows import TrainingRows
from thetahat.objective.kernel.support_dual import BoxDual, DualSolution


@with_parameters
class SVC(SupportVectorClassifier):
    """Support vector classifier with a kernel, for two or more classes.

    Formula: min ½‖f‖² + C·Σ wᵢ [1 − yᵢ(f(xᵢ) + b)]₊ with yᵢ = ±1 and f(x) = Σ yᵢαᵢ k(xᵢ, x). The
    dual is max Σαᵢ − ½ΣΣ αᵢαⱼyᵢyⱼ k(xᵢ, xⱼ) with 0 ≤ αᵢ ≤ C·wᵢ and Σ yᵢαᵢ = 0. Rows outside the
    margin have αᵢ = 0, rows on it 0 < αᵢ < C·wᵢ, and rows inside it αᵢ = C·wᵢ; only rows with
    αᵢ > 0 are kept (support vectors). More than two classes have one function for each pair, and
    the class with most votes is predicted.

    Cost: the dual is solved by sequential minimal optimisation: O(n) for each step of two dual
    variables, and O(n d) for each kernel row that is not in the cache; in all between O(n²d) and
    O(n³). Memory: `cache_size`, and O(n d). For more than some 50,000 rows use `KernelModel` with
    ``n_components``, or `LinearSVC`.

    Parameters
    ----------
    C : float, default=1.0
        Cost of rows inside the margin. Larger values allow fewer of them and fit the training rows
        more closely; smaller values give a wider margin. Must be positive.

    Examples
    --------
    >>> import thetahat as th
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], ["same", "other", "other", "same"]
    >>> model = th.SVC(C=100.0).fit(X, y)
    >>> model.predict(X).tolist(), model.n_support_.tolist()
    (['same', 'other', 'other', 'same'], [2, 2])
    """

    _: KW_ONLY
    C: float = 1.0
    kernel: Any = "rbf"
    degree: Any = 3
    gamma: Any = "scale"
    coef0: Any = 0.0
    shrinking: bool = True
    probability: Any = False
    tol: float = 1e-3
    cache_size: Any = 200
    class_weight: Any = None
    verbose: Any = False
    max_iter: int = -1
    decision_function_shape: str = "ovr"
    break_ties: bool = False
    random_state: Any = None

    _search_space: ClassVar[dict[str, tuple[Any, ...]]] = {
        "C": (0.1, 1.0, 10.0, 100.0, 1000.0),
        "gamma": ("scale", 0.003, 0.01, 0.03, 0.1, 0.3, 1.0),
    }
    _ranges = SupportVectorClassifier._ranges | {"C": more_than(0) | infinity}

    def _fit_small_pairs(
        self,
        training: TrainingRows,
        used: Array,
        ends: Array,
        weight: Array,
        pairs: Array,
        watch: Watch,
    ) -> tuple[Array, dict[int, PairFit]]:
        if len(pairs) == 1:
            return super()._fit_small_pairs(training, used, ends, weight, pairs, watch)
        return fit_small_pairs(
            training,
            used,
            ends,
            costs(self.C, weight),
            pairs,
            tolerance=self.tol,
            max_steps=None if self.max_iter < 0 else self.max_iter,
            watch=watch,
        )

    def _fit_pair(
        self,
        training: TrainingRows,
        which: Array | None,
        signs: Array,
        weight: Array,
        labels: tuple[Any, Any],
    ) -> tuple[Array, float, DualSolution]:
        cost = costs(self.C, weight)
        zero = np.zeros(len(signs))
        dual = BoxDual(
            linear=-signs,
            lower=np.where(signs > 0, zero, -cost),
            upper=np.where(signs > 0, cost, zero),
        )
        found = self._solve(training, which, dual)
        self._warn_if_lost(found, spread=2.0)
        return found.beta, found.offsets[0], found
