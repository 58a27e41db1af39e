"""Run many fits in parallel, with results in order and independent of the number of threads."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sized
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, TypeVar

from thetahat.foundation.config import config, settings
from thetahat.foundation.threads import n_threads, one_blas_thread, ordered_map, thread_pool

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Failure:
    """A fit that raised an error."""

    error: Exception

    @property
    def reason(self) -> str:
        """The type of the error and the first line of its message."""
        return ": ".join([type(self.error).__name__, *str(self.error).splitlines()[:1]])


class Alone(Generic[Item, Result]):
    """Work with its share of the threads, under the caller's settings, scikit-learn's included.

    Threads of a pool start with default settings.
    """

    def __init__(self, work: Callable[[Item], Result], threads: int = 1) -> None:
        from sklearn import get_config

        self._work, outer = work, settings()
        self._settings: dict[str, Any] = {
            "threads": threads,
            "max_time": outer.max_time,
            "memory": outer.memory,
        }
        self._others = get_config()

    def __call__(self, item: Item) -> Result | Failure:
        from sklearn import config_context

        with config(**self._settings), config_context(**self._others):
            try:
                return self._work(item)
            except Exception as error:
                return Failure(error)


def parallel_map(
    work: Callable[[Item], Result], items: Iterable[Item]
) -> Generator[Result | Failure, None, None]:
    """Yield ``work(item)`` in order, or the `Failure` of an item whose work raised.

    Each item has its share of the threads: one of them, or more if there are few items. A share is
    always smaller than the whole, so work that itself runs on several threads cannot deadlock.
    """
    count = len(items) if isinstance(items, Sized) else n_threads()
    share = max(1, n_threads() // max(1, count))
    yield from ordered_map(Alone(work, share), items)


def map_as_available(
    work: Callable[[Item], Result], items: Iterator[Item]
) -> Generator[tuple[Item, Result | Failure], None, None]:
    """Yield items with their results as they are done, one thread per item.

    The next item is requested only when one is done, so the caller can choose it by the results so
    far.
    """
    alone, size = Alone(work), n_threads()
    pool = thread_pool(size) if size > 1 else None
    with one_blas_thread():
        if pool is None:
            yield from ((item, alone(item)) for item in items)
            return
        running: dict[Future[Result | Failure], Item] = {}
        try:
            while True:
                # One extra item is queued, so that no thread has to wait for the caller.
                for item in islice(items, size + 1 - len(running)):
                    running[pool.submit(alone, item)] = item
                if not running:
                    return
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                yield from [(running.pop(each), each.result()) for each in done]
        finally:
            for future in running:
                future.cancel()
