"""What the README shows is what happens."""

import re
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def test_the_example_runs(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)
    names = {}
    exec(compile(code, "README.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "(intercept)" in printed
    assert "newton because smooth" in printed
    assert "is better than" in printed or "cannot be distinguished" in printed
    assert len(names["low"]) == 5


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
