"""The peak of this process's resident memory, restarted at will.

``ru_maxrss`` cannot be restarted: it keeps the peak of making the data, and even that of the parent
process before this program was started. Linux keeps the same high-water mark as ``VmHWM`` and lets
a process restart it, so the peak of one call can be told from what came before. It counts every
allocator and every thread. Pages of a mapped file count too while they are resident.
"""

from __future__ import annotations

import gc
import resource
from collections.abc import Callable
from typing import Any


def peak_of(call: Callable[[], Any]) -> tuple[Any, int | None]:
    """What `call` returns, and how many bytes it added at its peak; None where that is unknown."""
    gc.collect()
    if not _restart_peak():
        before = _maxrss()
        result = call()
        risen = _maxrss() - before
        return result, risen if risen > 0 else None
    before = status("VmRSS")
    result = call()
    return result, max(0, status("VmHWM") - before)


def _restart_peak() -> bool:
    try:
        with open("/proc/self/clear_refs", "w") as switch:
            switch.write("5")
        return status("VmHWM") <= status("VmRSS") + (1 << 20)
    except OSError:
        return False


def status(field: str) -> int:
    with open("/proc/self/status") as lines:
        for line in lines:
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
    raise OSError(f"/proc/self/status has no {field}")


def _maxrss() -> int:
    """The peak so far, in bytes; a rise proves a new peak, no rise proves nothing."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
