"""What all linear regressors share: f(x) = xᵀβ + b, fast for one row and for a whole file."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from thetahat.data.arrays import like
from thetahat.data.on_device import OnDevice
from thetahat.data.source import Block, Source
from thetahat.estimator.base import Estimator

Array = Any
DIRECT_SIZE = 8192
"""Entries up to which BLAS works on one thread anyway, so that the bits cannot differ."""


class LinearRegressor(RegressorMixin, Estimator):
    """A fitted ``coef_`` and ``intercept_``, and predictions from them."""

    _accepts_sparse = True
    _multi_output = True

    coef_: Array
    intercept_: Array

    def predict(self, X: Any) -> Array:
        """ŷ = Xβ + b. Cost: O(n d); a `Source` is read block by block.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to predict.

        Returns
        -------
        array of shape (n,) or (n, n_targets)
        """
        fitted = self.__dict__
        # One small array after another is the common case in production: no validation beyond
        # what the answer itself shows. A NaN or infinity in X always leaves one in X @ coef.
        if (
            type(X) is np.ndarray
            and X.ndim == 2
            and X.size <= DIRECT_SIZE
            and "feature_names_in_" not in fitted
            and X.dtype.char in "df"
            and "coef_" in fitted
            and X.shape[1] == self.n_features_in_
            and X.shape[0]
        ):
            predicted = X @ self.coef_.T + self.intercept_
            if np.isfinite(predicted.sum()):
                return predicted
        source = self._open_again(X)
        return source.map_rows(self._predict_block)

    def _predict_block(self, block: Block) -> Array:
        coef = self.coef_
        return block.X @ (coef if coef.ndim == 1 else coef.T) + self.intercept_

    def _keep(self, theta: Array, source: Source) -> None:
        """Store β and b from their stack [β; b] of shape (d + 1, k)."""
        self.__dict__.update(self._shaped(theta, source))

    @staticmethod
    def _shaped(theta: Array, source: Source) -> dict[str, Array]:
        """β and b in scikit-learn's shapes, in the precision of the data."""
        coef = np.ascontiguousarray(theta[:-1].T, dtype=source.dtype)
        intercept = np.asarray(theta[-1], dtype=source.dtype)
        if isinstance(source, OnDevice):
            coef, intercept = like(coef, source.X), like(intercept, source.X)
        if source.n_outputs:
            return {"coef_": coef, "intercept_": intercept}
        return {"coef_": coef[0], "intercept_": intercept[0]}
