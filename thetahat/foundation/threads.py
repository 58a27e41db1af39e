"""One thread pool, and results that do not depend on its size.

BLAS splits a product differently for each thread count, and the sums come out in another order. So
work here is cut into pieces whose number depends on the problem alone; each piece runs on one BLAS
thread, pieces run side by side, and their results come back in order.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from itertools import chain, islice
from math import inf
from threading import Lock
from typing import Any, TypeVar

from thetahat.foundation.config import settings
from thetahat.foundation.cores import usable_cores

WORTH_SHARING = 5e6
"""Products below which waking another thread costs more than it saves."""

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
def _blas(with_scipy: bool) -> dict[str, Any]:
    """Every BLAS that is loaded, by its file; SciPy brings its own beside NumPy's."""
    import numpy  # noqa: F401
    from threadpoolctl import ThreadpoolController

    found = ThreadpoolController().select(user_api="blas").lib_controllers
    return {library.filepath: library for library in found}


class _OneBlasThread:
    """Sets every BLAS to one thread while anyone is inside; the last to leave restores them.

    The setting is the process's, so it is counted: nested uses, and uses from several threads,
    neither restore too early nor pay for the change twice.
    """

    def __init__(self) -> None:
        self._lock, self._inside, self._before = Lock(), 0, dict[str, int]()
        self._with_scipy = False

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._scipy_is_new() or self._inside == 1:
                self._limit()

    def heed_scipy(self) -> None:
        """Limit SciPy's BLAS as well, once it is loaded."""
        with self._lock:
            if self._scipy_is_new() and self._inside:
                self._limit()

    def _scipy_is_new(self) -> bool:
        """Whether SciPy's BLAS has been loaded since somebody asked."""
        before, self._with_scipy = self._with_scipy, "scipy.linalg" in sys.modules
        return self._with_scipy and not before

    def _limit(self) -> None:
        for file, library in _blas(self._with_scipy).items():
            if file not in self._before:
                self._before[file] = library.get_num_threads()
                library.set_num_threads(1)

    def __exit__(self, *failure: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                libraries = _blas(self._with_scipy)
                for file, threads in self._before.items():
                    libraries[file].set_num_threads(threads)
                self._before = {}


_one_blas_thread = _OneBlasThread()


def one_blas_thread() -> AbstractContextManager[None]:
    """Inside, every matrix product runs on one thread, so its bits are the same everywhere."""
    return _one_blas_thread


def scipy_linalg() -> Any:
    """``scipy.linalg``, loaded by those who need it, its BLAS on one thread where others are."""
    import scipy.linalg

    _one_blas_thread.heed_scipy()
    return scipy.linalg


@cache
def _pool(size: int, process: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=size, thread_name_prefix="thetahat")


def thread_pool(size: int) -> ThreadPoolExecutor:
    """The pool of so many threads in this process."""
    return _pool(size, os.getpid())


def blocks_in_flight() -> int:
    """Items of an `ordered_map` that may be in work or waiting at once, the next included."""
    return 2 * n_threads() + 1


def parallel_for(
    work: Callable[[Item], object], items: Iterable[Item], products: float = inf
) -> None:
    """``work(item)`` for each of a few items, on this thread and those of the pool.

    Each thread takes the next item when it is done with one. When somebody fails, no further item
    is begun, and the failure is raised here once all threads have stopped. Say how many products
    there are in all of it, where they may be few: then nobody else is woken.
    """
    left = deque(items)

    def go_on() -> None:
        try:
            while left:
                try:
                    item = left.popleft()
                except IndexError:  # another thread took the last
                    return
                work(item)
        except BaseException:
            left.clear()
            raise

    with one_blas_thread():
        shared = len(left) > 1 and products >= WORTH_SHARING
        size = min(n_threads(), len(left)) if shared else 1
        helpers = [thread_pool(n_threads()).submit(go_on) for _ in range(size - 1)]
        try:
            go_on()
        finally:  # those who have not begun by now are not needed
            began = [helper for helper in helpers if not helper.cancel()]
            for helper in began:
                helper.exception()
        for helper in began:
            helper.result()


def ordered_map(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yield ``work(item)`` in the order of `items`, computed side by side on one BLAS thread each.

    At most twice as many results as threads are alive at once, so memory stays bounded however
    many items there are. ``work`` must not call `ordered_map`.
    """
    remaining = iter(items)
    # A single piece runs here: no pool is worth waking for it.
    head = list(islice(remaining, 2))
    with one_blas_thread():
        if len(head) < 2:
            yield from map(work, head)
            return
        size, items = n_threads(), chain(head, remaining)
        if size == 1:
            yield from map(work, items)
            return
        pool = thread_pool(size)
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
