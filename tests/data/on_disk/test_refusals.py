"""Bad files: each a clear error that names the offender and a remedy."""

import os
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from tests.data.on_disk.file_cases import (
    NAMES,
    WRITERS,
    columns,
    every_format,
    write_arrow,
    write_fortran,
    write_npy,
    write_parquet,
    write_stream,
    write_text,
)
from thetahat.data.on_disk.scan import _FORMATS, scan
from thetahat.foundation.errors import DataError, MissingExtraError, ParameterError


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    """Blocks of 512 rows, so that small files have several."""
    monkeypatch.setattr("thetahat.data.source.MAX_BLOCK_ROWS", 512)


def refused(path, *words, error=DataError, **options):
    with pytest.raises(error) as caught:
        list(scan(path, **options).blocks())
    for word in words:
        assert word in str(caught.value), str(caught.value)


@every_format
@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        (1, np.nan, ["Input X contains NaN", "row 1000"]),
        (1, np.inf, ["Input X contains infinity", "row 1000"]),
        (3, np.nan, ["Input y contains NaN", "row 1000"]),
        (4, np.nan, ["Input sample_weight contains NaN", "row 1000"]),
        (4, -2.0, ["weight at row 1000 is -2", "≥ 0"]),
    ],
)
def test_numbers_out_of_their_domain(tmp_path, suffix, write, column, value, words):
    data = columns(1_010)
    data[NAMES[column]][1_000] = value
    path = tmp_path / f"rows{suffix}"
    write(path, data)
    if write not in (write_npy, write_fortran) and not np.isfinite(value):
        words = [*words, f"'{NAMES[column]}'"]
    refused(path, path.name, *words, target=3, weight=4)


def test_nulls_are_missing_values(tmp_path):
    table = pa.table({"a": pa.array([1, None], pa.int64()), "y": [1.0, 2.0]})
    pyarrow.parquet.write_table(table, tmp_path / "rows.parquet")
    refused(tmp_path / "rows.parquet", "NaN", "'a'", "row 1", target="y")
    (tmp_path / "rows.csv").write_text("a,y\n1,2\n,3\n")
    refused(tmp_path / "rows.csv", "NaN", "'a'", "row 1", target="y")


def test_weights_that_are_all_zero(tmp_path):
    write_npy(tmp_path / "rows.npy", {"a": [1.0, 2.0], "w": [0.0, 0.0]})
    refused(tmp_path / "rows.npy", "all sample weights are zero", weight=1)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pa.array(["red", "1"]), ["categorical", "'red'"]),
        (pa.array(["a", "b"]).dictionary_encode(), ["categorical", "'a'"]),
        (pa.array([[1], [2]]), ["list", "[1]"]),
        (pa.array([0, 1], pa.date32()), ["date32"]),
    ],
)
@pytest.mark.parametrize("write", [write_parquet, write_arrow, write_stream])
def test_columns_that_are_no_numbers(tmp_path, write, column, words):
    suffix = next(ending for ending, writer in WRITERS if writer is write)
    write(tmp_path / f"rows{suffix}", {"x": [1.0, 2.0], "colour": column, "y": [1.0, 2.0]})
    refused(tmp_path / f"rows{suffix}", "'colour'", "features=", *words, target="y")
    assert scan(tmp_path / f"rows{suffix}", target="y", features=["x"]).n_rows == 2


def test_text_column_shows_what_is_no_number(tmp_path):
    (tmp_path / "rows.csv").write_text("a,y\n1,2\n?,3\n")
    refused(tmp_path / "rows.csv", "'a'", "row 1", "'?'", "features=", target="y")
    late = "a,y\n" + "1,2\n" * 400_000 + "x,2\n"
    (tmp_path / "rows.csv").write_text(late)
    refused(tmp_path / "rows.csv", "'a'", "'x'", "row 400000", target="y")


def test_missing_columns_name_close_ones(tmp_path):
    write_text(tmp_path / "rows.csv", columns(5))
    refused(tmp_path / "rows.csv", "'prices'", "Did you mean 'price'?", target="prices")
    refused(tmp_path / "rows.csv", "numbered 0 to 4", target=5)
    refused(tmp_path / "rows.csv", "is not a column", target=1.5)
    refused(tmp_path / "rows.csv", "'price'", "once", target="price", features=["price"])
    refused(tmp_path / "rows.csv", "no column is left", features=[])
    refused(tmp_path / "rows.csv", "single", weight=["price", "count"])
    write_npy(tmp_path / "rows.npy", columns(5))
    refused(tmp_path / "rows.npy", "have no names", target="price")


