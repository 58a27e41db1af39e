"""One and two workers of a Dask cluster: k-means, logistic regression, the overhead of a pass.

    python -m benchmarks.dask_workers              # 400,000 and 4,000,000 × 40, 16 partitions each
    python -m benchmarks.dask_workers --rows 50000 # a trial

Workers are single-threaded processes, and the rows are kept in their memory. The time of a fit is
the best of some, with the number of iterations fixed, so that both clusters do the same work. Every
pass costs the cluster some 50 ms however few the rows are, which no second worker shortens: the
smaller table shows what that does to the speed-up. It is meaningful only if two cores are free: the
script prints the load of the machine.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import thetahat as th

ITERATIONS = 10
WANTED = 1.6


def models() -> dict[str, Callable[[Any, Any], Any]]:
    """The fits to be timed, all of a fixed number of iterations."""
    return {
        "k-means, k = 50": lambda X, y: th.KMeans(
            50, init=np.asarray(X[:50]), max_iter=ITERATIONS, tol=0.0
        ).fit(X),
        "logistic regression": lambda X, y: th.LogisticRegression(
            max_iter=ITERATIONS, tol=1e-300
        ).fit(X, y),
    }


def best_time(fit: Callable[[], Any], repeats: int) -> float:
    """The least time of some calls, after one that starts up the workers."""
    fit()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        fit()
        times.append(time.perf_counter() - start)
    return min(times)


def measured(n_workers: int, rows: int, columns: int, partitions: int, repeats: int) -> Any:
    """Seconds of each fit on this many workers, and of a pass over rows that does nothing."""
    import dask.array as da
    from distributed import Client, LocalCluster, wait

    random = np.random.default_rng(0)
    X = random.standard_normal((rows, columns))
    y = (X[:, 0] + random.standard_normal(rows) > 0).astype(int)
    chunk = -(-rows // partitions)
    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs=50,
        ) as cluster,
        Client(cluster),
    ):
        dX = da.from_array(X, chunks=(chunk, columns)).persist()
        dy = da.from_array(y, chunks=chunk).persist()
        wait([dX, dy])
        found = {
            name: best_time(lambda fit=fit: fit(dX, dy), repeats) for name, fit in models().items()
        }
        source = th.from_dask(dX, dy)
        empty = best_time(lambda: source.reduce(_nothing), 20)
    return found, empty


class _Nothing:
    def merge(self, other: Any) -> Any:
        return self


def _nothing(block: Any) -> _Nothing:
    return _Nothing()


def compare(**given: int) -> None:
    """One worker and two, on a table of one size."""
    print("{rows:,} × {columns} in {partitions} partitions".format(**given))
    one, empty_one = measured(1, **given)
    two, empty_two = measured(2, **given)
    for name in one:
        ratio = one[name] / two[name]
        verdict = "reached" if ratio >= WANTED else f"below {WANTED}"
        print(f"{name:22} {one[name]:8.2f} s {two[name]:8.2f} s   {ratio:5.2f} × ({verdict})")
    print(f"{'empty pass':22} {1e3 * empty_one:8.1f} ms {1e3 * empty_two:7.1f} ms")


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[400_000, 4_000_000])
    parser.add_argument("--columns", type=int, default=40)
    parser.add_argument("--partitions", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=3)
    given = vars(parser.parse_args())
    warnings.simplefilter("ignore")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before the run")
    for rows in given.pop("rows"):
        compare(rows=rows, **given)


if __name__ == "__main__":
    main()
