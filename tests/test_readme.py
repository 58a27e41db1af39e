"""What the README shows is what happens."""

import os
import re
import subprocess
import sys
import venv

import pytest

from tests.readme_example import README, example


def test_the_example_prints_what_is_shown(capsys):
    exec(compile(example(), "README.md", "exec"), {})
    printed = [without_times(line) for line in capsys.readouterr().out.splitlines()]
    shown = re.search(r"```python.*?```\n\n((?:    [^\n]*\n)+)", README.read_text(), re.DOTALL)
    assert shown
    assert printed == [without_times(line[4:]) for line in shown[1].splitlines()]


def without_times(line):
    return re.sub(r"  [\d.e-]+ s$", "", line).rstrip()


def test_every_name_it_mentions_exists():
    import thetahat as th

    text = README.read_text()
    for name in re.findall(r"`([A-Z]\w+)[`(]", text):
        assert hasattr(th, name), name
    for name in re.findall(r"th\.([\w.]+)", text):
        value = th
        for part in name.rstrip(".").split("."):
            value = getattr(value, part)


def test_the_commands_are_targets_of_the_makefile():
    makefile = (README.parent / "Makefile").read_text()
    for target in re.findall(r"(?:^    |`)make ([\w-]+)", README.read_text(), re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


@pytest.mark.slow
def test_a_wheel_installs_in_an_empty_environment_and_runs_the_example(tmp_path):
    def run(*command, **settings):
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, env=os.environ | settings
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    pip = (sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation")
    build = f"-Cbuild-dir={tmp_path / 'build'}"
    run(*pip, "-w", "dist", build, str(README.parent), THETAHAT_PORTABLE="1")
    (wheel,) = (tmp_path / "dist").glob("thetahat-*.whl")
    venv.create(tmp_path / "empty", with_pip=True)
    python = str(tmp_path / "empty" / "bin" / "python")
    run(python, "-m", "pip", "install", f"{wheel}[table]")
    script = str(README.parent / "tests" / "readme_example.py")
    assert "(intercept)" in run(python, "-I", script)


def test_the_version_to_cite_is_this_one():
    import thetahat as th

    cited = re.search(
        r"^version: (.*)$", (README.parent / "CITATION.cff").read_text(), re.MULTILINE
    )
    assert cited
    assert cited[1] == th.__version__
