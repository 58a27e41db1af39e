"""The lasso by least angles, with its penalty chosen by an information criterion."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metadata_routing import UNUSED

from thetahat.data.source import Source
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import boolean, more_than, none, one_of, whole
from thetahat.foundation.errors import DataError
from thetahat.foundation.precision import EPSILON, ROUNDING
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.solution import Solution
from thetahat.models.linear.sparse.least_angle import PATH_RANGES, PathRegressor, ended_as_asked
from thetahat.objective.lasso.least_angle import LeastAnglePath, LeastAngleProblem, PathRules
from thetahat.objective.least_squares.residual_squares import FEW_DIGITS, residual_squares


@with_parameters
class LassoLarsIC(PathRegressor):
    """Lasso that chooses its penalty by Akaike's or the Bayesian information criterion.

    Formula: α̂ is the node of the path of `LassoLars` with the smallest n log(2πσ²) + RSS/σ² + c·k,
    where k is the number of coefficients other than 0, c = 2 (AIC) or log n (BIC), and σ² the
    variance of the noise: `noise_variance`, or the residual variance of least squares with all
    columns. One path serves, without folds.

    Cost: that of one path of `LassoLars`.

    Parameters
    ----------
    criterion : {"aic", "bic"}, default="aic"
        The information criterion. "bic" selects fewer columns.
    max_iter : int, default=500
        Maximum number of steps of the path.
    positive : bool, default=False
        Whether to force all coefficients to be non-negative (β ≥ 0).
    noise_variance : float or None, default=None
        Variance of the noise (σ²). None estimates it by least squares, which needs more rows than
        columns.

    Attributes
    ----------
    alpha_ : float
        The penalty with the smallest criterion.
    alphas_ : array of shape (n_nodes,)
        The penalties at the nodes of the path, largest first.
    criterion_ : array of shape (n_nodes,)
        The information criterion at each node.
    noise_variance_ : float
        The variance of the noise that was used.
    n_iter_ : int
        Number of steps of the path.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[-2, 2], [-1, 1], [0, 0], [1, 1], [2, 2]]
    >>> y = [-2.2222, -1.1111, 0, -1.1111, -2.2222]
    >>> th.LassoLarsIC(criterion="bic").fit(X, y).coef_.round(2).tolist()
    [0.0, -1.11]
    """

    criterion: str = "aic"
    _: KW_ONLY
    max_iter: int = 500
    positive: bool = False
    noise_variance: float | None = None

    method = "lasso"
    _why_no_errors = "they would be too small, because the same rows selected the columns"
    _ranges = PATH_RANGES | {
        "criterion": one_of("aic", "bic"),
        "max_iter": whole(0),
        "positive": boolean,
        "noise_variance": more_than(0) | none,
    }
    _multi_output = False
    # Whether X is copied is no metadata to be routed.
    __metadata_request__fit: ClassVar[dict[str, str]] = {"copy_X": UNUSED}

    @classmethod
    def _example(cls) -> LassoLarsIC:
        return cls(noise_variance=1.0)

    def fit(
        self, X: Any, y: Any = None, copy_X: Any = None, sample_weight: Any = None
    ) -> LassoLarsIC:
        """Compute the path and choose the node with the smallest criterion.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Training data. A `Source` (see ``th.scan``) is read block by block and contains the
            target.
        y : array-like of shape (n,), optional
            Target values, one per row. Leave it out if X is a `Source`.
        copy_X : bool, optional
            Has no effect, because X is never changed. Accepted for compatibility with scikit-learn.
        """
        source = self._open(X, y, sample_weight, check_finite=False)
        problem = self._problem(source)
        rules = PathRules(True, self.positive, self.max_iter)
        path = problem.path(rules)
        self.noise_variance_ = self._noise(problem, rules, source)
        factor = 2.0 if self.criterion == "aic" else float(np.log(problem.total))
        used = (np.abs(path.coefs) > EPSILON).sum(axis=1)
        self.criterion_ = (
            problem.total * np.log(2 * np.pi * self.noise_variance_)
            + _residual_squares(problem, source, path.coefs) / self.noise_variance_
            + factor * used
        )
        best = int(np.argmin(self.criterion_))
        self.alpha_ = float(path.alphas[best])
        theta = np.append(path.coefs[best], problem.y_mean - path.coefs[best] @ problem.x_mean)
        self._keep(theta[:, None], source)
        self.alphas_, self.n_iter_ = path.alphas.astype(source.dtype, copy=False), path.steps
        self._report([path], theta[:, None], problem)
        return self

    def _noise(self, problem: LeastAngleProblem, rules: PathRules, source: Source) -> float:
        """The variance of the noise: the given one, or that of the end of the whole path.

        It is at least that of rounding errors, so that exact fits have a criterion.
        """
        if self.noise_variance is not None:
            return float(self.noise_variance)
        d = problem.correlation.shape[1]
        free = problem.total - d - self.fit_intercept
        if free <= 0:
            raise DataError(
                f"You are using {type(self).__name__} in the case where the number of samples is "
                f"smaller than the number of features: n_samples={problem.total:g} and {d} "
                "columns. The variance of the noise can only be estimated from more rows. Pass "
                "noise_variance."
            )
        end = problem.path(replace(rules, max_iter=np.inf, keep_path=False))
        found = float(_residual_squares(problem, source, end.coefs)[0]) / free
        rounding = ROUNDING**2 * float(problem.target_squares[0]) / problem.total
        return max(found, rounding, float(np.finfo(np.float64).tiny))

    def _solution(self, path: LeastAnglePath) -> Solution:
        return ended_as_asked(super()._solution(path))


def _residual_squares(problem: LeastAngleProblem, source: Source, coefs: Array) -> Array:
    """Σ w(y − xᵀβ − b)² for each β; from the rows where moments lose too many digits."""
    found = problem.residual_squares(coefs)
    if found.min() >= FEW_DIGITS * problem.target_squares[0]:
        return found
    return residual_squares(source, coefs.T, problem.x_mean, problem.y_mean)
