"""Options that cannot be used are refused in one line that names the option as it was typed."""

import json
from datetime import date, timedelta

import pytest

from thetahat.interfaces.command_line import main

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
