"""Grids of parameter values: their axes, their weights in sums, and draws around their points.

An integral over a continuous axis is a sum with the weights of the trapezoid rule. This is the
exact integral of the function that joins the values by straight lines.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from thetahat.foundation.arguments import numbers
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.types import Array


@dataclass(frozen=True, eq=False)
class ParameterGrid:
    """The axes of a grid: the values of each parameter, and whether it is discrete."""

    axes: dict[str, Array]
    discrete: frozenset[str]

    @classmethod
    def of(cls, grid: Any, discrete: bool | Collection[str], who: str) -> ParameterGrid:
        """Read a grid: the values of one parameter, or a dict of name to values."""
        given = dict(grid) if isinstance(grid, Mapping) else {"theta": grid}
        if not given:
            raise DataError(f"{who}: grid is empty. Give the values of at least one parameter.")
        if isinstance(discrete, bool):
            names = frozenset(given) if discrete else frozenset()
        else:
            names = frozenset([discrete] if isinstance(discrete, str) else discrete)
        unknown = names - set(given)
        if unknown:
            raise ParameterError(
                f"{who}: discrete names {sorted(unknown)[0]!r}, but the parameters are "
                f"{list(given)}."
            )
        axes = {
            name: _points(values, name, who) if name in names else _ascending(values, name, who)
            for name, values in given.items()
        }
        size = 8 * prod(each.size for each in axes.values())
        require_memory(4 * size, f"The grid of {who}", "Use fewer points per parameter.")
        return cls(axes, names)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of values of each parameter."""
        return tuple(values.size for values in self.axes.values())

    @property
    def mesh(self) -> tuple[Array, ...]:
        """The values of each parameter, shaped so that they broadcast to the grid."""
        return tuple(np.ix_(*self.axes.values()))

    @property
    def log_weights(self) -> Array:
        """Logarithm of the weight of every point, by the trapezoid rule; 0 if discrete."""
        total = np.zeros(self.shape)
        for place, (name, values) in enumerate(self.axes.items()):
            if name not in self.discrete:
                shape = [1] * len(self.axes)
                shape[place] = values.size
                total += np.log(trapezoid_weights(values)).reshape(shape)
        return total

    def values_of(self, given: Any, name: str, who: str) -> Array:
        """Values at every point, from an array that broadcasts or a function of the parameters."""
        if callable(given):
            given = given(*self.mesh)
        found = numbers(given, name, who, finite=False)
        try:
            return np.broadcast_to(found, self.shape)
        except ValueError:
            raise DataError(
                f"{who}: {name} has shape {found.shape}, but the grid has shape {self.shape}. Give "
                "one value for each point of the grid."
            ) from None

    def scatter(self, name: str, places: Array, random: np.random.Generator) -> Array:
        """Values drawn around the points of an axis, from hats that join neighbouring points.

        A function that is linear between the points is a sum of such hats, so that a point chosen
        with its share of the integral and a draw from its hat follow this function exactly.
        """
        values = self.axes[name]
        if name in self.discrete:
            return values[places]
        left = values[np.maximum(places - 1, 0)]
        right = values[np.minimum(places + 1, values.size - 1)]
        return random.triangular(left, values[places], right)


def trapezoid_weights(values: Array) -> Array:
    """The weights of the trapezoid rule on points in ascending order."""
    gaps = np.diff(values)
    return (np.append(gaps, 0.0) + np.insert(gaps, 0, 0.0)) / 2


def normalised(logs: Array, log_weights: Array, who: str) -> tuple[Array, float]:
    """Logarithms minus that of their integral, and this logarithm."""
    weighted = logs + log_weights
    top = weighted.max()
    if top == -np.inf:
        raise DataError(
            f"{who}: the prior times the likelihood is 0 at every point of the grid, so that the "
            "posterior is not defined. Extend the grid to parameters under which the data are "
            "possible."
        )
    total = float(top + np.log(np.exp(weighted - top).sum()))
    return logs - total, total


def linear_quantiles(values: Array, density: Array, wanted: Array) -> Array:
    """Quantiles of a density that is linear between the points."""
    gaps = np.diff(values)
    below = np.concatenate([[0.0], np.cumsum(gaps * (density[1:] + density[:-1]) / 2)])
    share = wanted * below[-1]
    place = np.searchsorted(below, share)
    # The quantile 0 is where the density begins, which may be far from the first point.
    place = np.where(share > 0, place, np.searchsorted(below, 0.0, side="right"))
    place = np.clip(place - 1, 0, gaps.size - 1)
    first, rise, area = density[place], density[place + 1] - density[place], share - below[place]
    # The root of first·s + rise·s²/2 = area/gap in the form that does not cancel.
    goal = area / gaps[place]
    root = first + np.sqrt(np.maximum(first**2 + 2.0 * rise * goal, 0.0))
    step = np.divide(2.0 * goal, root, out=np.zeros_like(goal), where=root > 0)
    return values[place] + gaps[place] * np.minimum(step, 1.0)


def _points(values: Any, name: str, who: str) -> Array:
    found = np.asarray(values)
    if found.ndim != 1 or found.size == 0:
        raise DataError(
            f"{who}: the values of {name!r} have shape {found.shape}; give at least one value."
        )
    if found.dtype.kind == "f":
        found = numbers(found, name, who)
    if len(set(found.tolist())) < found.size:
        raise DataError(f"{who}: the values of {name!r} are not distinct. Give each once.")
    return found


def _ascending(values: Any, name: str, who: str) -> Array:
    found = numbers(values, name, who)
    if found.ndim != 1 or found.size < 2:
        raise DataError(
            f"{who}: the grid of {name!r} has shape {found.shape}; a density needs at least two "
            "points. Use discrete=True for probabilities of single values."
        )
    falls = np.diff(found) <= 0
    if falls.any():
        place = int(falls.argmax())
        raise DataError(
            f"{who}: the grid of {name!r} must be strictly ascending, but {found[place]:g} is "
            f"followed by {found[place + 1]:g}. Sort it and remove repeated points."
        )
    return found
