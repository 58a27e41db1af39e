"""Moments of every class as one mergeable summary.

For the rows x of class c with weights w, and centres m_c near the class means, `ClassMoments` holds

    W_c = Σ w,    s_c = Σ w (x − m_c),    G = Σ w (x − m_c)(x − m_c)ᵀ,

with one G for all classes together ("pooled"), one per class ("full"), or the diagonals alone
("diagonal"). Nearest centroids, linear and quadratic discriminant analysis follow from it.

Centres are rows of the class, so a column that is constant within a class has a variance of exactly
0, and classes far apart cause no loss of digits. All blocks have the same centres: merging adds up,
and costs O(d²) more only for a class that was not among the first rows. Where a centre proves far
from its class, the rows are read once more, about the means.

Cost of a reduction: "pooled" and "full" O(n d²) in BLAS, "diagonal" O(n d); memory per thread O(d²)
for "pooled" and O(C d) for "diagonal"; the result of "full" has C d² numbers. X is not copied.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source, kernel_weights, row_weights
from thetahat.data.summaries.frame import Frame, dense_rows, provisional_frame
from thetahat.data.summaries.moments import require_squares
from thetahat.foundation.cached import cached_property
from thetahat.foundation.products import product
from thetahat.foundation.threads import ordered_map
from thetahat.foundation.types import Array, SparseMatrix

FAR = 1e6
"""A centre is far from its class if centring divides a sum of squares by more than this."""


@dataclass(frozen=True)
class ClassMoments:
    """Numbers of rows, weights, centres, sums and squares of the classes, in units of ``unit``.

    ``n_rows`` counts the rows of positive weight. ``scatter`` is one matrix ("pooled"), a list with
    a matrix or None per class ("full"), or an array of shape (C, d) ("diagonal").
    """

    n_rows: Array
    weight: Array
    centre: Array
    sums: Array
    scatter: Any
    unit: Array
    kind: str
    cancellation: float = 1.0

    def merge(self, other: ClassMoments) -> ClassMoments:
        """The moments of both sets of rows."""
        held = self.scatter
        own = [None if each is None else each.copy() for each in held] if self.kind == "full" else 0
        return replace(self, scatter=own or held.copy()).absorb(other)

    def absorb(self, other: ClassMoments) -> ClassMoments:
        """The same, in the memory of this summary's scatter, which must not be used elsewhere."""
        if not np.array_equal(self.unit, other.unit):
            other = other.in_units(self.unit)
        centre = self.centre
        if centre is not other.centre:
            new = (self.weight == 0) & (other.weight > 0)
            centre = np.where(new[:, None], other.centre, centre) if new.any() else centre
            other = other.about(centre)
        scatter = self.scatter
        with np.errstate(over="ignore", invalid="ignore"):
            if self.kind == "full":
                scatter = [_plus(*both) for both in zip(scatter, other.scatter, strict=True)]
            else:
                scatter += other.scatter
        return replace(
            self,
            n_rows=self.n_rows + other.n_rows,
            weight=self.weight + other.weight,
            centre=centre,
            sums=self.sums + other.sums,
            scatter=scatter,
            cancellation=max(self.cancellation, other.cancellation),
        )

    def about(self, centre: Array) -> ClassMoments:
        """The same moments about other centres. Cost: O(d²) for every class whose centre moves."""
        moved = np.flatnonzero((self.weight > 0) & (centre != self.centre).any(axis=1))
        if not moved.size:
            return replace(self, centre=centre)
        with np.errstate(over="ignore", invalid="ignore"):
            step = (self.centre[moved] - centre[moved]) / self.unit
            # Σ (v + δ)(v + δ)ᵀ = G + sδᵀ + δ(s + Wδ)ᵀ
            before, after = self.sums[moved], self.weight[moved, None] * step
            after += before
            sums = self.sums.copy()
            sums[moved] = after
            if self.kind == "pooled":
                scatter: Any = self.scatter + product(before.T, step) + product(step.T, after)
            elif self.kind == "diagonal":
                scatter = self.scatter.copy()
                scatter[moved] += (before + after) * step
            else:
                scatter = list(self.scatter)
                for s, move, new, code in zip(before, step, after, moved, strict=True):
                    scatter[code] = scatter[code] + s[:, None] * move + move[:, None] * new
        return replace(self, centre=centre, sums=sums, scatter=scatter)

    def centred(self) -> ClassMoments:
        """The same moments about the class means; records how many digits that cost."""
        before = self.variations
        found = self.about(self.means)
        after = found.variations
        with np.errstate(invalid="ignore", divide="ignore"):
            lost = np.where(before > 0, before / after, 1.0)
        worst = float(np.max(lost, initial=1.0))
        return replace(found, cancellation=max(self.cancellation, worst))

    def _offset(self) -> Array:
        """The means minus the centres, in units; 0 for a class without rows."""
        return self.sums / np.where(self.weight > 0, self.weight, 1.0)[:, None]

    def in_units(self, unit: Array) -> ClassMoments:
        """The same moments in other units."""
        factor = self.unit / unit
        square = factor * factor[:, None]
        if self.kind == "full":
            scatter: Any = [None if each is None else each * square for each in self.scatter]
        else:
            scatter = self.scatter * (square if self.kind == "pooled" else factor**2)
        return replace(self, sums=self.sums * factor, scatter=scatter, unit=unit)

    @property
    def is_finite(self) -> bool:
        """Whether all rows were finite, and nothing overflowed."""
        return bool(np.isfinite(self.variations).all() and np.isfinite(self.sums).all())

    @cached_property
    def means(self) -> Array:
        """The class means, (C, d); 0 for a class without rows."""
        return self.centre + self._offset() * self.unit

    @property
    def known_means(self) -> Array:
        """The class means, (C, d); NaN for a class without rows."""
        return (
            self.means
            if self.weight.all()
            else np.where(self.weight[:, None] > 0, self.means, np.nan)
        )

    @cached_property
    def variations(self) -> Array:
        """The diagonals of the scatter in units: (d,) for "pooled", otherwise (C, d)."""
        if self.kind == "pooled":
            return np.diagonal(self.scatter)
        if self.kind == "diagonal":
            return np.asarray(self.scatter)
        found = np.zeros((len(self.scatter), len(self.unit)))
        for code, one in enumerate(self.scatter):
            if one is not None:
                found[code] = one.diagonal()
        return found

    def pooled(self) -> Array:
        """The scatter of all classes together about their means: (d, d), or (d,) if diagonal.

        In units, after `centred`.
        """
        if self.kind == "pooled":
            return np.asarray(self.scatter)
        if self.kind == "diagonal":
            return np.asarray(self.scatter).sum(axis=0)
        return reduce(np.add, (one for one in self.scatter if one is not None))

    def require_squares(self) -> None:
        """Raise an error for columns whose variances leave the range of float64."""
        size = np.sqrt(np.maximum(self.variations, 0.0)) * self.unit
        size = size if size.ndim == 1 else size.max(axis=0)
        require_squares(size, len(self.unit))


