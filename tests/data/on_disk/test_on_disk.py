"""Files give the blocks that the same numbers give in memory, in memory that does not grow."""

import os
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pytest

from tests.data.on_disk.file_cases import (
    NAMES,
    WRITERS,
    columns,
    every_format,
    write_arrow,
    write_fortran,
    write_npy,
    write_one_row_group,
    write_parquet,
    write_structured,
)
from thetahat.data.columns.schema import Kind
from thetahat.data.on_disk.file_source import rebatch
from thetahat.data.on_disk.scan import _FORMATS, scan
from thetahat.data.summaries.moments import moments
from thetahat.data.validation import as_source


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    """Blocks of 512 rows, so that small files have several."""
    monkeypatch.setattr("thetahat.data.source.MAX_BLOCK_ROWS", 512)


def in_memory(data, features=NAMES[:3]):
    X = np.column_stack([data[name] for name in features])
    return as_source(X, data["price"], data["count"])


def same_blocks(one, other):
    for left, right in zip(one.blocks(), other.blocks(), strict=True):
        assert left.start == right.start
        for a, b in ((left.X, right.X), (left.y, right.y), (left.weight, right.weight)):
            assert (a is None) == (b is None)
            if a is not None:
                assert a.dtype == b.dtype
                assert a.flags.c_contiguous
                np.testing.assert_array_equal(a, b, strict=True)


def test_every_known_ending_is_tested():
    assert {"." + suffix.split(".")[1] for suffix, _ in WRITERS} == set(_FORMATS)


@every_format
def test_same_blocks_as_in_memory(tmp_path, suffix, write):
    data = columns()
    path = tmp_path / f"rows{suffix}"
    write(path, data)
    source = scan(path, target=3, weight=-1)
    assert source.n_rows == 1_301
    assert source.n_features == 3
    assert source.n_outputs == 0
    assert source.has_target
    assert source.has_weight
    same_blocks(source, in_memory(data))
    # A second pass, and a copy in another process, read the same.
    same_blocks(pickle.loads(pickle.dumps(source)), source)


@every_format
def test_same_bits_in_a_reduction(tmp_path, suffix, write):
    data = columns()
    path = tmp_path / f"rows{suffix}"
    write(path, data)
    found, expected = moments(scan(path, target=3, weight=4)), moments(in_memory(data))
    np.testing.assert_array_equal(found.scatter, expected.scatter)
    np.testing.assert_array_equal(found.mean, expected.mean)


@every_format
def test_names_choose_columns_in_any_order(tmp_path, suffix, write):
    data = columns(300)
    path = tmp_path / f"rows{suffix}"
    write(path, data)
    if write in (write_npy, write_fortran):
        source = scan(path, target=3, weight=4, features=[2, 0])
        assert source.schema.names == ()
    else:
        source = scan(path, target="price", weight="count", features=["depth", "height"])
        assert source.schema.names == ("depth", "height")
        assert source.schema.columns[0].kind is Kind.NUMERIC
    same_blocks(source, in_memory(data, ["depth", "height"]))


@pytest.mark.parametrize("write", [write_npy, write_fortran, write_parquet, write_arrow])
def test_single_precision_stays(tmp_path, write):
    suffix = next(ending for ending, writer in WRITERS if writer is write)
    data = columns(600, np.float32)
    path = tmp_path / f"rows{suffix}"
    write(path, data)
    source = scan(path, target=3, weight=4)
    assert source.dtype == np.float32
    same_blocks(source, in_memory(data))


def test_one_double_column_makes_it_double(tmp_path):
    data = columns(100, np.float32)
    data["width"] = data["width"].astype(np.float64)
    write_parquet(tmp_path / "rows.parquet", data)
    assert scan(tmp_path / "rows.parquet", target="price").dtype == np.float64
    # The target alone does not: X is single, and y follows it, as in memory.
    data["width"], data["price"] = data["height"], data["price"].astype(np.float64)
    write_parquet(tmp_path / "rows.parquet", data)
    source = scan(tmp_path / "rows.parquet", target="price", weight="count")
    assert source.dtype == np.float32
    same_blocks(source, in_memory(data))


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".csv", ".npy"])
def test_integers_and_booleans_become_numbers(tmp_path, suffix):
    data = {"k": np.array([3, -1, 2**40]), "b": np.array([True, False, True])}
    path = tmp_path / f"rows{suffix}"
    if suffix == ".csv":
        pyarrow.csv.write_csv(pa.table(data), path)
    elif suffix == ".npy":
        write_structured(path, data)
    else:
        {".parquet": write_parquet, ".arrow": write_arrow}[suffix](path, data)
    source = scan(path)
    assert source.dtype == np.float64
    assert [column.kind for column in source.schema.columns] == [Kind.DISCRETE, Kind.BOOLEAN]
    (block,) = source.blocks()
    np.testing.assert_array_equal(block.X, [[3, 1], [-1, 0], [2**40, 1]])


def test_text_may_turn_from_integers_to_reals(tmp_path):
    """The first megabyte holds integers only; what follows is read just the same."""
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n" + "1,2\n" * 400_000 + "0.5,1e3\n")
    *_, last = scan(path, target="b").blocks()
    assert last.X[-1, 0] == 0.5
    assert last.y[-1] == 1000.0


