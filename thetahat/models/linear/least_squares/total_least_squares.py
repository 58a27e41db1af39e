"""Total least squares: errors in X as well as in y."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from thetahat.data.summaries.moments import moments
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.linear import LinearRegressor
from thetahat.estimator.parameters import boolean
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.linalg.total_least_squares import nearest_plane
from thetahat.mathematics.linalg.triangular_factor import triangular_factor
from thetahat.mathematics.optimizers.solution import Outcome, Solution


@with_parameters
class TotalLeastSquares(LinearRegressor):
    """Total least squares: regression with errors in X as well as in y.

    Formula: centre Z = [X y] and compute its singular value decomposition Z = UΛVᵀ. With v the
    right singular vector of the smallest singular value, β̂ = −v₁..d / v_{d+1}. The fitted
    hyperplane has the smallest sum of squared perpendicular distances to the rows. Equivalently,
    T = [E R] is the smallest correction with (X + E)β = y + R, and ‖T‖_F² = λ_min².

    X and y must be in comparable units, because distances are computed without scaling. If columns
    of X are linearly dependent, the β with the smallest norm is returned. If the hyperplane is
    vertical (v_{d+1} = 0), no β exists and an error is raised.

    Cost: O(n d²) time and O(d²) memory in addition to the data, in memory or block by block.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit an intercept (b). If False, the hyperplane goes through the origin.

    Attributes
    ----------
    singular_values_ : array of shape (d + n_targets,)
        Singular values of [X y], after centring if an intercept is fitted.
    solution_ : Solution
        Report of the solver. ``solution_.value`` is ‖T‖_F², the sum of squared corrections.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 2.0])
    >>> float(np.round(th.TotalLeastSquares().fit(X, y).coef_[0], 6))
    1.0
    """

    _: KW_ONLY
    fit_intercept: bool = True

    _why_no_errors = "the errors in X cannot be separated from those in y"

    _ranges = {"fit_intercept": boolean}  # noqa: RUF012

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> TotalLeastSquares:
        """Fit the hyperplane."""
        source = self._open(X, y, sample_weight)
        about = moments(source)
        about = about if self.fit_intercept else about.about_zero()
        factor = triangular_factor(source, about, intercept=self.fit_intercept).padded()
        first, d = int(self.fit_intercept), source.n_features
        with one_blas_thread():
            triangle = factor[first:, first:] * about.unit
            s = np.linalg.svd(triangle, compute_uv=False)
        coef, value = nearest_plane(triangle, d, about.n_rows)
        theta = np.vstack([coef, about.y_mean - about.x_mean @ coef])
        self._keep(theta, source)
        self.singular_values_ = s
        self.solution_ = Solution(
            theta=theta,
            outcome=Outcome.EXACT,
            solver="svd",
            reason="smallest right singular vectors of the centred [X y]",
            value=value,
            message=Outcome.EXACT.value,
            rank=int((s > max(about.n_rows, len(s)) * EPSILON * s[0]).sum()),
        )
        return self

    def correct(self, X: Any, y: Any) -> tuple[Array, Array]:
        """Correct rows so that they lie exactly on the fitted hyperplane: (X + E, y + R).

        Formula: each row moves perpendicularly to the hyperplane. Cost: O(n d).

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to correct, with the same columns as in `fit`.
        y : array-like of shape (n,) or (n, n_targets)
            Target values of these rows.

        Returns
        -------
        X : array of shape (n, d)
            The corrected rows.
        y : array of the shape of `y`
            The corrected targets.
        """
        X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
        coef = np.atleast_2d(self.coef_)
        rest = (y - self.predict(X)).reshape(len(X), -1)
        step = np.linalg.solve(np.eye(len(coef)) + coef @ coef.T, rest.T).T
        return X + step @ coef, y - step.reshape(y.shape)
