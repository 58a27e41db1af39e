"""What all linear models share: z = xᵀβ + b, fast for one row and for a whole file."""

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
"""Entries up to which BLAS works on one thread anyway, so that the bits cannot differ."""


class Linear(Estimator):
    """A fitted ``coef_`` and ``intercept_``, and raw predictions from them."""

    _accepts_sparse = True

    coef_: Array
    intercept_: Array

    def __sklearn_is_fitted__(self) -> bool:
        """Labels alone, which an interrupted fit may leave, are no model."""
        return hasattr(self, "coef_")

    def _raw(self, X: Any) -> Array:
        """z = Xβ + b: (n,), or (n, k) where ``coef_`` is (k, d)."""
        fitted = self.__dict__
        # One small array after another is the common case in production: no validation beyond
        # one sum. (A NaN in X need not show in z: it may meet a coefficient that is 0.)
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
        """β and b of a risk's flat θ, in scikit-learn's shapes and the precision of the data."""
        coef, intercept = risk.predictor.split(theta)
        dtype = risk.source.dtype
        return {
            "coef_": np.ascontiguousarray(coef.T, dtype=dtype),
            "intercept_": np.asarray(intercept, dtype=dtype)[()],
        }


def _is_finite(X: Matrix) -> bool:
    """Whether no entry is NaN or infinite: one of them would be left in the sum."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(X.sum()))


class LinearRegressor(RegressorMixin, Linear):
    """A linear model whose raw prediction is the prediction."""

    _multi_output = True
    _why_no_errors: ClassVar[str] = (
        "the penalty pulls the estimate by an amount that the data do not tell"
    )
    """Why `summary` is refused; classes whose fit gives errors have a `summary` of their own."""
    _flattens_one_column: ClassVar[bool] = False
    """Whether y of shape (n, 1) gives ``coef_`` of shape (d,), as it does in some of
    scikit-learn's estimators, but not in its `LinearRegression`."""

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
        return self._raw(X)

    def summary(self, *rows: Any, **options: Any) -> Any:
        """Refused: no standard errors follow from this fit. Cost: O(1).

        Estimators whose likelihood or posterior gives them (`LinearRegression`, `LinearModel`
        without a penalty, `BayesianRidge`) say them here; for all others ``th.bootstrap`` resamples
        the rows.
        """
        raise CapabilityError(
            f"{type(self).__name__}: standard errors would not mean what they say: "
            f"{self._why_no_errors}. Resample the rows with th.bootstrap."
        )

    def _keep(self, theta: Array, source: Source) -> None:
        """Store β and b from their stack [β; b] of shape (d + 1, k)."""
        self.__dict__.update(self._shaped(theta, source))

    def _shaped(self, theta: Array, source: Source) -> dict[str, Array]:
        """β and b in scikit-learn's shapes, in the precision of the data."""
        coef = np.ascontiguousarray(theta[:-1].T, dtype=source.dtype)
        intercept = np.asarray(theta[-1], dtype=source.dtype)
        if isinstance(source, OnDevice):
            coef, intercept = like(coef, source.X), like(intercept, source.X)
        if source.n_outputs:
            flat = source.n_outputs == 1 and self._flattens_one_column
            return {"coef_": coef[0] if flat else coef, "intercept_": intercept}
        return {"coef_": coef[0], "intercept_": intercept[0]}
