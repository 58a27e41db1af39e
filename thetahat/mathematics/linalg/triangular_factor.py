"""The R of a QR factorisation as a summary of rows that can be merged.

A block Z = [1, X, y] is reduced by Householder reflections, which are applied to the right-hand
side at once; Q is not formed. The result is the triangle R with RᵀR = ZᵀZ. Two triangles are merged
by factoring one stacked on the other. So the factor of all rows is computed by a reduction, in
memory or block by block, with the backward stability of Householder QR.

Cost: O(n d²) time, about twice that of the normal equations; O(d²) memory per thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.data.arrays import is_device_array, to_host
from thetahat.data.source import Block, Source, rows_per_block
from thetahat.data.summaries.frame import Frame, packed_block
from thetahat.data.summaries.moments import Moments
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class TriangularFactor:
    """Upper triangle R with RᵀR = ZᵀZ; with fewer rows than columns if Z has fewer rows."""

    R: Array

    def merge(self, other: TriangularFactor) -> TriangularFactor:
        """The factor of both sets of rows."""
        return TriangularFactor(_triangle(np.vstack([self.R, other.R])))

    def padded(self) -> Array:
        """R with zero rows added until it is square."""
        rows, columns = self.R.shape
        return (
            np.vstack([self.R, np.zeros((columns - rows, columns))]) if rows < columns else self.R
        )


def triangular_factor(source: Source, about: Moments, *, intercept: bool) -> TriangularFactor:
    """The factor of [1, X − x̄, y − ȳ] (or [X, y]) over all rows, in the units of the moments.

    The column of ones keeps the intercept exact although x̄ is rounded.
    """
    centre = about.mean if intercept else np.zeros_like(about.mean)
    return source.reduce(_summarise, Frame(centre=centre, unit=about.unit), intercept)


def _summarise(block: Block, frame: Frame, intercept: bool) -> TriangularFactor:
    """The factor of one block; a sparse block, which may hold many rows, is split into parts."""
    on_device = is_device_array(block.X)
    step = block.n_rows if on_device else rows_per_block(block.X.shape[1])
    factor: TriangularFactor | None = None
    for start in range(0, block.n_rows, step):
        packed = packed_block(block.take(slice(start, start + step)), frame, ones=intercept)
        triangle = TriangularFactor(_triangle(_reduced(packed, intercept)))
        factor = triangle if factor is None else factor.merge(triangle)
    assert factor is not None
    return factor


def _reduced(packed: Array, intercept: bool) -> Array:
    """The packed rows with the column of ones first; on a device, already reduced to a triangle."""
    if is_device_array(packed):
        from array_api_compat import array_namespace

        packed = to_host(array_namespace(packed).linalg.qr(packed)[1])
    return np.roll(packed, 1, axis=1) if intercept else packed


def _triangle(rows: Array) -> Array:
    found: Any = np.linalg.qr(rows, mode="r")
    return found
