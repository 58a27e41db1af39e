"""The delimiter and the decimal mark of a text file, found or given."""

import numpy as np
import pytest

import thetahat as th
from thetahat.data.on_disk.text_format import DELIMITERS, find_delimiter

ROWS = [["size", "note", "y"], ["1.5", "a", "2"], ["-3", "b", "0.25"], ["2", "c", "1e3"]]


def write(path, delimiter, decimal="."):
    lines = (delimiter.join(row) for row in ROWS)
    path.write_text("\n".join(lines).replace(".", decimal) + "\n")
    return path


@pytest.mark.parametrize(
    ("delimiter", "decimal"),
    [(sign, mark) for sign in DELIMITERS for mark in (".", ",") if sign != mark],
)
def test_delimiter_and_decimal_mark_are_found(tmp_path, delimiter, decimal):
    path = write(tmp_path / "rows.csv", delimiter, decimal)
    source = th.scan(path, target="y", features=["size"])
    X, y, _ = source.arrays()
    assert X.ravel().tolist() == [1.5, -3.0, 2.0]
    assert y.tolist() == [2.0, 0.25, 1000.0]


def test_the_application_finds_the_same_delimiter(tmp_path):
    from thetahat.interfaces.tables.reading import column_names

    for delimiter in DELIMITERS:
        path = write(tmp_path / "rows.csv", delimiter)
        assert tuple(column_names(str(path))) == ("size", "note", "y")
        assert th.scan(path, target="note").schema.names == ("size", "y")


def test_decimal_commas_among_quotes_have_to_be_named(tmp_path):
    """Between commas, "1,234" may be 1.234 or 1234: it is not guessed."""
    path = tmp_path / "rows.csv"
    path.write_text('x,y\n"1,234",1\n"2,5",2\n')
    with pytest.raises(th.errors.DataError, match=r"'x' is categorical.*decimal=\",\""):
        th.scan(path, target="y").arrays()
    X, _, _ = th.scan(path, target="y", delimiter=",", decimal=",").arrays()
    assert X.ravel().tolist() == [1.234, 2.5]


def test_decimal_points_beside_commas(tmp_path):
    """A column of points stays one of numbers; a column of commas is not guessed then."""
    path = tmp_path / "rows.csv"
    path.write_text("x;y\n1,5;2.5\n2,5;3.5\n")
    with pytest.raises(th.errors.DataError, match=r"'x' is categorical \(row 0 holds '1,5'\)"):
        th.scan(path, target="y").arrays()
    assert th.scan(path, features=["y"]).arrays()[0].ravel().tolist() == [2.5, 3.5]
    with pytest.raises(th.errors.DataError, match=r"'y' is categorical \(row 0 holds '2.5'\)"):
        th.scan(path, features=["y"], decimal=",").arrays()


def test_a_given_decimal_mark_is_kept(tmp_path):
    path = write(tmp_path / "rows.csv", ";", ",")
    with pytest.raises(th.errors.DataError, match="'size' is categorical"):
        th.scan(path, features=["size"], decimal=".").arrays()
    path.write_text("1,5;2,5\n3,5;4,5\n")
    X, y, _ = th.scan(path, target=1, header=False, decimal=",").arrays()
    np.testing.assert_array_equal(X, [[1.5], [3.5]])
    np.testing.assert_array_equal(y, [2.5, 4.5])
    with pytest.raises(th.errors.DataError, match="begins with a line of numbers"):
        th.scan(path, target=1, decimal=",")
    with pytest.raises(th.errors.ParameterError, match="decimal=';' must be"):
        th.scan(path, decimal=";")


def test_labels_with_commas_are_no_numbers(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x;y\n1;a,b\n2;c,d\n")
    assert th.scan(path, target="y").arrays()[1].tolist() == ["a,b", "c,d"]


def test_fields_longer_than_the_limit_of_csv():
    long = ";".join(["1" * 100_000] * 3)
    assert find_delimiter(["a;b;c", long]) == ";"
    assert find_delimiter(["a"]) == ","


@pytest.mark.parametrize("text", ["1_000", "١٢"])
def test_text_that_only_python_reads_as_a_number_is_shown(tmp_path, text):
    path = tmp_path / "rows.csv"
    path.write_text(f"a,b\n1,2\n{text},3\n", encoding="utf-8")
    said = rf"column 'a' is categorical \(row 1 holds '{text}'\)"
    with pytest.raises(th.errors.DataError, match=said):
        th.LinearRegression().fit(th.scan(path, target="b"))


@pytest.mark.parametrize("sign", [";", "\t", "|"])
@pytest.mark.parametrize(
    "rows", [["0,13", "-0,13", "0,79"], ["0,5", "2", "7"], ["1,5e-3", "red", ",5"]]
)
def test_decimal_commas_without_a_header(tmp_path, sign, rows):
    path = tmp_path / "rows.csv"
    path.write_text(4 * (sign.join(rows) + "\n"))
    source = th.scan(path, target=-1, header=False, features=[0])
    assert source.arrays()[0][0, 0] == float(rows[0].replace(",", "."))
    assert source.arrays()[1].tolist() == [float(rows[-1].replace(",", "."))] * 4
    if "red" not in rows:
        with pytest.raises(th.errors.DataError, match="begins with a line of numbers"):
            th.scan(path, target=-1)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["1.234,5;2.000,25", "1.000,5;3,25"], ";"),
        (["12,5 %;€ 3,10", "1,5 %;€ 4,20"], ";"),
        (["1,2,a;b", "3,4,c;d"], ","),
        (["x,y;z", "1,2;3"], ","),
        (['"1,5",2', '"2,5",3'], ","),
    ],
)
def test_commas_in_numbers_and_between_fields(lines, expected):
    assert find_delimiter(lines) == expected