def test_targets_of_another_length(tmp_path):
    write_npy(tmp_path / "rows.npy", columns(5))
    refused(tmp_path / "rows.npy", "5 rows", "has 4", target=np.zeros(4))
    refused(tmp_path / "rows.npy", "5 rows", "has 4", target=np.array(list("abcd")))
    refused(tmp_path / "rows.npy", "dtype <U1", weight=np.array(list("abcde")))


def test_files_that_are_not_there(tmp_path):
    write_npy(tmp_path / "rows.npy", columns(5))
    refused(tmp_path / "row.npy", "'rows.npy'", error=FileNotFoundError)
    refused(tmp_path / "no" / "rows.npy", "no file", error=FileNotFoundError)
    refused(tmp_path, "directory")


@pytest.mark.parametrize("ending", sorted(_FORMATS))
def test_files_without_rows(tmp_path, ending):
    path = tmp_path / f"rows{ending}"
    path.write_bytes(b"")
    refused(path, "empty")
    write = next(writer for suffix, writer in WRITERS if suffix == ending)
    write(path, columns(0))
    refused(path, "no rows")


@pytest.mark.parametrize("ending", sorted(set(_FORMATS) - {".csv", ".tsv"}))
def test_files_that_hold_something_else(tmp_path, ending):
    path = tmp_path / f"rows{ending}"
    path.write_bytes(b"something else, and long enough to have a header of its own")
    refused(path, "is not a ", str(path))


@pytest.mark.parametrize("kept", [0.001, 0.5, 0.95])
@pytest.mark.parametrize(
    ("suffix", "write"),
    # A text file that ends early is a shorter text file; a packed one is not.
    [(suffix, write) for suffix, write in WRITERS if suffix not in (".csv", ".tsv")],
    ids=lambda part: getattr(part, "__name__", ""),
)
def test_truncated_files(tmp_path, suffix, write, kept):
    path = tmp_path / f"rows{suffix}"
    write(path, columns(2_000))
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content))])
    refused(path, str(path))


@every_format
def test_damaged_files(tmp_path, suffix, write):
    """Bytes changed at random, mostly where the format keeps its book: an error, never a crash."""
    path = tmp_path / f"rows{suffix}"
    write(path, columns(300))
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    ends = [*range(min(600, len(content))), *range(max(0, len(content) - 1_500), len(content))]
    refusals = 0
    for _ in range(25):
        damaged = bytearray(content)
        for place in rng.choice(ends, size=3):
            damaged[place] = rng.integers(256)
        path.write_bytes(damaged)
        try:
            list(scan(path, target=0).blocks())
        except DataError:
            refusals += 1
    assert refusals


def test_object_arrays_and_odd_shapes(tmp_path):
    path = tmp_path / "rows.npy"
    np.save(path, np.array([[1, "a"]], dtype=object), allow_pickle=True)
    refused(path, "Python objects")
    np.save(path, np.zeros(3))
    refused(path, "shape (3,)", "reshape(-1, 1)")
    np.save(path, np.zeros((2, 2, 2)))
    refused(path, "(2, 2, 2)")
    np.save(path, np.zeros((2, 2), dtype=complex))
    refused(path, "complex128")
    np.save(path, np.array([["a", "b"]]))
    refused(path, "categorical", "'a'")


