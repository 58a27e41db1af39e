"""The constant feature that absorbs the bias: x̃ = [x; 1], w̃ = [w; b], w̃ᵀx̃ = wᵀx + b."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.source import Block
from thetahat.estimator.parameters import one_of
from thetahat.foundation.types import Array
from thetahat.models.preprocessing.rowwise import RowwiseTransformer


class BiasFeature(RowwiseTransformer):
    """Add a feature that is 1 in every row.

    Formula: x → [x, 1] or [1, x]. With w̃ = [w; b], w̃ᵀx̃ = wᵀx + b: a halfspace with any threshold
    becomes one through the origin, and least squares without intercept on x̃ is least squares with
    intercept on x. A penalty or prior on w̃ then covers b too.

    Cost: O(n d), a copy of X.

    Parameters
    ----------
    position : {"last", "first"}, default="last"
        Where the feature stands.

    Examples
    --------
    >>> import thetahat as th
    >>> th.BiasFeature().fit_transform([[3.0, 4.0], [5.0, 6.0]]).tolist()
    [[3.0, 4.0, 1.0], [5.0, 6.0, 1.0]]
    """

    _ranges = {"position": one_of("last", "first")}  # noqa: RUF012

    def __init__(self, *, position: str = "last") -> None:
        self.position = position

    def fit(self, X: Any, y: Any = None) -> BiasFeature:
        """Look at the columns; nothing is learned."""
        self._open(X, supervised=False)
        return self

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns of X, and "bias"."""
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
