"""How an estimator minimises its risk: choose the solver, run it and store the solution."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from thetahat.data.arrays import namespace
from thetahat.data.extremes import require_squares_of_target
from thetahat.data.in_memory import FEW_ENTRIES, InMemory
from thetahat.estimator.watching import WatchedSolver
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError, SeparationWarning
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.base import PiecewiseLinear, Targets
from thetahat.mathematics.optimizers.loop import Method
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.proximal.subgradient_descent import SubgradientDescent
from thetahat.mathematics.penalties.norms import NoPenalty
from thetahat.objective.choose import method_for
from thetahat.objective.conditioning import Conditioning
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.likelihood.separation import Separation, separation
from thetahat.objective.predictor import LinearPredictor, in_double
from thetahat.objective.stopping import tolerance_for

FEW = 1 << 16
"""Entries of X up to which BLAS is limited to one thread for the whole fit."""


class RiskMinimiser(WatchedSolver):
    """An estimator whose ``fit`` is θ̂ = argmin of an `EmpiricalRisk`.

    A subclass translates scikit-learn's parameters into a loss and a penalty, builds the risk and
    calls `_minimise`, which sets ``coef_``, ``intercept_``, ``solution_`` and ``n_iter_``.
    """

    _attributes: Callable[..., dict[str, Any]]
    _against_separation: ClassVar[str] = "Use a penalty that bounds them"
    """Remedy for the warning that the likelihood has no maximum."""
    coef_: Array
    intercept_: Array

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
        attributes: Callable[..., dict[str, Any]] | None = None,
    ) -> None:
        """Minimise the risk; `attributes` replaces the method that names the parts of θ."""
        of_numbers = risk.loss.targets in (Targets.REAL, Targets.NONNEGATIVE)
        if of_numbers and not (risk.loss.quadratic or isinstance(risk.loss, PiecewiseLinear)):
            require_squares_of_target(risk.source, who=type(self).__name__)
        conditioning = Conditioning.near(risk.source, risk.predictor)
        source = conditioning.source
        near = risk if conditioning.is_identity else replace(risk, source=source)
        near = _in_double_once(near)
        method, reason = method_for(near, solver)
        if isinstance(method, SubgradientDescent) and isinstance(risk.penalty, NoPenalty):
            conditioning = _with_equal_columns(risk, conditioning)
            near = replace(risk, source=conditioning.source)
        attributes = partial(attributes or self._attributes, risk=risk)
        # For small X the BLAS threads are limited once instead of in every pass.
        few = isinstance(source, InMemory) and source.n_rows * source.n_features <= FEW
        with (
            one_blas_thread() if few else nullcontext(),
            self._watching(max_steps, attributes, X, y) as watch,
            conditioning.watch(watch) as inner,
        ):
            found = minimise(
                near,
                method,
                None if start is None else conditioning.to(start),
                tolerance=tolerance_for(near, method, tolerance),
                max_steps=max_steps,
                watch=inner,
                reason=reason,
            )
        if not math.isfinite(found.value) and found.steps == 0:
            _refuse_undefined(near, found.theta, type(self).__name__)
        self.solution_ = conditioning.solution(found)
        self.__dict__.update(attributes(self.solution_.theta))
        self.n_iter_ = max(1, self.solution_.steps)
        self._warn_unless_converged()
        self._warn_if_separated(separation(near, found.theta, found.gap))

    def _warn_if_separated(self, found: Separation | None) -> None:
        """Warn if the likelihood has no maximum and no penalty is strong enough to give one."""
        if found is None:
            return
        message = (
            f"{found.value}. So the likelihood has no maximum, and with no penalty, or too weak a "
            f"one, coefficients grow without bound; the largest here, {self._largest():.3g}, only "
            f"shows where the solver stopped. {self._against_separation}."
        )
        self.solution_ = replace(self.solution_, message=message)
        warn(f"{type(self).__name__}: {message}", SeparationWarning)

    def _largest(self) -> float:
        return float(np.abs(self.solution_.theta).max())


def _in_double_once(risk: EmpiricalRisk) -> EmpiricalRisk:
    """The risk with few rows in float32 converted, if every pass would convert them again.

    Sums for several outputs are products in float64; those for one output read both precisions.
    """
    source, predictor = risk.source, risk.predictor
    if not isinstance(predictor, LinearPredictor) or not predictor.n_outputs:
        return risk
    if not isinstance(source, InMemory) or type(source.X) is not np.ndarray:
        return risk
    if source.X.dtype != np.float32 or source.X.size > FEW_ENTRIES:
        return risk
    return replace(risk, source=replace(source, X=in_double(source.X)))


def _with_equal_columns(risk: EmpiricalRisk, conditioning: Conditioning) -> Conditioning:
    """The same rows with columns of size 1: one step length must suit all coefficients.

    Only without a penalty, which would change with the unit of the coefficients.
    """
    source = conditioning.source
    if not isinstance(source, InMemory) or source.is_sparse:
        return conditioning
    size = np.max(abs(source.X), axis=0).astype(np.float64)
    size = np.where(size > 0, size, 1.0)
    size *= np.sqrt(np.mean((source.X / size) ** 2, axis=0))  # root mean squares
    return Conditioning.standardised(
        risk.source,
        risk.predictor,
        centre=conditioning.centre,
        scale=np.where(size > 0, size, 1.0),
    )


def _refuse_undefined(risk: EmpiricalRisk, theta: Array, who: str) -> None:
    """Raise an error that names the first row for which the loss is not finite at the start."""
    before = 0
    for block in risk.source.blocks():
        y = block.targets
        z = risk.predictor.raw(block.X, theta)
        xp = namespace(z)
        with np.errstate(all="ignore"):
            values = risk.loss.value(y, z)
            undefined = ~xp.isfinite(values)
        if xp.any(undefined):
            row = int(xp.argmax(xp.astype(undefined, xp.int64)))
            raise DataError(
                f"{who}: loss {risk.loss.name!r} is {_as_words(values[row])} at the start, first "
                f"in row {before + row} (y = {y[row]}, z = {z[row]}). A loss must be a finite "
                "number for every target and every real z: define it there, rescale the target or "
                "the columns, or use another loss."
            )
        before += len(y)


def _as_words(value: float) -> str:
    return "NaN" if math.isnan(value) else "infinite"
