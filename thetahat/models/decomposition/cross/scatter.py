"""Sums of products of the centred and scaled columns of X and y, from a source of any kind.

Partial least squares needs XᵀY, YᵀY and products of XᵀX with vectors. `Scatter` has XᵀX from one
pass over the rows; `PassScatter` keeps no d × d matrix and reads the rows again for every product,
which is faster and smaller for few components of many columns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from thetahat.data.extremes import require_squares_of_rows, require_squares_of_target
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.data.summaries.means import means
from thetahat.data.summaries.moments import SMALLEST_ROOT, moments
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.products import product
from thetahat.foundation.types import Array

COLUMNS_PER_PASS = 32
"""XᵀX of so many columns costs about as much as a product with one vector."""
CACHED_ENTRIES = 1 << 15
"""Entries of X that stay in the cache of a core between two products."""
LARGEST_COPY = 1 << 25
"""Largest number of entries of which a centred copy is kept."""


@dataclass(frozen=True)
class Frame:
    """Means and scales of the columns of X and y, the total weight, and the number of rows."""

    x_mean: Array
    y_mean: Array
    x_scale: Array
    y_scale: Array
    n_rows: int
    weight: float


@dataclass(frozen=True)
class Scatter:
    """XᵀX, XᵀY and YᵀY of centred and scaled columns."""

    frame: Frame
    cross: Array
    """XᵀY, (d, q)."""
    y_square: Array
    """YᵀY, (q, q)."""
    x_square: Array
    """XᵀX, (d, d)."""

    def times(self, r: Array) -> tuple[Array, float]:
        """XᵀXr and ‖Xr‖²."""
        image = product(self.x_square, r)
        return image, float(r @ image)

    @property
    def size(self) -> float:
        """‖X‖²."""
        return float(np.trace(self.x_square))


@dataclass(frozen=True)
class PassScatter:
    """The same with XᵀXr from a pass over the rows."""

    frame: Frame
    cross: Array
    y_square: Array
    size: float
    source: Source
    per_unit: Array
    """1/scale of each column of X; 0 for constant columns."""

    def times(self, r: Array) -> tuple[Array, float]:
        mean = None if isinstance(self.source, _Centred) else self.frame.x_mean
        found = self.source.reduce(_summarise_image, mean, r * self.per_unit)
        return found.image * self.per_unit, float(found.square)


@dataclass(frozen=True, kw_only=True)
class _Centred(InMemory):
    """Dense rows in memory from which the mean was subtracted."""


def scatter_of(source: Source, *, scale: bool, n_components: int) -> Scatter | PassScatter:
    """The scatter of a source with a target, in the form that costs less."""
    d = source.n_features
    narrow = d <= COLUMNS_PER_PASS * (2 * n_components + 3)
    if narrow and (d <= 64 or d <= source.n_rows or not isinstance(source, InMemory)):
        return full_scatter_of(source, scale=scale)
    about = cross_of(source, scale=scale)
    return replace(about, source=_centred(source, about.frame.x_mean))


def full_scatter_of(source: Source, *, scale: bool) -> Scatter:
    """The scatter with XᵀX of all columns, from one pass over the rows."""
    about, d = moments(source), source.n_features
    size = np.sqrt(np.maximum(np.diagonal(about.scatter), 0.0)) * about.unit
    blocks = (size,) if scale else (size[:d], size[d:])
    vanish = min(block.max(initial=0.0) for block in blocks) >= SMALLEST_ROOT
    about.require_squares(may_vanish=bool(vanish))
    mean = np.concatenate([about.x_mean, about.y_mean])
    varies = _varies(size, mean, about.weight, source)
    scales = _scales(size, varies, about.weight, scale)
    by = np.where(varies, about.unit / scales, 0.0)
    scatter = about.scatter * by * by[:, None]
    frame = Frame(about.x_mean, about.y_mean, scales[:d], scales[d:], about.n_rows, about.weight)
    return Scatter(frame, scatter[:d, d:], scatter[d:, d:], scatter[:d, :d])


def cross_of(source: Source, *, scale: bool) -> PassScatter:
    """The scatter without XᵀX, from two passes over the rows: O(n d q) for q targets."""
    source.require_finite()
    require_squares_of_rows(source, who="Partial least squares")
    require_squares_of_target(source, who="Partial least squares")
    about, d = means(source), source.n_features
    found = source.reduce(_summarise_products, about.mean)
    size = np.sqrt(np.concatenate([found.x_squares, np.diagonal(found.y_square)]))
    varies = _varies(size, about.mean, about.weight, source)
    scales = _scales(size, varies, about.weight, scale)
    by = np.where(varies, 1.0 / scales, 0.0)
    frame = Frame(
        about.mean[:d], about.mean[d:], scales[:d], scales[d:], int(found.n_rows), about.weight
    )
    return PassScatter(
        frame,
        found.cross * by[:d, None] * by[d:],
        found.y_square * by[d:, None] * by[d:],
        float(((size[:d] * by[:d]) ** 2).sum()),
        source,
        by[:d],
    )


def _centred(source: Source, mean: Array) -> Source:
    """Rows in memory centred once, where a copy is small; any other source as it is."""
    if not isinstance(source, InMemory) or source.is_sparse or source.X.size > LARGEST_COPY:
        return source
    rows = np.subtract(source.X, mean)
    return _Centred(X=rows, weight=source.weight, n_features=source.n_features)


def _varies(size: Array, mean: Array, weight: float, source: Source) -> Array:
    """Whether each column of [X, y] varies by more than the rounding errors of its mean.

    Sparse columns are centred after their squares were summed, which loses half of the digits.
    """
    error = np.full_like(size, 16 * EPSILON)
    if isinstance(source, InMemory) and source.is_sparse:
        error[: source.n_features] = 4 * np.sqrt(EPSILON)
    return size > error * np.abs(mean) * np.sqrt(weight)


def _scales(size: Array, varies: Array, weight: float, scale: bool) -> Array:
    """Standard deviations with divisor W − 1, or ones; constant columns keep their unit."""
    if not scale:
        return np.ones_like(size)
    return np.where(varies, size / np.sqrt(weight - 1 if weight > 1 else max(weight, 1e-300)), 1.0)


@dataclass(frozen=True)
class _Products:
    """Σ w(x − μ)² of each column of X, XᵀY and YᵀY, all centred."""

    n_rows: int
    x_squares: Array
    cross: Array
    y_square: Array

    def merge(self, other: _Products) -> _Products:
        return _Products(
            self.n_rows + other.n_rows,
            self.x_squares + other.x_squares,
            self.cross + other.cross,
            self.y_square + other.y_square,
        )


@dataclass(frozen=True)
class _Image:
    """Xᵀ(Xr) and ‖Xr‖² for centred rows."""

    image: Array
    square: float

    def merge(self, other: _Image) -> _Image:
        return _Image(self.image + other.image, self.square + other.square)


def _weighted(block: Block, columns: Array) -> Array:
    weight = block.weight
    if weight is None:
        return columns
    return columns * (weight if columns.ndim == 1 else weight[:, None])


def _summarise_products(block: Block, mean: Array) -> _Products:
    d = block.X.shape[1]
    y = block.targets if block.targets.ndim == 2 else block.targets[:, None]
    away = y - mean[d:]
    weighted = _weighted(block, away)
    if isinstance(block.X, np.ndarray):
        rows = block.X - mean[:d]
        squares = np.einsum("ij,ij->j", rows, _weighted(block, rows))
        cross = product(rows.T, weighted)
    else:
        weight = np.asarray(block.row_weights, dtype=np.float64)
        squares = block.X.multiply(block.X).T @ weight - 2 * mean[:d] * (block.X.T @ weight)
        squares = np.maximum(squares + weight.sum() * mean[:d] ** 2, 0.0)
        cross = block.X.T @ weighted - np.outer(mean[:d], weighted.sum(axis=0))
    count = block.n_rows if block.weight is None else int((block.weight > 0).sum())
    return _Products(count, squares, cross, product(away.T, weighted))


def _summarise_image(block: Block, mean: Array | None, r: Array) -> _Image:
    if isinstance(block.X, np.ndarray):
        image, square = np.zeros(len(r)), 0.0
        step = max(CACHED_ENTRIES // len(r), 4)
        for start in range(0, block.n_rows, step):  # both products while the rows are in the cache
            part = block.take(slice(start, start + step))
            rows = part.X if mean is None else part.X - mean
            score = product(rows, r)
            weighted = _weighted(part, score)
            image += product(weighted, rows)
            square += float(score @ weighted)
        return _Image(image, square)
    assert mean is not None
    score = block.X @ r - mean @ r
    weighted = _weighted(block, score)
    image = block.X.T @ weighted - mean * weighted.sum()
    return _Image(image, float(score @ weighted))
