"""Peak memory of a least-squares fit from a file, as the file grows eightfold.

Each fit runs in a process of its own, which first fits a few rows of the same format, so that the
libraries' own pages are loaded and only what the rows cost is counted. Pages of a mapped file count
while they are resident, so a reader that maps a file must let them go to pass.

    python -m benchmarks.families.linear.linear_files scan PATH FEW_ROWS_PATH
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.harness import Finding, in_new_process
from benchmarks.memory import peak_of
from benchmarks.report import size

COLUMNS = 50
ROWS, QUICK_ROWS = 250_000, 4_000
GROWTH = 8
MOST = 1.25
"""Peak memory may grow by this factor, which leaves room for the allocator's moods."""
PIECE = 50_000
"""Rows written at a time; a row group of the Parquet file."""
FORMATS = ("npy", "parquet")


def memory_against_rows(quick: bool, say: Callable[[str], None]) -> Finding:
    """Write each format at 1× and 8× the rows, fit both, compare the peaks."""
    rows_once = QUICK_ROWS if quick else ROWS
    rows, bars = [], []
    with TemporaryDirectory() as folder:
        for kind in FORMATS:
            few = write(Path(folder, f"few.{kind}"), 100)
            paths = [
                write(Path(folder, f"{factor}x.{kind}"), factor * rows_once)
                for factor in (1, GROWTH)
            ]
            for reader, label in (("scan", "thetahat, th.scan"), ("load", "scikit-learn, loaded")):
                say(f"memory: {kind}, {label}")
                peaks = [
                    in_new_process(
                        "benchmarks.families.linear.linear_files", reader, str(path), str(few)
                    )
                    for path in paths
                ]
                growth = peaks[1] / max(peaks[0], 1)
                rows.append(
                    {
                        "file": kind,
                        "reader": label,
                        "file at 1×": paths[0].stat().st_size,
                        "peak at 1×": peaks[0],
                        f"peak at {GROWTH}×": peaks[1],
                        "growth": growth,
                    }
                )
                if reader == "scan":
                    text = f"{kind}: peak memory grows at most {MOST}× when rows grow {GROWTH}×"
                    bars.append((text, growth, growth <= MOST))
            for path in paths:
                path.unlink()
    sizes = ("file at 1×", "peak at 1×", f"peak at {GROWTH}×")
    return Finding(rows, dict.fromkeys(sizes, size) | {"growth": "{:.2f}×".format}, bars)


def write(path: Path, n_rows: int) -> Path:
    """Columns x0, x1, ... and y, written piece by piece; y is the last column of an .npy file."""
    random = np.random.default_rng(0)
    theta = random.standard_normal(COLUMNS)
    names = [*(f"x{j}" for j in range(COLUMNS)), "y"]

    def piece(n: int) -> Any:
        X = random.standard_normal((n, COLUMNS))
        return np.column_stack([X, X @ theta + 1.0 + random.standard_normal(n)])

    pieces = [min(PIECE, n_rows - start) for start in range(0, n_rows, PIECE)]
    if path.suffix == ".npy":
        shape = (n_rows, COLUMNS + 1)
        table = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=shape)
        for index, n in enumerate(pieces):
            table[index * PIECE : index * PIECE + n] = piece(n)
        table.flush()
    else:
        import pyarrow
        import pyarrow.parquet

        schema = pyarrow.schema([(name, pyarrow.float64()) for name in names])
        with pyarrow.parquet.ParquetWriter(path, schema) as writer:
            for n in pieces:
                columns = dict(zip(names, piece(n).T, strict=True))
                writer.write_table(pyarrow.table(columns, schema=schema))
    return path


def scan(path: Path) -> Any:
    import thetahat as th

    target = "y" if path.suffix == ".parquet" else -1
    return th.LinearRegression().fit(th.scan(path, target=target))


def load(path: Path) -> Any:
    from sklearn.linear_model import LinearRegression

    if path.suffix == ".parquet":
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(path).to_pandas().to_numpy()
    else:
        table = np.load(path)
    return LinearRegression().fit(table[:, :-1], table[:, -1])


READERS = {"scan": scan, "load": load}


if __name__ == "__main__":
    read = READERS[sys.argv[1]]
    read(Path(sys.argv[3]))
    print(json.dumps(peak_of(lambda: read(Path(sys.argv[2])))[1] or 0))
