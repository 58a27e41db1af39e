"""One thread pool, and results that do not depend on the number of threads.

BLAS splits a product differently for each number of threads, so sums are added in another order.
Work is therefore cut into pieces whose number depends on the problem alone; each piece runs on one
BLAS thread, pieces run in parallel, and their results come back in order.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from contextvars import copy_context
from functools import cache
from importlib import import_module
from itertools import chain, islice
from math import inf
from threading import Event, Lock, RLock, Thread, current_thread, get_ident, local, main_thread
from typing import Any, Generic, NamedTuple, TypeVar

from thetahat.foundation.config import settings
from thetahat.foundation.cores import usable_cores
from thetahat.foundation.errors import MemoryBudgetError
from thetahat.foundation.memory import address_space_left

WORTH_SHARING = 5e6
"""Number of multiplications below which starting another thread costs more than it saves."""
LONG_CALL = 1e9
"""Number of multiplications of one call from which an interrupt should not wait for its end."""
THREAD_BYTES = 48 << 20
"""Address space of a thread: its stack and the work space of BLAS, which ends the process when it
cannot get it."""

Item = TypeVar("Item")
Result = TypeVar("Result")


class _Share(local):
    """The threads that a piece of work running in parallel with others may use; 0: all."""

    threads = 0


_share = _Share()


def n_threads() -> int:
    """Threads to use: the setting, or OMP_NUM_THREADS, or the cores this process may use.

    Work that runs in parallel with other pieces has its share of the caller's threads.
    """
    given, share = settings().threads, _share.threads
    if given is not None:
        return min(int(given or 1), share or sys.maxsize)
    if share:
        return share
    declared = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    if declared.isdigit() and int(declared) > 0:
        return int(declared)
    return usable_cores()


class _Blas(NamedTuple):
    """The functions of a loaded BLAS that read and set its number of threads."""

    threads: Callable[[], int]
    set_threads: Callable[[int], object]


@cache
def _blas(with_scipy: bool) -> dict[str, _Blas]:
    """Every loaded BLAS, by its file; SciPy has its own beside NumPy's."""
    import numpy  # noqa: F401
    from threadpoolctl import ThreadpoolController

    _take_work_space(with_scipy)
    found = ThreadpoolController().select(user_api="blas").lib_controllers
    return {library.filepath: _functions(library) for library in found}


def _functions(library: Any) -> _Blas:
    """The functions of OpenBLAS itself, whose threads belong to the process; others' wrapped.

    The wrapper of threadpoolctl 3.8 lets only the first thread that set the number do so again, and
    ignores all others without a word. The contexts here are counted for the whole process, so that
    any thread may. Calls of OpenBLAS itself also take a tenth of the time.
    """
    if getattr(library, "threading_layer", None) == "pthreads":
        for name in library.check_symbols:
            setter = name.replace("_get_", "_set_")
            if hasattr(library.dynlib, name) and hasattr(library.dynlib, setter):
                return _Blas(getattr(library.dynlib, name), getattr(library.dynlib, setter))
    return _Blas(library.get_num_threads, library.set_num_threads)


def _take_work_space(with_scipy: bool) -> None:
    """Let every BLAS take its work space now: without it, OpenBLAS ends the process later."""
    import numpy

    if address_space_left() < THREAD_BYTES:
        raise MemoryBudgetError(
            f"BLAS needs {THREAD_BYTES >> 20} MiB of work space, but the limit on the memory of "
            "the process leaves less. Raise the limit (ulimit -v)."
        )
    numpy.linalg.cholesky(numpy.eye(1))
    if with_scipy:
        import scipy.linalg

        scipy.linalg.lapack.dpotrf(numpy.eye(1))


class _OneBlasThread:
    """Sets every BLAS to one thread while at least one context is open.

    The setting belongs to the process, so open contexts are kept: nested contexts, and contexts on
    several threads, neither restore it too early nor set it twice.
    """

    def __init__(self) -> None:
        self._lock, self._before = RLock(), dict[str, int]()
        self.opened = dict[int, int]()
        """The thread of each open context."""
        self._with_scipy = False
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._start_again)

    def enter(self, context: int) -> None:
        with self._lock:
            self.opened[context] = get_ident()
            if self._scipy_is_new() or len(self.opened) == 1:
                self._limit()

    def leave(self, context: int) -> None:
        with self._lock:
            if self.opened.pop(context, None) is not None and not self.opened:
                self._restore()

    def heed_scipy(self) -> None:
        """Limit SciPy's BLAS as well, once it is loaded."""
        with self._lock:
            if self._scipy_is_new() and self.opened:
                self._limit()

    def _scipy_is_new(self) -> bool:
        """Whether SciPy's BLAS has been loaded since the last check."""
        before, self._with_scipy = self._with_scipy, "scipy.linalg" in sys.modules
        return self._with_scipy and not before

    def _limit(self) -> None:
        for file, library in _blas(self._with_scipy).items():
            if file not in self._before:
                self._before[file] = library.threads()
            library.set_threads(1)

    def _restore(self) -> None:
        libraries = _blas(self._with_scipy)
        for file, threads in self._before.items():
            libraries[file].set_threads(threads)
        self._before = {}

    def _start_again(self) -> None:
        """In a forked child, which has neither the other threads nor their contexts."""
        self._lock = RLock()
        self.opened = {one: thread for one, thread in self.opened.items() if thread == get_ident()}
        if not self.opened:
            self._restore()


