"""Shared by all linear models: predictions z = xᵀβ + b, for one row or a whole file."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.data.arrays import like
from thetahat.data.in_memory import InMemory
from thetahat.data.on_device import OnDevice
from thetahat.data.source import Block, Source
from thetahat.data.summaries.frame import dense_rows
from thetahat.data.validation import is_sparse
from thetahat.estimator.base import Estimator
from thetahat.estimator.source_scores import ScoredRegressor
from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.foundation.types import Array
from thetahat.objective.empirical_risk import EmpiricalRisk


class Linear(Estimator):
    """A linear model with fitted ``coef_`` and ``intercept_``, and its raw predictions.

    The parameters below are described here for the subclasses that have them.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit an intercept (b). If False, the intercept is 0 and the data are expected to
        be centred. Penalties do not apply to the intercept.
    positive : bool, default=False
        Whether to force all coefficients to be non-negative (β ≥ 0). The intercept is not
        constrained.
    copy_X : bool, default=True
        Has no effect, because X is never changed. Accepted for compatibility with scikit-learn.
    warm_start : bool, default=False
        Whether to start from the solution of the previous call to `fit`, if there is one. If False,
        the previous solution is ignored.
    verbose : int, default=0
        Whether to print the progress. 1 prints one line per second and how the fit ended, larger
        values print every iteration.
    n_jobs : int or None, default=None
        Has no effect. Accepted for compatibility with scikit-learn; set the number of threads with
        ``th.config(threads=...)``.
    """

    _generative = False
    _parametric = True
    _accepts_sparse = True

    coef_: Array
    intercept_: Array

    @abstractmethod
    def fit(self, X: Any, *data: Any, **params: Any) -> Any:
        """Fit the model.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Training data. A `Source` (see ``th.scan``) is read block by block and contains the
            target.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.
        **params : dict
            Metadata for the splitter `cv`, such as ``groups``. Needs scikit-learn's metadata
            routing: ``sklearn.set_config(enable_metadata_routing=True)``.

        Returns
        -------
        self : object
            The fitted estimator.
        """

    def __sklearn_is_fitted__(self) -> bool:
        """Whether coefficients exist; an interrupted fit may leave ``classes_`` without them."""
        return hasattr(self, "coef_")

    def _raw(self, X: Any) -> Array:
        """z = Xβ + b: (n,), or (n, k) where ``coef_`` is (k, d)."""
        if type(self.__dict__.get("coef_")) is np.ndarray and self._is_small_and_sound(X):
            return X @ self.coef_.T + self.intercept_
        rows = self._open_again(X)
        each = rows.map_few_rows if isinstance(rows, InMemory) else rows.map_rows
        return each(self._raw_block)

    def _raw_block(self, block: Block) -> Array:
        coef = self.coef_
        return block.X @ (coef if coef.ndim == 1 else coef.T) + self.intercept_

    def _shapley_values(self, X: Any, background: Any) -> tuple[Array, Array]:
        """βⱼ(xⱼ − x̄ⱼ) of every row, and the raw prediction at the mean x̄ of the background."""
        check_is_fitted(self)
        held: Any = self.coef_
        held = held.toarray() if is_sparse(held) else held
        coef = np.atleast_2d(np.asarray(held, dtype=np.float64))
        rows = self._open_again(X).map_rows(dense_rows)
        behind = rows if background is X else self._open_again(background).map_rows(dense_rows)
        if len(behind) < 2:
            raise DataError(
                f"{type(self).__name__}: contributions compare a row with the mean of a "
                f"background, which has {len(behind)} row here. Give several rows, such as the "
                "training rows, as background."
            )
        mean = behind.mean(axis=0, dtype=np.float64)
        found = (rows - mean)[:, :, None] * coef.T
        return found, coef @ mean + np.atleast_1d(self.intercept_)

    def _attributes(self, theta: Array, risk: EmpiricalRisk) -> dict[str, Array]:
        """``coef_`` and ``intercept_`` from a flat θ, in scikit-learn's shapes, as X's dtype."""
        coef, intercept = risk.predictor.split(theta)
        dtype = risk.source.dtype
        return {
            "coef_": np.ascontiguousarray(coef.T, dtype=dtype),
            "intercept_": np.asarray(intercept, dtype=dtype)[()],
        }


class LinearRegressor(ScoredRegressor, Linear):
    """A linear regression: its raw prediction is the prediction.

    Attributes
    ----------
    coef_ : array of shape (d,) or (n_targets, d)
        Estimated coefficients (β̂), one row per target if y has several columns.
    intercept_ : float or array of shape (n_targets,)
        Estimated intercept (b̂); 0 if ``fit_intercept=False``.
    """

    _multi_output = True
    _why_no_errors: ClassVar[str] = (
        "the penalty biases the estimate by an amount that is not known from the data"
    )
    """Why `summary` is not available. Classes with standard errors override `summary`."""
    _flattens_one_column: ClassVar[bool] = False
    """Whether y of shape (n, 1) gives ``coef_`` of shape (d,), as it does in some of
    scikit-learn's estimators, but not in its `LinearRegression`."""

    @abstractmethod
    def fit(self, X: Any, *data: Any, **params: Any) -> Any:
        """Fit the model.

        Parameters
        ----------
        y : array-like of shape (n,) or (n, n_targets), optional
            Target values. Leave it out if X is a `Source`.
        """

    def predict(self, X: Any) -> Array:
        """Predict the target: ŷ = Xβ + b. Cost: O(n d).

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to predict, with the same columns as in `fit`. A `Source` is read block by block.

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


class OneTargetRegressor(LinearRegressor):
    """A linear regression for a single target.

    Attributes
    ----------
    coef_ : array of shape (d,)
        Estimated coefficients (β̂), one per column.
    intercept_ : float
        Estimated intercept (b̂); 0 if ``fit_intercept=False``.
    """

    _multi_output = False

    @abstractmethod
    def fit(self, X: Any, *data: Any, **params: Any) -> Any:
        """Fit the model.

        Parameters
        ----------
        y : array-like of shape (n,), optional
            Target values. Leave it out if X is a `Source`.
        """
