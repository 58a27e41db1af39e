"""Non-negative matrix factorisation by small batches of rows."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.estimator.batches import batch_after
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, at_least, boolean, fraction, none, whole
from thetahat.estimator.watching import Watched, with_callbacks
from thetahat.foundation.checked_value import check_arrays
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array, Matrix
from thetahat.foundation.watch import Verdict, Watch
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.models.decomposition.factors.nonnegative_batches import Batches
from thetahat.models.decomposition.factors.nonnegative_model import MOST_SWEEPS, NonnegativeModel
from thetahat.models.decomposition.factors.nonnegative_problem import NonnegativeFactors
from thetahat.models.decomposition.factors.nonnegative_steps import divergence_rows


@with_parameters
class MiniBatchNMF(Watched, NonnegativeModel):
    """Non-negative matrix factorisation by small batches of rows, for many rows.

    The weights of a batch are updated for the current components. Sums over all batches so far, in
    which older batches count less, then give the next components. A step costs the same for any
    number of rows, and `partial_fit` takes rows as they arrive.

    Formula: X ≈ WH with the objective of `NMF`. For a batch X_t, W_t is multiplied by the update of
    `NMF` with H fixed. With N and M the numerator and the denominator of the update of H,
    A ← ρA + H·N and B ← ρB + M, and H = A/B; ρ = forget_factor^(batch_size/n).

    Cost: O(b d k) per step for batches of b rows, or O(nnz·k + d k²) for sparse rows. Memory
    O((n + d)·k) besides the rows.

    Parameters
    ----------
    batch_size : int, default=1024
        Number of rows of a batch. Larger batches are more accurate and take longer.
    tol : float or None, default=1e-4
        The fit ends when a step changes the components by at most this share of their norm. 0 and
        None switch this rule off.
    max_no_improvement : int or None, default=10
        The fit ends after this number of steps without a lower running mean of the objective. None
        switches this rule off.
    max_iter : int, default=200
        Maximum number of passes over the rows. Must be at least 1.
    forget_factor : float, default=0.7
        Share of the sums of earlier batches that is kept in a pass over the rows. 1 keeps all;
        smaller values follow rows that change. From 0 to 1.
    fresh_restarts : bool, default=False
        Whether each step computes the best weights of the batch, instead of one update of those
        from the last pass. Steps are better and take longer.
    fresh_restarts_max_iter : int, default=30
        Maximum number of updates per step of ``fresh_restarts``.
    transform_max_iter : int or None, default=None
        Maximum number of updates per row in `transform`. None uses `max_iter`, at least 1000.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the random numbers of `init`.

    Attributes
    ----------
    n_iter_ : int
        Number of passes over the rows, the last of which may be incomplete.
    n_steps_ : int
        Number of batches that were used.
    solution_ : Solution
        How the steps of `fit` ended: outcome, number of steps, and the objective per row of every
        batch.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> parts = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]])
    >>> X = np.random.default_rng(0).random((500, 2)) @ parts
    >>> model = th.MiniBatchNMF(2, batch_size=50, random_state=0).fit(X)
    >>> model.components_.shape, bool((model.transform(X) >= 0).all())
    ((2, 3), True)
    """

    _: KW_ONLY
    batch_size: int = 1024
    max_no_improvement: int | None = 10
    forget_factor: float = 0.7
    fresh_restarts: bool = False
    fresh_restarts_max_iter: int = 30
    transform_max_iter: int | None = None

    _ranges: ClassVar[dict[str, Range]] = NonnegativeModel._ranges | {
        "tol": at_least(0) | none,
        "batch_size": whole(1),
        "max_no_improvement": whole(1) | none,
        "forget_factor": fraction,
        "fresh_restarts": boolean,
        "fresh_restarts_max_iter": whole(1),
        "transform_max_iter": whole(1) | none,
    }
    _visits_rows_in_order = True

    @classmethod
    def _example(cls) -> Any:
        """One component, whose optimum is unique; others depend on rounding errors of the start."""
        return cls(1, init="random")

    @with_callbacks
    def fit(self, X: Any, y: Any = None, W: Any = None, H: Any = None) -> MiniBatchNMF:
        """Compute the components. Cost: see `MiniBatchNMF`.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n, d)
            Training rows with finite numbers that are at least 0.
        W : array-like of shape (n, n_components), optional
            First weights of the rows, for `init` "custom".
        H : array-like of shape (n_components, d), optional
            First components, for `init` "custom".
        """
        self._factorise(X, y, W, H)
        return self

    @with_callbacks
    def fit_transform(self, X: Any, y: Any = None, W: Any = None, H: Any = None) -> Array:
        """Compute the components and return the weights of the rows. Cost: see `MiniBatchNMF`.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n, d)
            Training rows with finite numbers that are at least 0.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.
        W : array-like of shape (n, n_components), optional
            First weights of the rows, for `init` "custom".
        H : array-like of shape (n_components, d), optional
            First components, for `init` "custom".

        Returns
        -------
        array of shape (n, n_components)
            The weights of the components in each row (W).
        """
        return self._factorise(X, y, W, H)

    def partial_fit(self, X: Any, y: Any = None, W: Any = None, H: Any = None) -> MiniBatchNMF:
        """Improve the components by one batch. Cost: O(n d k) per update of its weights.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n, d)
            A batch of rows, with the same columns as before. The first batch gives the first
            components.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.
        W : array-like of shape (n, n_components), optional
            Has no effect. Accepted for compatibility with scikit-learn.
        H : array-like of shape (n_components, d), optional
            First components, for `init` "custom". Used in the first call only.

        Returns
        -------
        self
            The fitted estimator.
        """
        first = not hasattr(self, "components_")
        with batch_after(self, X, first=first):
            source = self._open(X, supervised=False)
        assert isinstance(source, InMemory)
        if first:
            problem = self._factors(source, H)
            if self.init == "custom" and W is None:
                W = np.ones((source.n_rows, problem.k))
            run = self._begun(problem, self._start(source, problem.k, W, H)[1])
            self.n_steps_ = 0
        else:
            problem = self._factors(source, self.components_)
            Ht = np.ascontiguousarray(self.components_.T, dtype=source.dtype)
            sums = (each.T.astype(source.dtype) for each in (self._numerator, self._denominator))
            run = Batches(self._order, self._keeps(source.n_rows), Ht, *sums)
        with one_blas_thread():
            weights = self._solved(problem.X, run.Ht, self.fresh_restarts_max_iter)
            run.advance(problem.X, weights, *self._penalties(source.n_rows, source.n_features))
        self._keep(run, source.dtype)
        self.n_steps_ += 1
        return self

    def _factorise(self, X: Any, y: Any, W: Any, H: Any) -> Array:
        source = self._open(X, supervised=False)
        assert isinstance(source, InMemory)
        problem = self._factors(source, H)
        weights, Ht = self._start(source, problem.k, W, H)
        run, size = self._begun(problem, Ht), min(self.batch_size, source.n_rows)
        per_pass = math.ceil(source.n_rows / size)
        ending = _Ending(self.tol or 0.0, self.max_no_improvement, source.n_rows)

        def attributes(theta: Array) -> dict[str, Any]:
            found = np.ascontiguousarray(theta.T, dtype=source.dtype)
            return {"components_": found, "n_components_": problem.k}

        with (
            self._watching(int(self.max_iter) * per_pass, attributes, X, y) as watch,
            one_blas_thread(),
        ):
            try:
                outcome = self._advance(problem, run, weights, size, ending, watch)
            except KeyboardInterrupt as interrupt:
                found = ending.solution(run, Outcome.INTERRUPTED)
                interrupt.solution = found  # type: ignore[attr-defined]
                raise
        self.solution_ = ending.solution(run, outcome)
        self._keep(run, source.dtype)
        self.n_steps_ = len(ending.costs)
        self.n_iter_ = math.ceil(self.n_steps_ / per_pass)
        if self._order == 2:
            weights = self._best(problem.X, self.components_)
        elif self.fresh_restarts:
            weights = self._solved(problem.X, run.Ht, self._most_sweeps)
        self.reconstruction_err_ = problem.error(weights, run.Ht)
        if self.tol:
            self._warn_unless_converged()
        return weights

    def _advance(
        self,
        problem: NonnegativeFactors,
        run: Batches,
        weights: Array,
        size: int,
        ending: _Ending,
        watch: Watch,
    ) -> Outcome:
        """Batches in turn until a rule of `_Ending` holds, the limit is reached or time is up."""
        n, d = problem.X.shape
        for step in range(1, int(self.max_iter) * math.ceil(n / size) + 1):
            begin = (step - 1) * size % (math.ceil(n / size) * size)
            rows = slice(begin, begin + size)
            batch = problem.X[rows]
            if self.fresh_restarts:
                weights[rows] = self._solved(batch, run.Ht, self.fresh_restarts_max_iter)
            before, b = run.Ht, batch.shape[0]
            cost = run.advance(batch, weights[rows], *self._penalties(b, d)) / b
            if ending.reached(cost, b, run.Ht, before):
                return Outcome.LOCAL
            verdict = watch(step, run.Ht, cost)
            if verdict is not Verdict.GO_ON:
                late = verdict is Verdict.OUT_OF_TIME
                return Outcome.OUT_OF_TIME if late else Outcome.INTERRUPTED
        return Outcome.STEPS_EXHAUSTED

    def _begun(self, problem: NonnegativeFactors, Ht: Array) -> Batches:
        """The run before its first batch."""
        keeps = self._keeps(problem.X.shape[0])
        return Batches.begun(problem, keeps, Ht)

    def _keeps(self, n_rows: int) -> float:
        return float(self.forget_factor) ** (min(self.batch_size, n_rows) / n_rows)

    def _solved(self, X: Matrix, Ht: Array, most: int) -> Array:
        """The best weights of some rows."""
        H = np.ascontiguousarray(Ht.T)
        if self._order == 2:
            return self._best(X, H)
        penalty, _ = self._penalties(1, self.n_features_in_)
        return divergence_rows(X, H, penalty, self._order, most, 0.1 * (self.tol or 0.0))

    @property
    def _most_sweeps(self) -> int:
        if self.transform_max_iter is not None:
            return int(self.transform_max_iter)
        return max(MOST_SWEEPS, self.max_iter)

    def _keep(self, run: Batches, dtype: Any) -> None:
        self.components_: Array = np.ascontiguousarray(run.Ht.T, dtype=dtype)
        self.n_components_ = len(self.components_)
        self._numerator = np.ascontiguousarray(run.numerator.T, dtype=np.float64)
        self._denominator = np.ascontiguousarray(run.denominator.T, dtype=np.float64)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if self.__sklearn_is_fitted__():
            shape = self.components_.shape
            check_arrays(
                self, {"_numerator": (np.float64, shape), "_denominator": (np.float64, shape)}
            )


@dataclass
class _Ending:
    """When steps end: by a small change, or without a lower running mean of the objective."""

    tol: float
    limit: int | None
    n_rows: int
    average: float = math.nan
    least: float = math.inf
    without: int = 0
    change: float = math.inf
    costs: list[float] = field(default_factory=list)

    def reached(self, cost: float, n_rows: int, Ht: Array, before: Array) -> bool:
        self.costs.append(cost)
        if len(self.costs) == 1:  # at the components of the start
            return False
        rate = min(n_rows / (self.n_rows + 1), 1.0)
        self.average = cost if len(self.costs) == 2 else self.average + rate * (cost - self.average)
        size = float(np.linalg.norm(Ht))
        self.change = float(np.linalg.norm(Ht - before)) / size if size > 0 else 0.0
        if self.tol > 0 and self.change <= self.tol:
            return True
        self.without = 0 if self.average < self.least else self.without + 1
        self.least = min(self.least, self.average)
        return self.limit is not None and self.without >= self.limit

    def solution(self, run: Batches, outcome: Outcome) -> Solution:
        """The report of the steps so far."""
        return Solution(
            theta=run.Ht,
            outcome=outcome,
            solver="mini-batch",
            reason="steps by batches cost the same for any number of rows",
            steps=len(self.costs),
            value=self.average,
            gap=self.change,
            gap_kind="relative change of the components in the last step",
            message=outcome.value,
            trace=tuple(self.costs),
        )
