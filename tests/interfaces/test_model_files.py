"""Saved models at the command line: what they read, what they must not replace, their notes."""

import json

import numpy as np
import polars as pl
import pytest

import thetahat as th
from tests.interfaces.test_refused_options import refusal, run

ROWS = 120


@pytest.fixture
def data(tmp_path):
    """Two classes that depend on a; the number n follows a as well."""
    random = np.random.default_rng(0)
    a, b = random.standard_normal((2, ROWS)).round(3)
    y = np.where(a + 0.7 * random.standard_normal(ROWS) > 0.8, "yes", "no")
    lines = [f"{i},{j},{k},{2 * i + 0.1 * j:.3f}" for i, j, k in zip(a, b, y, strict=True)]
    path = tmp_path / "data.csv"
    path.write_text("a,b,y,n\n" + "\n".join(lines) + "\n")
    return path


def fitted(capsys, data, target, *options):
    path = data.parent / f"{target}.theta"
    other = "n" if target == "y" else "y"
    dropped = ["--kind", f"{other}=drop"] if other in data.read_text().partition("\n")[0] else []
    fit = ["fit", data, "-t", target, *dropped, "--time-limit", "0", "-q"]
    model = "LogisticRegression" if target == "y" else "Ridge"
    assert run(capsys, *fit, "--model", model, "-o", path, *options)[0] == 0
    return path


def test_outputs_do_not_replace_inputs(capsys, data, tmp_path):
    model = fitted(capsys, data, "n")
    link = tmp_path / "link.csv"
    link.symlink_to(data)
    before = data.read_bytes(), model.read_bytes()
    for output, command in [
        (data, ["fit", data, "-t", "n", "--model", "Ridge", "-o"]),
        (link, ["fit", data, "-t", "n", "--model", "Ridge", "-o"]),
        (data, ["predict", model, data, "-o"]),
        (model, ["predict", model, data, "-o"]),
        (data, ["compare", data, "-t", "n", "--models", "Ridge", "--report"]),
        (link, ["compare", model, "-t", "n", "--test", data, "--report"]),
        (data, ["explain", model, data, "--report"]),
        (model, ["explain", model, data, "--report"]),
    ]:
        said = refusal(capsys, *command, output)
        assert said.startswith(f"{output} cannot be written: it is the same file as {tmp_path}")
        assert (data.read_bytes(), model.read_bytes()) == before
    new = tmp_path / "Ridge"  # a file with the name of the model is no input
    new.write_text("")
    fit = ["fit", data, "-t", "n", "--model", "Ridge", "--time-limit", "0", "-q", "-o", new]
    assert run(capsys, *fit)[0] == 0


def test_explain_decides_as_predict_does(capsys, data):
    """A false negative costs 20 times as much, so the threshold is far below one half."""
    model = fitted(capsys, data, "y", "--cost", "1:20")
    code, out, _ = run(capsys, "predict", model, data, "-q")
    assert code == 0
    said = [line.split(",")[0] for line in out.splitlines()[1:]]
    true = [line.split(",")[2] for line in data.read_text().splitlines()[1:]]
    accuracy = np.mean([one == other for one, other in zip(said, true, strict=True)])
    code, out, _ = run(capsys, "explain", model, data, "--json", "-q")
    assert code == 0
    np.testing.assert_allclose(json.loads(out)["score"], accuracy, rtol=1e-12)
    halved = th.load(model).predict(pl.read_csv(data).select("a", "b"))
    assert accuracy != np.mean(halved == np.array(true))


def test_explain_knows_the_classes_however_a_file_writes_them(capsys, data, tmp_path):
    """The codes 1, 2 and x are text to the model; a file without x has numbers."""
    table = pl.read_csv(data)
    codes = pl.Series("y", np.array(["1", "2", "x"])[np.digitize(table["a"], [-0.5, 0.5])])
    path, few = tmp_path / "codes.csv", tmp_path / "few.csv"
    table = table.drop("n", "y").with_columns(codes)
    table.write_csv(path)
    model = fitted(capsys, path, "y")
    table.filter(pl.col("y") != "x").write_csv(few)
    code, out, _ = run(capsys, "explain", model, few, "--json", "-q")
    assert code == 0
    assert json.loads(out)["score"] > 0.8
    table.with_columns(y=pl.lit("z")).write_csv(few)
    assert "that the model does not know (first 'z' in row 1)" in refusal(
        capsys, "explain", model, few
    )


