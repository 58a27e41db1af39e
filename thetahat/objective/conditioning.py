"""Conditioning: centred and rescaled rows for solvers, and the transformation back.

With u = (x − centre)/scale and v = (y − level)/unit, a linear model v = uᵀβ′ + b′ is the model

    y = xᵀβ + b,    β = unit·β′/scale,    b = unit·b′ + level − centreᵀβ.

A column of years or timestamps is nearly a multiple of the intercept's column of ones, so products
of rows lose its spread to rounding unless it is centred. Squares of columns or targets of extreme
size overflow or underflow unless they are rescaled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace

import numpy as np

from thetahat.data.extremes import (
    SMALLEST_IN_SQUARES,
    in_ordinary_units,
    require_visible_columns,
    target_unit,
)
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.data.summaries.frame import Frame, provisional_frame
from thetahat.data.views import in_target_units, rescaled, shifted
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.solution import Solution
from thetahat.objective.predictor import Predictor

FAR = 100.0
"""A column is far from 0 if the distance of its middle from 0 exceeds its range by this factor."""


@dataclass(frozen=True)
class Conditioning:
    """A source in other units, and the conversion of θ of a linear predictor to and from them.

    θ is the flat θ of the predictor, possibly followed by noise scales in the unit of y, or the
    matrix [β; b] of least squares. None means that something is not changed.
    """

    source: Source
    predictor: Predictor
    centre: Array | None = None
    scale: Array | float | None = None
    level: Array | None = None
    unit: Array | float | None = None

    @classmethod
    def near(
        cls, source: Source, predictor: Predictor, *, ordinary_columns: bool = False
    ) -> Conditioning:
        """Centre columns that are far from 0, if the intercept can absorb the shift.

        With `ordinary_columns`, columns in memory that are all of extreme size are first divided by
        a power of two. Sparse rows are not centred. Cost: O(d) for the first rows if no column is
        far from 0, else O(n d) once in memory, and in every pass over a file.
        """
        frame = provisional_frame(source)
        if frame.unit[: source.n_features].min(initial=1.0) < SMALLEST_IN_SQUARES:
            require_visible_columns(source, SMALLEST_IN_SQUARES)
        source, unit = in_ordinary_units(source) if ordinary_columns else (source, 1.0)
        scale = None if unit == 1 else unit
        frame = frame if unit == 1 else provisional_frame(source)
        centre = _centre_of_far_columns(source, frame) if predictor.absorbs_shifts else None
        if centre is None:
            return cls(source, predictor, scale=scale)
        # Exact, because the unit is a power of two.
        return cls(shifted(source, centre), predictor, centre * unit, scale)

    @classmethod
    def standardised(
        cls,
        source: Source,
        predictor: Predictor,
        *,
        centre: Array | None = None,
        scale: Array | None = None,
        level: Array | None = None,
        unit: Array | None = None,
    ) -> Conditioning:
        """Columns of X and y centred and scaled block by block, by one number per column."""
        view = rescaled(source, centre, scale, level, unit)
        return cls(view, predictor, centre, scale, level, unit)

    def in_target_unit(self, unit: float | None = None) -> Conditioning:
        """The same with y/unit for y; by default a power of two if y is extreme, else 1."""
        if unit is None:
            unit = target_unit(self.source)
            if unit == 1:
                return self
        return replace(self, source=in_target_units(self.source, unit), unit=unit)

    @property
    def is_identity(self) -> bool:
        """Whether θ is not changed."""
        return all(part is None for part in (self.centre, self.scale, self.level, self.unit))

    def back(self, theta: Array) -> Array:
        """Convert θ of the conditioned rows to θ of the original rows."""
        if self.is_identity:
            return theta
        coef, intercept, noise = self._parts(theta)
        if self.unit is not None:
            noise = noise * self.unit
        coef, intercept = in_data_units(
            coef, intercept, self.centre, self.scale, self.level, self.unit
        )
        return self._joined(coef, intercept, noise, theta.ndim)

    def to(self, theta: Array) -> Array:
        """Convert θ of the original rows to θ of the conditioned rows."""
        if self.is_identity:
            return theta
        coef, intercept, noise = self._parts(theta)
        if self.centre is not None:
            intercept = intercept + _level_at(self.centre, coef)
        if self.level is not None:
            intercept = intercept - self.level
        if self.unit is not None:
            coef, intercept, noise = coef / self.unit, intercept / self.unit, noise / self.unit
        if self.scale is not None:
            coef = (coef.T * self.scale).T
        return self._joined(coef, intercept, noise, theta.ndim)

    def watch(self, watch: Watch | None) -> AbstractContextManager[Watch | None]:
        """The watch for a solver on the conditioned rows; it receives ``back(θ)``."""
        return watch_through(watch, self.back)

    def solution(self, solution: Solution) -> Solution:
        """The solution with ``back(θ)``."""
        return replace(solution, theta=self.back(solution.theta))

    def _parts(self, theta: Array) -> tuple[Array, Array, Array]:
        if theta.ndim == 2:
            return theta[:-1], theta[-1], np.empty(0)
        size = self.predictor.n_parameters
        return *self.predictor.split(theta[:size]), theta[size:]

    def _joined(self, coef: Array, intercept: Array, noise: Array, ndim: int) -> Array:
        if ndim == 2:
            return np.vstack([coef, intercept])
        return np.concatenate([self.predictor.pack(coef, intercept), noise])


def in_data_units(
    coef: Array,
    intercept: Array,
    centre: Array | None,
    scale: Array | float | None,
    level: Array | None,
    unit: Array | float | None,
) -> tuple[Array, Array]:
    """Convert β, (d,) or (d, k), and b of v = (y − level)/unit on u = (x − centre)/scale to y on x.

    None means that something was not changed.
    """
    if scale is not None:
        coef = (coef.T / scale).T
    if unit is not None:
        coef, intercept = coef * unit, intercept * unit
    if level is not None:
        intercept = intercept + level
    if centre is not None:
        intercept = intercept - _level_at(centre, coef)
    return coef, intercept


@contextmanager
def watch_through(watch: Watch | None, back: Callable[[Array], Array]) -> Iterator[Watch | None]:
    """A watch that receives ``back(θ)``, also for the solution that an interrupt carries."""
    inner = watch
    if watch is not None and watch.on_step is not None:
        on_step = watch.on_step
        inner = replace(watch, on_step=lambda step, theta, value: on_step(step, back(theta), value))
    try:
        yield inner
    except KeyboardInterrupt as interrupt:
        solution = getattr(interrupt, "solution", None)
        if solution is not None:
            interrupt.solution = replace(  # type: ignore[attr-defined]
                solution, theta=back(solution.theta)
            )
        raise


def _centre_of_far_columns(source: Source, frame: Frame) -> Array | None:
    """The middle of each column that is far from 0 for its range, else 0; None if none is far."""
    if isinstance(source, InMemory) and source.is_sparse:
        return None
    d = source.n_features
    far = abs(frame.centre[:d]) > FAR * frame.unit[:d]
    return np.where(far, frame.centre[:d], 0.0) if far.any() else None


def _level_at(centre: Array, coef: Array) -> Array:
    """centreᵀβ without BLAS, whose rounding would depend on the number of threads."""
    return (centre * coef.T).sum(axis=-1)
