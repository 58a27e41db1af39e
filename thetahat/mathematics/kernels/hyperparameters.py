"""Hyper-parameters of kernels: positive numbers whose logarithms θ are fitted within bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array

WIDE = (1e-5, 1e5)
"""Bounds of a hyper-parameter that was given none."""


@dataclass(frozen=True)
class Hyperparameter:
    """A positive parameter of a kernel: its name, value, and the bounds of a fit."""

    name: str
    value: Any
    """A number, or a tuple with one number per column."""
    bounds: Any = WIDE
    """A pair (low, high), a tuple of pairs with one per column, or "fixed"."""

    @property
    def fixed(self) -> bool:
        """Whether a fit leaves the parameter as it is."""
        return isinstance(self.bounds, str)

    @property
    def n_elements(self) -> int:
        """How many numbers it consists of."""
        return len(self.value) if isinstance(self.value, tuple) else 1

    @property
    def logarithms(self) -> Array:
        """The logarithms of its numbers, of shape (n_elements,)."""
        return np.log(np.atleast_1d(np.asarray(self.value, dtype=np.float64)))

    @property
    def log_bounds(self) -> Array:
        """The logarithms of the bounds, of shape (n_elements, 2)."""
        pairs = np.asarray(self.bounds, dtype=np.float64).reshape(-1, 2)
        with np.errstate(divide="ignore"):
            return np.log(np.broadcast_to(pairs, (self.n_elements, 2)))

    def with_logarithms(self, theta: Array) -> Any:
        """The value that has these logarithms; a logarithm of its own keeps all digits."""
        finite = np.finfo(np.float64)
        own = np.atleast_1d(np.asarray(self.value, dtype=np.float64))
        with np.errstate(over="ignore"):
            raised = np.clip(np.exp(theta), finite.tiny, finite.max)
        numbers = [float(each) for each in np.where(theta == self.logarithms, own, raised)]
        return tuple(numbers) if isinstance(self.value, tuple) else numbers[0]


def checked_bounds(given: Any, known: Hyperparameter, who: str) -> Any:
    """The bounds in a form that can be compared and hashed; raises an error if they are none."""
    if isinstance(given, str) and given == "fixed":
        return given
    try:
        pairs = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        pairs = np.empty(0)
    fits = pairs.shape == (2,) or pairs.shape == (known.n_elements, 2)
    if not fits or not (0 <= pairs[..., 0]).all() or not (pairs[..., 0] < pairs[..., 1]).all():
        raise ParameterError(
            f"{who}: the bounds of {known.name} are {given!r}, but must be a pair (low, high) with "
            f"0 ≤ low < high, {known.n_elements} such pairs, or 'fixed'."
        )
    if pairs.ndim == 1:
        return (float(pairs[0]), float(pairs[1]))
    return tuple((float(low), float(high)) for low, high in pairs)
