"""The last line that an ensemble prints with ``verbose``."""

from __future__ import annotations

import time
from typing import Any


def print_end(model: Any, made: int, planned: int, units: str, started: float) -> None:
    """With ``verbose``, print how many members or iterations a fit made, and its time."""
    if model.verbose:
        seconds = time.monotonic() - started
        print(
            f"[{type(model).__name__}] ended after {made} of {planned} {units}, {seconds:.1f} s",
            flush=True,
        )
