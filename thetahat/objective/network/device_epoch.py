"""One epoch of steps on arrays of torch. Nothing is copied to the host before its end."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.arrays import like, namespace, to_host
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.base import Subdifferentiable
from thetahat.mathematics.optimizers.steps.step_rules import StepRule
from thetahat.mathematics.optimizers.stochastic.learning_rates import LearningRate
from thetahat.mathematics.penalties.coordinatewise import Coordinatewise
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.network.predictor import NetworkPredictor, Pass


class DeviceEpoch:
    """The rows of a descent on a device, and one epoch of steps over them."""

    def __init__(self, descent: Any, risk: EmpiricalRisk, training: Any) -> None:
        self.descent, self.risk, self.training = descent, risk, training
        predictor, theta = risk.predictor, training.theta
        assert isinstance(predictor, NetworkPredictor)
        assert isinstance(risk.loss, Subdifferentiable)
        assert isinstance(risk.penalty, Coordinatewise)
        self.predictor, self.loss = predictor, risk.loss
        self.n_weights = predictor.chain.n_weights
        terms = risk.penalty.terms((self.n_weights,))
        self.l1, self.l2 = float(terms.l1), float(terms.l2)
        self.run = Pass(predictor, descent.batch_size, theta.dtype)
        self.gradient = 0.0 * theta
        self.source_share = risk.source.n_rows / risk.total_weight
        self.blocks = [
            (block.X, like(np.asarray(to_host(block.targets)), block.X), block.weight)
            for block in risk.source.blocks()
        ]

    def epoch(self, rate: LearningRate, random: np.random.Generator) -> float:
        """Visit every row once; returns the mean loss plus the penalty."""
        training, eta = self.training, float(rate.rates(self.training.rows + 1, 1)[0])
        rule: StepRule = self.descent.rule.set_params(eta=eta)
        xp, weights = namespace(training.theta), training.theta[: self.n_weights]
        slope, total = self.gradient[: self.n_weights], 0.0 * training.theta[:1].sum()
        at_zero, size = 0.0, self.descent.batch_size
        for X, y, weight in self.blocks:
            n = int(X.shape[0])
            if training.at_zero is None:
                at_zero += self._loss_at_zero(y, weight)
            order = None
            if self.descent.shuffle:
                order = like(random.permutation(n), X, dtype=xp.int64)
            for begin in range(0, n, size):
                rows: Any = slice(begin, min(n, begin + size))
                rows = rows if order is None else order[rows]
                own = None if weight is None else weight[rows]
                total += self._gradient(X[rows], y[rows], own, random)
                if self.l2:
                    slope += self.l2 * weights
                if self.l1:
                    slope += self.l1 * xp.sign(weights)
                if self.descent.decay:
                    weights *= 1 - eta * self.descent.decay
                training.steps += 1
                training.memory = rule.step(
                    training.steps, self.gradient, training.theta, training.memory
                )
            training.rows += n
        mass = self.risk.total_weight
        if training.at_zero is None:
            training.at_zero = at_zero / mass
        return float(total) / mass + self._penalty(xp, weights)

    def _gradient(
        self, X: Array, y: Array, weight: Array | None, random: np.random.Generator
    ) -> Array:
        """Leave the mean gradient of a batch in the buffer; returns Σ wℓ, on the device."""
        theta, n = self.training.theta, int(y.shape[0])
        z = self.run.forward(X, theta, random)
        value, slope = self.loss.value_and_gradient(y, z)
        share = 1.0 / n if weight is None else self.source_share / n
        if weight is not None:
            value = value * weight
            slope = slope * (weight if slope.ndim == 1 else weight[:, None])
        self.run.backward(slope * share, theta, self.gradient)
        return value.sum()

    def _loss_at_zero(self, y: Array, weight: Array | None) -> float:
        """Σ wℓ(y, 0)."""
        k = self.predictor.n_outputs
        shape = (int(y.shape[0]), k) if k else (int(y.shape[0]),)
        value = self.loss.value(y, like(np.zeros(shape), y))
        return float(value.sum() if weight is None else (value * weight).sum())

    def _penalty(self, xp: Any, weights: Array) -> float:
        squares, sizes = float((weights * weights).sum()), float(xp.abs(weights).sum())
        return self.l2 * squares / 2 + self.l1 * sizes
