"""Sizes given as numbers, fractions or names, converted to numbers."""

from __future__ import annotations

from math import ceil
from numbers import Integral
from typing import Any

import numpy as np


def rows_meant(number: Any, n_rows: int) -> int:
    """A number of rows, from a number or a fraction."""
    return int(number) if isinstance(number, Integral) else ceil(number * n_rows)


def columns_to_draw(number: Any, n_features: int) -> int:
    """A number of columns, from "sqrt", "log2", a fraction or a number; None means all."""
    if number is None:
        return n_features
    if isinstance(number, str):
        drawn = np.sqrt(n_features) if number == "sqrt" else np.log2(n_features)
        return max(1, int(drawn))
    if isinstance(number, Integral):
        return int(number)
    return max(1, int(number * n_features))
