"""Rows whose weights are worked out from the rows themselves, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace

from thetahat.data.source import Block, Source
from thetahat.foundation.types import Array


@dataclass(frozen=True, kw_only=True)
class Reweighted(Source):
    """Another source, each row's weight multiplied by ``factor(block)``, out of core too."""

    source: Source
    factor: Callable[[Block], Array]

    @classmethod
    def of(cls, source: Source, factor: Callable[[Block], Array]) -> Reweighted:
        """A view of `source`."""
        shared = {field.name: getattr(source, field.name) for field in fields(Source)}
        return cls(**{**shared, "has_weight": True}, source=source, factor=factor)

    @property
    def n_rows(self) -> int:
        return self.source.n_rows

    def blocks(self) -> Iterator[Block]:
        for block in self.source.blocks():
            factor = self.factor(block)
            yield replace(block, weight=factor if block.weight is None else block.weight * factor)
