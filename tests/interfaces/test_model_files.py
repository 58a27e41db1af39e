"""Saved models at the command line: what they read, what they must not replace, their notes."""

import numpy as np
import pytest

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
    fit = ["fit", data, "-t", target, "--kind", f"{other}=drop", "--time-limit", "0", "-q"]
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
    assert run(capsys, "fit", data, "-t", "n", "--model", "Ridge", "-o", new, "-q")[0] == 0
