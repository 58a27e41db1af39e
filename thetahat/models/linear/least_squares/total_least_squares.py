"""Total least squares: errors in X as well as in y."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.summaries.moments import moments
from thetahat.estimator.linear import LinearRegressor
from thetahat.estimator.parameters import boolean
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.linalg.least_squares import EPSILON
from thetahat.mathematics.linalg.total_least_squares import nearest_plane
from thetahat.mathematics.linalg.triangular_factor import triangular_factor
from thetahat.mathematics.optimizers.solution import Outcome, Solution


class TotalLeastSquares(LinearRegressor):
    """The hyperplane with the smallest sum of squared perpendicular distances.

    Formula: centre, Z = [X y] = UΛVᵀ, v the right singular vector of the smallest singular value;
    β̂ = −v₁..d / v_{d+1}. It is the smallest correction T = [E R] with (X + E)β = y + R, and
    ‖T‖_F² = λ_min². X and y must be in comparable units: distances are taken as they come. Columns
    of X that depend on each other leave β undetermined; the β of least norm is taken. Where the
    hyperplane is vertical (v_{d+1} = 0) there is no β, and the fit is refused.

    Cost: O(n d²) time, O(d²) memory beside the data, out of core too.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether the hyperplane may miss the origin.

    Attributes
    ----------
    coef_, intercept_, solution_
        As in `LinearRegression`; ``solution_.value`` is ‖T‖_F².
    singular_values_ : array of shape (d + n_targets,)
        Singular values of the centred [X y].

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 2.0])
    >>> float(np.round(th.TotalLeastSquares().fit(X, y).coef_[0], 6))
    1.0
    """

    _why_no_errors = "the errors in X are not told from those in y"
    _ranges = {"fit_intercept": boolean}  # noqa: RUF012

    def __init__(self, *, fit_intercept: bool = True) -> None:
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> TotalLeastSquares:
        """Fit; parameters as in `LinearRegression.fit`."""
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
        """The corrected rows (X + E, y + R), which lie exactly on the hyperplane.

        Formula: each row moves perpendicularly to the hyperplane. Cost: O(n d).

        Returns
        -------
        X, y : arrays
            Nearest points on the fitted hyperplane.
        """
        X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
        coef = np.atleast_2d(self.coef_)
        rest = (y - self.predict(X)).reshape(len(X), -1)
        step = np.linalg.solve(np.eye(len(coef)) + coef @ coef.T, rest.T).T
        return X + step @ coef, y - step.reshape(y.shape)
