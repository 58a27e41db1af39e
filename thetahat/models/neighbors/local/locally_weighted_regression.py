"""Locally weighted least squares: β̂(x*) = (ΦᵀWΦ + λI)⁻¹ΦᵀWy, W = diag w_i·K(d(x*, x_i)/h)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from math import log10
from typing import Any, ClassVar

import numpy as np

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import LARGEST_FACTOR, Range, at_least, boolean, whole
from thetahat.estimator.source_scores import ScoredRegressor
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.models.neighbors.local.bandwidths import (
    MOST_PREDICTED,
    rule_of_thumb,
    smallest_error,
    spaced,
)
from thetahat.models.neighbors.local.base import LEAST_SUM, LocalModel
from thetahat.models.neighbors.local.local_solves import LEAST_SQUARE, solve_moments, solve_rows
from thetahat.models.neighbors.search.around import Around, Terms

MOST_TERMS = 2000
AT_ONCE = 1 << 22
ENOUGH_LEFT = 1e-4
"""Share 1 − l_ii of other rows in a prediction that leaves digits to leave the row out."""
"""Entries of all matrices A that are in memory together."""


@dataclass(frozen=True)
class LocalFit:
    """Predictions at some queries, and what they are made of."""

    prediction: Array
    """(m, t); NaN where no row is in the support of the kernel."""
    own: Array
    """l_i/g_i of a row at the query, (m,): the weight of a training row in its own prediction."""
    squares: Array
    """Σ_i l_i²/w_i, (m,), the variance in units of the noise; only if wanted."""


@with_parameters
class LocallyWeightedRegression(ScoredRegressor, LocalModel):
    """Regression by a weighted least-squares fit around every query.

    Formula: β̂(x*) = (ΦᵀWΦ + λI)⁻¹ΦᵀWy with W = diag w_i·K(d(x*, x_i)/h). The rows of Φ hold the
    monomials of x_i − x* up to the degree, and the prediction is the constant of the fit, which
    the penalty leaves out. With ``fit_intercept=False`` they hold the monomials of x_i without a
    constant, all are penalised, and ŷ = φ(x*)ᵀβ̂. If Φ has too low a rank, as with few rows in the
    support of the kernel, the slopes of minimum norm are taken.

    A local line has less bias than a local constant (`NadarayaWatson`) near the boundary of the
    data and where rows are unevenly spaced.

    Cost: `fit` takes O(n log n · d) to build a kd-tree. A prediction takes O(r p² + p³) for r rows
    in the support of the kernel and p monomials, besides finding them. Memory: two copies of the
    rows.

    Parameters
    ----------
    degree : int, default=1
        Degree of the local polynomial: 0 is a constant, 1 a plane. Larger values have less bias
        and more variance.
    alpha : float, default=0.0
        Weight of the ridge penalty on the slopes (λ). Larger values give flatter local fits. Must
        not be negative.
    fit_intercept : bool, default=True
        Whether the local fit has a constant. If False, X must hold all features of the local
        model, such as a column of ones.

    Attributes
    ----------
    n_outputs_ : int
        Number of targets of each row.

    Examples
    --------
    >>> import thetahat as th
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1.0, 3.0, 5.0, 7.0]
    >>> model = th.LocallyWeightedRegression(bandwidth=1.5, kernel="tricube").fit(X, y)
    >>> model.predict([[0.0], [1.5], [2.5]]).round(6)
    array([1., 4., 6.])
    """

    bandwidth: Any = "scott"
    kernel: Any = "gaussian"
    degree: int = 1
    _: KW_ONLY
    alpha: float = 0.0
    fit_intercept: bool = True
    metric: Any = "euclidean"
    outside: str = "nearest"
    tolerance: float = 1e-8

    _multi_output = True
    _ranges: ClassVar[dict[str, Range]] = {
        **LocalModel._ranges,
        "degree": whole(0, 10),
        "alpha": at_least(0, LARGEST_FACTOR),
        "fit_intercept": boolean,
    }

    @classmethod
    def _example(cls) -> LocallyWeightedRegression:
        # Fifteen rows in thirty columns determine no slopes; with a penalty they need not.
        return cls(alpha=1e-3)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> LocallyWeightedRegression:
        """Keep the rows and choose the bandwidth. Cost: O(n log n · d), more for leave-one-out.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Training rows, one per target.
        y : array-like of shape (n,) or (n, n_targets)
            Target of each training row.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows, also as neighbours and for the
            bandwidth rules, in which the sum of the weights is the number of rows; scale other
            weights to mean 1. Leave-one-out leaves out a row with its whole weight, not one of its
            repetitions. None gives every row weight 1.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        y, self._scale = self._keep_rows(self._open(X, y, sample_weight))
        self._one_target = y.ndim == 1
        self._targets = np.ascontiguousarray(y.reshape(y.shape[0], -1))
        self.n_outputs_ = int(self._targets.shape[1])
        self._require_terms()
        self._choose_bandwidth()
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict by a local fit at every row. Cost: O(n d + r p² + p³) per row at most.

        Parameters
        ----------
        X : array-like or table of shape (m, d)
            Rows to predict, with the same columns as in `fit`.
        return_std : bool, default=False
            Whether to return standard errors of the predictions as well. They need local fits at
            up to 2,000 training rows, from whose residuals the noise is estimated.

        Returns
        -------
        y : array of shape (m,) or (m, n_targets)
            Predicted values.
        std : array of shape (m,) or (m, n_targets)
            Standard errors σ̂·√(Σ_i l_i²/w_i) of the predictions Σ_i l_i y_i, for independent noise
            of equal variance. They do not include bias. Weights count as repetitions: a row of
            weight w stands for w rows with noise σ² each. Weights that are inverse variances give
            the same predictions; scale them to mean 1, and the errors are about right, because σ̂²
            is estimated from the residuals. Only if ``return_std=True``.
        """
        source = self._open_again(X)
        noise = self._noise() if return_std else None

        def of_rows(rows: Array) -> Array:
            fit = self._fitted_at(rows, self._targets, return_std)
            alone = np.flatnonzero(np.isnan(fit.prediction[:, 0]))
            if alone.size:
                self._fill_outside(rows, alone, self._targets, fit.prediction)
            if noise is None:
                return fit.prediction
            return np.hstack([fit.prediction, np.sqrt(fit.squares[:, None] * noise)])

        found = np.asarray(self._map_queries(source, of_rows))
        t = self.n_outputs_
        parts = [found[:, :t], found[:, t:]] if return_std else [found]
        with np.errstate(over="ignore"):
            parts = [(part * self._scale).astype(source.dtype, copy=False) for part in parts]
        parts = [part[:, 0] if self._one_target else part for part in parts]
        return tuple(parts) if return_std else parts[0]

    def leave_one_out(self) -> Array:
        """Predict every training row from all others, with the same bandwidths.

        A row is left out with its whole weight, not one of its repetitions.

        Formula: (ŷ_i − l_ii y_i)/(1 − l_ii), where l_ii is the weight of the row in its own
        prediction. Rows that determine their prediction alone, or nearly so, are fitted again
        without the row; where no other row is in the support of the kernel, they are predicted as
        ``outside`` says. Cost: that of `predict` for all rows.

        Returns
        -------
        y : array of shape (n,) or (n, n_targets)
            Predicted values of the training rows of positive weight.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        found, alone = self._left_out(np.arange(self.n_samples_fit_))
        found = self._as_outside(found, alone) * self._scale
        return found[:, 0] if self._one_target else found

    def _require_terms(self) -> None:
        n_terms = Terms(self.n_features_in_, int(self.degree)).n_terms if self.degree else 1
        if n_terms > MOST_TERMS:
            raise ParameterError(
                f"LocallyWeightedRegression: degree={self.degree} gives {n_terms} monomials of "
                f"{self.n_features_in_} columns; there may be {MOST_TERMS}. Use a smaller degree "
                "or fewer columns."
            )
        if not self.fit_intercept and self.degree == 0:
            raise ParameterError(
                "LocallyWeightedRegression: degree=0 is a constant, but fit_intercept=False leaves "
                "it out. Use a larger degree, or fit_intercept=True."
            )
        largest = float(np.abs(self._features).max(initial=0.0))
        if largest > 1 and max(2, 2 * self.degree) * log10(largest) > 300:
            raise DataError(
                f"LocallyWeightedRegression: entries of X up to {largest:.3g} overflow in the "
                "squares of monomials. Scale the columns first, for example with th.Standardizer."
            )
        if self.degree:
            features = self._features
            size = np.ptp(features, axis=0) if self.fit_intercept else abs(features).max(axis=0)
            smallest = LEAST_SQUARE ** (0.5 / self.degree)
            if (gone := (size > 0) & (size < smallest)).any():
                raise DataError(
                    f"LocallyWeightedRegression: column {int(np.argmax(gone))} of X varies by so "
                    f"little ({size[gone][0]:.2g}) that the squares of its monomials underflow; "
                    f"for degree={self.degree} it must vary by {smallest:.2g} or more, or be "
                    "constant. Rescale it."
                )
        if self.degree and not self._shape.nonnegative:
            raise ParameterError(
                f"LocallyWeightedRegression: {self._shape!r} has negative values, so that local "
                f"least squares of degree={self.degree} may have no minimum. Use another kernel, "
                "such as 'gaussian', 'epanechnikov' or 'tricube', or degree=0."
            )

    @property
    def _features(self) -> Array:
        return np.ascontiguousarray(self._index.rows, dtype=np.float64)

    def _choose_bandwidth(self) -> None:
        self.bandwidth_: float | None = None
        if self._k is not None:
            return
        if not isinstance(self.bandwidth, str):
            self.bandwidth_ = float(self.bandwidth)
        elif self.bandwidth == "leave_one_out":
            self.bandwidth_ = smallest_error(self._left_out_error, self._index, type(self).__name__)
        else:
            self.bandwidth_ = rule_of_thumb(
                self.bandwidth, self._index, self._weights,
                float(self._weights.sum() * self._unit), self._shape, type(self).__name__,
            )  # fmt: skip

    def _left_out_error(self, bandwidth: float) -> float:
        self.bandwidth_ = bandwidth
        some = spaced(self.n_samples_fit_, MOST_PREDICTED)
        error = (self._left_out(some)[0] - self._targets[some]) ** 2
        return float((self._weights[some, None] * error).sum())

    def _left_out(self, some: Array) -> tuple[Array, Array]:
        """Fits at some training rows without the row itself, and where no other row is near.

        There they are the averages of the nearest other rows.
        """
        if self.n_samples_fit_ == 1:
            return self._targets[some].copy(), np.zeros(some.shape[0], dtype=bool)
        rows, targets = self._index.rows[some], self._targets
        fit = self._fitted_at(rows, targets, False)
        own = fit.own * self._weights[some] * float(self._shape.value(0.0))
        known = (np.abs(1 - own) > ENOUGH_LEFT) & np.isfinite(fit.prediction[:, 0])
        found = np.empty((some.shape[0], targets.shape[1]))
        left = fit.prediction[known] - own[known, None] * targets[some[known]]
        found[known] = left / (1 - own[known, None])
        few = np.flatnonzero(~known)  # they follow their row, or nearly so
        around, right, penalty = self._fits_around(rows[few], targets)
        for place, number in enumerate(some[few].tolist()):
            e = None if right is None else right[place]
            found[few[place]] = self._solved_by_rows(
                rows[few[place : place + 1]], around, place, penalty, e, number
            )[0]
        alone = np.isnan(found[:, 0])
        if alone.any():
            found[alone] = self._exact_averages(rows[alone], targets, some[alone])[0]
        return found, alone

    def _noise(self) -> Array:
        """σ̂² = Σ w r²/(Σ w − 2·tr L + tr LLᵀ) from some training rows, one per target.

        It is divided by the unit of the weights, by which `LocalFit.squares` is multiplied.
        """
        some = spaced(self.n_samples_fit_, MOST_PREDICTED)
        fit = self._fitted_at(self._index.rows[some], self._targets, True)
        weight = self._weights[some]
        own = fit.own * float(self._shape.value(0.0))
        free = float((weight * (1 - 2 * own / self._unit + fit.squares / self._unit)).sum())
        if not free > 1e-10 * weight.sum():
            raise DataError(
                "LocallyWeightedRegression: the local fits follow every training row, so that no "
                "residual is left to estimate the noise. Use a larger bandwidth."
            )
        residual = self._targets[some] - fit.prediction
        return np.asarray((weight[:, None] * residual**2).sum(axis=0) / free) / self._unit

    def _fitted_at(self, rows: Array, targets: Array, with_squares: bool) -> LocalFit:
        terms = Terms(self.n_features_in_, int(self.degree))
        step = max(1, AT_ONCE // terms.n_terms**2)
        with one_blas_thread():  # many small decompositions: threads of BLAS would only wait
            parts = [
                self._fitted_block(rows[start : start + step], targets, terms, with_squares)
                for start in range(0, rows.shape[0], step)
            ]
        return LocalFit(
            np.concatenate([part.prediction for part in parts]),
            np.concatenate([part.own for part in parts]),
            np.concatenate([part.squares for part in parts]),
        )

    def _fitted_block(
        self, rows: Array, targets: Array, terms: Terms, with_squares: bool
    ) -> LocalFit:
        m, p = rows.shape[0], terms.n_terms
        around, right, penalty = self._fits_around(rows, targets)
        a, b = self._sums(rows, around)
        matrices = _symmetric(a.reshape(m, p, p))
        known = matrices[:, 0, 0] > LEAST_SUM
        matrices[~known] = np.eye(p)
        z, accurate = solve_moments(matrices, penalty, right)
        prediction = np.einsum("mk,mkt->mt", z, b.reshape(m, p, -1))
        evaluated = z[:, 0] if right is None else np.einsum("mk,mk->m", z[:, 1:], right)
        squares = np.zeros(m)
        if with_squares:
            c, _ = self._sums(rows, replace(around, squared=True))
            squares = np.einsum("mk,mkl,ml->m", z, _symmetric(c.reshape(m, p, p)), z)
        for query in np.flatnonzero(known & ~accurate).tolist():
            e = None if right is None else right[query]
            found = self._solved_by_rows(rows[query : query + 1], around, query, penalty, e)
            prediction[query], evaluated[query], squares[query] = found
        prediction[~known] = np.nan
        squares[~known] = np.nan
        return LocalFit(prediction, evaluated, squares)

    def _fits_around(self, rows: Array, targets: Array) -> tuple[Around, Array | None, Array]:
        """The sums around some rows, the monomials there without a constant, and the penalty."""
        terms = Terms(self.n_features_in_, int(self.degree))
        at = np.ascontiguousarray(rows, dtype=np.float64)
        centres = at if self.fit_intercept else np.zeros_like(at)
        around = replace(
            self._around(self._widths(rows), targets, 0.0),
            terms=terms, features=self._features, centres=centres,
        )  # fmt: skip
        right = None if self.fit_intercept else terms.of(at)[:, 1:]
        # The weights are in units of `_unit`; the penalty is in the units of the user.
        return around, right, np.full(terms.n_terms - 1, float(self.alpha) / self._unit)

    def _solved_by_rows(
        self, row: Array, around: Around, query: int, penalty: Array, at: Array | None,
        left_out: int = -1,
    ) -> tuple[Array, float, float]:  # fmt: skip
        """The fit at one query from its rows, without the row `left_out`; NaN without any row."""
        width = float(around.widths[query])
        for reach in (self._reach(), self._shape.support):
            near = self._index.within(row, reach * width * (1 + 1e-12) if width else 0.0, False)
            value = self._shape.value(near.distance / (width or 1.0))
            g = self._weights[near.row] * np.where(near.row == left_out, 0.0, value)
            beyond = self._weights.sum() * abs(float(self._shape.value(reach)))
            if not beyond > self.tolerance * g.sum():
                break
        if not g.sum() > LEAST_SUM:
            return np.full(around.values.shape[1], np.nan), 0.0, 0.0
        near_rows, g, value = near.row[g != 0], g[g != 0], value[g != 0]
        phi = around.terms.of(around.features[near_rows] - around.centres[query])
        shares, own = solve_rows(phi, g, penalty, at)
        squares = float((shares**2) @ (value / g))
        return shares @ around.values[near_rows], own, squares


def _symmetric(upper: Array) -> Array:
    """Matrices whose lower triangle is that of the upper one."""
    i, j = np.triu_indices(upper.shape[1], k=1)
    upper[:, j, i] = upper[:, i, j]
    return upper
