"""Shared by the lasso and the elastic net: set up the problem, solve it and keep the solution."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.metadata_routing import UNUSED

from thetahat.data.source import Source
from thetahat.data.summaries.means import means
from thetahat.data.views import one_target
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.linear import LinearRegressor
from thetahat.estimator.parameters import Range, at_least, boolean, one_of, whole
from thetahat.estimator.sparsify import in_sparse_interface
from thetahat.estimator.watching import WatchedSolver, with_callbacks
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.losses.residual.squared import Squared
from thetahat.mathematics.optimizers.coordinate.gram_descent import Terms
from thetahat.mathematics.optimizers.coordinate.working_sets import WorkingSets
from thetahat.mathematics.optimizers.joined import worst
from thetahat.mathematics.optimizers.loop import Method
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.residuals.direct_least_squares import DirectLeastSquares
from thetahat.mathematics.optimizers.solution import Solution
from thetahat.mathematics.penalties.box import NonNegative
from thetahat.mathematics.penalties.norms import ElasticNet
from thetahat.models.linear.sparse.lasso_path import enet_path
from thetahat.objective.choose import choose_solver
from thetahat.objective.lasso.l1_least_squares import L1Rows
from thetahat.objective.lasso.l1_path import elastic_net_terms, tolerance_of
from thetahat.objective.least_squares.solve import least_squares

gram_choice = Range(
    lambda value: (
        isinstance(value, bool | np.bool_)
        or (isinstance(value, str) and value == "auto")
        or (not isinstance(value, str) and np.ndim(value) == 2)
    ),
    "True, False, 'auto' or a Gram matrix",
)
DESCENT_RANGES = {
    "fit_intercept": boolean,
    "copy_X": boolean,
    "max_iter": whole(1),
    "tol": at_least(0),
    "selection": one_of("cyclic", "random"),
}
GRAM_RANGES = DESCENT_RANGES | {"precompute": gram_choice, "positive": boolean}
PENALTY_RANGES = {"alpha": at_least(0), "warm_start": boolean}


@with_parameters
class DescentParameters:
    """Parameters of all estimators that are fitted by coordinate descent.

    Parameters
    ----------
    max_iter : int, default=1000
        Maximum number of iterations. One iteration updates every coefficient of the working set
        once. Raise it if the fit warns that it did not converge.
    tol : float, default=1e-4
        Tolerance of the solver. It stops when the duality gap is at most ``tol * ‖y‖² / n``.
        Smaller values give a more exact solution and take longer.
    random_state : int, RandomState or None, default=None
        Has no effect, because the solver uses no random numbers. Accepted for compatibility with
        scikit-learn.
    selection : {"cyclic", "random"}, default="cyclic"
        Has no effect. Accepted for compatibility with scikit-learn; the coefficients are updated in
        cyclic order, which leads to the same optimum.
    """

    _: KW_ONLY
    fit_intercept: bool = True
    max_iter: int = 1000
    tol: float = 1e-4
    copy_X: bool = True
    random_state: Any = None
    selection: str = "cyclic"


@with_parameters
class GramParameters(DescentParameters):
    """Parameters of those that fit their targets independently.

    Parameters
    ----------
    precompute : bool, "auto" or array of shape (d, d), default=False
        Whether to form the Gram matrix XᵀX. True always forms it. An array is used as the Gram
        matrix after it has been checked against X; with an intercept it must be that of the centred
        columns. False and "auto" choose the faster way by the size of X.
    """

    _: KW_ONLY
    precompute: Any = False
    positive: bool = False


@with_parameters
class PenaltyParameters:
    """Parameters of estimators with a given penalty.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty (α), relative to the mean squared error. Larger values shrink the
        coefficients more and set more of them to zero. Must be ≥ 0; 0 gives ordinary least squares.
    """

    alpha: float = 1.0
    _: KW_ONLY
    warm_start: bool = False


@with_parameters
class L1Share:
    """The share of the L1 norm in a penalty that combines it with the L2 norm.

    Parameters
    ----------
    l1_ratio : float, default=0.5
        Share of the L1 norm in the penalty, between 0 and 1. 1 is the lasso penalty, 0 the ridge
        penalty; values in between combine both.
    """

    _: KW_ONLY
    l1_ratio: float = 0.5


class SparseCoefficients(WatchedSolver, LinearRegressor):
    """A linear model whose coefficients may be exactly zero.

    Attributes
    ----------
    sparse_coef_ : sparse matrix of shape (1, d) or (n_targets, d)
        The coefficients as a sparse matrix, which does not store zeros.
    dual_gap_ : float or array of shape (n_targets,)
        Duality gap at the end of the fit: the objective is at most this much above its minimum.
    """

    l1_ratio: float
    """The share of the L1 norm in the penalty; 1 for the lasso."""

    @property
    def sparse_coef_(self) -> Any:
        """The coefficients as a sparse matrix of shape (1, d) or (n_targets, d). Cost: O(d)."""
        from scipy.sparse import csr_array

        return in_sparse_interface(csr_array(np.atleast_2d(self.coef_)))


class L1Solver(GramParameters, SparseCoefficients):
    """Least squares with penalty α·(l1_ratio·‖β‖₁ + (1 − l1_ratio)/2·‖β‖²), target by target."""

    warm_start: bool

    def _solve(
        self, source: Source, rows: L1Rows | None, alpha: float, l1_ratio: float, X: Any, y: Any
    ) -> None:
        """Solve for every target and store the solutions."""
        starts, penalty = self._starts(source), ElasticNet(alpha, l1_ratio)
        # Rows of any source come as columns in memory, or as their Gram matrix.
        method, reason = choose_solver(
            Squared(),
            penalty & NonNegative() if self.positive else penalty,
            None,
            source.n_features + 1,
        )
        with self._watching(
            self.max_iter, lambda theta: self._partial(theta, source), X, y
        ) as watch:
            if rows is None or isinstance(method, DirectLeastSquares):
                solutions = self._without_l1(source, alpha, watch)
            else:
                terms = elastic_net_terms(source.n_features, alpha, l1_ratio, self.positive)
                solutions = self._with_l1(rows, terms, starts, watch, method, reason)
        self._keep_solutions(solutions, source)
        self._warn_unless_converged()

    def _with_l1(
        self,
        rows: L1Rows,
        terms: Terms,
        starts: Array | None,
        watch: Watch,
        method: Method,
        reason: str,
    ) -> list[Solution]:
        solutions = []
        for k in range(rows.n_targets):
            problem = rows.problem(k).with_terms(terms)
            start = None if starts is None else problem.pack(starts[k])
            solutions.append(
                minimise(
                    problem,
                    method,
                    start,
                    tolerance=tolerance_of(problem, self.tol),
                    max_steps=self.max_iter,
                    watch=watch,
                    reason=reason,
                )
            )
        return solutions

    def _without_l1(self, source: Source, alpha: float, watch: Watch) -> list[Solution]:
        """Solve directly, as least squares or ridge, if there is no L1 penalty."""
        source.require_finite()
        weight = _total_weight(source)
        solutions = []
        for k in range(max(1, source.n_outputs)):
            found = least_squares(
                one_target(source, k) if source.n_outputs else source,
                ridge=alpha * weight,
                intercept=self.fit_intercept,
                positive=self.positive,
                watch=watch,
            ).solution
            theta = found.theta[:, 0]
            reason = f"no L1 penalty: {found.reason}"
            solutions.append(
                replace(
                    found,
                    theta=theta if self.fit_intercept else theta[:-1],
                    reason=reason,
                    gap_kind=WorkingSets.gap_kind,
                )
            )
        return solutions

    def _starts(self, source: Source) -> Array | None:
        """Coefficients of the previous fit if `warm_start` is set and their shape matches."""
        if not self.warm_start or "coef_" not in self.__dict__:
            return None
        coef = np.atleast_2d(np.asarray(self.coef_, dtype=np.float64))
        return coef if coef.shape == (max(1, source.n_outputs), source.n_features) else None

    def _partial(self, theta: Array, source: Source) -> dict[str, Array]:
        """Attributes during a fit; targets that are not fitted yet have zero coefficients."""
        thetas = np.zeros((max(1, source.n_outputs), source.n_features + 1))
        thetas[0, : len(theta)] = theta
        return self._l1_attributes(thetas, source)

    def _keep_solutions(self, solutions: list[Solution], source: Source) -> None:
        thetas = np.zeros((len(solutions), source.n_features + 1))
        for row, solution in zip(thetas, solutions, strict=True):
            row[: len(solution.theta)] = solution.theta
        self.__dict__.update(self._l1_attributes(thetas, source))
        found = worst(solutions)
        self.solution_ = replace(found, theta=thetas.T if len(thetas) > 1 else found.theta)
        gaps = np.array([solution.gap for solution in solutions], dtype=source.dtype)
        # A warm start may already be optimal; any other fit counts at least one iteration.
        least = 0 if getattr(self, "warm_start", False) else 1
        steps = [max(least, solution.steps) for solution in solutions]
        self.dual_gap_ = gaps[0] if len(gaps) == 1 else gaps
        self.n_iter_ = steps[0] if len(steps) == 1 else steps

    def _l1_attributes(self, thetas: Array, source: Source) -> dict[str, Array]:
        coef = np.ascontiguousarray(thetas[:, :-1], dtype=source.dtype)
        intercept = np.asarray(thetas[:, -1], dtype=source.dtype)
        return {
            "coef_": coef[0] if len(coef) == 1 else coef,
            "intercept_": intercept if source.n_outputs else intercept[0],
        }


@with_parameters
class L1Regressor(L1Solver, PenaltyParameters):
    """The lasso and the elastic net with a given penalty.

    Attributes
    ----------
    n_iter_ : int or list of int
        Number of iterations that the solver ran, for each target if there are several.
    """

    _search_space: ClassVar[dict[str, tuple[Any, ...]]] = {
        "alpha": (1e-4, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0),
    }
    _ranges = GRAM_RANGES | PENALTY_RANGES
    path = staticmethod(enet_path)
    # An option for speed is not metadata to be routed.
    __metadata_request__fit: ClassVar[dict[str, str]] = {"check_input": UNUSED}

    @with_callbacks
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, check_input: bool = True
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Training data. Sparse data stay sparse. A `Source` (see ``th.scan``) is read block by
            block and contains the target.
        y : array-like of shape (n,) or (n, n_targets), optional
            Target values. Several targets are fitted independently. Leave it out if X is a
            `Source`.
        check_input : bool, default=True
            Accepted as in scikit-learn and has no effect: rows are always validated.
        """
        source = self._open(X, y, sample_weight, check_finite=False)
        rows = None
        with one_blas_thread():  # once, instead of in each of many short passes
            if self.alpha * self.l1_ratio != 0:
                rows = L1Rows(
                    source, intercept=self.fit_intercept, precompute=self.precompute, many=False
                )
            self._solve(source, rows, self.alpha, self.l1_ratio, X, y)
        return self


def _total_weight(source: Source) -> float:
    return means(source).weight
