"""The loop of AdaBoost: fit, judge, reweigh.

Each round adds to the margin mᵢ of a row what its learner was worth there, and the next learner is
fitted with the weights

    wᵢ = wᵢ⁰ · e^{−mᵢ},

the pull of the exponential loss Σ wᵢ⁰ e^{−mᵢ} on every row. The margins are kept, not the weights,
so nothing drifts from round to round.
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
"""Between these, weights are rounded as finely as leaves the sum of all of them exact."""


class Judgement(NamedTuple):
    """What a round found of its learner."""

    error: float
    """The share of the weight on which it is wrong."""
    vote: float
    """α, how much it counts."""
    perfect: bool
    useless: bool
    """No better than guessing: its vote would help nobody."""


class Judge(Protocol):
    """Turns a learner's answers on the training rows into a vote, and the vote into margins."""

    def judge(self, answer: Array, weight: Array) -> Judgement: ...

    def gain(self, answer: Array, vote: float) -> Array:
        """What the learner adds to the margin of each row."""
        ...


class Round(NamedTuple):
    """A learner, its answers on the training rows, its judgement, and what it leaves behind."""

    learner: Any
    answer: Array
    judgement: Judgement
    loss: float
    """Σ w⁰·e^{−m} / Σ w⁰ after it."""


@dataclass
class Boosting:
    """Iterating makes rounds; `stopped` says why they came to an end."""

    fit: Callable[[Array], tuple[Any, Array]]
    """weights ↦ a fitted learner and its answers on the training rows."""
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
                    f"round {number}: the learner errs on {judgement.error:.3g} of the weight, "
                    "no better than guessing"
                )
                if number > 1:
                    return
            if judgement.perfect:
                self.stopped = f"round {number}: the learner makes no error, so it decides alone"
            if self.stopped:
                judgement = judgement._replace(vote=1.0 + votes)
            margin += self.judge.gain(answer, judgement.vote)
            votes += judgement.vote
            weight, loss = pull(self.weight, margin)
            yield Round(learner, answer, judgement, loss)
            if self.stopped:
                return
        self.stopped = f"all {self.n_rounds} rounds were made"


def pull(weight: Array, margin: Array) -> tuple[Array, float]:
    """The weights of the next round up to a factor, the largest e^{−m} as 1; and Σ w⁰e^{−m}/Σw⁰.

    Rounded to a grid on which the sum over all rows is exact for whole-numbered w⁰, so that it
    depends neither on the order of the rows nor on whether a row stands there twice.
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
