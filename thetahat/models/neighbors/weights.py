"""The weights of neighbours in a prediction: equal, by distance, or by a function of the user."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.foundation.arguments import returned_numbers
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.models.neighbors.search.found import Within


def neighbor_weights(distance: Array, weights: Any, who: str, first: int = 0) -> Array | None:
    """The weights of neighbours from their distances, (n, k); None if all are equal.

    By distance they are 1/d, and if a neighbour is at distance 0, only those at distance 0 count;
    so do neighbours alone to which a function gives an infinite weight.
    Neighbours at infinite distance count only if there are no others.
    """
    if weights is None or (isinstance(weights, str) and weights == "uniform"):
        return None
    if callable(weights):
        found = returned_numbers(weights(distance), f"{who}: the function weights")
        if found.shape != distance.shape or not (found >= 0).all():
            raise ParameterError(
                f"{who}: the function weights must return one number ≥ 0 for each distance; for "
                f"distances of shape {distance.shape} it returned shape {found.shape}, with values "
                f"from {found.min(initial=np.inf):g} to {found.max(initial=-np.inf):g}."
            )
        if not (counts := found.any(axis=-1)).all():
            raise DataError(
                f"{who}: the function weights is 0 for all neighbours of row "
                f"{first + int(np.argmin(counts))}, so that nothing can be predicted there. Use "
                "more neighbours, or weights that are positive at larger distances."
            )
        return _finite_weights(found)
    distance = distance.astype(np.float64)
    least = distance.min(axis=-1, keepdims=True, initial=np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = _units(least) / distance
    inverse = np.where(least == 0, distance == 0, inverse)
    return np.where(inverse.any(axis=-1, keepdims=True), inverse, 1.0)


LARGEST_WEIGHT = 1e150
"""Larger weights are scaled, so that their sums with targets do not overflow."""


def _finite_weights(weight: Array) -> Array:
    """The weights of a function, with finite sums: infinite ones count alone, and equally."""
    largest = weight.max(axis=-1, keepdims=True, initial=0.0)
    if not largest.max(initial=0.0) > LARGEST_WEIGHT:
        return weight
    infinite = np.isinf(largest)
    return np.where(infinite, np.isinf(weight), weight / np.where(infinite, 1.0, largest))


def flat_weights(found: Within, weights: Any, who: str, first: int = 0) -> Array | None:
    """As `neighbor_weights`, for neighbours within a radius; `first` is the number of row 0."""
    if weights is None or (isinstance(weights, str) and weights == "uniform"):
        return None
    offsets, counts = found.offsets, found.counts
    if not callable(weights):
        return _inverse_distances(found.distance, offsets[:-1][counts > 0], counts[counts > 0])
    flat = np.empty(found.row.shape[0])
    for i in np.flatnonzero(counts):
        some = slice(offsets[i], offsets[i + 1])
        weight = neighbor_weights(found.distance[None, some], weights, who, first + int(i))
        assert weight is not None
        flat[some] = weight[0]
    return flat


def _inverse_distances(distance: Array, start: Array, counts: Array) -> Array:
    """1/d as in `neighbor_weights`, for lists of neighbours that begin at `start`."""
    distance = distance.astype(np.float64)
    at_zero = distance == 0
    unit: Any = 1.0
    if distance.min(initial=np.inf) < 1 / LARGEST_WEIGHT:
        unit = np.repeat(_units(np.minimum.reduceat(distance, start)), counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = unit / distance
    if at_zero.any():
        inverse[np.repeat(np.logical_or.reduceat(at_zero, start), counts)] = 0.0
        inverse[at_zero] = 1.0
    if not inverse.all():
        inverse[np.repeat(~np.logical_or.reduceat(inverse != 0, start), counts)] = 1.0
    return inverse


def _units(least: Array) -> Array:
    """1, or the smallest distance where its inverse is too large for a sum of weights."""
    return np.where(least < 1 / LARGEST_WEIGHT, least, 1.0)


def summable_targets(targets: Array) -> tuple[Array, float]:
    """The targets in a unit in which weighted sums of them are finite, and this unit."""
    largest = max(float(targets.max(initial=0.0)), -float(targets.min(initial=0.0)))
    if largest <= LARGEST_WEIGHT:
        return targets, 1.0
    unit = 2.0 ** np.frexp(largest)[1] if largest < 2.0**1023 else 2.0**1023
    return targets / unit, float(unit)
