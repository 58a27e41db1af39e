"""The mistake-bounded protocol: a teacher shows rows one by one, a learner answers, errors count.

In each round the teacher gives x, the learner predicts, the teacher tells y, the learner updates. A
learner of a class has mistake bound M when it makes at most M mistakes on every sequence that some
concept of the class labels, however long and however nasty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

import numpy as np

from thetahat.estimator.parameters import check_value, none, whole
from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.foundation.types import Array


class OnlineLearner(Protocol):
    """What plays the game: it answers one row, and is told the truth about it.

    Formula: ŷ_t = f_t(x_t), f_{t+1} = update(f_t, x_t, y_t). Cost: that of the learner, per round.

    Examples
    --------
    >>> import thetahat as th
    >>> learner = th.online.MonotoneDisjunction()
    >>> learner.learn_one([1, 0], True).predict_one([1, 0])
    True
    """

    def predict_one(self, x: Any) -> Any:
        """The answer for one row."""

    def learn_one(self, x: Any, y: Any) -> Any:
        """Take note of the truth; gives the learner back."""


@dataclass(frozen=True)
class Game:
    """What happened: rounds, mistakes and when they were made, and the bound.

    Formula: mistakes ≤ bound on every sequence that the learner's class labels. Cost: O(mistakes).

    Attributes
    ----------
    rounds : int
        Rounds played.
    mistakes : int
        Wrong answers.
    mistake_rounds : tuple of int
        When they were given, from 1.
    bound : float or None
        The learner's mistake bound for this teacher, where it has one.
    ended_early : bool
        Whether the teacher had fewer rows than were asked for.
    inconsistent_round : int or None
        The first round after which no concept of the learner's class agrees with all rows so far,
        as ``consistent_`` of the learner tells.

    Examples
    --------
    >>> import thetahat as th
    >>> rows = [([0, 1, 1, 0, 0, 1, 0], False), ([1, 0, 0, 0, 0, 0, 0], True)]
    >>> game = th.online.play(th.online.MonotoneDisjunction(), rows)
    >>> game.mistakes, game.bound
    (1, 7)
    """

    rounds: int
    mistakes: int
    mistake_rounds: tuple[int, ...]
    bound: float | None = None
    ended_early: bool = False
    inconsistent_round: int | None = None

    @property
    def bound_holds(self) -> bool | None:
        """Whether the mistakes keep the bound; None where there is none."""
        return None if self.bound is None else self.mistakes <= self.bound

    def __str__(self) -> str:
        text = f"{self.mistakes} mistakes in {self.rounds} rounds"
        if self.bound is not None:
            text += f" (bound {self.bound:.6g})"
        if self.ended_early:
            text += "; the teacher ran out of rows"
        if self.inconsistent_round is not None:
            text += f"; round {self.inconsistent_round} contradicts every concept of the class"
        return text

    __repr__ = __str__


@dataclass(frozen=True)
class Teacher:
    """Rows drawn at random and labelled by a concept.

    Formula: x_t = draw(random), y_t = concept(x_t). Cost: O(1) memory.

    Parameters
    ----------
    concept : callable
        The truth: a row to its label.
    draw : callable
        ``draw(random)`` gives a row.
    random_state : int, Generator or None
        The draws.

    Examples
    --------
    >>> import thetahat as th
    >>> teacher = th.online.Teacher(lambda x: x[0] or x[2], lambda r: r.integers(0, 2, 4), 0)
    >>> th.online.play(th.online.MonotoneDisjunction(), teacher, rounds=100).bound_holds
    True
    """

    concept: Callable[[Array], Any]
    draw: Callable[[np.random.Generator], Array]
    random_state: Any = None

    def __iter__(self) -> Iterator[tuple[Array, Any]]:
        from thetahat.foundation.randomness import generator

        random = generator(self.random_state)
        while True:
            x = self.draw(random)
            yield x, self.concept(x)


def play(
    learner: OnlineLearner, teacher: Iterable[tuple[Any, Any]], rounds: int | None = None
) -> Game:
    """Let a learner answer a teacher's rows one by one, and count its mistakes.

    Formula: mistakes = Σ_t 1[ŷ_t ≠ y_t]. Cost: one answer and one update per round.

    Parameters
    ----------
    learner : OnlineLearner
        It learns as it plays.
    teacher : iterable of (x, y)
        A `Teacher`, a list, any stream.
    rounds : int, optional
        How many to play; None: until the teacher ends. No further row is taken from the teacher.

    Returns
    -------
    Game

    Examples
    --------
    >>> import thetahat as th
    >>> rows = [([0, 1, 1, 0, 0, 1, 0], False)]
    >>> print(th.online.play(th.online.MonotoneDisjunction(), rows, rounds=3))
    1 mistakes in 1 rounds (bound 7); the teacher ran out of rows
    """
    if not (hasattr(learner, "predict_one") and hasattr(learner, "learn_one")):
        raise CapabilityError(
            f"play: {type(learner).__name__} has no predict_one and learn_one, so it cannot play. "
            "Use a learner of th.online, or progressive_validation for one with partial_fit."
        )
    check_value(rounds, whole(0) | none, "rounds", "play")
    if rounds is None and isinstance(teacher, Teacher):
        raise DataError("play: this teacher never ends. Say how many rounds to play.")
    wrong, played, contradiction = [], 0, None
    for x, y in islice(teacher, rounds):
        played += 1
        if learner.predict_one(x) != y:
            wrong.append(played)
        learner.learn_one(x, y)
        if contradiction is None and not getattr(learner, "consistent_", True):
            contradiction = played
    return Game(
        played,
        len(wrong),
        tuple(wrong),
        getattr(learner, "mistake_bound_", None),
        rounds is not None and played < rounds,
        contradiction,
    )
