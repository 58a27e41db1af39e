"""The perceptron and its mistake bound.

If some unit vector w* separates the rows with margin ρ = min |⟨x, w*⟩| and all rows have norm at
most R, then each mistake adds at least ρ to ⟨w, w*⟩ and at most R² to ‖w‖², so at most R²/ρ²
mistakes are made, on any sequence.
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import boolean, finite_vector, none, one_of, whole
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.models.online.online_classifier import OnlineClassifier
from thetahat.models.preprocessing.monomials import MonomialExpansion

LARGEST_ENTRY = 1e150
"""Largest entry of a row whose products with the weights stay finite."""


@with_parameters
class OnlinePerceptron(OnlineClassifier):
    """Online perceptron: learns a halfspace, or a polynomial threshold function, from its mistakes.

    Formula: ŷ = sign⟨w, φ(x)⟩; after a mistake w ← w + y·φ(x). φ appends a constant, which allows
    thresholds other than 0. For degree d it contains all monomials up to d, so that sign p(x) with
    a polynomial p of degree d is a halfspace. At most R²/ρ² mistakes if the rows have margin ρ and
    norm ≤ R in φ.

    Cost: O(size of φ) per row.

    Parameters
    ----------
    degree : int, default=1
        Degree of the polynomial. 1 gives a halfspace; larger values give curved boundaries.
    start : {"zeros", "ones"}, default="zeros"
        Initial values of the weights w.
    bias : bool, default=True
        If True, φ has a constant entry.
    separator : array-like or None, default=None
        A vector w* that separates the rows, in the coordinates of φ (the constant last). If given,
        the margin and the mistake bound are computed.

    Attributes
    ----------
    weights_ : array of shape (size of φ,)
        Current weights, in the coordinates of φ (w).
    radius_ : float
        Largest norm of the rows so far (R).
    margin_ : float
        Smallest margin of the rows so far (ρ). Defined with ``separator``.
    mistake_bound_ : float or None
        The bound R²/ρ², with ``separator`` and ``start="zeros"``.
    progress_ : list of (float, float)
        Values of ⟨w, w*⟩ and ‖w‖² after each mistake, with ``separator``.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.random.default_rng(0).standard_normal((500, 3))
    >>> X = X[np.abs(X @ [1.0, -1.0, 0.0]) > 0.5]
    >>> learner = th.online.OnlinePerceptron(bias=False, separator=[1.0, -1.0, 0.0])
    >>> learner = learner.fit(X, X @ [1.0, -1.0, 0.0] > 0)
    >>> bool(learner.mistakes_ <= learner.mistake_bound_)
    True
    """

    _: KW_ONLY
    degree: int = 1
    start: str = "zeros"
    bias: bool = True
    separator: Any = None

    _ranges = {  # noqa: RUF012
        "degree": whole(1),
        "start": one_of("zeros", "ones"),
        "bias": boolean,
        "separator": none | finite_vector,
    }
    _usual_labels = (-1, 1)

    @property
    def mistake_bound_(self) -> float | None:
        """R²/ρ² over the rows so far; None without a separator, or with ``start="ones"``."""
        if self.separator is None or self.start != "zeros" or not self.margin_ > 0:
            return None
        ratio = self.radius_ / self.margin_
        return ratio * ratio  # a product gives ∞ where a power would raise OverflowError

    def _score(self, coded: Array) -> Array:
        return coded @ self.weights_

    def _is_positive(self, y: Any) -> bool:
        if y not in self.classes_.tolist():
            raise DataError(
                f"OnlinePerceptron: label {y!r} must be one of {self.classes_.tolist()}."
            )
        return bool(y == self.classes_[1])

    def _coded(self, rows: Array) -> Array:
        """φ(x), with the constant last."""
        rows = np.asarray(rows, dtype=float)
        if self.degree > 1:
            rows = self._monomials.transform(rows)
        return np.column_stack([rows, np.ones(len(rows))]) if self.bias else rows

    def _start(self, width: int) -> None:
        if self.degree > 1:
            expansion = MonomialExpansion(degree=self.degree, include_bias=False)
            self._monomials = expansion.fit(np.zeros((1, width)))
        size = self._coded(np.zeros((1, width))).shape[1]
        self.weights_: Array = np.zeros(size) if self.start == "zeros" else np.ones(size)
        self.n_rounds_, self.mistakes_ = 0, 0
        self.radius_, self.margin_ = 0.0, np.inf
        self.progress_: list[tuple[float, float]] = []
        self._direction = None
        if self.separator is not None:
            direction = np.asarray(self.separator, dtype=float)
            if direction.shape != (size,) or not direction.any():
                raise DataError(
                    f"OnlinePerceptron: separator has shape {direction.shape}, but φ has {size} "
                    "entries (monomials, then the constant). Pass one number per entry, not all 0."
                )
            direction = direction / np.abs(direction).max()  # avoids overflow of squares
            self._direction = direction / np.linalg.norm(direction)

    def _learn(self, coded: Array, positive: Array) -> None:
        largest = np.max(abs(coded), initial=0.0)
        if largest > LARGEST_ENTRY:
            row, column = np.argwhere(abs(coded) == largest)[0]
            raise DataError(
                f"OnlinePerceptron: entry {column} of row {row} is {coded[row, column]:.3g}, so "
                f"large that its square overflows; entries must not exceed {LARGEST_ENTRY:g}. "
                "Rescale the column."
            )
        for row, sign in zip(coded, np.where(positive, 1.0, -1.0), strict=True):
            self.n_rounds_ += 1
            self.radius_ = max(self.radius_, float(np.linalg.norm(row)))
            if self._direction is not None:
                self.margin_ = min(self.margin_, float(sign * (row @ self._direction)))
            if (row @ self.weights_ > 0) != (sign > 0):
                self.mistakes_ += 1
                self.weights_ = self.weights_ + sign * row
                if self._direction is not None:
                    along = float(self.weights_ @ self._direction)
                    self.progress_.append((along, float(self.weights_ @ self.weights_)))
