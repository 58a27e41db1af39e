"""How much of our cores others used while we measured.

On a busy machine, libraries whose threads wait for one another lose far more than those whose
threads do not, so that not even ratios can be trusted: a matrix product on two contended cores may
take several times as long as on one. A bar is judged only on a machine that was quiet.
"""

from __future__ import annotations

import os
import resource
import time

QUIET = 0.15
"""Cores that others may use on average; the system itself needs a little."""


class BackgroundLoad:
    """Watches from its making; `cores_used` says how many cores others kept busy since then."""

    def __init__(self) -> None:
        self._started, self._busy, self._ours = time.monotonic(), _busy_seconds(), _our_seconds()

    def cores_used(self) -> float | None:
        """The mean number of our cores that were busy, but not for us; None where it is unknown."""
        busy = _busy_seconds()
        if busy is None or self._busy is None:
            return None
        elapsed = max(time.monotonic() - self._started, 1e-9)
        others = (busy - self._busy) - (_our_seconds() - self._ours)
        return max(0.0, others / elapsed)


def _busy_seconds() -> float | None:
    """Seconds our cores were not idle, time taken by other virtual machines included.

    Ours are those that this process may run on: on a large machine, cases run on a few of them.
    """
    try:
        ours = {f"cpu{core}" for core in os.sched_getaffinity(0)}
        with open("/proc/stat") as lines:
            counts = [line.split() for line in lines if line.startswith("cpu")]
    except (AttributeError, OSError):
        return None
    busy = 0
    for name, *ticks in counts:
        if name in ours:
            user, nice, system, _idle, _waiting, *rest = map(int, ticks[:8])
            busy += user + nice + system + sum(rest)
    return busy / os.sysconf("SC_CLK_TCK") if busy else None


def _our_seconds() -> float:
    """Processor seconds of this process and of those it started and has waited for."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)
