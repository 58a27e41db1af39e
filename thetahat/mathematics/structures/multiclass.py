"""One of several classes as a structured output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.parts import whole
from thetahat.mathematics.structures.base import Structure


@dataclass(frozen=True)
class Multiclass(Structure):
    """One of several classes: φ(x, y) holds x in the place of class y, and Δ(y, y′) = 1[y ≠ y′].

    The structured hinge loss is then Crammer and Singer's: max over y′ of
    1[y′ ≠ y] + w_y′·x − w_y·x. Outputs are the codes 0, 1, …, n_classes − 1. Cost: O(n_classes·d)
    for each search.

    Parameters
    ----------
    n_classes : int, default=2
        Number of classes, at least 2.
    n_features : int, default=1
        Number of entries of x.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> structure = th.structures.Multiclass(n_classes=3, n_features=2)
    >>> structure.features(np.array([5.0, 7.0]), 1).tolist()
    [0.0, 0.0, 5.0, 7.0, 0.0, 0.0]
    """

    n_classes: int = whole(2, at_least=2)
    n_features: int = whole(1, at_least=1)

    name = "multiclass"

    def features(self, x: Array, y: int) -> Array:
        """x in the place of its class, zeros elsewhere."""
        found = np.zeros((self.n_classes, self.n_features))
        found[y] = x
        return found.ravel()

    def loss(self, y: int, other: int) -> float:
        """1 for a wrong class, 0 for the right one."""
        return float(y != other)

    def decode(self, x: Array, weights: Array, y: Any = None) -> int:
        """The class with the largest score; of equal ones the first."""
        scores = weights.reshape(self.n_classes, self.n_features) @ x
        if y is not None:
            scores = scores + (np.arange(self.n_classes) != y)
        return int(np.argmax(scores))
