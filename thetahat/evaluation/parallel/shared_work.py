"""Work shared with other processes: a function and its data in memory-mapped files.

Arrays are written once and mapped, not copied, by any number of processes.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

ALIGNMENT = 64


class SharedWork:
    """A function that is written to files when first needed, if it can be pickled.

    Parameters
    ----------
    work : callable
        The function to call with each item; its data are in its closure or attributes.
    """

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self._work, self._lock = work, Lock()
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self.can_be_sent = True
        self.registry: dict[str | tuple[str, type[Warning], int], int] = {}
        """Which of its warnings have been shown, for those that are shown once."""

    def path(self) -> str | None:
        """The folder with the files; None if the work cannot be pickled."""
        with self._lock:
            if self._folder is None and self.can_be_sent:
                folder = tempfile.TemporaryDirectory(prefix="work", ignore_cleanup_errors=True)
                try:
                    _write(self._work, Path(folder.name))
                    self._folder = folder
                except Exception:  # pickling a user's object may raise anything
                    self.can_be_sent = False
                    folder.cleanup()
            return self._folder.name if self._folder else None

    def forget(self) -> None:
        """Remove the files; processes that have mapped them can still read them."""
        with self._lock:
            self.can_be_sent = False
            if self._folder is not None:
                self._folder.cleanup()
                self._folder = None


def _write(work: Any, folder: Path) -> None:
    buffers: list[pickle.PickleBuffer] = []
    text = packed(work, buffer_callback=buffers.append)
    (folder / "work").write_bytes(text)
    spans = []
    with open(folder / "arrays", "wb") as file:
        for buffer in buffers:
            file.write(b"\0" * (-file.tell() % ALIGNMENT))
            start = file.tell()
            file.write(buffer.raw())
            spans.append((start, file.tell()))
    (folder / "spans").write_bytes(pickle.dumps(spans))


def packed(value: Any, **options: Any) -> bytes:
    """A value as bytes; with cloudpickle installed, also functions and classes of the user's
    script."""
    try:
        from cloudpickle import dumps
    except ImportError:
        from pickle import dumps
    return bytes(dumps(value, protocol=5, **options))


@lru_cache(maxsize=1)
def read_work(folder: str) -> Any:
    """The work written to a folder, with read-only mapped arrays."""
    place = Path(folder)
    spans = pickle.loads((place / "spans").read_bytes())
    held: Any = np.memmap(place / "arrays", mode="r") if (place / "arrays").stat().st_size else b""
    arrays = [memoryview(held)[start:end] for start, end in spans]
    return pickle.loads((place / "work").read_bytes(), buffers=arrays)
