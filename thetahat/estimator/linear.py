"""Shared by all linear models: predictions z = xᵀβ + b, for one row or a whole file."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from thetahat.data.arrays import like
from thetahat.data.on_device import OnDevice
from thetahat.data.source import Block, Source
from thetahat.estimator.base import Estimator
from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.types import Array, Matrix
from thetahat.objective.empirical_risk import EmpiricalRisk

DIRECT_SIZE = 8192
"""Entries up to which BLAS uses one thread, so the result does not depend on the thread count."""


class Linear(Estimator):
    """A linear model with fitted ``coef_`` and ``intercept_``, and its raw predictions."""

    _accepts_sparse = True

    coef_: Array
    intercept_: Array

    def __sklearn_is_fitted__(self) -> bool:
        """Whether coefficients exist; an interrupted fit may leave ``classes_`` without them."""
        return hasattr(self, "coef_")

    def _raw(self, X: Any) -> Array:
        """z = Xβ + b: (n,), or (n, k) where ``coef_`` is (k, d)."""
        fitted = self.__dict__
        # Many calls with small arrays are common in production, so they are checked by one sum
        # only. (z cannot be checked instead: a NaN in X times a coefficient 0 may not show.)
        if (
            type(X) is np.ndarray
            and X.ndim == 2
            and X.size <= DIRECT_SIZE
            and "feature_names_in_" not in fitted
            and X.dtype.char in "df"
            and type(fitted.get("coef_")) is np.ndarray
            and X.shape[1] == self.n_features_in_
            and X.shape[0]
            and _is_finite(X)
        ):
            return X @ self.coef_.T + self.intercept_
        return self._open_again(X).map_rows(self._raw_block)

    def _raw_block(self, block: Block) -> Array:
        coef = self.coef_
        return block.X @ (coef if coef.ndim == 1 else coef.T) + self.intercept_

    def _attributes(self, theta: Array, risk: EmpiricalRisk) -> dict[str, Array]:
        """``coef_`` and ``intercept_`` from a flat θ, in scikit-learn's shapes, as X's dtype."""
        coef, intercept = risk.predictor.split(theta)
        dtype = risk.source.dtype
        return {
            "coef_": np.ascontiguousarray(coef.T, dtype=dtype),
            "intercept_": np.asarray(intercept, dtype=dtype)[()],
        }


def _is_finite(X: Matrix) -> bool:
    """Whether no entry is NaN or infinite, in which case the sum is finite too."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(X.sum()))


class LinearRegressor(RegressorMixin, Linear):
    """A linear regression: its raw prediction is the prediction."""

    _multi_output = True
    _why_no_errors: ClassVar[str] = (
        "the penalty biases the estimate by an amount that is not known from the data"
    )
    """Why `summary` is not available. Classes with standard errors override `summary`."""
    _flattens_one_column: ClassVar[bool] = False
    """Whether y of shape (n, 1) gives ``coef_`` of shape (d,), as it does in some of
    scikit-learn's estimators, but not in its `LinearRegression`."""

    def predict(self, X: Any) -> Array:
        """Predict the target: ŷ = Xβ + b. Cost: O(n d).

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to predict. A `Source` is read block by block.

        Returns
        -------
        y : array of shape (n,) or (n, n_targets)
            Predicted values.
        """
        return self._raw(X)

    def summary(self, *rows: Any, **options: Any) -> Any:
        """Not available: always raises `CapabilityError`. Cost: O(1).

        This estimator has no formula for standard errors. `LinearRegression`, `LinearModel` without
        a penalty and `BayesianRidge` have a summary. For other estimators, resample the rows with
        ``th.bootstrap``.
        """
        raise CapabilityError(
            f"{type(self).__name__}: no valid standard errors are known for this fit: "
            f"{self._why_no_errors}. Resample the rows with th.bootstrap."
        )

    def _keep(self, theta: Array, source: Source) -> None:
        """Store ``coef_`` and ``intercept_`` from the stack [β; b] of shape (d + 1, k)."""
        self.__dict__.update(self._shaped(theta, source))

    def _shaped(self, theta: Array, source: Source) -> dict[str, Array]:
        """``coef_`` and ``intercept_`` in scikit-learn's shapes and the dtype of X."""
        coef = np.ascontiguousarray(theta[:-1].T, dtype=source.dtype)
        intercept = np.asarray(theta[-1], dtype=source.dtype)
        if isinstance(source, OnDevice):
            coef, intercept = like(coef, source.X), like(intercept, source.X)
        if source.n_outputs:
            flat = source.n_outputs == 1 and self._flattens_one_column
            return {"coef_": coef[0] if flat else coef, "intercept_": intercept}
        return {"coef_": coef[0], "intercept_": intercept[0]}
