"""The number of cores this process may use, by its affinity and the container's limit."""

from __future__ import annotations

import os
from functools import cache
from math import ceil
from pathlib import Path

CONTROL_GROUP = Path("/sys/fs/cgroup")


@cache
def usable_cores() -> int:
    """Cores this process may use, container limits included."""
    try:
        allowed = len(os.sched_getaffinity(0))
    except AttributeError:  # not on this platform
        allowed = os.cpu_count() or 1
    return max(1, min(allowed, granted(CONTROL_GROUP) or allowed))


def granted(group: Path) -> int | None:
    """Cores that a Linux control group grants, rounded up; None if no limit is known."""
    try:
        quota, period = (group / "cpu.max").read_text().split()
    except (OSError, ValueError):
        try:
            quota = (group / "cpu" / "cpu.cfs_quota_us").read_text()
            period = (group / "cpu" / "cpu.cfs_period_us").read_text()
        except OSError:
            return None
    try:
        share = int(quota) / int(period)
    except (ValueError, ZeroDivisionError):  # "max" means no limit
        return None
    return ceil(share) if share > 0 else None
