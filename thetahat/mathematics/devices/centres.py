"""The nearest centre of every row, and sums of the rows of each centre, by matrix products.

Rows are centred and get a column of ones, x' = [x − m, 1]; centres become c' = [−2(c − m),
‖c − m‖²]. Then x'ᵀc' = ‖x − c‖² − ‖x − m‖², so that one product gives all that an argmin needs, and
sums of x' by label are sums and counts. Columns are padded to a multiple of 4, which aligns them
for a GPU.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from thetahat.data.arrays import like
from thetahat.foundation.types import Array
from thetahat.mathematics.devices.memory import row_blocks


@dataclass(frozen=True)
class CentredRows:
    """The rows about their middle, with ones; their squared lengths, and their weights."""

    points: Array
    squares: Array
    mass: Array
    """The rows times their weights, with the weights, and whether these are positive."""
    weight: Array | None
    middle: Array
    """In float64 on the host."""
    n_columns: int

    @classmethod
    def of(cls, X: Array, weight: Array | None, middle: Array) -> CentredRows:
        """Cost: O(n d) time and memory."""
        xp, (n, d) = array_namespace(X), X.shape
        width = -(-(d + 2) // 4) * 4
        points = xp.zeros((n, width), dtype=X.dtype, device=device(X))
        points[:, :d] = X - like(middle, X)
        squares = _row_squares(points, d)
        points[:, d] = xp.ones((n,), dtype=X.dtype, device=device(X))
        mass = points
        if weight is not None:
            mass = points * weight[:, None]
            mass[:, d + 1] = xp.astype(weight > 0, X.dtype)
        return cls(points, squares, mass, weight, middle, d)

    def with_centres(self, centres: Array) -> Array:
        """c' of centres in float64 on the host; its rows in memory order make products fast."""
        away = np.asarray(centres, dtype=np.float64) - self.middle
        found = np.zeros((len(away), self.points.shape[1]))
        found[:, : self.n_columns] = -2.0 * away
        found[:, self.n_columns] = np.einsum("ij,ij->i", away, away)
        return like(found, self.points).T


def _row_squares(points: Array, d: int) -> Array:
    xp = array_namespace(points)
    parts = [
        xp.sum(points[rows, :d] ** 2, axis=1) for rows in row_blocks(points, 8 * points.shape[1])
    ]
    return parts[0] if len(parts) == 1 else xp.concat(parts)


def nearest(rows: CentredRows, centres: Array, sums: Array | None = None) -> tuple[Array, Array]:
    """Label and squared distance of every row; adds the sums by label to `sums` (k, width).

    `sums` is in float64 and on the device. Cost: O(n k d) time, and blocks of rows × k memory.
    """
    points = rows.points
    xp, k = array_namespace(points), int(centres.shape[0])
    columns = rows.with_centres(centres)
    labels, squares = [], []
    for part in row_blocks(points, 4 * k * (1 if points.dtype == xp.float32 else 2)):
        scores = points[part, :] @ columns
        label = xp.argmin(scores, axis=1)
        least = xp.take_along_axis(scores, label[:, None], axis=1)[:, 0]
        squares.append(xp.clip(rows.squares[part] + least, 0))
        labels.append(label)
        if sums is not None:
            sums += xp.astype(sums_by_label(rows.mass[part, :], label, k), sums.dtype)
    join = (lambda parts: parts[0]) if len(labels) == 1 else xp.concat
    return join(labels), join(squares)


def sums_by_label(values: Array, label: Array, k: int) -> Array:
    """Σ of the rows of each label, (k, width). Cost: O(n width)."""
    xp = array_namespace(values)
    total = xp.zeros((k, values.shape[1]), dtype=values.dtype, device=device(values))
    if hasattr(total, "index_add_"):  # torch adds where the array API has no function
        return total.index_add_(0, label, values)
    places = xp.arange(k, device=device(values))
    for part in row_blocks(values, 16 * k):
        share = xp.astype(label[part][:, None] == places[None, :], values.dtype)
        total += share.T @ values[part, :]
    return total


def squared_distances_to(rows: CentredRows, centres: Array) -> Array:
    """‖x − c‖² of all pairs, (n, k). Cost: O(n k d)."""
    xp = array_namespace(rows.points)
    return xp.clip(rows.points @ rows.with_centres(centres) + rows.squares[:, None], 0)


def far_rows(X: Array, k: int, weight: Any, first: int, uniform: Array) -> Array:
    """Numbers of k rows drawn by their squared distance from those before (k-means++).

    ``uniform`` holds random numbers of shape (k − 1, tries). Of the rows drawn in each turn, the
    one that lowers the loss most is taken. Nothing is copied to the host before the end. Cost:
    O(n d k log k).
    """
    xp, n = array_namespace(X), int(X.shape[0])
    squares = xp.sum(X * X, axis=1)
    numbers = xp.zeros((k,), dtype=xp.int64, device=device(X))
    numbers[0] = first
    least = _from(X, squares, X[first : first + 1, :], squares[first : first + 1])[:, 0]
    for turn in range(1, k):
        limits = xp.cumulative_sum(
            xp.astype(least if weight is None else least * weight, xp.float64)
        )
        drawn = xp.searchsorted(limits, uniform[turn - 1, :] * limits[-1], side="right")
        drawn = xp.astype(xp.clip(drawn, 0, n - 1), xp.int64)
        away = _from(X, squares, xp.take(X, drawn, axis=0), xp.take(squares, drawn))
        away = xp.minimum(away, least[:, None])
        loss = away if weight is None else away * weight[:, None]
        best = xp.argmin(xp.sum(loss, axis=0))
        least = xp.take(away, xp.reshape(best, (1,)), axis=1)[:, 0]
        numbers[turn] = xp.take(drawn, xp.reshape(best, (1,)))[0]
    return numbers


def _from(X: Array, squares: Array, centres: Array, lengths: Array) -> Array:
    """Squared distances of all rows from some; 0 where the difference is rounding."""
    xp = array_namespace(X)
    found = squares[:, None] + lengths[None, :] - 2 * (X @ centres.T)
    eps = xp.finfo(X.dtype).eps
    zero = xp.zeros((), dtype=X.dtype, device=device(X))
    return xp.where(found > 8 * eps * (squares[:, None] + lengths[None, :]), found, zero)
