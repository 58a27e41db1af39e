"""The worker's side of `Worker`: a process that runs one item after another."""

from __future__ import annotations

import os
import pickle
import select
import signal
import sys
import warnings
from typing import Any, BinaryIO

# Needed by nearly all models, so import before the first item arrives.
import sklearn.metrics
import sklearn.model_selection  # noqa: F401

import thetahat.evaluation.evaluate  # noqa: F401
from thetahat.evaluation.parallel.shared_work import packed, read_work
from thetahat.evaluation.parallel.workers import receive, send
from thetahat.foundation.threads import one_blas_thread

IDLE_SECONDS = 300.0
"""Seconds without an item after which a worker process ends."""


def serve() -> None:
    """Run items until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles Ctrl-C
    answers, questions = os.fdopen(os.dup(1), "wb"), sys.stdin.buffer
    os.dup2(2, 1)  # what models print must not mix with the results
    try:
        send(answers, b"ready")
        with one_blas_thread():
            while _is_asked(questions):
                send(answers, _answer(*pickle.loads(receive(questions))))
    except (EOFError, BrokenPipeError):  # the parent process has ended
        os._exit(0)  # nothing reads the remaining output


def _is_asked(questions: BinaryIO) -> bool:
    if sys.platform == "win32":  # select does not support pipes there
        return True
    return bool(select.select([questions], [], [], IDLE_SECONDS)[0])


def _answer(path: str, item: Any) -> bytes:
    """The pickled result and its warnings; empty if the item cannot run in this process."""
    try:
        work = read_work(path)
    except Exception:
        return b""
    with warnings.catch_warnings(record=True) as recorded:
        warnings.simplefilter("always")  # the parent process decides which are shown
        result = work(item)
    messages = [(str(w.message), w.category, w.filename, w.lineno) for w in recorded]
    try:
        return packed((result, messages))
    except Exception:
        return b""
