"""Reading ahead: the next items are made on another thread while the current one is used."""

from __future__ import annotations

from collections.abc import Iterator
from contextvars import copy_context
from queue import Empty, Queue
from threading import Event, Thread
from typing import Any, TypeVar

from thetahat.foundation.threads import n_threads

AHEAD = 2
"""Number of items that are ready before they are needed."""

Item = TypeVar("Item")


def read_ahead(items: Iterator[Item]) -> Iterator[Item]:
    """The same items in the same order; at most `AHEAD` of them wait.

    With one thread (``th.config(threads=1)``) they are made when they are needed. An error is
    raised at its place in the order. If the iteration is abandoned, the thread ends.
    """
    if n_threads() == 1:
        yield from items
        return
    made: Queue[tuple[str, Any]] = Queue(AHEAD)
    abandoned = Event()

    def make() -> None:
        try:
            for item in items:
                made.put(("item", item))
                if abandoned.is_set():
                    return
            made.put(("end", None))
        except BaseException as failure:
            made.put(("error", failure))
        finally:
            close = getattr(items, "close", None)
            if close is not None:
                close()

    thread = Thread(target=copy_context().run, args=(make,), daemon=True, name="thetahat reader")
    thread.start()
    try:
        while True:
            kind, value = made.get()
            if kind == "item":
                yield value
            elif kind == "error":
                raise value
            else:
                return
    finally:
        abandoned.set()
        while thread.is_alive():
            try:  # make room, so that the thread sees that it is not needed any more
                made.get(timeout=0.01)
            except Empty:
                continue
        thread.join()
