"""Shared by Gaussian processes: the kernel, and the fit of its hyper-parameters."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from thetahat.data.validation import as_features
from thetahat.estimator.base import Estimator
from thetahat.estimator.parameters import Range, none, one_of, whole
from thetahat.estimator.watching import WatchedSolver
from thetahat.foundation.arguments import returned_number, returned_numbers, shown
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.kernels.base import Constant, Kernel
from thetahat.mathematics.kernels.given import Precomputed
from thetahat.mathematics.kernels.names import as_kernel, is_scikit_learns
from thetahat.mathematics.kernels.stationary import RBF
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.smooth.lbfgs import LBFGS
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.objective.kernel.projected_bfgs import ProjectedBFGS, curvature
from thetahat.objective.predictor import in_double

TOLERANCE = 1e-6
"""Of the derivatives of the mean log likelihood per target, where the iterations stop."""
MOST_STEPS = 200


class NotPositiveDefiniteError(DataError, np.linalg.LinAlgError):
    """The covariance of the targets has no Cholesky factor."""


class GaussianProcess(WatchedSolver, Estimator):
    """An estimator with a random function whose covariance is a kernel.

    Parameters
    ----------
    optimizer : "fmin_l_bfgs_b", callable or None, default="fmin_l_bfgs_b"
        How the hyper-parameters of the kernel are fitted: by this library's L-BFGS within their
        bounds, or not at all (None). A function ``optimizer(objective, start, bounds)`` minimises
        ``objective(theta, eval_gradient=True)`` itself and returns θ and the value there.
    n_restarts_optimizer : int, default=0
        Number of further starts from random hyper-parameters within the bounds; the best fit is
        kept. More starts cost more time and are less likely to end in a local maximum.
    random_state : int, Generator or None, default=None
        Seed for drawing the starts. Pass an int for the same result on every call.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with the fitted hyper-parameters, of the kind that was given.
    log_marginal_likelihood_value_ : float
        The logarithm of the marginal likelihood of this kernel.
    """

    _generative = False
    _parametric = False

    kernel: Any
    optimizer: Any
    n_restarts_optimizer: int
    random_state: Any

    _ranges: ClassVar[dict[str, Range]] = {
        "kernel": none
        | Range(lambda value: isinstance(value, Kernel) or is_scikit_learns(value), "a kernel"),
        "optimizer": one_of("fmin_l_bfgs_b") | none | Range(callable, "a function"),
        "n_restarts_optimizer": whole(0),
    }
    _streams = False
    _for_few_rows = True

    kernel_: Any
    log_marginal_likelihood_value_: float
    L_: Array
    alpha_: Array

    def _initial_kernel(self) -> Any:
        """The kernel as it was given, or the default one."""
        if self.kernel is None:
            return Constant() * RBF(length_scale=1.0)
        if not isinstance(self.kernel, Kernel) and not is_scikit_learns(self.kernel):
            raise ParameterError(
                f"{type(self).__name__}: kernel={self.kernel!r} must be a kernel, such as "
                "th.kernels.RBF() + th.kernels.White(), or None."
            )
        if isinstance(self.kernel, Precomputed):
            raise ParameterError(
                f"{type(self).__name__}: kernel=Precomputed() is not supported, because the "
                "variance of a prediction needs the kernel of the new row with itself. Use "
                "th.KernelRidge(kernel='precomputed') for the mean, or th.kernels.FromFunction."
            )
        return self.kernel

    def _open_rows(self, X: Any) -> Array:
        """Rows for predictions of the prior, in double precision."""
        features, _ = as_features(X, who=type(self).__name__, accept_sparse=False)
        if not np.isfinite(features).all():
            raise DataError(
                f"{type(self).__name__}: X contains values that are not finite (NaN or infinity). "
                "Impute or remove them first."
            )
        found: Array = in_double(features)
        return found

    def _fit_hyperparameters(
        self, problem: Any, final: Callable[[Kernel, Any], dict[str, Any]], X: Any, y: Any
    ) -> None:
        """Maximise the likelihood, and set the attributes that `final` makes of the kernel."""
        given = self._initial_kernel()

        def attributes(theta: Array) -> dict[str, Any]:
            kernel = problem.kernel.with_theta(theta)
            return {"kernel_": with_theta(given, theta), **final(kernel, problem)}

        free = self.optimizer is not None and len(problem.kernel.theta) > 0
        starts = self._starts(problem) if free else []
        solutions = []
        with self._watching(None, attributes, X, y) as watch:
            for start in starts:
                if callable(self.optimizer):
                    solutions.append(self._custom(problem, start))
                else:
                    solutions.append(_optimum(problem, start, watch))
        best = min(solutions, key=lambda each: each.value) if solutions else None
        theta = problem.kernel.theta if best is None else best.theta
        self.__dict__.update(attributes(theta))
        self.solution_ = best or Solution(
            theta=theta,
            outcome=Outcome.EXACT,
            solver="cholesky",
            reason="the hyper-parameters are fixed",
            message=Outcome.EXACT.value,
        )
        self.n_iter_ = max(1, self.solution_.steps)
        if best is not None:
            self._warn_unless_converged()
            self._warn_at_bounds()

    def _starts(self, problem: Any) -> list[Array]:
        starts = [problem.start()]
        if self.n_restarts_optimizer and not np.isfinite(problem.bounds).all():
            raise ParameterError(
                f"{type(self).__name__}: n_restarts_optimizer={self.n_restarts_optimizer} requires "
                "that all bounds are finite, because starts are drawn between them. Give finite "
                "bounds with th.kernels.Bounded."
            )
        low, high = problem.bounds.T
        random = generator(self.random_state) if self.n_restarts_optimizer else None
        for _ in range(self.n_restarts_optimizer):
            assert random is not None
            starts.append(random.uniform(low, high))
        return starts

    def _custom(self, problem: Any, start: Array) -> Solution:
        """The optimum that the user's function finds."""

        def objective(theta: Any, eval_gradient: bool = True) -> Any:
            theta = np.asarray(theta, dtype=np.float64)
            if not eval_gradient:
                return -problem.log_likelihood(theta)
            value, slope = problem.log_likelihood_and_gradient(theta)
            return -value, -slope

        name = f"{type(self).__name__}: the function optimizer"
        found = self.optimizer(objective, start.copy(), bounds=problem.bounds.copy())
        if not isinstance(found, tuple | list) or len(found) != 2:
            raise ParameterError(
                f"{name} returned {shown(found)}, but must return the logarithms of the "
                "hyper-parameters and the value of the objective there: (theta, value)."
            )
        theta, value = returned_numbers(found[0], name), returned_number(found[1], name)
        if theta.shape != start.shape or not np.isfinite(theta).all():
            raise ParameterError(
                f"{name} returned theta={shown(found[0])}, but must return {len(start)} finite "
                "numbers, the logarithms of the hyper-parameters."
            )
        return Solution(
            theta=theta,
            outcome=Outcome.CONVERGED,
            solver="custom",
            reason="the function that was given as optimizer",
            value=np.inf if np.isnan(value) else value,
            message=Outcome.CONVERGED.value,
        )

    def _warn_at_bounds(self) -> None:
        """Warn of hyper-parameters that the bounds keep from a larger likelihood."""
        theta, bounds = self.kernel_.theta, self.kernel_.bounds
        free = [each for each in self.kernel_.hyperparameters if not each.fixed]
        places = [(each.name, place) for each in free for place in range(each.n_elements)]
        sides = (("lower", "Decreasing"), ("upper", "Increasing"))
        for (name, place), value, limits in zip(places, theta, bounds, strict=True):
            for limit, (side, verb) in zip(limits, sides, strict=True):
                if np.isclose(value, limit):
                    bound = float(f"{np.exp(limit):.10g}")  # without the error of the logarithm
                    warn(
                        f"The optimal value found for dimension {place} of parameter {name} is "
                        f"close to the specified {side} bound {bound}. {verb} the bound and "
                        "calling fit again may find a better value.",
                        ConvergenceWarning,
                    )

    def _likelihood_at(
        self, problem: Any, theta: Any, eval_gradient: bool, clone_kernel: bool
    ) -> Any:
        theta = np.asarray(theta, dtype=np.float64).reshape(-1)
        if not clone_kernel:
            self.kernel_ = with_theta(self.kernel_, theta)
        if eval_gradient:
            return problem.log_likelihood_and_gradient(theta)
        return problem.log_likelihood(theta)


