"""Types that annotations share."""

from __future__ import annotations

from typing import Any, TypeAlias

Array: TypeAlias = Any
"""A dense array of NumPy, or of another library that follows the array API (torch, CuPy)."""
