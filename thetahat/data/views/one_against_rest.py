"""One class against the rest: a view of a source of class codes whose y is ±1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.foundation.types import Array


@dataclass(frozen=True, kw_only=True)
class OneAgainstRest(Source):
    """The rows of another source with y = +1 for class `code` and −1 for all others."""

    source: Source
    code: int

    @classmethod
    def of(cls, source: Source, code: int) -> Source:
        """A view of `source`; an in-memory source stays one."""
        if isinstance(source, InMemory):
            return replace(source, y=_signs(source.y, code, source.dtype))
        shared = {field.name: getattr(source, field.name) for field in fields(Source)}
        return cls(**shared, source=source, code=code)

    @property
    def n_rows(self) -> int:
        return self.source.n_rows

    def blocks(self) -> Iterator[Block]:
        for block in self.source.blocks():
            yield replace(block, y=_signs(block.y, self.code, self.dtype))


def _signs(y: Array | None, code: int, dtype: Any) -> Array:
    return np.where(np.asarray(y) == code, 1.0, -1.0).astype(dtype)
