"""Circles and spheres fitted to points, by distances or by linear regression."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from thetahat.data.row_subset import target_arrays
from thetahat.data.source import Block, Source
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import at_least, none, one_of, whole
from thetahat.estimator.watching import Watched, with_callbacks
from thetahat.foundation.errors import DataError
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.residuals.trust_region import TrustRegion
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.models.preprocessing.rowwise import RowwiseTransformer

FLAT = 1e-9
"""Points lie in a plane if their smallest extent is below this fraction of the largest."""


@with_parameters
class CircleFit(ClassNamePrefixFeaturesOutMixin, Watched, RowwiseTransformer):
    """Circle (or sphere, for more than two columns) fitted to points.

    `transform` returns the signed distance of each row to the circle, negative inside.

    Formula: the geometric fit minimises Σ wᵢ(‖xᵢ − c‖ − r)² over c and r by a trust region method
    that starts at the algebraic fit. The algebraic fit solves ‖x‖² = β̃ᵀ(x, 1) by ordinary least
    squares with β̃ = (2c, r² − cᵀc), so that c = β̃₁..d/2 and r = √(β̃_{d+1} + cᵀc). Both agree if
    the points cover the whole circle. The algebraic fit weights a distance by ‖x − c‖ + r, and its
    circles are too small if the points lie on a short arc. For points in a plane of fewer
    dimensions, the circle in that plane is found, that is, the smallest sphere.

    Cost: O(n d²), per iteration for the geometric fit. Rows must be in memory.

    Parameters
    ----------
    method : {"geometric", "algebraic"}, default="geometric"
        Sum of squares to minimise. "algebraic" is faster, "geometric" more accurate for points on
        an arc.
    tol : float, default=1e-10
        Relative offset at which the geometric fit stops. Smaller values are more accurate.
    max_iter : int or None, default=None
        Maximum number of iterations of the geometric fit. None uses the default of the solver.

    Attributes
    ----------
    center_ : array of shape (d,)
        Centre of the circle or sphere (c).
    radius_ : float
        Radius of the circle or sphere (r).
    beta_ : array of shape (d + 1,)
        Coefficients of the algebraic form, β̃ = (2c, r² − cᵀc).
    sigma_ : float
        Standard deviation of the distances, √(Σ w·distance² / (n − d − 1)); NaN without degrees of
        freedom.
    solution_ : Solution
        How the fit ended: outcome, iterations and reason. ``value`` is half the sum of squares.
    n_iter_ : int
        Number of iterations; 1 for the algebraic fit.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> points = np.array([[3.0, -3.0], [1.0, -1.0], [-1.0, -3.0], [1.0, -5.0]])
    >>> circle = th.CircleFit(method="algebraic").fit(points)
    >>> circle.center_.round(6).tolist(), round(circle.radius_, 6), circle.beta_.round(6).tolist()
    ([1.0, -3.0], 2.0, [2.0, -6.0, -6.0])
    >>> circle.transform([[1.0, 0.0]]).round(6).tolist()
    [[1.0]]
    """

    method: str = "geometric"
    _: KW_ONLY
    tol: float = 1e-10
    max_iter: int | None = None

    _ranges = {  # noqa: RUF012
        "method": one_of("geometric", "algebraic"),
        "tol": at_least(0),
        "max_iter": whole(1) | none,
    }
    _streams = False

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> CircleFit:
        """Fit the circle to the rows of X. Cost: O(n d²), per iteration for the geometric fit.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            The points, one per row.

        Returns
        -------
        self
            The fitted estimator.
        """
        source = self._open(X, None, sample_weight, supervised=False)
        points, weight = _rows(source)
        frame = _Frame.of(points, weight)
        problem = _Distances(frame.inwards(points), weight)
        solution = _algebraic(problem.points, weight)
        attributes = partial(self._attributes, frame=frame, dtype=source.dtype)
        with self._watching(self.max_iter, attributes, X, y) as watch:
            if self.method == "geometric":
                solution = minimise(
                    problem,
                    TrustRegion(),
                    solution.theta,
                    tolerance=self.tol,
                    max_steps=self.max_iter,
                    watch=watch,
                    reason="distances to the circle, started at the algebraic fit",
                )
        self.__dict__.update(attributes(solution.theta))
        squares = float(np.sum(problem.residuals(solution.theta) ** 2))
        spare = float(weight.sum()) - points.shape[1] - 1
        self.sigma_ = frame.unit * float(np.sqrt(squares / spare)) if spare > 0 else float("nan")
        self.solution_ = replace(
            solution,
            theta=np.append(*frame.outwards(solution.theta)),
            value=frame.unit * (squares / 2) * frame.unit,
        )
        self.n_iter_ = max(1, solution.steps)
        self._warn_unless_converged()
        return self

    @staticmethod
    def _attributes(theta: Array, frame: _Frame, dtype: Any) -> dict[str, Any]:
        center, radius = frame.outwards(theta)
        away = float(_lengths(center[np.newaxis])[0])
        return {
            "center_": center.astype(dtype),
            "radius_": radius,
            "beta_": np.append(2 * center, (radius - away) * (radius + away)),
        }

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the mean squared distance to the circle; larger is better. Cost: O(n d).

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            The points, one per row.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        float
            Minus the weighted mean of the squared distances.
        """
        if isinstance(X, Source):  # it contains the weights
            sample_weight = target_arrays(X)[1]
        return -float(np.average(self.transform(X)[:, 0] ** 2, weights=sample_weight))

    def project(self, X: Any) -> Array:
        """Return the nearest point on the circle, c + r(x − c)/‖x − c‖. Cost: O(n d).

        Parameters
        ----------
        X : array-like of shape (n, d)
            The points to project. The centre itself is projected along the first axis.

        Returns
        -------
        array of shape (n, d)
            The nearest points on the circle.
        """
        check_is_fitted(self)

        def nearest(block: Block) -> Array:
            away = np.asarray(block.X, dtype=np.float64) - self.center_
            length = _lengths(away)[:, np.newaxis]
            first = np.eye(1, away.shape[1])
            unit = np.where(length > 0, away / np.where(length > 0, length, 1.0), first)
            return (self.center_ + self.radius_ * unit).astype(block.X.dtype)

        return self._open_again(X).map_rows(nearest)

    @property
    def _n_features_out(self) -> int:
        return 1

    def _transform_block(self, block: Block) -> Array:
        """Signed distances to the circle, negative inside."""
        away = np.asarray(block.X, dtype=np.float64) - self.center_
        return _lengths(away)[:, np.newaxis] - self.radius_


