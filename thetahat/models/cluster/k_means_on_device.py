"""k-means of rows on a device: labels and sums there, centres in float64 on the host."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from thetahat.data.arrays import like, require_plain_tensor, to_host
from thetahat.data.on_device import OnDevice
from thetahat.estimator.devices.rows import rows_of_model, rows_to_fit, weights_to_fit
from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.types import Array
from thetahat.mathematics.devices.centres import (
    CentredRows,
    far_rows,
    nearest,
    squared_distances_to,
)
from thetahat.mathematics.devices.memory import row_blocks
from thetahat.models.cluster.starts import given_centres, random_rows
from thetahat.models.cluster.sums import ClusterSums

SAMPLED_ROWS = 1 << 16
"""Number of rows among which k-means++ draws."""


class DeviceRows:
    """The rows of a fit, with what `RestartedCentres` asks of rows in memory."""

    def __init__(self, X: Array, weight: Array | None, who: str) -> None:
        xp, (n, d) = array_namespace(X), X.shape
        self.X, self.who, wide = X, who, xp.float64
        dtype = np.dtype(str(X.dtype).rpartition(".")[2])
        self.source = OnDevice(
            X=X, n_features=int(d), dtype=dtype, weight=weight, has_weight=weight is not None
        )
        self.total = float(n) if weight is None else float(xp.sum(xp.astype(weight, wide)))
        self.n_used = int(n) if weight is None else int(xp.sum(xp.astype(weight > 0, xp.int64)))
        about = like(np.asarray(to_host(X[0, :]), dtype=np.float64), X)
        sums = xp.zeros((int(d),), dtype=wide, device=device(X))
        squares = 0.0 * sums
        for part in row_blocks(X, 32 * int(d)):
            away = X[part, :] - about
            share = 1 if weight is None else weight[part][:, None]
            sums = sums + xp.sum(away * share, axis=0, dtype=wide)
            squares = squares + xp.sum(away * away * share, axis=0, dtype=wide)
        shift = to_host(sums) / self.total
        self.middle = np.asarray(to_host(about), dtype=np.float64) + shift
        spread = np.maximum(to_host(squares) / self.total - shift**2, 0.0)
        self.variance = float(spread.mean())
        self.centred = CentredRows.of(X, weight, self.middle)

    @property
    def chance(self) -> Array | None:
        """The probability of every row in a draw by weight; None if all are equal."""
        if self.centred.weight is None:
            return None
        weight = np.asarray(to_host(self.centred.weight), dtype=np.float64)
        return None if weight.min() == weight.max() else weight / weight.sum()

    def take(self, numbers: Array) -> Array:
        """Some of the rows, in float64 on the host."""
        xp = array_namespace(self.X)
        some = xp.take(self.X, xp.asarray(numbers, device=device(self.X)), axis=0)
        return np.asarray(to_host(some), dtype=np.float64)

    def partition(self) -> DevicePartition:
        """The problem of one start."""
        return DevicePartition(self)


def starting_centres(rows: DeviceRows, k: int, init: Any, random: np.random.Generator) -> Array:
    """k centres: given ones, random rows, or k-means++ among at most 65,536 random rows."""
    if isinstance(init, str) and init == "random":
        return random_rows(rows, k, random)  # type: ignore[arg-type]
    if isinstance(init, str) and init == "k-means++":
        return _far_rows(rows, k, random)
    if isinstance(init, str) or callable(init):
        raise CapabilityError(
            f"{rows.who}: init={init!r} needs NumPy arrays, but X is on {device(rows.X)}. Use "
            "'k-means++', 'random' or an array, or pass X.cpu().numpy()."
        )
    require_plain_tensor(init, "init", rows.who, negated=False)
    return given_centres(to_host(init), k, rows)  # type: ignore[arg-type]


def _far_rows(rows: DeviceRows, k: int, random: np.random.Generator) -> Array:
    X, xp = rows.X, array_namespace(rows.X)
    chance, weight, n = rows.chance, rows.centred.weight, int(rows.X.shape[0])
    numbers = None
    if n > max(SAMPLED_ROWS, k):
        numbers = np.sort(random.choice(n, max(SAMPLED_ROWS, k), replace=False, p=chance))
        X = xp.take(X, xp.asarray(numbers, device=device(X)), axis=0)
        chance = weight = None  # the weights are in the draw
    m, tries = int(X.shape[0]), 2 + int(math.log(k))
    first = int(random.integers(m)) if chance is None else int(random.choice(m, p=chance))
    uniform = like(random.random((k - 1, tries)), X, dtype=xp.float64)
    found = np.asarray(to_host(far_rows(X - like(rows.middle, X), k, weight, first, uniform)))
    return rows.take(found if numbers is None else numbers[found])


class DevicePartition:
    """As `Partition`, for rows on a device."""

    convex = False

    def __init__(self, rows: DeviceRows) -> None:
        self.rows = rows
        self.label: Any = None
        self.square: Any = None
        self.centres: Array | None = None
        self.shift = math.inf

    def assign(self, centres: Array) -> ClusterSums:
        """Give every row its nearest centre; the sums for these labels. Cost: O(n k d)."""
        rows, xp = self.rows.centred, array_namespace(self.rows.X)
        if self.centres is not None:
            self.shift = float(((centres - self.centres) ** 2).sum())
        self.centres, d = np.array(centres, dtype=np.float64), rows.n_columns
        k = len(self.centres)
        sums = xp.zeros((k, rows.mass.shape[1]), dtype=xp.float64, device=device(rows.points))
        before = self.label
        self.label, self.square = nearest(rows, self.centres, sums)
        changed = int(rows.points.shape[0])
        if before is not None:
            changed = int(xp.sum(xp.astype(before != self.label, xp.int64)))
        wide = xp.astype(self.square, xp.float64)
        loss = wide if rows.weight is None else wide * xp.astype(rows.weight, xp.float64)
        found = np.asarray(to_host(sums))
        weight = found[:, d]
        return ClusterSums(
            found[:, :d] - weight[:, None] * (self.centres - rows.middle),
            weight.copy(),
            found[:, d if rows.weight is None else d + 1].astype(np.int64),
            float(xp.sum(loss)),
            changed,
            float(xp.max(self.square)),
        )

    def update(self, centres: Array, sums: ClusterSums) -> Array:
        """Move the centres to the means of their rows; an empty cluster gets a far row."""
        found = sums.means(centres)
        empty = np.flatnonzero(sums.weight <= 0)
        if empty.size:
            xp = array_namespace(self.square)
            far = self.square
            if self.rows.centred.weight is not None:
                far = xp.where(self.rows.centred.weight > 0, far, xp.zeros_like(far))
            order = np.asarray(to_host(xp.argsort(far, descending=True)[: 4 * len(empty)]))
            owner = to_host(self.label)[order]
            held = sums.count.copy()
            chosen: list[int] = []
            for row, own in zip(order, owner, strict=True):
                if len(chosen) < len(empty) and held[own] > 1 and float(far[int(row)]) > 0:
                    held[own] -= 1
                    chosen.append(int(row))
            if chosen:
                found[empty[: len(chosen)]] = self.rows.take(np.array(chosen))
        dtype = self.rows.source.dtype
        return np.asarray(found.astype(dtype), dtype=np.float64)


def fit(model: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """Find the centres. Cost: O(n k d) per iteration and start."""
    X = rows_to_fit(model, X)
    rows = DeviceRows(X, weights_to_fit(model, sample_weight, X), type(model).__name__)
    model._require_enough_rows(rows.source, rows.n_used)
    model._fit_rows(rows, X, y, starting_centres)
    model._keep_loss(int(array_namespace(X).unique_values(model.labels_).shape[0]))
    model.cluster_centers_ = like(model.cluster_centers_, X)
    return model


def predict(model: Any, X: Any) -> Array:
    """The number of the nearest centre of every row."""
    return nearest(*_centred(model, X))[0]


def transform(model: Any, X: Any) -> Array:
    """Distances of every row from all centres."""
    rows, centres = _centred(model, X)
    return array_namespace(rows.points).sqrt(squared_distances_to(rows, centres))


def score(model: Any, X: Any, y: Any = None, sample_weight: Any = None) -> float:
    """−Σ w·min_k ‖x − μ_k‖²."""
    rows, centres = _centred(model, X)
    xp = array_namespace(rows.points)
    square = xp.astype(nearest(rows, centres)[1], xp.float64)
    weight = weights_to_fit(model, sample_weight, rows.points)
    return -float(xp.sum(square if weight is None else square * xp.astype(weight, xp.float64)))


def _centred(model: Any, X: Any) -> tuple[CentredRows, Array]:
    X = rows_of_model(model, X, model.cluster_centers_)
    centres = np.asarray(to_host(model.cluster_centers_), dtype=np.float64)
    return CentredRows.of(X, None, centres.mean(axis=0)), centres
