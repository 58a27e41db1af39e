"""First and second moments as a mergeable summary.

For the rows z = (x, y) with weights w, `Moments` holds

    W = Σ w,    mean = Σ w z / W,    scatter = Σ w (z − mean)(z − mean)ᵀ,

from which least squares, ridge, principal components, discriminant analysis and every covariance
follow. Rows are centred at the mean of the first ones before they are squared, and two summaries
merge by Chan's update, so large means cause no loss of digits. Columns are divided by a power of
two near their size (which is exact), so that squares neither overflow nor underflow for data near
1e±150.

Cost of a reduction: O(n d²) time (one symmetric product per block), O(d²) memory per thread.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce as fold

import numpy as np

from thetahat import _native
from thetahat.data.arrays import to_host
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.data.summaries.frame import Frame, as_columns, dense_rows, provisional_frame
from thetahat.data.summaries.frame_sums import Sums, sums, sums_of_pieces
from thetahat.foundation.errors import DataError
from thetahat.foundation.threads import scipy_linalg
from thetahat.foundation.types import Array

SMALLEST_ROOT = float(np.sqrt(np.finfo(np.float64).tiny))
LARGEST_ROOT = float(np.sqrt(np.finfo(np.float64).max)) / 2
FAR = 1e4
"""A loss of digits by centring from which the rows are read again."""


@dataclass(frozen=True)
class Moments:
    """Σw, mean and scatter of the columns of [X, y], in units of ``unit``.

    ``n_rows`` counts the rows of positive weight.

    ``cancellation`` is the largest factor by which centring reduced a diagonal entry; the relative
    error of the scatter is up to this factor times ε. It is near 1 for blocks that were centred
    before they were squared.
    """

    n_rows: int
    weight: float
    mean: Array
    scatter: Array
    unit: Array
    n_features: int
    cancellation: float = 1.0
    is_centred: bool = True

    def merge(self, other: Moments) -> Moments:
        """The moments of both sets of rows (Chan's update)."""
        return replace(self, scatter=self.scatter.copy()).absorb(other)

    def absorb(self, other: Moments) -> Moments:
        """The same, in the memory of this summary's scatter, which must not be used elsewhere."""
        if self.weight == 0:
            return replace(other, n_rows=self.n_rows + other.n_rows)
        if other.weight == 0:
            return replace(self, n_rows=self.n_rows + other.n_rows)
        if not np.array_equal(self.unit, other.unit):
            other = other.in_units(self.unit)
        weight = self.weight + other.weight
        gap = other.mean - self.mean
        # In units, so that the outer product stays in range; is_finite detects an overflow.
        between = gap / self.unit
        scatter = self.scatter
        with np.errstate(over="ignore", invalid="ignore"):
            scatter += other.scatter
            scatter = _add_square(scatter, self.weight * other.weight / weight, between)
        return replace(
            self,
            n_rows=self.n_rows + other.n_rows,
            weight=weight,
            mean=self.mean + gap * (other.weight / weight),
            scatter=scatter,
            cancellation=max(self.cancellation, other.cancellation),
        )

    @property
    def lost_digits(self) -> bool:
        """Whether a sum about the mean would have several more digits.

        The provisional centre is far away if the first rows are unlike the others, or have no
        weight.
        """
        return self.cancellation > FAR

    def in_units(self, unit: Array) -> Moments:
        """The same moments in other units."""
        factor = self.unit / unit
        return replace(self, scatter=self.scatter * factor * factor[:, None], unit=unit)

    @property
    def is_finite(self) -> bool:
        """Whether all rows were finite, and nothing overflowed."""
        return bool(np.isfinite(self.scatter).all() and np.isfinite(self.mean).all())

    @property
    def x_mean(self) -> Array:
        return self.mean[: self.n_features]

    @property
    def y_mean(self) -> Array:
        return self.mean[self.n_features :]

    def about_zero(self) -> Moments:
        """Moments about 0 instead of the mean, for models without an intercept."""
        offset = self.mean / self.unit
        return replace(
            self,
            mean=np.zeros_like(self.mean),
            scatter=self.scatter + self.weight * np.outer(offset, offset),
            cancellation=1.0,
            is_centred=False,
        )

    def covariance(self, *, unbiased: bool = False) -> Array:
        """scatter / W (maximum likelihood) or / (W − 1), in the data's own units."""
        scale = self.weight - 1.0 if unbiased else self.weight
        return self.scatter * self.unit * self.unit[:, None] / scale

    def in_data_units(self) -> Array:
        """The scatter in the units of the data; an error if squares leave the range of float64."""
        self.require_squares()
        scatter: Array = self.scatter * self.unit * self.unit[:, None]
        return scatter

    def require_squares(self, *, may_vanish: bool = False) -> None:
        """Raise an error for columns whose squares overflow, or underflow unless they may."""
        size = np.sqrt(np.maximum(np.diagonal(self.scatter), 0.0)) * self.unit
        require_squares(size, self.n_features, may_vanish=may_vanish)


def require_squares(size: Array, n_features: int, *, may_vanish: bool = False) -> None:
    """The same for columns of [X, y], given the roots of their sums of squares."""
    gone = size > LARGEST_ROOT
    if not may_vanish:
        gone |= (size > 0) & (size < SMALLEST_ROOT)
    if gone.any():
        worst = int(np.argmax(gone))
        name = f"Column {worst}" if worst < n_features else "The target y"
        how = (
            "small that its squares underflow"
            if size[worst] < 1
            else "large that its squares overflow"
        )
        raise DataError(f"{name} is so {how}. Rescale it.")


def moments(source: Source) -> Moments:
    """The moments of [X, y] over all rows of a source, checked to be finite."""
    frame = provisional_frame(source)
    found = _reduced(source, frame)
    if not found.is_finite:
        # Either a value is not finite, which this check reports, or later rows are far larger.
        source.require_finite()
        extent = source.reduce(_summarise_extent)
        found = _reduced(source, Frame.of(np.stack([extent.low, extent.high])))
        if not found.is_finite:
            sizes = np.maximum(abs(extent.low), abs(extent.high))
            require_squares(np.where(sizes == sizes.max(), np.inf, 1.0), source.n_features)
    if found.lost_digits and can_be_centred(source):
        found = _reduced(source, Frame(found.mean, found.unit))
    return found


def can_be_centred(source: Source) -> bool:
    """Whether rows are dense; sparse ones stay as they are."""
    return isinstance(to_host(source.head(1).X), np.ndarray)


def _reduced(source: Source, frame: Frame) -> Moments:
    """The moments of all rows, from sums about a frame."""
    # The type of a memory-mapped array is another: its pages are released block by block.
    if isinstance(source, InMemory) and type(source.X) is np.ndarray:
        found = fold(Sums.absorb, sums_of_pieces(source, frame))
    else:
        found = source.reduce(sums, frame)
    return _centred(found, frame, source.n_features)


def summarise_moments(block: Block, frame: Frame) -> Moments:
    """The moments of one block, squared after centring at the frame."""
    return _centred(sums(block, frame), frame, block.X.shape[1])


def _centred(sums: Sums, frame: Frame, n_features: int) -> Moments:
    """Moments about the mean, in the memory of the sums."""
    scatter, offset = np.ascontiguousarray(sums.second), np.empty(len(sums.first))
    cancellation = _native.centre_products(scatter, sums.first, sums.weight, offset)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = frame.centre + offset * frame.unit
    return Moments(
        n_rows=sums.n_rows,
        weight=sums.weight,
        mean=mean,
        scatter=scatter,
        unit=frame.unit,
        n_features=n_features,
        cancellation=cancellation,
    )


def _add_square(matrix: Array, scale: float, vector: Array) -> Array:
    """matrix + scale·vvᵀ, in the memory of the symmetric matrix."""
    dger = scipy_linalg().blas.dger

    # The transpose of a symmetric matrix is equal to it, and has the memory order of BLAS.
    return dger(scale, vector, vector, a=matrix.T, overwrite_a=1).T


@dataclass(frozen=True)
class _Extent:
    """Smallest and largest entry of each column of [X, y]."""

    low: Array
    high: Array

    def merge(self, other: _Extent) -> _Extent:
        return _Extent(np.minimum(self.low, other.low), np.maximum(self.high, other.high))


def _summarise_extent(block: Block) -> _Extent:
    dense = dense_rows(block)
    columns = dense if block.y is None else np.hstack([dense, as_columns(to_host(block.y))])
    return _Extent(columns.min(axis=0), columns.max(axis=0))
