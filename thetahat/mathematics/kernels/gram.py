"""Kernel matrices of many rows, computed tile by tile, with their memory checked first.

Each tile is computed by one thread with one BLAS thread, and the tiles depend on the sizes alone,
so the matrix is the same bit for bit for any number of threads. Of a Gram matrix only the tiles on
and below the diagonal are computed; it is exactly symmetric.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj

from thetahat.data.arrays import is_device_array
from thetahat.data.finite import require_finite_block
from thetahat.data.validation import as_features
from thetahat.foundation.errors import DataError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.threads import parallel_for
from thetahat.foundation.types import Array, Matrix, SparseMatrix

TILE = 256
"""Rows and columns of a tile: its matrix stays in the cache of a core."""
TOO_LARGE = (
    "Use fewer rows, or an approximation from fewer landmarks: n_components=1000 in KernelModel, "
    "or th.Nystroem."
)


class _Pairwise(Protocol):
    def block(self, X: Matrix, Z: Matrix) -> Array: ...

    def diagonal(self, X: Matrix) -> Array: ...

    def paired(self, X: Matrix, Z: Matrix) -> Array: ...


def rows_as_matrix(X: Any, who: str) -> Matrix:
    """X as rows of floating-point numbers; arrays of other libraries stay as they are."""
    if is_device_array(X) or (is_array_api_obj(X) and type(X) is not np.ndarray):
        return X
    rows, schema = as_features(X, who=who)
    require_finite_block(rows, 0, schema, refusal="Kernels do not accept them")
    return rows


def require_kernel_matrix(n: int, m: int, dtype: Any, copies: int = 1, beside: int = 0) -> None:
    """Raise an error if a kernel matrix of n × m entries, and copies of it, would not fit.

    `beside` is the number of bytes that are needed beside them.
    """
    count = "" if copies == 1 else f" and {copies - 1} more of this size"
    require_memory(
        copies * n * m * np.dtype(dtype).itemsize + beside,
        f"A kernel matrix of {n} × {m} entries{count}",
        TOO_LARGE,
    )


def gram_matrix(kernel: _Pairwise, X: Matrix, Z: Matrix | None = None) -> Array:
    """k(xᵢ, zⱼ) for all rows, or for all pairs of rows of X. Cost: O(n m d), memory O(n m)."""
    same, symmetric = Z is None, Z is None or Z is X
    Z = X if Z is None else Z
    if not symmetric and getattr(Z, "ndim", 1) == 2 and X.shape[1] != Z.shape[1]:
        raise DataError(
            f"{kernel!r}: X has {X.shape[1]} columns and Z has {Z.shape[1]}. Both must have the "
            "same columns."
        )
    n, m = X.shape[0], Z.shape[0]
    if is_array_api_obj(X) and type(X) is not np.ndarray:
        found = kernel.block(X, Z)
        return _with_diagonal(found, kernel.diagonal(X)) if same else found
    require_kernel_matrix(n, m, X.dtype)
    if isinstance(X, np.ndarray):  # products of rows in another order are rounded otherwise
        X = np.ascontiguousarray(X)
        Z = X if symmetric else np.ascontiguousarray(Z)
    found = np.empty((n, m), dtype=X.dtype)
    starts = range(0, n, TILE)
    if symmetric:
        corners = [(i, j) for i in starts for j in range(0, i + 1, TILE)]
    else:
        corners = [(i, j) for i in starts for j in range(0, m, TILE)]

    def fill(corner: tuple[int, int]) -> None:
        row, column = (slice(start, start + TILE) for start in corner)
        rows, on_diagonal = X[row], symmetric and corner[0] == corner[1]
        tile = kernel.block(rows, rows if on_diagonal else Z[column])
        if not (np.isfinite(tile.min()) and np.isfinite(tile.max())):
            _require_ordinary(kernel, X[row], Z[column], corner)
        if on_diagonal and not np.array_equal(tile, tile.T):
            _require_symmetric_tile(tile, kernel, corner[0])
            tile = (tile + tile.T) / 2
        found[row, column] = tile
        if on_diagonal:
            own = kernel.diagonal(rows) if same else kernel.paired(rows, rows)
            np.einsum("ii->i", found[row, column])[:] = own
        elif symmetric:
            found[column, row] = tile.T

    with np.errstate(over="ignore", invalid="ignore"):
        parallel_for(fill, corners, products=float(n) * m * X.shape[1])
    return found


def _require_ordinary(kernel: _Pairwise, X: Matrix, Z: Matrix, corner: tuple[int, int]) -> None:
    """Raise an error if values overflow because entries are large; functions may give NaN."""
    for rows, name, first in ((X, "X", corner[0]), (Z, "Z", corner[1])):
        if getattr(rows, "ndim", 1) != 2:
            continue
        sizes = abs(rows)
        i, j = divmod(int(sizes.argmax()), rows.shape[1])
        if sizes[i, j] > np.finfo(rows.dtype).eps ** -0.5:
            raise DataError(
                f"{kernel!r}: values of the kernel overflow, because {name} is {rows[i, j]:g} in "
                f"row {first + i}, column {j}. Rescale the columns, or use a kernel of distances "
                "such as th.kernels.RBF()."
            )


def _require_symmetric_tile(tile: Array, kernel: _Pairwise, first: int) -> None:
    """Raise an error if a function of the user is no kernel, because it is not symmetric."""
    gap = np.abs(tile - tile.T)
    if (gap <= _rounding(tile, float(np.abs(tile).max(initial=0.0)))).all():
        return
    if np.isfinite(tile).all():  # the values are checked by those who use them
        i, j = (int(place) for place in np.unravel_index(int(np.argmax(gap)), gap.shape))
        raise DataError(
            f"{kernel!r}: a kernel must be symmetric, but it is {tile[i, j]:g} for rows "
            f"{first + i} and {first + j}, and {tile[j, i]:g} the other way round. Use "
            "(k(x, z) + k(z, x))/2, or another function."
        )


def _rounding(K: Array, scale: float) -> float:
    """The largest difference of entries that should be equal, where the largest is `scale`."""
    return 1e3 * float(np.finfo(K.dtype).eps) * scale


def _with_diagonal(K: Array, diagonal: Array) -> Array:
    """K with this diagonal, which kernels of noise have only there."""
    xp = array_namespace(K)
    n = K.shape[0]
    places = xp.arange(n, device=device(K))
    return xp.where(places[:, None] == places[None, :], diagonal[:, None], K)


def require_symmetric(K: Array, who: str) -> None:
    """Raise an error unless K is square and symmetric up to rounding."""
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise DataError(
            f"{who}: a precomputed kernel matrix must be square with one row and one column per "
            f"training row, but X has shape {tuple(K.shape)}. Pass kernel(X) of all training rows."
        )
    # Blocks of rows, so that no second matrix is needed.
    scale = max(float(np.abs(K[start : start + TILE]).max()) for start in range(0, len(K), TILE))
    allowed = _rounding(K, scale)
    for start in range(0, len(K), TILE):
        gap = np.abs(K[start : start + TILE] - K[:, start : start + TILE].T)
        if not (gap <= allowed).all():
            row, column = np.unravel_index(int(np.argmax(gap)), gap.shape)
            i, j = int(row) + start, int(column)
            raise DataError(
                f"{who}: a precomputed kernel matrix must be symmetric, but entry ({i}, {j}) is "
                f"{K[i, j]:g} and entry ({j}, {i}) is {K[j, i]:g}. Use (K + K.T) / 2 if the "
                "difference is an error of rounding."
            )


def require_sparse_symmetric(K: SparseMatrix, who: str) -> None:
    """As `require_symmetric`, for a sparse matrix."""
    if K.shape[0] != K.shape[1]:
        raise DataError(
            f"{who}: a precomputed kernel matrix must be square with one row and one column per "
            f"training row, but X has shape {tuple(K.shape)}. Pass kernel(X) of all training rows."
        )
    gap = abs(K - K.T).tocoo()
    scale = float(abs(K.data).max(initial=0.0))
    wrong = np.flatnonzero(gap.data > _rounding(K, scale))
    if wrong.size:
        i, j = int(gap.row[wrong[0]]), int(gap.col[wrong[0]])
        raise DataError(
            f"{who}: a precomputed kernel matrix must be symmetric, but entries ({i}, {j}) and "
            f"({j}, {i}) differ by {gap.data[wrong[0]]:g}. Use (K + K.T) / 2 if the difference is "
            "an error of rounding."
        )
