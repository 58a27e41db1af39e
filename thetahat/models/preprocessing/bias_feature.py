"""A constant feature that replaces the intercept: x̃ = [x; 1], w̃ = [w; b], w̃ᵀx̃ = wᵀx + b."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from thetahat.data.source import Block
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import one_of
from thetahat.foundation.types import Array
from thetahat.models.preprocessing.rowwise import RowwiseTransformer


@with_parameters
class BiasFeature(RowwiseTransformer):
    """Add a constant feature with the value 1.

    Least squares without intercept on the result is least squares with intercept on x. A penalty on
    the coefficients then applies to the intercept too.

    Formula: x → [x, 1] or [1, x]. With w̃ = [w; b], w̃ᵀx̃ = wᵀx + b, so a halfspace with any
    threshold becomes one through the origin.

    Cost: O(n d), a copy of X.

    Parameters
    ----------
    position : {"last", "first"}, default="last"
        Whether the constant feature comes after or before the columns of X.

    Examples
    --------
    >>> import thetahat as th
    >>> th.BiasFeature().fit_transform([[3.0, 4.0], [5.0, 6.0]]).tolist()
    [[3.0, 4.0, 1.0], [5.0, 6.0, 1.0]]
    """

    _: KW_ONLY
    position: str = "last"

    _ranges = {"position": one_of("last", "first")}  # noqa: RUF012

    def fit(self, X: Any, y: Any = None) -> BiasFeature:
        """Store the columns; nothing is estimated. Cost: O(n d)."""
        self._open(X, supervised=False)
        return self

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the columns of `transform`. Cost: O(n_features_out).

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the columns of X. None uses the names seen in `fit`, or x0, x1, ….

        Returns
        -------
        array of str
            The names of the columns of X, and "bias".
        """
        names = super().get_feature_names_out(input_features)
        return np.insert(names, self._place, "bias")

    @property
    def _n_features_out(self) -> int:
        return self.n_features_in_ + 1

    @property
    def _place(self) -> int:
        return 0 if self.position == "first" else self.n_features_in_

    def _transform_block(self, block: Block) -> Array:
        return np.insert(block.X, self._place, 1.0, axis=1)
