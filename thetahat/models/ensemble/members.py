"""Ensembles as sequences of their members, as in scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class MemberSequence:
    """``len``, indexing and iteration refer to ``estimators_``."""

    estimators_: Any

    def __len__(self) -> int:
        return len(self.estimators_)

    def __getitem__(self, index: Any) -> Any:
        return self.estimators_[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)
