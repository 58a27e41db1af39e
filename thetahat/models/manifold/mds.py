"""Multidimensional scaling: points whose distances approximate any dissimilarities."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from math import sqrt
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import (
    Range,
    at_least,
    boolean,
    check_ranges,
    none,
    one_of,
    whole,
)
from thetahat.estimator.watching import Watched, with_callbacks
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.smooth.lbfgs import LBFGS
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.mathematics.spectral.scaling import classical_scaling
from thetahat.models.manifold.dissimilarities import DissimilarityEmbedding, start_in_unit, unit_of
from thetahat.models.manifold.stress import (
    MetricStress,
    OrdinalStress,
    Smacof,
    SquaredStress,
    Step,
)

ENDED = (Outcome.INTERRUPTED, Outcome.OUT_OF_TIME)
EXACT_STRESS = 1e-20
"""A smaller stress of dissimilarities near 1 is due to rounding."""


@with_parameters
class MDS(Watched, DissimilarityEmbedding):
    """Multidimensional scaling of any dissimilarities, by the least stress.

    The dissimilarities need not be distances of points, nor satisfy the triangle inequality. The
    stress has local minima, so that several starts are worthwhile; ``restarts_`` shows what each
    reached. `ClassicalMDS` computes its embedding directly and is the better start.

    Formula: the points minimise S = Σ_{i<j} (δ_ij − ‖z_i − z_j‖)². With ``metric_mds=False`` only
    the order of the dissimilarities counts (ordinal scaling): δ is replaced by the monotone values
    of it that are nearest to the distances. With ``loss="squared_stress"`` the points minimise
    S = Σ_{i≠j} (δ_ij² − ‖z_i − z_j‖²)², which penalises errors of large distances more.

    Cost: O(n²) time per iteration for each component, and four matrices of n² numbers, whose size
    is checked first. Ordinal scaling also sorts all pairs once.

    Parameters
    ----------
    metric_mds : bool, default=True
        Whether the dissimilarities are to be approximated themselves. False uses only their order;
        a dissimilarity of 0 then has the disparity 0.
    n_init : int, default=1
        Number of random starts, of which the one with the least stress is kept. More starts take
        longer and find better minima.
    init : {"warn", "random", "classical_mds"}, default="warn"
        The first points: random ones, or those of `ClassicalMDS`, from which one run is made. The
        default means "random"; its name is that of scikit-learn, which will use "classical_mds" in
        a later version.
    max_iter : int, default=300
        Maximum number of iterations of each start. Raise it if the fit warns that it did not
        converge.
    verbose : int, default=0
        Whether to print the progress. 1 prints one line per second and how the fit ended, larger
        values print every iteration.
    eps : float, default=1e-06
        A start ends when an iteration lowers the stress by less than this multiple of the sum of
        the squared distances. Smaller values are more accurate and take longer.
    n_jobs : int or None, default=None
        Has no effect. Accepted for compatibility with scikit-learn; set the number of threads with
        ``th.config(threads=...)``.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the random starts. Pass an int for the same result on every call.
    dissimilarity : {"euclidean", "precomputed"}, default="deprecated"
        Former name of `metric`, with the same meaning. Use `metric`.
    normalized_stress : bool or "auto", default="auto"
        Whether ``stress_`` is √(S/Σ_{i<j} d_ij²), which does not depend on units (Kruskal's
        stress-1): 0.025 is excellent, 0.05 good, 0.1 fair, 0.2 poor. "auto" means True for ordinal
        scaling and False otherwise. The squared stress is divided by Σ_{i≠j} δ_ij⁴.
    loss : {"stress", "squared_stress"}, default="stress"
        Whether distances or squared distances are compared. "squared_stress" is smooth and is
        minimised by L-BFGS; it needs ``metric_mds=True``.

    Attributes
    ----------
    stress_ : float
        The stress of the embedding, normalised according to `normalized_stress`.
    n_iter_ : int
        Number of iterations of the best start.
    restarts_ : array of shape (n_starts,)
        The stress that each start reached. A wide spread means that more starts are worthwhile.
    solution_ : Solution
        How the best start ended: outcome, number of iterations, and the stress after each.

    References
    ----------
    Kruskal (1964), "Nonmetric multidimensional scaling: a numerical method", Psychometrika 29.
    Borg and Groenen (2005), "Modern multidimensional scaling", Springer.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> D = np.array([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]])
    >>> model = th.MDS(metric="precomputed", init="random", random_state=0, eps=1e-12).fit(D)
    >>> th.distances.Euclidean().pairwise(model.embedding_).round(3)[0].tolist()
    [0.0, 3.0, 4.0]
    >>> round(model.stress_, 6)
    0.0
    """

    n_components: int = 2
    _: KW_ONLY
    metric_mds: bool = True
    n_init: Any = 1
    init: str = "warn"
    max_iter: int = 300
    verbose: Any = 0
    eps: float = 1e-6
    n_jobs: int | None = None
    random_state: Any = None
    dissimilarity: str = "deprecated"
    metric: Any = "euclidean"
    metric_params: Any = None
    normalized_stress: Any = "auto"
    loss: str = "stress"

    _ranges: ClassVar[dict[str, Range]] = DissimilarityEmbedding._ranges | {
        "metric": DissimilarityEmbedding._ranges["metric"] | boolean,
        "metric_mds": boolean,
        "n_init": whole(1) | one_of("warn"),
        "init": one_of("warn", "random", "classical_mds"),
        "max_iter": whole(1),
        "eps": at_least(0),
        "n_jobs": none | Range(lambda value: isinstance(value, int | np.integer), "a whole number"),
        "dissimilarity": one_of("deprecated", "euclidean", "precomputed"),
        "normalized_stress": boolean | one_of("auto"),
        "loss": one_of("stress", "squared_stress"),
    }
    _draws_rows = True

    @classmethod
    def _example(cls) -> Any:
        return cls(init="classical_mds")

    @property
    def _measure(self) -> Any:
        if self.dissimilarity != "deprecated":
            return self.dissimilarity
        return "euclidean" if isinstance(self.metric, bool) else self.metric

    @property
    def _ordinal(self) -> bool:
        return not (self.metric if isinstance(self.metric, bool) else self.metric_mds)

    @with_callbacks
    def fit(self, X: Any, y: Any = None, init: Any = None) -> MDS:
        """Find the points of least stress. Cost: O(n²) per iteration.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Training rows, or their dissimilarities of shape (n, n) if ``metric="precomputed"``.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.
        init : array-like of shape (n, n_components), optional
            The first points, which must not all be equal. One run is made from these.

        Returns
        -------
        self
            The fitted embedding.
        """
        check_ranges(self)
        self._report_former_names()
        D = self._dissimilarities(X)
        if self._ordinal and self.loss == "squared_stress":
            raise ParameterError(
                "MDS: loss='squared_stress' compares squared dissimilarities, but metric_mds=False "
                "uses their order only. Use metric_mds=True or loss='stress'."
            )
        # All losses are homogeneous, and a power of two changes no digit of D.
        unit = unit_of(D)
        D = D / unit if unit != 1.0 else D
        starts = self._starts(D, init, unit)
        factor = 1.0 if self._ordinal else unit
        problem = self._problem(D)

        def attributes(theta: Array) -> dict[str, Any]:
            points = theta.reshape(len(D), -1) * problem.unit
            return {"embedding_": self._in_own_type(points, factor)}

        runs: list[tuple[float, Solution]] = []
        count = int(self.max_iter) * len(starts)
        try:
            with self._watching(count, attributes, X, y) as watch, one_blas_thread():
                for start in starts:
                    solution = self._run(problem, start, watch)
                    runs.append(self._finished(problem, D, solution))
                    if solution.outcome in ENDED:
                        break
        except KeyboardInterrupt as interrupt:
            if (reached := getattr(interrupt, "solution", None)) is not None:
                runs.append(self._finished(problem, D, reached))
                self.__dict__.update(self._results(runs, factor))
            raise
        results = self._results(runs, factor)
        stress, solution = _best(runs)
        exact = factor < 1 and stress < EXACT_STRESS
        self._require_representable(
            embedding_=(solution.theta, results["embedding_"]),
            stress_=(0.0 if exact else stress, results["stress_"]),
        )
        self.__dict__.update(results)
        self._warn_unless_converged()
        return self

    def _results(self, runs: list[tuple[float, Solution]], unit: float) -> dict[str, Any]:
        """All fitted attributes, in the unit of the dissimilarities."""
        solution = _best(runs)[1]
        power = 4 if self.loss == "squared_stress" else 2

        def in_own_unit(stress: float) -> float:
            # One after the other, because a power of the unit alone may not be representable.
            for _ in range(power):
                stress *= unit
            return stress

        reached = [stress if self._normalised else in_own_unit(stress) for stress, _ in runs]
        return {
            "embedding_": self._in_own_type(solution.theta, unit),
            "stress_": min(reached),
            "n_iter_": solution.steps,
            "restarts_": np.array(reached),
            "solution_": replace(
                solution,
                theta=solution.theta * unit,
                value=in_own_unit(solution.value),
                trace=tuple(in_own_unit(each) for each in solution.trace),
            ),
        }

    def fit_transform(self, X: Any, y: Any = None, init: Any = None) -> Array:
        """Fit the embedding, and return the points of the rows. Cost: that of `fit`.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Training rows, or their dissimilarities of shape (n, n) if ``metric="precomputed"``.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.
        init : array-like of shape (n, n_components), optional
            The first points, which must not all be equal. One run is made from these.

        Returns
        -------
        array of shape (n, n_components)
            The points, ``embedding_``.
        """
        points: Array = self.fit(X, init=init).embedding_
        return points

    def _warn_unless_converged(self) -> None:
        if self.solution_.outcome in (Outcome.STEPS_EXHAUSTED, Outcome.OUT_OF_TIME):
            limit = "max_iter" if self.solution_.outcome is Outcome.STEPS_EXHAUSTED else "max_time"
            warn(
                f"MDS: {self.solution_.outcome.value} (n_iter_={self.n_iter_}, "
                f"{self.solution_.gap_kind} {self.solution_.gap:.2g}). Raise {limit} or eps, or "
                "start with init='classical_mds'.",
                ConvergenceWarning,
            )

    def _report_former_names(self) -> None:
        if self.dissimilarity != "deprecated":
            if not isinstance(self.metric, bool) and self.metric != "euclidean":
                raise ParameterError(
                    "MDS: You provided both `dissimilarity` and `metric`. Please use only `metric`."
                )
            warn(
                "MDS: The `dissimilarity` parameter is deprecated. Use `metric` instead.",
                FutureWarning,
            )
        if isinstance(self.metric, bool):
            warn(
                f"MDS: Use metric_mds={self.metric} instead of metric={self.metric}.",
                FutureWarning,
            )

    def _starts(self, D: Array, init: Any, unit: float) -> list[Array]:
        """The first points of each run, for dissimilarities that were divided by the unit."""
        if init is not None:
            return [start_in_unit(self._given_start(init, len(D)), unit)]
        if self.init == "classical_mds":
            return [np.ascontiguousarray(classical_scaling(D, self.n_components).points)]
        random = generator(self.random_state)
        n_starts = 1 if self.n_init == "warn" else int(self.n_init)
        shape = len(D), self.n_components
        return [start_in_unit(random.uniform(size=shape), unit) for _ in range(n_starts)]

    def _given_start(self, init: Any, n: int) -> Array:
        shape = n, self.n_components
        rule = f"MDS: init matrix should be of shape {shape} with finite numbers, one point per row"
        try:
            given = np.array(init, dtype=np.float64, order="C")
        except (TypeError, ValueError) as error:
            raise DataError(
                f"{rule}, but it cannot be read as numbers: {init!r:.60}. Pass an array to fit, or "
                "name the kind of start in the constructor, as in MDS(init='classical_mds')."
            ) from error
        if given.shape != shape:
            raise DataError(
                f"{rule}, but its shape is {given.shape}. Pass an array of that shape, or set "
                "n_components to its number of columns."
            )
        bad = ~np.isfinite(given)
        if bad.any():
            i, j = np.argwhere(bad)[0]
            raise DataError(
                f"{rule}, but {bad.sum()} of its {bad.size} entries "
                f"{'is' if bad.sum() == 1 else 'are'} not finite (entry ({i}, {j}) is "
                f"{given[i, j]}). Replace NaN and infinite entries."
            )
        if (given == given[0]).all():
            raise DataError(
                "MDS: the points of init must differ, but all are equal, and points at the same "
                "place are never moved apart. Pass other points, or none for a random start."
            )
        return given

    def _problem(self, D: Array) -> MetricStress | OrdinalStress | SquaredStress:
        if self.loss == "squared_stress":
            return SquaredStress(D, self.n_components)
        return OrdinalStress(D) if self._ordinal else MetricStress(D)

    def _run(self, problem: Any, start: Array, watch: Watch) -> Solution:
        squared = isinstance(problem, SquaredStress)
        if squared:
            centred = start - start.mean(axis=0)
            spread = float(np.sqrt(np.mean(centred**2))) or 1.0
            given = start / problem.unit if self.init == "classical_mds" else centred / spread / 2
            start = given.ravel()
        return minimise(
            problem,
            LBFGS() if squared else Smacof(),
            start,
            tolerance=self.eps,
            max_steps=self.max_iter,
            watch=watch,
            reason=(
                "smooth, not convex, many variables"
                if squared
                else "each step minimises an upper bound of the stress"
            ),
            keep_trace=True,
        )

    def _finished(self, problem: Any, D: Array, solution: Solution) -> tuple[float, Solution]:
        """The stress that is reported, and the solution in the unit of D."""
        if not isinstance(problem, SquaredStress):
            last = Step(problem.disparities(solution.theta, False), solution.theta)
            return self._reported(last.stress, last.squares), solution
        factor = len(D) * problem.unit**4
        scaled = replace(
            solution,
            theta=solution.theta.reshape(len(D), -1) * problem.unit,
            value=solution.value * factor,
            trace=tuple(each * factor for each in solution.trace),
        )
        return self._reported(scaled.value, float(np.sum(D**4))), scaled

    @property
    def _normalised(self) -> bool:
        if self.normalized_stress == "auto":
            return self._ordinal
        return bool(self.normalized_stress)

    def _reported(self, stress: float, squares: float) -> float:
        if not self._normalised:
            return float(stress)
        return sqrt(stress / squares) if squares > 0 else 0.0


def _best(runs: list[tuple[float, Solution]]) -> tuple[float, Solution]:
    return min(runs, key=lambda run: run[0])
