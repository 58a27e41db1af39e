"""The command line as a person or a script meets it."""

import json
import os
import subprocess
import sys

import pytest

import thetahat
from thetahat import registry
from thetahat.interfaces.command_line import CLOSED_PIPE, main


def test_methods_lists_every_row_by_area(capsys):
    assert main(["methods"]) == 0
    out = capsys.readouterr().out
    assert f"{len(registry.served())} of 202 methods served" in out.splitlines()[-1]
    for row in registry.rows():
        assert f" {row.id} " in out
    assert "\033" not in out


@pytest.mark.parametrize("name", ["Q", "q", "manifold"])
def test_methods_of_one_area(capsys, name):
    assert main(["methods", "--area", name]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[-1].endswith("of 5 methods served")
    assert "man.isomap" in out
    assert "ols.qr" not in out


def test_methods_as_json(capsys):
    assert main(["methods", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["total"] == len(data["rows"]) == 202
    assert data["served"] == sum(row["state"] == "served" for row in data["rows"])
    assert data["rows"][0]["id"] == registry.rows()[0].id


def test_unknown_area_is_refused_with_the_choices(capsys):
    assert main(["methods", "--area", "astrology"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "'astrology'" in captured.err
    assert "Manifold learning" in captured.err


@pytest.mark.parametrize("argv", [[], ["nonsense"], ["methods", "--nonsense"]])
def test_wrong_usage(capsys, argv):
    with pytest.raises(SystemExit) as stop:
        main(argv)
    assert stop.value.code == 2
    assert "usage: thetahat" in capsys.readouterr().err


def test_version(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"thetahat {thetahat.__version__}\n"


def test_a_new_process_needs_no_scikit_learn():
    code = (
        "import sys; from thetahat.interfaces.command_line import main;"
        "assert main(['methods']) == 0;"
        "print(sorted({'sklearn', 'scipy', 'numpy'} & set(sys.modules)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True
    )
    assert run.stdout.splitlines()[-1] == "[]"


def test_reader_that_leaves_early():
    command = [sys.executable, "-m", "thetahat", "methods", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == CLOSED_PIPE


def test_terminal_without_unicode():
    run = subprocess.run(
        [sys.executable, "-m", "thetahat", "methods"],
        capture_output=True,
        check=True,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
    )
    assert run.stdout.isascii()
    assert b"of 202 methods served" in run.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.parametrize(("argv", "code"), [("methods", 0), ("predict a.theta b.csv", 1)])
def test_closed_standard_output(argv, code):
    command = f'"{sys.executable}" -m thetahat {argv} >&-'
    run = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    said = f"thetahat {argv[:7]}: standard output is closed. Use --output FILE.\n"
    assert (run.returncode, run.stderr) == (code, said if code else "")
