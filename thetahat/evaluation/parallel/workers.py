"""Worker processes for fits that would stand in each other's way on threads.

Threads start at once, but fits made of many short array operations take turns for the lock of the
interpreter. A worker is a process of its own and waits for nobody, but needs seconds to start: to
import what models are made of. So fits run on threads first, and are watched: once threads have
waited for each other for as long as a start takes, workers are started in the background, for this
call and those to come. Whatever follows, that costs at most twice what it would have cost to know
beforehand. Fits that let each other run, as compiled ones do, take long to start any.

Each thread hands its item to a worker that is free, and waits for the answer; without one it does
the item itself. So does it with work that cannot be sent, or when a worker dies. What comes out is
the same bit for bit.
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
"""Seconds of waiting after which workers are started: about what a start takes."""
WORKER_BYTES = 512 << 20
"""Memory that has to be free for each worker: its imports, and copies of some rows."""

NOT_DONE = object()
"""The answer when an item has to be done here."""

SERVE = (
    "import sys; sys.path[:] = {path!r};"
    "from thetahat.evaluation.parallel.worker_process import serve"
)


class Worker:
    """One process that does items, one at a time."""

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
        """The answer, still packed."""
        send(self._questions, pickle.dumps(question))
        return receive(self._answers)

    def leave(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for stream in (self._questions, self._answers):
            with suppress(OSError):  # a question that was never read
                stream.close()


class Workers:
    """The workers of this process, and the time that fits have waited on threads instead."""

    def __init__(self) -> None:
        self._lock, self._free, self._all = threading.Lock(), list[Worker](), list[Worker]()
        self._waited, self._starting = 0.0, list[threading.Thread]()

    def note_waits(self, seconds: float, threads: int) -> None:
        """Count time that threads waited; start workers, once it is as long as that takes."""
        with self._lock:
            self._waited += seconds
            self._starting = [each for each in self._starting if each.is_alive()]
            short = threads - len(self._all) - len(self._starting)
            if self._waited < START_SECONDS or short <= 0 or not _can_start():
                return
            for _ in range(min(short, available_memory() // WORKER_BYTES)):
                self._starting.append(threading.Thread(target=self._start, daemon=True))
                self._starting[-1].start()

    def wait_until_ready(self) -> int:
        """How many workers there are, once those that are starting have started."""
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
        """No processes here: threads will do."""
        self._waited = -math.inf

    def do(self, shared: SharedWork, item: Any) -> Any:
        """What a free worker answers, or `NOT_DONE`."""
        with self._lock:
            worker = self._free.pop() if self._free and shared.can_be_sent else None
        if worker is None:
            return NOT_DONE
        path = shared.path()
        try:
            answer = worker.ask((path, item)) if path else b""
        except Exception:  # it is gone, or was asked what cannot be written
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
        """End all of them."""
        with self._lock:
            everyone, self._all, self._free = self._all, [], []
            self._waited = 0.0
        for worker in everyone:
            worker.leave()


def _unpacked(answer: bytes, shared: SharedWork) -> Any:
    """The result, its warnings told again here; `NOT_DONE` when it could not travel."""
    try:
        result, told = pickle.loads(answer)
    except Exception:  # nothing came, or what only a worker can read: its fellows would fail too
        shared.can_be_sent = False
        return NOT_DONE
    for message, category, filename, line in told:
        warnings.warn_explicit(message, category, filename, line, registry=shared.registry)
    return result


def _can_start() -> bool:
    """Whether this is an interpreter that can be started again, not a program with one inside."""
    return bool(sys.executable) and not getattr(sys, "frozen", False)


def send(stream: IO[bytes], message: bytes) -> None:
    """Its length, then itself."""
    stream.write(len(message).to_bytes(8, "little") + message)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes:
    """What `send` wrote; EOFError when the other side is gone."""
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
    """The workers of this process; a fork starts without any."""
    return _workers_of(os.getpid())
