"""Shared by `GraphicalLasso` and `GraphicalLassoCV`: parameters, solver and fitted attributes."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.data.source import Source
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, at_least, boolean, more_than, one_of, whole
from thetahat.estimator.watching import WatchedSolver
from thetahat.foundation.errors import DataError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.models.covariance.gaussian_model import (
    GaussianModel,
    centred_moments,
    covariance_of,
)
from thetahat.models.graphical.penalised_precision import SETTLED, BlockNewton, PenalisedPrecision
from thetahat.models.graphical.precision_block import inverse_of

MATRICES = 8
"""Matrices of all columns that a fit holds at once."""
REASON = "a penalised determinant, solved block by block"


@with_parameters
class SparsePrecision(WatchedSolver, GaussianModel):
    """A Gaussian whose precision matrix has few entries that are not zero.

    Parameters
    ----------
    mode : {"cd", "lars"}, default="cd"
        Has no effect. Accepted for compatibility with scikit-learn; the same solver is used for
        both values.
    tol : float, default=1e-4
        The solver stops when the duality gap is at most this value. The gap is an upper bound of
        the distance of the objective from its minimum. Smaller values give a more accurate solution
        and need more iterations. Must be positive.
    enet_tol : float, default=1e-4
        Has no effect. Accepted for compatibility with scikit-learn; the accuracy of the inner
        solver is chosen automatically.
    max_iter : int, default=100
        Maximum number of iterations of the solver. An iteration is one Newton step; about ten
        steps are usual. Raise it if the fit warns that it did not converge.
    verbose : bool or int, default=False
        Whether to print the progress. True or 1 prints one line per second and how the fit ended,
        larger values print every iteration.
    eps : float, default=2.22e-16
        Has no effect. Accepted for compatibility with scikit-learn.

    Attributes
    ----------
    covariance_ : ndarray of shape (d, d)
        Estimated covariance matrix, the inverse of ``precision_``. Its diagonal equals the
        variances of the columns.
    precision_ : ndarray of shape (d, d)
        Estimated precision matrix (Q̂). An entry of zero means that the two columns are
        independent, given all other columns.
    costs_ : list of (float, float)
        The objective and the duality gap after each iteration; those of the start if the solution
        needed no iteration.
    n_edges_ : int
        Number of pairs of columns whose entry of the precision matrix is not zero: the edges of the
        Markov graph.
    """

    _: KW_ONLY
    mode: str = "cd"
    tol: float = 1e-4
    enet_tol: float = 1e-4
    max_iter: int = 100
    verbose: Any = False
    eps: float = EPSILON

    _ranges: ClassVar[dict[str, Range]] = GaussianModel._ranges | {
        "mode": one_of("cd", "lars"),
        "tol": more_than(0),
        "enet_tol": more_than(0),
        "max_iter": whole(0),
        "verbose": boolean | whole(0),
        "eps": at_least(0),
    }

    def _about_rows(self, source: Source) -> tuple[Array, Array]:
        """Mean and covariance (divided by Σw) of the rows, exactly symmetric."""
        about = centred_moments(source, self.assume_centered)
        if not about.weight > 0:
            raise DataError(
                f"{type(self).__name__}: all rows have weight 0. At least one weight must be "
                "positive."
            )
        return about.x_mean, covariance_of(about)

    def _about_several_rows(self, source: Source) -> tuple[Array, Array]:
        """Mean and covariance of rows that have a positive variance in every column."""
        require_memory(
            8 * MATRICES * source.n_features**2,
            f"{type(self).__name__}: the matrices of {source.n_features:,} columns",
            "Drop columns, or reduce their number first.",
        )
        location, covariance = self._about_rows(source)
        self._require_variances(covariance, source)
        return location, covariance

    def _require_variances(self, covariance: Array, source: Source) -> None:
        constant = np.flatnonzero(~(np.einsum("ii->i", covariance) > 0))
        if constant.size == 0:
            return
        who = type(self).__name__
        if source.n_rows == 1:
            raise DataError(
                f"{who}: one row (n_samples=1) has no variance. Pass at least 2 different rows."
            )
        more = f", like {constant.size - 1} more" if constant.size > 1 else ""
        raise DataError(
            f"{who}: column {source.schema.label(int(constant[0]))} has a variance of 0{more}, so "
            "that the likelihood has no maximum. Drop constant columns."
        )

    def _solve(
        self, source: Source, location: Array, covariance: Array, alpha: float, X: Any, y: Any
    ) -> None:
        """Minimise the objective at one penalty, and keep the attributes."""

        def attributes(theta: Array) -> dict[str, Any]:
            inverse = inverse_of(theta)
            assert inverse is not None
            return {
                "location_": location,
                "precision_": theta,
                "covariance_": inverse[1],
                "n_edges_": int(np.count_nonzero(np.triu(theta, 1))),
            }

        with self._watching(int(self.max_iter), attributes, X, y) as watch:
            if alpha == 0:
                solution = self._inverse(covariance)
                costs = [(solution.value, solution.gap)]
            else:
                solution, costs = solve_precision(
                    covariance, alpha, float(self.tol), int(self.max_iter), watch=watch
                )
        self.solution_, self.n_iter_, self.costs_ = solution, solution.steps, costs
        self.__dict__.update(attributes(solution.theta))
        if alpha == 0:
            self.covariance_ = covariance
        self._warn_unless_converged()

    def _inverse(self, covariance: Array) -> Solution:
        """The maximum of the likelihood without a penalty: Q̂ = S⁻¹."""
        scale = np.sqrt(np.einsum("ii->i", covariance))
        found = inverse_of(covariance / scale / scale[:, None])
        d = len(scale)
        if found is None or not np.einsum("ii->i", found[1]).max() < 1.0 / (d * EPSILON):
            raise DataError(
                f"{type(self).__name__}: the covariance of the {d} columns is singular, so that it "
                "has no inverse and alpha=0 has no solution. Use alpha > 0, pass more rows than "
                "columns, or drop columns that depend linearly on others."
            )
        log_det = found[0] + 2.0 * float(np.log(scale).sum())
        return Solution(
            theta=found[1] / scale / scale[:, None],
            outcome=Outcome.EXACT,
            solver="inverse",
            reason="no penalty",
            value=log_det + d,
            gap_kind="duality gap",
            message=Outcome.EXACT.value,
        )


def solve_precision(
    covariance: Array,
    alpha: float,
    tolerance: float,
    max_steps: int,
    start: Array | None = None,
    watch: Watch | None = None,
    settled: float = SETTLED,
) -> tuple[Solution, list[tuple[float, float]]]:
    """Minimise the objective of the graphical lasso for α > 0; the costs of all steps."""
    _require_similar_variances(covariance)
    problem = PenalisedPrecision(covariance, alpha, tolerance, settled)
    costs: list[tuple[float, float]] = []
    with one_blas_thread():  # once, since setting it for every small matrix takes longer
        solution = minimise(
            problem,
            BlockNewton(costs),
            start,
            tolerance=tolerance,
            max_steps=max_steps,
            watch=watch,
            reason=REASON,
        )
    return solution, costs or [(solution.value, solution.gap)]


def _require_similar_variances(covariance: Array) -> None:
    """Refuse variances whose ratio underflows, since one unit is used for all columns."""
    variances = np.einsum("ii->i", covariance)
    least, most = int(np.argmin(variances)), int(np.argmax(variances))
    if not 0.5 * variances[least] / variances[most] >= np.finfo(np.float64).tiny:
        raise DataError(
            f"Graphical lasso: the variance of column {least} is {variances[least]:g} and that of "
            f"column {most} is {variances[most]:g}. Their ratio underflows. Standardise the "
            "columns first."
        )
