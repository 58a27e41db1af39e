"""The other side of `Worker`: a process that does one item after another."""

from __future__ import annotations

import os
import pickle
import select
import signal
import sys
import warnings
from typing import Any, BinaryIO

# What nearly all models need, imported before the first item arrives.
import sklearn.metrics
import sklearn.model_selection  # noqa: F401

import thetahat.evaluation.evaluate  # noqa: F401
from thetahat.evaluation.parallel.shared_work import packed, read_work
from thetahat.evaluation.parallel.workers import receive, send
from thetahat.foundation.threads import one_blas_thread

IDLE_SECONDS = 300.0
"""A process that nobody has asked anything for so long ends."""


def serve() -> None:
    """Answer until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that asks
    answers, questions = os.fdopen(os.dup(1), "wb"), sys.stdin.buffer
    os.dup2(2, 1)  # what models print must not mix with answers
    try:
        send(answers, b"ready")
        with one_blas_thread():
            while _is_asked(questions):
                send(answers, _answer(*pickle.loads(receive(questions))))
    except (EOFError, BrokenPipeError):  # the process that asked has ended
        os._exit(0)  # nobody reads what is left to be written


def _is_asked(questions: BinaryIO) -> bool:
    if sys.platform == "win32":  # pipes cannot be watched there
        return True
    return bool(select.select([questions], [], [], IDLE_SECONDS)[0])


def _answer(path: str, item: Any) -> bytes:
    """The result and what was warned of, packed; nothing when it cannot be had in this process."""
    try:
        work = read_work(path)
    except Exception:
        return b""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")  # the process that asks decides which are shown
        result = work(item)
    messages = [(str(w.message), w.category, w.filename, w.lineno) for w in told]
    try:
        return packed((result, messages))
    except Exception:
        return b""
