"""Tables from files of every kind, and what is wrong with those that are none."""

import io
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import thetahat as th
from thetahat.interfaces.tables.reading import column_names, read_batches, read_table

ROWS = {"name": ["a, b", "ü", None], "size": [1.5, 2.0, 3.0]}


@pytest.fixture
def table():
    return pl.DataFrame(ROWS)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_are_found(tmp_path, table, delimiter):
    path = tmp_path / "data.txt"
    table.write_csv(path, separator=delimiter)
    found = read_table(str(path))
    assert found["name"].to_list() == ROWS["name"]
    assert found["size"].to_list() == ["1.5", "2.0", "3.0"]
    assert column_names(str(path)) == ["name", "size"]


@pytest.mark.parametrize("kind", ["parquet", "arrow", "xlsx"])
def test_other_files(tmp_path, table, kind):
    path = tmp_path / f"data.{kind}"
    if kind == "parquet":
        table.write_parquet(path)
    elif kind == "arrow":
        table.write_ipc(path)
    else:
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        for row in [table.columns, *table.rows()]:
            book.active.append(row)
        book.save(path)
    found = read_table(str(path))
    assert found["name"].to_list() == ROWS["name"]
    assert [float(each) for each in found["size"]] == ROWS["size"]
    assert column_names(str(path)) == ["name", "size"]


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x,y\n1,2\n3,4\n")))
    assert read_table("-")["y"].to_list() == ["2", "4"]


def test_byte_order_marks_and_crlf(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b"\xef\xbb\xbfx,y\r\n1,2\r\n")
    assert read_table(str(path)).to_dict(as_series=False) == {"x": ["1"], "y": ["2"]}


def test_batches_are_the_table(tmp_path):
    path = tmp_path / "data.csv"
    numbers = np.random.default_rng(0).random((60_000, 8)).round(12)
    pl.DataFrame(numbers, schema=[f"c{j}" for j in range(8)]).write_csv(path)
    batches = list(read_batches(str(path), columns=["c5", "c1"]))
    assert len(batches) > 1
    whole = pl.concat(batches)
    assert whole.columns == ["c5", "c1"]
    np.testing.assert_array_equal(whole["c5"].cast(float).to_numpy(), numbers[:, 5])


@pytest.mark.parametrize("gap", ["", "NA", "?", "nan", "NULL", "N/A"])
def test_ways_to_write_nothing(tmp_path, gap):
    path = tmp_path / "data.csv"
    path.write_text(f"x,y\n1,{gap}\n2,b\n")
    assert read_table(str(path))["y"].to_list() == [None, "b"]


