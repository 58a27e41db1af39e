"""Whether some disjunction agrees with every row so far, known exactly and row by row.

A negative row takes its true literals out of the disjunctions that are left; a positive row asks
for one of its own. So a disjunction agrees with all rows exactly when every positive row still has
a true literal that no negative row has taken. What has to be kept for that are the positive rows,
each cut to the literals left. A row with one literal left makes that one certain, and rows that
hold a certain literal need not be kept: they fail only together with it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from thetahat.foundation.types import Array


@dataclass
class Agreement:
    """The disjunctions that agree with the rows so far; literals are bits, eight to a byte.

    Cost: O(literals) per row, and a pass over the rows kept whenever a literal is lost or becomes
    certain, which happens at most twice per literal. Memory: literals/8 bytes, and about 90 of the
    set's own, for each different positive row that holds no certain literal.
    """

    possible: Array
    """The literals that are true in no negative row."""
    certain: Array
    """Those that every disjunction left has."""
    undecided: set[bytes] = field(default_factory=set)
    """Positive rows, cut to the possible literals, without a certain one."""
    exists: bool = True

    @classmethod
    def of_no_rows(cls, literals: int) -> Agreement:
        """Every disjunction of this many literals is left, that of none among them."""
        possible = np.packbits(np.ones(literals, dtype=bool))
        return cls(possible, np.zeros_like(possible))

    def learn(self, true: Array, label: bool) -> None:
        """Take note of a row: which literals are true in it, and its label."""
        if not self.exists:
            return
        true = np.packbits(true)
        left = true & self.possible
        if label:
            if not (left & self.certain).any():
                self._keep(left)
        elif left.any():
            self.possible = self.possible & ~true
            self._settle(bool((true & self.certain).any()))

    def _keep(self, left: Array) -> None:
        self.undecided.add(left.tobytes())
        if np.bitwise_count(left).sum() < 2:
            self._settle(False)

    def _settle(self, contradicted: bool) -> None:
        """Cut the rows kept to the literals left, and drop those that are certain by now."""
        rows = np.frombuffer(b"".join(self.undecided), dtype=np.uint8)
        rows = rows.reshape(-1, self.possible.size) & self.possible
        literals = np.bitwise_count(rows).sum(axis=1)
        self.exists = not contradicted and bool((literals > 0).all())
        if not self.exists:
            self.undecided = set()
            return
        self.certain = self.certain | np.bitwise_or.reduce(rows[literals == 1], axis=0)
        rows = rows[~(rows & self.certain).any(axis=1)]
        self.undecided = set(map(np.ndarray.tobytes, rows))
