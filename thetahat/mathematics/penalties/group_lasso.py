"""The group lasso: whole groups of coefficients are zero together.

Group norms are sums over groups of unequal size. They are taken group size by group size, so that
each is one gather and one row-wise norm in any array namespace, O(d) altogether.
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
from thetahat.mathematics.parts import require_number
from thetahat.mathematics.penalties.base import Proximable


@dataclass(frozen=True)
class GroupLasso(Proximable):
    """The group lasso R(θ) = alpha·Σ_g √p_g·‖θ_g‖₂, p_g the number of entries of group g.

    A group is zero as a whole or not at all. Its prox shrinks each group's norm,
    θ_g·[1 − step·alpha·√p_g/‖θ_g‖]₊. Cost: O(d).

    Parameters
    ----------
    alpha : float, default=1.0
        Strength; ≥ 0.
    groups : sequence of int, optional
        The group of each coefficient (each row of θ, when θ has a column for each output). None:
        every row is its own group, so a feature is used by all outputs or by none.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> penalty = th.penalties.GroupLasso(alpha=1.0, groups=[0, 0, 0, 0, 1])
    >>> penalty.prox(np.array([2.0, 2.0, 2.0, 2.0, 0.5]), step=1.0)
    array([1., 1., 1., 1., 0.])
    """

    alpha: float = 1.0
    groups: Sequence[int] | None = None

    name = "group_lasso"

    def __post_init__(self) -> None:
        require_number(self, "alpha", at_least=0)
        if self.groups is None:
            return
        labels = tuple(self.groups)
        if not labels or not all(isinstance(label, Integral) for label in labels):
            raise ParameterError(
                f"GroupLasso(groups={self.groups!r}): groups must hold one whole number, the "
                f"number of its group, for each coefficient."
            )
        # As a tuple the penalty compares and hashes.
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
        """Largest distance, over groups, of −gradient to the ball or the point that is ∂R."""
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
                f"GroupLasso has {len(labels)} group labels for {n_rows} coefficients: give one "
                f"for each."
            )
        _, group, count = np.unique(labels, return_inverse=True, return_counts=True)
        order = np.argsort(group, kind="stable")
        size_of_row = count[group][order]
        n_columns = int(np.prod(theta.shape[1:]))
        for size in np.unique(count):
            members = order[size_of_row == size].reshape(-1, int(size))
            yield members, float(np.sqrt(size * n_columns)), _norm(_rows(theta, members))


def _rows(theta: Array, members: np.ndarray[Any, Any]) -> Array:
    """The rows of θ group by group, as (groups, size, columns)."""
    xp = array_namespace(theta)
    index = xp.asarray(members.reshape(-1), device=device(theta))
    return xp.reshape(xp.take(theta, index, axis=0), (*members.shape, -1))


def _norm(blocks: Array) -> Array:
    xp = array_namespace(blocks)
    return xp.sqrt(xp.sum(blocks * blocks, axis=(1, 2)))
