"""Many fits side by side: the threads are shared out, the results in order, the bits the same."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sized
from dataclasses import dataclass
from typing import Generic, TypeVar

from thetahat.foundation.config import config, settings
from thetahat.foundation.threads import n_threads, ordered_map

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


class Alone(Generic[Item, Result]):
    """Work on its share of the threads, under the settings of the caller.

    A pool's thread starts with default settings, and another process knows none.
    """

    def __init__(self, work: Callable[[Item], Result], threads: int = 1) -> None:
        self._work, outer = work, settings()
        self._settings = {"threads": threads, "max_time": outer.max_time, "memory": outer.memory}

    def __call__(self, item: Item) -> Result | Failure:
        with config(**self._settings):
            try:
                return self._work(item)
            except Exception as error:
                return Failure(error)


def parallel_map(
    work: Callable[[Item], Result], items: Iterable[Item]
) -> Generator[Result | Failure, None, None]:
    """Yield ``work(item)`` in order, or the `Failure` of an item whose work raised.

    Each piece of work has its share of the threads: one of them, or more where items are few. A
    share is always smaller than the whole, so work that spreads over threads itself waits for none
    that waits for it.
    """
    count = len(items) if isinstance(items, Sized) else n_threads()
    share = max(1, n_threads() // max(1, count))
    yield from ordered_map(Alone(work, share), items)
