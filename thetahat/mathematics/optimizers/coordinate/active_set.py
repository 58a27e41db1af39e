"""Systems of the Gram matrix of the columns in use, solved while columns come and go.

A factor LLᵀ = G_SS + diag(l2_S) is kept for a base S. Columns that join are new rows below it:

    L ← [L, 0; V, C],    V = G_NS L⁻ᵀ,    CCᵀ = G_NN + diag(l2_N) − VVᵀ,

O(|S|²) for each. Columns D that leave stay in the base, and are held at zero: with W = L⁻¹E_D, E_D
being their columns of the unit matrix, the solution for the aim a is

    x = L⁻ᵀ(u − W(WᵀW)⁻¹Wᵀu),    u = L⁻¹a,    a_D = 0.

So each solution costs O(|S|²), each that leaves as much, and those who come back nothing. When many
have left, or one who joins depends on one who left, the base is made anew: all join an empty one.
Columns that depend on members are told apart, and how they depend on them.
"""

from __future__ import annotations

import numpy as np

from thetahat import _native
from thetahat.foundation.threads import parallel_for
from thetahat.foundation.types import Array

LEAST_NEW, LEAST_WITH_L2 = 1e-9, 1e-13
"""The least share of a column's square that the others must leave unexplained when it joins; where
there is an l2, its solution is defined by that."""
JOIN_AT_ONCE = 128
"""Columns that join in one product."""
FEWEST_IDLE, IDLE = 24, 0.1
"""How many of the base may have left before it is made anew, at least and as a share of it."""
ROWS_PER_SHARE = 8
"""Rows of a substitution that a thread takes at a time."""
APART = 8
"""Entries between the rows of a factor: rows a power of two apart share few places of a cache."""


class ActiveSet:
    """Members, and the factor of a base that holds them; columns are those of the Gram matrix.

    Parameters
    ----------
    rank : float
        The most columns that can be independent without an l2.
    room : int
        Columns that there is room for from the start; memory that is not used yet costs nothing.
    shared : bool
        Whether threads may share a substitution; not inside work that is itself shared.
    """

    def __init__(self, rank: float = np.inf, room: int = 0, shared: bool = False) -> None:
        self.rank, self.shared = rank, shared
        self._factor: Array = np.empty((room, room + APART))
        self.forget()

    def forget(self) -> None:
        """No members."""
        self._base = self.members = np.empty(0, dtype=np.intp)
        self._l2: Array = np.empty(0)
        self._stays: Array = np.empty(0, dtype=bool)
        self._left: Array = np.empty(0, dtype=np.intp)
        self._held: Array = np.empty((0, 0))
        """Wᵀ: a row for each that has left."""
        self._products: Array = np.empty((0, 0))
        self._corner: Array = self._products
        """WᵀW and its factor."""

    def most(self, l2: Array) -> float:
        """The most members that there can be."""
        return np.inf if l2.any() else self.rank

    def move_to(self, gram: Array, l2: Array, wanted: Array) -> Array:
        """Make those of a mask the members, but for some that depend on the others: which."""
        if not np.array_equal(self._l2, l2[self._base]):
            self.forget()
        refused = self._follow(gram, l2, wanted)
        if refused is None or (len(refused) and len(self._left)):
            self.forget()
            refused = self._follow(gram, l2, wanted)
        return refused

    def explain(self, gram: Array, columns: Array) -> Array:
        """Some columns by the members: a row of coefficients for each."""
        rows = np.zeros((len(columns), len(self._base)))
        rows[:, self._stays] = gram[columns].take(self.members, axis=1)
        return np.stack([self._solved(row[None]) for row in rows])

    def solve(self, aim: Array) -> Array:
        """(G + diag(l2))⁻¹ aim over the members, in their order."""
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
        """Let columns join and leave: who depends on others; None if too many are idle."""
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
        """Let all join, if none depends on others; else those who do, by their places, and none."""
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
            return order[min(rank, len(joins) - 1) :]  # whatever rounding says: there is one
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
        """W and WᵀW for those who have left, by their places in the base."""
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
        """rows L⁻ᵀ in place, from a column on; those before it are done."""
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
    """Of K, where each of its columns has something of its own."""
    try:
        factor: Array = np.linalg.cholesky(K)
    except np.linalg.LinAlgError:
        return None
    return factor if (np.diagonal(factor) ** 2 > least).all() else None
