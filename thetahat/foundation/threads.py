"""One thread pool, and results that do not depend on its size.

BLAS splits a product differently for each thread count, and the sums come out in another order. So
work here is cut into pieces whose number depends on the problem alone; each piece runs on one BLAS
thread, pieces run side by side, and their results come back in order.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from itertools import chain, islice
from threading import Lock
from typing import Any, TypeVar

from thetahat.foundation.config import settings

Item = TypeVar("Item")
Result = TypeVar("Result")


def n_threads() -> int:
    """Threads to use: the setting, else OMP_NUM_THREADS, else the cores this process may use."""
    if settings().threads is not None:
        return int(settings().threads or 1)
    declared = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    if declared.isdigit() and int(declared) > 0:
        return int(declared)
    return usable_cores()


@cache
def usable_cores() -> int:
    """Cores this process may use, container limits included."""
    import joblib

    return int(joblib.cpu_count())


@cache
def _blas() -> list[Any]:
    """Every BLAS that is loaded; SciPy brings its own beside NumPy's."""
    import numpy  # noqa: F401
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


class _OneBlasThread:
    """Sets every BLAS to one thread while anyone is inside; the last to leave restores them.

    The setting is the process's, so it is counted: nested uses, and uses from several threads,
    neither restore too early nor pay for the change twice.
    """

    def __init__(self) -> None:
        self._lock, self._inside, self._before = Lock(), 0, list[int]()

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._before = [library.get_num_threads() for library in _blas()]
                for library in _blas():
                    library.set_num_threads(1)

    def __exit__(self, *failure: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                for library, threads in zip(_blas(), self._before, strict=True):
                    library.set_num_threads(threads)


_one_blas_thread = _OneBlasThread()


def one_blas_thread() -> AbstractContextManager[None]:
    """Inside, every matrix product runs on one thread, so its bits are the same everywhere."""
    return _one_blas_thread


@cache
def _pool(size: int, process: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=size, thread_name_prefix="thetahat")


def blocks_in_flight() -> int:
    """Items of an `ordered_map` that may be in work or waiting at once, the next included."""
    return 2 * n_threads() + 1


def ordered_map(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yield ``work(item)`` in the order of `items`, computed side by side on one BLAS thread each.

    At most twice as many results as threads are alive at once, so memory stays bounded however
    many items there are. ``work`` must not call `ordered_map`.
    """
    size = n_threads()
    remaining = iter(items)
    # A single piece runs here: no pool is worth waking for it.
    head = list(islice(remaining, 2))
    items = chain(head, remaining)
    with one_blas_thread():
        if size == 1 or len(head) < 2:
            yield from map(work, items)
            return
        pool = _pool(size, os.getpid())
        waiting: deque[Future[Result]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) >= 2 * size:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
