"""Accuracy of linear systems: singular values, condition number, effective rank.

The singular values s₁ ≥ s₂ ≥ … of X are those of the triangle R of its QR factorisation. R is
computed by a reduction over the rows, so X may be larger than memory. XᵀX is not formed, so small
singular values keep their digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.source import Source
from thetahat.data.summaries.frame import dense_rows
from thetahat.data.summaries.moments import moments
from thetahat.data.validation import as_source
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.linalg.triangular_factor import triangular_factor

_POWERS = {"cholesky": 2, "pseudo_inverse": 2, "dual": 2, "qr": 1, "svd": 1}
"""The power of κ by which a least-squares solver multiplies rounding errors."""


def condition_number(X: Any, kind: str = "spectral", *, rank: int | None = None) -> float:
    """The condition number of a matrix: how much relative errors of Xβ can grow in β.

    Formula: κ = ‖X‖·‖X⁺‖ in the spectral norm, s₁/s_r, or in the Frobenius norm,
    √(Σ s_j² · Σ s_j⁻²), which is D for the D × D identity; ∞ if s_r = 0. X is not centred. Centre
    it first to get the condition number of a fit with intercept.

    Cost: O(n d²) time, or O(n² d) if d > n. O(d²) memory in addition to the data; rows may be read
    block by block.

    Parameters
    ----------
    X : array-like, table, sparse or Source of shape (n, d)
        The matrix. If a Source has row weights, each row is multiplied by √w.
    kind : {"spectral", "frobenius"}, default="spectral"
        The matrix norm: the largest singular value ("spectral") or the root of the sum of the
        squared entries ("frobenius").
    rank : int, optional
        Number of singular values that the pseudo-inverse X⁺ keeps. By default all min(n, d). With
        ``effective_rank(X)`` the result is the condition number of the least-norm solution, which
        drops the others.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> round(th.linalg.condition_number(np.diag([4.0, 2.0])), 12)
    2.0
    >>> round(th.linalg.condition_number(np.eye(3), kind="frobenius"), 12)
    3.0
    """
    if kind not in ("spectral", "frobenius"):
        raise ParameterError(
            f"condition_number: kind={kind!r} must be one of 'spectral', 'frobenius'."
        )
    s = _singular_values(as_source(X, who="condition_number", check_finite=False))
    if rank is not None:
        if not 1 <= rank <= len(s):
            raise ParameterError(
                f"condition_number: rank={rank!r} must be a whole number from 1 to "
                f"min(n, d) = {len(s)}."
            )
        s = s[:rank]
    if s[-1] == 0:
        return float("inf")
    # Dividing by s₁ prevents the squares from overflowing.
    relative = s / s[0]
    with np.errstate(over="ignore"):
        if kind == "spectral":
            return float(1.0 / relative[-1])
        return float(np.linalg.norm(relative) * np.linalg.norm(1.0 / relative))


def effective_rank(X: Any, *, tolerance: float | None = None) -> int:
    """The number of singular values of X that are larger than rounding errors.

    Formula: D* = #{j : s_j > tolerance · s₁}.

    Cost: O(n d²) time, or O(n² d) if d > n. O(d²) memory in addition to the data; rows may be read
    block by block.

    Parameters
    ----------
    X : array-like, table, sparse or Source of shape (n, d)
        The matrix. If a Source has row weights, each row is multiplied by √w.
    tolerance : float, optional
        Singular values up to this multiple of the largest one count as zero. Larger values give a
        smaller rank. Must be at least 0 and less than 1. By default max(n, d) · ε, where ε is the
        rounding error of the dtype of X.

    Returns
    -------
    int

    Examples
    --------
    >>> import thetahat as th
    >>> th.linalg.effective_rank([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    1
    """
    source = as_source(X, who="effective_rank", check_finite=False)
    if tolerance is None:
        tolerance = max(source.n_rows, source.n_features) * float(np.finfo(source.dtype).eps)
    elif not 0 <= tolerance < 1:
        raise ParameterError(f"effective_rank: tolerance={tolerance!r} must be in [0, 1).")
    s = _singular_values(source)
    return int((s > tolerance * s[0]).sum())


def digits_lost(condition: float, solver: str = "cholesky", *, epsilon: float = EPSILON) -> float:
    """The number of decimal digits that a least-squares solver may lose.

    Formula: the relative error is about κ²ε for solvers of the normal equations ("cholesky",
    "pseudo_inverse", "dual") and κε for "qr" and "svd". So log₁₀ κ² or log₁₀ κ digits are lost, but
    never more than all −log₁₀ ε digits. With κ = 1e8 the normal equations lose all digits of
    float64 (κ²ε ≈ 1), and QR loses half of them.

    Cost: O(1).

    Parameters
    ----------
    condition : float
        The condition number κ(X), as returned by `condition_number`. Must be at least 1.
    solver : {"cholesky", "pseudo_inverse", "dual", "qr", "svd"}, default="cholesky"
        The solver, under its name in `LinearRegression`.
    epsilon : float, default=2.2e-16
        Relative rounding error of the arithmetic (ε). The default is that of float64. Must lie
        strictly between 0 and 1.

    Returns
    -------
    float
        Decimal digits lost, between 0 and −log₁₀ ε.

    Examples
    --------
    >>> import thetahat as th
    >>> th.linalg.digits_lost(1e8, epsilon=1e-16), th.linalg.digits_lost(1e8, "qr", epsilon=1e-16)
    (16.0, 8.0)
    """
    if solver not in _POWERS:
        raise ParameterError(f"digits_lost: solver={solver!r} must be one of {sorted(_POWERS)}.")
    if not condition >= 1:
        raise ParameterError(
            f"digits_lost: condition={condition!r} must be ≥ 1, as every condition number is."
        )
    if not 0 < epsilon < 1:
        raise ParameterError(f"digits_lost: epsilon={epsilon!r} must be in (0, 1).")
    with np.errstate(over="ignore"):
        return float(min(_POWERS[solver] * np.log10(condition), -np.log10(epsilon)))


def _singular_values(source: Source) -> Array:
    """The min(n, d) singular values of X in decreasing order."""
    n, d = source.n_rows, source.n_features
    if n < d:
        source.require_finite()
        rows = source.map_rows(_weighted_rows)
        with one_blas_thread():
            return np.linalg.svd(rows, compute_uv=False)
    about = moments(source)
    factor = triangular_factor(source, about, intercept=False).padded()
    with one_blas_thread():
        return np.linalg.svd(factor[:, :d] * about.unit[:d], compute_uv=False)


def _weighted_rows(block: Any) -> Array:
    rows = np.asarray(dense_rows(block), dtype=np.float64)
    return rows if block.weight is None else rows * np.sqrt(block.weight)[:, None]
