"""Theil–Sen regression: the spatial median of the planes through small subsets of rows."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar

import numpy as np

from thetahat.data.extremes import require_squares_of_rows, require_visible_columns
from thetahat.data.in_memory import InMemory
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.linear import OneTargetRegressor
from thetahat.estimator.parameters import Range, at_least, boolean, none, whole
from thetahat.estimator.watching import WatchedSolver, with_callbacks
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.randomness import generator
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.objective.robust.row_subsets import all_subsets, random_subsets
from thetahat.objective.robust.scaled_planes import scaled_planes
from thetahat.objective.robust.spatial_median import Distances, ReweightedMeans


@with_parameters
class TheilSenRegressor(WatchedSolver, OneTargetRegressor):
    """Robust linear regression by the median of the planes through many small subsets of rows.

    Up to 29% of the rows may be outliers of any kind for one column. With more columns the share
    falls (see ``breakdown_``), because a subset must contain no outlier. For many columns, or for
    outliers in y only, `HuberRegressor` and `RobustRegressor` are faster and more accurate.

    Formula: θ̂ = argmin_θ Σ_s ‖θ_s − θ‖, where θ_s = (b_s, β_s) is the least squares fit to subset s
    of `n_subsamples` rows.

    Cost: O(S p³) for S subsets and p parameters, and O(S p) per iteration of the median. Memory
    O(S p).

    Parameters
    ----------
    max_subpopulation : int, default=1e4
        Maximum number of subsets (S). If there are more subsets, this number of them is drawn at
        random. Larger values are more accurate and take longer. Must be at least 1.
    n_subsamples : int or None, default=None
        Number of rows of a subset, between the number of parameters and n. Fewer rows are more
        robust, more rows give less noise. None uses the number of parameters.
    max_iter : int, default=300
        Maximum number of iterations of the spatial median.
    tol : float, default=0.001
        The iterations of the spatial median stop when it moves by at most this distance, which is
        relative to the size of the planes if that is below 0.01 or above 100.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random subsets. Pass an int for the same result on every call.
    verbose : bool or int, default=False
        Whether to print the progress. True or 1 prints one line per second and how the fit ended,
        larger values print every iteration.

    Attributes
    ----------
    breakdown_ : float
        Approximate share of outliers that the fit tolerates.
    n_subpopulation_ : int
        Number of subsets that were used.
    n_iter_ : int
        Number of iterations of the spatial median.

    References
    ----------
    Dang, Peng, Wang and Zhang (2008), "Theil-Sen estimators in a multiple linear regression model".

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.linspace(0.0, 1.0, 40)[:, None]
    >>> y = 3.0 * X[:, 0] + 1.0
    >>> y[:8] = 20.0
    >>> model = th.TheilSenRegressor(random_state=0).fit(X, y)
    >>> round(float(model.coef_[0]), 2), round(float(model.intercept_), 2)
    (3.0, 1.0)
    """

    _: KW_ONLY
    fit_intercept: bool = True
    max_subpopulation: float = 1e4
    n_subsamples: int | None = None
    max_iter: int = 300
    tol: float = 1.0e-3
    random_state: Any = None
    n_jobs: int | None = None
    verbose: Any = False

    _ranges: ClassVar[dict[str, Range]] = {
        "fit_intercept": boolean,
        "max_subpopulation": at_least(1),
        "n_subsamples": whole(1) | none,
        "max_iter": whole(0),
        "tol": at_least(0),
    }
    _why_no_errors = "a median of planes is not the likelihood of a distribution"
    _accepts_sparse = False
    _streams = False
    _draws_rows = True

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> TheilSenRegressor:
        source = self._open(X, y)
        assert isinstance(source, InMemory)
        assert source.y is not None
        require_squares_of_rows(source, who=type(self).__name__)
        require_visible_columns(source)
        A, target = _design(source.X, self.fit_intercept), source.y.astype(np.float64)
        subsets = self._subsets(len(A), source.n_features)
        self.n_subpopulation_, size = subsets.shape
        self.breakdown_ = _breakdown(len(A), size)
        planes = scaled_planes(A, target, subsets)
        several = planes.points.shape[1] > 1

        def attributes(point: Array) -> dict[str, Any]:
            theta = planes.factor * point
            stacked = np.append(theta[1:], theta[0]) if self.fit_intercept else np.append(theta, 0)
            return self._shaped(stacked[:, None], source)

        with self._watching(self.max_iter, attributes, X, y) as watch, one_blas_thread():
            found = minimise(
                Distances(planes.points),
                ReweightedMeans(),
                planes.start(),
                tolerance=self.tol if several else math.inf,
                max_steps=self.max_iter,
                watch=watch,
                reason="the spatial median of planes through subsets",
            )
        self.__dict__.update(attributes(found.theta))
        factor = planes.factor
        self.solution_ = replace(
            found, theta=factor * found.theta, value=factor * found.value, gap=factor * found.gap
        )
        self.n_iter_ = max(self.solution_.steps, 1)
        self._warn_unless_converged()
        return self

    def _subsets(self, n: int, d: int) -> Array:
        """The rows of each subset."""
        p, most = d + int(self.fit_intercept), int(self.max_subpopulation)
        size = min(p, n) if self.n_subsamples is None else int(self.n_subsamples)
        if size > n:
            raise ParameterError(
                f"TheilSenRegressor: Invalid parameter since n_subsamples > n_samples ({size} > "
                f"{n}). Use fewer rows per subset, or None."
            )
        if n >= d and size < min(p, n):
            extra = "+1" if self.fit_intercept else ""
            raise ParameterError(
                f"TheilSenRegressor: Invalid parameter since n_features{extra} > n_subsamples "
                f"({p} > {size}), so that a subset does not determine a plane. Use at least {p}."
            )
        if n < d and size != n:
            raise ParameterError(
                f"TheilSenRegressor: Invalid parameter since n_subsamples != n_samples ({size} != "
                f"{n}) while n_samples < n_features. Use None."
            )
        every = math.comb(n, size)
        require_memory(
            8 * min(every, most) * (size + 3 * p),
            f"TheilSenRegressor: {min(every, most)} subsets of {size} rows",
            "Use a smaller max_subpopulation.",
        )
        if every <= most:
            return all_subsets(n, size, every)
        return random_subsets(n, size, most, generator(self.random_state))


def _design(X: Array, intercept: bool) -> Array:
    """[1 | X] in double precision."""
    if not intercept:
        return np.ascontiguousarray(X, dtype=np.float64)
    A = np.ones((X.shape[0], X.shape[1] + 1))
    A[:, 1:] = X
    return A


def _breakdown(n: int, size: int) -> float:
    """The share of outliers for which half of the subsets still contain none."""
    return float(1.0 - (0.5 ** (1.0 / size) * (n - size + 1) + size - 1) / n)
