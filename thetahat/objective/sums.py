"""Mergeable sums over rows for risks, gradients and Hessians.

`Sums` holds Σ w and some Σ w·(…). Merging adds them; it is associative and commutative up to
rounding, and ``Sums()`` is its neutral element.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.data.source import Block
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.losses.base import Curved, Loss, Reweightable
from thetahat.objective.predictor import LinearInParameters, Predictor, Restrictable
from thetahat.objective.row_losses import curved_gram, loss_and_slope


@dataclass(frozen=True)
class Sums:
    """Σ w and other weighted sums."""

    weight: float = 0.0
    parts: tuple[Any, ...] = ()
    """Numbers and arrays."""

    def merge(self, other: Sums) -> Sums:
        """The sums over both sets of rows."""
        if not self.parts:
            return Sums(self.weight + other.weight, other.parts)
        if not other.parts:
            return Sums(self.weight + other.weight, self.parts)
        parts = tuple(a + b for a, b in zip(self.parts, other.parts, strict=True))
        return Sums(self.weight + other.weight, parts)

    def means(self) -> tuple[Any, ...]:
        """Each sum divided by Σ w."""
        if not self.weight > 0:
            raise DataError(
                "All sample weights are zero, so no row counts. Give at least one row a positive "
                "weight."
            )
        return tuple(part / self.weight for part in self.parts)


def weight_sums(block: Block) -> Sums:
    """Σ w alone."""
    return Sums(_total_weight(block))


def value_sums(block: Block, predictor: Predictor, loss: Loss, theta: Array) -> Sums:
    """Σ wℓ, bit for bit as in `gradient_sums`."""
    if (found := loss_and_slope(block, predictor, loss, theta)) is not None:
        return Sums(_total_weight(block), found[:1])
    with quiet():
        z = predictor.raw(block.X, theta)
        value = float(_weighted(block, loss.value(block.targets, z)).sum())
        return Sums(_total_weight(block), (value,))


def gradient_sums(block: Block, predictor: Predictor, loss: Any, theta: Array) -> Sums:
    """Σ wℓ and Σ w∇ℓ."""
    if (found := loss_and_slope(block, predictor, loss, theta)) is not None:
        return Sums(_total_weight(block), found)
    with quiet():
        z, pullback = predictor.raw_and_pullback(block.X, theta)
        value, slope = loss.value_and_gradient(block.y, z)
        total = float(_weighted(block, value).sum())
        return Sums(_total_weight(block), (total, pullback(_weighted(block, slope))))


def gradient_sum(block: Block, predictor: Predictor, loss: Any, theta: Array) -> Array:
    """Σ w∇ℓ alone, for stochastic methods, which often pass a single row."""
    with quiet():
        z, pullback = predictor.raw_and_pullback(block.X, theta)
        return pullback(_weighted(block, loss.gradient(block.y, z)))


def hessian_sums(block: Block, predictor: LinearInParameters, loss: Curved, theta: Array) -> Sums:
    """Σ w∇²ℓ, for all pairs of columns of z."""
    if (gram := curved_gram(block, predictor, loss, theta)) is not None:
        return Sums(_total_weight(block), (gram,))
    with quiet():
        z = predictor.raw(block.X, theta)
        return _hessian_at(block, block.X, predictor, loss, z)


def _hessian_at(
    block: Block, X: Matrix, predictor: LinearInParameters, loss: Curved, z: Array
) -> Sums:
    """Σ w x̃ᵀ(∇²ℓ at the scores z)x̃ over the columns X."""
    if z.ndim == 1:
        curvature = _weighted(block, loss.curvature(block.targets, z))
        return Sums(_total_weight(block), (predictor.gram(X, curvature),))
    p, k = predictor.n_parameters // z.shape[1], z.shape[1]
    hessian, per_class = np.zeros((p, k, p, k)), loss.columns == "per class"
    for a, columns in enumerate(loss.curvature_columns(block.targets, z)):
        column = _weighted(block, columns)
        for b in range(a + loss.shift_invariant, k) if per_class else (a,):
            hessian[:, a, :, b] = hessian[:, b, :, a] = predictor.gram(X, column[:, b])
    if loss.shift_invariant:  # each row's Hessian times (1, …, 1) is zero
        for a in range(k):
            hessian[:, a, :, a] = -hessian[:, a].sum(axis=2)
    return Sums(_total_weight(block), (hessian.reshape(p * k, p * k),))


def hessian_block_sums(
    block: Block, predictor: Restrictable, loss: Curved, theta: Array, coordinates: Array
) -> Sums:
    """Σ w∇²ℓ for some entries of θ, from the columns that they multiply."""
    k, d = max(1, predictor.n_outputs), predictor.n_features
    if len(coordinates) == predictor.n_parameters:
        return hessian_sums(block, predictor, loss, theta)
    if (gram := curved_gram(block, predictor, loss, theta, coordinates)) is not None:
        return Sums(_total_weight(block), (gram,))
    used, places = _columns_of(coordinates, d, k)
    with quiet():
        z = predictor.raw(block.X, theta)
        # The scores use all columns; the smaller predictor is used for the curvature only.
        smaller, X = predictor.restricted(block.X, used)
        whole = _hessian_at(block, X, smaller, loss, z)
    weight, (hessian,) = whole.weight, whole.parts
    return Sums(weight, (hessian[np.ix_(places, places)],))


def majoriser_block_sums(
    block: Block, predictor: Restrictable, loss: Reweightable, theta: Array, coordinates: Array
) -> Sums:
    """Σ wω xxᵀ for some entries of θ, with the weights ω that touch ℓ at θ."""
    used, places = _columns_of(coordinates, predictor.n_features, 1)
    with quiet():
        weight = _weighted(block, loss.irls_weight(block.targets, predictor.raw(block.X, theta)))
        smaller, X = predictor.restricted(block.X, used)
        gram = smaller.gram(X, weight)
    return Sums(_total_weight(block), (gram[np.ix_(places, places)],))


def _columns_of(coordinates: Array, d: int, k: int) -> tuple[Array, Array]:
    """The columns of X that these entries of θ multiply, and the entries' indices among them.

    Entry (j, c) of θ has index j·k + c; row d belongs to the intercept.
    """
    columns = np.unique(coordinates // k)
    used = columns[columns < d]
    rows = np.searchsorted(used, coordinates // k)
    return used, np.where(coordinates // k < d, rows, len(used)) * k + coordinates % k


def hessian_product_sums(
    block: Block, predictor: LinearInParameters, loss: Curved, theta: Array, direction: Array
) -> Sums:
    """Σ w∇²ℓ · direction, without the Hessian."""
    with quiet():
        z = predictor.raw(block.X, theta)
        along = predictor.raw(block.X, direction)
        bent = _weighted(block, loss.curvature_product(block.targets, z, along))
        return Sums(_total_weight(block), (predictor.pullback(block.X, bent),))


def majoriser_sums(
    block: Block, predictor: LinearInParameters, loss: Reweightable, theta: Array
) -> Sums:
    """Gradient and Hessian of Σ w·½ω(z − y)² with the weights ω that touch ℓ at θ."""
    with quiet():
        z = predictor.raw(block.X, theta)
        weight = _weighted(block, loss.irls_weight(block.targets, z))
        gradient = predictor.pullback(block.X, weight * (z - block.y))
        return Sums(_total_weight(block), (gradient, predictor.gram(block.X, weight)))


def _weighted(block: Block, values: Array) -> Array:
    """w · values, row by row."""
    if block.weight is None:
        return values
    return values * (block.weight if values.ndim == 1 else block.weight[:, None])


def _total_weight(block: Block) -> float:
    return float(block.n_rows) if block.weight is None else float(block.weight.sum())


def quiet() -> Any:
    """Suppress overflow warnings of single rows; the sum is checked where it is used."""
    return np.errstate(over="ignore", invalid="ignore", divide="ignore")
