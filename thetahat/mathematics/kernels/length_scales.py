"""Length scales of kernels: one for all columns, or one for each column."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj

from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array, Matrix, SparseMatrix
from thetahat.mathematics.parts import Part, require_number


def require_lengths(part: Part) -> None:
    """Raise an error unless length_scale is a positive number, or several; store them as floats."""
    given: Any = part.length_scale  # type: ignore[attr-defined]
    if isinstance(given, Real):
        require_number(part, "length_scale", above=0)
        return
    try:
        found = tuple(float(each) for each in given)
    except (TypeError, ValueError):
        found = ()
    if not found or not all(0 < each < math.inf for each in found):
        raise ParameterError(
            f"{type(part).__name__}(length_scale={given!r}): length_scale must be a finite number "
            "> 0, or one such number for each column."
        )
    object.__setattr__(part, "length_scale", found)


def lengths(given: Any) -> tuple[tuple[float, ...] | None, float]:
    """The length of each column, if there are several, and the length of all columns together."""
    return (given, 1.0) if isinstance(given, tuple) else (None, given)


def divided(X: Matrix, scales: tuple[float, ...] | None) -> Matrix:
    """X with every column divided by its length; X itself without lengths of columns."""
    if scales is None:
        return X
    if len(scales) != X.shape[1]:
        raise DataError(
            f"length_scale has {len(scales)} entries, but X has {X.shape[1]} columns. Give one "
            "number for all columns, or one for each."
        )
    if not is_array_api_obj(X):
        rows: SparseMatrix = X
        return rows.multiply(np.asarray([1 / each for each in scales], dtype=X.dtype)).tocsr()
    return X / array_namespace(X).asarray(list(scales), dtype=X.dtype, device=device(X))


def pulled_to_lengths(
    W: Array, X: Matrix, Z: Matrix, squares: Array, scales: tuple[float, ...] | None
) -> Array:
    """Σᵢⱼ Wᵢⱼ‖xᵢ − zⱼ‖², or the same sum for every column of the divided rows, without `squares`.

    One product WZ serves all columns: Σᵢⱼ Wᵢⱼ(xᵢ − zⱼ)² = Σᵢ rᵢxᵢ² + Σⱼ cⱼzⱼ² − 2Σᵢ xᵢ(Wz)ᵢ with
    the sums r and c of the rows and columns of W. Cost: O(n m d).
    """
    if scales is None:
        return np.array([(W * squares).sum()])
    X, Z = np.asarray(X), np.asarray(Z)
    middle = Z.mean(axis=0)
    X, Z = X - middle, Z - middle
    of_rows, of_columns = W.sum(axis=1), W.sum(axis=0)
    crossed = (X * np.dot(W, Z)).sum(axis=0)
    return np.dot(of_rows, X * X) + np.dot(of_columns, Z * Z) - 2 * crossed
