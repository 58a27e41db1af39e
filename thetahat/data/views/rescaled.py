"""Rows seen through a shift and a scale, block by block: z = (x − centre) / scale.

Iterative solvers want columns of one size. The view costs a pass over each block when it is read,
and nothing else; `back` turns what was learned on it into the data's own units.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import numpy as np

from thetahat.data.source import Block, Source
from thetahat.data.summaries.moments import dense_rows
from thetahat.foundation.types import Array


@dataclass(frozen=True, kw_only=True)
class Rescaled(Source):
    """A source whose columns of X and y are centred and scaled on the fly."""

    source: Source
    x_centre: Array
    x_scale: Array
    y_centre: Array
    y_scale: Array

    @classmethod
    def of(
        cls, source: Source, x_centre: Array, x_scale: Array, y_centre: Array, y_scale: Array
    ) -> Rescaled:
        """A view of `source`; centres and scales have one entry per column."""
        shared = {field.name: getattr(source, field.name) for field in fields(Source)}
        return cls(
            **{**shared, "dtype": np.float64},
            source=source,
            x_centre=x_centre,
            x_scale=x_scale,
            y_centre=y_centre,
            y_scale=y_scale,
        )

    @property
    def n_rows(self) -> int:
        return self.source.n_rows

    def blocks(self) -> Iterator[Block]:
        for block in self.source.blocks():
            y = block.y
            if y is not None:
                centre, scale = self.y_centre, self.y_scale
                y = (y - centre) / scale if y.ndim == 2 else (y - centre[0]) / scale[0]
            yield replace(block, X=(dense_rows(block) - self.x_centre) / self.x_scale, y=y)

    def back(self, coef: Array, intercept: Array) -> tuple[Array, Array]:
        """β (d × k) and b (k,) learned on the view, in the data's own units."""
        return in_data_units(
            coef, intercept, self.x_centre, self.x_scale, self.y_centre, self.y_scale
        )


def in_data_units(
    coef: Array, intercept: Array, x_centre: Array, x_scale: Array, y_centre: Array, y_scale: Array
) -> tuple[Array, Array]:
    """β (d × k) and b (k,) of (y − c_y)/s_y on (x − c_x)/s_x, as β and b of y on x."""
    coef = coef / x_scale[:, None] * y_scale
    return coef, intercept * y_scale + y_centre - x_centre @ coef
