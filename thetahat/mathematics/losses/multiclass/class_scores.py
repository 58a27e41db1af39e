"""Losses of class scores: z has one column for each class, and y is the index of the true class.

The losses do not change when a constant is added to all scores of a row, so best constants are
centred. Cost: O(n·C) for each formula.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import device

from thetahat import _native
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.alignment import aligned, floating, in_floats, is_compiled
from thetahat.mathematics.losses.base import Curved, Subdifferentiable, Targets, UnboundedLikelihood
from thetahat.mathematics.losses.constants import class_shares
from thetahat.mathematics.losses.families import CLASS_SCORES
from thetahat.mathematics.losses.links import Link, link, log_sum_exp, row_sums, softmax


@dataclass(frozen=True)
class SoftmaxCrossEntropy(Curved, UnboundedLikelihood):
    """The multinomial negative log-likelihood ℓ(y, z) = log Σ_c e^{z_c} − z_y.

    With p = softmax(z), the gradient is p − onehot(y) and the Hessian is diag(p) − p·pᵀ. The method
    ``curvature_product`` multiplies by the full Hessian; ``curvature`` returns its diagonal. The
    best constant of a class that never occurs is a large finite negative number. Cost: O(n·C).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> loss = th.losses.SoftmaxCrossEntropy()
    >>> loss.value(np.array([0, 1]), np.array([[0.0, 0.0], [1000.0, 0.0]])).round(6)
    array([6.93147e-01, 1.00000e+03])
    """

    name = "softmax_cross_entropy"
    aliases = ("softmax", "cross_entropy", "multinomial_deviance")
    targets = Targets.CLASSES
    link = Link.SOFTMAX
    softmax_pass = True
    columns = "per class"
    family = CLASS_SCORES
    steady_curvature = True
    shift_invariant = True

    def value(self, y: Array, z: Array) -> Array:
        xp, right, z = _right_class(y, z)
        return log_sum_exp(z - _right_score(xp, right, z))

    def gradient(self, y: Array, z: Array) -> Array:
        xp, right, z = _right_class(y, z)
        # −Σ of the other shares, not p − 1, keeps the digits of small gradients.
        share = softmax(z)
        others = row_sums(xp, xp.where(right, xp.zeros_like(z), share))[..., None]
        return xp.where(right, -others, share)

    def value_and_gradient(self, y: Array, z: Array) -> tuple[Array, Array]:
        if type(z) is not np.ndarray or z.dtype.char not in "df" or np.shape(y) != z.shape[:1]:
            return super().value_and_gradient(y, z)
        z = np.ascontiguousarray(z)
        value, slope = np.empty(z.shape[0], dtype=z.dtype), np.empty_like(z)
        _native.softmax_losses(in_floats(y), z, value, slope, n_threads())
        return value, slope

    def curvature(self, y: Array, z: Array) -> Array:
        p = softmax(z)
        return p * (1 - p)

    def curvature_product(self, y: Array, z: Array, direction: Array) -> Array:
        xp, direction, z = aligned(direction, z)
        p = softmax(z)
        return p * (direction - row_sums(xp, p * direction)[..., None])

    def curvature_columns(self, y: Array, z: Array) -> Iterator[Array]:
        p = softmax(z)
        for column in range(p.shape[1]):
            share = p[:, column]
            found = p * -share[:, None]
            found[:, column] = share * (1 - share)
            yield found

    def gradient_and_curvature(self, y: Array, z: Array) -> tuple[Array, Array]:
        if not is_compiled(z) or z.ndim != 2:
            return super().gradient_and_curvature(y, z)
        slope, curvature = np.empty_like(z), np.empty_like(z)
        _native.softmax_slopes(in_floats(y), z, slope, curvature, n_threads())
        return slope, curvature

    def best_constant(
        self, y: Array, weight: Array | None = None, *, n_classes: int | None = None
    ) -> Array:
        """Logarithms of the class shares, centred. Pass `n_classes` if y may lack the last."""
        return link(Link.SOFTMAX, class_shares(y, weight, n_classes))

    def margins(self, y: Array, z: Array) -> Array:
        """z_y − z_c for every class c but y."""
        xp, right, z = _right_class(y, z)
        return (_right_score(xp, right, z) - z)[~right].reshape(z.shape[0], -1)


@dataclass(frozen=True)
class MulticlassHinge(Subdifferentiable):
    """The sum of hinge losses ℓ(y, z) = Σ_{c≠y} [1 − (z_y − z_c)]₊ over all wrong classes.

    The loss is zero if the score of the true class exceeds every other score by at least 1. The
    gradient is 1 for each class that violates this margin, and minus the number of such classes for
    the true class. Cost: O(n·C).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> loss = th.losses.MulticlassHinge()
    >>> loss.value(np.array([0]), np.array([[2.0, 1.5, -1.0]]))
    array([0.5])
    >>> loss.gradient(np.array([0]), np.array([[2.0, 1.5, -1.0]]))
    array([[-1.,  1.,  0.]])
    """

    name = "multiclass_hinge"
    aliases = ("one_vs_all_hinge", "weston_watkins")
    targets = Targets.CLASSES
    link = Link.IDENTITY
    columns = "per class"

    def value(self, y: Array, z: Array) -> Array:
        xp, _, shortfall = shortfalls(y, z)
        return row_sums(xp, xp.clip(shortfall, 0, None))

    def gradient(self, y: Array, z: Array) -> Array:
        xp, right, shortfall = shortfalls(y, z)
        violated = xp.astype(shortfall > 0, shortfall.dtype)
        count = row_sums(xp, violated)[..., None]
        return violated - count * xp.astype(right, shortfall.dtype)

    def best_constant(
        self, y: Array, weight: Array | None = None, *, n_classes: int | None = None
    ) -> Array:
        """Scores on levels that differ by 1, centred. Pass `n_classes` if y may lack the last."""
        shares = class_shares(y, weight, n_classes)
        xp, shares = floating(shares)
        levels = _best_levels(np.asarray([float(shares[c]) for c in range(shares.shape[0])]))
        scores = xp.asarray(levels, dtype=shares.dtype, device=device(shares))
        return scores - xp.mean(scores)


def shortfalls(y: Array, z: Array) -> tuple[Any, Array, Array]:
    """The namespace, the true classes, and 1 − (z_y − z_c) for each class, 0 for the true one."""
    xp, right, z = _right_class(y, z)
    shortfall = 1 - (_right_score(xp, right, z) - z)
    return xp, right, xp.where(right, xp.zeros_like(z), shortfall)


def _right_class(y: Array, z: Array) -> tuple[Any, Array, Array]:
    """The namespace, a mask of the shape of z that is true at each row's class, and z."""
    xp, y, z = aligned(y, z)
    classes = xp.arange(z.shape[-1], dtype=z.dtype, device=device(z))
    return xp, y[..., None] == classes, z