REFUSED = {
    "empty": (b"", "is empty"),
    "blank": (b"\n\n", "is empty"),
    "names only": (b"x,y\n", "no row"),
    "twice": (b"x,y,x\n1,2,3\n", r"2 columns named 'x' \(columns 1, 3\)"),
    "nameless": (b"x,,z\n1,2,3\n", "Column 2 .* has no name"),
    "ragged": (b"x,y\n1,2\n1,2,3\n", "line 3 has 3 fields, but 2 are expected"),
    "latin-1": ("x,y\n1,café\n".encode("latin-1"), "not utf-8 text.*--encoding latin-1"),
    "names alone": (b"x,y", "has column names but no rows"),
    "utf-16": ("x,y\n1,2\n".encode("utf-16"), "is UTF-16 text. Use --encoding utf-16"),
    "binary": (b"PK\x03\x04\x00\x00" * 50, "is not a text file"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_files_that_are_no_tables(tmp_path, name):
    content, message = REFUSED[name]
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    with pytest.raises(th.errors.DataError, match=message):
        read_table(str(path))


def test_inputs_that_cannot_be_opened(monkeypatch):
    with pytest.raises(th.errors.DataError, match="The path is empty"):
        read_table("")
    monkeypatch.setattr("sys.stdin", None)  # closed: <&-
    with pytest.raises(th.errors.DataError, match="Standard input is closed"):
        read_table("-")


def test_cells_without_a_name_are_not_dropped(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [["x", "y"], [1, 2], [1, 2, 3]]:
        book.active.append(row)
    book.save(tmp_path / "wide.xlsx")
    with pytest.raises(th.errors.DataError, match=r"Row 2 of .* has more cells than"):
        read_table(str(tmp_path / "wide.xlsx"))


def test_non_utf8_far_into_the_file(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b"x,y\n" + b"1,abc\n" * 20_000 + "2,caf\xe9\n".encode("latin-1"))
    with pytest.raises(th.errors.DataError, match="utf-8"):
        read_table(str(path))
    assert read_table(str(path), encoding="latin-1")["y"][-1] == "café"


def test_files_that_are_not_there(tmp_path):
    (tmp_path / "other.csv").write_text("x\n1\n")
    with pytest.raises(th.errors.DataError, match=r"There is no file .*Existing files: other\.csv"):
        read_table(str(tmp_path / "absent.csv"))
    with pytest.raises(th.errors.DataError, match="is a directory"):
        read_table(str(tmp_path))
    (tmp_path / "fake.parquet").write_text("no parquet")
    with pytest.raises(th.errors.DataError, match=r"fake\.parquet cannot be read"):
        read_table(str(tmp_path / "fake.parquet"))
    (tmp_path / "fake.xlsx").write_text("no workbook")
    with pytest.raises(th.errors.DataError, match="is not an Excel file"):
        read_table(str(tmp_path / "fake.xlsx"))


def test_ten_thousand_columns(tmp_path):
    path = tmp_path / "wide.csv"
    names = [f"c{j}" for j in range(10_000)]
    path.write_text(",".join(names) + "\n" + "\n".join(",".join(["1"] * 10_000) for _ in range(3)))
    assert read_table(str(path)).shape == (3, 10_000)


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the peak of its memory")
@pytest.mark.processes
def test_memory_does_not_grow_with_the_file(tmp_path):
    """Reading 100 MB in batches takes no more than reading 10 MB, give or take."""
    line = ",".join(f"{each:.12f}" for each in np.random.default_rng(0).random(10)) + "\n"
    peaks = []
    for megabytes in (10, 100):
        path = tmp_path / "data.csv"
        with open(path, "w") as file:
            file.write(",".join(f"c{j}" for j in range(10)) + "\n")
            file.write(line * (megabytes * 1_000_000 // len(line)))
        code = (
            "import re, sys\n"
            "from thetahat.interfaces.tables.reading import read_batches\n"
            "n = sum(batch.height for batch in read_batches(sys.argv[1]))\n"
            "status = open('/proc/self/status').read()\n"
            "print(int(re.search(r'VmHWM:\\s+(\\d+)', status)[1]) // 1024)"
        )
        run = subprocess.run(
            [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
        )
        peaks.append(int(run.stdout))
    assert peaks[1] < peaks[0] + 60


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
@pytest.mark.processes
def test_a_refused_table_leaves_no_thread_behind(tmp_path, encoding):
    """A thread of Arrow that called Python while the interpreter ended aborted the process."""
    path = tmp_path / "rows.csv"
    path.write_bytes(b"x,y\n" + b"1,abc\n" * 200_000)
    script = (
        "from thetahat.interfaces.tables.reading import read_batches\n"
        "from thetahat.foundation.errors import DataError\n"
        "try:\n"
        f"    list(read_batches({str(path)!r}, encoding={encoding!r}, columns=['x', 'z']))\n"
        "except DataError:\n"
        "    raise SystemExit(3)\n"
    )
    for _ in range(3):
        run = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60)
        assert run.returncode == 3, run.stderr.decode()


def test_lines_may_end_in_a_carriage_return_alone(tmp_path):
    path = tmp_path / "old.csv"
    path.write_bytes(b"a,b,y\r1,2,3\r4,5,6\r")
    table = read_table(str(path))
    assert column_names(str(path)) == ["a", "b", "y"]
    assert len(table) == 2
