"""Systems of the Gram matrix of the columns in use, solved while columns come and go.

H = (G_SS + diag(l2_S))⁻¹ is kept for a base S. Where D of them have left and N have joined, with
Z = H G_SN and K = G_NN + diag(l2_N) − G_NS Z, the solution for the aim a is

    [K, −Z_Dᵀ; −Z_D, −H_DD] [x_N; μ] = [a_N − G_NS h; −h_D],    h = H a_S,    a_D = 0,
    x_S = h − Z x_N − H_:D μ,

which costs O(|S|²), and no more than O(|S|²) once for each column that joins. When many have come
and gone the base moves there: with H = [A, B; Bᵀ, E], D written last, and Z ← Z_S − B E⁻¹ Z_D,

    H ← [A − B E⁻¹ Bᵀ + Z K⁻¹ Zᵀ, −Z K⁻¹; −K⁻¹ Zᵀ, K⁻¹].

All of it is matrix products, where a factor made anew costs O(|S|³) each time (few members get one
all the same). Products are cut into blocks of rows, so that threads may share them and the bits
stay the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.foundation.threads import ordered_map

Array = Any

LEAST_NEW = 1e-9
"""The least share of a column's square that the others must leave unexplained when it joins."""
SMALL = 100
"""Members up to which a factor made anew costs less than to keep an inverse."""
JOIN_AT_ONCE, ROWS_PER_BLOCK = 192, 512
"""Columns that join the base in one product, and rows per block of it."""
ROOM, ROWS_HELD = 1024, 256
"""Columns that there is room for at once, and rows of so many; memory that is not used yet costs
nothing, and memory that is used again is not asked for again."""
FEWEST_CHANGES, CHANGES, ANEW = 24, 0.25, 0.6
"""How many may have come and gone before the base moves, at least and as a share of it; and the
share beyond which it is made anew."""


