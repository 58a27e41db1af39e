"""Whether some disjunction agrees with every row so far, computed exactly and row by row.

A negative row excludes its true literals from the remaining disjunctions; a positive row requires
at least one of its true literals. So a disjunction agrees with all rows if and only if every
positive row still has a true literal that no negative row has excluded. For this, the positive rows
are stored, restricted to the remaining literals. A row with one remaining literal makes that
literal certain, and rows with a certain literal need not be stored.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from thetahat.foundation.types import Array


@dataclass
class Agreement:
    """The disjunctions that agree with the rows so far; literals are bits, eight per byte.

    Cost: O(literals) per row, and a pass over the stored rows whenever a literal is excluded or
    becomes certain, which happens at most twice per literal. Memory: literals/8 bytes, and about 90
    bytes of overhead, for each different positive row without a certain literal.
    """

    possible: Array
    """The literals that are true in no negative row."""
    certain: Array
    """The literals that every remaining disjunction contains."""
    undecided: set[bytes] = field(default_factory=set)
    """Positive rows without a certain literal, restricted to the possible literals."""
    exists: bool = True

    @classmethod
    def of_no_rows(cls, literals: int) -> Agreement:
        """The state before the first row: every disjunction of this many literals is possible."""
        possible = np.packbits(np.ones(literals, dtype=bool))
        return cls(possible, np.zeros_like(possible))

    def learn(self, true: Array, label: bool) -> None:
        """Update with a row: which literals are true in it, and its label."""
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
        """Restrict the stored rows to the possible literals, and drop those with a certain one."""
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
