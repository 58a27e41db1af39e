"""One thread pool, and results that do not depend on the number of threads.

BLAS splits a product differently for each number of threads, so sums are added in another order.
Work is therefore cut into pieces whose number depends on the problem alone; each piece runs on one
BLAS thread, pieces run in parallel, and their results come back in order.
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
"""Number of multiplications below which starting another thread costs more than it saves."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def n_threads() -> int:
    """Threads to use: the setting, or OMP_NUM_THREADS, or the cores this process may use."""
    if settings().threads is not None:
        return int(settings().threads or 1)
    declared = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    if declared.isdigit() and int(declared) > 0:
        return int(declared)
    return usable_cores()


@cache
def _blas(with_scipy: bool) -> dict[str, Any]:
    """Every loaded BLAS, by its file; SciPy has its own beside NumPy's."""
    import numpy  # noqa: F401
    from threadpoolctl import ThreadpoolController

    found = ThreadpoolController().select(user_api="blas").lib_controllers
    return {library.filepath: library for library in found}


class _OneBlasThread:
    """Sets every BLAS to one thread while at least one context is active.

    The setting belongs to the process, so active contexts are counted: nested contexts, and
    contexts on several threads, neither restore it too early nor set it twice.
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
        """Whether SciPy's BLAS has been loaded since the last check."""
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
    """A context in which every matrix product runs on one thread, with reproducible bits."""
    return _one_blas_thread


def scipy_linalg() -> Any:
    """``scipy.linalg``, imported when needed, with its BLAS limited like the others."""
    import scipy.linalg

    _one_blas_thread.heed_scipy()
    return scipy.linalg


@cache
def _pool(size: int, process: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=size, thread_name_prefix="thetahat")


def thread_pool(size: int) -> ThreadPoolExecutor:
    """The pool of `size` threads of this process."""
    return _pool(size, os.getpid())


def blocks_in_flight() -> int:
    """The number of items of an `ordered_map` that may be running or waiting at once."""
    return 2 * n_threads() + 1


def parallel_for(
    work: Callable[[Item], object], items: Iterable[Item], products: float = inf
) -> None:
    """Call ``work(item)`` for each of a few items, on this thread and those of the pool.

    Each thread takes the next item when it has finished one. If an item fails, no further item is
    started, and the error is raised here once all threads have stopped. If the total number of
    multiplications is given and small, all items run on this thread.
    """
    left = deque(items)

    def go_on() -> None:
        try:
            while left:
                try:
                    item = left.popleft()
                except IndexError:  # no items left
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
        finally:  # tasks that have not started are not needed any more
            began = [helper for helper in helpers if not helper.cancel()]
            for helper in began:
                helper.exception()
        for helper in began:
            helper.result()


def ordered_map(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yield ``work(item)`` in the order of `items`, computed in parallel on one BLAS thread each.

    At most twice as many results as threads exist at once, so memory stays bounded for any number
    of items. ``work`` must not call `ordered_map`.
    """
    remaining = iter(items)
    # A single item runs on this thread, without a pool.
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
