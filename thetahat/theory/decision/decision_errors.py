"""The exact errors of a decision rule: the probability of each pair of truth and decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.arguments import numbers
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array


@dataclass(frozen=True, eq=False)
class DecisionErrors:
    """The probability of each true class with each decision of a rule; prints as a table.

    Formula: P(k, j) = ∫_{f(x) = j} π_k p(x | k) dx; error Σ_{k ≠ j} P(k, j) over the decisions j
    that are not rejections. With two classes, TP = P(1, 1), FP = P(0, 1), TN = P(0, 0) and
    FN = P(1, 0). Cost: O(C²) memory.

    Attributes
    ----------
    classes : array of shape (C,)
        The labels of the classes. With two classes, the second is the positive one.
    decisions : tuple
        The labels of the decisions: those of the classes, then others that the rule returns, which
        count as rejections.
    probabilities : array of shape (C, n_decisions)
        The probability of each pair, one row per true class and one column per decision.
    error_bound : float
        Estimate of the numerical error of each number.
    error : float
        The probability of a wrong decision.
    rejected : float
        The probability of a rejection.

    Examples
    --------
    >>> import thetahat as th
    >>> problem = th.theory.DecisionProblem(
    ...     [0.5, 0.5], [lambda x: 2 - 2 * x, lambda x: 2 * x], bounds=(0, 1))
    >>> found = problem.errors()
    >>> print(found)
    true \\ decided         0         1
    0                  0.375     0.125
    1                  0.125     0.375
    error 0.25
    >>> round(found.false_positive, 6)
    0.125
    """

    classes: Array
    decisions: tuple[Any, ...]
    probabilities: Array
    error_bound: float

    @property
    def error(self) -> float:
        """The probability of a wrong decision."""
        decided = self.probabilities[:, : self.classes.size]
        return float(decided.sum() - np.trace(decided))

    @property
    def rejected(self) -> float:
        """The probability of a rejection."""
        return float(self.probabilities[:, self.classes.size :].sum())

    @property
    def true_positive(self) -> float:
        """P(second class, decided so); needs two classes."""
        return self._of_two(1, 1)

    @property
    def false_positive(self) -> float:
        """P(first class, second decided); needs two classes."""
        return self._of_two(0, 1)

    @property
    def true_negative(self) -> float:
        """P(first class, decided so); needs two classes."""
        return self._of_two(0, 0)

    @property
    def false_negative(self) -> float:
        """P(second class, first decided); needs two classes."""
        return self._of_two(1, 0)

    def expected_cost(self, costs: Any, reject_cost: float = 0.0) -> float:
        """Compute the expected cost of the rule. Cost: O(C²).

        Parameters
        ----------
        costs : array-like of shape (C, C)
            ``costs[k, j]`` is the cost of deciding for class j if class k is true.
        reject_cost : float, default=0.0
            The cost of a rejection, whatever class is true.

        Returns
        -------
        float
        """
        given = numbers(costs, "costs", "expected_cost")
        size = self.classes.size
        if given.shape != (size, size):
            raise ParameterError(
                f"expected_cost: costs has shape {given.shape}, but it must be ({size}, {size}): "
                "one row for each true class and one column for each decision."
            )
        decided = float((self.probabilities[:, :size] * given).sum())
        return decided + float(numbers(reject_cost, "reject_cost", "expected_cost")) * self.rejected

    def __str__(self) -> str:
        columns = [str(label) for label in self.decisions]
        names = [str(label) for label in self.classes.tolist()]
        width = max(9, *(len(name) for name in columns))
        head = "true \\ decided"
        first = max(len(head), *(len(name) for name in names))
        lines = [f"{head:<{first}} " + " ".join(f"{name:>{width}}" for name in columns)]
        for name, row in zip(names, self.probabilities, strict=True):
            lines.append(f"{name:<{first}} " + " ".join(f"{p:>{width}.4g}" for p in row))
        tail = f", rejected {self.rejected:.6g}" if len(columns) > len(names) else ""
        return "\n".join([*lines, f"error {self.error:.6g}{tail}"])

    __repr__ = __str__

    def _of_two(self, truth: int, decided: int) -> float:
        if self.classes.size != 2:
            raise ParameterError(
                f"There are {self.classes.size} classes; true and false positives need two. Read "
                "the pairs from `probabilities`."
            )
        return float(self.probabilities[truth, decided])
