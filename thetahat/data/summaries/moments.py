"""First and second moments as a mergeable summary.

For the rows z = (x, y) with weights w, `Moments` holds

    W = Σ w,    mean = Σ w z / W,    scatter = Σ w (z − mean)(z − mean)ᵀ,

from which least squares, ridge, principal components, discriminant analysis and every covariance
follow. Each block is centred before it is squared, and two summaries merge by Chan's update, so
large means cause no loss of digits. Columns are divided by a power of two near their size (which is
exact), so that squares neither overflow nor underflow for data near 1e±150.

Cost of a reduction: O(n d²) in BLAS (one symmetric product per block), O(d²) memory per thread.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from thetahat import _native
from thetahat.data.arrays import is_device_array, like, to_host
from thetahat.data.extremes import SMALLEST_COLUMN, require_visible_columns
from thetahat.data.source import Block, Source
from thetahat.foundation.errors import DataError
from thetahat.foundation.products import product
from thetahat.foundation.threads import scipy_linalg
from thetahat.foundation.types import Array, SparseMatrix

_NO_WEIGHT = np.empty(0)
SMALLEST_ROOT = float(np.sqrt(np.finfo(np.float64).tiny))
LARGEST_ROOT = float(np.sqrt(np.finfo(np.float64).max)) / 2
LARGEST_EXPONENT = 1022
"""Units are at most 2 to this power, so that they and their inverses are finite."""
FRAME_ROWS = 512
"""Number of rows from which the provisional centre and units are computed."""
MOST_COLUMNS = 1024
"""Columns up to which the compiled product, which centres the rows on its way, is faster than
packing them for BLAS."""


@dataclass(frozen=True)
class Frame:
    """A provisional centre and a power-of-two unit per column, applied to every block."""

    centre: Array
    unit: Array

    @classmethod
    def of(cls, columns: Array) -> Frame:
        """The frame of some rows: their mean, and the size of their deviations.

        The mean of equal numbers may round to another number; it is clipped to their range.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            low, high = columns.min(axis=0), columns.max(axis=0)
            middle = np.asarray(columns, dtype=np.float64).mean(axis=0)
            middle = np.minimum(np.maximum(middle, low), high)
            extent = np.maximum(high - middle, middle - low)
            size = np.where(extent > 0, extent, np.abs(middle))
        usable = np.isfinite(size) & (size > 0)
        exponent = np.frexp(np.where(usable, size, 1.0))[1]
        exponent = np.minimum(np.maximum(exponent, -LARGEST_EXPONENT), LARGEST_EXPONENT)
        return cls(centre=np.where(np.isfinite(middle), middle, 0.0), unit=np.ldexp(1.0, exponent))


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
    found = source.reduce(summarise_moments, frame)
    if not found.is_finite:
        # Either a value is not finite, which this check reports, or later rows are far larger.
        source.require_finite()
        extent = source.reduce(_summarise_extent)
        found = source.reduce(summarise_moments, Frame.of(np.stack([extent.low, extent.high])))
        if not found.is_finite:
            sizes = np.maximum(abs(extent.low), abs(extent.high))
            require_squares(np.where(sizes == sizes.max(), np.inf, 1.0), source.n_features)
    return found


@dataclass(frozen=True)
class Means:
    """Σw and the weighted means of the columns of [X, y], in O(d) memory."""

    weight: float
    mean: Array

    def merge(self, other: Means) -> Means:
        """The means of both sets of rows."""
        weight = self.weight + other.weight
        share = other.weight / weight if weight > 0 else 0.0
        return Means(weight, self.mean + (other.mean - self.mean) * share)


def means(source: Source) -> Means:
    """The column means of [X, y] over all rows of a source."""
    return source.reduce(_summarise_means)


def count_used_rows(source: Source) -> int:
    """Number of rows of positive weight."""
    if not source.has_weight:
        return source.n_rows
    return sum(source.map_blocks(_count_used))


def _count_used(block: Block) -> int:
    return int(np.count_nonzero(np.asarray(block.row_weights) > 0))


def _summarise_means(block: Block) -> Means:
    weight = block.row_weights
    total = float(weight.sum())
    share = weight / total if total > 0 else weight
    y = np.empty((block.n_rows, 0)) if block.y is None else _as_columns(block.y)
    return Means(total, np.concatenate([product(block.X.T, share), product(y.T, share)]))


def provisional_frame(source: Source) -> Frame:
    """A frame from the first rows; zero centre for sparse rows, which stay sparse."""
    first = source.head(FRAME_ROWS)
    first = Block(X=to_host(first.X), y=None if first.y is None else to_host(first.y))
    X, d = first.X, first.X.shape[1]
    if isinstance(X, np.ndarray):
        frame = Frame.of(X if first.y is None else np.column_stack([X, first.y]))
    else:
        size = np.zeros(d)
        with np.errstate(invalid="ignore"):  # NaN are refused or left out later
            np.maximum.at(size, X.indices, np.abs(X.data))
        frame = Frame.of(np.stack([-size, size]))
        if first.y is not None:
            of_y = Frame.of(_as_columns(first.y))
            frame = Frame(
                centre=np.concatenate([frame.centre, of_y.centre]),
                unit=np.concatenate([frame.unit, of_y.unit]),
            )
    if frame.unit[:d].min(initial=1.0) < SMALLEST_COLUMN:
        require_visible_columns(source)
    return frame


def dense_rows(block: Block) -> Array:
    """X of a block as a dense NumPy array, without a copy if it is one."""
    X = to_host(block.X)
    return X if isinstance(X, np.ndarray) else X.toarray()


