"""Whitening: the linear map that gives centred rows the covariance I.

K = diag(1/s)·Vᵀ for the singular values s and directions V of the centred rows. They come from the
covariance if there are at least as many rows as columns and no value is so small that its square
would lose the digits, and from the rows themselves otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from thetahat.data.extremes import require_squares_of_rows
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.data.summaries.frame import dense_rows
from thetahat.foundation.memory import require_memory
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.types import Array
from thetahat.models.decomposition.principal.spectrum import (
    Spectrum,
    covariance_spectrum,
    full_spectrum,
)

ACCURATE = 1e-3
"""Singular values down to this share of the largest one keep ten digits in a covariance."""


@dataclass(frozen=True)
class Whitening:
    """The mean of the rows, K of shape (k, d), and Σw. White rows are √Σw·K(x − mean)."""

    mean: Array
    matrix: Array
    weight: float
    rank: int

    def rows(self, source: Source) -> Array:
        """The white rows, (n, k)."""
        map_ = np.ascontiguousarray(self.matrix.T * np.sqrt(self.weight))

        def of_block(block: Block) -> Array:
            return (dense_rows(block) - self.mean) @ map_

        return source.map_rows(of_block)

    def back(self) -> Array:
        """The pseudo-inverse of K, (d, k)."""
        return (self.matrix / np.einsum("ij,ij->i", self.matrix, self.matrix)[:, None]).T


def whitening(source: Source, k: int | None, *, exact: bool) -> Whitening:
    """The whitening to k directions, or to as many as the rows span. `exact` allows the SVD."""
    d = source.n_features
    by_rows = isinstance(source, InMemory) and source.n_rows < d
    spectrum = None if by_rows else _from_covariance(source)
    if spectrum is not None:
        rank = _rank(spectrum, np.sqrt(EPSILON * d))
        used = min(rank, k or rank)
        smallest = spectrum.values[used - 1] if used else 0.0
        complete = used == (k or min(spectrum.n_rows - 1, d))
        if not exact or (complete and smallest > ACCURATE * spectrum.values[0]):
            return _of(spectrum, k, rank)
    if not isinstance(source, InMemory):
        assert spectrum is not None
        return _of(spectrum, k, rank)
    spectrum = _from_rows(source)
    return _of(spectrum, k, _rank(spectrum, EPSILON * max(source.n_rows, d)))


def _from_covariance(source: Source) -> Spectrum:
    d = source.n_features
    require_memory(8 * 4 * d * d, f"FastICA: the covariance of {d} columns", "Use fewer columns.")
    return covariance_spectrum(source, centre=True)


def _from_rows(source: InMemory) -> Spectrum:
    require_memory(
        8 * 3 * source.n_rows * source.n_features,
        f"FastICA: the singular values of {source.n_rows} × {source.n_features} numbers",
        'Use whiten_solver="eigh", or fewer columns.',
    )
    require_squares_of_rows(source, who="FastICA")
    return full_spectrum(replace(source, X=np.asarray(source.X, dtype=np.float64)), centre=True)


def _rank(spectrum: Spectrum, share: float) -> int:
    """The number of values above rounding errors of the rows and of their mean."""
    noise = 4 * EPSILON * np.sqrt(spectrum.weight) * np.abs(spectrum.mean).max(initial=0.0)
    least = share * spectrum.values.max(initial=0.0) + noise
    return int((spectrum.values > least).sum())


def _of(spectrum: Spectrum, k: int | None, rank: int) -> Whitening:
    used = min(rank, k or rank)
    directions = spectrum.directions[:used]
    # scikit-learn's signs, so that the same start gives the same components.
    signs = np.where(directions[:, :1] < 0, -1.0, 1.0)
    matrix = directions * signs / spectrum.values[:used, None]
    return Whitening(spectrum.mean, matrix, spectrum.weight, rank)