def class_moments(source: Source, n_classes: int, kind: str) -> ClassMoments:
    """The moments of the classes 0, …, C−1 about their means, checked to be finite."""
    unit = provisional_frame(source).unit[: source.n_features]
    found = _reduced(source, _first_centres(source, n_classes), unit, kind)
    if not found.is_finite:
        # Either a value is not finite, which this check reports, or later rows are far larger.
        source.require_finite()
        found = _reduced(source, found.centre, _largest_unit(source), kind)
        lost = ~np.isfinite(np.atleast_2d(found.variations)).all(axis=0)
        require_squares(np.where(lost, np.inf, 1.0), source.n_features)
    centred = found.centred()
    if centred.cancellation > FAR:
        again = _reduced(source, centred.means, found.unit, kind, dense=True).centred()
        centred = replace(again, cancellation=1.0)
    centred.require_squares()
    return centred


def _reduced(
    source: Source, centre: Array, unit: Array, kind: str, *, dense: bool = False
) -> ClassMoments:
    if (
        kind == "full"
        and isinstance(source, InMemory)
        and not source.is_sparse
        and source.n_rows > source.block_rows
        and not isinstance(source.X, np.memmap)
    ):
        # Class by class, so that every matrix is read and written for many rows at once.
        whole = source.whole
        order = np.argsort(codes_of(whole), kind="stable")
        step = source.block_rows
        pieces = [order[start : start + step] for start in range(0, len(order), step)]
        return _added(ordered_map(lambda rows: _of_rows(whole, rows, centre, unit, kind), pieces))
    return source.reduce(_summarise, centre, unit, kind, dense)


def _added(parts: Iterable[ClassMoments]) -> ClassMoments:
    return reduce(ClassMoments.absorb, parts)


def _plus(left: Array | None, right: Array | None) -> Array | None:
    if left is None:
        return right
    if right is not None:
        left += right
    return left


def codes_of(block: Block) -> Array:
    """The class codes of a block, as whole numbers."""
    return np.asarray(block.targets).astype(np.int64)


def _first_centres(source: Source, n_classes: int) -> Array:
    """A row of each class: the first of all rows in memory, or of the first block of a file.

    NaN marks a class that was not found: its centre is then a row of the block where it is met.
    Sparse rows stay sparse: their centre is 0.
    """
    if isinstance(source, InMemory) and source.is_sparse:
        return np.zeros((n_classes, source.n_features))
    block = source.whole if isinstance(source, InMemory) else source.head()
    return _with_centres(block, codes_of(block), np.full((n_classes, source.n_features), np.nan))


def _with_centres(block: Block, codes: Array, centre: Array) -> Array:
    """The centres, with a row of the block for each class that has none yet."""
    absent = np.isnan(centre[:, 0])
    if not absent.any():
        return centre
    counted = np.arange(len(codes)) if block.weight is None else np.flatnonzero(block.weight > 0)
    first = np.full(len(centre), -1)
    first[codes[counted][::-1]] = counted[::-1]
    new = np.flatnonzero(absent & (first >= 0))
    if not new.size:
        return centre
    centre = centre.copy()
    rows = block.X[first[new]]
    centre[new] = rows if isinstance(rows, np.ndarray) else rows.toarray()
    return centre


