"""Singular values and directions of centred rows on a device, from products in float64.

For n < d rows, CCᵀ = U·diag(s²)·Uᵀ of the centred rows C and V = UᵀC/s; otherwise
CᵀC = V·diag(s²)·Vᵀ. Products in float64 keep the digits of float32 rows; float64 rows lose those of
components with less than 1e-8 of the largest standard deviation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from thetahat.data.arrays import to_host
from thetahat.foundation.types import Array
from thetahat.mathematics.devices.memory import free_bytes, require_device_memory, row_blocks


@dataclass(frozen=True)
class DeviceSpectrum:
    """Eigenvalues s² in descending order on the host, and what directions are made of."""

    X: Array
    mean: Array
    """The mean of each column in float64, on the device; 0 if rows are not centred."""
    scale: Array | None
    root: Array | None
    """√w of every row."""
    squares: Array
    vectors: Array
    by_rows: bool
    square: float

    def directions(self, k: int) -> Array:
        """The first k right singular vectors as rows, the largest entry of each positive.

        Of fewer rows than columns, a direction without variance is 0.
        """
        xp = array_namespace(self.X)
        vectors = self.vectors[:, :k].T
        if self.by_rows:
            values = np.sqrt(np.maximum(self.squares[:k], 0.0))
            inverse = np.where(values > 1e-7 * values.max(initial=0.0), 1.0, 0.0)
            inverse /= np.where(values > 0, values, 1.0)
            vectors = vectors * xp.asarray(inverse, device=device(self.X))[:, None]
            parts = [xp.astype(vectors @ part, self.X.dtype) for part in _columns(self)]
            vectors = parts[0] if len(parts) == 1 else xp.concat(parts, axis=1)
        vectors = xp.astype(vectors, self.X.dtype)
        largest = xp.argmax(xp.abs(vectors), axis=1)
        entry = xp.take_along_axis(vectors, largest[:, None], axis=1)
        return vectors * xp.where(entry < 0, -xp.ones_like(entry), xp.ones_like(entry))


def principal_spectrum(
    X: Array, weight: Array | None, *, centre: bool, scaled: bool
) -> DeviceSpectrum:
    """The spectrum of the rows. Cost: O(n d·min(n, d) + min(n, d)³)."""
    xp, (n, d) = array_namespace(X), X.shape
    side = min(n, d)
    require_device_memory(
        8 * 4 * side * side,
        X,
        f"The products of {side} rows or columns",
        "Use fewer rows or columns, or svd_solver='randomized' on NumPy arrays.",
    )
    mean, spread, total = _moments(X, weight)
    scale = None
    if scaled:
        deviation = xp.sqrt(spread / (total - 1))
        scale = xp.where(deviation > 0, deviation, xp.ones_like(deviation))
    mean = mean if centre else 0.0 * mean
    root = None if weight is None else xp.sqrt(xp.astype(weight, xp.float64))
    empty = np.empty(0)
    rows = DeviceSpectrum(X, mean, scale, root, empty, empty, n < d, 0.0)
    products = xp.zeros((side, side), dtype=xp.float64, device=device(X))
    for part in _columns(rows) if rows.by_rows else _rows(rows):
        products += part @ part.T if rows.by_rows else part.T @ part
    squares, vectors = xp.linalg.eigh(products)
    found = np.maximum(np.asarray(to_host(xp.flip(squares))), 0.0)
    return DeviceSpectrum(
        X, mean, scale, root, found, xp.flip(vectors, axis=1), rows.by_rows, float(found.sum())
    )


def _moments(X: Array, weight: Array | None) -> tuple[Array, Array, float]:
    """Mean and Σ w(x − mean)² of each column, and Σ w; in float64 on the device."""
    xp, wide = array_namespace(X), array_namespace(X).float64
    about = xp.astype(X[0, :], wide)
    sums, squares, total = 0.0 * about, 0.0 * about, float(X.shape[0])
    for rows in row_blocks(X, 32 * int(X.shape[1])):
        away = xp.astype(X[rows, :], wide) - about
        heavy = away if weight is None else away * xp.astype(weight[rows], wide)[:, None]
        sums = sums + xp.sum(heavy, axis=0)
        squares = squares + xp.sum(heavy * away, axis=0)
    if weight is not None:
        total = float(xp.sum(xp.astype(weight, wide)))
    shift = sums / total
    return about + shift, xp.clip(squares - total * shift**2, 0), total


def _part(of: DeviceSpectrum, rows: Any, columns: Any) -> Array:
    xp = array_namespace(of.X)
    part = xp.astype(of.X[rows, columns], xp.float64) - of.mean[columns]
    if of.scale is not None:
        part = part / of.scale[columns]
    return part if of.root is None else part * of.root[rows][:, None]


def _rows(of: DeviceSpectrum) -> Iterator[Array]:
    for rows in row_blocks(of.X, 24 * int(of.X.shape[1])):
        yield _part(of, rows, slice(None))


def _columns(of: DeviceSpectrum) -> Iterator[Array]:
    n, d = of.X.shape
    step = max(1, min(int(d), min(4 << 30, free_bytes(of.X) // 4) // (24 * int(n))))
    for start in range(0, int(d), step):
        yield _part(of, slice(None), slice(start, min(int(d), start + step)))
