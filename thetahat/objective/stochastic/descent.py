"""Epochs of single-row steps, until the mean loss or a held-out score no longer improves.

Rows in memory are one block and shuffled as a whole; other rows are shuffled within each block, so
that a file is read in order, once per epoch. Several walks (one per class) visit the rows in the
same order in parallel and end independently, so results do not depend on the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from thetahat import _native
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.foundation.errors import DataError
from thetahat.foundation.threads import ordered_map
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Verdict, Watch
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.mathematics.optimizers.stochastic.learning_rates import (
    ADAPTIVE_DIVISOR,
    SMALLEST_ADAPTIVE,
    LearningRate,
)
from thetahat.objective.stochastic.steps import Steps, Walk, runs_compiled, take, take_epochs

Targeted = tuple[Block, Sequence[Array]]
"""Rows and the targets of each walk, if these are computed once; else no targets."""
Score = Callable[[int, Array, Array | float], float]
DIVERGED = 1000.0
"""A walk has diverged if its loss exceeds that of predicting 0 by this factor."""
VISITS_AT_ONCE = 1 << 15
"""Number of visits up to which several epochs of a walk run in one call."""
FEW_PRODUCTS = 100_000
"""Multiplications of all walks below which other threads save no time."""
MOST_TARGETS = 16
"""Number of walks up to which the n targets of each are stored."""
GAP_KIND = "change of the objective in the last epoch"


@dataclass
class Progress:
    """The progress of one walk: its best objective and the epochs since it last improved."""

    rate: LearningRate
    at_zero: float = 0.0
    """The mean loss of predicting 0."""
    loss: float = 0.0
    """The mean loss of the last epoch (of the worst one if iterates are averaged), with the part of
    the level in the objective."""
    best: float = math.inf
    last: float = math.inf
    gap: float = math.inf
    idle: int = 0
    done: bool = False

    @property
    def has_diverged(self) -> bool:
        return 0 < self.at_zero * DIVERGED < self.loss

    def judge(self, objective: float, tolerance: float | None, patience: int) -> None:
        """Record the objective of an epoch; done if it has not improved for `patience` epochs."""
        self.gap, self.last = abs(self.last - objective), objective
        if tolerance is None:
            return
        self.idle = self.idle + 1 if objective > self.best - tolerance else 0
        self.best = min(self.best, objective)
        if self.idle < patience:
            return
        if self.rate.adapts and self.rate.eta0 > SMALLEST_ADAPTIVE:
            self.rate = replace(self.rate, eta0=self.rate.eta0 / ADAPTIVE_DIVISOR)
            self.idle = 0
        else:
            self.done = True


@dataclass(frozen=True)
class StochasticDescent:
    """The steps, their rates, the stopping rule and the averaging of a stochastic descent.

    ``average`` is the number of the first step whose iterate is averaged (0: none).
    ``target(number, y)`` gives the targets of one walk, in float64, from those of the source.
    ``score(number, coef, intercept)``, if given, is the score of a walk on the held-out rows.
    """

    steps: Steps
    rate: LearningRate
    target: Callable[[int, Array], Array]
    max_epochs: int = 1000
    tolerance: float | None = 1e-3
    patience: int = 5
    shuffle: bool = True
    average: int = 0
    score: Score | None = None
    who: str = "Stochastic descent"
    penalty_name: str = "alpha"

    def run(
        self,
        source: Source,
        walks: Sequence[Walk],
        random: np.random.Generator,
        watch: Watch,
        first: int = 1,
    ) -> tuple[Solution, int]:
        """Advance the walks from step `first`; returns the outcome and the next step's number."""
        progress = [Progress(self.rate) for _ in walks]
        outcome, epoch = Outcome.STEPS_EXHAUSTED, 0
        blocks = self._blocks_of(source, len(walks))
        compiled = self._is_compiled(source, walks)
        try:
            while epoch < self.max_epochs:
                if compiled:
                    most = self._epochs_ahead(source, epoch) if watch.is_idle else 1
                    made, first = self._epochs(blocks, walks, progress, random, first, epoch, most)
                    epoch += made
                else:
                    epoch += 1
                    first = self._epoch(blocks, walks, progress, random, first, epoch)
                if not all(math.isfinite(state.loss) for state in progress):
                    source.require_finite()
                    raise DataError(
                        f"{self.who}: the steps diverged in epoch {epoch}: the coefficients "
                        f"overflow. {self.remedy()}"
                    )
                theta = None if watch.on_step is None else _theta(walks)
                verdict = watch(epoch, theta, _mean(progress))
                if all(state.done for state in progress):
                    outcome = Outcome.CONVERGED
                elif verdict is Verdict.OUT_OF_TIME:
                    outcome = Outcome.OUT_OF_TIME
                elif verdict is Verdict.STOPPED:
                    outcome = Outcome.INTERRUPTED
                if outcome is not Outcome.STEPS_EXHAUSTED:
                    break
            if any(state.has_diverged for state in progress):
                outcome = Outcome.DIVERGED
        except KeyboardInterrupt as interrupt:
            found = self._solution(walks, progress, Outcome.INTERRUPTED, epoch)
            interrupt.solution = found  # type: ignore[attr-defined]
            raise
        return self._solution(walks, progress, outcome, epoch), first

    def _is_compiled(self, source: Source, walks: Sequence[Walk]) -> bool:
        """Whether all walks run in the kernel on rows in memory, without held-out rows."""
        return (
            self.score is None
            and not self.rate.adapts
            and _in_one_block(source)
            and all(runs_compiled(self.steps, walk) for walk in walks)
        )

    def _epochs_ahead(self, source: Source, epoch: int) -> int:
        """The number of epochs for which rows are drawn at once: few at first, then more."""
        soon = max(self.patience + 1, epoch) if self.tolerance is not None else self.max_epochs
        return max(1, min(soon, VISITS_AT_ONCE // source.n_rows, self.max_epochs - epoch))

    def _epochs(
        self,
        blocks: Callable[[], Iterator[Targeted]],
        walks: Sequence[Walk],
        progress: Sequence[Progress],
        random: np.random.Generator,
        first: int,
        epoch: int,
        most: int,
    ) -> tuple[int, int]:
        """At most `most` epochs of every walk that is not done, each in one call.

        Returns the number of epochs of the longest, and the number of the next step.
        """
        ((block, targets),) = blocks()
        order = self._orders(block, random, most)
        visits = order.size // most
        mass = float(visits if block.weight is None else block.weight.sum())
        self._require_mass(mass)
        rates = self.rate.rates(first, order.size)

        def advance(number: int) -> int:
            walk, state = walks[number], progress[number]
            y = targets[number] if targets else self.target(number, block.targets)
            if not epoch:
                state.at_zero = self._loss_at_zero(walk, y, block.weight) / mass
            report = np.array([state.loss, state.best, state.last, state.gap, state.idle, 0.0])
            made = take_epochs(
                self.steps,
                walk,
                block.X,
                y,
                block.weight,
                order,
                rates,
                max(0, self.average - first + 1) if self.average else 0,
                visits,
                mass,
                math.nan if self.tolerance is None else self.tolerance,
                self.patience,
                report,
            )
            state.loss, state.best, state.last, state.gap = map(float, report[:4])
            state.idle, state.done = int(report[4]), bool(report[5])
            return made

        going = [number for number, state in enumerate(progress) if not state.done]
        few = len(going) == 1 or len(going) * order.size * block.X.shape[1] < FEW_PRODUCTS
        longest = max(map(advance, going) if few else ordered_map(advance, going))
        return longest, first + longest * visits

    def _require_mass(self, mass: float) -> None:
        if not mass > 0:
            raise DataError(
                f"{self.who}: all sample weights are zero, so no row counts. Give at least one a "
                "positive weight."
            )

    def _epoch(
        self,
        blocks: Callable[[], Iterator[Targeted]],
        walks: Sequence[Walk],
        progress: Sequence[Progress],
        random: np.random.Generator,
        first: int,
        epoch: int,
    ) -> int:
        """One epoch of every walk that is not done; returns the number of the next step."""
        going = [number for number, state in enumerate(progress) if not state.done]
        losses, mass = np.zeros(len(walks)), 0.0
        for block, targets in blocks():
            order = self._orders(block, random)
            shared = self.rate.rates(first, order.size)
            average_from = max(0, self.average - first + 1) if self.average else 0

            def visit(
                number: int,
                block: Block = block,
                order: Array = order,
                shared: Array = shared,
                average_from: int = average_from,
                first: int = first,
                targets: Sequence[Array] = targets,
            ) -> float:
                rate = progress[number].rate
                rates = shared if rate is self.rate else rate.rates(first, order.size)
                y = targets[number] if targets else self.target(number, block.targets)
                if epoch == 1:
                    progress[number].at_zero += self._loss_at_zero(walks[number], y, block.weight)
                return take(
                    self.steps, walks[number], block.X, y, block.weight, order, rates, average_from
                )

            losses[going] += (
                [visit(going[0])] if len(going) == 1 else list(ordered_map(visit, going))
            )
            mass += order.size if block.weight is None else float(block.weight.sum())
            first += order.size
        self._require_mass(mass)
        for number in going:
            walk = walks[number]
            state, loss = progress[number], losses[number] / mass
            if not (math.isfinite(loss) and walk.is_finite):
                state.loss = math.inf
                continue
            state.loss = max(loss, state.loss) if self.average else loss
            if epoch == 1:
                state.at_zero /= mass
            if self.score is None:
                objective = loss + self.steps.penalty(walk.coef)
            else:
                objective = -self.score(number, *walk.reported())
            state.judge(objective, self.tolerance, self.patience)
        return first

    def _blocks_of(self, source: Source, n_walks: int) -> Callable[[], Iterator[Targeted]]:
        """Rows in memory as one block, others in the blocks of their source; all in C order."""
        if not _in_one_block(source):
            return lambda: ((_readable(block), ()) for block in source.blocks())
        assert isinstance(source, InMemory)
        whole = _readable(Block(X=source.X, y=source.y, weight=source.weight))
        once = n_walks <= MOST_TARGETS
        targets = [self.target(number, whole.targets) for number in range(n_walks)] if once else []
        return lambda: iter(((whole, targets),))

    def _orders(self, block: Block, random: np.random.Generator, epochs: int = 1) -> Array:
        """The rows of a block in the order of their visit, for each epoch; none of weight 0."""
        weight, n = block.weight, block.n_rows
        there = np.arange(n) if weight is None else np.flatnonzero(weight)
        if not self.shuffle:
            return there if epochs == 1 else np.tile(there, epochs)
        orders = np.empty(epochs * there.size, dtype=np.int64)
        _native.shuffled_rows(random.integers(1 << 63, size=epochs, dtype=np.uint64), orders)
        return orders if there.size == n else there[orders]

    def _loss_at_zero(self, walk: Walk, y: Array, weight: Array | None) -> float:
        """Σ w·ℓ of predicting 0."""
        value = self.steps.loss.value(y, np.zeros((y.shape[0], *np.shape(walk.intercept))))
        return self.steps.multiplier * float(value.sum() if weight is None else value @ weight)

    def remedy(self) -> str:
        """The remedy for steps that diverge, for a message."""
        optimal = self.rate.schedule == "optimal"
        change = f"larger {self.penalty_name}" if optimal else "lower eta0"
        return (
            "Scale the columns first, for example with sklearn.preprocessing.StandardScaler, or "
            f"take smaller steps: a {change} (now "
            f"{self.rate.alpha if optimal else self.rate.eta0:g})."
        )

    def _solution(
        self, walks: Sequence[Walk], progress: Sequence[Progress], outcome: Outcome, epoch: int
    ) -> Solution:
        return Solution(
            theta=_theta(walks),
            outcome=outcome,
            solver="sgd",
            reason="single-row steps, requested",
            steps=epoch,
            value=_mean(progress),
            gap=max(state.gap for state in progress),
            gap_kind=GAP_KIND if self.score is None else "change of the held-out score",
            message=self._message(outcome),
        )

    def _message(self, outcome: Outcome) -> str:
        """How the descent stopped: its rule is progress, not a gap as for other solvers."""
        if outcome is Outcome.CONVERGED:
            goal = "objective fell" if self.score is None else "held-out score rose"
            return (
                f"converged: in none of the last {self.patience} epochs the {goal} by more than "
                f"{self.tolerance:g} beyond the best"
            )
        if outcome is Outcome.DIVERGED:
            return "diverged: the mean loss is far above that of predicting 0"
        if outcome is Outcome.STEPS_EXHAUSTED and self.tolerance is None:
            return "all epochs were made, without a rule that stops earlier"
        return outcome.value


def _in_one_block(source: Source) -> bool:
    return isinstance(source, InMemory) and not isinstance(source.X, np.memmap)


def stacked(parts: Sequence[tuple[Array, Array | float]]) -> Array:
    """[β; b] with one column per score, in Fortran order, from the (β, b) of some walks."""
    blocks = [(np.atleast_2d(coef.T), np.ravel(b)) for coef, b in parts]
    rows = np.empty((sum(len(coef) for coef, _ in blocks), blocks[0][0].shape[1] + 1))
    first = 0
    for coef, b in blocks:
        last = first + len(coef)
        rows[first:last, :-1] = coef
        rows[first:last, -1] = b
        first = last
    return rows.T


def _theta(walks: Sequence[Walk]) -> Array:
    return stacked([walk.reported() for walk in walks])


def _mean(progress: Sequence[Progress]) -> float:
    return sum(state.last for state in progress) / len(progress)


def _readable(block: Block) -> Block:
    X, weight = block.X, block.weight
    if isinstance(X, np.ndarray):
        X = np.ascontiguousarray(X)
    return replace(block, X=X, weight=None if weight is None else np.asarray(weight, dtype=float))
