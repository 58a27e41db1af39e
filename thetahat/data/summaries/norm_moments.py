"""Third and fourth moments of the norm of centred rows, as a mergeable summary.

Beside the `Moments` of the rows, `NormMoments` holds, with z = x − mean,

    third = Σ w ‖z‖² z,    fourth = Σ w ‖z‖⁴,

from which the shrinkage of Ledoit and Wolf follows in the same pass over the rows. Each block is
centred at its own mean, and two summaries merge by moving both to their common mean, so large means
cause no loss of digits. All columns share one power-of-two unit, so that fourth powers stay in
range.

Cost of a reduction: that of the moments, and O(n d) more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat import _native
from thetahat.data.source import Block, Source
from thetahat.data.summaries.frame import Frame, dense_rows, provisional_frame
from thetahat.data.summaries.moments import Moments, can_be_centred, moments, summarise_moments
from thetahat.foundation.products import product
from thetahat.foundation.types import Array

_NO_ROOT = np.empty(0)


@dataclass(frozen=True)
class NormMoments:
    """Moments of the rows, and the sums ``third`` and ``fourth`` in units of ``unit``."""

    moments: Moments
    third: Array
    fourth: float
    unit: float

    def merge(self, other: NormMoments) -> NormMoments:
        """The moments of both sets of rows."""
        joint = self.moments.merge(other.moments)
        here, there = self.about(joint.x_mean), other.about(joint.x_mean)
        return NormMoments(joint, here[0] + there[0], here[1] + there[1], self.unit)

    def about(self, centre: Array) -> tuple[Array, float]:
        """`third` and `fourth` about another centre, in the same unit.

        With o = centre − mean and the scatter S about the mean,
        third' = third − 2So − tr(S) o − W‖o‖²o and
        fourth' = fourth − 4oᵀthird + 4oᵀSo + 2 tr(S)‖o‖² + W‖o‖⁴.
        """
        if self.moments.weight == 0:
            return self.third, self.fourth
        scatter = self._scatter()
        offset = (centre - self.moments.x_mean) / self.unit
        turned = product(scatter, offset)
        total = float(np.trace(scatter))
        square, weight = float(offset @ offset), self.moments.weight
        third = self.third - 2.0 * turned - (total + weight * square) * offset
        fourth = (
            self.fourth
            - 4.0 * float(offset @ self.third)
            + 4.0 * float(offset @ turned)
            + (2.0 * total + weight * square) * square
        )
        return third, fourth

    def about_zero(self) -> NormMoments:
        """The same about 0 instead of the mean."""
        third, fourth = self.about(np.zeros_like(self.moments.x_mean))
        return NormMoments(self.moments.about_zero(), third, fourth, self.unit)

    def in_one_unit(self) -> tuple[Array, float]:
        """The covariance (1/W) and Σ w ‖z‖⁴, both in ``unit``, which keeps them in range."""
        return self._scatter() / self.moments.weight, self.fourth

    def _scatter(self) -> Array:
        """The scatter of X in the common unit."""
        d = self.moments.n_features
        factor = self.moments.unit[:d] / self.unit
        scatter: Array = self.moments.scatter[:d, :d] * factor * factor[:, None]
        return scatter


def norm_moments(source: Source) -> NormMoments:
    """The moments of X over all rows of a source, checked to be finite."""
    frame = provisional_frame(source)
    unit = float(frame.unit[: source.n_features].max())
    with np.errstate(over="ignore", invalid="ignore"):
        found = source.reduce(summarise_norms, frame, unit)
    finite = found.moments.is_finite and np.isfinite(found.fourth)
    dense = can_be_centred(source)
    if not finite or (dense and found.moments.lost_digits):
        whole = moments(source)  # finds a new centre and units, or says which value is too large
        centre = whole.mean if dense else np.zeros_like(whole.mean)
        frame = Frame(centre, whole.unit * np.exp2(np.ceil(_log_spread(whole))))
        found = source.reduce(summarise_norms, frame, float(frame.unit[: source.n_features].max()))
    return found


def _log_spread(whole: Moments) -> Array:
    """Half the binary logarithm of the sum of squares of each column, in its unit."""
    return np.log2(np.maximum(np.diagonal(whole.scatter), 1.0)) / 2.0


def summarise_norms(block: Block, frame: Frame, unit: float) -> NormMoments:
    """The summary of one block."""
    about = summarise_moments(block, frame)
    d = about.n_features
    centred = np.empty((block.n_rows, d))
    rows = dense_rows(block)
    with np.errstate(over="ignore", invalid="ignore"):
        _native.pack_rows(rows, about.x_mean, np.full(d, 1.0 / unit), _NO_ROOT, centred, 0)
        square = np.einsum("ij,ij->i", centred, centred)
        weighted = square if block.weight is None else square * block.weight
        return NormMoments(about, product(weighted, centred), float(weighted @ square), unit)
