"""Clusterings found from several starts, of which the best is kept."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar

import numpy as np

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, at_least, one_of, whole
from thetahat.estimator.watching import Watched
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.randomness import generator
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.models.cluster.centre_model import CentreModel, given_start
from thetahat.models.cluster.lloyd import Lloyd, Rows
from thetahat.models.cluster.starts import STARTS, starting_centres

ENDED = (Outcome.INTERRUPTED, Outcome.OUT_OF_TIME)


def keep_best(interrupt: KeyboardInterrupt, best: Solution | None) -> None:
    """Let an interrupt carry the best solution of all starts, not only that of the last one."""
    last: Solution | None = getattr(interrupt, "solution", None)
    if best is not None and (last is None or best.value <= last.value):
        interrupt.solution = replace(best, outcome=Outcome.INTERRUPTED)  # type: ignore[attr-defined]


@with_parameters
class RestartedCentres(Watched, CentreModel):
    """Centres that steps of assignment and averaging improve, from several starts.

    Parameters
    ----------
    init : {"k-means++", "random", "random_centroids", "random_assignment"}, array of shape \
(n_clusters, d) or callable, default="k-means++"
        The starting centres. "k-means++" draws rows that are far from each other, "random" draws
        rows, "random_centroids" draws points in the range of the columns, and "random_assignment"
        takes the means of rows with random labels. A function is called as ``init(X, n_clusters,
        random_state=...)`` and returns the centres.
    n_init : "auto" or int, default="auto"
        Number of starts, of which the one with the least loss is kept. More starts take longer and
        find better minima. "auto" means 1 for "k-means++" and for an array, and 10 otherwise.
    max_iter : int, default=300
        Maximum number of iterations of each start. Raise it if the fit has not converged.
    tol : float, default=0.0001
        A start ends when the sum of the squared moves of the centres is at most this multiple of
        the mean variance of the columns. Smaller values are more accurate and take longer. Must be
        at least 0.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the random starts. Pass an int for the same result on every call.

    Attributes
    ----------
    n_iter_ : int
        Number of iterations of the best start.
    restarts_ : array of shape (n_init,)
        The loss that each start reached. A wide spread means that more starts are worthwhile.
    solution_ : Solution
        How the best start ended: outcome, number of steps, and the loss after each step.
    """

    _: KW_ONLY
    init: Any = "k-means++"
    n_init: Any = "auto"
    max_iter: int = 300
    tol: float = 1e-4
    random_state: Any = None

    _ranges: ClassVar[dict[str, Range]] = CentreModel._ranges | {
        "init": one_of(*STARTS) | given_start,
        "n_init": one_of("auto") | whole(1),
        "max_iter": whole(1),
        "tol": at_least(0),
    }

    @abstractmethod
    def _problem(self, rows: Rows) -> Any:
        """What a start improves: ``assign`` and ``update``, the last centres and labels."""

    def _fit_from_starts(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Run all starts, and keep the attributes of the best."""
        source = self._open(X, None, sample_weight, supervised=False)
        rows = Rows(source, type(self).__name__)
        self._require_enough_rows(source, rows.n_used)
        self._fit_rows(rows, X, y, starting_centres)

    def _fit_rows(self, rows: Any, X: Any, y: Any, starts: Callable[..., Array]) -> None:
        """The same for rows of any kind; ``starts(rows, k, init, random)`` gives the centres."""
        source = rows.source
        random, n_starts = generator(self.random_state), self._count_starts()
        best: tuple[Solution, Array, int] | None = None
        losses = []

        def attributes(theta: Array) -> dict[str, Any]:
            return {"cluster_centers_": np.asarray(theta, dtype=source.dtype)}

        limited = self._watching(int(self.max_iter) * n_starts, attributes, X, y)
        with limited as watch, one_blas_thread():
            try:
                for _ in range(n_starts):
                    start = starts(rows, self.n_clusters, self.init, random)
                    found = solution, *_ = self._run(rows, start, watch)
                    losses.append(solution.value)
                    if best is None or solution.value < best[0].value:
                        best = found
                    if solution.outcome in ENDED or watch.is_over:
                        break
            except KeyboardInterrupt as interrupt:
                keep_best(interrupt, None if best is None else best[0])
                raise
        assert best is not None
        self.solution_, self.labels_, self.n_iter_ = best
        self.restarts_ = np.array(losses)
        self.__dict__.update(attributes(self.solution_.theta))

    def _report(self, solution: Solution) -> None:
        """Called with the solution of each start."""

    def _run(self, rows: Any, start: Array, watch: Watch) -> tuple[Solution, Array, int]:
        """One start: its solution, the labels of its rows, and the number of iterations."""
        problem, tolerance = self._problem(rows), self.tol * rows.variance
        solution = minimise(
            problem,
            Lloyd(),
            start.astype(rows.source.dtype).astype(np.float64),
            tolerance=tolerance,
            max_steps=self.max_iter,
            watch=watch,
            reason="labels and centres in turns, each simple with the other fixed",
            keep_trace=True,
        )
        # That no label changes any more is seen by a further iteration.
        seen = solution.gap == 0.0 and problem.shift > tolerance
        if not np.array_equal(problem.centres, solution.theta):  # the last step was not the best
            problem.assign(solution.theta)
        self._report(solution)
        return solution, problem.label, min(solution.steps + seen, self.max_iter)

    def _count_starts(self) -> int:
        given = not isinstance(self.init, str) and not callable(self.init)
        if self.n_init == "auto":
            return 1 if given or self.init == "k-means++" else 10
        if given and self.n_init > 1:
            warn(
                f"Explicit initial center position passed: performing only one init in "
                f"{type(self).__name__} instead of n_init={self.n_init}. Set n_init=1.",
                RuntimeWarning,
            )
            return 1
        return int(self.n_init)
