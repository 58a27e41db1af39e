"""Linear systems with the Gram matrix of the active columns, while columns join and leave.

A factor LLᵀ = G_SS + diag(l2_S) is kept for a base set S. Columns that join add rows to it:

    L ← [L, 0; V, C],    V = G_NS L⁻ᵀ,    CCᵀ = G_NN + diag(l2_N) − VVᵀ,

in O(|S|²) for each. Columns D that leave stay in the base and are fixed at zero: with W = L⁻¹E_D,
where E_D are their columns of the unit matrix, the solution for the right-hand side a is

    x = L⁻ᵀ(u − W(WᵀW)⁻¹Wᵀu),    u = L⁻¹a,    a_D = 0.

So each solution costs O(|S|²), and so does each column that leaves; columns that re-enter the
active set cost nothing. When many columns have left, or a joining column depends linearly on one
that left, the base is built again from the active columns. Columns that depend linearly on active
columns are reported, with the coefficients of this dependence.
"""

from __future__ import annotations

import numpy as np

from thetahat import _native
from thetahat.foundation.threads import parallel_for
from thetahat.foundation.types import Array

LEAST_NEW, LEAST_WITH_L2 = 1e-9, 1e-13
"""Smallest share of a column's square that the active columns must leave unexplained when it joins.
With an l2 term this does not apply, because the solution is then defined."""
JOIN_AT_ONCE = 128
"""Number of columns that join in one matrix product."""
FEWEST_IDLE, IDLE = 24, 0.1
"""How many columns of the base may have left before it is rebuilt: a minimum, and a share of it."""
ROWS_PER_SHARE = 8
"""Number of rows of a substitution that a thread processes at a time."""
APART = 8
"""Extra entries between the rows of a factor: rows a power of two apart conflict in the cache."""