def test_text_that_is_cut_wrongly(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b,c\n1,2,3\n4,5\n")
    refused(path, "row 1", "2 fields", "3 are expected", "'4,5'")
    path.write_text("a;b;c\n1;2;3\n")
    refused(path, "one column", "delimiter=';'", delimiter=",")
    path.write_text("a,a\n1,2\n")
    refused(path, "columns 0 and 1", "'a'")
    path.write_text("1,2\n3,4\n")
    refused(path, "header=False", target=1)
    path.write_bytes("größe,y\n1,2\n".encode("latin-1"))
    refused(path, "not utf-8", 'encoding="latin-1"', target="y")
    path.write_text("größe,y\n1,2\n", encoding="utf-16")
    refused(path, str(path), target="y")


def test_unknown_formats(tmp_path):
    path = tmp_path / "rows.xlsx"
    path.write_bytes(b"PK")
    refused(path, "'.xlsx'", "format=")
    refused(path, "'excel'", error=ParameterError, format="excel")
    refused(path, "delimiter='::'", error=ParameterError, format="csv", delimiter="::")
    refused(path, "encoding='utf-9'", error=ParameterError, format="csv", encoding="utf-9")


def test_npy_needs_no_arrow(tmp_path, monkeypatch):
    write_npy(tmp_path / "rows.npy", columns(10))
    write_text(tmp_path / "rows.csv", columns(10))
    for name in [name for name in sys.modules if name.split(".")[0] == "pyarrow"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert len(list(scan(tmp_path / "rows.npy", target=3).blocks())) == 1
    with pytest.raises(MissingExtraError, match=r"thetahat\[table\]"):
        scan(tmp_path / "rows.csv", target="price")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes of Unix")
@pytest.mark.parametrize("pattern", ["rows.csv", "*.csv"])
def test_a_named_pipe_is_refused_without_waiting(tmp_path, pattern):
    os.mkfifo(tmp_path / "rows.csv")
    with pytest.raises(DataError, match=r"not a regular file.*Copy its content"):
        scan(tmp_path / pattern)


def test_a_directory_that_a_pattern_matches_is_refused(tmp_path):
    (tmp_path / "p0.csv").write_text("x\n1\n")
    (tmp_path / "p1.csv").mkdir()
    (tmp_path / "p1.csv" / "rows.csv").write_text("x\n2\n")
    with pytest.raises(DataError, match=r"p1.csv, which is a directory.*p1.csv/\*.csv"):
        scan(tmp_path / "*.csv")
    assert scan(tmp_path / "**" / "*.csv").n_rows == 2
    assert scan([tmp_path / "p0.csv", tmp_path / "p1.csv" / "*.csv"]).n_rows == 2


@pytest.mark.parametrize("role", ["target", "weight"])
def test_arrays_without_columns(tmp_path, role):
    write_npy(tmp_path / "rows.npy", columns(9))
    np.save(tmp_path / "none.npy", np.zeros((9, 0)))
    for empty in (np.zeros((9, 0)), tmp_path / "none.npy"):
        refused(tmp_path / "rows.npy", f"{role} has shape (9, 0)", **{role: empty})


def test_arrays_beside_the_file_are_named_once(tmp_path):
    write_npy(tmp_path / "rows.npy", columns(9))
    path, bad = tmp_path / "rows.npy", np.full(9, np.nan)
    refused(path, "NaN: the target of the given array holds", target=bad)
    refused(path, "NaN: the weight of the given array holds", target=0, weight=bad)
    refused(path, "the given array: the weight at row 0 is -1", target=0, weight=-np.ones(9))


def test_fields_of_several_numbers(tmp_path):
    np.save(tmp_path / "rows.npy", np.zeros(20, [("a", "f8", (2,)), ("y", "f8")]))
    refused(tmp_path / "rows.npy", "column 'a'", "row 0 holds [0.0, 0.0]", target="y")


@pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes")
def test_names_that_are_not_utf8(tmp_path):
    for ending in (".parquet", ".csv", ".arrow"):
        folder = tmp_path / ending[1:]
        folder.mkdir()
        (folder / os.fsdecode(b"\xff\xfe" + ending.encode())).write_text("a,b")
        refused(folder / f"*{ending}", "is not UTF-8", "Rename it")


@pytest.mark.parametrize("encoding", ["base64", "idna", "undefined", None])
def test_encodings_that_are_not_of_text(tmp_path, encoding):
    write_text(tmp_path / "rows.csv", columns(9))
    refused(tmp_path / "rows.csv", "encoding=", error=ParameterError, encoding=encoding)


def test_text_in_another_encoding(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes("note,y\nrösti,1\n".encode("latin-1"))
    refused(path, "'note'", 'encoding="latin-1"', target="y")
    refused(path, "is not utf-16 text", 'encoding="utf-16-le"', target="y", encoding="utf-16")
    path.write_bytes(("note,y\n" + 300_000 * "abc,1\n" + "rösti,1\n").encode("latin-1"))
    with pytest.raises(DataError, match=r"not utf-8 text \(row 300000\).*latin-1"):
        scan(path, target="y").with_categories()


def test_links_to_missing_files(tmp_path):
    (tmp_path / "broken.parquet").symlink_to("gone.parquet")
    words = ["broken.parquet' is a link to 'gone.parquet', which does not exist"]
    refused(tmp_path / "broken.parquet", *words, error=FileNotFoundError)
    refused("~nobody-of-this-name/rows.csv", "There is no file", error=FileNotFoundError)


@pytest.mark.parametrize("option", ["features", "columns"])
def test_sets_of_columns_have_no_order(tmp_path, option):
    write_parquet(tmp_path / "rows.parquet", columns(9))
    refused(tmp_path / "rows.parquet", f"{option} is a set", **{option: {"width", "height"}})
    assert scan(tmp_path / "rows.parquet", **{option: 0}).n_features == 1
