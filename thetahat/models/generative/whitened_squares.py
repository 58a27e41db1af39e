"""Squared distances of rows to Gaussian classes, and the best classes from single precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat import _native
from thetahat.foundation.products import product
from thetahat.foundation.types import Array

TRIAL = 64
"""Rows whose size says whether single precision can decide for most rows."""
LARGEST_ERROR = 0.5
"""Usual error of the scores up to which single precision is used."""


def whitened_squares(
    rows: Array, centre: Array, scale: Array, roots: Array, offsets: Array
) -> Array:
    """‖Aᵀ((x − m)·s) − b‖² for all classes, and ‖(x − m)·s‖²."""
    out = np.empty((rows.shape[0], len(roots) + 1))
    _native.whitened_squares(rows, centre, scale, roots, offsets, out)
    return out


@dataclass(frozen=True)
class ClassDifferences:
    """The scores l − ½‖Aᵀv − b‖² of the classes minus that of the first, with v = x − m.

    ‖Aᵀv − b‖² − ‖A₁ᵀv − b₁‖² = vᵀQv − 2qᵀv + k with Q = AAᵀ − A₁A₁ᵀ, q = Ab − A₁b₁ and
    k = ‖b‖² − ‖b₁‖². One class less has to be computed, and no entries are large where the classes
    are alike. Q is stored as a triangle in single precision; columns are divided by `scale`, so
    that its entries have a similar size.

    Sums of d products of two numbers are off by at most g times the sum of their absolute values:
    the form by g·(‖Q‖·‖v‖² + 2‖q‖·‖v‖), with Frobenius norms. Q, q and k themselves are off by
    rounding errors of double precision, at most h·(‖A‖·‖v‖ + ‖b‖)² for both classes.
    """

    centre: Array
    scale: Array
    triangles: Array
    slopes: Array
    levels: Array
    sizes: tuple[Array, Array, Array, Array]

    @classmethod
    def of(cls, centre: Array, roots: Array, offsets: Array, levels: Array) -> ClassDifferences:
        """Prepare the differences. Cost: O(C d³)."""
        scale = np.sqrt(np.einsum("cij,cij->i", roots, roots))
        count, d = len(roots), len(scale)
        triangles = np.empty((count - 1, d, d), dtype=np.float32)
        slopes = np.empty((count - 1, d))
        first = slope = np.empty(0)
        upper = np.triu(np.full((d, d), 2.0), 1) + np.eye(d)
        for code, (root, offset) in enumerate(zip(roots, offsets, strict=True)):
            scaled = root / scale[:, None]
            square, towards = product(scaled, scaled.T), product(scaled, offset)
            if code == 0:
                first, slope = square, towards
            else:
                triangles[code - 1] = (square - first) * upper
                slopes[code - 1] = 2.0 * (towards - slope)
        norms = np.einsum("ci,ci->c", offsets, offsets)
        root_size = np.sqrt(np.einsum("cij,cij,i->c", roots, roots, scale**-2.0))
        sizes = (
            np.sqrt(np.einsum("cij,cij->c", triangles, triangles, dtype=np.float64)),
            np.linalg.norm(slopes, axis=1),
            root_size[1:] + root_size[0],
            np.sqrt(norms[1:]) + np.sqrt(norms[0]),
        )
        level = (levels[1:] - levels[0]) - 0.5 * (norms[1:] - norms[0])
        return cls(centre, scale, triangles, slopes.astype(np.float32), level, sizes)

    def errors(self, norm: Array) -> Array:
        """Bounds on the errors of the differences, for rows of these norms ‖v·scale‖."""
        d = len(self.scale)
        square, slope, root, offset = self.sizes
        g, h = 1.1 * (2 * d + 8) * 2.0**-24, 4.0 * (d + 8) * 2.0**-53
        norm = norm[:, None]
        return 0.5 * (g * (square * norm + slope) * norm + h * (root * norm + offset) ** 2)

    def best(self, rows: Array) -> tuple[Array, Array] | None:
        """The best classes and the rows in doubt; None if too many rows would be."""
        with np.errstate(over="ignore", invalid="ignore"):
            some = np.linalg.norm((rows[:TRIAL] - self.centre) * self.scale, axis=1)
            if not self.errors(np.median(some)[None]).max() < LARGEST_ERROR:
                return None
            found = np.empty((rows.shape[0], len(self.levels) + 1))
            _native.quadratic_forms(
                rows, self.centre, self.scale, self.triangles, self.slopes, found
            )
            error = np.zeros_like(found)
            error[:, 1:] = self.errors(np.sqrt(found[:, -1]))
            scores = np.zeros_like(found)
            np.multiply(found[:, :-1], -0.5, out=scores[:, 1:])
            scores[:, 1:] += self.levels
            best = np.asarray(scores.argmax(axis=1))
            first = np.arange(len(best)), best
            low = scores[first] - error[first]
            scores += error
            scores[first] = -np.inf
            sure = low > scores.max(axis=1)
            sure &= np.isfinite(found.sum(axis=1))  # nothing overflowed or is missing
            return best, np.flatnonzero(~sure)
