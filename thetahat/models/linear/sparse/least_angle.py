"""Shared by `Lars` and `LassoLars`: compute the path and keep its last node as the model."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metadata_routing import UNUSED

from thetahat.data.source import Source
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.linear import LinearRegressor
from thetahat.estimator.parameters import LARGEST_FACTOR, at_least, boolean, check_value, none
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.joined import joined
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.models.linear.sparse.l1_regressor import gram_choice
from thetahat.objective.lasso.least_angle import (
    LeastAnglePath,
    LeastAngleProblem,
    PathRules,
    least_angle_problem,
)

PATH_RANGES = {
    "fit_intercept": boolean,
    "precompute": gram_choice | none,
    "eps": at_least(0),
    "copy_X": boolean,
}
LEAST_ANGLE_RANGES = PATH_RANGES | {
    "fit_path": boolean,
    "jitter": at_least(0, LARGEST_FACTOR) | none,
}


@with_parameters
class PathRegressor(LinearRegressor):
    """A linear model that is a point of a path of least angles.

    Parameters
    ----------
    verbose : bool or int, default=False
        Whether to print the columns that join and leave at each step of the path.
    precompute : bool, "auto" or array of shape (d, d), default="auto"
        Whether to form the Gram matrix XᵀX. "auto" forms it unless there are many more columns than
        rows. An array has the effect of True: it must be a symmetric (d, d) matrix, and is computed
        again from X.
    eps : float, default=2.2e-16
        Has no effect, because columns that depend linearly on others are left out. Accepted for
        compatibility with scikit-learn.

    Attributes
    ----------
    solution_ : Solution
        Report of the path: how it ended, and the number of steps.
    """

    _: KW_ONLY
    fit_intercept: bool = True
    verbose: Any = False
    precompute: Any = "auto"
    eps: float = EPSILON
    copy_X: bool = True

    fit_path = True
    """Whether all nodes are kept."""
    _prints_itself = True
    _ranges = PATH_RANGES

    def _problem(self, source: Source) -> LeastAngleProblem:
        return least_angle_problem(
            source,
            intercept=self.fit_intercept,
            precompute=self.precompute,
            who=f"{type(self).__name__}: precompute",
        )

    def _keep_paths(
        self, paths: list[LeastAnglePath], problem: LeastAngleProblem, source: Source
    ) -> None:
        coef = np.array([path.coefs[-1] for path in paths])
        theta = np.vstack([coef.T, problem.y_mean - coef @ problem.x_mean])
        self._keep(theta, source)
        one, dtype = len(paths) == 1, source.dtype
        alphas = [path.alphas.astype(dtype, copy=False) for path in paths]
        steps = [path.steps for path in paths]
        self.alphas_ = alphas[0] if one else alphas
        self.n_iter_ = steps[0] if one else steps
        if self.fit_path:
            kept = [path.coefs.T.astype(dtype, copy=False) for path in paths]
            self.coef_path_ = kept[0] if one else kept
            self.active_ = paths[0].active if one else [path.active for path in paths]
        self._report(paths, theta, problem)

    def _report(
        self, paths: list[LeastAnglePath], theta: Array, problem: LeastAngleProblem
    ) -> None:
        """Keep how the paths ended, print them on request, and warn if they ended early."""
        for path in paths if self.verbose else ():
            print_path(path)
        found = joined([self._solution(path) for path in paths])
        self.solution_ = replace(found, theta=theta, reason=problem.reason)
        if self.solution_.outcome is not Outcome.EXACT:
            warn(f"{type(self).__name__}: {self.solution_.message}.", ConvergenceWarning)

    def _solution(self, path: LeastAnglePath) -> Solution:
        return Solution(
            theta=path.coefs[-1],
            outcome=path.outcome,
            solver="least_angles",
            reason="",
            steps=path.steps,
            message=path.outcome.value,
        )


@with_parameters
class LeastAngleRegressor(PathRegressor):
    """A linear model that is a node of a path of least angles.

    Parameters
    ----------
    fit_path : bool, default=True
        Whether to keep the whole path in ``coef_path_``. False saves memory.
    jitter : float or None, default=None
        Upper limit of uniform random numbers that are added to the targets before the fit, so that
        columns do not join at the same step. None adds nothing.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers of `jitter`. An int gives the same result at every call.

    Attributes
    ----------
    alphas_ : array of shape (n_nodes,), or list of such arrays
        Absolute correlation of the columns in use with the residual, divided by n, at each node of
        the path; for the lasso, the penalty α. One array per target if there are several.
    active_ : list of int, or list of such lists
        Columns in use at the end of the path, in the order in which they joined. Only set if
        ``fit_path=True``.
    coef_path_ : array of shape (d, n_nodes), or list of such arrays
        Coefficients at each node of the path. Only set if ``fit_path=True``.
    n_iter_ : int or list of int
        Number of steps of the path, for each target if there are several.
    solution_ : Solution
        Report of the path: how it ended, and the number of steps.
    """

    _: KW_ONLY
    fit_path: bool = True
    jitter: float | None = None
    random_state: Any = None

    _flattens_one_column = True
    _ranges = LEAST_ANGLE_RANGES
    # Xᵀy is not metadata to be routed.
    __metadata_request__fit: ClassVar[dict[str, str]] = {"Xy": UNUSED}

    def _rules(self) -> PathRules:
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None, Xy: Any = None, sample_weight: Any = None) -> Self:
        """Compute the path and fit the model.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Training data. A `Source` (see ``th.scan``) is read block by block and contains the
            target.
        y : array-like of shape (n,) or (n, n_targets), optional
            Target values. Several targets are fitted independently. Leave it out if X is a
            `Source`.
        Xy : array-like, optional
            Has no effect, because Xᵀy is always computed. Accepted for compatibility with
            scikit-learn.
        """
        source = self._open(X, self._jittered(y), sample_weight, check_finite=False)
        problem, rules = self._problem(source), self._rules()
        self._keep_paths(
            [problem.path(rules, k) for k in range(problem.n_targets)], problem, source
        )
        return self

    def _jittered(self, y: Any) -> Any:
        if self.jitter is None:
            return y
        if y is None:
            raise ParameterError(
                f"{type(self).__name__}: jitter={self.jitter!r} needs targets in memory, but X is "
                "a source that contains the targets. Use jitter=None."
            )
        check_value(self.jitter, LEAST_ANGLE_RANGES["jitter"], "jitter", type(self).__name__)
        noise = generator(self.random_state).uniform(0.0, self.jitter, len(y))
        y = np.asarray(y)
        return y + (noise if y.ndim == 1 else noise[:, None])


def ended_as_asked(found: Solution) -> Solution:
    """A path that ends after the requested number of steps is complete."""
    if found.outcome is Outcome.STEPS_EXHAUSTED:
        return replace(found, outcome=Outcome.EXACT, message=Outcome.EXACT.value)
    return found


def print_path(path: LeastAnglePath) -> None:
    """One line per step: the columns that joined and left, and the penalty at its end."""
    print(f"{'Step':>6}{'Added':>8}{'Dropped':>9}{'Active':>8}{'Alpha':>12}")
    before: set[int] = set()
    for step, (alpha, coef) in enumerate(zip(path.alphas, path.coefs, strict=True)):
        now = set(np.flatnonzero(coef).tolist())
        added = ",".join(map(str, sorted(now - before)))
        dropped = ",".join(map(str, sorted(before - now)))
        print(f"{step:>6}{added:>8}{dropped:>9}{len(now):>8}{alpha:>12.4g}")
        before = now
