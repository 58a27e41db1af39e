"""Ridge fits for many penalties from one spectrum of the normal equations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.data.summaries.means import means
from thetahat.data.summaries.moments import Moments, require_squares
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.linalg.triangular_factor import triangular_factor
from thetahat.mathematics.linalg.uneven_columns import (
    SMALLEST_SHARE,
    WideRows,
    gram_spectrum,
    triangle_spectrum,
)


@dataclass(frozen=True)
class RidgePath:
    """Ridge fits for all penalties from one spectrum of the normal equations."""

    values: Array
    """Eigenvalues of XᵀX in ascending order; those at rounding level are 0."""
    vectors: Array
    projected: Array
    """c = VᵀXᵀy, shape (d, k); 0 where the eigenvalue is."""
    total: Array
    """Σ w (y − ȳ)², shape (k,)."""
    x_mean: Array
    y_mean: Array
    weight: float
    n_rows: int
    unit: float
    """One power of two for all columns, so that nothing overflows."""
    penalties: Array
    """In the same unit, squared."""

    @classmethod
    def of(cls, source: Source, about: Moments, penalties: Array, *, intercept: bool) -> RidgePath:
        """The spectrum of the moments, for these penalties.

        If XᵀX is too ill-conditioned with the smallest penalty, the rows are read again and their
        triangle is used instead.
        """
        about.require_squares()  # penalties are in their units
        about = about if intercept else about.about_zero()
        d = about.n_features
        unit = float(about.unit[:d].max())
        factor = np.concatenate([about.unit[:d] / unit, about.unit[d:]])
        scatter = about.scatter * factor * factor[:, None]
        with one_blas_thread():
            values, vectors, projected = gram_spectrum(scatter[:d, :d], scatter[:d, d:])
            weakest = float(penalties.min()) / unit**2 if penalties.size else 0.0
            if _is_ill_conditioned(scatter[:d, :d], values, weakest):
                R = triangular_factor(source, about, intercept=intercept).padded()[intercept:]
                R = R[:d, intercept:] * factor
                values, vectors, projected = triangle_spectrum(R[:, :d], R[:, d:])
        return cls(
            values=values,
            vectors=vectors,
            projected=projected,
            total=np.maximum(np.diagonal(scatter)[d:], 0.0),
            x_mean=about.x_mean,
            y_mean=about.y_mean,
            weight=about.weight,
            n_rows=about.n_rows,
            unit=unit,
            penalties=penalties / unit**2,
        )

    @classmethod
    def of_few_rows(cls, source: InMemory, penalties: Array, *, intercept: bool) -> RidgePath:
        """The same spectrum from XXᵀ, n × n: XᵀX has no other non-zero eigenvalues."""
        about = means(source)
        d = source.n_features
        mean = about.mean if intercept else np.zeros_like(about.mean)
        X = source.dense_X
        root = np.sqrt(source.row_weights)
        y = np.asarray(source.y, dtype=np.float64).reshape(len(X), -1)
        rows, target = (X - mean[:d]) * root[:, None], (y - mean[d:]) * root[:, None]
        largest = [np.abs(part).max(axis=0, initial=0.0) for part in (rows, target)]
        require_squares(np.concatenate(largest) * np.sqrt(len(X)), d)
        with one_blas_thread():
            found = WideRows.of(rows, rows @ rows.T)
            projected = np.sqrt(found.squares)[:, None] * (found.left.T @ target)
        if not len(found.squares):  # equal rows: one direction without any effect
            found = WideRows(np.zeros(1), np.zeros((len(X), 1)), np.zeros((d, 1)))
            projected = np.zeros((1, target.shape[1]))
        return cls(
            values=found.squares,
            vectors=found.right,
            projected=projected,
            total=(target**2).sum(axis=0),
            x_mean=mean[:d],
            y_mean=mean[d:],
            weight=about.weight,
            n_rows=len(X),
            unit=1.0,
            penalties=penalties,
        )

    def filters(self) -> Array:
        """1/(λ + α) for every direction and penalty; 0 where both vanish."""
        lifted = self.values[:, None] + self.penalties
        return np.where(lifted > 0, 1.0 / np.where(lifted > 0, lifted, 1.0), 0.0)

    def unpenalised(self) -> Array:
        """1/λ for every direction, 0 in the null space of X."""
        alive = self.values > 0
        return np.where(alive, 1.0 / np.where(alive, self.values, 1.0), 0.0)

    def noise_share(self) -> float:
        """Σ w (y − ŷ)² / Σ w (y − ȳ)² for the smallest penalty; the minimum over the outputs."""
        weak = self.filters()[:, [int(np.argmin(self.penalties))]]
        explained = (self.projected**2 * (2.0 * weak - self.values[:, None] * weak**2)).sum(axis=0)
        return float(np.min(1.0 - explained / np.where(self.total > 0, self.total, 1.0)))

    def coefficients(self, output: int) -> Array:
        """β of every penalty as columns, in units of `unit`."""
        with one_blas_thread():
            return self.vectors @ (self.projected[:, output, None] * self.filters())

    def theta(self, chosen: Array) -> Array:
        """[β; b] with penalty number ``chosen[k]`` for output k, in the units of the data."""
        coef = np.column_stack(
            [self.coefficients(output)[:, index] for output, index in enumerate(chosen)]
        )
        coef = coef / self.unit
        return np.vstack([coef, self.y_mean - self.x_mean @ coef])


def _is_ill_conditioned(gram: Array, values: Array, penalty: float) -> bool:
    """Whether XᵀX + αI, with columns of unit length, has too few digits for its small eigenvalues.

    Different units of the columns alone cost no digits, and they are often the reason for a large
    ratio of the eigenvalues, so that the columns are rescaled only if this ratio is large.
    """
    if values[-1] == 0 or values[0] + penalty >= SMALLEST_SHARE * (values[-1] + penalty):
        return False
    system = gram + np.diag(np.full(len(gram), penalty))
    filled = np.diagonal(system) > 0
    if np.diagonal(system).min() < 0 or not filled.any():
        return True  # only rounding errors make a diagonal entry negative
    system = system[np.ix_(filled, filled)]
    length = np.sqrt(np.diagonal(system))
    return bool(np.linalg.eigvalsh(system / length / length[:, None])[0] < SMALLEST_SHARE)
