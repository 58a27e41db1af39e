"""Shared by models that train a network: the solvers, the stopping rule and their records."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from thetahat.data.arrays import like, to_host
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.estimator.watching import Watched
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.base import Loss
from thetahat.mathematics.losses.links import Link
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.smooth.lbfgs import LBFGS
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.mathematics.optimizers.steps.step_rules import (
    Adam,
    Constant,
    HeavyBall,
    LookAhead,
    StepRule,
)
from thetahat.mathematics.optimizers.stochastic.learning_rates import LearningRate
from thetahat.mathematics.penalties.base import Penalty
from thetahat.mathematics.penalties.norms import L1, L2, ElasticNet, NoPenalty
from thetahat.models.neural.checkpoint import Checkpoint
from thetahat.models.neural.network_model import Head, NetworkModel, Term
from thetahat.models.neural.placement import counted_rows, require_steps_on_device, rows_on_device
from thetahat.models.neural.reports import (
    no_finite_loss,
    print_epoch,
    print_stop,
    warn_of_divergence,
    warn_of_few_evaluations,
)
from thetahat.models.neural.validation_rows import validation_rows
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.network.descent import BatchDescent, Training
from thetahat.objective.network.layer import Layer
from thetahat.objective.network.predictor import NetworkPredictor
from thetahat.objective.network.saturated_loss import mean_saturated_loss

USUAL_BATCH = 200
TO_BE_CONTINUED = (Outcome.OUT_OF_TIME, Outcome.INTERRUPTED)
OUTPUTS = {
    Link.IDENTITY: "identity",
    Link.LOGIT: "logistic",
    Link.LOG: "exp",
    Link.SOFTMAX: "softmax",
    Link.SIGN: "identity",
}
"""scikit-learn's names of the functions from z to predictions."""


def takes_batches(model: TrainedNetwork) -> bool:
    """Whether the solver can continue with further rows."""
    if model.solver == "lbfgs":
        raise AttributeError(
            "partial_fit is only available for stochastic optimizers. lbfgs is not stochastic."
        )
    return True


