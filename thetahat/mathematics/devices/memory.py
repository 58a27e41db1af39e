"""The free memory of a device, and how many rows fit into it at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from array_api_compat import device, is_cupy_array, is_torch_array

from thetahat.foundation.config import settings
from thetahat.foundation.errors import MemoryBudgetError
from thetahat.foundation.memory import available_memory, readable
from thetahat.foundation.types import Array

LARGEST_BLOCK = 4 << 30
"""Bytes of intermediate results held at once where a method works in blocks."""


def free_bytes(X: Array) -> int:
    """Bytes that one operation may take on the device of X: the setting, or else what is free."""
    if settings().memory is not None:
        return int(settings().memory or 0)
    if is_torch_array(X) and device(X).type == "cuda":
        import torch

        free: int = torch.cuda.mem_get_info(device(X))[0]
        # Memory that torch holds for later use is free for us.
        return free + torch.cuda.memory_reserved(X.device) - torch.cuda.memory_allocated(X.device)
    if is_cupy_array(X):
        import cupy  # type: ignore[import-not-found,unused-ignore]

        return int(cupy.cuda.runtime.memGetInfo()[0])
    return available_memory()


def require_device_memory(n_bytes: int, X: Array, purpose: str, remedy: str) -> None:
    """Raise an error before allocating if `n_bytes` do not fit on the device of X."""
    free = free_bytes(X)
    if n_bytes > free:
        raise MemoryBudgetError(
            f"{purpose} needs {readable(n_bytes)}, but only {readable(free)} may be used on "
            f"{device(X)}. {remedy}"
        )


def row_blocks(X: Array, bytes_per_row: int) -> list[slice]:
    """Slices that cover the rows of X, each with at most a quarter of the free memory."""
    n = int(X.shape[0])
    at_once = min(LARGEST_BLOCK, free_bytes(X) // 4)
    step = max(1, min(n, at_once // max(1, bytes_per_row)))
    step = step if step == n or step < 1024 else step // 1024 * 1024
    return [slice(start, min(n, start + step)) for start in range(0, n, step)]


@contextmanager
def shortage_named(who: str, where: object) -> Iterator[None]:
    """Say what to do if the memory of the device runs out inside."""
    try:
        yield
    except MemoryBudgetError:
        raise
    except Exception as failure:
        if type(failure).__name__ != "OutOfMemoryError":
            raise
        raise MemoryBudgetError(
            f"{who}: the memory of {where} ran out. Pass fewer rows, use float32, free other "
            "arrays on the device, or pass NumPy arrays to compute on the CPU."
        ) from failure