def packed_block(block: Block, frame: Frame, *, ones: bool = False) -> Array:
    """[X, y] (and a column of ones) as contiguous float64: centred, in units, times √w."""
    if is_device_array(block.X):
        return _packed_on_device(block, frame, ones)
    d = block.X.shape[1]
    y = None if block.y is None else _as_columns(block.y)
    width = d + (0 if y is None else y.shape[1])
    packed = np.empty((block.n_rows, width + ones))
    root = _NO_WEIGHT if block.weight is None else np.sqrt(block.weight, dtype=np.float64)
    dense = dense_rows(block)
    per_unit = 1.0 / frame.unit
    _native.pack_rows(dense, frame.centre[:d], per_unit[:d], root, packed, 0)
    if y is not None:
        _native.pack_rows(y, frame.centre[d:], per_unit[d:], root, packed, d)
    if ones:
        packed[:, width] = root if root.size else 1.0
    return packed


def _packed_on_device(block: Block, frame: Frame, ones: bool) -> Array:
    """The same, in the library and on the device of the block."""
    from array_api_compat import array_namespace

    xp = array_namespace(block.X)
    parts = [block.X] if block.y is None else [block.X, _as_columns(block.y)]
    joint = xp.concat([xp.astype(part, xp.float64, copy=False) for part in parts], axis=1)
    centre, unit = (like(part, joint) for part in (frame.centre, frame.unit))
    packed = (joint - centre) / unit
    if ones:
        packed = xp.concat([packed, xp.ones_like(packed[:, :1])], axis=1)
    if block.weight is None:
        return packed
    return packed * xp.sqrt(xp.astype(block.weight, xp.float64))[:, None]


def summarise_moments(block: Block, frame: Frame) -> Moments:
    """The moments of one block, squared after centring at the frame."""
    if not isinstance(block.X, np.ndarray) and not is_device_array(block.X):
        return _summarise_sparse(block, frame)
    with np.errstate(over="ignore", invalid="ignore"):
        if is_device_array(block.X):
            packed = packed_block(block, frame, ones=True)
            square = to_host(product(packed.T, packed))
            return _centred(block, frame, square[:-1, :-1], square[:-1, -1], square[-1, -1])
        square, sums = _products(block, frame)
        return _centred(block, frame, square, sums, float(np.sum(block.row_weights, dtype=float)))


def _products(block: Block, frame: Frame) -> tuple[Array, Array]:
    """Σ zzᵀ and Σ √w z for the rows z of `packed_block`."""
    width = frame.unit.size
    if width > MOST_COLUMNS:
        packed = packed_block(block, frame)
        root = np.sqrt(block.row_weights, dtype=np.float64)
        return product(packed.T, packed), product(root, packed)
    y = np.empty((block.n_rows, 0)) if block.y is None else _as_columns(block.y)
    y = y.astype(np.float64, copy=False)
    root = _NO_WEIGHT if block.weight is None else np.sqrt(block.weight, dtype=np.float64)
    square, sums = np.empty((width, width)), np.empty(width)
    _native.block_products(block.X, y, frame.centre, 1.0 / frame.unit, root, square, sums)
    return square, sums


def _summarise_sparse(block: Block, frame: Frame) -> Moments:
    X: SparseMatrix = block.X
    d = X.shape[1]
    weight = _NO_WEIGHT if block.weight is None else np.asarray(block.weight, dtype=np.float64)
    y = np.empty((block.n_rows, 0)) if block.y is None else _as_columns(block.y)
    y = (y - frame.centre[d:]) / frame.unit[d:]
    row_weight = weight if weight.size else np.ones(block.n_rows)
    width = d + y.shape[1]
    raw = np.empty((width, width))
    gram = np.zeros((d, d))
    _native.sparse_gram(X.data, X.indices, X.indptr, weight, gram)
    with np.errstate(over="ignore", invalid="ignore"):
        raw[:d, :d] = gram / frame.unit[:d] / frame.unit[:d, None]
        weighted = y * row_weight[:, None]
        raw[:d, d:] = (X.T @ weighted) / frame.unit[:d, None]
        raw[d:, :d] = raw[:d, d:].T
        raw[d:, d:] = y.T @ weighted
        sums = np.concatenate([(X.T @ row_weight) / frame.unit[:d], weighted.sum(axis=0)])
        return _centred(block, frame, raw, sums, row_weight.sum())


def _centred(block: Block, frame: Frame, raw: Array, sums: Array, weight: float) -> Moments:
    """Convert sums about the frame's centre to moments about the block's own mean."""
    offset = sums / weight if weight > 0 else np.zeros_like(sums)
    before = np.diagonal(raw).copy()
    scatter = _add_square(np.ascontiguousarray(raw), -weight, offset)
    after = np.diagonal(scatter)
    shrunk = before[after > 0] / after[after > 0]
    return Moments(
        n_rows=block.n_rows if block.weight is None else int((block.weight > 0).sum()),
        weight=float(weight),
        mean=frame.centre + offset * frame.unit,
        scatter=scatter,
        unit=frame.unit,
        n_features=block.X.shape[1],
        cancellation=float(shrunk.max(initial=1.0)),
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
    columns = dense if block.y is None else np.hstack([dense, _as_columns(to_host(block.y))])
    return _Extent(columns.min(axis=0), columns.max(axis=0))


def _as_columns(y: Array) -> Array:
    return y if y.ndim == 2 else y[:, None]
