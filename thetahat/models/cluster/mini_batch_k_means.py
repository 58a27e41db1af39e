"""k-means by small random batches of rows, for many rows and for rows that arrive over time."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from thetahat.data.chosen_rows import chosen_rows
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.data.summaries.frame import dense_rows
from thetahat.estimator.batches import batch_after
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, at_least, boolean, none, one_of, whole
from thetahat.estimator.watching import Watched, with_callbacks
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Verdict, Watch
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.models.cluster.centre_model import CentreModel, given_start
from thetahat.models.cluster.lloyd import Partition, Rows
from thetahat.models.cluster.nearest import nearest_centres
from thetahat.models.cluster.starts import STARTS, starting_centres
from thetahat.models.cluster.sums import cluster_sums

DEFAULT_STARTS = 3


@with_parameters
class MiniBatchKMeans(Watched, CentreModel):
    """k-means by small random batches of rows, faster than `KMeans` for many rows.

    A batch is assigned to the nearest centres, and every centre moves to the mean of all rows
    assigned to it so far. A step costs the same for any number of rows. The loss is a little higher
    than that of `KMeans`.

    Formula: μ_k ← μ_k + Σ_{batch, z = k} w(x − μ_k) / W_k, where W_k is the sum of the weights of
    all rows assigned to centre k, including those of the batch.

    Cost: O(batch_size·k·d) time per step, and one pass of O(n k d) for the labels at the end.

    Parameters
    ----------
    init : {"k-means++", "random", "random_centroids", "random_assignment"}, array of shape \
