"""Learning disjunctions by elimination: keep every literal that no negative row contradicts.

The hypothesis starts with all literals, x₁ ∨ … ∨ x_n. A negative row excludes every literal that is
true in it. The hypothesis therefore always contains all literals of the true concept and never errs
on a positive row, and each mistake (on a negative row) removes at least one literal: at most n
mistakes. With negations there are 2n literals; the first mistake removes exactly n of them, so
there are at most n + 1 mistakes.
"""

from __future__ import annotations

import numpy as np

from thetahat.estimator.declaration import with_parameters
from thetahat.foundation.types import Array
from thetahat.models.online.boolean_learner import BooleanLearner


@with_parameters
class MonotoneDisjunction(BooleanLearner):
    """Online learner of monotone disjunctions, x_i ∨ x_j ∨ …, with a mistake bound.

    Formula: h(x) = ∨_{i ∈ L} x_i, where L contains all variables at first; for a row labelled
    false, every variable that is true in it is removed from L. At most n mistakes for n variables.

    Cost: O(n_variables) per row. Memory: n_variables/8 bytes (and about 90 more) for each different
    positive row that a later negative row can still contradict; few remain once the literals are
    settled.

    Attributes
    ----------
    literals_ : array of bool, shape (n_variables,)
        Variables in the current hypothesis (L).
    mistake_bound_ : int
        Maximum number of mistakes, the number of variables (n).
    consistent_ : bool
        Whether some monotone disjunction (including the empty one) agrees with every row so far.
        This is exact, in any order of the rows.

    Examples
    --------
    >>> import thetahat as th
    >>> learner = th.online.MonotoneDisjunction()
    >>> learner = learner.learn_one([0, 1, 1, 0, 0, 1, 0], False)
    >>> learner.literals_.astype(int).tolist(), learner.mistakes_
    ([1, 0, 0, 1, 1, 0, 1], 1)
    """

    @property
    def mistake_bound_(self) -> int:
        """Maximum number of mistakes on any sequence that a monotone disjunction labels."""
        return int(self.n_features_in_)

    def _begin(self, width: int) -> None:
        self.literals_: Array = np.ones(width, dtype=bool)

    def _score(self, truth: Array) -> Array:
        return np.any(truth & self.literals_, axis=1) - 0.5

    def _update(self, truth: Array, label: bool, answer: bool) -> None:
        if not label:
            self.literals_ = self.literals_ & ~truth


@with_parameters
class Disjunction(BooleanLearner):
    """Online learner of disjunctions of variables and negated variables, with a mistake bound.

    Formula: `MonotoneDisjunction` over the 2n literals x₁, …, x_n, ¬x₁, …, ¬x_n. The first mistake
    removes exactly n of them, and each further mistake at least one, so that there are at most n +
    1 mistakes.

    Cost: O(n_variables) per row. Memory: as `MonotoneDisjunction` of 2·n_variables variables.

    Attributes
    ----------
    literals_ : array of bool, shape (2, n_variables)
        Variables (first row) and negated variables (second row) in the current hypothesis.
    mistake_bound_ : int
        Maximum number of mistakes (n + 1).
    consistent_ : bool
        Whether some disjunction agrees with every row so far. This is exact, in any order of the
        rows.

    Examples
    --------
    >>> import thetahat as th
    >>> learner = th.online.Disjunction().learn_one([0, 1], False)
    >>> learner.literals_.astype(int).tolist()
    [[1, 0], [0, 1]]
    """

    @property
    def mistake_bound_(self) -> int:
        """Maximum number of mistakes on any sequence that a disjunction labels."""
        return int(self.n_features_in_) + 1

    def _begin(self, width: int) -> None:
        self.literals_: Array = np.ones((2, width), dtype=bool)

    def _score(self, truth: Array) -> Array:
        plain, negated = self.literals_
        return ((truth & plain) | (~truth & negated)).any(axis=1) - 0.5

    def _update(self, truth: Array, label: bool, answer: bool) -> None:
        if not label:
            self.literals_ = self.literals_ & np.stack([~truth, truth])

    def _literals(self, truth: Array) -> Array:
        return np.concatenate([truth, ~truth])
