"""Shared by support vector machines: the kernel, the solver, the support and the predictions."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from thetahat.data.in_memory import InMemory
from thetahat.estimator.parameters import (
    Range,
    boolean,
    more_than,
    one_of,
    real,
    whole,
)
from thetahat.estimator.sparsify import in_sparse_interface
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.foundation.types import Array, Matrix
from thetahat.foundation.watch import Watch
from thetahat.mathematics.kernels import named as named_kernel
from thetahat.mathematics.kernels.base import Kernel
from thetahat.mathematics.kernels.given import FromFunction, Precomputed
from thetahat.mathematics.kernels.names import is_scikit_learns
from thetahat.mathematics.kernels.polynomial import Linear, Sigmoid
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.models.kernel.parameters import (
    OfKernel,
    around,
    far_middle,
    in_memory,
    is_name,
    kernel_of,
)
from thetahat.models.kernel.support.rows import (
    FEW_ROWS,
    FEW_ROWS_OF_MANY,
    MANY_COLUMNS,
    MANY_PROBLEMS,
    TrainingRows,
    dense_if_small,
    joined_if_equal,
    variance,
)
from thetahat.objective.kernel.compiled import compiled, kernel_sums
from thetahat.objective.kernel.features import gram_of
from thetahat.objective.kernel.gram_rows import gram_rows
from thetahat.objective.kernel.support_dual import BoxDual, DualSolution, minimise_dual
from thetahat.objective.predictor import in_double

MEBIBYTE = 1 << 20
FREE_OF_ROUNDING = 3e-8
"""Rounding error of a cached entry in single precision, relative to the largest coefficients."""
LOST_SHARE = 1e-3
"""A larger violation, as a share of the spread of the target, is worth a warning."""
LARGEST_COST = 1e100
"""Bound of the coefficients in place of a larger or infinite one; its square is finite."""


class Stopped(Protocol):
    """How a solver stopped."""

    @property
    def outcome(self) -> Outcome: ...
    @property
    def steps(self) -> int: ...
    @property
    def value(self) -> float: ...
    @property
    def gap(self) -> float: ...


class SupportVectors(OfKernel):
    """A function f(x) = Σ βᵢ k(xᵢ, x) + b over the support vectors xᵢ.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        The kernel: "rbf", "linear", "poly" (or "polynomial"), "sigmoid", "laplacian", "cosine",
        "matern", "rational_quadratic", a value such as ``th.kernels.RBF(sigma=2.0)`` or a sum of
        kernels. "precomputed" means that X is a kernel matrix. A function takes two matrices of
        rows and returns the matrix of kernel values.
    degree : int, default=3
        The degree of the "poly" kernel. Larger values give more flexible functions. Other kernels
        ignore it.
    gamma : {"scale", "auto"} or float, default="scale"
        The factor γ of a kernel that is given by name: exp(−γ‖x − z‖²) for "rbf",
        (γ·xᵀz + coef0)^degree for "poly", tanh(γ·xᵀz + coef0) for "sigmoid". Larger values give
        rougher functions. "scale" means 1/(d·v) for d columns, where v is the weighted variance of
        all entries of X; "auto" means 1/d. Must be positive.
    coef0 : float, default=0.0
        The constant term of the "poly" and "sigmoid" kernels. Other kernels ignore it.
    tol : float, default=1e-3
        Tolerance of the solver: no pair of rows may violate the conditions of optimality by more.
        Smaller values give more accurate coefficients and need more iterations. Must be positive.
    shrinking : bool, default=True
        Whether rows that stay at a bound are left out of the iterations for a while. All rows are
        checked at the end, so the result has the same accuracy.
    cache_size : float, default=200
        Size of the cache of kernel rows in MiB. Increase it for many rows. Must be positive.
    verbose : bool, default=False
        Whether to print how the fit ended.
    max_iter : int, default=-1
        Maximum number of iterations of the solver. −1 means no limit.

    Attributes
    ----------
    support_ : array of shape (n_support,)
        The numbers of the training rows that are support vectors.
    support_vectors_ : array or sparse matrix of shape (n_support, d)
        These rows; empty for a precomputed kernel.
    n_support_ : array of shape (n_classes,) or (1,)
        The number of support vectors of each class, or of all.
    kernel_ : Kernel
        The kernel with all its parameters.
    shape_fit_ : tuple of int
        The shape of X in `fit`.
    fit_status_ : int
        0 if the solver converged, 1 if it stopped before.
    solution_ : Solution
        Report of the solver: how it stopped, the number of iterations, the value of the dual
        objective and the duality gap.
    """

    kernel: Any
    degree: Any
    gamma: Any
    coef0: Any
    tol: float
    shrinking: bool
    cache_size: Any
    verbose: Any
    max_iter: int

    _ranges: ClassVar[dict[str, Range]] = {
        "degree": whole(0),
        "gamma": one_of("scale", "auto") | more_than(0),
        "coef0": real,
        "tol": more_than(0),
        "shrinking": boolean,
        "cache_size": more_than(0),
        "max_iter": whole(-1),
    }

    kernel_: Kernel
    support_: Array
    dual_coef_: Any
    intercept_: Array
    solution_: Solution
    _centres: Matrix
    _weights: Array
    _offsets: Array
    _n_support: Array
    _has_free_intercept: ClassVar[bool] = True
    """Whether the coefficients sum to 0, so that the origin of the rows has no influence."""
    _middle: Array | None = None
    """What is subtracted from the rows, if they are far from 0 under the linear kernel."""

    @classmethod
    def _example(cls) -> Any:
        """A tolerance at which two fits of the same problem agree to many digits."""
        return cls(tol=1e-9)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "support_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags

    @property
    def n_support_(self) -> Array:
        """The number of support vectors of each class, or of all."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError("n_support_ is known after fit.")
        return self._n_support

    @property
    def coef_(self) -> Any:
        """The coefficients of the columns, for the linear kernel only. Cost: O(n_support·d)."""
        if not is_name(self.kernel, "linear") and not isinstance(self.kernel, Linear):
            raise AttributeError("coef_ is only available when using a linear kernel")
        found = self._linear_coefficients()
        (found.data if hasattr(found, "indptr") else found).flags.writeable = False
        return found

    def _linear_coefficients(self) -> Any:
        found = self.dual_coef_ @ around(self._middle, self.support_vectors_)
        return found if hasattr(found, "indptr") else np.asarray(found)

    def _begin(self, source: Any) -> tuple[InMemory, Array, Array]:
        """The rows, the numbers of those of positive weight, and their weights; the kernel is set.

        Rows of weight 0 have no influence, not even on gamma.
        """
        who = type(self).__name__
        rows = in_memory(source, who)
        used = np.arange(rows.n_rows)
        if rows.weight is not None:
            used = np.flatnonzero(rows.weight > 0)
        weight = rows.row_weights[used].astype(np.float64)
        self.kernel_ = self._kernel(rows, used, weight)
        if isinstance(self.kernel_, Precomputed):
            if rows.is_sparse:
                raise CapabilityError(
                    f"{who}: Sparse precomputed kernels are not supported. Pass a dense matrix: "
                    "X.toarray()."
                )
            if rows.X.shape[0] != rows.X.shape[1]:
                raise DataError(
                    f"{who}: Precomputed matrix must be a square matrix. Input is a "
                    f"{rows.X.shape[0]}x{rows.X.shape[1]} matrix. Pass kernel(X) of all training "
                    "rows."
                )
            self.kernel_.gram(rows.X)  # checked to be symmetric
        if self._has_free_intercept:
            self._middle = far_middle(
                self.kernel_, rows.X if len(used) == rows.n_rows else rows.X[used]
            )
        self.shape_fit_ = tuple(rows.X.shape)
        return rows, used, weight

    def _kernel(self, rows: InMemory, used: Array, weight: Array) -> Kernel:
        if isinstance(self.kernel, Kernel) or is_scikit_learns(self.kernel):
            return named_kernel(self.kernel)
        if callable(self.kernel) and not isinstance(self.kernel, type):
            return FromFunction(self.kernel)
        if is_name(self.kernel, "precomputed"):
            return Precomputed()
        gamma = self.gamma
        if gamma == "auto":
            gamma = 1.0 / rows.n_features
        elif gamma == "scale":
            gamma = 1.0 / (
                rows.n_features * (variance(dense_if_small(rows.X[used]), weight) or 1.0)
            )
        if is_name(self.kernel, "sigmoid"):
            return Sigmoid(float(gamma), float(self.coef0))
        return kernel_of(self.kernel, rows.n_features, gamma, self.degree, self.coef0)

    def _training_rows(self, rows: InMemory, n_problems: int = 1) -> TrainingRows:
        """The rows for `_solve`: if they are few and of several problems, their kernel matrix."""
        kernel, X = self.kernel_, around(self._middle, in_double(dense_if_small(rows.X)))
        is_dense = isinstance(X, np.ndarray)
        is_wide = is_dense and X.shape[1] >= MANY_COLUMNS
        few = FEW_ROWS_OF_MANY if is_wide or n_problems >= MANY_PROBLEMS else FEW_ROWS
        if X.shape[0] > few or isinstance(kernel, Precomputed):
            return TrainingRows(kernel, X)
        can_wait = n_problems == 1 and is_dense and not is_wide
        if can_wait and compiled(kernel) is not None:
            return TrainingRows(kernel, X)  # compiled code computes the rows that it needs
        return TrainingRows(Precomputed(), gram_of(kernel, X, np.arange(X.shape[0])))

    def _solve(
        self,
        training: TrainingRows,
        which: Array | None,
        dual: BoxDual,
        *,
        tolerance: float | None = None,
        steps_before: int = 0,
        most_steps: int | None = None,
    ) -> DualSolution:
        """Minimise the dual of these rows; the tolerance is `tol` if none is given.

        `most_steps` counts, with the steps before, where `max_iter` sets no limit.
        """
        tolerance = self.tol if tolerance is None else tolerance
        limit = most_steps if self.max_iter < 0 else self.max_iter
        single = in_single(len(dual.upper), float(np.max(dual.upper, initial=0.0)), tolerance)
        rows = gram_rows(training.kernel, training.X, which, self.cache_size * MEBIBYTE, single)
        return minimise_dual(
            rows,
            dual,
            tolerance=tolerance,
            max_steps=None if limit is None else max(0, limit - steps_before),
            shrinking=self.shrinking,
            watch=Watch(),
        )

    def _warn_if_lost(self, found: DualSolution, spread: float) -> None:
        """Warn if rounding errors have ended the search far from the optimum."""
        least = max(self.tol, LOST_SHARE * spread)
        if found.outcome is Outcome.STALLED and found.violation > least:
            warn(
                f"{type(self).__name__}: the coefficients reach {np.abs(found.beta).max():.2g}, so "
                f"that rounding errors end the search with a violation of {found.violation:.2g}. "
                "Use a smaller C, or scale the columns.",
                ConvergenceWarning,
            )

    def _solution(self, found: Stopped, theta: Array) -> Solution:
        return Solution(
            theta=theta,
            outcome=found.outcome,
            solver="smo",
            reason="hinge or tube loss under a kernel: pairs of dual variables, by their gain",
            steps=found.steps,
            value=found.value,
            gap=found.gap,
            gap_kind="duality gap",
            message=found.outcome.value,
            multipliers=theta,
        )

    def _keep(
        self,
        rows: InMemory,
        support: Array,
        weights: Array,
        offsets: Array,
        classes: Array | None = None,
    ) -> Array:
        """Store the support and what predictions need; equal support vectors are joined.

        `weights` has one column for each function. Only support vectors of one class are joined;
        the class of each that is left is returned.
        """
        classes = np.zeros(len(support), dtype=np.intp) if classes is None else classes
        self.support_ = support.astype(np.int32)
        centres = self.kernel_.rows(in_double(rows.X), support)
        weights = np.ascontiguousarray(weights)
        if isinstance(self.kernel_, Precomputed):
            self.support_vectors_ = np.empty((0, 0))
        else:
            self.support_vectors_ = centres
            if isinstance(centres, np.ndarray):  # by columns, as compiled code reads them
                which, weights = joined_if_equal(centres, weights, classes)
                centres = np.asfortranarray(around(self._middle, centres[which]))
                classes = classes[which]
            else:
                self.support_vectors_ = in_sparse_interface(centres)
        self._centres, self._weights, self._offsets = centres, weights, offsets
        return classes

    def _shared_format(self, dual_coef: Array, rows: InMemory) -> Any:
        """The coefficients, sparse if the rows are."""
        if not rows.is_sparse:
            return dual_coef
        from scipy.sparse import csr_array

        return in_sparse_interface(csr_array(dual_coef))

    def _scores(self, X: Any) -> Array:
        """All functions at the rows of X, of shape (n, n_functions)."""
        source = self._open_again(X)
        if not len(self.support_):
            return np.tile(self._offsets, (source.n_rows, 1)).astype(source.dtype)
        expansion, middle = self._expansion(), self._middle
        if middle is None:
            return self._expand(source, expansion)
        return self._expand(source, lambda X: expansion(around(middle, in_double(X))))

    def _expansion(self) -> Callable[[Matrix], Array]:
        """All functions, for rows in memory."""
        return partial(kernel_sums, self.kernel_, self._centres, self._weights, self._offsets)

    def _pair_weights(self) -> Array:
        """The coefficients of the centres, with one column for each function."""
        return self._weights

    def _finish(self) -> None:
        if self._middle is not None:  # f(x) = wᵀ(x − m) + b
            along = np.asarray(self._centres) @ self._middle
            self.intercept_ = self._offsets - along @ self._pair_weights()
        solution = self.solution_
        early = solution.outcome in (Outcome.STEPS_EXHAUSTED, Outcome.OUT_OF_TIME)
        self.fit_status_ = int(early)
        if early:
            limit = "max_iter" if solution.outcome is Outcome.STEPS_EXHAUSTED else "max_time"
            warn(
                f"{type(self).__name__}: {solution.outcome.value} ({solution.steps} "
                f"{'iteration' if solution.steps == 1 else 'iterations'}, duality gap "
                f"{solution.gap:.2g}). Raise {limit} or tol, or scale the columns.",
                ConvergenceWarning,
            )


def in_single(n_rows: int, largest: float, tolerance: float) -> bool:
    """Whether kernel rows are cached in single precision: if they are many, and exact enough."""
    rounding = FREE_OF_ROUNDING * largest * math.sqrt(n_rows)
    return n_rows > FEW_ROWS and rounding <= 0.1 * tolerance


def costs(C: float, weight: Array) -> Array:
    """The bounds of the coefficients: C times the weights of the rows."""
    with np.errstate(over="ignore"):
        return np.minimum(C * weight, LARGEST_COST)
