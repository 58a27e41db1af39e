"""Estimates of the memory that an operation needs, checked before it is allocated."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from thetahat.foundation.config import settings
from thetahat.foundation.errors import MemoryBudgetError

ALWAYS_ALLOWED = 64 << 20
"""Smaller amounts are allowed without asking the system for its free memory."""


def available_memory() -> int:
    """Bytes one operation may take: the setting, or else the free memory of the machine.

    Less where the process has a limit of its own (``ulimit -v``).
    """
    if settings().memory is not None:
        return int(settings().memory or 0)
    return min(_free_memory(), address_space_left())


def address_space_left() -> int:
    """Bytes of address space that the process may still take."""
    if sys.platform == "win32":
        return sys.maxsize
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return sys.maxsize
    try:
        with open("/proc/self/statm") as numbers:
            taken = int(numbers.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        taken = 0
    return max(0, limit - taken)


def _free_memory() -> int:
    try:
        with open("/proc/meminfo") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def require_memory(n_bytes: int, purpose: str, remedy: str) -> None:
    """Raise an error before allocating if `n_bytes` do not fit."""
    if settings().memory is None and n_bytes < ALWAYS_ALLOWED:
        return
    limit = available_memory()
    if n_bytes > limit:
        raise MemoryBudgetError(
            f"{purpose} needs {readable(n_bytes)}, but only {readable(limit)} may be used. {remedy}"
        )


def memory_for(n_bytes: int) -> int:
    """Bytes that a result of at most `n_bytes` may take, where its size is not known before."""
    if settings().memory is None and n_bytes < ALWAYS_ALLOWED:
        return ALWAYS_ALLOWED
    return available_memory()


@contextmanager
def shortage_explained(n_bytes: int, purpose: str, remedy: str) -> Iterator[None]:
    """Say how much memory was needed if it runs out inside, where compiled code does not know."""
    try:
        yield
    except MemoryBudgetError:
        raise
    except MemoryError as failure:
        raise MemoryBudgetError(
            f"{purpose} needs about {readable(n_bytes)}, but the memory ran out. {remedy}"
        ) from failure


def readable(n_bytes: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if n_bytes < 1024:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1024
    return f"{n_bytes:.3g} TiB"
