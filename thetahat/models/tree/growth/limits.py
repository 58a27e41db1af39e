"""Sizes that users give as numbers, shares or words, as the engine reads them."""

from __future__ import annotations

from math import ceil
from numbers import Integral
from typing import Any

import numpy as np


def rows_meant(number: Any, n_rows: int) -> int:
    """A number of rows, or a share of them."""
    return int(number) if isinstance(number, Integral) else ceil(number * n_rows)


def columns_to_draw(number: Any, n_features: int) -> int:
    """How many columns "sqrt", "log2", a share or a number of them are; None: all."""
    if number is None:
        return n_features
    if isinstance(number, str):
        drawn = np.sqrt(n_features) if number == "sqrt" else np.log2(n_features)
        return max(1, int(drawn))
    if isinstance(number, Integral):
        return int(number)
    return max(1, int(number * n_features))
