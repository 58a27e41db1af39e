"""One target of several: a view of a source whose y is a single column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source


@dataclass(frozen=True, kw_only=True)
class OneTarget(Source):
    """The rows of another source with column `target` of y alone."""

    source: Source
    target: int

    @classmethod
    def of(cls, source: Source, target: int) -> Source:
        """A view of `source`; an in-memory source stays one."""
        if isinstance(source, InMemory):
            assert source.y is not None
            return replace(source, y=source.y[:, target], n_outputs=0)
        shared = {field.name: getattr(source, field.name) for field in fields(Source)}
        return cls(**{**shared, "n_outputs": 0}, source=source, target=target)

    @property
    def n_rows(self) -> int:
        return self.source.n_rows

    def blocks(self) -> Iterator[Block]:
        for block in self.source.blocks():
            assert block.y is not None
            yield replace(block, y=block.y[:, self.target])