def _largest_unit(source: Source) -> Array:
    """Units from the largest entries of all rows."""
    size = np.max(list(source.map_blocks(_sizes)), axis=0)
    return Frame.of(np.stack([-size, size])).unit


def _sizes(block: Block) -> Array:
    return np.abs(dense_rows(block)).max(axis=0, initial=0.0)


def _summarise(
    block: Block, centre: Array, unit: Array, kind: str, dense: bool = False
) -> ClassMoments:
    if isinstance(block.X, np.ndarray):
        return _of_rows(block, None, centre, unit, kind)
    if dense:
        step = max(1, (1 << 22) // (8 * block.X.shape[1]))
        parts = (block.take(slice(i, i + step)) for i in range(0, block.n_rows, step))
        return _added(
            _of_rows(replace(part, X=_dense(part.X)), None, centre, unit, kind) for part in parts
        )
    return _of_sparse_rows(block, centre, unit, kind)


def _of_rows(
    block: Block, rows: Array | None, centre: Array, unit: Array, kind: str
) -> ClassMoments:
    """The moments of some rows of a block, which are given by number."""
    codes = codes_of(block) if rows is None else codes_of(Block(X=block.X, y=block.targets[rows]))
    weight = block.weight if rows is None or block.weight is None else block.weight[rows]
    if rows is None:
        centre = _with_centres(block, codes, centre)
        rows = np.arange(block.n_rows)
        if kind == "full":
            rows = np.argsort(codes, kind="stable")
            codes, weight = codes[rows], weight if weight is None else weight[rows]
    n_classes, d = centre.shape
    known = np.nan_to_num(centre) if np.isnan(centre[:, 0]).any() else centre
    root = np.sqrt(kernel_weights(weight))
    sums = np.zeros((n_classes, d))
    given = (block.X, rows, codes, known, 1.0 / unit, root)
    scatter: Any
    with np.errstate(over="ignore", invalid="ignore"):
        if kind == "diagonal":
            scatter = np.zeros((n_classes, d))
            _native.class_squares(*given, sums, scatter)
        else:
            packed = np.empty((len(rows), d))
            _native.pack_class_rows(*given, packed, sums)
            if kind == "pooled":
                scatter = product(packed.T, packed)
            else:
                scatter = _by_class(packed, codes, n_classes)
    return _summary(codes, weight, known, sums, scatter, unit, kind)


def _by_class(packed: Array, codes: Array, n_classes: int) -> list[Array | None]:
    """ZᵀZ of the rows of each class, which lie together; None for a class without rows."""
    scatter: list[Array | None] = [None] * n_classes
    if not len(codes):
        return scatter
    edges = np.flatnonzero(np.diff(codes)) + 1
    for start, stop in zip([0, *edges], [*edges, len(codes)], strict=True):
        part = packed[start:stop]
        scatter[int(codes[start])] = product(part.T, part)
    return scatter


def _dense(X: SparseMatrix) -> Array:
    return X.toarray()


def _of_sparse_rows(block: Block, centre: Array, unit: Array, kind: str) -> ClassMoments:
    import scipy.sparse as sp

    X: SparseMatrix = block.X
    codes, (n_classes, d) = codes_of(block), centre.shape
    weight = None if block.weight is None else np.asarray(block.weight, dtype=np.float64)
    share = row_weights(weight, block.n_rows)
    chosen = sp.csr_array((share, codes, np.arange(block.n_rows + 1)), (block.n_rows, n_classes)).T
    per_unit = 1.0 / unit
    scatter: Any
    with np.errstate(over="ignore", invalid="ignore"):
        sums = (chosen @ X).toarray() * per_unit
        if kind == "diagonal":
            scatter = (chosen @ X.astype(np.float64).power(2)).toarray() * per_unit**2
        elif kind == "pooled":
            scatter = _sparse_square(X, weight, per_unit)
        else:
            scatter = [None] * n_classes
            for code in np.unique(codes):
                rows = np.flatnonzero(codes == code)
                part = None if weight is None else weight[rows]
                scatter[code] = _sparse_square(X[rows], part, per_unit)
    return _summary(codes, weight, np.zeros((n_classes, d)), sums, scatter, unit, kind)


def _sparse_square(X: Any, weight: Array | None, per_unit: Array) -> Array:
    square = np.zeros((X.shape[1], X.shape[1]))
    _native.sparse_gram(X.data, X.indices, X.indptr, kernel_weights(weight), square)
    square *= per_unit
    square *= per_unit[:, None]
    return square


def _summary(
    codes: Array,
    weight: Array | None,
    centre: Array,
    sums: Array,
    scatter: Any,
    unit: Array,
    kind: str,
) -> ClassMoments:
    n_rows = np.bincount(codes if weight is None else codes[weight > 0], minlength=len(centre))
    total = n_rows.astype(float)
    if weight is not None:
        total = np.bincount(codes, weights=weight, minlength=len(centre))
    return ClassMoments(n_rows, total, centre, sums, scatter, unit, kind)
