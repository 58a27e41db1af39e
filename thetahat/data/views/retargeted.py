"""Rows whose targets are seen in another unit: y divided by a number, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source


@dataclass(frozen=True, kw_only=True)
class Retargeted(Source):
    """Another source with y/unit for y; X stays as it is."""

    source: Source
    unit: float

    @property
    def n_rows(self) -> int:
        return self.source.n_rows

    def blocks(self) -> Iterator[Block]:
        for block in self.source.blocks():
            yield replace(block, y=np.asarray(block.y, dtype=np.float64) / self.unit)


def in_target_units(source: Source, unit: float) -> Source:
    """A view of `source` with y/unit for y; an in-memory source stays one. Cost: O(n)."""
    if isinstance(source, InMemory):
        return replace(source, y=np.asarray(source.y, dtype=np.float64) / unit)
    shared = {field.name: getattr(source, field.name) for field in fields(Source)}
    return Retargeted(**shared, source=source, unit=unit)