(n_clusters, d) or callable, default="k-means++"
        The starting centres, found among `init_size` random rows, as in `KMeans`.
    max_iter : int, default=100
        Maximum number of passes over the rows; a pass is n / batch_size steps.
    batch_size : int, default=1024
        Number of rows of a batch. Larger batches are more accurate and take longer.
    verbose : int, default=0
        Whether to print the loss of each step. 0 prints nothing.
    compute_labels : bool, default=True
        Whether to assign all rows to the final centres, which costs a pass over the rows.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the starts and batches. Pass an int for the same result on every call.
    tol : float, default=0.0
        The fit ends when the sum of the squared moves of the centres in one step is at most this
        multiple of the mean variance of the columns. 0 switches this rule off.
    max_no_improvement : int or None, default=10
        The fit ends after this number of steps without a lower running mean of the loss. None
        switches this rule off.
    init_size : int or None, default=None
        Number of random rows among which the starting centres are found. None means three times
        the size of a batch, or three times the number of clusters if that is more.
    n_init : "auto" or int, default="auto"
        Number of starts, of which the one with the least loss of `init_size` random rows is used.
        "auto" means 1 for "k-means++" and for an array, and 3 otherwise.
    reassignment_ratio : float, default=0.01
        Centres with less than this share of the weight of the largest cluster move to random rows
        of the batch from time to time. Larger values move more centres. Must be at least 0.

    Attributes
    ----------
    inertia_ : float
        The loss of all rows, or an estimate of it from batches with ``compute_labels=False``.
    n_iter_ : int
        Number of passes over the rows.
    n_steps_ : int
        Number of batches that were used.
    solution_ : Solution
        How the steps of `fit` ended: outcome, number of steps, and the running mean of the loss.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[0.0], [1.0], [9.0], [10.0]]
    >>> model = th.MiniBatchKMeans(2, random_state=0).fit(X)
    >>> (model.predict([[2.0], [8.0]]) == model.labels_[[0, 3]]).tolist()
    [True, True]
    """

    _prints_itself = True

    _: KW_ONLY
    init: Any = "k-means++"
    max_iter: int = 100
    batch_size: int = 1024
    verbose: int = 0
    compute_labels: bool = True
    random_state: Any = None
    tol: float = 0.0
    max_no_improvement: int | None = 10
    init_size: int | None = None
    n_init: Any = "auto"
    reassignment_ratio: float = 0.01

    _ranges: ClassVar[dict[str, Range]] = CentreModel._ranges | {
        "init": one_of(*STARTS) | given_start,
        "max_iter": whole(1),
        "batch_size": whole(1),
        "verbose": whole(0) | boolean,
        "compute_labels": boolean,
        "tol": at_least(0),
        "max_no_improvement": whole(0) | none,
        "init_size": whole(1) | none,
        "n_init": one_of("auto") | whole(1),
        "reassignment_ratio": at_least(0),
    }

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MiniBatchKMeans:
        """Find the centres by random batches. Cost: O(batch_size·k·d) per step."""
        source = self._open(X, None, sample_weight, supervised=False)
        rows = Rows(source, type(self).__name__)
        self._require_enough_rows(source, rows.n_used)
        random, n = generator(self.random_state), source.n_rows
        size = min(self.batch_size, n)
        steps = max(1, (int(self.max_iter) * n) // size)
        ending = _Ending(self, min(1.0, 2.0 * size / (n + 1)), self.tol * rows.variance)

        def attributes(theta: Array) -> dict[str, Any]:
            return {"cluster_centers_": theta.astype(source.dtype)}

        with self._watching(steps, attributes, X, y) as watch, one_blas_thread():
            run = _Batches(self, self._first_centres(rows, random, size), random, size)
            try:
                outcome = self._advance(run, ending, rows, steps, watch)
            except KeyboardInterrupt as interrupt:
                interrupt.solution = ending.solution(run.centres, Outcome.INTERRUPTED)  # type: ignore[attr-defined]
                raise
        self.solution_ = ending.solution(run.centres, outcome)
        self._keep(run, source.dtype)
        self.n_steps_ = ending.steps
        self.n_iter_ = int(np.ceil(ending.steps * size / n))
        if self.compute_labels:
            problem = Partition(rows)
            self.inertia_ = problem.assign(self._double_centres()).loss
            self.labels_ = problem.label
        else:
            self.__dict__.pop("labels_", None)
            self.inertia_ = ending.average * rows.total
        return self

    def _advance(
        self, run: _Batches, ending: _Ending, rows: Rows, steps: int, watch: Watch
    ) -> Outcome:
        """Random batches until a rule of `_Ending` holds, the limit is reached or time is up."""
        n = rows.source.n_rows
        for step in range(1, steps + 1):
            numbers = run.random.choice(n, run.size, p=rows.chance)
            before = run.centres
            # Weights are in the draws, so that rows of a batch count alike.
            loss = run.advance(chosen_rows(rows.source, numbers).X, None) / run.size
            if ending.reached(step, steps, loss, run.centres - before):
                return Outcome.LOCAL
            verdict = watch(step, run.centres, loss)
            if verdict is not Verdict.GO_ON:
                late = verdict is Verdict.OUT_OF_TIME
                return Outcome.OUT_OF_TIME if late else Outcome.INTERRUPTED
        return Outcome.STEPS_EXHAUSTED

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MiniBatchKMeans:
        """Improve the centres by one batch. Cost: O(n k d) for n rows.

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            A batch of rows, with the same columns as before. The first batch gives the starting
            centres, and needs at least as many rows as there are clusters.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self
            The fitted estimator.
        """
        first = not hasattr(self, "_cluster_weight")
        with batch_after(self, X, first=first):
            source = self._open(X, None, sample_weight, supervised=False)
        if not first and len(self.cluster_centers_) != self.n_clusters:
            raise ParameterError(
                f"{type(self).__name__}.partial_fit: n_clusters={self.n_clusters}, but the batches "
                f"so far gave {len(self.cluster_centers_)} clusters. Call fit to start again."
            )
        random = generator(getattr(self, "_random", self.random_state))
        rows = Rows(source, type(self).__name__)
        with one_blas_thread():
            if first:
                self._require_enough_rows(source, rows.n_used)
                centres = self._first_centres(rows, random, source.n_rows)
                run = _Batches(self, centres, random, source.n_rows)
            else:
                run = _Batches(self, self._double_centres(), random, source.n_rows)
                run.weight = self._cluster_weight.copy()
                run.since = self._rows_since
            if isinstance(source, InMemory):
                batch = source.whole
            else:
                batch = chosen_rows(source, np.arange(source.n_rows))
            run.advance(batch.X, batch.weight)
        self._keep(run, source.dtype)
        self._random = int(random.integers(2**62))
        self.n_steps_ = getattr(self, "n_steps_", 0) + 1
        if self.compute_labels:
            problem = Partition(rows)
            self.inertia_ = problem.assign(self._double_centres()).loss
            self.labels_ = problem.label
        return self

    def _keep(self, run: _Batches, dtype: Any) -> None:
        self.cluster_centers_ = run.centres.astype(dtype)
        self._cluster_weight, self._rows_since = run.weight, run.since

    def _first_centres(self, rows: Rows, random: np.random.Generator, batch: int) -> Array:
        """The best of some starts, by the loss of some random rows."""
        given = not isinstance(self.init, str) and not callable(self.init)
        n, few = rows.source.n_rows, self._start_rows(rows.source, batch)
        tries: int = self.n_init
        if self.n_init == "auto":
            tries = 1 if given or self.init == "k-means++" else DEFAULT_STARTS
        elif given and tries > 1:
            warn(
                "Explicit initial center position passed: performing only one init in "
                f"{type(self).__name__} instead of n_init={self.n_init}. Set n_init=1.",
                RuntimeWarning,
            )
            tries = 1
        if rows.chance is None:
            drawn = random.integers(n, size=few)
        else:  # the weights are in the draw
            drawn = random.choice(n, few, p=rows.chance)
        judged = chosen_rows(rows.source, drawn)
        best, least = np.empty(0), np.inf
        for _ in range(tries):
            some = rows
            if few < n and not given:
                some = rows.sample(few, random)
            found = starting_centres(some, self.n_clusters, self.init, random)
            square = nearest_centres(judged.X, found)[1]
            loss = float(square.sum())
            if self.verbose:
                print(f"Inertia of a start: {loss}")
            if loss < least or not best.size:
                best, least = found, loss
        return best

    def _start_rows(self, source: Source, batch: int) -> int:
        size = self.init_size
        if size is None:
            size = 3 * batch if 3 * batch >= self.n_clusters else 3 * self.n_clusters
        elif size < self.n_clusters:
            warn(
                f"{type(self).__name__}: init_size={size} should be larger than "
                f"n_clusters={self.n_clusters}. Setting it to min(3*n_clusters, n_samples).",
                RuntimeWarning,
            )
            size = 3 * self.n_clusters
        return min(size, source.n_rows)


class _Batches:
    """The centres and the weights of the rows that each was given so far."""

    def __init__(
        self, model: MiniBatchKMeans, centres: Array, random: np.random.Generator, size: int
    ) -> None:
        self.model, self.centres, self.random, self.size = model, centres, random, size
        self.weight = np.zeros(len(centres))
        self.since = 0

    def advance(self, X: Any, weight: Array | None) -> float:
        """Move the centres by one batch; its loss before."""
        label, square = nearest_centres(X, self.centres)
        sums = cluster_sums(Block(X=X, weight=weight), self.centres, label, square)
        self.since += self.size
        moving = bool((self.weight == 0).any()) or self.since >= 10 * len(self.centres)
        self.weight = self.weight + sums.weight
        used = sums.weight > 0
        moved = self.centres.copy()
        moved[used] += sums.sums[used] / self.weight[used, None]
        if moving:
            self.since = 0
            self._move_small(moved, X)
        self.centres = moved
        return sums.loss

    def _move_small(self, centres: Array, X: Any) -> None:
        """Move centres of little weight to rows of the batch."""
        small = self.weight < self.model.reassignment_ratio * self.weight.max()
        most = X.shape[0] // 2
        if small.sum() > most:
            small[np.argsort(self.weight, kind="stable")[most:]] = False
        if not small.any() or small.all():
            return
        chosen = self.random.choice(X.shape[0], int(small.sum()), replace=False)
        if self.model.verbose:
            print(f"[MiniBatchKMeans] Reassigning {len(chosen)} cluster centers.")
        centres[small] = dense_rows(Block(X=X[chosen]))
        self.weight[small] = self.weight[~small].min()


@dataclass
class _Ending:
    """When steps end: by small moves, or without a lower running mean of the loss."""

    model: MiniBatchKMeans
    rate: float
    tolerance: float
    average: float = np.nan
    steps: int = 0
    move: float = np.inf
    least: float = np.inf
    without: int = 0

    def solution(self, centres: Array, outcome: Outcome) -> Solution:
        """The report of the steps so far."""
        return Solution(
            theta=centres,
            outcome=outcome,
            solver="mini-batch",
            reason="steps by random batches cost the same for any number of rows",
            steps=self.steps,
            value=self.average,
            gap=self.move,
            gap_kind="sum of the squared moves of the centres",
            message=outcome.value,
        )

    def reached(self, step: int, steps: int, loss: float, moved: Array) -> bool:
        self.steps, self.move = step, float(np.einsum("ij,ij->", moved, moved))
        self.average = self._averaged(loss) if step > 2 else loss
        if self.model.verbose:
            print(f"Minibatch step {step}/{steps}: mean batch inertia: {loss}, "
                  f"ewa inertia: {self.average}")  # fmt: skip
        if step == 1:  # the loss of the start
            return False
        if self.tolerance > 0 and self.move <= self.tolerance:
            if self.model.verbose:
                print(f"Converged (small centers change) at step {step}/{steps}")
            return True
        self.without = 0 if self.average < self.least else self.without + 1
        self.least = min(self.least, self.average)
        limit = self.model.max_no_improvement
        if limit is not None and self.without >= limit:
            if self.model.verbose:
                print(f"Converged (lack of improvement in inertia) at step {step}/{steps}")
            return True
        return False

    def _averaged(self, loss: float) -> float:
        return self.average * (1 - self.rate) + loss * self.rate
