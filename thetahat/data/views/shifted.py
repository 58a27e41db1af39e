"""Rows seen from a point near them: X − centre, where X lies far from 0 for its spread.

A column of years or timestamps is nearly a multiple of the intercept's column of ones: in products
of rows its spread drowns in rounding. Seen from its own middle it does not, and a linear fit only
changes its intercept: xᵀβ + b = (x − centre)ᵀβ + (b + centreᵀβ).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.data.summaries.moments import dense_rows, provisional_frame
from thetahat.foundation.types import Array

FAR = 100.0
"""A column whose middle is more than so many times its extent away from 0 is far."""


@dataclass(frozen=True, kw_only=True)
class Shifted(Source):
    """Another source with X − centre for X, block by block."""

    source: Source
    centre: Array

    @property
    def n_rows(self) -> int:
        return self.source.n_rows

    def blocks(self) -> Iterator[Block]:
        for block in self.source.blocks():
            yield replace(block, X=dense_rows(block) - self.centre)


def shifted_to_middle(source: Source, *, fit_intercept: bool) -> tuple[Source, Array]:
    """The rows, shifted where a column is far and an intercept can take it up; and the shift.

    Sparse rows stay as they are. Cost: none where no column is far, else O(n d) once in memory, and
    in every pass over a file.
    """
    d = source.n_features
    nowhere = np.zeros(d)
    sparse = isinstance(source, InMemory) and source.is_sparse
    if sparse or not fit_intercept:
        return source, nowhere
    frame = provisional_frame(source)
    far = abs(frame.centre[:d]) > FAR * frame.unit[:d]
    if not far.any():
        return source, nowhere
    centre = np.where(far, frame.centre[:d], 0.0)
    if isinstance(source, InMemory) and type(source.X) is np.ndarray:
        return replace(source, X=source.X - centre), centre
    shared = {field.name: getattr(source, field.name) for field in fields(Source)}
    return Shifted(**shared, source=source, centre=centre), centre
