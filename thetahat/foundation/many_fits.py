"""Run many fits in parallel, with results in order and independent of the number of threads.

Within ``joblib.parallel_config(backend="dask")`` the fits run on the workers of the Dask cluster,
otherwise on the threads of this process. The results are the same.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sized
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, TypeVar

from thetahat.foundation.config import config, settings
from thetahat.foundation.threads import (
    PooledWork,
    n_threads,
    one_blas_thread,
    ordered_map,
    thread_pool,
)

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
    client = cluster_client()
    if client is not None:
        yield from _map_on_cluster(client, Alone(work), items)
        return
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
    alone, size, client = Alone(work), n_threads(), cluster_client()
    submit: Callable[[Item], Future[Result | Failure]] | None = None
    pooled: PooledWork[Item, Result | Failure] | None = None
    if client is not None:
        submit, size = _submitter(client, alone)
    elif size > 1 and (pool := thread_pool(size)) is not None:
        pooled = PooledWork(alone, pool)
        submit = pooled.submit
    with one_blas_thread():
        if submit is None:
            yield from ((item, alone(item)) for item in items)
            return
        running: dict[Future[Result | Failure], Item] = {}
        try:
            while True:
                # One extra item is queued, so that no thread has to wait for the caller.
                for item in islice(items, size + 1 - len(running)):
                    running[submit(item)] = item
                if not running:
                    return
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                yield from [(running.pop(each), each.result()) for each in done]
        except KeyboardInterrupt:
            if pooled is not None:
                pooled.stop()
            raise
        finally:
            for future in running:
                future.cancel()


def cluster_client() -> Any:
    """The client of the Dask cluster that the caller has chosen with joblib; None without one."""
    parallel = sys.modules.get("joblib.parallel")
    if parallel is None:
        return None
    backend, _ = parallel.get_active_backend()
    return backend.client if type(backend).__name__ == "DaskDistributedBackend" else None


def _map_on_cluster(
    client: Any, alone: Alone[Item, Result], items: Iterable[Item]
) -> Iterator[Result | Failure]:
    submit, size = _submitter(client, alone)
    waiting: deque[Future[Result | Failure]] = deque()
    try:
        for item in items:
            waiting.append(submit(item))
            if len(waiting) > 2 * size:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def _submitter(
    client: Any, alone: Alone[Item, Result]
) -> tuple[Callable[[Item], Future[Result | Failure]], int]:
    """The function that starts the work for an item, and the number of items at a time.

    The work and its data are sent to each worker once. They are the result of a task, so that the
    scheduler sends them again if a worker is lost.
    """
    import cloudpickle

    held = client.submit(bytes, cloudpickle.dumps(alone), pure=False)
    start = client.get_executor(pure=False).submit
    size = max(1, sum(client.nthreads().values()))
    return lambda item: start(_on_worker, held, item), size


def _on_worker(alone: bytes, item: Any) -> Any:
    import cloudpickle

    return cloudpickle.loads(alone)(item)
