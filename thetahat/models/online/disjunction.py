"""Disjunctions by elimination: keep every literal that no negative row has contradicted.

Start with all of them, x₁ ∨ … ∨ x_n. A negative row makes every literal that is true in it
impossible. The hypothesis therefore always holds all literals of the truth, never errs on a
positive row, and each mistake (on a negative row) takes away at least one literal: at most n
mistakes. With negations there are 2n literals; the first mistake takes away exactly n of them, so
at most n + 1.
"""

from __future__ import annotations

import numpy as np

from thetahat.foundation.types import Array
from thetahat.models.online.boolean_learner import BooleanLearner


class MonotoneDisjunction(BooleanLearner):
    """Learn which of the variables form the disjunction x_i ∨ x_j ∨ …, with few mistakes.

    Formula: h(x) = ∨_{i ∈ L} x_i with L = all variables at first; on a row labelled false, every
    variable that is true in it leaves L. At most n mistakes with n variables.

    Cost: O(n_variables) per row. Memory: n_variables/8 bytes (and about 90 more) for each different
    positive row that a later negative row could still contradict; few are left once the literals
    have settled.

    Attributes
    ----------
    literals_ : array of bool, shape (n_variables,)
        L.
    mistakes_, n_rounds_ : int
        Wrong answers before learning, and rows seen.
    mistake_bound_ : int
        n.
    consistent_ : bool
        Whether some monotone disjunction (that of no variable included) agrees with every row so
        far: exact, in whatever order the rows came.
    classes_ : array of shape (2,)
        The labels; the second is "true".

    Examples
    --------
    >>> import thetahat as th
    >>> learner = th.online.MonotoneDisjunction()
    >>> learner = learner.learn_one([0, 1, 1, 0, 0, 1, 0], False)
    >>> learner.literals_.astype(int).tolist(), learner.mistakes_
    ([1, 0, 0, 1, 1, 0, 1], 1)
    """

    literals_: Array

    @property
    def mistake_bound_(self) -> int:
        """The most mistakes on any sequence that a monotone disjunction labels."""
        return int(self.n_features_in_)

    def _begin(self, width: int) -> None:
        self.literals_ = np.ones(width, dtype=bool)

    def _score(self, truth: Array) -> Array:
        return np.any(truth & self.literals_, axis=1) - 0.5

    def _update(self, truth: Array, label: bool, answer: bool) -> None:
        if not label:
            self.literals_ = self.literals_ & ~truth


class Disjunction(BooleanLearner):
    """Learn a disjunction of variables and negated variables, with few mistakes.

    Formula: `MonotoneDisjunction` over the 2n literals x₁, …, x_n, ¬x₁, …, ¬x_n. The first mistake
    removes exactly n of them, each further one at least one: at most n + 1 mistakes.

    Cost: O(n_variables) per row. Memory: as `MonotoneDisjunction` of 2·n_variables variables.

    Attributes
    ----------
    literals_ : array of bool, shape (2, n_variables)
        Which variables (first row) and which negated variables (second row) are left.
    mistakes_, n_rounds_, consistent_, classes_
        As in `MonotoneDisjunction`.
    mistake_bound_ : int
        n + 1.

    Examples
    --------
    >>> import thetahat as th
    >>> learner = th.online.Disjunction().learn_one([0, 1], False)
    >>> learner.literals_.astype(int).tolist()
    [[1, 0], [0, 1]]
    """

    literals_: Array

    @property
    def mistake_bound_(self) -> int:
        """The most mistakes on any sequence that a disjunction labels."""
        return int(self.n_features_in_) + 1

    def _begin(self, width: int) -> None:
        self.literals_ = np.ones((2, width), dtype=bool)

    def _score(self, truth: Array) -> Array:
        plain, negated = self.literals_
        return ((truth & plain) | (~truth & negated)).any(axis=1) - 0.5

    def _update(self, truth: Array, label: bool, answer: bool) -> None:
        if not label:
            self.literals_ = self.literals_ & np.stack([~truth, truth])

    def _literals(self, truth: Array) -> Array:
        return np.concatenate([truth, ~truth])
