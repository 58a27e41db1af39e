"""Support vector classification whose parameter bounds the share of margin errors."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import positive_fraction
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array, Matrix
from thetahat.models.kernel.support.classifier import SupportVectorClassifier
from thetahat.models.kernel.support.start import filled
from thetahat.objective.kernel.support_dual import BoxDual, DualSolution


@with_parameters
class NuSVC(SupportVectorClassifier):
    """Support vector classifier with a bound on the share of margin errors instead of C.

    Formula: min ½‖f‖² − νρ + (1/Σw)·Σ wᵢ [ρ − yᵢ(f(xᵢ) + b)]₊ over f, b and ρ ≥ 0. At most the
    share ν of the rows lies inside the margin, and at least the share ν are support vectors. The
    result is that of `SVC` for some C, with functions scaled so that the margin is at ±1.

    Cost: as for `SVC`.

    Parameters
    ----------
    nu : float, default=0.5
        Upper bound of the share of rows inside the margin, and lower bound of the share of support
        vectors (ν). Larger values give a wider margin. Must be more than 0, and at most twice the
        share of the smaller class of each pair.

    Examples
    --------
    >>> import thetahat as th
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> th.NuSVC(nu=0.5, kernel="linear").fit(X, y).predict([[0.5], [2.5]]).tolist()
    [0, 1]
    """

    _: KW_ONLY
    nu: float = 0.5
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

    _ranges = SupportVectorClassifier._ranges | {"nu": positive_fraction}

    @classmethod
    def _example(cls) -> Any:
        """A share that classes of different sizes allow."""
        return cls(nu=0.2, tol=1e-9)

    def _fit_pair(
        self, X: Matrix, which: Array | None, signs: Array, weight: Array, labels: tuple[Any, Any]
    ) -> tuple[Array, float, DualSolution]:
        """Groups of one sign each; the rows of a pair are sorted by class already."""
        split = int(np.argmax(signs != signs[0]))
        half = self.nu * float(weight.sum()) / 2
        sums = [float(weight[:split].sum()), float(weight[split:].sum())]
        if half > min(sums) * (1 + 1e-12):
            most = 2 * min(sums) / sum(sums)
            raise DataError(
                f"NuSVC: specified nu is infeasible: nu={self.nu:g}, but it may be at most "
                f"{most:.4g} for the classes {labels[0]!r} and {labels[1]!r}, twice the share of "
                "the smaller one. Use a smaller nu."
            )
        start = signs * np.concatenate([filled(weight[:split], half), filled(weight[split:], half)])
        dual = BoxDual(
            linear=np.zeros(len(signs)),
            lower=np.where(signs > 0, 0.0, -weight),
            upper=np.where(signs > 0, weight, 0.0),
            split=split,
            start=start,
        )
        found = self._solve(X, which, dual)
        above, below = found.offsets if signs[0] > 0 else found.offsets[::-1]
        margin = (below - above) / 2
        margin = margin if margin > 0 else 1.0
        return found.beta / margin, (above + below) / 2 / margin, found
