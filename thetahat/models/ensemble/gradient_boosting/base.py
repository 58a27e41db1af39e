"""Parts shared by all gradient boosting estimators: fitting, early stopping and raw predictions."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from thetahat.data.in_memory import InMemory
from thetahat.estimator.parameters import check_ranges
from thetahat.estimator.watching import Watched
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Verdict, Watch
from thetahat.mathematics.losses.base import Subdifferentiable
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.models.ensemble.gradient_boosting.checkpoint import Checkpoint
from thetahat.models.ensemble.gradient_boosting.gradient_trees import TreeRules, binned
from thetahat.models.ensemble.gradient_boosting.members import Member, SummedLearners, together
from thetahat.models.ensemble.gradient_boosting.reoptimised import AllCoefficients
from thetahat.models.ensemble.gradient_boosting.rounds import (
    Boosting,
    Learn,
    Plan,
    Rows,
    Scorer,
    Stopping,
    hold_out,
    no_better,
    scores_of,
)
from thetahat.models.ensemble.gradient_boosting.tree_rounds import TreeRounds
from thetahat.models.ensemble.last_fit import LastFit
from thetahat.models.ensemble.progress import print_end
from thetahat.models.tree.learner import TreeLearner
from thetahat.models.tree.packed import PackedTrees
from thetahat.models.tree.structure import Tree
from thetahat.models.tree.weighted_trees import WeightedTrees


class BaseBoosting(Watched, TreeLearner, ABC):
    """Keeps the fitted members in order: one per column of raw predictions in every iteration."""

    _prints_itself = True
    _grows_by_steps = True
    _keeps_sparse = True
    _trees: tuple[Member, ...]
    """Trees, or base estimators with their coefficients."""
    _packed: PackedTrees | None
    """The trees packed for prediction; None with another base estimator."""
    _start: Array
    """f₀, one number per column of raw predictions."""
    _seed: int
    _scores: dict[str, list[float]]
    n_trees_per_iteration_: int
    loss_: Subdifferentiable
    """The loss that was minimised."""

    def _boost(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        *,
        validation: Callable[[], Rows] | None = None,
        ends: Callable[[Boosting], bool] | None = None,
    ) -> Any:
        """Fit the model; `validation` opens rows for early stopping, `ends` may stop the fit."""
        before, last = self._trees_to_continue(), LastFit.of(self)
        rows = self._open_rows(X, y, sample_weight)
        last.require_same(self)
        given = None if validation is None else validation()
        kept = Checkpoint.of(self, rows, given) if self.checkpoint is not None else None
        continued = bool(before)
        if kept is not None and kept.found is not None:
            before, self._seed, self._scores, start = kept.found
        self.do_early_stopping_ = given is not None or self._patience(rows) is not None
        rows, held = self._held_out(rows) if given is None else (rows, given)
        if not continued:
            self._start = self._best_constant(rows)
        if kept is not None and kept.found is not None:
            self._start = start
        boosting, held = self._begin(rows, held, before)
        stopping = self._stopping(boosting, held)
        started = time.monotonic()
        with self._watching(self._n_rounds - boosting.n_rounds, self._fitted_with, X, y) as watch:
            solution = self._run(boosting, held, stopping, watch, kept, ends)
        if kept is not None:
            kept.remove()
        trees = solution.theta
        self.__dict__.update(self._fitted_with(trees))
        self.solution_ = replace(solution, theta=np.array(self._rounds_of(trees)))
        print_end(self, self.solution_.steps, self._n_rounds, "iterations", started)
        self._warn_if_out_of_time()
        return self

    # The steps of a fit, which the subclasses define.

    @property
    @abstractmethod
    def _n_rounds(self) -> int:
        """Number of iterations to make."""

    @abstractmethod
    def _open_rows(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """The training rows, with targets in the form that the loss takes; also sets ``loss_``."""

    def _further_targets(self, y: Any) -> Any:
        """Targets of rows outside the training rows, in the form that the loss takes."""
        return y

    @abstractmethod
    def _rules(self, rows: Rows) -> TreeRules:
        """Limits on the growth of the trees."""

    @abstractmethod
    def _plan(self, rows: Rows) -> Plan:
        """Settings of an iteration."""

    @abstractmethod
    def _patience(self, rows: Rows) -> int | None:
        """Iterations without improvement after which to stop; None: never stop early."""

    def _scorer(self, rows: Rows) -> Scorer:
        """Scoring function of raw predictions for some rows; by default minus the mean loss."""

        def score(raw: Array) -> float:
            return -rows.mean(self.loss_.value(rows.y, scores_of(self.loss_, raw)))

        return score

    def _first(self, rows: Rows) -> Array:
        """f₀ of every row, (n, n_columns)."""
        return np.broadcast_to(self._start, (len(rows.y), len(self._start)))

    def _record(self, boosting: Boosting, out_of_bag: Array | None) -> None:
        """Record the losses that a subclass reports after each iteration."""

    def _rows_that_count(self, source: InMemory) -> Rows:
        """Rows of positive weight, with targets in float64."""
        return Rows.of(source.X, np.asarray(source.y, dtype=np.float64), source.weight)

    def _begin(
        self, rows: Rows, held: Rows | None, before: Sequence[Member]
    ) -> tuple[Boosting, Rows | None]:
        """The state of the fit, and the held-out rows of this process."""
        plan = self._plan(rows)
        learn = self._learn(plan, rows)
        if held is not None and not before:  # earlier trees may have other cut points
            held = held.coded(self.__dict__.get("_bins"))
        return Boosting(plan, rows, learn, self._first(rows), list(before)), held

    def _learn(self, plan: Plan, rows: Rows) -> Learn:
        """Function that fits the members of an iteration; here, histogram trees."""
        rules = self._rules(rows)
        categorical = self._columns.categorical
        counts = dict(enumerate(self._columns.n_categories.tolist()))
        codes, self._bins = binned(rows.X, rows.weight, rules, self.max_bins, categorical, counts)
        return TreeRounds(plan, rows, self._bins, codes, rules, **self._tree_options())

    def _tree_options(self) -> dict[str, Any]:
        """Further arguments of `TreeRounds`."""
        return {}

    def _best_constant(self, rows: Rows) -> Array:
        if self.loss_.columns == "per class":
            n_classes = self.n_trees_per_iteration_
            found: Any = self.loss_.best_constant(rows.y, rows.weight, n_classes=n_classes)  # type: ignore[call-arg]
        else:
            found = self.loss_.best_constant(rows.y, rows.weight)
        return np.atleast_1d(np.asarray(found, dtype=np.float64))

    def _trees_to_continue(self) -> Sequence[Member]:
        check_ranges(self)
        if not (self.warm_start and hasattr(self, "_trees")):
            self._seed = int(generator(self.random_state).integers(1 << 62))
            self._scores = {}
            return ()
        if self._rounds_of(self._trees) > self._n_rounds:
            raise ParameterError(
                f"{type(self).__name__}: warm_start=True continues the last fit, which made "
                f"{self._rounds_of(self._trees)} iterations, but only {self._n_rounds} are "
                "requested. The number must be larger or equal; increase it, or set "
                "warm_start=False."
            )
        return self._trees

    def _held_out(self, rows: Rows) -> tuple[Rows, Rows | None]:
        """Training rows, and held-out rows if early stopping uses them."""
        fraction = self.validation_fraction
        if not self.do_early_stopping_ or fraction is None:
            return rows, None
        by_class = hasattr(self, "classes_")
        return hold_out(rows, fraction, self._seed, by_class=by_class, who=type(self).__name__)

    def _stopping(self, boosting: Boosting, held: Rows | None) -> Stopping | None:
        if not self.do_early_stopping_:  # decided by all rows, those held out included
            return None
        train = self._scorer(boosting.rows)
        return Stopping(
            self.n_iter_no_change, self.tol, self._scorer(held) if held else train, train
        )

    def _run(
        self,
        boosting: Boosting,
        held: Rows | None,
        stopping: Stopping | None,
        watch: Watch,
        kept: Checkpoint | None,
        ends: Callable[[Boosting], bool] | None,
    ) -> Solution:
        """Iterate until the limit, early stopping, the end of the time limit, or Ctrl-C."""
        raw = None if held is None else self._raw_of(held, boosting.members)
        every = None
        if self.reoptimise == "all":
            monotonic = getattr(self, "monotonic_cst", None) is not None
            every = AllCoefficients(boosting, self._start, no_sign_changes=monotonic)
        outcome, started = Outcome.CONVERGED, time.monotonic()
        step = watch.in_time(type(boosting).step)
        trees = cast("list[Tree]", boosting.members)  # a checkpoint is for trees only
        # A warm start has scored the last model already, and makes at least one more iteration.
        judged = self._n_scores - 1
        try:
            while boosting.n_rounds < self._n_rounds:
                if stopping is not None and boosting.n_rounds > judged:
                    if self._no_better(boosting, raw, stopping):
                        break
                made = step(boosting)
                if every is not None:
                    self._start = every.refit()
                    raw = None if held is None else self._raw_of(held, boosting.members)
                elif raw is not None:
                    together(made).sum(held.X, raw, len(self._start))  # type: ignore[union-attr]
                self._record(boosting, raw)
                self._print_progress(boosting, started)
                if ends is not None and ends(boosting):
                    break
                if kept is not None:
                    kept.write_now_and_then(trees, self._seed, self._scores, self._start)
                verdict = watch(boosting.n_rounds, tuple(boosting.members), float("nan"))
                if verdict is not Verdict.GO_ON:
                    timed_out = verdict is Verdict.OUT_OF_TIME
                    outcome = Outcome.OUT_OF_TIME if timed_out else Outcome.INTERRUPTED
                    break
            else:
                if stopping is not None and boosting.n_rounds > judged:
                    self._no_better(boosting, raw, stopping)
        except KeyboardInterrupt as interrupt:
            interrupt.solution = self._solution(boosting, Outcome.INTERRUPTED)  # type: ignore[attr-defined]
            if kept is not None:
                kept.write(trees, self._seed, self._scores, self._start)
            raise
        return self._solution(boosting, outcome)

    @property
    def _n_scores(self) -> int:
        """Number of scores for early stopping that are known, from the initial model on."""
        return max(len(self._scores.get(name, [])) for name in ("train", "validation"))

    def _no_better(self, boosting: Boosting, raw: Array | None, stopping: Stopping) -> bool:
        """Score the current model; return whether the last iterations brought no improvement."""
        found = boosting.scores(stopping.train_scorer, stopping.scorer, raw)
        for name, score in found.items():
            self._scores.setdefault(name, []).append(score)
        scores = self._scores[list(found)[-1]]
        return no_better(scores, stopping.patience, stopping.tolerance)

    def _solution(self, boosting: Boosting, outcome: Outcome) -> Solution:
        return Solution(
            theta=tuple(boosting.members),
            outcome=outcome,
            solver="gradient boosting",
            steps=boosting.n_rounds,
        )

    def _fitted_with(self, trees: Sequence[Member]) -> dict[str, Any]:
        """The attributes of the model that has these members."""
        packed = together(trees)
        return {
            "_trees": tuple(trees),
            "_packed": packed if isinstance(packed, PackedTrees) else None,
        }

    def _rounds_of(self, trees: Sequence[Member]) -> int:
        return len(trees) // self.n_trees_per_iteration_

    def _print_progress(self, boosting: Boosting, started: float) -> None:
        made = boosting.n_rounds
        if self.verbose > 1 or (self.verbose and (made % 10 == 0 or made == 1)):
            print(
                f"[{type(self).__name__}] iteration {made} of {self._n_rounds}, mean loss "
                f"{boosting.mean_loss():.6g}, {time.monotonic() - started:.1f} s"
            )

    def _warn_if_out_of_time(self) -> None:
        if self.solution_.outcome in (Outcome.OUT_OF_TIME, Outcome.INTERRUPTED):
            warn(
                f"{type(self).__name__}: {self.solution_.outcome.value} ({self.solution_.steps} of "
                f"{self._n_rounds} iterations). Allow more time with th.config(max_time=...), or "
                "continue with warm_start=True.",
                ConvergenceWarning,
            )

    # Predictions.

    @property
    def feature_importances_(self) -> Array:
        """Relative importance of each column: its share of the total gain; the shares sum to 1."""
        check_is_fitted(self)
        sums = np.zeros(self.n_features_in_)
        for tree in cast("tuple[Tree, ...]", self._trees):
            inner = tree.feature >= 0
            sums += np.bincount(
                tree.feature[inner], weights=tree.gain[inner], minlength=self.n_features_in_
            )
        return sums / sums.sum() if sums.any() else sums

    def _raw_of(self, rows: Rows, members: Sequence[Member]) -> Array:
        raw = np.array(self._first(rows), order="C")
        return together(members).sum(rows.X, raw, raw.shape[1])

    def _raw(self, X: Any) -> Array:
        """Raw predictions in float64, (n, n_columns)."""
        if "_packed" not in self.__dict__:
            check_is_fitted(self)
        rows = self._rows(X)
        raw = self._started(rows)
        members = SummedLearners(self._trees) if self._packed is None else self._packed  # type: ignore[arg-type]
        return members.sum(rows, raw, raw.shape[1])

    def _shapley_values(self, X: Any, background: Any) -> tuple[Array, Array]:
        check_is_fitted(self)
        return self._weighted_trees().shapley(self._rows(X))

    def _weighted_trees(self) -> WeightedTrees:
        """The sum of the trees with the weights of their leaves."""
        from thetahat.models.ensemble.gradient_boosting.members import weighted_trees

        return weighted_trees(self._packed, self._trees, self._start)

    def _started(self, rows: Array) -> Array:
        """Initial raw predictions f₀ for these rows, as a new array."""
        raw = np.empty((rows.shape[0], len(self._start)))
        raw[:] = self._start
        return raw

    @abstractmethod
    def _predicted(self, raw: Array, X: Any) -> Array:
        """Labels or targets from raw predictions, in the precision of `X`."""

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Predict class labels or targets after each iteration. Cost: as `predict`.

        Useful to choose the number of iterations on held-out rows.

        Parameters
        ----------
        X : table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.

        Yields
        ------
        array of shape (n,)
        """
        for raw in self._staged_raw(X):
            yield np.array(self._predicted(raw, X))

    def _staged_raw(self, X: Any) -> Iterator[Array]:
        """Raw predictions after each iteration; the same array is updated and yielded each time."""
        check_is_fitted(self)
        rows = self._rows(X)
        raw = self._started(rows)
        per_round = self.n_trees_per_iteration_
        for first in range(0, len(self._trees), per_round):
            made = together(self._trees[first : first + per_round])
            yield made.sum(rows, raw, per_round)

    def _dtype(self, X: Any) -> Any:
        """float32 for rows of float32, else float64."""
        return np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64

    def __sklearn_is_fitted__(self) -> bool:
        return "_trees" in self.__dict__
