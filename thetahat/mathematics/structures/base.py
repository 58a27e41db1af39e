"""Interface of structured outputs: what a prediction ŷ = argmax_y w·φ(x, y) needs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import is_dataclass
from typing import Any

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.parts import Part


class Structure(Part, ABC):
    """Base class of structured outputs: joint features, a loss, and the search for the best output.

    Formula: ŷ(x) = argmax_y w·φ(x, y), and while learning argmax_y′ Δ(y, y′) + w·φ(x, y′), the
    output that violates its margin most. A subclass defines `features` (φ), `loss` (Δ) and
    `decode`, for inputs x and outputs y of any kind. Cost: that of the three functions.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> class Subset(th.structures.Structure):
    ...     "Which of the columns belong to the row: y is an array of 0 and 1."
    ...     def features(self, x, y):
    ...         return np.append(x * y, y.sum())
    ...     def loss(self, y, other):
    ...         return float(np.abs(y - other).sum())
    ...     def decode(self, x, weights, y=None):
    ...         gain = weights[:-1] * x + weights[-1] + (0 if y is None else 1 - 2 * y)
    ...         return (gain > 0).astype(float)
    >>> X = np.array([[3.0, -1.0], [-2.0, 4.0], [1.0, 2.0]])
    >>> Y = list((X > 0).astype(float))
    >>> model = th.StructuredSVM(Subset(), alpha=0.01).fit(list(X), Y)
    >>> model.predict([np.array([2.0, -3.0])])[0].tolist()
    [1.0, 0.0]
    """

    @abstractmethod
    def features(self, x: Any, y: Any) -> Array:
        """Joint features φ(x, y) of an input and an output, a vector of fixed length."""

    @abstractmethod
    def loss(self, y: Any, other: Any) -> float:
        """Cost Δ(y, y′) ≥ 0 of predicting `other` for `y`; 0 if they are equal."""

    @abstractmethod
    def decode(self, x: Any, weights: Array, y: Any = None) -> Any:
        """The output with the largest score w·φ(x, y′), plus Δ(y, y′) if `y` is given."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; none for a class that is not a dataclass."""
        return super().get_params(deep) if is_dataclass(self) else {}

    def key(self, y: Any) -> Hashable:
        """A value that is equal for equal outputs."""
        if isinstance(y, Hashable):
            return y
        values = np.asarray(y)
        return (values.shape, values.dtype.str, values.tobytes())