def _optimum(problem: Any, start: Array, watch: Watch) -> Solution:
    """The optimum from this start, which a fit to a sample of many rows improves first.

    The optimum of the sample is used if it has a larger likelihood of all rows than the start.
    """
    search = partial(minimise, tolerance=TOLERANCE, max_steps=MOST_STEPS)
    reason = "few hyper-parameters with gradients and bounds"
    sample = problem.of_some_rows()
    if sample is not None:
        nearer = search(sample, LBFGS(), start).theta
        if problem.log_likelihood(nearer) > problem.log_likelihood(start):
            found = search(
                problem,
                ProjectedBFGS(curvature(sample, nearer)),
                nearer,
                watch=watch,
                reason=f"{reason}; start and curvature from {len(sample.y)} of "
                f"{len(problem.y)} rows",
            )
            if found.outcome is not Outcome.STALLED:
                return found
            start = found.theta
    return search(problem, LBFGS(), start, watch=watch, reason=reason)


def covariance_of(kernel: Any) -> Kernel:
    """The kernel, or the one that computes what a kernel of scikit-learn does."""
    return kernel if isinstance(kernel, Kernel) else as_kernel(kernel)


def with_theta(kernel: Any, theta: Array) -> Any:
    """A copy of the kernel, of its own kind, with these hyper-parameters."""
    if isinstance(kernel, Kernel):
        return kernel.with_theta(theta)
    return kernel.clone_with_theta(theta)


def not_positive_definite(model: Any, kernel: Kernel) -> NotPositiveDefiniteError:
    """The error for a covariance without a Cholesky factor."""
    named = model.kernel_ if hasattr(model, "kernel_") else model._initial_kernel()
    return NotPositiveDefiniteError(
        f"The kernel, {named}, is not returning a positive definite matrix. Try gradually "
        f"increasing the 'alpha' parameter of your {type(model).__name__} estimator."
    )