class _Limited:
    """One use of the context. If an interrupt comes while it is left, its end of life leaves it."""

    def __enter__(self) -> None:
        _one_blas_thread.enter(id(self))

    def __exit__(self, *failure: object) -> None:
        _one_blas_thread.leave(id(self))

    def __del__(self) -> None:
        if id(self) in _one_blas_thread.opened:
            _one_blas_thread.leave(id(self))


_one_blas_thread = _OneBlasThread()


def one_blas_thread() -> AbstractContextManager[None]:
    """A context in which every matrix product runs on one thread, with reproducible bits."""
    return _Limited()


def scipy_linalg() -> Any:
    """``scipy.linalg``, imported when needed, with its BLAS limited like the others."""
    import scipy.linalg

    for part in ("blas", "lapack"):  # missing if an interrupt came during the first import
        if not hasattr(scipy.linalg, part):
            setattr(scipy.linalg, part, import_module(f"scipy.linalg.{part}"))
    _one_blas_thread.heed_scipy()
    return scipy.linalg


_pools: dict[int, ThreadPoolExecutor] = {}
"""The pools of this process by size; a forked child has none of their threads."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.clear)


def thread_pool(size: int) -> ThreadPoolExecutor | None:
    """The pool of `size` threads of this process; None if they cannot be started.

    All threads are started at once, so that no later call can fail for lack of one.
    """
    if address_space_left() < size * THREAD_BYTES:
        return None
    if size not in _pools:
        pool, all_started = ThreadPoolExecutor(size, thread_name_prefix="thetahat"), Event()
        try:
            for _ in range(size):
                pool.submit(all_started.wait)
        except (RuntimeError, MemoryError):  # "can't start new thread"
            pool.shutdown(wait=False)
            return None
        finally:
            all_started.set()
        return _pools.setdefault(size, pool)  # another thread may have been faster
    return _pools[size]


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
    if len(left) < 2:
        with one_blas_thread():
            for item in left:
                work(item)
        return

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
        size = min(n_threads(), len(left)) if products >= WORTH_SHARING else 1
        pool = thread_pool(n_threads()) if size > 1 else None
        helpers = [pool.submit(go_on) for _ in range(size - 1)] if pool else []
        try:
            go_on()
        finally:  # tasks that have not started are not needed any more
            began = [helper for helper in helpers if not helper.cancel()]
            for helper in began:
                helper.exception()
        for helper in began:
            helper.result()


def interruptible(work: Callable[[], Result], products: float) -> Result:
    """``work()``; if it is one long call into LAPACK, an interrupt (Ctrl-C) does not wait for it.

    The call then runs on another thread, which comes to its end unheeded after an interrupt.
    ``products`` is the number of its multiplications; short calls run here.
    """
    if products < LONG_CALL or current_thread() is not main_thread():
        return work()
    outcome: Future[Result] = Future()
    context = copy_context()

    def run() -> None:
        try:
            outcome.set_result(context.run(work))
        except BaseException as failure:
            outcome.set_exception(failure)

    try:
        Thread(target=run, daemon=True, name="thetahat").start()
    except (RuntimeError, MemoryError):  # "can't start new thread"
        return work()
    return outcome.result()


class PooledWork(Generic[Item, Result]):
    """Work on a pool of threads whose running calls end soon after an interrupt (Ctrl-C).

    An interrupt reaches the main thread alone. Without `stop`, the work that has begun would run to
    its end, and the interpreter would wait for it when it exits.
    """

    def __init__(
        self, work: Callable[[Item], Result], pool: ThreadPoolExecutor, share: int = 1
    ) -> None:
        self._work, self._pool, self._share = work, pool, share
        self._lock, self._running = Lock(), set[int]()

    def submit(self, item: Item) -> Future[Result]:
        return self._pool.submit(self._run, item)

    def _run(self, item: Item) -> Result:
        thread = get_ident()
        with self._lock:
            self._running.add(thread)
        _share.threads = self._share
        try:
            found = self._work(item)
        finally:
            _share.threads = 0
            with self._lock:
                self._running.discard(thread)
        _raise_what_is_pending()
        return found

    def stop(self) -> None:
        """End the calls that are running, at their next step in Python, and leave them the pool.

        Other work gets new threads, so that it does not wait for a call into compiled code. Work of
        other threads that is on the pool already continues there.
        """
        for size in [size for size, pool in _pools.items() if pool is self._pool]:
            _pools.pop(size, None)
        interrupt = ctypes.py_object(KeyboardInterrupt)
        with self._lock:
            for thread in self._running:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), interrupt)


def _raise_what_is_pending() -> None:
    """Python raises the interrupt of another thread when a function is called, at the latest."""


def ordered_map(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yield ``work(item)`` in the order of `items`, computed in parallel on one BLAS thread each.

    At most twice as many results as threads exist at once, so memory stays bounded for any number
    of items. ``work`` must not call `ordered_map`.
    """
    count = len(items) if isinstance(items, Sized) else n_threads()
    remaining = iter(items)
    # A single item runs on this thread, without a pool.
    head = list(islice(remaining, 2))
    with one_blas_thread():
        if len(head) < 2:
            yield from map(work, head)
            return
        size, items = n_threads(), chain(head, remaining)
        pool = thread_pool(size) if size > 1 else None
        if pool is None:
            yield from map(work, items)
            return
        waiting: deque[Future[Result]] = deque()
        pooled = PooledWork(work, pool, max(1, size // max(count, 1)))
        try:
            for item in items:
                waiting.append(pooled.submit(item))
                if len(waiting) >= 2 * size:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except KeyboardInterrupt:
            pooled.stop()
            raise
        finally:
            for future in waiting:
                future.cancel()
