"""Descent on batches of rows: θ ← θ + move(∇F_B(θ)), until the loss or a score stops improving.

A large batch is cut into pieces by its size alone. The pieces run in parallel, each on one BLAS
thread, and their gradients are added in order, so that the number of threads changes no bit. The
buffers of the passes are used again in every step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.data.arrays import namespace
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, blocks_of, rows_per_block
from thetahat.foundation.threads import n_threads, one_blas_thread, parallel_for
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Verdict, Watch
from thetahat.mathematics.losses.base import Subdifferentiable
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.mathematics.optimizers.steps.step_rules import StepRule
from thetahat.mathematics.optimizers.stochastic.learning_rates import LearningRate
from thetahat.mathematics.penalties.coordinatewise import Coordinatewise
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.network.device_epoch import DeviceEpoch
from thetahat.objective.network.predictor import ROWS_AT_ONCE, NetworkPredictor, Pass
from thetahat.objective.stochastic.descent import DIVERGED, GAP_KIND, Progress
from thetahat.objective.sums import quiet

ROWS_OF_A_PIECE = 64
PRODUCTS_OF_A_PIECE = 4e6
"""Rows and multiplications that a piece of a batch has at least."""
MOST_PIECES = 8


@dataclass
class Training:
    """The state of a descent, which `run` advances: parameters, memory of the rule, and records."""

    theta: Array
    memory: Any = None
    steps: int = 0
    rows: int = 0
    """Rows visited so far."""
    curve: list[float] = field(default_factory=list)
    """F after each epoch: the mean of the losses before each step, plus the penalty."""
    scores: list[float] = field(default_factory=list)
    """Scores of the held-out rows after each epoch."""
    epochs: int = 0
    """Epochs of this fit."""
    best: Array | None = None
    """The parameters with the best score."""
    progress: Progress | None = None
    at_zero: float | None = None
    """The mean loss of the output 0, known after the first epoch."""
    shift: float = 0.0
    """What is subtracted from the losses of the curve: that of the best output of each row."""
    random: Any = None
    """The state of the random generator after the last epoch."""

    def shift_to(self, shift: float) -> None:
        """Subtract this from the losses instead."""
        more, self.shift = shift - self.shift, shift
        self.curve = [loss - more for loss in self.curve]
        if self.progress is not None and not self.scores:
            self.progress.best -= more
            self.progress.last -= more

    def copy(self) -> Training:
        """The same state, which further steps do not change."""
        several = isinstance(self.memory, tuple)
        return replace(
            self,
            theta=_copied(self.theta),
            memory=tuple(map(_copied, self.memory)) if several else _copied(self.memory),
            curve=list(self.curve),
            scores=list(self.scores),
            best=_copied(self.best),
            progress=copy(self.progress),
        )


@dataclass(frozen=True)
class BatchDescent:
    """The rule, the learning rate, the batches and the stopping rule of a descent.

    ``decay`` shrinks the weights by η·decay at each step, apart from the gradient (AdamW).
    ``score(θ)``, if given, is the score of held-out rows; the parameters of the best are kept.
    ``further(θ, gradient, random)`` adds the gradient of a further term and returns its value.
    ``save(training, at_once)`` may keep the state after an epoch; `at_once` if the fit is
    interrupted. A training with the state of an earlier fit continues as if it had not been
    interrupted.
    """

    rule: StepRule
    rate: LearningRate
    batch_size: int
    max_epochs: int = 200
    tolerance: float | None = 1e-4
    patience: float = 10
    shuffle: bool = True
    decay: float = 0.0
    score: Callable[[Array], float] | None = None
    report: Callable[[int, float, float | None], None] | None = None
    solver: str = "adam"
    further: Callable[[Array, Array, np.random.Generator], float] | None = None
    save: Callable[[Training, bool], None] | None = None

    def run(
        self,
        risk: EmpiricalRisk,
        training: Training,
        random: np.random.Generator,
        watch: Watch,
    ) -> Solution:
        """Advance the training until it stops; `training` holds the parameters afterwards."""
        if training.memory is None:
            training.memory = self.rule.start(training.theta)
        if training.best is None:
            training.best = _copied(training.theta)
        if training.random is not None:
            random.bit_generator.state = training.random
        progress = training.progress = training.progress or Progress(self.rate)
        on_device = type(training.theta) is not np.ndarray
        step: Any = (DeviceEpoch if on_device else _Step)(self, risk, training)
        outcome = Outcome.STEPS_EXHAUSTED
        good = training.copy()
        try:
            with quiet(), one_blas_thread():
                while training.epochs < self.max_epochs:
                    loss = step.epoch(progress.rate, random) - training.shift
                    if not (math.isfinite(loss) and math.isfinite(training.theta.sum())):
                        vars(training).update(vars(good.copy()))
                        training.curve.append(loss)
                        training.epochs += 1
                        outcome = Outcome.DIVERGED
                        break
                    training.epochs += 1
                    training.curve.append(loss)
                    score = None if self.score is None else self.score(training.theta)
                    if score is not None:
                        if not training.scores or score > max(training.scores):
                            training.best[...] = training.theta
                        training.scores.append(score)
                    progress.judge(
                        loss if score is None else -score,
                        self.tolerance,
                        self.patience + 1,  # type: ignore[arg-type]
                    )
                    training.random = random.bit_generator.state
                    good = training.copy()
                    if self.report is not None:
                        self.report(training.epochs, loss, score)
                    verdict = watch(training.epochs, training.theta, loss)
                    if progress.done:
                        outcome = Outcome.CONVERGED
                    elif verdict is Verdict.OUT_OF_TIME:
                        outcome = Outcome.OUT_OF_TIME
                    elif verdict is Verdict.STOPPED:
                        outcome = Outcome.INTERRUPTED
                    if self.save is not None and outcome is not Outcome.CONVERGED:
                        self.save(good, outcome is not Outcome.STEPS_EXHAUSTED)
                    if outcome is not Outcome.STEPS_EXHAUSTED:
                        break
        except KeyboardInterrupt as interrupt:
            if self.save is not None and good.curve:
                self.save(good, True)
            vars(training).update(vars(good))
            self._keep_best(training)
            found = self._solution(training, Outcome.INTERRUPTED)
            interrupt.solution = found  # type: ignore[attr-defined]
            raise
        if not self._keep_best(training) and (
            0 < DIVERGED * ((training.at_zero or 0.0) - training.shift) < training.curve[-1]
        ):
            outcome = Outcome.DIVERGED
        return self._solution(training, outcome)

    def _keep_best(self, training: Training) -> bool:
        """Take the parameters with the best score; returns whether there are scores."""
        if self.score is None or not training.scores:
            return False
        training.theta[...] = training.best
        return True

    def _solution(self, training: Training, outcome: Outcome) -> Solution:
        assert training.progress is not None
        return Solution(
            theta=_copied(training.theta),
            outcome=outcome,
            solver=self.solver,
            reason=f"batches of {self.batch_size} rows, requested",
            steps=training.epochs,
            value=training.curve[-1] if training.curve else math.nan,
            gap=training.progress.gap,
            gap_kind=GAP_KIND if self.score is None else "change of the held-out score",
            message=outcome.value,
        )


def _copied(values: Any) -> Any:
    return values if values is None else namespace(values).asarray(values, copy=True)


class _Step:
    """The buffers of a descent, and one epoch of steps in them."""

    def __init__(self, descent: BatchDescent, risk: EmpiricalRisk, training: Training) -> None:
        self.descent, self.risk, self.training = descent, risk, training
        predictor, source, theta = risk.predictor, risk.source, training.theta
        assert isinstance(predictor, NetworkPredictor)
        assert isinstance(risk.loss, Subdifferentiable)
        self.predictor, self.loss = predictor, risk.loss
        assert isinstance(risk.penalty, Coordinatewise)
        terms = risk.penalty.terms(predictor.split(theta)[0].shape)
        self.l1, self.l2 = float(terms.l1), float(terms.l2)
        rows = min(descent.batch_size, source.n_rows)
        self.products = 3.0 * rows * max(1, predictor.chain.n_weights)
        count = 1
        if not predictor.depends_on_batch:
            while (
                2 * count <= MOST_PIECES
                and rows >= 2 * count * ROWS_OF_A_PIECE
                and self.products >= 2 * count * PRODUCTS_OF_A_PIECE
            ):
                count *= 2
        self.size = -(-rows // count)
        # One pass per thread and not per piece: fewer buffers stay in the cache.
        self.passes = [
            Pass(predictor, self.size, theta.dtype) for _ in range(min(count, n_threads()))
        ]
        self.gradients = np.empty((count, theta.size), dtype=theta.dtype)
        self.batch = np.empty((rows, source.n_features), dtype=theta.dtype)
        self.source_share = source.n_rows / risk.total_weight
        """n/Σw, so that the mean of the batch gradients is the gradient of the mean loss."""

    def epoch(self, rate: LearningRate, random: np.random.Generator) -> float:
        """Visit every row once; returns the mean loss plus the penalty."""
        training, eta = self.training, float(rate.rates(self.training.rows + 1, 1)[0])
        rule: StepRule = self.descent.rule.set_params(eta=eta)
        split = self.predictor.split
        weights, slope = split(training.theta)[0], split(self.gradients[0])[0]
        total = mass = at_zero = further = 0.0
        before = training.steps
        for block in self._blocks():
            if training.at_zero is None:
                at_zero += self._loss_at_zero(block.targets, block.weight)
            for X, y, weight in self._batches(block, random):
                total += self._gradient(X, y, weight, random)
                mass += y.shape[0] if weight is None else float(weight.sum())
                if not math.isfinite(total):
                    return math.nan
                if self.descent.further is not None:
                    further += self.descent.further(training.theta, self.gradients[0], random)
                if self.l1:
                    slope += np.sign(weights) * np.asarray(self.l1, dtype=weights.dtype)
                if self.descent.decay:
                    weights *= 1 - eta * self.descent.decay
                training.steps += 1
                training.memory = rule.step(
                    training.steps, self.gradients[0], training.theta, training.memory
                )
            training.rows += block.n_rows
        if training.at_zero is None:
            training.at_zero = at_zero / mass
        further /= max(1, training.steps - before)
        return total / mass + float(self.risk.penalty.value(weights)) + further

    def _loss_at_zero(self, y: Array, weight: Array | None) -> float:
        """Σ wℓ(y, 0)."""
        k, total = self.predictor.n_outputs, 0.0
        for begin in range(0, y.shape[0], ROWS_AT_ONCE):
            part = y[begin : begin + ROWS_AT_ONCE]
            value = self.loss.value(part, np.zeros((len(part), k) if k else len(part)))
            own = None if weight is None else weight[begin : begin + ROWS_AT_ONCE]
            total += float(value.sum() if own is None else value @ own)
        return total

    def _gradient(
        self, X: Any, y: Array, weight: Array | None, random: np.random.Generator
    ) -> float:
        """Leave the gradient of the mean loss and of the L2 penalty in the first buffer.

        Returns Σ wℓ over the batch.
        """
        theta, n = self.training.theta, y.shape[0]
        share = 1.0 / n if weight is None else self.source_share / n
        losses = [0.0] * len(self.gradients)

        def work(piece: int) -> None:
            rows = slice(piece * self.size, min(n, (piece + 1) * self.size))
            run = self.passes.pop() if self.passes else Pass(self.predictor, self.size, theta.dtype)
            own = None if weight is None else weight[rows]
            z = run.forward(X[rows], theta, random, own)
            value, slope = self.loss.value_and_gradient(y[rows], z)
            factor: Any = share
            if own is not None:
                value = value * own
                factor = (own if slope.ndim == 1 else own[:, None]) * share
            losses[piece] = float(value.sum())
            slope = np.asarray(slope * factor, dtype=theta.dtype)
            run.backward(slope, theta, self.gradients[piece])
            self.passes.append(run)

        used = -(-n // self.size)
        if used == 1:
            work(0)
        else:
            parallel_for(work, range(used), self.products)
        _native.add_slopes(self.gradients, used, theta, self.predictor.chain.n_weights, self.l2)
        return sum(losses[:used])

    def _blocks(self) -> Iterator[Block]:
        """Rows in memory as one block, others in blocks of whole batches."""
        source, batch = self.risk.source, self.descent.batch_size
        if isinstance(source, InMemory):
            yield source.whole
        else:
            yield from blocks_of(source, max(1, rows_per_block(source.n_features) // batch) * batch)

    def _batches(
        self, block: Block, random: np.random.Generator
    ) -> Iterator[tuple[Any, Array, Array | None]]:
        X, y, weight, n = block.X, block.targets, block.weight, block.n_rows
        step, dense = self.descent.batch_size, isinstance(block.X, np.ndarray)
        order = random.permutation(n) if self.descent.shuffle else None
        for begin in range(0, n, step):
            rows: Any = slice(begin, min(n, begin + step))
            if order is not None:
                rows = order[rows]
            if order is not None and dense and X.dtype == self.batch.dtype:
                taken = np.take(X, rows, axis=0, out=self.batch[: len(rows)], mode="clip")
            else:
                taken = X[rows].astype(self.batch.dtype, copy=False)
            yield taken, y[rows], None if weight is None else weight[rows]
