"""The same numbers written in every format that `scan` reads."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pytest

NAMES = ["height", "width", "depth", "price", "count"]
"""Three features, a target, a weight."""


def write_npy(path, columns):
    np.save(path, np.column_stack(list(columns.values())))


def write_fortran(path, columns):
    np.save(path, np.asfortranarray(np.column_stack(list(columns.values()))))


def write_structured(path, columns):
    np.save(path, np.rec.fromarrays(list(columns.values()), names=list(columns)).view(np.ndarray))


def write_text(path, columns, delimiter=","):
    lines = [delimiter.join(columns)]
    rows = np.column_stack(list(columns.values())).tolist()
    lines += [delimiter.join(map(repr, row)) for row in rows]
    path.write_text("\n".join(lines) + "\n")


def write_tab(path, columns):
    write_text(path, columns, "\t")


def write_parquet(path, columns):
    pyarrow.parquet.write_table(pa.table(columns), path, row_group_size=701)


def write_one_row_group(path, columns):
    pyarrow.parquet.write_table(pa.table(columns), path)


def write_arrow(path, columns):
    table = pa.table(columns)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=1_100)


def write_stream(path, columns):
    table = pa.table(columns)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=99)


def write_feather(path, columns):
    pyarrow.feather.write_feather(pa.table(columns), str(path), compression="lz4")


def write_packed_text(path, columns):
    with pa.CompressedOutputStream(str(path), "gzip") as file:
        pyarrow.csv.write_csv(pa.table(columns), file)


WRITERS = [
    (".npy", write_npy),
    (".npy", write_fortran),
    (".npy", write_structured),
    (".csv", write_text),
    (".csv.gz", write_packed_text),
    (".tsv", write_tab),
    (".parquet", write_parquet),
    (".pq", write_one_row_group),
    (".arrow", write_arrow),
    (".feather", write_feather),
    (".ipc", write_stream),
]
every_format = pytest.mark.parametrize(
    ("suffix", "write"), WRITERS, ids=[writer.__name__ for _, writer in WRITERS]
)


def columns(n_rows=1_301, dtype=np.float64):
    rng = np.random.default_rng(0)
    values = rng.standard_normal((len(NAMES), n_rows)) * 10.0 ** rng.integers(-3, 4, (5, 1))
    values[-1] = rng.integers(0, 4, n_rows)
    return {name: column.astype(dtype) for name, column in zip(NAMES, values, strict=True)}
