"""The trees of a forest as estimators, created on access."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

from thetahat.models.tree.growth.grown_forest import GrownForest


class ForestMembers(Sequence[Any]):
    """Behaves like a list of fitted trees; each access creates one, and nothing is kept."""

    def __init__(self, forest: GrownForest, make: Callable[[int], Any]) -> None:
        self._forest, self._make = forest, make

    def __len__(self) -> int:
        return len(self._forest)

    @overload
    def __getitem__(self, place: int) -> Any: ...
    @overload
    def __getitem__(self, place: slice) -> list[Any]: ...
    def __getitem__(self, place: int | slice) -> Any:
        numbers = range(len(self))[place]
        if isinstance(numbers, range):
            return [self._make(number) for number in numbers]
        return self._make(numbers)

    def __repr__(self) -> str:
        return f"<{len(self)} trees, created on access>"
