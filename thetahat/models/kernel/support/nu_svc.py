"""Support vector classification whose parameter bounds the share of margin errors."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import positive_fraction
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.solution import Outcome
from thetahat.models.kernel.support.classifier import SupportVectorClassifier
from thetahat.models.kernel.support.rows import TrainingRows
from thetahat.models.kernel.support.start import filled
from thetahat.objective.kernel.support_dual import BoxDual, DualSolution

MOST_ROUNDS = 8
"""Solutions with a smaller tolerance each, because the margin was smaller than thought."""
STEPS_PER_ROW = 100
"""Steps per row, after the first solution, for a margin smaller than thought: where it is almost 0,
millions would hardly change a function that consists of it divided by itself."""
LEAST_REFINEMENT = 100_000
"""Steps that a margin smaller than thought may take at least."""
NO_MARGIN = 1e-10
"""A smaller margin, relative to the largest possible score, is one of rounding errors."""


@with_parameters
class NuSVC(SupportVectorClassifier):
    """Support vector classifier with a bound on the share of margin errors instead of C.

    Formula: min ½‖f‖² − νρ + (1/Σw)·Σ wᵢ [ρ − yᵢ(f(xᵢ) + b)]₊ over f, b and ρ ≥ 0. At most the
    share ν of the rows lies inside the margin, and at least the share ν are support vectors. The
    result is that of `SVC` for some C, with functions scaled so that the margin is at ±1. If ν is
    so small that ρ = 0, the function is 0 up to rounding errors, and a warning says so.

    Cost: as for `SVC`.

    Parameters
    ----------
    tol : float, default=1e-3
        Tolerance of the solver, relative to the margin ρ: no pair of rows may violate the
        conditions of optimality by more than tol·ρ. Smaller values give more accurate coefficients
        and need more iterations. Must be positive. Where ρ is far below `tol`, because ν is hardly
        larger than the share of rows on the wrong side, the search ends after 100,000 further
        iterations, or 100 per row, with a warning: use a larger ν, or give `max_iter`.
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
        self,
        training: TrainingRows,
        which: Array | None,
        signs: Array,
        weight: Array,
        labels: tuple[Any, Any],
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
        # |f| is at most the largest value of the kernel times the sum of |β|, which is fixed.
        diagonal = training.kernel.diagonal(training.X)
        diagonal = diagonal if which is None else diagonal[which]
        least = NO_MARGIN * 2 * half * float(np.abs(diagonal).max())
        found, margin = self._solve_to_margin(training, which, dual, signs[0], least)
        above, below = found.offsets
        margin = margin if margin > 0 and not found.flat else 1.0
        return found.beta / margin, (above + below) / 2 / margin, found

    def _solve_to_margin(
        self,
        training: TrainingRows,
        which: Array | None,
        dual: BoxDual,
        first: float,
        least: float,
    ) -> tuple[DualSolution, float]:
        """The solution and ρ; f is divided by ρ, so that violations may be at most tol·ρ."""
        tolerance, steps, most = self.tol, 0, None
        for _ in range(MOST_ROUNDS):
            found = self._solve(
                training, which, dual, tolerance=tolerance, steps_before=steps, most_steps=most
            )
            steps += found.steps
            if most is None:
                most = steps + max(LEAST_REFINEMENT, STEPS_PER_ROW * len(dual.linear))
            margin = float(first) * (found.offsets[1] - found.offsets[0]) / 2
            enough = tolerance <= self.tol * margin or max(tolerance, margin) <= least
            if enough or found.outcome is not Outcome.CONVERGED:
                break
            # A margin below the tolerance is not known yet, and may even be negative.
            tolerance = self.tol * max(margin, tolerance) / 2
            dual = replace(dual, start=found.beta)
        solved = found.outcome in (Outcome.CONVERGED, Outcome.STALLED)
        return replace(found, steps=steps, flat=solved and margin <= least), margin

    def _warn_of_flat(self, pairs: list[tuple[Any, Any]]) -> None:
        named = ", ".join(f"{a!r} and {b!r}" for a, b in pairs[:3])
        rest = f", and {len(pairs) - 3} more pairs" if len(pairs) > 3 else ""
        warn(
            f"NuSVC: nu={self.nu:g} is too small for the classes {named}{rest}: more rows than "
            "this share lie on the wrong side of every function, so that the best margin is 0 and "
            "predictions consist of rounding errors. Use a larger nu or another kernel, or SVC.",
            ConvergenceWarning,
        )
