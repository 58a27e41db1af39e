"""Many fits side by side: each on one thread, the results in order, whatever the thread count."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from thetahat.foundation.config import config, settings
from thetahat.foundation.threads import ordered_map

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Failure:
    """A fit that raised, and what it said."""

    error: Exception

    @property
    def reason(self) -> str:
        """Its kind and the first line of its message."""
        return ": ".join([type(self.error).__name__, *str(self.error).splitlines()[:1]])


def side_by_side(
    work: Callable[[Item], Result], items: Iterable[Item]
) -> Iterator[Result | Failure]:
    """Yield ``work(item)`` in order, or the `Failure` of an item whose work raised.

    Work that itself would spread over threads stays on its own, so that none waits for another.
    """
    outer = settings()

    def alone(item: Item) -> Result | Failure:
        # A pool's thread starts with default settings; those of the caller hold here too.
        with config(threads=1, max_time=outer.max_time, memory=outer.memory):
            try:
                return work(item)
            except Exception as error:
                return Failure(error)

    yield from ordered_map(alone, items)
