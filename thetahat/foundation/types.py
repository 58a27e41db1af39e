"""Types that annotations share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
"""A dense array of numbers.

Functions that are written on the array API also take arrays of torch and CuPy. These libraries
share no type with NumPy, so a type checker sees NumPy arrays only.
"""

if TYPE_CHECKING:
    from scipy.sparse import sparray, spmatrix

    SparseMatrix: TypeAlias = sparray | spmatrix
    """A sparse matrix of SciPy."""
    Matrix: TypeAlias = Array | SparseMatrix
    """The rows of a block or of a source, dense or sparse; `is_sparse` distinguishes the two."""
else:  # SciPy is not loaded for the sake of annotations
    SparseMatrix = Matrix = Array
