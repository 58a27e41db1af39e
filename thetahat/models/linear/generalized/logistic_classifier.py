"""What the logistic classifiers share: probabilities σ(z) or softmax(z), and one scale for them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from thetahat.estimator.linear_classifier import LinearClassifier
from thetahat.estimator.risk_minimiser import RiskMinimiser
from thetahat.estimator.sparsify import Sparsifies
from thetahat.foundation.randomness import RandomState, generator
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.families import family_of
from thetahat.mathematics.losses.links import log_sum_exp, odds, softmax, softplus
from thetahat.mathematics.optimizers.solution import Outcome
from thetahat.mathematics.penalties.norms import NoPenalty
from thetahat.objective.empirical_risk import EmpiricalRisk

CLOSER, CLOSE = 0.01, 0.1
"""The share of ``tol`` that the solver aims for: with one score its last steps gain two digits
each, with several they gain less."""


class LogisticClassifier(Sparsifies, RiskMinimiser, LinearClassifier):
    """P(y = c | x) under the logit link, its logarithm, and labels drawn from it."""

    _against_separation = "Add a penalty, such as C=1.0"
    tol: float | None

    def predict_proba(self, X: Any) -> Array:
        """P(y = c | x): σ(±z) for two classes, softmax(z) for more. Cost: O(n d C).

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to judge.

        Returns
        -------
        array of shape (n, C), columns in the order of ``classes_``
        """
        z = self._raw(X)
        if z.shape[1] == 1:
            # One exponential gives both probabilities, each to its own last digit.
            up, down = odds(z)
            return np.concatenate([down, up], axis=1) / (up + down)
        return softmax(z)

    def predict_log_proba(self, X: Any) -> Array:
        """log P(y = c | x), exact where the probability itself would be 0. Cost: O(n d C).

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to judge.

        Returns
        -------
        array of shape (n, C), columns in the order of ``classes_``
        """
        z = self._raw(X)
        if z.shape[1] == 1:
            return np.column_stack([-softplus(z[:, 0]), -softplus(-z[:, 0])])
        return z - log_sum_exp(z)[:, None]

    def sample_labels(self, X: Any, random_state: RandomState = None) -> Array:
        """Labels drawn at random, each class with its probability. Cost: O(n d C).

        For two classes: ``classes_[1]`` with probability σ(z), else ``classes_[0]``.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to label.
        random_state : int, Generator or None
            Fixes the draw.

        Returns
        -------
        array of shape (n,), of the type of the labels given to `fit`
        """
        below = np.cumsum(self.predict_proba(X), axis=1)[:, :-1]
        drawn = generator(random_state).random(len(below))
        return self.classes_[(drawn[:, None] >= below).sum(axis=1)]

    def _attributes(self, theta: Array, risk: EmpiricalRisk) -> dict[str, Array]:
        found = {
            name: np.asarray(risk.loss.all_scores(part.T).T, order="C")
            for name, part in super()._attributes(theta, risk).items()
        }
        family = family_of(risk.loss)
        if family is not None and family.symmetric:
            # A constant added to all scores of a row changes nothing: the one without it.
            free = found if isinstance(risk.penalty, NoPenalty) else ("intercept_",)
            return found | {name: found[name] - found[name].mean(axis=0) for name in free}
        return found

    def _aim(self, risk: EmpiricalRisk) -> float:
        """The gap to stop at; none without ``tol``."""
        return (CLOSE if risk.predictor.n_outputs else CLOSER) * (self.tol or 0.0)

    def _warn_unless_converged(self) -> None:
        # Steps ran out between the tolerance asked for and the one aimed for: that is converged.
        solution = self.solution_
        if solution.outcome is Outcome.STEPS_EXHAUSTED:
            if self.tol is None:
                return
            if solution.gap <= self.tol:
                outcome = Outcome.CONVERGED
                self.solution_ = replace(solution, outcome=outcome, message=outcome.value)
        super()._warn_unless_converged()
