"""Singular values and right singular vectors of centred rows, from a source of any kind.

X − 1μᵀ = U·diag(s)·Vᵀ, so that Vᵀ holds the principal directions and s²/(W − 1) their variances.

==============  ====================================================  =====================
solver          how                                                   cost
==============  ====================================================  =====================
"full"          the singular values of the centred rows               O(n d·min(n, d))
"covariance"    eigenvalues of the covariance, from one pass          O(n d² + d³)
"row_gram"      eigenvalues of the products of few rows               O(n² d + n³)
"randomized"    a block Krylov space of random vectors, several passes  O(n d k) per pass
"lanczos"       Lanczos iterations on the covariance, without it      O(n d) per iteration
==============  ====================================================  =====================

All but "full" are sums over blocks of rows, so they work on sparse rows and on files, and never
copy X. Weighted rows are multiplied by √w.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.data.summaries.means import count_used_rows, means
from thetahat.data.summaries.moments import SMALLEST_ROOT, Moments, moments
from thetahat.foundation.products import product
from thetahat.foundation.randomness import RandomState, generator
from thetahat.foundation.threads import one_blas_thread, ordered_map, scipy_linalg
from thetahat.foundation.types import Array
from thetahat.mathematics.linalg.uneven_columns import UNEVEN, gram_spectrum
from thetahat.mathematics.lowrank.decompositions import with_fixed_signs
from thetahat.models.decomposition.principal.krylov import LEAST_SHARE, krylov_values
from thetahat.models.decomposition.principal.scatter_operator import (
    Sum,
    scatter_operator,
)
from thetahat.models.decomposition.principal.triangle_by_products import triangle_by_products

FEW_COLUMNS = 1000
"""A covariance of so many columns or fewer is cheap beside a pass over many more rows."""
COLUMNS_AT_ONCE = 1024
"""Columns of one product of rows; a fixed number, so that sums do not depend on threads."""
FEW_VALUES = 4
"""Up to one eigenvalue in so many, they are computed alone."""
EIGENVALUE_COST = 4
"""Eigenvalues of a d × d matrix take as long as this many times d³ multiplications of a product."""
LANCZOS_VECTORS = 40
"""Vectors that Lanczos iterations hold at least; with more, fewer products are needed."""
TALL, VERY_TALL = 1.5, 4
"""Rows for each column from which a triangular factor takes their place, and from which products of
matrices compute it faster than LAPACK."""
SMALL = 500
"""All singular values of a matrix with at most so many rows and columns are computed at once."""


@dataclass(frozen=True)
class Spectrum:
    """The largest singular values of centred rows, their directions, and the total variance."""

    n_rows: int
    weight: float
    mean: Array
    values: Array
    """Singular values in descending order, (k,)."""
    directions: Array
    """Right singular vectors as rows, (k, d), with the largest entry of each positive."""
    square: float
    """The sum of the squares of all singular values."""

    def leading(self, k: int) -> Spectrum:
        """The spectrum with its first k values only."""
        return Spectrum(
            self.n_rows, self.weight, self.mean, self.values[:k], self.directions[:k], self.square
        )


def full_spectrum(source: InMemory, *, centre: bool, scale: Array | None = None) -> Spectrum:
    """All singular values, by LAPACK. Accurate for the smallest ones, too."""
    dense = source.X if isinstance(source.X, np.ndarray) else source.X.toarray()
    about, (n, d) = means(source), dense.shape
    mean = about.mean[:d] if centre else np.zeros(d)

    def centred(some: slice) -> Array:
        part = dense[some]
        with np.errstate(over="ignore"):
            rows = np.subtract(part, mean.astype(dense.dtype))
        if rows.dtype != np.float64 and not np.isfinite(rows).all():
            rows = np.subtract(part, mean)
        if scale is not None:
            rows /= scale.astype(rows.dtype)
        if source.has_weight:
            rows *= np.sqrt(source.row_weights[some]).astype(rows.dtype)[:, None]
        return rows

    # Tall rows are replaced by a triangular factor with the same singular values: U is not needed.
    factor = triangle_by_products(centred, n, d) if n >= VERY_TALL * d else None
    rows = centred(slice(n)) if factor is None else factor
    # LAPACK factorises tall matrices faster than wide ones.
    is_wide = n < d
    with one_blas_thread():
        linalg = scipy_linalg()
        if factor is None and n >= TALL * d:
            rows = linalg.qr(rows, mode="raw", overwrite_a=True, check_finite=False)[1]
        left, values, right = linalg.svd(
            rows.T if is_wide else rows, full_matrices=False, overwrite_a=True, check_finite=False
        )
    directions = np.ascontiguousarray(left.T) if is_wide else right
    square = float(np.sum(values.astype(np.float64) ** 2))
    directions = with_fixed_signs(directions)
    return Spectrum(count_used_rows(source), about.weight, mean, values, directions, square)


def covariance_spectrum(
    source: Source, k: int | None = None, *, centre: bool, scale: Array | None = None
) -> Spectrum:
    """The singular values as roots of eigenvalues of the scatter, from one pass over the rows.

    All of them, or only the k largest if these are few.
    """
    return spectrum_of_moments(moments(source), source.n_features, k, centre=centre, scale=scale)


def spectrum_of_moments(
    about: Moments, d: int, k: int | None = None, *, centre: bool, scale: Array | None = None
) -> Spectrum:
    """The same from moments of the rows."""
    about = about if centre else about.about_zero()
    size = np.sqrt(np.maximum(np.diagonal(about.scatter)[:d], 0.0)) * about.unit[:d]
    # A column that vanishes beside others does no harm; if all do, nothing is left.
    about.require_squares(may_vanish=bool(size.max(initial=0.0) >= SMALLEST_ROOT))
    scatter = about.scatter[:d, :d] * about.unit[:d] * about.unit[:d, None]
    if scale is not None:
        scatter = scatter / scale / scale[:, None]
    with one_blas_thread():
        if k is not None and FEW_VALUES * k <= d:
            few = (d - k, d - 1)
            values, vectors = scipy_linalg().eigh(scatter, check_finite=False, subset_by_index=few)
        else:
            values, vectors = np.linalg.eigh(scatter)
    held = min(len(values), about.n_rows - centre)
    if held > 0 and values[-held] <= LEAST_SHARE * values[-1] and _is_uneven(scatter):
        with one_blas_thread():
            values, vectors, _ = gram_spectrum(scatter, np.empty((d, 0)))
    values = np.maximum(values[::-1], 0.0)
    values[max(about.n_rows - centre, 0) :] = 0.0
    count = min(about.n_rows, d)
    directions = with_fixed_signs(np.ascontiguousarray(vectors[:, ::-1].T))
    mean = about.x_mean[:d] if centre else np.zeros(d)
    square = float(np.trace(scatter))
    return Spectrum(
        about.n_rows, about.weight, mean, np.sqrt(values[:count]), directions[:count], square
    )


def _is_uneven(scatter: Array) -> bool:
    """Whether the units of columns differ so much that small ones lose digits beside the others."""
    size = np.sqrt(np.maximum(np.diagonal(scatter), 0.0))
    filled = size[size > 0]
    return bool(filled.size) and bool(filled.max() > UNEVEN * filled.min())


def row_gram_spectrum(
    source: InMemory, k: int, *, centre: bool, scale: Array | None = None
) -> Spectrum | None:
    """The k largest singular values from the products of the rows, CCᵀ = U·diag(s²)·Uᵀ, V = UᵀC/s.

    For few rows of many columns. Columns are read in blocks, whose products are added in order.
    None if the k-th value is so small beside the first that its direction would lose digits.
    """
    about, d = means(source), source.n_features
    mean = about.mean[:d] if centre else np.zeros(d)
    root = np.sqrt(source.row_weights)[:, None] if source.has_weight else None

    def columns(start: int) -> Array:
        part = slice(start, start + COLUMNS_AT_ONCE)
        rows = np.subtract(source.X[:, part], mean[part], dtype=np.float64, order="C")
        if scale is not None:
            rows /= scale[part]
        if root is not None:
            rows *= root
        return rows

    def square(start: int) -> Sum:
        rows = columns(start)
        return Sum(product(rows, rows.T))

    def projected(start: int) -> Array:
        return product(leading, columns(start))

    starts = range(0, d, COLUMNS_AT_ONCE)
    gram = reduce(Sum.merge, ordered_map(square, starts)).total
    with one_blas_thread():
        squares, vectors = np.linalg.eigh(gram)
    squares, vectors = squares[::-1][:k], vectors[:, ::-1][:, :k]
    if not squares[-1] > LEAST_SHARE * squares[0]:
        return None
    values = np.sqrt(squares)
    leading = np.ascontiguousarray((vectors / values).T)
    directions = with_fixed_signs(np.concatenate(list(ordered_map(projected, starts)), axis=1))
    used, total = count_used_rows(source), float(np.trace(gram))
    return Spectrum(used, about.weight, mean, values, directions, total)


def randomized_spectrum(
    source: Source,
    k: int,
    *,
    centre: bool,
    scale: Array | None = None,
    oversamples: int = 10,
    n_iter: int,
    rng: np.random.Generator,
) -> Spectrum:
    """The k largest singular values from a block Krylov space of k + oversamples random vectors.

    Each of the n_iter + 1 passes multiplies a block of vectors by CᵀC. Power iterations would keep
    only the last block; here the eigenvalues of CᵀC restricted to all blocks are taken (block
    Lanczos with full orthogonalisation), which costs no further pass and is far more accurate. If
    all products of columns or of rows take less time, they give the exact values.
    """
    found = _by_products(source, k, (k + oversamples) * (n_iter + 1), centre=centre, scale=scale)
    if found is not None:
        return found
    operator, weight = scatter_operator(source, centre, scale)
    with one_blas_thread():
        values, directions = krylov_values(operator, source.n_features, k, oversamples, n_iter, rng)
    return Spectrum(
        count_used_rows(source),
        weight,
        operator.mean,
        values,
        with_fixed_signs(directions),
        operator.square(),
    )


def _by_products(
    source: Source, k: int, vectors: int, *, centre: bool, scale: Array | None
) -> Spectrum | None:
    """The spectrum from products of columns or rows, if that is faster than this many vectors.

    None if it is not, or if values beside the largest one would lose their digits.
    """
    if not isinstance(source, InMemory) or source.is_sparse:
        return None
    many, few = max(source.n_rows, source.n_features), min(source.n_rows, source.n_features)
    if k > few or few * (many / 2 + EIGENVALUE_COST * few) > 2.0 * many * vectors:
        return None
    if few < source.n_features:
        return row_gram_spectrum(source, k, centre=centre, scale=scale)
    found = covariance_spectrum(source, k, centre=centre, scale=scale).leading(k)
    return found if found.values[-1] ** 2 > LEAST_SHARE * found.values[0] ** 2 else None


def lanczos_spectrum(
    source: Source,
    k: int,
    *,
    centre: bool,
    scale: Array | None = None,
    tol: float = 0.0,
    rng: np.random.Generator,
) -> Spectrum:
    """The k largest singular values by Lanczos iterations (ARPACK), to the tolerance."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    operator, weight = scatter_operator(source, centre, scale)
    d = source.n_features
    if not operator.square() > 0:  # rows of zeros, which ARPACK refuses
        return Spectrum(
            count_used_rows(source),
            weight,
            operator.mean,
            np.zeros(k),
            np.eye(k, d),
            operator.square(),
        )
    whole = LinearOperator((d, d), matvec=operator.for_vectors(), dtype=float)
    with one_blas_thread():
        start, width = rng.uniform(-1.0, 1.0, d), min(d, max(3 * k + 1, LANCZOS_VECTORS))
        squares, vectors = eigsh(whole, k=k, which="LA", v0=start, ncv=width, tol=tol)
    order = np.argsort(squares)[::-1]
    values = np.sqrt(np.maximum(squares[order], 0.0))
    directions = with_fixed_signs(np.ascontiguousarray(vectors[:, order].T))
    return Spectrum(
        count_used_rows(source), weight, operator.mean, values, directions, operator.square()
    )


def start_generator(random_state: RandomState) -> np.random.Generator:
    """The generator of the first vectors; a fixed one for None, so that fits can be repeated."""
    return generator(0 if random_state is None else random_state)


def power_iterations(n_iter: int | str) -> int:
    """The number of iterations; "auto" takes 4, which a Krylov space makes accurate."""
    return 4 if isinstance(n_iter, str) else int(n_iter)
