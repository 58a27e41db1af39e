"""The facts about a machine that a measurement depends on; nothing that says whose it is."""

from __future__ import annotations

import os
import platform
from importlib import import_module, metadata
from typing import Any

LIBRARIES = ("thetahat", "numpy", "scipy", "scikit-learn", "statsmodels", "pyarrow")


def facts() -> dict[str, Any]:
    """Cores, memory, architecture, versions, and the BLAS libraries with their threads."""
    import_module("scipy.linalg")  # brings its own BLAS beside NumPy's
    pools = import_module("threadpoolctl").threadpool_info()
    return {
        "architecture": platform.machine(),
        "system": platform.system(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "python": platform.python_version(),
        "libraries": {name: _version(name) for name in LIBRARIES},
        "thread_pools": [
            {
                key: pool.get(key)
                for key in ("internal_api", "version", "architecture", "num_threads")
            }
            for pool in pools
        ],
    }


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
