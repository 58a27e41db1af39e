"""The loop of AdaBoost: fit a learner, compute its vote, reweight the rows.

Each iteration increases the margin mᵢ of a row by the contribution of its learner, and the next
learner is fitted with the weights

    wᵢ = wᵢ⁰ · e^{−mᵢ},

the negative gradient of the exponential loss Σ wᵢ⁰ e^{−mᵢ}. The margins are stored, not the
weights, so rounding errors do not accumulate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil, log2
from typing import Any, NamedTuple, Protocol

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.losses import Exponential

FEWEST_BITS, MOST_BITS = 20, 45
"""Bits to which weights are rounded: between these, as many as keep their sum exact."""


class Judgement(NamedTuple):
    """Error and vote of the learner of an iteration."""

    error: float
    """Fraction of the weight that is misclassified."""
    vote: float
    """Weight of the learner (α)."""
    perfect: bool
    useless: bool
    """Whether the learner is no better than guessing."""


class Judge(Protocol):
    """Computes the vote of a learner from its predictions, and the margins from the vote."""

    def judge(self, answer: Array, weight: Array) -> Judgement: ...

    def gain(self, answer: Array, vote: float) -> Array:
        """Contribution of the learner to the margin of each row."""
        ...


class Round(NamedTuple):
    """A learner, its predictions for the training rows, its judgement, and the loss after it."""

    learner: Any
    answer: Array
    judgement: Judgement
    loss: float
    """Σ w⁰·e^{−m} / Σ w⁰ after the iteration."""


@dataclass
class Boosting:
    """Iterating makes the boosting iterations; `stopped` is the reason why they ended."""

    fit: Callable[[Array], tuple[Any, Array]]
    """Maps row weights to a fitted learner and its predictions for the training rows."""
    judge: Judge
    weight: Array
    n_rounds: int
    stopped: str = ""

    def __iter__(self) -> Iterator[Round]:
        margin, votes, weight = np.zeros(self.weight.shape[0]), 0.0, self.weight
        for number in range(1, self.n_rounds + 1):
            learner, answer = self.fit(weight)
            judgement = self.judge.judge(answer, weight)
            if judgement.useless:
                self.stopped = (
                    f"iteration {number}: the weighted error of the learner is "
                    f"{judgement.error:.3g}, no better than guessing"
                )
                if number > 1:
                    return
            if judgement.perfect:
                self.stopped = (
                    f"iteration {number}: the learner makes no error, and its vote outweighs all "
                    "others"
                )
            if self.stopped:
                judgement = judgement._replace(vote=1.0 + votes)
            margin += self.judge.gain(answer, judgement.vote)
            votes += judgement.vote
            weight, loss = pull(self.weight, margin)
            yield Round(learner, answer, judgement, loss)
            if self.stopped:
                return
        self.stopped = f"n_estimators={self.n_rounds} iterations were made"


def pull(weight: Array, margin: Array) -> tuple[Array, float]:
    """Weights of the next iteration, scaled so that the largest e^{−m} is 1; and Σ w⁰e^{−m}/Σw⁰.

    They are rounded to a grid on which their sum is exact for integer w⁰, so that it does not
    depend on the order of the rows or on repeated rows.
    """
    least, total = float(margin.min()), float(weight.sum())
    factor = Exponential().value(np.ones(()), margin - least)
    with np.errstate(over="ignore"):
        loss = float((weight * factor).sum() / total * np.exp(-least))
    size = max(total, float(weight.shape[0]))
    grid = 2.0 ** min(MOST_BITS, max(FEWEST_BITS, 52 - ceil(log2(size))))
    factor *= grid
    np.rint(factor, out=factor)
    factor *= 1.0 / grid
    factor *= weight
    return factor, loss