def test_text_with_lines_longer_than_a_block(tmp_path):
    width = 1_200
    path = tmp_path / "wide.csv"
    line = ",".join(["1.25" + 1_000 * "0"] * width)
    path.write_text(",".join(f"c{j}" for j in range(width)) + f"\n{line}\n{line}\n")
    (block,) = scan(path).blocks()
    np.testing.assert_array_equal(block.X, np.full((2, width), 1.25))


def test_quoted_text_beside_the_numbers_is_skipped(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text('a,note,y\n1,"two\nlines, quoted",3\n\n4,ü,6\n', encoding="utf-8")
    source = scan(path, target="y", features=["a"])
    (block,) = source.blocks()
    np.testing.assert_array_equal(block.X, [[1], [4]])
    np.testing.assert_array_equal(block.y, [3, 6])
    assert source.n_rows == 2


def test_header_delimiter_and_encoding_can_be_named(tmp_path):
    path = tmp_path / "rows.txt"
    path.write_bytes("größe;y\n1;2\n".encode("latin-1"))
    source = scan(path, target="y", format="csv", delimiter=";", encoding="latin-1")
    assert source.schema.names == ("größe",)
    path.write_text("1,2\n3,4\n")
    source = scan(path, target=1, format="csv", header=False)
    assert source.schema.names == ()
    (block,) = source.blocks()
    np.testing.assert_array_equal(block.X, [[1], [3]])
    years = scan(path, target="2", format="csv", header=True)
    assert years.schema.names == ("1",)


@every_format
def test_several_targets(tmp_path, suffix, write):
    data = columns(50)
    path = tmp_path / f"rows{suffix}"
    write(path, data)
    source = scan(path, target=[3, 0], weight=4)
    assert source.n_outputs == 2
    (block,) = source.blocks()
    np.testing.assert_array_equal(block.y, np.column_stack([data["price"], data["height"]]))
    (block,) = scan(path, target=[3]).blocks()
    assert block.y.shape == (50, 1)


@pytest.mark.parametrize("where", ["array", "file"])
def test_target_and_weight_beside_the_file(tmp_path, where):
    data = columns()
    X = np.column_stack([data[name] for name in NAMES[:3]])
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", data["price"])
    np.save(tmp_path / "w.npy", data["count"])
    if where == "array":
        source = scan(tmp_path / "X.npy", target=data["price"], weight=data["count"])
    else:
        source = scan(tmp_path / "X.npy", target=str(tmp_path / "y.npy"), weight=tmp_path / "w.npy")
    same_blocks(source, in_memory(data))
    np.save(tmp_path / "Y.npy", X[:, :2])
    assert scan(tmp_path / "X.npy", target=tmp_path / "Y.npy").n_outputs == 2


def test_without_target_there_is_none(tmp_path):
    write_npy(tmp_path / "X.npy", columns(10))
    source = scan(tmp_path / "X.npy")
    (block,) = source.blocks()
    assert not source.has_target
    assert block.y is None
    assert block.weight is None


def test_rebatch_keeps_rows_and_makes_equal_blocks():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((1000, 3))
    for _ in range(20):
        cuts = np.sort(rng.integers(0, 1000, rng.integers(0, 9)))
        pieces = [np.asfortranarray(piece) for piece in np.split(rows, cuts)]
        batches = list(rebatch(pieces, 64))
        assert [len(batch) for batch in batches] == [64] * 15 + [40]
        np.testing.assert_array_equal(np.concatenate(batches), rows)


# The peak of this very program: ru_maxrss would count the process it was forked from.
MEASURE = """
    import re, sys
    from thetahat.data.summaries.moments import moments
    from thetahat.data.on_disk.scan import scan
    if sys.argv[2:]:
        import numpy
        from thetahat.data.validation import as_source
        found = moments(as_source(numpy.load(sys.argv[1], mmap_mode="r"), check_finite=False))
    else:
        found = moments(scan(sys.argv[1], target=0))
    peak = re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())
    print(found.n_rows, int(peak[1]) // 1024)
"""


def write_long_text(path, columns):
    pyarrow.csv.write_csv(pa.table(columns), path)


def write_one_batch(path, columns):
    table = pa.table(columns)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from /proc")
@pytest.mark.parametrize(
    ("suffix", "write"),
    [
        (".npy", write_npy),
        (".npy", write_fortran),
        (".csv", write_long_text),
        (".parquet", write_one_row_group),
        (".arrow", write_one_batch),
        (".npy", "memory map"),
    ],
    ids=lambda part: getattr(part, "__name__", ""),
)
def test_memory_does_not_grow_with_rows(tmp_path, suffix, write):
    """Eight times the rows are 168 MB more of numbers; the peak may grow by a quarter of that.

    Parquet in a single row group and Arrow in a single batch: the layouts that read worst.
    """
    peaks = []
    for n_rows in (150_000, 1_200_000):
        rng = np.random.default_rng(0)
        path = tmp_path / f"rows{suffix}"
        columns = {f"x{j}": rng.standard_normal(n_rows) for j in range(20)}
        (write_npy if write == "memory map" else write)(path, columns)
        mapped = ["mapped"] if write == "memory map" else []
        run = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(MEASURE), str(path), *mapped],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "OMP_NUM_THREADS": "2"},
        )
        rows, peak = map(int, run.stdout.split())
        assert rows == n_rows
        peaks.append(peak)
    assert peaks[1] - peaks[0] < 42, peaks


def test_a_scan_prints_on_one_line(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"c{j}" for j in range(50)) + "\n" + ",".join(["1.0"] * 50) + "\n")
    assert repr(scan(path, target="c49")) == f"<FileSource {path}, 49 columns>"
