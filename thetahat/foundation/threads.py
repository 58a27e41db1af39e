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
def _blas() -> Any:
    """A controller of every BLAS loaded; SciPy brings its own beside NumPy's."""
    import numpy  # noqa: F401
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """Inside, every matrix product runs on one thread, so its bits are the same everywhere."""
    limiter: AbstractContextManager[Any] = _blas().limit(limits=1, user_api="blas")
    return limiter


@cache
def _pool(size: int, process: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=size, thread_name_prefix="thetahat")


def ordered_map(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yield ``work(item)`` in the order of `items`, computed side by side on one BLAS thread each.

    At most twice as many results as threads are alive at once, so memory stays bounded however
    many items there are. ``work`` must not call `ordered_map`.
    """
    size = n_threads()
    with one_blas_thread():
        if size == 1:
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
