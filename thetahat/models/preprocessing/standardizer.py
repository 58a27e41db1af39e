"""Standardised columns z = (x − c)/s, and the coefficients of models in the original units.

A linear model ẑ_y = z_xᵀβ_std + b_std, fitted to standardised x and y, has in the units of the data
the coefficients

    β_j = β_std,j · s_y / s_j,        b = s_y · b_std + c_y − Σ_j c_j β_j.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from thetahat.data.source import Block, Source
from thetahat.data.summaries.frame import provisional_frame
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, none, one_of
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.types import Array
from thetahat.models.preprocessing.rowwise import RowwiseTransformer
from thetahat.objective.conditioning import in_data_units

_numbers = Range(
    lambda value: np.ndim(value) <= 1 and np.asarray(value).dtype.kind in "iuf",
    "a number or one per column",
)


@with_parameters
class Standardizer(RowwiseTransformer):
    """Centre and scale every column, by its own statistics or by given numbers.

    `transform` applies the statistics of `fit` to new rows; a constant column is centred but not
    scaled. Unlike scikit-learn's ``StandardScaler``, it can also read a `Source` larger than
    memory.

    Formula: z = (x − c)/s. By default c is the mean and s the standard deviation √(Σ(x − x̄)²/n),
    so that z has mean 0 and variance 1. With ``scale="length"``, s = √Σ(x − c)², so that Σz² = 1.
    Given numbers c = μ and s = σ yield the z-score of a population.

    Cost: O(n d) time in two passes, O(d) memory besides the data.

    Parameters
    ----------
    center : "mean", float, array of shape (d,) or None, default="mean"
        What is subtracted from each column (c): its mean, one number for all columns, or one per
        column. None does not centre.
    scale : "deviation", "length", float, array of shape (d,) or None, default="deviation"
        What each column is divided by (s): its standard deviation, its length, one number for all
        columns, or one per column. Numbers must be positive. None does not scale.

    Attributes
    ----------
    mean_ : array of shape (d,)
        Values that are subtracted (c); zeros if the columns are not centred.
    scale_ : array of shape (d,)
        Values that the columns are divided by (s); ones if they are not scaled.

    Examples
    --------
    >>> import thetahat as th
    >>> th.Standardizer().fit_transform([[1.0], [3.0]]).tolist()
    [[-1.0], [1.0]]
    >>> th.Standardizer(center=100.0, scale=15.0).fit_transform([[130.0]]).tolist()
    [[2.0]]
    """

    _: KW_ONLY
    center: Any = "mean"
    scale: Any = "deviation"

    _ranges = {  # noqa: RUF012
        "center": one_of("mean") | none | _numbers,
        "scale": one_of("deviation", "length") | none | _numbers,
    }

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Standardizer:
        """Compute the centre and the scale of each column. Cost: O(n d)."""
        source = self._open(X, None, sample_weight, supervised=False)
        learns = isinstance(self.center, str) or isinstance(self.scale, str)
        spread = _spread(source) if learns else None
        self.mean_ = self._centre(spread)
        self.scale_ = self._size(spread)
        return self

    def inverse_transform(self, X: Any) -> Array:
        """Transform back to the original units, x = c + s·z. Cost: O(n d).

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            Transformed rows, as returned by `transform`.

        Returns
        -------
        array of shape (n, d)
            The rows in their original units.
        """
        return self._open_result(X).map_rows(
            lambda block: (block.X * self.scale_ + self.mean_).astype(block.X.dtype, copy=False)
        )

    def _transform_block(self, block: Block) -> Array:
        return (block.X - self.mean_) / self.scale_

    def _centre(self, spread: _Spread | None) -> Array:
        if isinstance(self.center, str):
            assert spread is not None
            return spread.mean
        return self._per_column("center", 0.0 if self.center is None else self.center)

    def _size(self, spread: _Spread | None) -> Array:
        if isinstance(self.scale, str):
            assert spread is not None
            return spread.deviation if self.scale == "deviation" else spread.length(self.mean_)
        known = self._per_column("scale", 1.0 if self.scale is None else self.scale)
        if not (known > 0).all():
            column = int(np.flatnonzero(~(known > 0))[0])
            raise ParameterError(
                f"Standardizer: scale is {known[column]:g} for column {self._label(column)}; "
                "it must be > 0."
            )
        return known

    def _per_column(self, name: str, value: Any) -> Array:
        numbers = np.asarray(value, dtype=np.float64)
        if numbers.ndim == 1 and len(numbers) != self.n_features_in_:
            raise ParameterError(
                f"Standardizer: {name} has {len(numbers)} numbers, but X has {self.n_features_in_} "
                "columns. Pass one number per column, or one for all."
            )
        if not np.isfinite(numbers).all():
            raise ParameterError(f"Standardizer: {name}={value!r} must be finite.")
        return np.broadcast_to(numbers, (self.n_features_in_,)).copy()


def unstandardize(
    coef: Any, intercept: Any, x_scaler: Any = None, y_scaler: Any = None
) -> tuple[Array, Array]:
    """Convert coefficients of a model fitted to standardised data to the units of the data.

    The predictions stay the same.

    Formula: with z = (x − c)/s, β_j = β_std,j · s_y/s_j and b = s_y·b_std + c_y − Σ_j c_j β_j.

    Cost: O(d k).

    Parameters
    ----------
    coef : array-like of shape (d,) or (k, d)
        Coefficients of the fitted model, ``coef_`` (β_std).
    intercept : float or array-like of shape (k,)
        Intercept of the fitted model, ``intercept_`` (b_std).
    x_scaler : fitted scaler or None, default=None
        Scaler of X: a `Standardizer`, or scikit-learn's ``StandardScaler``, ``RobustScaler``,
        ``MaxAbsScaler`` or ``MinMaxScaler``. None if X was not scaled.
    y_scaler : fitted scaler or None, default=None
        Scaler of y, of the same kinds. None if y was not scaled.

    Returns
    -------
    coef, intercept
        Coefficients β and intercept b in the units of the data, in the shapes of the input.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X, y = np.array([[1.0], [2.0], [4.0]]), np.array([3.0, 5.0, 9.0])
    >>> scaler = th.Standardizer().fit(X)
    >>> model = th.LinearRegression().fit(scaler.transform(X), y)
    >>> coef, intercept = th.unstandardize(model.coef_, model.intercept_, scaler)
    >>> coef.round(6).tolist(), round(float(intercept), 6)
    ([2.0], 1.0)
    """
    beta, b = np.asarray(coef, dtype=np.float64), np.asarray(intercept, dtype=np.float64)
    columns = np.atleast_2d(beta).T
    d, k = columns.shape
    beta_data, b_data = in_data_units(
        columns,
        np.broadcast_to(b, (k,)),
        *_centre_and_scale(x_scaler, d, "x_scaler"),
        *_centre_and_scale(y_scaler, k, "y_scaler"),
    )
    return (beta_data[:, 0], b_data[0]) if beta.ndim < 2 else (beta_data.T, b_data)


def _centre_and_scale(scaler: Any, width: int, role: str) -> tuple[Array, Array]:
    """c and s of (x − c)/s, for any supported scaler."""
    centre, scale = None, None
    if scaler is not None:
        if not hasattr(scaler, "scale_"):
            raise DataError(
                f"unstandardize: {role} is {type(scaler).__name__}, which has no scale_. Pass a "
                "fitted scaler that shifts and scales each column."
            )
        scale = scaler.scale_
        if hasattr(scaler, "min_"):
            # MinMaxScaler multiplies: z = x·scale_ + min_.
            centre, scale = -scaler.min_ / scale, 1.0 / scale
        elif getattr(scaler, "with_mean", True):
            # A StandardScaler with with_mean=False has a mean_ that it does not subtract.
            centre = getattr(scaler, "mean_", getattr(scaler, "center_", None))
    centre = np.zeros(width) if centre is None else np.asarray(centre, dtype=np.float64)
    scale = np.ones(width) if scale is None else np.asarray(scale, dtype=np.float64)
    if centre.shape != (width,) or scale.shape != (width,):
        raise DataError(
            f"unstandardize: {role} was fitted to {len(scale)} columns, but the model has {width}. "
            "Pass the scaler that was used for this model."
        )
    return centre, scale


@dataclass(frozen=True)
class _Spread:
    """Σw, Σwu and Σwu² per column, with u = (x − centre)/unit, which can be merged."""

    centre: Array
    unit: Array
    """A power of two near the magnitude of the column, to avoid overflow and underflow."""
    weight: float
    shift: Array
    squares: Array

    def merge(self, other: _Spread) -> _Spread:
        return replace(
            self,
            weight=self.weight + other.weight,
            shift=self.shift + other.shift,
            squares=self.squares + other.squares,
        )

    @property
    def mean(self) -> Array:
        return self.centre + self.unit * self.shift / self.weight

    @property
    def deviation(self) -> Array:
        """√(Σw(x − x̄)²/Σw), and 1 for a constant column."""
        return self._from_squares(0.0, EPSILON * np.abs(self.mean) / self.unit, self.weight)

    def length(self, centre: Array) -> Array:
        """√Σw(x − c)², and 1 for a column that equals c everywhere."""
        offset = (self.mean - centre) / self.unit
        floor = EPSILON * np.abs(centre) / self.unit
        return self._from_squares(self.weight * offset**2, floor * np.sqrt(self.weight), 1.0)

    def _from_squares(self, between: Any, floor: Array, weight: float) -> Array:
        # The centre is the mean up to rounding, so there is no cancellation here.
        within = np.maximum(self.squares - self.shift**2 / self.weight, 0.0)
        size = np.sqrt((within + between) / weight)
        # A spread of the size of rounding errors of the mean counts as zero.
        return np.where(size > floor, size * self.unit, 1.0)


def _spread(source: Source) -> _Spread:
    unit = provisional_frame(source).unit[: source.n_features]
    about_zero = source.reduce(_summarise_spread, np.zeros_like(unit), unit)
    return source.reduce(_summarise_spread, about_zero.mean, unit)


def _summarise_spread(block: Block, centre: Array, unit: Array) -> _Spread:
    # A fixed memory order, so that results do not depend on that of X.
    u = np.subtract(block.X, centre, order="C") / unit
    weight = block.row_weights
    return _Spread(
        centre, unit, float(weight.sum()), weight @ u, np.einsum("i,ij,ij->j", weight, u, u)
    )
