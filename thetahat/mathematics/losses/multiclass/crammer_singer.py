"""The multi-class hinge loss that counts only the largest violation."""

from __future__ import annotations

from dataclasses import dataclass

from array_api_compat import device

from thetahat.foundation.types import Array
from thetahat.mathematics.losses.alignment import floating
from thetahat.mathematics.losses.base import Subdifferentiable, Targets
from thetahat.mathematics.losses.constants import class_shares
from thetahat.mathematics.losses.links import Link
from thetahat.mathematics.losses.multiclass.class_scores import shortfalls


@dataclass(frozen=True)
class CrammerSinger(Subdifferentiable):
    """Crammer and Singer's multi-class hinge loss, ℓ(y, z) = max_{c≠y} [1 − (z_y − z_c)]₊.

    `MulticlassHinge` adds up all violated margins; this loss counts only the largest violation. A
    gradient step on one row lowers the highest wrong score and raises the score of the true class.
    With a margin of 0 instead of 1 this is the multi-class perceptron. Cost: O(n·C).

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
    class_dual = True

    def value(self, y: Array, z: Array) -> Array:
        xp, _, shortfall = shortfalls(y, z)
        return xp.max(shortfall, axis=-1)

    def gradient(self, y: Array, z: Array) -> Array:
        xp, right, shortfall = shortfalls(y, z)
        classes = xp.arange(shortfall.shape[-1], device=device(shortfall))
        worst = xp.argmax(shortfall, axis=-1)[..., None] == classes
        slope = xp.astype(worst, shortfall.dtype) - xp.astype(right, shortfall.dtype)
        violated = xp.max(shortfall, axis=-1) > 0
        return slope * xp.astype(violated, slope.dtype)[..., None]

    def best_constant(
        self, y: Array, weight: Array | None = None, *, n_classes: int | None = None
    ) -> Array:
        """1 for a class with more than half of the weight, else 0, and −1 if absent; centred.

        A lead of 1 for one class costs 2 for each row of the others; equal scores cost 1 per row.
        """
        xp, shares = floating(class_shares(y, weight, n_classes))
        scores = xp.astype(shares > 0.5, shares.dtype) - xp.astype(shares == 0, shares.dtype)
        return scores - xp.mean(scores)