def test_kept_columns_are_not_replaced_by_predictions(capsys, data, tmp_path):
    table = pl.read_csv(data)
    names = ["predicted_y", "y_set", "P(yes)", "predicted_n", "n_low", "n_high"]
    new = tmp_path / "new.csv"
    table.with_columns(**{name: pl.lit("mine") for name in names}).write_csv(new)
    classes, numbers = fitted(capsys, data, "y"), fitted(capsys, data, "n")
    for model, name, more in [
        (classes, "predicted_y", ["--keep", "y"]),
        (classes, "y_set", ["--interval", "0.8"]),
        (classes, "P(yes)", []),
        (numbers, "n_low", ["--interval", "0.8"]),
        (numbers, "n_high", ["--interval", "0.8"]),
    ]:
        said = refusal(capsys, "predict", model, new, "--keep", name, *more)
        assert said.startswith(f"--keep {name}: the predictions have a column of this name too.")
    keep = ["--keep", "predicted_n", "--keep", "n_low"]  # there is no such column without options
    code, out, _ = run(capsys, "predict", numbers, new, *keep, "-q")
    assert code == 0
    assert out.splitlines()[0] == "predicted_n,n_low,n"
    assert out.splitlines()[1].startswith("mine,mine,")


ALTERED = {
    "y": [
        {"threshold": 0.3},
        {"threshold": {"positive": "yes"}},
        {"threshold": {"value": 0.3}},
        {"threshold": {"positive": "maybe", "value": 0.3}},
        {"threshold": {"positive": "yes", "value": "low"}},
        {"threshold": {"positive": "yes", "value": -1.0}},
        {"conformal": {"scores": [0.1] * 99, "at": [0.0], "scale": [1.0]}},
        {"conformal": [0.1]},
    ],
    "n": [
        {"threshold": {"positive": "yes", "value": 0.3}},
        {"conformal": {"scores": [0.1] * 99, "at": [0.0]}},
        {"conformal": {"scores": [0.1] * 99, "at": [0.0], "scale": [-1.0]}},
        {"conformal": {"scores": [0.1] * 99, "at": [0.0, 1.0], "scale": [1.0]}},
        {"conformal": {"scores": [0.1] * 99, "at": [1.0, 0.0], "scale": [1.0, 2.0]}},
        {"conformal": {"scores": ["x"] * 99, "at": [0.0], "scale": [1.0]}},
        {"kinds": {"a": "numeric"}},
        {"kinds": {"a": "numeric", "b": "numeric", "c": "numeric"}},
        {"kinds": {"a": "numeric", "b": "colour"}},
        {"kinds": {"a": "numeric", "b": "date"}},
        {"kinds": ["a", "b"]},
        {"notations": ["a"]},
        {"predicts": ["n"]},
        {"predicts": {"n": 1}},
    ],
}


@pytest.mark.parametrize("target", ["y", "n"])
def test_altered_notes_are_refused(capsys, data, target):
    path = fitted(capsys, data, target)
    model, notes = th.load(path), th.describe_file(path).notes
    assert run(capsys, "predict", path, data, "--interval", "0.8", "-q")[0] == 0
    for change in ALTERED[target]:
        th.save(model, path, notes={**notes, **change})
        said = refusal(capsys, "predict", path, data, "--interval", "0.8", "-q")
        assert said.startswith("The notes of the file were altered: "), change
        if "conformal" not in change:
            said = refusal(capsys, "explain", path, data, "-q")
            assert said.startswith("The notes of the file were altered: "), change
    th.save(model, path, notes={**notes, "task": "guess"})
    assert "'task' is 'guess'" in refusal(capsys, "explain", path, data, "-q")
