"""Products with the scatter CᵀC of centred rows, without the matrix itself: sums over blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source, kernel_weights
from thetahat.data.summaries.means import means
from thetahat.foundation.memory import available_memory
from thetahat.foundation.products import product, product_by_rows
from thetahat.foundation.threads import parallel_for
from thetahat.foundation.types import Array, Matrix


@dataclass(frozen=True)
class ScatterOperator:
    """Q ↦ CᵀCQ for the centred, scaled and weighted rows C, and ‖C‖², by sums over blocks."""

    source: Source
    mean: Array
    scale: Array | None
    centred: Block | None = None
    """The rows less their mean, where they are few: they are read many times."""

    def __call__(self, Q: Array) -> Array:
        """CᵀCQ, (d, k). Cost: one pass over the rows."""
        if self.centred is not None:
            per_unit = Q if self.scale is None else Q / self.scale[:, None]
            rows = self.centred.X
            image = _weighted(self.centred, product_by_rows(rows, per_unit))
            back = product_by_rows(rows.T, image)
            return back if self.scale is None else back / self.scale[:, None]
        return self.source.reduce(_summarise_product, self.mean, self.scale, Q).total

    def for_vectors(self) -> Callable[[Array], Array]:
        """v ↦ CᵀCv for many vectors; blocks in memory are cut once, and centred or turned."""
        source, mean = self.source, self.mean
        if not isinstance(source, InMemory):
            return lambda v: self(v.reshape(-1, 1))[:, 0]
        if not source.is_sparse:
            return self._for_dense_vectors(source)
        blocks = [(block, block.X.T) for block in source.blocks()]
        parts, centred = [np.empty(0)] * len(blocks), bool(mean.any())

        def of_vector(v: Array) -> Array:
            per_unit = v.reshape(-1) if self.scale is None else v.reshape(-1) / self.scale

            def work(number: int) -> None:
                block, turned = blocks[number]
                image = block.X @ per_unit
                if centred:
                    image -= mean @ per_unit
                if block.weight is not None:
                    image *= block.weight
                parts[number] = turned @ image
                if centred:
                    parts[number] -= mean * image.sum()

            parallel_for(work, range(len(blocks)), 2.0 * source.sparse_X.nnz)
            total = reduce(np.add, parts)
            return total if self.scale is None else total / self.scale

        return of_vector

    def _for_dense_vectors(self, source: InMemory) -> Callable[[Array], Array]:
        held = bool(self.mean.any()) or source.dtype != np.float64
        if held and 8 * source.n_rows * source.n_features > available_memory() // 2:
            return lambda v: self(v.reshape(-1, 1))[:, 0]
        blocks = [(block, block.X - self.mean if held else block.X) for block in source.blocks()]
        parts = [np.empty((0, 0))] * len(blocks)

        def of_vector(v: Array) -> Array:
            per_unit = v.reshape(-1, 1)
            per_unit = per_unit if self.scale is None else per_unit / self.scale[:, None]

            def work(number: int) -> None:
                block, rows = blocks[number]
                parts[number] = product(rows.T, _weighted(block, product(rows, per_unit)))

            parallel_for(work, range(len(blocks)), 2.0 * source.n_rows * source.n_features)
            total = reduce(np.add, parts)[:, 0]
            return total if self.scale is None else total / self.scale

        return of_vector

    def triangle(self, Q: Array) -> Array:
        """R of CQ = UR with orthonormal columns of U. Cost: one pass over the rows."""
        return self.source.reduce(_summarise_triangle, self.mean, self.scale, Q).R

    def square(self) -> float:
        squares = self.source.reduce(_summarise_squares, self.mean).total
        return float(np.sum(squares if self.scale is None else squares / self.scale**2))


@dataclass(frozen=True)
class Sum:
    """A sum over rows that has been computed block by block."""

    total: Array

    def merge(self, other: Sum) -> Sum:
        return Sum(self.total + other.total)


@dataclass(frozen=True)
class Triangle:
    """The triangular factor of rows, block by block; it has the singular values of the rows."""

    R: Array

    @classmethod
    def of(cls, rows: Array) -> Triangle:
        found: Any = np.linalg.qr(rows, mode="r")
        return cls(found)

    def merge(self, other: Triangle) -> Triangle:
        return Triangle.of(np.vstack([self.R, other.R]))


def _summarise_triangle(block: Block, mean: Array, scale: Array | None, Q: Array) -> Triangle:
    per_unit = Q if scale is None else Q / scale[:, None]
    if isinstance(block.X, np.ndarray):
        image = product(block.X - mean, per_unit)
    else:
        image = block.X @ per_unit - mean @ per_unit
    if block.weight is not None:
        image = image * np.sqrt(np.asarray(block.weight))[:, None]
    return Triangle.of(image)


def _summarise_product(block: Block, mean: Array, scale: Array | None, Q: Array) -> Sum:
    per_unit = Q if scale is None else Q / scale[:, None]
    if isinstance(block.X, np.ndarray):
        rows = block.X - mean
        image = product(rows, per_unit)
        back = product(rows.T, _weighted(block, image))
    else:
        X, per_unit = block.X, np.ascontiguousarray(per_unit)
        weight = kernel_weights(block.weight)
        back, total = np.empty(per_unit.shape), np.empty(per_unit.shape[1])
        _native.sparse_normal_product(
            X.data, X.indices, X.indptr, weight, per_unit, mean @ per_unit, back, total
        )
        if mean.any():
            back -= np.outer(mean, total)
    return Sum(back if scale is None else back / scale[:, None])


def _weighted(block: Block, image: Array) -> Array:
    return image if block.weight is None else image * np.asarray(block.weight)[:, None]


def _summarise_squares(block: Block, mean: Array) -> Sum:
    """Σ w (x − μ)² of each column."""
    X: Matrix = block.X
    weight = np.asarray(block.row_weights, dtype=np.float64)
    if isinstance(X, np.ndarray):
        return Sum(product(weight, (X - mean) ** 2))
    squares = X.multiply(X).T @ weight - 2 * mean * (X.T @ weight) + weight.sum() * mean**2
    return Sum(np.maximum(squares, 0.0))


def scatter_operator(
    source: Source, centre: bool, scale: Array | None
) -> tuple[ScatterOperator, float]:
    """The operator, and the sum of the weights."""
    about = means(source)
    d = source.n_features
    mean = about.mean[:d] if centre else np.zeros(d)
    if isinstance(source, InMemory) and not source.is_sparse and source.n_rows <= source.block_rows:
        centred = replace(source.whole, X=source.X - mean)
        return ScatterOperator(source, mean, scale, centred), about.weight
    return ScatterOperator(source, mean, scale), about.weight