class Face:
    """Members, and the inverse of a base near them; columns are numbered as in the Gram matrix.

    Parameters
    ----------
    side_by_side : bool
        Whether threads may share a product; not inside work that is itself shared.
    rank : float
        The most columns that can be independent.
    """

    def __init__(self, side_by_side: bool = False, rank: float = np.inf) -> None:
        self.side_by_side, self.rank = side_by_side, rank
        self._inverse: Array = np.empty((0, 0))
        self._held: Array = np.empty((2, 2, 0))
        self.forget()

    def forget(self) -> None:
        """No members."""
        self._base = self.members = np.empty(0, dtype=np.intp)
        self._l2: Array = np.empty(0)
        self._factor: Array | None = None
        self._clear()

    def move_to(self, gram: Array, l2: Array, wanted: Array) -> bool:
        """Make those of a mask the members; False, and no members, if they are dependent."""
        if np.count_nonzero(wanted) <= SMALL:
            return self._factor_anew(gram, l2, np.flatnonzero(wanted))
        self._factor = None
        if not np.array_equal(self._l2, l2[self._base]):
            self.forget()
        base = self._base
        left = np.flatnonzero(~wanted[base])
        comes = wanted.copy()
        comes[base] = False
        joins = np.flatnonzero(comes)
        changes = len(left) + len(joins)
        if changes <= ANEW * len(base) and self._stand_aside(gram, l2, left, joins):
            if changes > max(FEWEST_CHANGES, CHANGES * len(base)):
                self._move_base()
            return True
        self.forget()
        for some in _pieces(np.flatnonzero(wanted), JOIN_AT_ONCE):
            if not self._stand_aside(gram, l2, self._left, some):
                self.forget()
                return False
            self._move_base()
        return True

    def solve(self, aim: Array) -> Array:
        """(G + diag(l2))⁻¹ aim over the members, in their order."""
        if self._factor is not None:
            found = aim.copy()
            _native.solve_cholesky(self._factor, found)
            return found
        stays, left, took = self._stays, self._left, self._took
        count, joined = len(self._base), len(self._took)
        H, Z = self._inverse[:count, :count], self._Z
        whole = np.zeros(count)
        whole[stays] = aim[: len(stays)]
        h = H @ whole
        if not len(left) and not joined:
            return h
        across = Z[took[:, None], left]
        system = np.empty((joined + len(left), joined + len(left)))
        system[:joined, :joined] = self._K[took[:, None], took]
        system[:joined, joined:], system[joined:, :joined] = -across, -across.T
        system[joined:, joined:] = -H[left[:, None], left]
        unmet = aim[len(stays) :] - (self._shared @ h)[took]
        found = np.linalg.solve(system, np.concatenate([unmet, -h[left]]))
        for rows, which, share in ((Z, took, found[:joined]), (H, left, found[joined:])):
            _native.combine_rows(rows, which, share, whole)
            h -= whole
        return np.concatenate([h[stays], found[:joined]])

    def _factor_anew(self, gram: Array, l2: Array, members: Array) -> bool:
        self.forget()
        within = gram[members[:, None], members]
        within.reshape(-1)[:: len(members) + 1] += l2[members]
        self._factor = _factor(within, np.diagonal(within))
        self.members = members if self._factor is not None else members[:0]
        return self._factor is not None

    def _clear(self) -> None:
        count, none = len(self._base), np.empty(0, dtype=np.intp)
        self._stays, self._left, self._took, self._fresh = np.arange(count), none, none, none
        self._shared, self._Z = self._pair(0, 0, count)
        self._K, self._sizes = np.empty((0, 0)), np.empty(0)
        self._sound = np.empty(0, dtype=bool)

    def _stand_aside(self, gram: Array, l2: Array, left: Array, joins: Array) -> bool:
        """Note who has left the base, by place, and who has joined; False if they are dependent."""
        place = np.full(len(gram), -1)
        place[self._fresh] = np.arange(len(self._fresh))
        unknown = joins[place[joins] < 0]
        if len(unknown):
            place[unknown] = len(self._fresh) + np.arange(len(unknown))
            self._learn(gram, l2, unknown)
        stays = np.ones(len(self._base), dtype=bool)
        stays[left] = False
        self._stays, self._left, self._took = np.flatnonzero(stays), left, place[joins]
        self.members = np.concatenate([self._base[self._stays], joins])
        self._all_l2 = l2
        took = self._took
        if not self._sound[took].all():  # some of those that are independent are so too
            if _factor(self._K[took[:, None], took], self._sizes[took]) is None:
                return False
            self._sound[:] = False
            self._sound[took] = True
        return True

    def _learn(self, gram: Array, l2: Array, joins: Array) -> None:
        """Zᵀ and K for columns that the base has not met; H is symmetric."""
        rows = gram[joins]  # whole rows first: they are contiguous
        H, count, old, new = self._inverse, len(self._base), len(self._K), len(self._K) + len(joins)
        self._shared, self._Z = self._pair(0, new, count)
        shared, Z = self._shared[old:], self._Z[old:]
        rows.take(self._base, axis=1, out=shared, mode="clip")
        corner = rows.take(joins, axis=1)

        def explain(at: slice) -> None:
            np.matmul(shared, H[:count, at], out=Z[:, at])

        self._each_block(count, explain)
        corner.reshape(-1)[:: len(joins) + 1] += l2[joins]
        self._sizes = np.concatenate([self._sizes, np.diagonal(corner)])
        K = np.empty((new, new))
        K[:old, :old], K[old:, old:] = self._K, corner - shared @ Z.T
        K[old:, :old] = rows.take(self._fresh, axis=1) - Z @ self._shared[:old].T
        K[:old, old:] = K[old:, :old].T
        self._K, self._fresh = K, np.concatenate([self._fresh, joins])
        self._sound = np.concatenate([self._sound, np.zeros(len(joins), dtype=bool)])

    def _move_base(self) -> None:
        """The members become the base."""
        count, stay, new = len(self._base), len(self._stays), len(self.members)
        Z = self._Z[self._took]
        self._put_last(Z)
        self._make_room(new)
        H, gone = self._inverse, count - stay
        # H gains factorsᵀ @ shares, of which those who left are the first rows.
        factors, shares = self._pair(1, gone + len(Z), stay)
        factors[:gone], factors[gone:] = H[stay:count, :stay], Z[:, :stay]
        corner = self._K[self._took[:, None], self._took]
        if gone:
            aims = np.concatenate([factors[:gone], Z[:, stay:].T], axis=1)
            U = np.linalg.solve(H[stay:count, stay:count], aims)
            shares[:gone] = -U[:, :stay]
            factors[gone:] -= U[:, stay:].T @ factors[:gone]
            corner += Z[:, stay:] @ U[:, stay:]
        inverse = np.linalg.inv(corner)
        np.matmul(inverse, factors[gone:], out=shares[gone:])

        def update(at: slice) -> None:  # one half, and the other like it
            H[at, : at.stop] += factors[:, at].T @ shares[:, : at.stop]
            H[: at.start, at] = H[at, : at.start].T

        self._each_block(stay, update)
        H[stay:new, :stay] = -shares[gone:]
        H[:stay, stay:new] = H[stay:new, :stay].T
        H[stay:new, stay:new] = inverse
        self._base, self._l2 = self.members, self._all_l2[self.members]
        self._clear()

    def _put_last(self, Z: Array) -> None:
        """Those who left the base change places with the last who stay."""
        H, base, stay = self._inverse[: len(self._base)], self._base.copy(), len(self._stays)
        holes, movers = self._left[self._left < stay], self._stays[self._stays >= stay]
        to, source = np.concatenate([holes, movers]), np.concatenate([movers, holes])
        H[to], base[to], Z[:, to] = H[source], base[source], Z[:, source]
        H[:, to] = H[:, source]
        self.members = np.concatenate([base[:stay], self.members[stay:]])

    def _each_block(self, rows: int, work: Callable[[slice], None]) -> None:
        blocks = [
            slice(at, min(rows, at + ROWS_PER_BLOCK)) for at in range(0, rows, ROWS_PER_BLOCK)
        ]
        for _ in ordered_map(work, blocks) if self.side_by_side else map(work, blocks):
            pass

    def _pair(self, which: int, rows: int, columns: int) -> Array:
        """Memory for one of two pairs of matrices; what their first rows held, they hold."""
        size, held = rows * columns, self._held.shape[2]
        if size > held:
            least = ROWS_HELD * ROOM if self.side_by_side else 0
            larger = np.empty((2, 2, max(2 * size, least)))
            larger[:, :, :held] = self._held
            self._held = larger
        return self._held[which, :, :size].reshape(2, rows, columns)

    def _make_room(self, count: int) -> None:
        if count > len(self._inverse):
            room, old = max(count + count // 2, ROOM), len(self._base)
            larger = np.empty((room, room))
            larger[:old, :old] = self._inverse[:old, :old]
            self._inverse = larger


def _pieces(items: Array, size: int) -> list[Array]:
    return [items[at : at + size] for at in range(0, len(items), size)]


def _factor(K: Array, sizes: Array) -> Array | None:
    """Of K, where each of its columns has something of its own."""
    try:
        factor: Array = np.linalg.cholesky(K)
    except np.linalg.LinAlgError:
        return None
    return factor if (np.diagonal(factor) ** 2 > LEAST_NEW * sizes).all() else None
