"""Linear regression on features that are fixed, given by a kernel, or learned.

f(x) = βᵀφ(x; θ) + b. A fixed basis has no θ (powers, products, functions of the user); a kernel
basis has one feature per landmark; a learned basis adapts θ to the targets, like the hidden layer
of a neural network. Only the last one is not linear in all of its parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from thetahat.data.validation import is_sparse
from thetahat.estimator.base import Estimator
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, at_least, boolean, none, whole
from thetahat.estimator.source_scores import ScoredRegressor
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.models.linear.least_squares.linear_regression import LinearRegression
from thetahat.models.nonlinear.parameters import read_start
from thetahat.models.nonlinear.regression import NonlinearRegression


@with_parameters
class BasisRegression(ScoredRegressor, Estimator):
    """Regression on features φ(x): polynomials, user functions, kernels or a learned basis.

    Formula: f(x) = βᵀφ(x; θ) + b. Without θ, β̂ and b̂ are found by linear least squares (or any
    regressor) on the features. With θ, all parameters are fitted together by `NonlinearRegression`;
    β and b start at their least-squares values for the first θ.

    Cost: O(n m²) for m features of a fixed or kernel basis; the same per iteration for a learned
    basis.

    Parameters
    ----------
    basis : transformer, callable or None, default=None
        The features. A transformer such as `MonomialExpansion`, `FeatureMap` or
        `SimilarityFeatures`; or a function ``basis(X, theta)`` that returns an array of shape (n,
        m), whose parameters are learned from ``start``. None uses the columns of X.
    start : array-like of shape (p,), dict or None, default=None
        Initial parameters θ of a learned basis. A dict also names them. Required if ``basis`` is a
        function.
    regressor : estimator or None, default=None
        Regressor fitted to the features of a transformer. None uses `LinearRegression`. It cannot
        be combined with a learned basis.
    fit_intercept : bool, default=True
        If True, fit an intercept (b), unless the basis already contains a constant feature.
    restarts : int, default=0
        Number of further runs for a learned basis, from random starts around the first; the best
        run is kept.
    tol : float, default=1e-10
        Relative offset at which the solver stops: the distance from θ̂ in standard errors. Smaller
        values are more accurate and need more iterations. Used for a learned basis only.
    max_iter : int or None, default=None
        Maximum number of iterations for a learned basis. None uses the default of the solver.
    random_state : int, Generator or None, default=None
        Seed for drawing the starts of further runs. Pass an int for the same result on every call.

    Attributes
    ----------
    basis_ : transformer or None
        The fitted transformer; None for a learned basis.
    theta_ : array of shape (p,)
        Estimated parameters of the basis (θ̂); empty if the basis is not learned.
    coef_ : array of shape (m,)
        Estimated coefficients of the features (β̂).
    intercept_ : float
        The estimated intercept of the model (b̂).
    regressor_ : estimator
        The fitted regressor, with its summaries, solution and standard errors.
    solution_ : Solution
        How the solver of the regressor ended, if it has one.
    n_iter_ : int
        Number of iterations of the regressor; 1 for direct solutions.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> x = np.linspace(-2.0, 2.0, 40)[:, np.newaxis]
    >>> y = np.tanh(3.0 * x[:, 0] - 1.0)
    >>> powers = th.BasisRegression(th.MonomialExpansion(degree=3)).fit(x, y)
    >>> hidden = lambda X, w: np.tanh(w[0] * X + w[1])
    >>> learned = th.BasisRegression(hidden, start=[1.0, 0.0]).fit(x, y)
    >>> learned.theta_.round(6).tolist(), learned.score(x, y) > powers.score(x, y)
    ([3.0, -1.0], True)
    """

    _generative = False
    _parametric = True

    basis: Any = None
    start: Any = None
    _: KW_ONLY
    regressor: Any = None
    fit_intercept: bool = True
    restarts: int = 0
    tol: float = 1e-10
    max_iter: int | None = None
    random_state: Any = None

    _ranges = {  # noqa: RUF012
        "basis": Range(
            lambda value: hasattr(value, "transform") or callable(value),
            "a transformer, or a function basis(X, theta)",
        )
        | none,
        "regressor": Range(lambda value: hasattr(value, "fit"), "a regressor") | none,
        "fit_intercept": boolean,
        "restarts": whole(0),
        "tol": at_least(0),
        "max_iter": whole(1) | none,
    }
    _streams = False

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> BasisRegression:
        """Fit the basis and the coefficients. Cost: O(n m²), per iteration for a learned basis.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Training rows with finite numbers.
        y : array-like of shape (n,)
            Target value of each training row.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self
            The fitted estimator.
        """
        source = self._open(X, y, sample_weight)
        weight = {} if sample_weight is None else {"sample_weight": sample_weight}
        if self._is_learned:
            self._learn(np.concatenate([b.X for b in source.blocks()]), y, weight)
        else:
            self.basis_ = None if self.basis is None else clone(self.basis).fit(X)
            features = self.features(X)
            if self.basis_ is not None:
                named = f"{type(self.basis_).__name__}.transform(X)"
                _require_finite(features, named, "of the rows given", type(self).__name__)
            # With a constant feature, a separate intercept would not be identified.
            intercept = self.fit_intercept and not _has_constant(features, self.basis_)
            regressor = LinearRegression(fit_intercept=intercept)
            regressor = regressor if self.regressor is None else clone(self.regressor)
            self.regressor_ = regressor.fit(features, y, **weight)
            self.theta_ = np.empty(0)
            self.coef_ = getattr(self.regressor_, "coef_", None)
            self.intercept_ = getattr(self.regressor_, "intercept_", 0.0)
        self.solution_ = getattr(self.regressor_, "solution_", None)
        self.n_iter_ = getattr(self.regressor_, "n_iter_", 1)
        return self

    @property
    def _is_learned(self) -> bool:
        return callable(self.basis) and not hasattr(self.basis, "transform")

    def _learn(self, X: Array, y: Any, weight: dict[str, Any]) -> None:
        who = type(self).__name__
        if self.regressor is not None:
            raise CapabilityError(
                f"{who}: a learned basis is fitted together with its coefficients by least "
                "squares and cannot be combined with regressor. Leave regressor out, or use a "
                "transformer as basis."
            )
        theta, names = read_start(self.start, self.basis, X.shape[1], who)
        X = X.astype(np.float64, copy=False)
        with np.errstate(all="ignore"):
            features = np.asarray(self.basis(X, theta))
        _require_finite(features, "basis(X, theta)", f"at the start theta = {theta}", who)
        if features.ndim != 2 or len(features) != len(X):
            raise ParameterError(
                f"{who}: basis(X, theta) returned shape {features.shape} for {len(X)} rows, but "
                f"must return ({len(X)}, m), one column per feature. Use np.stack([...], axis=1)."
            )
        first = LinearRegression(fit_intercept=self.fit_intercept).fit(features, y, **weight)
        m = features.shape[1]
        outer = [f"coef{k}" for k in range(m)] + ["intercept"] * self.fit_intercept
        start = np.concatenate([theta, first.coef_, [first.intercept_] * self.fit_intercept])
        self.regressor_ = NonlinearRegression(
            _Features(self.basis, len(theta), m),
            dict(zip([*names, *outer], start.tolist(), strict=True)),
            restarts=self.restarts,
            tol=self.tol,
            max_iter=self.max_iter,
            random_state=self.random_state,
        ).fit(X, y, **weight)
        found = self.regressor_.theta_
        self.basis_, self.theta_ = None, found[: len(theta)]
        self.coef_ = found[len(theta) : len(theta) + m]
        self.intercept_ = float(found[-1]) if self.fit_intercept else 0.0

    def features(self, X: Any) -> Array:
        """Compute the features φ(x; θ̂) of each row. Cost: that of the basis.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Rows to transform, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n, m)
            One column per feature.
        """
        if self._is_learned:
            check_is_fitted(self)
            source = self._open_again(X)
            rows = np.concatenate([b.X for b in source.blocks()]).astype(np.float64, copy=False)
            return np.asarray(self.basis(rows, self.theta_)).astype(source.dtype, copy=False)
        return X if self.basis_ is None else self.basis_.transform(X)

    def predict(self, X: Any) -> Array:
        """Predict ŷ = β̂ᵀφ(x; θ̂) + b̂. Cost: that of the basis, and O(n m).

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n,)
            The predicted targets.
        """
        self._open_again(X)
        return self.regressor_.predict(X if self._is_learned else self.features(X))

    def predict_interval(
        self, X: Any, *, level: float = 0.95, kind: str = "prediction"
    ) -> tuple[Array, Array]:
        """Compute intervals for a new y or for its mean. Cost: O(n m²).

        Formula: that of the regressor, applied to the features.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.
        level : float, default=0.95
            Probability of the interval, between 0 and 1. Larger values give wider intervals.
        kind : {"prediction", "confidence"}, default="prediction"
            Interval for a new y ("prediction") or for its mean ("confidence").

        Returns
        -------
        low, high : arrays of shape (n,)
            Lower and upper bounds of the intervals.
        """
        self._open_again(X)
        if not hasattr(self.regressor_, "predict_interval"):
            raise CapabilityError(
                f"BasisRegression: {type(self.regressor_).__name__} has no predict_interval. Use "
                "regressor=None for least squares."
            )
        rows = X if self._is_learned else self.features(X)
        return self.regressor_.predict_interval(rows, level=level, kind=kind)


@dataclass(frozen=True)
class _Features:
    """βᵀφ(x; θ) + b as a function of (θ, β, b)."""

    basis: Callable[[Array, Array], Array]
    n_inner: int
    n_features: int

    def __call__(self, X: Array, theta: Array) -> Array:
        inner, end = theta[: self.n_inner], self.n_inner + self.n_features
        values = self.basis(X, inner) @ theta[self.n_inner : end]
        return values if len(theta) == end else values + theta[end]


def _require_finite(features: Any, what: str, where: str, who: str) -> None:
    """Raise an error that names the basis if features are not finite although X is."""
    values = np.asarray(getattr(features, "data", features) if is_sparse(features) else features)
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return
    first = np.argwhere(~np.isfinite(values))[0]
    place = f"row {first[0]}, feature {first[1]}" if len(first) == 2 else "a stored entry"
    raise DataError(
        f"{who}: {what} is {values[tuple(first)]} {where}, first in {place}, although X is finite. "
        "Use a basis that is defined for these rows, or another start."
    )


def _has_constant(features: Array, basis: Any) -> bool:
    """Whether the basis contains a constant feature."""
    if basis is None:
        return False
    columns = np.asarray(features)
    return bool(np.any((np.ptp(columns, axis=0) == 0) & (columns[0] != 0)))
