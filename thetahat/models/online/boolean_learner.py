"""Parts shared by online learners of Boolean rows."""

from __future__ import annotations

from abc import abstractmethod

from thetahat.foundation.types import Array
from thetahat.models.online.agreement import Agreement
from thetahat.models.online.online_classifier import OnlineClassifier


class BooleanLearner(OnlineClassifier):
    """An online classifier of Boolean rows.

    ``fit`` passes over the rows once, in order; `partial_fit` continues with more rows. An entry is
    true if it is larger than ½. ``mistakes_`` counts the rows that were predicted wrongly before
    the update; ``consistent_`` states whether some hypothesis of the class agrees with all rows.
    """

    n_rounds_: int
    mistakes_: int
    consistent_: bool

    _agreement: Agreement | None = None
    """None before the first row, and in models saved by earlier versions."""

    @property
    @abstractmethod
    def mistake_bound_(self) -> float | None:
        """Maximum number of mistakes on any sequence that a hypothesis of the class labels."""

    @abstractmethod
    def _begin(self, width: int) -> None:
        """Set the state before the first row with this many entries."""

    @abstractmethod
    def _update(self, truth: Array, label: bool, answer: bool) -> None:
        """Update with one row."""

    def _literals(self, truth: Array) -> Array:
        """Literals of the class that are true in a row; here, the variables themselves."""
        return truth

    def _coded(self, rows: Array) -> Array:
        return rows > 0.5

    def _start(self, width: int) -> None:
        self.n_rounds_, self.mistakes_, self.consistent_ = 0, 0, True
        self._agreement = None
        self._begin(width)

    def _learn(self, coded: Array, positive: Array) -> None:
        for truth, label in zip(coded, positive, strict=True):
            answer = bool(self._score(truth[None, :])[0] > 0)
            self.n_rounds_ += 1
            self.mistakes_ += answer != bool(label)
            self._update(truth, bool(label), answer)
            self._check(self._literals(truth), bool(label))

    def _check(self, literals: Array, label: bool) -> None:
        """Update ``consistent_``; once no hypothesis agrees with all rows, it stays False."""
        if self._agreement is None:
            self._agreement = Agreement.of_no_rows(literals.size)
        self._agreement.learn(literals, label)
        bound = self.mistake_bound_
        too_many = bound is not None and self.mistakes_ > bound
        self.consistent_ = self.consistent_ and self._agreement.exists and not too_many