class ActiveSet:
    """The active columns, and the factor of a base that contains them.

    Parameters
    ----------
    rank : float
        Largest number of linearly independent columns without an l2 term.
    room : int
        Number of columns for which memory is reserved; unused memory costs nothing.
    shared : bool
        Whether threads may share a substitution. Not allowed inside work that is itself shared.
    """

    def __init__(self, rank: float = np.inf, room: int = 0, shared: bool = False) -> None:
        self.rank, self.shared = rank, shared
        self._factor: Array = np.empty((room, room + APART))
        self.forget()

    def forget(self) -> None:
        """Make the set empty."""
        self._base = self.members = np.empty(0, dtype=np.intp)
        self._l2: Array = np.empty(0)
        self._stays: Array = np.empty(0, dtype=bool)
        self._left: Array = np.empty(0, dtype=np.intp)
        self._held: Array = np.empty((0, 0))
        """Wᵀ: one row for each column that has left."""
        self._products: Array = np.empty((0, 0))
        self._corner: Array = self._products
        """WᵀW and its factor."""

    def most(self, l2: Array) -> float:
        """The largest possible number of active columns."""
        return np.inf if l2.any() else self.rank

    def move_to(self, gram: Array, l2: Array, wanted: Array) -> Array:
        """Activate the columns of a mask; return those that depend linearly on the others."""
        if not np.array_equal(self._l2, l2[self._base]):
            self.forget()
        refused = self._follow(gram, l2, wanted)
        if refused is None or (len(refused) and len(self._left)):
            self.forget()
            refused = self._follow(gram, l2, wanted)
            assert refused is not None
        return refused

    def explain(self, gram: Array, columns: Array) -> Array:
        """Express some columns by the active ones: a row of coefficients for each."""
        rows = np.zeros((len(columns), len(self._base)))
        rows[:, self._stays] = gram[columns].take(self.members, axis=1)
        return np.stack([self._solved(row[None]) for row in rows])

    def solve(self, aim: Array) -> Array:
        """(G + diag(l2))⁻¹ aim over the active columns, in their order."""
        whole = np.zeros((1, len(self._base)))
        whole[0, self._stays] = aim
        return self._solved(whole)

    def _solved(self, aim: Array) -> Array:
        self._substitute(aim)
        found: Array = aim[0]
        if len(self._left):
            share = (self._held @ found)[None]
            _native.substitute_rows(self._corner, share, 0)
            _native.substitute_back(self._corner, share[0])
            found -= share[0] @ self._held
        _native.substitute_back(self._factor, found)
        return found[self._stays]

    def _follow(self, gram: Array, l2: Array, wanted: Array) -> Array | None:
        """Let columns join and leave; return the dependent ones, or None if too many have left."""
        comes = wanted.copy()
        comes[self._base] = False
        joins, stays = np.flatnonzero(comes), wanted[self._base]
        left, size = np.flatnonzero(~stays), len(stays) + len(joins)
        if len(left) and (len(left) > max(FEWEST_IDLE, IDLE * size) or size > self.most(l2)):
            return None
        self._leave(left)
        self._make_room(size)
        refused = joins[:0]
        for at in range(0, len(joins), JOIN_AT_ONCE):
            some = joins[at : at + JOIN_AT_ONCE]
            while len(dependent := self._join(gram, l2, some)):
                refused = np.concatenate([refused, some[dependent]])
                some = np.delete(some, dependent)
        if len(left):
            try:
                self._corner = np.linalg.cholesky(self._products)
            except np.linalg.LinAlgError:
                return None
        self._stays = np.concatenate([stays, np.ones(len(self._base) - len(stays), dtype=bool)])
        self.members = self._base[self._stays]
        return refused

    def _join(self, gram: Array, l2: Array, joins: Array) -> Array:
        """Add all columns if none is dependent; else add none and return the dependent ones."""
        old, new = len(self._base), len(self._base) + len(joins)
        rows = gram[joins]  # whole rows first: they are contiguous
        below = self._factor[old:new, :old]
        below[:] = rows.take(self._base, axis=1)
        self._substitute(below)
        corner = rows.take(joins, axis=1)
        diagonal = corner.reshape(-1)[:: len(joins) + 1]
        diagonal += l2[joins]
        least = np.where(l2[joins] > 0, LEAST_WITH_L2, LEAST_NEW) * diagonal
        corner -= below @ below.T
        factor = _factor(corner, least)
        if factor is None:
            order = np.empty(len(joins), dtype=np.int64)
            rank = _native.independent_columns(corner, least, order)
            return order[min(rank, len(joins) - 1) :]  # at least one is dependent
        self._factor[old:new, old:new] = factor
        self._base = np.concatenate([self._base, joins])
        self._l2 = np.concatenate([self._l2, l2[joins]])
        if len(self._left):  # W has new rows too
            held = np.zeros((len(self._left), new))
            held[:, :old] = self._held
            self._substitute(held, old)
            self._held = held
            self._products = self._products + held[:, old:] @ held[:, old:].T
        return joins[:0]

    def _leave(self, left: Array) -> None:
        """Extend W and WᵀW by the columns that have left, given by their places in the base."""
        away = np.zeros(len(self._base), dtype=bool)
        away[left] = True
        kept = np.flatnonzero(away[self._left])
        known = self._left[kept]
        away[known] = False
        new = np.flatnonzero(away)
        if not len(new) and len(kept) == len(self._left):
            return
        old, fresh = slice(0, len(known)), slice(len(known), len(left))
        held, products = np.zeros((len(left), len(away))), np.empty((len(left), len(left)))
        if len(known):
            held[old], products[old, old] = self._held[kept], self._products[kept[:, None], kept]
        if len(new):
            rows = held[fresh]
            rows[np.arange(len(new)), new] = 1.0
            self._substitute(rows, new[0])
            products[fresh] = rows @ held.T
            products[old, fresh] = products[fresh, old].T
        self._left, self._held, self._products = np.concatenate([known, new]), held, products

    def _substitute(self, rows: Array, first: int = 0) -> None:
        """Compute rows L⁻ᵀ in place from column `first` on; the columns before it are done."""
        count, size = rows.shape

        def work(at: int) -> None:
            _native.substitute_rows(self._factor, rows[at : at + ROWS_PER_SHARE], first)

        if self.shared:
            products = count * (size - first) * size
            parallel_for(work, range(0, count, ROWS_PER_SHARE), products)
        else:
            _native.substitute_rows(self._factor, rows, first)

    def _make_room(self, count: int) -> None:
        if count > len(self._factor):
            room, old = count + count // 2, len(self._base)
            larger = np.empty((room, room + APART))
            larger[:old, :old] = self._factor[:old, :old]
            self._factor = larger


def _factor(K: Array, least: Array) -> Array | None:
    """The factor of K; None if a column of K depends linearly on the others."""
    try:
        factor: Array = np.linalg.cholesky(K)
    except np.linalg.LinAlgError:
        return None
    return factor if (np.diagonal(factor) ** 2 > least).all() else None
