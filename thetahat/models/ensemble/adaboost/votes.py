"""Votes of the learners of AdaBoost: from their errors, or from half the log-odds they predict.

===============  =====================================  ======================================
form             vote α of a learner with error ε        margin gained by row i
===============  =====================================  ======================================
discrete         log((1 − ε)/ε) + log(K − 1)             α·(1[right] − 1/K)
adaptive β       log(1/β), β = ε/(1 − ε)                 α·(1[right] − ½)
fixed β          log(1/β), β = (½ − γ)/(½ + γ)           α·(1[right] − ½)
AdaBoost.R2      log(1/β), β = ε/(1 − ε)                 α·(1 − lossᵢ − ½)
real             1                                       log p(yᵢ) − mean over k of log p(k)
===============  =====================================  ======================================

Only e^{−m} matters, so a constant added to all margins changes no weights: "correct rows w ← βw"
and "wrong rows w ← w·e^α" are the same rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from thetahat.foundation.precision import EPSILON
from thetahat.foundation.types import Array
from thetahat.models.ensemble.adaboost.rounds import Judgement

NO_EDGE = 1e-9
"""A smaller advantage over guessing counts as none."""


@dataclass(frozen=True)
class Votes:
    """Votes from predictions that are right, wrong, or right in part."""

    right: Callable[[Array], Array]
    """Correctness of each prediction, in [0, 1]."""
    chance: float
    """Accuracy of guessing: 1/K for K classes, or ½."""
    learning_rate: float = 1.0
    fixed_vote: float | None = None
    """The same vote in every round."""

    def judge(self, answer: Array, weight: Array) -> Judgement:
        right = self.right(answer)
        error = float((weight * (1.0 - right)).sum() / weight.sum())
        perfect = bool(right.min() >= 1.0)
        useless = not perfect and error >= 1.0 - self.chance - NO_EDGE
        return Judgement(error, self._vote(error), perfect, useless)

    def gain(self, answer: Array, vote: float) -> Array:
        return vote * (self.right(answer) - self.chance)

    def _vote(self, error: float) -> float:
        if self.fixed_vote is not None:
            return self.fixed_vote
        error = min(max(error, EPSILON), 1.0 - EPSILON)
        odds = np.log((1.0 - error) / error)
        if self.chance < 0.5:
            odds += np.log((1.0 - self.chance) / self.chance)
        return float(self.learning_rate * odds)


@dataclass(frozen=True)
class HalfLogOdds:
    """Margins from class probabilities: row i gains log p(yᵢ) − mean log p.

    For two classes this is y·f with f = ½·log(p/(1 − p)).
    """

    codes: Array
    floor: float
    """Lower bound on probabilities, so that one pure leaf cannot dominate all others."""
    learning_rate: float = 1.0

    def judge(self, answer: Array, weight: Array) -> Judgement:
        wrong = answer.argmax(axis=1) != self.codes
        error = float((weight * wrong).sum() / weight.sum())
        sure = answer[np.arange(answer.shape[0]), self.codes] >= 1.0 - self.floor
        undecided = np.ptp(answer, axis=1) <= NO_EDGE
        return Judgement(error, self.learning_rate, bool(sure.all()), bool(undecided.all()))

    def gain(self, answer: Array, vote: float) -> Array:
        scores = centred_logarithms(answer, self.floor)
        return vote * scores[np.arange(scores.shape[0]), self.codes]


def centred_logarithms(probability: Array, floor: float) -> Array:
    """log p − mean over classes of log p, (n, K), with p at least `floor`."""
    logarithm = np.log(np.maximum(probability, floor))
    return logarithm - logarithm.mean(axis=1, keepdims=True)


def scores_of_votes(codes: Array, vote: float, n_classes: int) -> Array:
    """Contribution of a vote for class `codes[i]` to the scores of row i.

    Two classes have one score, +α or −α. More classes have one each: α for the predicted class and
    −α/(K − 1) for every other, so that guessing adds nothing on average.
    """
    if n_classes == 2:
        return vote * (2.0 * codes - 1.0)
    if n_classes == 1:
        return np.zeros((codes.shape[0], 1))
    scores = np.full((codes.shape[0], n_classes), -vote / (n_classes - 1))
    scores[np.arange(codes.shape[0]), codes] = vote
    return scores


def scores_of_odds(probability: Array, vote: float, floor: float) -> Array:
    """Contribution of class probabilities to the scores: (K − 1)·(log p − mean log p).

    Two classes have one score, f = ½·log(p/(1 − p)).
    """
    scores = vote * centred_logarithms(probability, floor)
    n_classes = scores.shape[1]
    return scores[:, 1] if n_classes == 2 else (n_classes - 1) * scores