class TrainedNetwork(Watched, NetworkModel):
    """A network of dense layers with a loss, trained by gradients.

    Attributes
    ----------
    loss_ : float
        The objective of the last epoch: the mean loss plus the penalty. For "poisson", "gamma" and
        "tweedie" the loss is half the deviance, which is 0 for perfect predictions.
    loss_curve_ : list of float
        The objective after each epoch; not available for "lbfgs".
    best_loss_ : float or None
        The smallest entry of ``loss_curve_``; None with `early_stopping`.
    validation_scores_ : list of float or None
        The score of the held-out rows after each epoch; None without `early_stopping`.
    best_validation_score_ : float or None
        The largest entry of ``validation_scores_``; None without `early_stopping`.
    n_iter_ : int
        Number of epochs, or of iterations of "lbfgs", that were run.
    t_ : int
        Number of rows that the steps have visited.
    solution_ : Solution
        Report of the fit: how it stopped, the number of epochs and the last objective.
    """

    _prints_itself = True
    _everyday_params = {  # noqa: RUF012
        "hidden_layer_sizes": (50,),
        "learning_rate_init": 0.005,
        "max_iter": 60,
        "tol": 1e-3,
        "n_iter_no_change": 5,
    }
    _everyday_unit_target = True

    loss: Any
    t_: int
    loss_curve_: list[float]
    loss_: float
    best_loss_: float | None
    validation_scores_: list[float] | None
    best_validation_score_: float | None

    def _check_combinations(self, *, resuming: bool = False) -> None:
        who = type(self).__name__
        if self.solver in ("lbfgs", "adamw") and self.penalty not in ("l2", None):
            raise ParameterError(
                f"{who}: solver={self.solver!r} takes penalty='l2' or None, but penalty="
                f"{self.penalty!r}. Use solver='adam' or 'sgd'."
            )
        if self.checkpoint is not None and self.solver == "lbfgs":
            raise ParameterError(
                f"{who}: checkpoint={self.checkpoint!r} saves the state after an epoch, but "
                "solver='lbfgs' has no epochs. Use solver='adam', or checkpoint=None."
            )
        if resuming and self.early_stopping:
            raise ParameterError(
                f"{who}: partial_fit does not support early_stopping=True, because a batch is not "
                "the whole training set. Score the model on held-out rows between the calls."
            )

    def _penalty(self, n: float) -> Penalty:
        """The penalty of a mean loss over n rows."""
        strength = float(self.alpha) / n
        match self.penalty:
            case _ if self.solver == "adamw" or strength == 0:
                return NoPenalty()
            case "l2":
                return L2(strength)
            case "l1":
                return L1(strength)
            case "elasticnet":
                return ElasticNet(strength, float(self.l1_ratio))
        return NoPenalty()

    def _rule(self) -> StepRule:
        eta = float(self.learning_rate_init)
        if self.solver != "sgd":
            return Adam(eta, float(self.beta_1), float(self.beta_2), float(self.epsilon))
        if self.momentum == 0:
            return Constant(eta)
        kind = LookAhead if self.nesterovs_momentum else HeavyBall
        return kind(float(self.momentum), eta)

    @classmethod
    def _example(cls) -> Any:
        """A network that a few epochs fit."""
        return cls(learning_rate_init=0.02, tol=0.01, n_iter_no_change=2)

    # The fit.

    def _train(
        self,
        source: Source,
        head: Head,
        X: Any,
        y: Any,
        *,
        resuming: bool = False,
        layers: tuple[Layer, ...] | None = None,
        further: Callable[[NetworkPredictor], Term | None] | None = None,
        kept: Checkpoint | None = None,
        random: np.random.Generator | None = None,
    ) -> None:
        """Find the weights and set the fitted attributes.

        ``layers`` replaces the layers that the parameters describe. ``further`` gives a term of the
        objective beside the losses of rows and the penalty of the weights. ``kept`` and ``random``
        are the file and the generator of a fit of several stages, instead of the parameters'.
        """
        source = counted_rows(source, type(self).__name__)
        going_on = hasattr(self, "coefs_") and (resuming or self.warm_start)
        predictor = self._predictor(head, source.n_features, layers)
        random = generator(self.random_state) if random is None else random
        if going_on:
            theta = to_host(self._theta()).astype(source.dtype)
            self._require_same_network(predictor, theta, resuming)
            if resuming and isinstance(self.random_state, int | np.integer):
                # Each call has its own order of the rows and its own dropout.
                random = np.random.default_rng([int(self.random_state), int(self.t_)])
            if self.early_stopping:  # the same draws as in the first fit, so the same held-out rows
                predictor.draw(random)
        else:
            theta = predictor.draw(random).astype(source.dtype)
        rows = rows_on_device(source)
        if rows is not None:
            require_steps_on_device(self)
            theta = like(theta, rows)
        self._take_network(head, predictor)
        if self.solver == "lbfgs":
            self._train_at_once(source, head, predictor, theta, X, y)
        else:
            term = None if further is None else further(predictor)
            if kept is None and self.checkpoint is not None and not resuming:
                kept = Checkpoint.of(self, source)
            how: dict[str, Any] = {"resuming": resuming, "going_on": going_on, "further": term}
            how["kept"] = kept
            self._train_in_batches(source, head, predictor, theta, random, X, y, **how)

    def _take_network(self, head: Head, predictor: NetworkPredictor) -> None:
        """Set the attributes that describe the network and its loss."""
        self.loss_function_, self.layers_ = head.loss, predictor.layers
        self.n_outputs_, self.n_layers_ = max(1, head.n_outputs), len(predictor.layers) + 1
        self.out_activation_ = OUTPUTS[head.loss.link]

    def _train_at_once(
        self,
        source: Source,
        head: Head,
        predictor: NetworkPredictor,
        theta: Array,
        X: Any,
        y: Any,
    ) -> None:
        total = EmpiricalRisk(predictor, head.loss, NoPenalty(), source).total_weight
        risk = EmpiricalRisk(predictor, head.loss, self._penalty(total), source)
        attributes = partial(self._attributes, predictor=predictor, dtype=source.dtype)
        steps, shift = min(self.max_iter, self.max_fun), mean_saturated_loss(source, head.loss)
        try:
            with self._watching(steps, attributes, X, y) as watch:
                self.solution_ = minimise(
                    risk,
                    LBFGS(),
                    theta.astype(np.float64),
                    tolerance=self.tol or 0.0,
                    max_steps=steps,
                    watch=watch,
                    reason="all rows in each iteration, requested",
                )
        except KeyboardInterrupt as interrupt:
            if hasattr(interrupt, "solution"):
                self._record_solution(interrupt.solution, source.n_rows, shift)
            raise
        self.__dict__.update(attributes(self.solution_.theta))
        self._record_solution(self.solution_, source.n_rows, shift)
        if self.solution_.outcome is Outcome.DIVERGED and not self.n_iter_:
            raise no_finite_loss(self, source, "at the first weights")
        self._warn_unless_converged()

    def _warn_unless_converged(self) -> None:
        """The limits of "lbfgs" are two, and none is reached too early without a tolerance."""
        limited = self.solution_.outcome is Outcome.STEPS_EXHAUSTED
        if self.solver == "lbfgs" and limited and self.tol is None:
            return
        if self.solver == "lbfgs" and limited and self.max_fun < self.max_iter:
            warn_of_few_evaluations(self)
        else:
            super()._warn_unless_converged()

    def _record_solution(self, solution: Solution, n_rows: int, shift: float) -> None:
        """Set the attributes that describe the iterations of "lbfgs"."""
        self.solution_ = replace(solution, value=solution.value - shift)
        self.n_iter_, self.loss_ = solution.steps, self.solution_.value
        self.t_ = n_rows * self.n_iter_
        self.best_loss_, self.validation_scores_ = self.loss_, None
        self.best_validation_score_ = None
        self.__dict__.pop("loss_curve_", None)

    def _train_in_batches(
        self,
        source: Source,
        head: Head,
        predictor: NetworkPredictor,
        theta: Array,
        random: np.random.Generator,
        X: Any,
        y: Any,
        *,
        resuming: bool,
        going_on: bool,
        further: Term | None,
        kept: Checkpoint | None,
    ) -> None:
        who = type(self).__name__
        rate = LearningRate(
            self.learning_rate if self.solver == "sgd" else "constant",
            float(self.learning_rate_init),
            float(self.power_t),
        )
        found = None if kept is None else kept.load(rate, theta.size)
        if found is not None:
            random.bit_generator.state = found[1]
        start = random.bit_generator.state
        score, rows = None, source
        if self.early_stopping:
            rows, held = validation_rows(self, source, random, head)
            score = partial(self._score_of_rows, held, predictor, head)
        batch = USUAL_BATCH if self.batch_size == "auto" else int(self.batch_size)
        if self.batch_size != "auto" and batch > rows.n_rows:
            warn(
                f"{who}: batch_size={batch} is larger than the number of rows, {rows.n_rows}, so "
                "all rows are one batch.",
                UserWarning,
            )
        batch = min(batch, rows.n_rows)
        plain = EmpiricalRisk(predictor, head.loss, NoPenalty(), rows)
        mean_weight = plain.total_weight / rows.n_rows
        risk = EmpiricalRisk(predictor, head.loss, self._penalty(batch * mean_weight), rows)
        shift = mean_saturated_loss(rows, head.loss)
        training = Training(theta, shift=shift)
        if found is not None:
            training = found[0]
            training.shift_to(shift)
        elif going_on:
            training.rows, training.curve = self.t_, list(getattr(self, "loss_curve_", []))
            training.scores = list(self.validation_scores_ or [])
            if resuming:
                training.memory, training.steps = self._kept_memory(theta)
        descent = BatchDescent(
            self._rule(),
            rate,
            batch,
            max_epochs=1 if resuming else self.max_iter,
            tolerance=None if resuming else self.tol,
            patience=self.n_iter_no_change,
            shuffle=self.shuffle,
            decay=float(self.alpha) if self.solver == "adamw" and self.penalty else 0.0,
            score=score,
            report=print_epoch if self.verbose else None,
            solver=self.solver,
            further=further,
            save=None
            if kept is None
            else lambda state, at_once: kept.save(state, start, at_once=at_once),
        )
        attributes = partial(self._attributes, predictor=predictor, dtype=source.dtype)
        try:
            with self._watching(descent.max_epochs, attributes, X, y) as watch:
                self.solution_ = descent.run(risk, training, random, watch)
        finally:  # after Ctrl-C as well, so that the records belong to the weights
            self.__dict__.update(attributes(training.theta))
            self._record(training)
        if kept is not None and self.solution_.outcome not in TO_BE_CONTINUED:
            kept.end()
        if self.verbose and self.solution_.outcome is Outcome.CONVERGED:
            print_stop(self)
        if self.solution_.outcome is Outcome.DIVERGED:
            warn_of_divergence(self, source)
        elif descent.tolerance is not None:
            self._warn_unless_converged()

    def _record(self, training: Training) -> None:
        """Set the attributes that describe the training."""
        curve, scores = training.curve, training.scores
        self._memory, self._steps = training.memory, training.steps
        self.loss_curve_, self.loss_ = curve, curve[-1] if curve else math.nan
        self.n_iter_, self.t_ = training.epochs, training.rows
        self.validation_scores_ = scores if self.early_stopping else None
        self.best_validation_score_ = max(scores, default=None) if self.early_stopping else None
        self.best_loss_ = None if self.early_stopping else min(curve, default=math.nan)

    def _kept_memory(self, theta: Array) -> tuple[Any, int]:
        """The averages of the gradients so far, if the solver is still the same."""
        kept: Any = getattr(self, "_memory", None)
        expected = self._rule().start(theta)
        several = isinstance(expected, tuple)
        parts = kept if several else (kept,)
        wanted = expected if several else (expected,)
        if type(kept) is not type(expected) or (
            kept is not None and [each.shape for each in parts] != [each.shape for each in wanted]
        ):
            return None, 0
        if type(theta) is np.ndarray and several:
            return tuple(each.astype(theta.dtype) for each in kept), self._steps
        return deepcopy(kept), self._steps  # steps change it, also those of a call that fails

    def _score_of_rows(
        self, rows: InMemory, predictor: NetworkPredictor, head: Head, theta: Array
    ) -> float:
        z = predictor.raw(rows.X, theta)
        return self._held_out_score(head.loss, np.asarray(rows.y), z, rows.weight)

    @abstractmethod
    def _held_out_score(self, loss: Loss, y: Array, z: Array, weight: Array | None) -> float:
        """The score of raw predictions of held-out rows; greater is better."""
