"""How many digits a linear system costs: singular values, condition number, effective rank.

The singular values s₁ ≥ s₂ ≥ … of X are those of the triangle R of its QR factorisation, which is a
reduction over the rows: X may be larger than memory, and it is never squared, so small singular
values keep their digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.source import Source
from thetahat.data.summaries.moments import moments
from thetahat.data.validation import as_source
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.linalg.least_squares import EPSILON
from thetahat.mathematics.linalg.triangular_factor import triangular_factor

_POWERS = {"cholesky": 2, "pseudo_inverse": 2, "dual": 2, "qr": 1, "svd": 1}
"""The power of κ by which a solver of least squares multiplies rounding errors."""


def condition_number(X: Any, kind: str = "spectral", *, rank: int | None = None) -> float:
    """How much relative errors of Xβ can grow in β.

    Formula: κ = ‖X‖·‖X⁺‖ in the spectral norm, s₁/s_r, or in the Frobenius norm,
    √(Σ s_j² · Σ s_j⁻²), which is D for the D × D identity; ∞ when s_r = 0. X is taken as it comes:
    centre it first to get what a fit with intercept sees.

    Cost: O(n d²) time, O(d²) memory beside the data, out of core too; O(n² d) when d > n.

    Parameters
    ----------
    X : array-like, table, sparse or Source of shape (n, d)
        The matrix. The rows of a source with weights count √w.
    kind : {"spectral", "frobenius"}, default="spectral"
        The norm.
    rank : int, optional
        How many singular values X⁺ keeps, all min(n, d) by default. With ``effective_rank(X)`` it
        is κ of the least-norm solution that drops the others.

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
    # Relative to s₁, so that no square overflows.
    relative = s / s[0]
    with np.errstate(over="ignore"):
        if kind == "spectral":
            return float(1.0 / relative[-1])
        return float(np.linalg.norm(relative) * np.linalg.norm(1.0 / relative))


def effective_rank(X: Any, *, tolerance: float | None = None) -> int:
    """The number of directions that the rows of X span beyond rounding.

    Formula: D* = #{j : s_j > tolerance · s₁}.

    Cost: O(n d²) time, O(d²) memory beside the data, out of core too; O(n² d) when d > n.

    Parameters
    ----------
    X : array-like, table, sparse or Source of shape (n, d)
        The matrix.
    tolerance : float, optional
        What counts as zero beside s₁; by default max(n, d) · ε, with ε of the precision of X.

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
    """How many of the −log₁₀ ε decimal digits a solver of least squares may lose.

    Formula: the relative error is about κ²ε on the normal equations ("cholesky",
    "pseudo_inverse", "dual") and κε by "qr" or "svd", so log₁₀ κ² or log₁₀ κ digits go, at most
    all of them. κ = 1e8 leaves none on the normal equations (κ²ε ≈ 1) and half of them by QR.

    Cost: O(1).

    Parameters
    ----------
    condition : float
        κ(X) ≥ 1, see `condition_number`.
    solver : {"cholesky", "pseudo_inverse", "dual", "qr", "svd"}, default="cholesky"
        The solver, as `LinearRegression` names it.
    epsilon : float
        Relative rounding error of the arithmetic; that of float64 by default.

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
    """The min(n, d) singular values of X, largest first."""
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
    rows = block.X if isinstance(block.X, np.ndarray) else block.X.toarray()
    rows = np.asarray(rows, dtype=np.float64)
    return rows if block.weight is None else rows * np.sqrt(block.weight)[:, None]
