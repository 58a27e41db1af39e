"""Types that annotations share."""

from __future__ import annotations

from typing import Any, TypeAlias

from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
"""A dense array of numbers.

Functions that are written on the array API also take arrays of torch and CuPy. These libraries
share no type with NumPy, so a type checker sees NumPy arrays only.
"""

Matrix: TypeAlias = Any
"""A dense, sparse or device matrix.

The rows of a block or of a source: an array of NumPy, a sparse array of SciPy, or an array of torch
or CuPy. These share no type that a type checker knows.
"""