def _right_score(xp: Any, right: Array, z: Array) -> Array:
    """z_y, as a column."""
    return row_sums(xp, xp.where(right, z, xp.zeros_like(z)))[..., None]


def _best_levels(share: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Integer scores f that minimise Σ_k share_k Σ_{c≠k} [1 − f_k + f_c]₊. Cost: O(C²).

    A linear program over differences has an integer solution, and a class with a larger share never
    has a lower score. So sort the classes by decreasing share, s_0 ≥ s_1 ≥ …, and cut the sequence
    into levels that differ by 1. A pair k < c costs s_k + s_c if both are on one level, and
    (1 + cuts between them)·s_c otherwise. Without s_c, which every pair costs, this is s_k for each
    pair on one level plus (number of classes above)·(share below) for each cut: a shortest path
    over the cuts.
    """
    order = np.argsort(-share, kind="stable")
    n_classes = len(share)
    above = np.concatenate([[0.0], np.cumsum(share[order])])
    moment = np.concatenate([[0.0], np.cumsum(np.arange(n_classes) * share[order])])
    position = np.arange(n_classes + 1)
    cut_cost = position * (above[-1] - above)
    best = np.zeros(n_classes + 1)
    last_cut = np.zeros(n_classes + 1, dtype=int)
    for end in range(1, n_classes + 1):
        start = position[:end]
        together = (end - 1) * (above[end] - above[start]) - (moment[end] - moment[start])
        total = best[start] + cut_cost[start] + together
        last_cut[end] = int(np.argmin(total))
        best[end] = total[last_cut[end]]
    levels = np.zeros(n_classes)
    end, level = n_classes, 0
    while end > 0:
        levels[order[last_cut[end] : end]] = level
        end, level = last_cut[end], level + 1
    return levels
