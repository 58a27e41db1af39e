"""Fits to a Parquet data set that is larger than the memory they may use.

    python -m benchmarks.out_of_core                       # 6 GB under a limit of 1.5 GB
    python -m benchmarks.out_of_core --scale 0.1           # 0.6 GB under a limit of 0.96 GB
    python -m benchmarks.out_of_core --folder /data/big    # where the files are made and kept

The data set has 50 columns of float64, a target and a label, in files of 12 row groups. Every fit
runs in a process of its own with a limit on its memory (``RLIMIT_DATA``: all memory that is not the
cache of a file), which ends the fit with an error if it is exceeded. The first line of the table is
the time of reading all files alone, with the same reader; a fit that needs one pass should take at
most 1/0.7 of it. Peak memory is the high-water mark of the process; pages of the mapped codes of
trees are included while they are resident.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import thetahat as th
from benchmarks.memory import status

N_COLUMNS = 50
ROWS_PER_FILE = 1_200_000
FILES = 12
"""At full size: 12 files of 1.2 million rows and 52 columns of 8 bytes, 6 GB."""
LIMIT = 1.5e9
BASE = 0.9e9
"""Address space of the interpreter, its threads and BLAS, which does not shrink with the data."""


def make(folder: Path, scale: float) -> int:
    """Write the files; return their size in bytes. Files that exist are kept."""
    import pyarrow as pa
    import pyarrow.parquet

    folder.mkdir(parents=True, exist_ok=True)
    rows = int(ROWS_PER_FILE * scale)
    weights = np.random.default_rng(0).standard_normal(N_COLUMNS)
    for number in range(FILES):
        path = folder / f"part-{number:02}.parquet"
        if path.exists():
            continue
        random = np.random.default_rng([1, number])
        schema, writer = None, None
        for _ in range(12):
            X = random.standard_normal((rows // 12, N_COLUMNS))
            z = X @ weights + np.square(X[:, 0]) + random.standard_normal(len(X))
            columns = {f"x{j}": X[:, j] for j in range(N_COLUMNS)}
            group = pa.table({**columns, "y": z, "label": (z > 1.0).astype(np.int8)})
            if writer is None:
                schema = group.schema
                writer = pa.parquet.ParquetWriter(
                    path.with_suffix(".part"), schema, compression="none", use_dictionary=False
                )
            writer.write_table(group)
        assert writer is not None
        writer.close()
        path.with_suffix(".part").rename(path)
    return sum(path.stat().st_size for path in folder.glob("part-*.parquet"))


def read(source: Any) -> float:
    """Read all rows and use none."""
    return float(sum(block.n_rows for block in source.blocks()))


CASES: dict[str, tuple[str, Callable[[Any], Any], bool]] = {
    "reading alone": ("y", read, True),
    "LinearRegression": ("y", th.LinearRegression().fit, True),
    "GaussianNB": ("label", th.GaussianNB().fit, True),
    "PCA": ("y", th.PCA(10).fit, True),
    "LogisticRegression": ("label", th.LogisticRegression().fit, False),
    "KMeans": ("y", th.KMeans(8, n_init=1, max_iter=5, random_state=0).fit, False),
    "HistGradientBoosting": (
        "label",
        th.HistGradientBoostingClassifier(max_iter=10, early_stopping=False).fit,
        False,
    ),
}
"""Target, fit, and whether the fit needs one pass over the rows."""


def run(case: str, folder: str, limit: int) -> None:
    """One fit in this process, under the limit; prints the result as JSON."""
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    target, fit, _ = CASES[case]
    features = [f"x{j}" for j in range(N_COLUMNS)]
    source = th.scan(f"{folder}/part-*.parquet", target=target, features=features)
    # Half of the limit for one operation; the rest is for the interpreter and for blocks.
    budget = max(1, int((limit - BASE) / 2))
    with th.config(memory=budget), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few iterations do not converge
        begun = time.perf_counter()
        fit(source)
        seconds = time.perf_counter() - begun
    print(json.dumps({"seconds": seconds, "peak": status("VmHWM")}))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full 6 GB")
    parser.add_argument("--folder", type=Path, help="where the files are made and kept")
    parser.add_argument("--only", nargs="*", choices=list(CASES), help="some of the cases")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("--limit", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.case:
        run(options.case, str(options.folder), options.limit)
        return
    limit = int(BASE + (LIMIT - BASE) * options.scale)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        size = make(folder, options.scale)
        print(f"{size / 1e9:.2f} GB in {FILES} files; limit on memory {limit / 1e9:.2f} GB")
        print(f"{'case':<22}{'seconds':>9}{'reading alone / fit':>21}{'peak GB':>9}")
        reading = None
        for case in options.only or CASES:
            found = _in_its_own_process(case, folder, limit)
            if found is None:
                print(f"{case:<22}{'exceeded the limit or failed':>30}")
                continue
            reading = found["seconds"] if case == "reading alone" else reading
            one_pass = CASES[case][2] and reading is not None
            share = f"{reading / found['seconds']:.0%}" if one_pass else "several passes"
            print(f"{case:<22}{found['seconds']:>9.2f}{share:>21}{found['peak'] / 1e9:>9.2f}")


def _in_its_own_process(case: str, folder: Path, limit: int) -> dict[str, Any] | None:
    command = [sys.executable, "-m", "benchmarks.out_of_core", "--case", case]
    command += ["--folder", str(folder), "--limit", str(limit)]
    # The default pool of Arrow reserves 1 GB of addresses, which count as data though none is used.
    env = os.environ | {"ARROW_DEFAULT_MEMORY_POOL": "system"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    if done.returncode:
        print(done.stderr.strip().splitlines()[-1] if done.stderr else done.returncode)
        return None
    return dict(json.loads(done.stdout.splitlines()[-1]))


if __name__ == "__main__":
    main()
