"""How an estimator minimises its risk: the solver chosen or named, watched, and kept."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from thetahat.data.arrays import namespace
from thetahat.data.in_memory import InMemory
from thetahat.data.views.shifted import shifted_to_middle
from thetahat.estimator.watching import Watched
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError, SeparationWarning
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.loop import Method, minimise
from thetahat.objective.choose import method_for
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.likelihood.separation import Separation, separation
from thetahat.objective.stopping import tolerance_for
from thetahat.objective.units import watch_in_units

FEW = 1 << 16
"""Entries of X up to which BLAS works on one thread from the first step to the last."""


class RiskMinimiser(Watched):
    """An estimator whose ``fit`` is θ̂ = argmin of an `EmpiricalRisk`.

    A face states its loss and penalty in scikit-learn's parameters, builds the risk, and calls
    `_minimise`; it leaves ``coef_``, ``intercept_``, ``solution_`` and ``n_iter_``.
    """

    _attributes: Callable[..., dict[str, Any]]
    _against_separation: ClassVar[str] = "Add a penalty"
    """What to do where the likelihood has no maximum."""
    coef_: Array
    intercept_: Array
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
        predictor = risk.predictor
        # Columns of years or timestamps are seen from near; only the intercept knows of it.
        source, origin = shifted_to_middle(risk.source, fit_intercept=predictor.fit_intercept)
        near = replace(risk, source=source) if origin.any() else risk
        method, reason = method_for(near, solver)
        attributes = partial(self._attributes, risk=risk)
        back = partial(predictor.from_origin, origin=origin)
        if start is not None:
            start = predictor.from_origin(start, -origin)
        # For few numbers the threads of BLAS are set once, not anew in every pass.
        few = isinstance(source, InMemory) and source.n_rows * source.n_features <= FEW
        with (
            one_blas_thread() if few else nullcontext(),
            self._watching(max_steps, attributes, X, y) as watch,
            watch_in_units(watch, back) as inner,
        ):
            found = minimise(
                near,
                method,
                start,
                tolerance=tolerance_for(near, method, tolerance),
                max_steps=max_steps,
                watch=inner,
                reason=reason,
            )
        if math.isnan(found.value) and found.steps == 0:
            _refuse_undefined(near, found.theta, type(self).__name__)
        self.solution_ = replace(found, theta=back(found.theta))
        self.__dict__.update(attributes(self.solution_.theta))
        self.n_iter_ = max(1, self.solution_.steps)
        self._warn_unless_converged()
        self._warn_if_separated(separation(near, found.theta, found.gap))

    def _warn_if_separated(self, found: Separation | None) -> None:
        """No penalty, and a likelihood without maximum: θ̂ only tells where we stopped."""
        if found is None:
            return
        message = (
            f"{found.value}. Without a penalty the likelihood has no maximum and coefficients grow "
            f"without bound; the largest here, {self._largest():.3g}, only tells where the solver "
            f"stopped. {self._against_separation}."
        )
        self.solution_ = replace(self.solution_, message=message)
        warn(f"{type(self).__name__}: {message}", SeparationWarning)

    def _largest(self) -> float:
        return float(max(np.abs(self.coef_).max(), np.abs(self.intercept_).max()))


def _refuse_undefined(risk: EmpiricalRisk, theta: Array, who: str) -> None:
    """Name the first row on which the loss is NaN at θ; no step can be taken from there."""
    before = 0
    for block in risk.source.blocks():
        y = block.targets
        z = risk.predictor.raw(block.X, theta)
        xp = namespace(z)
        with np.errstate(all="ignore"):
            undefined = xp.isnan(risk.loss.value(y, z))
        if xp.any(undefined):
            row = int(xp.argmax(xp.astype(undefined, xp.int64)))
            raise DataError(
                f"{who}: loss {risk.loss.name!r} is NaN at the start, first in row {before + row} "
                f"(y = {y[row]}, z = {z[row]}). A loss must be a number for every target and "
                "any real z: extend it there, or use another."
            )
        before += len(y)
