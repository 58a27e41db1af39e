"""The mistake-bound protocol: a teacher presents rows one by one, and mistakes are counted.

In each round the teacher presents x, the learner predicts, the teacher reveals y, and the learner
is updated. A learner of a class has mistake bound M if it makes at most M mistakes on every
sequence that some concept of the class labels.
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
    """Interface of online learners: they predict one row, and are then updated with its label.

    Formula: ŷ_t = f_t(x_t), f_{t+1} = update(f_t, x_t, y_t). Cost: that of the learner, per round.

    Examples
    --------
    >>> import thetahat as th
    >>> learner = th.online.MonotoneDisjunction()
    >>> learner.learn_one([1, 0], True).predict_one([1, 0])
    True
    """

    def predict_one(self, x: Any) -> Any:
        """Predict the label of one row.

        Parameters
        ----------
        x : array-like of shape (d,)
            One row to predict.

        Returns
        -------
        label
            The predicted label.
        """

    def learn_one(self, x: Any, y: Any) -> Any:
        """Update the learner with one row and its label.

        Parameters
        ----------
        x : array-like of shape (d,)
            One row to learn.
        y : label
            The true label of the row.

        Returns
        -------
        self
            The updated learner.
        """


@dataclass(frozen=True)
class Game:
    """Result of `play`: number of rounds, mistakes, and the mistake bound.

    Formula: mistakes ≤ bound on every sequence that the class of the learner labels. Cost:
    O(mistakes).

    Attributes
    ----------
    rounds : int
        Number of rounds that were played.
    mistakes : int
        Number of wrong predictions of the learner.
    mistake_rounds : tuple of int
        Rounds of the wrong predictions, counted from 1.
    bound : float or None
        Mistake bound of the learner, if it has one.
    ended_early : bool
        Whether the teacher had fewer rows than requested.
    inconsistent_round : int or None
        First round after which no concept of the class of the learner agrees with all rows so far,
        according to its attribute ``consistent_``.

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
        """Whether the number of mistakes is within the bound; None without a bound."""
        return None if self.bound is None else self.mistakes <= self.bound

    def __str__(self) -> str:
        text = f"{_counted(self.mistakes, 'mistake')} in {_counted(self.rounds, 'round')}"
        if self.bound is not None:
            text += f" (bound {self.bound:.6g})"
        if self.ended_early:
            text += "; the teacher had no more rows"
        if self.inconsistent_round is not None:
            last = self.inconsistent_round
            text += f"; no concept of the class agrees with the rows up to round {last}"
        return text

    __repr__ = __str__


@dataclass(frozen=True)
class Teacher:
    """Teacher that draws rows at random and labels them by a concept.

    Formula: x_t = draw(random), y_t = concept(x_t). Cost: O(1) memory.

    Parameters
    ----------
    concept : callable
        The true concept, a function that maps a row to its label.
    draw : callable
        Function ``draw(random)`` that returns a random row, given a NumPy generator.
    random_state : int, Generator or None, default=None
        Seed for drawing the rows. Pass an int for the same rows in every iteration.

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
    """Present rows to an online learner one by one, and count its mistakes.

    Formula: mistakes = Σ_t 1[ŷ_t ≠ y_t]. Cost: one prediction and one update per round.

    Parameters
    ----------
    learner : OnlineLearner
        The learner, which is updated in every round.
    teacher : iterable of (x, y)
        Rows with labels: a `Teacher`, a list, or any iterable.
    rounds : int or None, default=None
        Number of rounds to play. None plays until the teacher ends. No further row is taken from
        the teacher.

    Returns
    -------
    Game
        Number of rounds and mistakes, and the mistake bound.

    Examples
    --------
    >>> import thetahat as th
    >>> rows = [([0, 1, 1, 0, 0, 1, 0], False)]
    >>> print(th.online.play(th.online.MonotoneDisjunction(), rows, rounds=3))
    1 mistake in 1 round (bound 7); the teacher had no more rows
    """
    if not (hasattr(learner, "predict_one") and hasattr(learner, "learn_one")):
        raise CapabilityError(
            f"play: the learner needs predict_one and learn_one, which {type(learner).__name__} "
            "does not have. Use a learner of th.online, or progressive_validation for estimators "
            "with partial_fit."
        )
    check_value(rounds, whole(0) | none, "rounds", "play")
    if rounds is None and isinstance(teacher, Teacher):
        raise DataError(
            "play: this teacher never ends. Set rounds to the number of rounds to play."
        )
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


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
