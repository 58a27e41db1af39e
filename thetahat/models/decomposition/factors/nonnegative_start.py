"""Where the search for non-negative factors starts: random numbers, or singular vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.foundation.arguments import numbers
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.randomness import RandomState, generator
from thetahat.foundation.types import Array
from thetahat.models.decomposition.principal.spectrum import (
    Spectrum,
    covariance_spectrum,
    full_spectrum,
    randomized_spectrum,
    start_generator,
)

SMALL = 200
"""Largest number of rows and columns for which LAPACK computes all singular values."""
FEW_COLUMNS = 100
"""Number of columns up to which all eigenvalues of XᵀX take less time than random vectors."""
NEGLIGIBLE = 1e-6
"""Entries below this share of the largest one are set to 0."""
SHRINKING = 3.0
"""Multiplicative updates shrink entries faster than they grow, so that they start larger."""
LOST = 1e-7
"""Singular values below this share of the largest one are 0 up to rounding errors."""


def nonnegative_start(
    source: InMemory, k: int, init: str, multiplies: bool, random_state: RandomState
) -> tuple[Array, Array]:
    """W of shape (n, k) and Hᵀ of shape (d, k) in the precision of X. Cost: that of k SVD vectors.

    The singular vectors u, v of each value are replaced by their positive or by their negative
    parts, whichever product is larger (Boutsidis and Gallopoulos, 2008).
    """
    n, d, dtype = source.n_rows, source.n_features, source.dtype
    mean = float(source.X.sum(dtype=np.float64)) / (n * d)
    level = np.sqrt(mean / k)  # with entries of this size, WH has the mean of X
    if init == "random":
        rng = generator(random_state)
        W, Ht = (level * np.abs(rng.standard_normal((size, k))) for size in (n, d))
        return W.astype(dtype), Ht.astype(dtype)
    found = _spectrum(source, k, random_state)
    W, Ht = np.zeros((n, k)), np.zeros((d, k))
    scores = np.asarray(source.X @ found.directions.T.astype(dtype), dtype=np.float64)
    for j, value in enumerate(found.values):
        if not value > LOST * found.values[0]:
            break
        u, v = scores[:, j] / value, found.directions[j].astype(np.float64)
        if j == 0:  # the vectors of a non-negative matrix, up to their sign
            u, v = np.abs(u), np.abs(v)
        sides = [(np.maximum(sign * u, 0.0), np.maximum(sign * v, 0.0)) for sign in (1.0, -1.0)]
        sizes = [(np.linalg.norm(a), np.linalg.norm(b)) for a, b in sides]
        best = int(sizes[1][0] * sizes[1][1] > sizes[0][0] * sizes[0][1])
        (a, b), (left, right) = sides[best], sizes[best]
        if left > 0 and right > 0:
            size = np.sqrt(value * left * right)
            W[:, j], Ht[:, j] = a * (size / left), b * (size / right)
    rng = generator(random_state)
    for factor in (W, Ht):
        empty = factor < NEGLIGIBLE * factor.max(initial=0.0)
        empty |= factor == 0
        factor[empty] = 0.0
        if init == "nndsvda":
            factor[empty] = SHRINKING * level if multiplies else level
        elif init == "nndsvdar":
            factor[empty] = level * np.abs(rng.standard_normal(int(empty.sum()))) / 100
    return W.astype(dtype), Ht.astype(dtype)


def _spectrum(source: InMemory, k: int, random_state: RandomState) -> Spectrum:
    n, d = source.n_rows, source.n_features
    if not source.is_sparse and max(n, d) <= SMALL:
        return full_spectrum(source, centre=False).leading(k)
    if d <= FEW_COLUMNS:
        return covariance_spectrum(source, centre=False).leading(k)
    return randomized_spectrum(source, k, centre=False, n_iter=2, rng=start_generator(random_state))


def given_start(
    value: Any,
    shape: tuple[int, int],
    name: str,
    who: str,
    need: str = "init='custom' needs both W and H, which other kinds of init do not",
) -> Array:
    """A matrix of the user, to start from or to keep; ``need`` says why it must be there."""
    if value is None:
        raise ParameterError(f"{who}: {need}, but {name} is None. Pass an array of shape {shape}.")
    matrix = numbers(value, name, who)
    for axis, word in enumerate(("first", "second")):
        if matrix.ndim != 2 or matrix.shape[axis] != shape[axis]:
            raise ParameterError(
                f"{who}: Array with wrong {word} dimension passed to {who} (input {name}). "
                f"Expected the shape {shape}, but got {matrix.shape}."
            )
    if (matrix < 0).any():
        raise ParameterError(
            f"Negative values in data passed to {who} (input {name}). All entries must be at "
            "least 0."
        )
    if not matrix.any():
        raise ParameterError(
            f"{who}: Array passed to {who} (input {name}) is full of zeros, from which no "
            "update leads away. Pass positive numbers."
        )
    return matrix
