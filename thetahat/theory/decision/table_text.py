"""Tables of probabilities as text: one line per combination of all variables but the last."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

from thetahat.foundation.types import Array


def text_of(axes: Mapping[str, tuple[Any, ...]], probabilities: Array) -> list[str]:
    """The lines of a table; the values of the last variable are the columns."""
    *names, last = axes
    body = probabilities.reshape(-1, len(axes[last]))
    cells = [[f"{p:.6g}" for p in row] for row in body]
    keys = product(*(axes[name] for name in names))
    table = [[*names, *map(str, axes[last])]]
    table += [[*map(str, key), *row] for key, row in zip(keys, cells, strict=True)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place < len(names) else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in table
    ]