def _lengths(rows: Array) -> Array:
    """Norm of every row, without overflow."""
    unit = _power_of_two(rows)
    return unit * np.linalg.norm(rows / unit, axis=1)


def _power_of_two(values: Array) -> float:
    """The power of two nearest to the largest |value|; 1 for zeros."""
    largest = float(np.max(np.abs(values), initial=0.0))
    return math.ldexp(1.0, max(math.frexp(largest)[1] - 1, -1022)) if largest > 0 else 1.0


@dataclass(frozen=True)
class _Frame:
    """Coordinates relative to the points, in which shifts and scales lose no digits.

    If the points lie in a plane of fewer dimensions, the coordinates are restricted to it; outside
    of it, larger and larger spheres would fit better and better.
    """

    middle: Array
    unit: float
    plane: Array
    """Orthonormal rows that span the points."""

    @classmethod
    def of(cls, points: Array, weight: Array) -> _Frame:
        n, d = points.shape
        # Scaling by a power of two changes no digit and avoids overflow of squares.
        largest = _power_of_two(points)
        middle = np.average(points / largest, axis=0, weights=weight)
        away = points / largest - middle
        unit = float(np.sqrt(np.average(np.sum(away**2, axis=1), weights=weight)))
        with one_blas_thread():
            rows = np.sqrt(weight)[:, None] * away
            _, thickness, axes = np.linalg.svd(rows, full_matrices=False)
        spanned = int((thickness > FLAT * thickness[0]).sum()) if unit > 0 else 0
        straight = spanned == 1 and d > 1 and len(np.unique((away / unit).round(9), axis=0)) > 2
        if spanned == 0 or straight:
            raise DataError(
                f"CircleFit: the {n} points (n_samples = {n}) lie "
                f"{'on a line' if straight else 'in one place'}; a circle needs three points that "
                "are not on a line. Fit a line instead (TotalLeastSquares)."
            )
        plane = np.eye(d) if spanned == d else axes[:spanned]
        return cls(largest * middle, largest * unit, plane)

    def inwards(self, points: Array) -> Array:
        with one_blas_thread():
            return (points - self.middle) @ self.plane.T / self.unit

    def outwards(self, theta: Array) -> tuple[Array, float]:
        """Centre and radius in the original coordinates of a circle (c, r) given in these."""
        return self.middle + self.unit * (theta[:-1] @ self.plane), self.unit * float(
            abs(theta[-1])
        )


def _algebraic(points: Array, weight: Array) -> Solution:
    """(c, r) from the least-squares β̃."""
    roots = np.sqrt(weight)
    design = roots[:, None] * np.column_stack([points, np.ones(len(points))])
    with one_blas_thread():
        beta = np.linalg.lstsq(design, roots * np.sum(points**2, axis=1), rcond=None)[0]
    center = beta[:-1] / 2
    theta = np.append(center, np.sqrt(max(beta[-1] + center @ center, 0.0)))
    return Solution(theta, Outcome.EXACT, "least_squares", reason="linear in (2c, r² − cᵀc)")


@dataclass(frozen=True)
class _Distances:
    """Residuals √w(‖x − c‖ − r) of θ = (c, r)."""

    points: Array
    weight: Array

    def residuals(self, theta: Array) -> Array:
        distance = np.linalg.norm(self.points - theta[:-1], axis=1)
        return np.sqrt(self.weight) * (distance - theta[-1])

    def jacobian(self, theta: Array) -> Array:
        away = theta[:-1] - self.points
        length = np.linalg.norm(away, axis=1, keepdims=True)
        unit = np.where(length > 0, away / np.where(length > 0, length, 1.0), 0.0)
        return np.sqrt(self.weight)[:, None] * np.column_stack([unit, -np.ones(len(unit))])


def _rows(source: Source) -> tuple[Array, Array]:
    """Points and weights in float64, without rows of weight 0."""
    blocks = list(source.blocks())
    points = np.concatenate([np.asarray(block.X, dtype=np.float64) for block in blocks])
    if not source.has_weight:
        return points, np.ones(len(points))
    weight = np.concatenate([block.weight for block in blocks]).astype(np.float64)
    return points[weight > 0], weight[weight > 0]
