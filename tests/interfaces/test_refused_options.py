"""Options that cannot be used are refused in one line that names the option as it was typed."""

import json
from datetime import date, timedelta

import polars as pl
import pytest

from thetahat.foundation.errors import DataError
from thetahat.interfaces.command_line import main
from thetahat.interfaces.prediction import UnknownValues, as_seen
from thetahat.interfaces.tables.reading import read_table

ROWS = 60


def run(capsys, *argv):
    code = main([str(each) for each in argv])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def refusal(capsys, *argv):
    """The only line that a refused command prints about its refusal."""
    code, out, err = run(capsys, *argv)
    assert code == 1
    assert out == ""
    last = err.splitlines()[-1]
    assert last.startswith(f"thetahat {argv[0]}: ")
    assert "unexpected error" not in last
    return last.removeprefix(f"thetahat {argv[0]}: ")


@pytest.fixture
def data(tmp_path):
    """A date, two columns, groups, and a numeric target of many values."""
    path = tmp_path / "data.csv"
    lines = ["d,a,b,g,y"]
    for i in range(ROWS):
        day = date(2020, 1, 1) + timedelta(days=(7 * i) % ROWS)
        lines.append(f"{day},{(i * 37) % 101 / 10},{'uvw'[i % 3]},g{i % 10},{(7 * i) % ROWS + 0.5}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def model(data, tmp_path, capsys):
    path = tmp_path / "model.theta"
    fit = ["fit", data, "-t", "y", "--kind", "g=drop", "--no-time", "--keep", "d"]
    assert run(capsys, *fit, "--model", "Ridge", "-o", path, "-q")[0] == 0
    return path


def every_command(data, tmp_path):
    """The commands that read a table with a target."""
    yield ["compare", data, "-t", "y", "--models", "Ridge"]
    yield ["check", data, "-t", "y"]
    yield ["fit", data, "-t", "y", "--model", "Ridge", "-o", tmp_path / "out.theta"]


def test_dates_are_iso_text_in_json(capsys, model, data):
    code, out, _ = run(capsys, "explain", model, data, "--json", "-q")
    assert code == 0
    effects = {each["column"]: each["values"] for each in json.loads(out)["effects"]}
    assert all(each.startswith("2020-0") and "T" in each for each in effects["d"])
    code, out, _ = run(capsys, "explain", model, data, "-q")
    assert "datetime" not in out


def test_explain_refuses_a_target_that_the_model_uses(capsys, model, data):
    said = refusal(capsys, "explain", model, data, "-t", "a")
    assert said.startswith("--target a: the model uses this column to predict.")


@pytest.mark.parametrize("option", ["time", "group"])
def test_the_target_is_no_time_and_no_group(capsys, data, tmp_path, option):
    for command in every_command(data, tmp_path):
        said = refusal(capsys, *command, f"--{option}", "y")
        assert said == f"--{option} y is the target. Name another column."
        assert refusal(capsys, *command, f"--{option}", "nope").startswith(
            f"--{option} nope: there is no column 'nope'. Columns: d, a, b, g, y."
        )


def test_the_target_cannot_be_left_out(capsys, data, tmp_path):
    for command in every_command(data, tmp_path):
        said = refusal(capsys, *command, "--kind", "y=drop")
        assert said.startswith("--kind y=drop: y is the target.")


def test_messages_name_the_option_as_it_was_typed(capsys, data, tmp_path):
    for command in every_command(data, tmp_path):
        said = refusal(capsys, *command, "--time", "d", "--group", "d")
        assert said.startswith("--time d and --group d name the same column.")
        assert refusal(capsys, *command, "--time", "b").startswith("--time b: the column holds")
    compare, _, fit = every_command(data, tmp_path)
    assert refusal(capsys, *compare, "--margin", "abc").startswith("--margin abc: must be")
    fit[fit.index("Ridge")] = "Rigde"
    assert refusal(capsys, *fit).startswith("--model Rigde: there is no model")


def test_seeds_and_metrics(capsys, data, tmp_path):
    compare, _, fit = every_command(data, tmp_path)
    for command in (compare, fit):
        assert refusal(capsys, *command, "--seed", "-1").startswith("--seed -1: must be")
    said = refusal(capsys, *compare, "--scoring", "r3")
    assert said.startswith("--scoring r3 is not a metric. The metrics for this target are ")
    assert "r2" in said
    assert "accuracy" not in said
    said = refusal(capsys, *compare, "--scoring", "roc_auc")
    assert said.startswith("--scoring roc_auc is a metric of classification.")


def test_empty_names_of_models(capsys, data, tmp_path):
    compare, _, fit = every_command(data, tmp_path)
    for command, option in ((compare, "--models"), (fit, "--model")):
        for text in ("", "ridge,", " "):
            command[command.index(option) + 1] = text
            said = refusal(capsys, *command)
            assert said.startswith(f"{option} {text!r}: a name is empty.")
            command[command.index(option) + 1] = "Ridge"


def test_the_range_of_time_limits_is_named(capsys, data, tmp_path):
    compare, _, fit = every_command(data, tmp_path)
    for command in (compare, fit):
        for text in ("1e9", "-1", "9" * 400):
            said = refusal(capsys, *command, f"--time-limit={text}")
            assert "must be a time of 0 or more, and finite" in said
            assert "without an exponent" in said


def test_classes_that_are_copies_of_one_row(capsys, tmp_path):
    header, p, q = "a,b,c,d,e,f,g,h,y", "1,2,3,4,5,6,7,8,p", "8,7,6,5,4,3,2,1,q"
    path = _written(tmp_path, f"{header}\n" + f"{p}\n{q}\n" * 10)
    said = refusal(capsys, "compare", path, "-t", "y", "--models", "knn")
    assert said.startswith("Copies of a row are kept in one fold")
    assert "None" not in said
    path = _written(
        tmp_path,
        "a,b,g,y\n" + "".join(f"{i},{i % 3},{'pq'[i % 2]},{'pq'[i % 2]}\n" for i in range(12)),
    )
    said = refusal(capsys, "compare", path, "-t", "y", "--models", "knn", "--group", "g")
    assert said.startswith("--group g: too few classes are in more than one group")


def test_delimiters_and_encodings(capsys, data, tmp_path):
    compare, _, _ = every_command(data, tmp_path)
    assert refusal(capsys, *compare, "--delimiter", ";;").startswith("--delimiter ;;: must be a")
    for encoding in ("hex", "rot13", "nope"):
        said = refusal(capsys, *compare, "--encoding", encoding)
        assert said.startswith(f"--encoding {encoding} is not a known encoding of text.")
    assert "--encoding utf-16" in refusal(capsys, *compare, "--encoding", "utf-16")
    assert "is not ascii text" in refusal(
        capsys, "check", _written(tmp_path, "ä,y\n1,2\n"), "-t", "y", "--encoding", "ascii"
    )


def test_a_tab_may_be_written_with_a_backslash(tmp_path):
    path = _written(tmp_path, "a\tb;c\n1\t2\n")
    assert read_table(str(path), delimiter="\\t").columns == ["a", "b;c"]


def test_utf16_files_can_be_read(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("ä,b\n1,2\n", encoding="utf-16")
    assert read_table(str(path), encoding="utf-16").rows() == [("1", "2")]


@pytest.mark.parametrize("value", ["inf", "-inf", "1e400"])
def test_infinite_values_are_refused_with_their_row_in_the_file(capsys, data, tmp_path, value):
    lines = data.read_text().splitlines()
    lines[2] = lines[2].rpartition(",")[0] + ","  # a row without a target
    fields = lines[31].split(",")
    lines[31] = ",".join([fields[0], value, *fields[2:]])
    path = _written(tmp_path, "\n".join(lines) + "\n")
    for command in every_command(path, tmp_path):
        said = refusal(capsys, *command)
        assert said.startswith("The column 'a' is infinite in row 31. Correct the file")
        assert "--kind a=drop" in said


def test_rows_to_predict_count_through_all_batches():
    unknown = UnknownValues(n_rows=100)
    batch = pl.DataFrame({"a": ["1", "inf"]})
    with pytest.raises(DataError, match="'a' is infinite in row 102"):
        as_seen(batch, {"a": "numeric"}, {}, None, unknown)


def _written(folder, text):
    path = folder / "written.csv"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("option", ["report", "test", "scoring", "delimiter"])
def test_empty_options_are_not_ignored(capsys, data, option):
    said = refusal(capsys, "compare", data, "-t", "y", f"--{option}", "")
    assert said == f"--{option} is empty. Give it a value, or leave it out."


def test_one_model_is_fitted(capsys, data, tmp_path):
    fit = ["fit", data, "-t", "y", "--model", "Ridge,tree", "-o", tmp_path / "out.theta"]
    said = refusal(capsys, *fit)
    assert said.startswith("--model Ridge,tree: 2 models are named. Name one")
    assert not (tmp_path / "out.theta").exists()


@pytest.mark.parametrize("path", ["-", "/dev/null"])
def test_outputs_that_are_no_files_are_refused_before_any_work(capsys, tmp_path, path):
    nothing = tmp_path / "not there.csv"  # refused for its output, so it was not looked for
    commands = [
        ["compare", nothing, "-t", "y", "--report"],
        ["fit", nothing, "-t", "y", "-o"],
        ["explain", nothing, nothing, "--report"],
    ]
    for command in commands:
        said = refusal(capsys, *command, path)
        assert "standard output" in said or "is not a regular file" in said
        assert said.endswith("Name a file." if path == "-" else "Name another file.")


def test_costs_that_overflow_are_refused(capsys, data):
    classes = data.parent / "classes.csv"
    classes.write_text("a,y\n" + "".join(f"{i % 7},{'uv'[i % 2]}\n" for i in range(40)))
    said = refusal(capsys, "compare", classes, "-t", "y", "--cost", "1e308:1e308")
    assert said.startswith("--cost 1e308:1e308: write the cost")
