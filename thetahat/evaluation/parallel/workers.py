"""Worker processes for fits that would block each other on threads.

Threads start at once, but fits that consist of many short array operations wait for the
interpreter's lock. A worker process does not wait for others, but takes seconds to start, because
it has to import the models. So fits run on threads first. Once threads have waited for each other
for as long as a start takes, workers are started in the background, for this call and later ones.
The total cost is then at most twice that of the better choice. Compiled fits, which release the
lock, rarely start any.

Each thread passes its item to a free worker and waits for the result. If no worker is free, the
work cannot be pickled, or a worker dies, the thread runs the item itself. The results are the same
bit for bit.
"""

from __future__ import annotations

import atexit
import math
import os
import pickle
import subprocess
import sys
import threading
import warnings
from contextlib import suppress
from functools import cache
from typing import IO, Any

from thetahat.evaluation.parallel.shared_work import SharedWork
from thetahat.foundation.memory import available_memory

START_SECONDS = 3.0
"""Seconds of waiting after which workers are started: about as long as a start takes."""
WORKER_BYTES = 512 << 20
"""Free memory required for each worker: its imports, and copies of some rows."""

NOT_DONE = object()
"""Returned when an item has to run in this process."""

SERVE = (
    "import sys; sys.path[:] = {path!r};"
    "from thetahat.evaluation.parallel.worker_process import serve"
)


class Worker:
    """One process that runs items, one at a time."""

    def __init__(self) -> None:
        alone = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVE.format(path=sys.path) + "; serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **alone},
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._questions, self._answers = self._process.stdin, self._process.stdout

    def wait_until_ready(self) -> None:
        """Return when the process has imported what it needs."""
        receive(self._answers)

    def ask(self, question: Any) -> bytes:
        """The result of an item, still pickled."""
        send(self._questions, pickle.dumps(question))
        return receive(self._answers)

    def leave(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for stream in (self._questions, self._answers):
            with suppress(OSError):  # an item that was never read
                stream.close()


class Workers:
    """The workers of this process, and the time that fits have waited on threads."""

    def __init__(self) -> None:
        self._lock, self._free, self._all = threading.Lock(), list[Worker](), list[Worker]()
        self._waited, self._starting = 0.0, list[threading.Thread]()

    def note_waits(self, seconds: float, threads: int) -> None:
        """Add up the time that threads waited; start workers once it is as long as a start."""
        with self._lock:
            self._waited += seconds
            self._starting = [each for each in self._starting if each.is_alive()]
            short = threads - len(self._all) - len(self._starting)
            if self._waited < START_SECONDS or short <= 0 or not _can_start():
                return
            for _ in range(min(short, available_memory() // WORKER_BYTES)):
                starter = threading.Thread(target=self._start, daemon=True)
                try:
                    starter.start()
                except RuntimeError:  # no further thread can be started
                    return
                self._starting.append(starter)

    def wait_until_ready(self) -> int:
        """The number of workers, after waiting for those that are starting."""
        for each in self._starting:
            each.join()
        return len(self._all)

    def _start(self) -> None:
        try:
            worker = Worker()
        except OSError:
            return self._give_up()
        try:
            worker.wait_until_ready()
        except EOFError:
            worker.leave()
            return self._give_up()
        with self._lock:
            self._all.append(worker)
            self._free.append(worker)

    def _give_up(self) -> None:
        """Worker processes do not work here: use threads only."""
        self._waited = -math.inf

    def do(self, shared: SharedWork, item: Any) -> Any:
        """The result from a free worker, or `NOT_DONE`."""
        with self._lock:
            worker = self._free.pop() if self._free and shared.can_be_sent else None
        if worker is None:
            return NOT_DONE
        path = shared.path()
        try:
            answer = worker.ask((path, item)) if path else b""
        except Exception:  # the worker is gone, or the item cannot be pickled
            self._drop(worker)
            return NOT_DONE
        with self._lock:
            self._free.append(worker)
        return _unpacked(answer, shared)

    def _drop(self, worker: Worker) -> None:
        with self._lock:
            self._all.remove(worker)
        worker.leave()

    def leave(self) -> None:
        """End all worker processes."""
        with self._lock:
            everyone, self._all, self._free = self._all, [], []
            self._waited = 0.0
        for worker in everyone:
            worker.leave()


def _unpacked(answer: bytes, shared: SharedWork) -> Any:
    """The result, with its warnings repeated here; `NOT_DONE` if it could not be pickled."""
    try:
        result, recorded = pickle.loads(answer)
    except Exception:  # no result, or one that only a worker can read: other workers fail too
        shared.can_be_sent = False
        return NOT_DONE
    for message, category, filename, line in recorded:
        warnings.warn_explicit(message, category, filename, line, registry=shared.registry)
    return result


def _can_start() -> bool:
    """Whether this is a Python interpreter, rather than a program with an embedded one."""
    return bool(sys.executable) and not getattr(sys, "frozen", False)


def send(stream: IO[bytes], message: bytes) -> None:
    """Write the length of a message, then the message."""
    stream.write(len(message).to_bytes(8, "little") + message)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes:
    """Read a message written by `send`; EOFError if the other process has ended."""
    length = stream.read(8)
    if len(length) < 8:
        raise EOFError
    return stream.read(int.from_bytes(length, "little"))


@cache
def _workers_of(process: int) -> Workers:
    everyone = Workers()
    atexit.register(everyone.leave)
    return everyone


def workers() -> Workers:
    """The workers of this process; a forked process starts without any."""
    return _workers_of(os.getpid())
