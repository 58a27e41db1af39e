"""Computing on a cluster, and errors that say what happened to it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from thetahat.data.distributed.pieces import dask
from thetahat.foundation.errors import ClusterError, MemoryBudgetError, ThetahatError
from thetahat.foundation.memory import available_memory, readable
from thetahat.foundation.threads import n_threads

KEPT_SHARE = 0.5
"""Partitions are kept by the workers if they take at most this share of the workers' memory."""


def active_client() -> Any:
    """The client of ``distributed`` that computations go to; None without a cluster."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        client = distributed.get_client()
    except ValueError:
        return None
    if client.status != "running":
        raise ClusterError(
            f"The Dask client is {client.status}: it has no connection to its scheduler. Start the "
            "cluster and a new Client, build the collections again, and repeat the call."
        )
    return client


def computed(tasks: Sequence[Any]) -> list[Any]:
    """The values of delayed objects, computed by the workers."""
    active_client()
    with failures_explained():
        return list(dask().compute(*tasks))


def kept(tasks: Sequence[Any]) -> tuple[Any, ...]:
    """The same delayed objects, computed once and kept by the workers."""
    with failures_explained():
        return tuple(dask().persist(*tasks))


@contextmanager
def failures_explained() -> Iterator[None]:
    """Turn failures of the cluster into errors with a remedy; errors of the data stay as are."""
    try:
        yield
    except ThetahatError:
        raise
    except Exception as failure:
        explained = _explained(failure)
        if explained is None:
            raise
        raise explained from failure


def _explained(failure: Exception) -> ThetahatError | None:
    kinds = {each.__name__ for each in type(failure).__mro__}
    if "KilledWorker" in kinds:
        return MemoryBudgetError(
            "The workers of the Dask cluster died repeatedly at the same partition, most often "
            f"because it does not fit into their memory ({_memory_limits()}). Use smaller "
            "partitions: X.rechunk({0: rows}) for an array, X.repartition(partition_size=...) for "
            "a dataframe. Or give the workers more memory. If there is enough, the code that makes "
            "the partition ended the process, as sys.exit and crashes of compiled code do: compute "
            "the partitions one by one to find it."
        )
    if "MemoryError" in kinds:
        return MemoryBudgetError(
            f"A worker of the Dask cluster ran out of memory ({_memory_limits()}). Use smaller "
            "partitions: X.rechunk({0: rows}) for an array, X.repartition(partition_size=...) for "
            "a dataframe."
        )
    if "ValueError" in kinds and str(failure).startswith("Missing dependency"):
        return ClusterError(
            "The rows are kept by the workers of a Dask cluster whose client was closed, so they "
            "cannot be read any more. Keep the Client open until the fit has ended, or build the "
            "source again with th.from_dask."
        )
    if "CancelledError" in kinds and _data_are_lost(str(failure)):
        return ClusterError(
            f"Data of this computation were lost on the Dask cluster ({failure}), and cannot be "
            "computed again: they were put there with scatter and lost with a worker, or their "
            "futures were cancelled. Build the collections from files or from arrays of this "
            "process, and repeat the call."
        )
    if kinds & {"CancelledError", "CommClosedError", "ClosedClientError", "TimeoutError"}:
        return ClusterError(
            "The connection to the scheduler of the Dask cluster was lost or closed, so the "
            f"computation was given up ({type(failure).__name__}: {failure}). The model is as it "
            "was before. Start the cluster and a new Client, build the collections again, and "
            "repeat the call."
        )
    return None


def _data_are_lost(reason: str) -> bool:
    """Whether tasks were cancelled for lack of their data, not for lack of a scheduler."""
    if "scheduler" in reason:
        return False
    try:
        return "lost dependencies" in reason or active_client() is not None
    except ClusterError:
        return False


def worker_limits() -> list[int]:
    """The memory of each worker in bytes, where it is limited; empty without a cluster."""
    client = active_client()
    if client is None:
        return []
    workers = client.scheduler_info(n_workers=-1).get("workers", {}).values()
    return [int(each["memory_limit"]) for each in workers if each.get("memory_limit")]


def worker_sizes() -> list[tuple[int, int]]:
    """Bytes of memory and number of threads of each worker, or of this process without any."""
    client = active_client()
    if client is None:
        return [(available_memory(), n_threads())]
    workers = client.scheduler_info(n_workers=-1).get("workers", {}).values()
    return [
        (int(each.get("memory_limit") or 0) or available_memory(), int(each["nthreads"]))
        for each in workers
    ]


def threads_of_all() -> int:
    """Number of threads of all workers together, or of this process without a cluster."""
    return max(1, sum(threads for _, threads in worker_sizes()))


def _memory_limits() -> str:
    try:
        limits = worker_limits()
    except Exception:
        limits = []
    return f"{readable(min(limits))} each" if limits else "see memory_limit"


def memory_of_all() -> int:
    """Bytes that all workers may take together, or this process without a cluster."""
    limits = worker_limits()
    return sum(limits) if limits else available_memory()


def require_fitting(sizes: Sequence[int], who: str) -> None:
    """Refuse a partition of more bytes than a worker has memory, before it is computed."""
    limits = worker_limits()
    if not limits or not sizes or max(sizes) <= min(limits):
        return
    largest = max(range(len(sizes)), key=sizes.__getitem__)
    raise MemoryBudgetError(
        f"{who}: partition {largest} takes {readable(sizes[largest])}, but a worker of the Dask "
        f"cluster has {readable(min(limits))} of memory. Use smaller partitions: "
        "X.rechunk({0: rows}) for an array, X.repartition(partition_size=...) for a dataframe. Or "
        "give the workers more memory."
    )
