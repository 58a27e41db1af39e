"""The multi-class hinge that counts the worst rival only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from array_api_compat import device

from thetahat.foundation.types import Array
from thetahat.mathematics.losses.alignment import aligned, floating
from thetahat.mathematics.losses.base import Subdifferentiable, Targets
from thetahat.mathematics.losses.constants import class_shares
from thetahat.mathematics.losses.links import Link, row_sums


@dataclass(frozen=True)
class CrammerSinger(Subdifferentiable):
    """Crammer and Singer's multi-class hinge, ℓ(y, z) = max_{c≠y} [1 − (z_y − z_c)]₊.

    Where `MulticlassHinge` adds up all violated margins, this counts the worst. A gradient step on
    one row lowers the strongest rival and raises the right class: with a margin of 0 instead of 1
    that is the multi-class perceptron. Cost: O(n·C).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> loss = th.losses.CrammerSinger()
    >>> loss.value(np.array([0]), np.array([[2.0, 1.5, 1.75]]))
    array([0.75])
    >>> loss.gradient(np.array([0]), np.array([[2.0, 1.5, 1.75]]))
    array([[-1.,  0.,  1.]])
    """

    name = "crammer_singer"
    targets = Targets.CLASSES
    link = Link.IDENTITY
    columns = "per class"

    def value(self, y: Array, z: Array) -> Array:
        xp, _, shortfall = self._shortfall(y, z)
        return xp.max(shortfall, axis=-1)

    def gradient(self, y: Array, z: Array) -> Array:
        xp, right, shortfall = self._shortfall(y, z)
        classes = xp.arange(shortfall.shape[-1], device=device(shortfall))
        worst = xp.argmax(shortfall, axis=-1)[..., None] == classes
        slope = xp.astype(worst, shortfall.dtype) - xp.astype(right, shortfall.dtype)
        violated = xp.max(shortfall, axis=-1) > 0
        return slope * xp.astype(violated, slope.dtype)[..., None]

    def best_constant(
        self, y: Array, weight: Array | None = None, *, n_classes: int | None = None
    ) -> Array:
        """1 for a class with more than half of the weight, else 0, and −1 if absent; centred.

        A lead of 1 for one class costs 2 for each row of the others, a tie of all costs 1.
        """
        xp, shares = floating(class_shares(y, weight, n_classes))
        scores = xp.astype(shares > 0.5, shares.dtype) - xp.astype(shares == 0, shares.dtype)
        return scores - xp.mean(scores)

    def _shortfall(self, y: Array, z: Array) -> tuple[Any, Array, Array]:
        """1 − (z_y − z_c) for each class, and 0 for the right one."""
        xp, y, z = aligned(y, z)
        right = y[..., None] == xp.arange(z.shape[-1], dtype=z.dtype, device=device(z))
        lead = row_sums(xp, xp.where(right, z, xp.zeros_like(z)))[..., None] - z
        return xp, right, xp.where(right, xp.zeros_like(z), 1 - lead)
