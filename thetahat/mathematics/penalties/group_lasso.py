"""The group lasso, which sets whole groups of coefficients to zero together.

Groups may have different sizes. The norms of all groups of one size are computed together, as one
gather and one row-wise norm in any array namespace, so the total cost is O(d).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.parts import number
from thetahat.mathematics.penalties.base import Proximable


@dataclass(frozen=True)
class GroupLasso(Proximable):
    """The group lasso R(θ) = alpha·Σ_g √p_g·‖θ_g‖₂, with p_g the number of entries of group g.

    The coefficients of a group are either all zero or, in general, all non-zero. The prox shrinks
    the norm of each group, θ_g·[1 − step·alpha·√p_g/‖θ_g‖]₊. Cost: O(d).

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty. Larger values set more groups to zero; 0 removes the penalty.
        Must be non-negative.
    groups : sequence of int, optional
        The group number of each coefficient (of each row of θ, if θ has one column per output).
        By default every row of θ is its own group, so that a column of X is used by all outputs
        or by none.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> penalty = th.penalties.GroupLasso(alpha=1.0, groups=[0, 0, 0, 0, 1])
    >>> penalty.prox(np.array([2.0, 2.0, 2.0, 2.0, 0.5]), step=1.0)
    array([1., 1., 1., 1., 0.])
    """

    alpha: float = number(1.0, at_least=0)
    groups: Sequence[int] | None = None

    name = "group_lasso"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.groups is None:
            return
        labels = tuple(self.groups)
        if not labels or not all(isinstance(label, Integral) for label in labels):
            raise ParameterError(
                f"GroupLasso(groups={self.groups!r}): groups must contain one whole number for "
                f"each coefficient, the number of its group."
            )
        # A tuple can be compared and hashed.
        object.__setattr__(self, "groups", tuple(int(label) for label in labels))

    def value(self, theta: Array) -> float:
        return self.alpha * sum(
            float(root * array_namespace(norm).sum(norm)) for _, root, norm in self._norms(theta)
        )

    def prox(self, theta: Array, step: float) -> Array:
        xp = array_namespace(theta)
        shrunk, places = [], []
        for members, root, norm in self._norms(theta):
            threshold = float(step) * self.alpha * root
            kept = norm > threshold
            factor = 1 - threshold / xp.where(kept, norm, xp.ones_like(norm))
            factor = xp.where(kept, factor, xp.zeros_like(norm))
            shrunk.append(_rows(theta, members) * factor[:, None, None])
            places.append(members.reshape(-1))
        columns = (-1, *theta.shape[1:])
        by_size = xp.concat([xp.reshape(block, columns) for block in shrunk])
        back = np.argsort(np.concatenate(places))
        return xp.take(by_size, xp.asarray(back, device=device(theta)), axis=0)

    def optimality_gap(self, theta: Array, gradient: Array) -> float:
        """Largest distance, over groups, of −gradient to ∂R: a ball at zero, else one point."""
        xp = array_namespace(theta)
        worst = 0.0
        for members, root, norm in self._norms(theta):
            strength = self.alpha * root
            slope = _rows(gradient, members)
            inside = norm > 0
            unit = _rows(theta, members) / xp.where(inside, norm, xp.ones_like(norm))[:, None, None]
            at_zero = xp.clip(_norm(slope) - strength, 0, None)
            distance = xp.where(inside, _norm(slope + strength * unit), at_zero)
            worst = max(worst, float(xp.max(distance)))
        return worst

    def _norms(self, theta: Array) -> Iterator[tuple[np.ndarray[Any, Any], float, Array]]:
        """For each group size: member rows (groups, size), √(entries of a group), group norms."""
        n_rows = theta.shape[0]
        labels = np.arange(n_rows) if self.groups is None else np.asarray(self.groups)
        if len(labels) != n_rows:
            raise ParameterError(
                f"GroupLasso has {len(labels)} group labels for {n_rows} coefficients. Pass one "
                f"label for each coefficient."
            )
        _, group, count = np.unique(labels, return_inverse=True, return_counts=True)
        order = np.argsort(group, kind="stable")
        size_of_row = count[group][order]
        n_columns = int(np.prod(theta.shape[1:]))
        for size in np.unique(count):
            members = order[size_of_row == size].reshape(-1, int(size))
            yield members, float(np.sqrt(size * n_columns)), _norm(_rows(theta, members))


def _rows(theta: Array, members: np.ndarray[Any, Any]) -> Array:
    """The rows of θ arranged by group, with shape (groups, size, columns)."""
    xp = array_namespace(theta)
    index = xp.asarray(members.reshape(-1), device=device(theta))
    return xp.reshape(xp.take(theta, index, axis=0), (*members.shape, -1))


def _norm(blocks: Array) -> Array:
    xp = array_namespace(blocks)
    return xp.sqrt(xp.sum(blocks * blocks, axis=(1, 2)))
