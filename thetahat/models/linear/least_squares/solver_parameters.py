"""Parameters of the least-squares solvers, as all estimators with a choice of solver have them."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import (
    Range,
    at_least,
    boolean,
    non_negative_array,
    none,
    one_of,
    whole,
)
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.loop import Method
from thetahat.models.linear.solver_names import LEAST_SQUARES, least_squares_solver
from thetahat.objective.least_squares.solve import AUGMENTED, SOLVERS

A_METHOD = Range(lambda value: isinstance(value, Method), "a method such as th.optimizers.LBFGS()")
SOLVER_RANGES: dict[str, Range] = {
    "fit_intercept": boolean,
    "positive": boolean,
    "tol": at_least(0),
    "max_iter": whole(1) | none,
    "solver": one_of("auto", *SOLVERS, *LEAST_SQUARES, *AUGMENTED) | A_METHOD,
}


@with_parameters
class SolverParameters:
    """Parameters of the least-squares solvers.

    Parameters
    ----------
    max_iter : int or None, default=None
        Maximum number of iterations of the iterative solvers ("lsqr", "conjugate_gradient",
        "gradient_descent"), or of epochs ("sgd", "mini_batch"). None uses the default of the
        solver. Direct solvers ignore it.
    tol : float, default=1e-4
        Tolerance of the iterative solvers. Smaller values give a more exact solution and take
        longer. Direct solvers ignore it.
    random_state : int, Generator or None, default=None
        Seed for the random order of the rows in the solvers "sgd" and "mini_batch". Pass an int for
        the same result on every call.

    Attributes
    ----------
    n_iter_ : int
        Number of iterations that the solver ran; 1 for a direct solver.
    """

    _: KW_ONLY
    fit_intercept: bool = True
    positive: bool = False
    solver: Any = "auto"
    max_iter: int | None = None
    tol: float = 1e-4
    random_state: Any = None
    copy_X: bool = True

    def _solver_options(self, watch: Watch | None) -> dict[str, Any]:
        """Arguments of `least_squares`."""
        return {
            "solver": least_squares_solver(self.solver, positive=self.positive),
            "intercept": self.fit_intercept,
            "positive": self.positive,
            "tolerance": self.tol,
            "max_steps": self.max_iter,
            "random_state": self.random_state,
            "watch": watch,
        }


@with_parameters
class RidgeParameters(SolverParameters):
    """Parameters of ridge regression with a given penalty.

    Attributes
    ----------
    solver_ : str
        Name of the solver that was used.
    """

    alpha: Any = 1.0

    _search_space: ClassVar[dict[str, tuple[Any, ...]]] = {
        "alpha": (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10_000.0),
    }
    _ranges: ClassVar[dict[str, Range]] = SOLVER_RANGES | {
        "alpha": at_least(0) | non_negative_array
    }
