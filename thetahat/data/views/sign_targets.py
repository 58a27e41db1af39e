"""Class codes as targets of least squares: +1 for the class of a row and −1 for every other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.foundation.types import Array


@dataclass(frozen=True, kw_only=True)
class SignTargets(Source):
    """The rows of another source, whose codes 0, …, C−1 become C columns (one for two classes)."""

    source: Source

    @property
    def n_rows(self) -> int:
        return self.source.n_rows

    def blocks(self) -> Iterator[Block]:
        for block in self.source.blocks():
            yield replace(block, y=_signs(block.y, self.n_outputs, self.dtype))


def with_sign_targets(source: Source, n_classes: int) -> Source:
    """A view of `source` with signs for codes; an in-memory source stays one."""
    n_outputs = 0 if n_classes <= 2 else n_classes
    if isinstance(source, InMemory):
        return replace(source, y=_signs(source.y, n_outputs, source.dtype), n_outputs=n_outputs)
    shared = {field.name: getattr(source, field.name) for field in fields(Source)}
    return SignTargets(**{**shared, "n_outputs": n_outputs}, source=source)


def _signs(codes: Array | None, n_outputs: int, dtype: Any) -> Array:
    codes = np.asarray(codes)
    if not n_outputs:
        return np.where(codes == 1, 1, -1).astype(dtype)
    return np.where(codes[:, None] == np.arange(n_outputs), 1, -1).astype(dtype)
