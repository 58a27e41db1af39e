"""Run many fits on threads and worker processes; the caller chooses the next one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from thetahat.evaluation.parallel.shared_work import SharedWork
from thetahat.evaluation.parallel.workers import NOT_DONE, workers
from thetahat.foundation.many_fits import Alone, Failure
from thetahat.foundation.threads import n_threads, one_blas_thread, thread_pool

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Done(Generic[Item, Result]):
    """An item, its result, and where it ran."""

    item: Item
    result: Result | Failure
    by_worker: bool = False
    """Whether it ran in a worker process."""
    waited: float = 0.0
    """Seconds that a thread of this process spent waiting while it ran the item."""


def run_as_available(
    work: Callable[[Item], Result], items: Iterator[Item]
) -> Iterator[Done[Item, Result]]:
    """Yield items as they are done; the next item is requested only when one is done.

    The caller can therefore choose the next item by the results so far. On several threads, items
    go to worker processes where there are any (see `workers`).
    """
    alone, size = Alone(work), n_threads()
    pool = thread_pool(size) if size > 1 else None
    if pool is None:
        with one_blas_thread():
            yield from (Done(item, alone(item)) for item in items)
        return
    shared = SharedWork(_WithSettingsOfOthers(alone))

    def anywhere(item: Item) -> Done[Item, Result]:
        found = workers().do(shared, item)
        if found is not NOT_DONE:
            return Done(item, found, by_worker=True)
        begun, worked = time.perf_counter(), time.thread_time()
        result = alone(item)
        seconds, worked = time.perf_counter() - begun, time.thread_time() - worked
        return Done(item, result, waited=max(0.0, seconds - worked))

    running: set[Future[Done[Item, Result]]] = set()
    with one_blas_thread():
        try:
            while True:
                # One extra item is queued, so that no thread has to wait for the caller.
                while len(running) <= size and (item := next(items, NOT_DONE)) is not NOT_DONE:
                    running.add(pool.submit(anywhere, item))  # type: ignore[arg-type]
                if not running:
                    return
                several = len(running) > 1
                done, running = wait(running, return_when=FIRST_COMPLETED)
                found = [each.result() for each in done]
                if several:
                    workers().note_waits(sum(each.waited for each in found), size)
                yield from found
        finally:
            for future in running:
                future.cancel()
            shared.forget()


class _WithSettingsOfOthers(Generic[Item, Result]):
    """Work in another process under the caller's settings of scikit-learn."""

    def __init__(self, work: Callable[[Item], Result]) -> None:
        from sklearn import get_config

        self._work, self._settings = work, get_config()

    def __call__(self, item: Item) -> Any:
        from sklearn import config_context

        with config_context(**self._settings):
            return self._work(item)
