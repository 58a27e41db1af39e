"""Targets that are labels, given as the codes 0, 1, …, C−1 of the classes they hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from thetahat.data.columns.labels import LabelEncoding
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.data.summaries.counts import counts
from thetahat.foundation.types import Array


@dataclass(frozen=True, kw_only=True)
class Relabelled(Source):
    """The rows of another source, with the code of its class as the target of each."""

    source: Source
    encoding: LabelEncoding

    @property
    def n_rows(self) -> int:
        return self.source.n_rows

    def blocks(self) -> Iterator[Block]:
        for block in self.source.blocks():
            yield replace(block, y=_codes(block.y, self.encoding, self.dtype))


def relabelled(
    source: Source, encoding: LabelEncoding | None = None
) -> tuple[Source, LabelEncoding]:
    """A view of `source` with codes for labels, and their encoding.

    Without an encoding, one pass over the rows finds the classes. An in-memory source stays one.
    Cost: O(n log C).
    """
    if encoding is None:
        encoding = LabelEncoding(counts(source).values)
    if isinstance(source, InMemory):
        return replace(source, y=_codes(source.y, encoding, source.dtype)), encoding
    shared = {field.name: getattr(source, field.name) for field in fields(Source)}
    return Relabelled(**shared, source=source, encoding=encoding), encoding


def _codes(y: Array | None, encoding: LabelEncoding, dtype: Any) -> Array:
    return encoding.encode(np.asarray(y)).astype(dtype)
