"""Cholesky factors of large matrices, computed in place and tile by tile on all threads.

For each panel of columns: factor its diagonal tile, solve for the tiles below it, and subtract
their products from the tiles to the right. The tiles of one step are independent and each is
computed by one thread, so the factor is the same bit for bit for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import one_blas_thread, parallel_for, scipy_linalg
from thetahat.foundation.types import Array

TILE = 256
"""Rows and columns of a tile: large enough for BLAS, small enough for several threads."""
ONE_TILE = 768
"""So few rows are one tile: LAPACK is faster than several threads with tiles."""
MANY_ROWS = 1500
"""From so many rows on, tiles have twice as many: BLAS is faster, and threads have enough to do."""
MANY_COLUMNS = 2048
"""From so many columns on, tiles are faster than LAPACK on one thread for a factor of its own."""
DIAGONAL = 128
"""Columns of a factor whose block on the diagonal is inverted, so that solving is a product."""
LEAST_REFINED = 1000
"""Rows from which a factor in single precision and its refinement are faster than one in double."""
MOST_REFINEMENTS = 10

Tile: TypeAlias = Callable[[slice, slice], Array]
"""Where the tile of some rows and columns is stored, on and below the diagonal."""


def cholesky_in_place(A: Array) -> bool:
    """Overwrite the lower triangle of A by L with LLᵀ = A; False if A is not positive definite.

    The entries above the diagonal are not read and keep their values, except within the tiles on
    the diagonal, where they become 0. Cost: O(n³/3) time, no further matrix.
    """
    n = len(A)
    size = ONE_TILE if n <= ONE_TILE else TILE if n < MANY_ROWS else 2 * TILE
    return _factor(_tiles(n, size), lambda rows, columns: A[rows, columns])


def _factor(tiles: list[slice], at: Tile) -> bool:
    """Overwrite the tiles by those of the factor; False if there is none."""
    linalg, n = scipy_linalg(), tiles[-1].stop if tiles else 0
    for place, panel in enumerate(tiles):
        corner = at(panel, panel)
        with one_blas_thread():
            factor, info = linalg.lapack.get_lapack_funcs("potrf", (corner,))(
                corner, lower=True, clean=True
            )
        if info:
            return False
        corner[...] = factor
        below = tiles[place + 1 :]
        if not below:
            break
        inverses = _diagonal_inverses(factor)
        # Tiles whose rows lie together: their products are a third faster than those of A.
        solved: dict[int, Array] = {}

        def solve(
            rows: slice,
            panel: slice = panel,
            factor: Array = factor,
            inverses: list[Array] = inverses,
            solved: dict[int, Array] = solved,
        ) -> None:
            tile = at(rows, panel)
            tile[...] = solved[rows.start] = _solved_rows(factor, inverses, tile)

        def subtract(pair: tuple[slice, slice], solved: dict[int, Array] = solved) -> None:
            rows, columns = pair
            tile = at(rows, columns)
            tile -= np.dot(solved[rows.start], solved[columns.start].T)

        rest, width = float(n - panel.start), panel.stop - panel.start
        parallel_for(solve, below, products=rest * width * width)
        pairs = [(below[i], below[j]) for i in range(len(below)) for j in range(i + 1)]
        parallel_for(subtract, pairs, products=rest * rest * width)
    return True


def upper_factor(A: Array) -> Array | None:
    """R with RᵀR = A in the memory order of LAPACK; None if A is not positive definite.

    A, which is symmetric, is not changed. Cost: O(n³/3) time and memory for R.
    """
    if len(A) < MANY_COLUMNS:
        with one_blas_thread():
            # The transpose has the memory order of LAPACK.
            R, failed = scipy_linalg().lapack.dpotrf(A.T, lower=0, clean=1)
        return None if failed else R
    L = A.copy()
    if not cholesky_in_place(L):
        return None
    for rows in _tiles(len(L), TILE):  # the tiles on the diagonal are clean
        L[rows, rows.stop :] = 0.0
    return L.T


def _diagonal_inverses(factor: Array) -> list[Array]:
    """The inverses of the blocks on the diagonal of a lower triangular factor."""
    invert = scipy_linalg().lapack.get_lapack_funcs("trtri", (factor,))
    with one_blas_thread():
        blocks = [slice(first, first + DIAGONAL) for first in range(0, len(factor), DIAGONAL)]
        return [np.tril(invert(factor[here, here], lower=True)[0]) for here in blocks]


def _solved_rows(factor: Array, inverses: list[Array], B: Array) -> Array:
    """BL⁻ᵀ by blocks of columns of L, in products, which run on several threads at once."""
    found = np.array(B)
    for place, inverse in enumerate(inverses):
        first = place * DIAGONAL
        here = slice(first, first + DIAGONAL)
        if first:
            found[:, here] -= np.dot(found[:, :first], factor[here, :first].T)
        found[:, here] = np.dot(found[:, here], inverse.T)
    return found


def memory_of_factors(n: int) -> int:
    """Bytes that factors, inverses and solutions of n rows take beside their matrix.

    These are a copy of a matrix of few rows, or one panel and the tiles that threads work on.
    """
    return 8 * n * n if n <= ONE_TILE else 8 * n * 2 * TILE + (16 << 20)


def _tiles(n: int, size: int) -> list[slice]:
    """The ranges of at most `size` rows into which n rows are divided."""
    return [slice(start, min(n, start + size)) for start in range(0, n, size)]


def cholesky_solve(L: Array, B: Array) -> Array:
    """A⁻¹B for A = LLᵀ, of which only the lower triangle of L is read. Cost: O(n² k)."""
    linalg = scipy_linalg()
    with one_blas_thread():
        if len(L) <= ONE_TILE and L.flags.c_contiguous:
            # The transpose has the memory order of LAPACK.
            return linalg.lapack.get_lapack_funcs("potrs", (L, B))(L.T, B, lower=False)[0]
        half = linalg.solve_triangular(L, B, lower=True, check_finite=False)
        return linalg.solve_triangular(L, half, lower=True, trans="T", check_finite=False)


def refined_solve(A: Array, B: Array, least: float) -> Array | None:
    """A⁻¹B by a Cholesky factor in single precision, refined until it has double precision.

    X ← X + (LLᵀ)⁻¹(B − AX) with LLᵀ ≈ A in float32 and the residual in float64. The error falls by
    a factor of about 10⁻⁷·κ(A) with each step. The steps end when ‖B − AX‖ ≤ ε·‖A‖·‖X‖ in every
    column, and after one more step, as small as rounding allows. Returns None where a factor in
    float64 is faster or needed: for few rows, many columns of B, or a matrix that is close to
    singular.

    `least` is a lower bound of the eigenvalues of A, which is symmetric. The factor is stored above
    its diagonal, so that no further matrix is needed; A is as before if None is returned.
    Cost: O(n³/3) time in float32, and O(n² k) for each step.
    """
    n, k = B.shape
    size = float(np.einsum("ii->i", A).max(initial=0.0))
    rounding = 5 * n * float(np.finfo(np.float32).eps) * size
    if n < LEAST_REFINED or 64 * k > n or not 1e-30 < size < 1e30:
        return None
    if not least > 2 * rounding or not A.flags.c_contiguous:
        return None
    # Sums without BLAS, which would add them in an order that depends on the threads.
    step = EPSILON * float(np.sqrt(np.einsum("ij,ij->", A, A)))
    count = -(-n // (TILE if n < MANY_ROWS else 2 * TILE))
    rows, larger = divmod(n, count)  # the first tiles have one more
    ends = [place * rows + min(place, larger) for place in range(count + 1)]
    tiles = [slice(*pair) for pair in pairwise(ends)]
    at = _above_the_diagonal(A, tiles)
    found = None
    if _factor(tiles, at):
        least_pivot = min(float(np.einsum("ii->i", at(each, each)).min()) for each in tiles)
        if least_pivot**2 > rounding:
            found = _refined(A, B, tiles, at, step)
    if found is None:
        for place, columns in enumerate(tiles):
            for rows in tiles[place + 1 :]:
                A[columns, rows] = A[rows, columns].T
    return found


def _above_the_diagonal(A: Array, tiles: list[slice]) -> Tile:
    """A copy of the tiles of A in float32, which replaces those above the diagonal.

    A number of float64 has the memory of two of float32, so that a tile fills half of the one on
    the other side of the diagonal, as none has more rows than those before it, and the first less
    than twice those of the last. Tiles on the diagonal are copied.
    """
    halves = A.view(np.float32)
    corners = {each.start: A[each, each].astype(np.float32) for each in tiles}

    def at(rows: slice, columns: slice) -> Array:
        if rows == columns:
            return corners[rows.start]
        right, down = 2 * rows.start, columns.start
        height, width = rows.stop - rows.start, columns.stop - columns.start
        return halves[down : down + height, right : right + width]

    def fill(place: int) -> None:
        for rows in tiles[place + 1 :]:
            at(rows, tiles[place])[...] = A[rows, tiles[place]]

    parallel_for(fill, range(len(tiles)), products=float(len(A)) ** 2)
    return at


def _refined(A: Array, B: Array, tiles: list[slice], at: Tile, step: float) -> Array | None:
    """The solution from a factor of less precision; None if the steps do not converge."""
    X, residual = np.zeros(B.shape), B
    for _ in range(MOST_REFINEMENTS):
        # Single precision has a smaller range, so that each column is scaled to the length 1.
        length = np.linalg.norm(residual, axis=0)
        scale = np.where(length > 0.0, length, 1.0)
        X += _solved(tiles, at, (residual / scale).astype(np.float32)) * scale
        if (length <= step * np.linalg.norm(X, axis=0)).all():
            return X
        residual = B - _product(A, tiles, X)
    return None


def _solved(tiles: list[slice], at: Tile, B: Array) -> Array:
    """(LLᵀ)⁻¹B by the tiles of L; B is overwritten."""
    solve = scipy_linalg().solve_triangular
    with one_blas_thread():
        for place, here in enumerate(tiles):
            B[here] = solve(at(here, here), B[here], lower=True, check_finite=False)
            for rows in tiles[place + 1 :]:
                B[rows] -= at(rows, here) @ B[here]
        for place in reversed(range(len(tiles))):
            here = tiles[place]
            for rows in tiles[place + 1 :]:
                B[here] -= (B[rows].T @ at(rows, here)).T
            B[here] = solve(at(here, here), B[here], lower=True, trans="T", check_finite=False)
    return B


def _product(A: Array, tiles: list[slice], X: Array) -> Array:
    """AX from the tiles on and below the diagonal of A, a tile of rows by one thread.

    The operator @ reads parts of A where they are; ``np.dot`` would copy them.
    """
    found = np.empty((len(A), X.shape[1]))

    def fill(here: slice) -> None:
        found[here] = A[here, : here.stop] @ X[: here.stop]
        found[here] += (X[here.stop :].T @ A[here.stop :, here]).T

    parallel_for(fill, tiles, products=float(len(A)) * A.shape[1] * X.shape[1])
    return found


def inverse_in_place(L: Array) -> None:
    """Overwrite the lower triangle of L by that of A⁻¹ for A = LLᵀ.

    First the triangle itself is inverted, panel by panel from the right: below the diagonal,
    (L⁻¹)₂₁ = −(L⁻¹)₂₂L₂₁(L⁻¹)₁₁. Then A⁻¹ = L⁻ᵀL⁻¹ is computed from the top, where row i needs the
    rows from i on only. The entries above the diagonal tiles are not read. Cost: O(2n³/3) time and
    memory for one panel.
    """
    linalg = scipy_linalg()
    n = len(L)
    if n <= ONE_TILE:
        with one_blas_thread():
            L[:] = linalg.lapack.get_lapack_funcs("potri", (L,))(L, lower=True)[0]
        return
    tiles, strip = _tiles(n, TILE), np.empty((n, TILE))
    for place in reversed(range(len(tiles))):
        panel = tiles[place]
        with one_blas_thread():
            corner = linalg.lapack.get_lapack_funcs("trtri", (L,))(L[panel, panel], lower=True)[0]
        corner = np.tril(corner)
        below = strip[panel.stop :, : panel.stop - panel.start]
        below[...] = L[panel.stop :, panel]

        def invert(
            rows: slice, panel: slice = panel, below: Array = below, corner: Array = corner
        ) -> None:
            inner = np.dot(L[rows, panel.stop : rows.stop], below[: rows.stop - panel.stop])
            L[rows, panel] = -np.dot(inner, corner)

        rest = float(n - panel.stop)
        parallel_for(invert, tiles[place + 1 :][::-1], products=rest * rest * TILE)
        L[panel, panel] = corner
    for place, rows in enumerate(tiles):
        left = strip[rows.start :, : rows.stop - rows.start]
        left[...] = L[rows.start :, rows]

        def multiply(columns: slice, rows: slice = rows, left: Array = left) -> None:
            L[rows, columns] = np.dot(left.T, L[rows.start :, columns])

        work = float(n - rows.start) * TILE * rows.stop
        parallel_for(multiply, tiles[: place + 1], products=work)


def pivoted_cholesky(A: Array, tolerance: float) -> tuple[Array, Array, float]:
    """L and rows with A[rows][:, rows] ≈ LLᵀ for the independent rows, and the smallest pivot.

    Rows are taken in the order of their remaining diagonal, until none exceeds `tolerance`; the
    entries that remain are then at most as large. Returns L, lower triangular of shape (r, r), the
    r rows, and the smallest remaining diagonal entry, which is negative beyond rounding if A is not
    positive semi-definite. Cost: O(n r²).
    """
    linalg = scipy_linalg()
    with one_blas_thread():
        factor, pivots, rank, _ = linalg.lapack.get_lapack_funcs("pstrf", (A,))(
            np.asfortranarray(A), tol=tolerance, lower=True, overwrite_a=A.flags.c_contiguous
        )
    order = pivots - 1
    L = np.tril(factor[:, :rank])
    left = np.einsum("ii->i", A)[order[rank:]] - (L[rank:] ** 2).sum(axis=1)
    return L[:rank], order[:rank], float(left.min(initial=0.0))
