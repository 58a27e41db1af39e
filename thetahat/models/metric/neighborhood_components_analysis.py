"""Neighbourhood components analysis: a linear map after which neighbours share their class.

Â = argmax_A Σ_i Σ_{j: y_j = y_i} p_ij,   p_ij ∝ exp(−‖Ax_i − Ax_j‖²).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar

import numpy as np

from thetahat.data.extremes import require_squares_of_rows
from thetahat.data.in_memory import InMemory
from thetahat.estimator.classifier import LabelledEstimator
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, at_least, boolean, continues, none, one_of, whole
from thetahat.estimator.watching import with_callbacks
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.smooth.lbfgs import LBFGS
from thetahat.mathematics.optimizers.solution import Outcome
from thetahat.models.metric.learned_metric import LearnedMetric
from thetahat.models.metric.neighbor_choice import NeighborChoice
from thetahat.models.metric.starting_maps import discriminant_map, principal_map

STARTS = ("auto", "pca", "lda", "identity", "random")
ORDINARY = (1e-2, 1e2)
"""Spreads of rows that are searched in the unit of the columns."""


@with_parameters
class NeighborhoodComponentsAnalysis(LearnedMetric, LabelledEstimator):
    """Neighbourhood components analysis: learn a metric from class labels.

    It finds the linear map A after which a random neighbour has the class of its row most often.
    Nearest-neighbour classifiers work better after it, and few components give a picture of the
    classes.

    Formula: Â = argmax_A 1/n·Σ_i p_i, where p_i = Σ_j p_ij over the rows j of the class of i is
    the probability to choose one of them, p_ij = exp(−‖Ax_i − Ax_j‖²)/Σ_{l ≠ i} exp(−‖Ax_i −
    Ax_l‖²). The objective is not convex, so the result is a local optimum.

    Cost: O(n² k) per iteration for k components, on all cores; memory O(n k) in addition to the
    rows, because pairs are visited in blocks.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of components (k), the dimension of the transformed rows. None uses the number of
        columns. Must be at least 1 and at most the number of columns.
    init : {"auto", "pca", "lda", "identity", "random"} or array of shape (k, d), default="auto"
        The map at which the search starts: principal directions, directions that separate the
        class means, the first columns, random numbers, or a given map. "auto" uses "lda" for fewer
        components than classes, else "pca" for fewer components than columns and rows, else
        "identity". If the standard deviation of all entries is below 0.01 or above 100, named maps
        are those of rows divided by a power of two near it: the objective is flat elsewhere.
    warm_start : bool, default=False
        If True, a fit starts at the map of the previous fit.
    max_iter : int, default=50
        Maximum number of iterations. Raise it if the objective still grows.
    tol : float, default=1e-5
        Tolerance: the fit stops when no entry of the gradient of Σ_i p_i is larger, in the unit of
        ``init``. Smaller values need more iterations. Must be at least 0.
    callback : callable or None, default=None
        Function that is called after each iteration with the current map as a flat array and the
        number of the iteration.
    verbose : int, default=0
        If positive, print the objective after each iteration, and warn if the fit did not converge.
    random_state : int, Generator, RandomState or None, default=None
        Seed for ``init="random"``. An int gives the same result in every call.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, in sorted order.
    random_state_ : Generator
        The random generator that ``random_state`` gives.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [2.0, 1.0]]
    >>> y = ["even", "odd", "even", "odd"]
    >>> metric = th.NeighborhoodComponentsAnalysis(init="identity").fit(X, y)
    >>> th.KNeighborsClassifier(1, metric=metric.metric_).fit(X, y).predict([[1.0, 0.9]]).tolist()
    ['odd']
    """

    _prints_itself = True

    n_components: int | None = None
    _: KW_ONLY
    init: Any = "auto"
    warm_start: bool = False
    max_iter: int = 50
    tol: float = 1e-5
    callback: Callable[[Array, int], Any] | None = None
    verbose: Any = 0
    random_state: Any = None

    _ranges: ClassVar[dict[str, Range]] = {
        "n_components": whole(1) | none,
        "init": one_of(*STARTS) | Range(lambda value: isinstance(value, np.ndarray), "an array"),
        "warm_start": boolean,
        "max_iter": whole(1),
        "tol": at_least(0),
        "callback": none | Range(callable, "a function"),
        "verbose": whole(0) | boolean,
    }
    _for_few_rows = True
    _grows_by_steps = True  # where the classes can be separated, longer maps are always better

    @classmethod
    def _example(cls) -> NeighborhoodComponentsAnalysis:
        return cls(max_iter=5)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> NeighborhoodComponentsAnalysis:
        """Find the map. Cost: O(n² k) per iteration.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Training rows with finite numbers.
        y : array-like of shape (n,)
            Class label of each row.

        Returns
        -------
        self
            The fitted estimator.
        """
        before = getattr(self, "components_", None) if continues(self.__dict__) else None
        source = self._open_classes(X, y, least=1)
        assert isinstance(source, InMemory)
        assert source.y is not None
        require_squares_of_rows(source, who=type(self).__name__)
        self._require_map(source.n_rows, source.n_features, before)
        self.random_state_ = generator(self.random_state)
        rows = np.array(source.X, dtype=np.float64, order="C")
        rows -= rows.mean(axis=0)
        codes = source.y.astype(np.intp)
        unit = _unit_of(rows)
        rows /= unit
        start = (
            self._start(rows, codes, unit) if before is None else unit * before.astype(np.float64)
        )
        problem = NeighborChoice(rows[np.argsort(codes, kind="stable")], np.bincount(codes))

        def attributes(theta: Array) -> dict[str, Array]:
            return {"components_": np.asarray(theta / unit, dtype=source.dtype)}

        with self._watching(self.max_iter, attributes, X, y) as watch:
            solution = minimise(
                problem,
                LBFGS(),
                start,
                tolerance=float(self.tol) / len(rows),  # of the mean instead of the sum
                max_steps=int(self.max_iter),
                watch=self._reporting(watch, unit),
                reason="smooth, without constraints, and cheap gradients",
            )
        self._keep(replace(solution, theta=solution.theta / unit), attributes(solution.theta))
        if self.verbose or solution.outcome is Outcome.OUT_OF_TIME:
            self._warn_unless_converged()
        return self

    def _start(self, rows: Array, codes: Array, unit: float) -> Array:
        n, d = rows.shape
        if isinstance(self.init, np.ndarray):
            return unit * np.array(self.init, dtype=np.float64)
        k, kind = self.n_components or d, self.init
        if kind == "auto":
            n_classes = len(self.classes_)
            kind = "lda" if k <= min(d, n_classes - 1) else "pca" if k < min(d, n) else "identity"
        if kind == "lda":
            return discriminant_map(rows, codes, k)
        if kind == "pca":
            return principal_map(rows, k)
        if kind == "identity":
            return np.eye(k, d)
        return self.random_state_.standard_normal((k, d))

    def _require_map(self, n: int, d: int, before: Array | None) -> None:
        """Check the shapes of given maps against the rows."""
        who, k, init = type(self).__name__, self.n_components, self.init
        if n < 2:
            raise DataError(
                f"{who}: X has 1 sample (1 row), but a row needs others as neighbours. Give at "
                "least 2 rows."
            )
        if k is not None and k > d:
            raise ParameterError(
                f"{who}: The preferred dimensionality of the projected space `n_components` ({k}) "
                f"cannot be greater than the given data dimensionality ({d})! Use at most {d} "
                "components."
            )
        if before is not None and before.shape[1] != d:
            raise DataError(
                f"{who}: The new inputs dimensionality ({d}) does not match the input "
                "dimensionality of the previously learned transformation "
                f"({before.shape[1]}). Use warm_start=False for rows with other columns."
            )
        if not isinstance(init, np.ndarray):
            return
        if init.ndim != 2 or init.dtype.kind not in "biuf" or not np.isfinite(init).all():
            raise ParameterError(f"{who}: init must be a matrix of finite numbers.")
        if init.shape[1] != d:
            raise ParameterError(
                f"{who}: The input dimensionality ({init.shape[1]}) of the given linear "
                "transformation `init` must match the dimensionality of the given inputs `X` "
                f"({d})."
            )
        if init.shape[0] > d:
            raise ParameterError(
                f"{who}: The output dimensionality ({init.shape[0]}) of the given linear "
                f"transformation `init` cannot be greater than its input dimensionality ({d})."
            )
        if k is not None and k != init.shape[0]:
            raise ParameterError(
                f"{who}: The preferred dimensionality of the projected space `n_components` ({k}) "
                "does not match the output dimensionality of the given linear transformation "
                f"`init` ({init.shape[0]})!"
            )

    def _reporting(self, watch: Watch, unit: float) -> Watch:
        """The watch that also calls the callback and prints the objective."""
        if self.callback is None and not self.verbose:
            return watch
        before = watch.on_step

        def on_step(step: int, theta: Any, value: float) -> bool:
            if self.callback is not None:
                self.callback(np.array(theta).ravel() / unit, step)
            if self.verbose:
                print(f"{type(self).__name__}: iteration {step}, objective {-value:.6f}.")
            return before is not None and before(step, theta, value)

        return replace(watch, on_step=on_step)


def _unit_of(rows: Array) -> float:
    """1, or a power of two near the spread of centred rows where that is far from 1.

    Where all rows are near to each other, or far apart, the objective is flat: every row is an
    equally probable neighbour, or one row is certain, and the search would stop at its start.
    """
    spread = math.sqrt(float(np.mean(np.square(rows))))
    if spread == 0 or ORDINARY[0] <= spread <= ORDINARY[1]:
        return 1.0
    return math.ldexp(1.0, math.frexp(spread)[1])
