"""Docstrings and messages use plain words: no figures of speech, one term for one idea."""

import ast
import re
from pathlib import Path

import thetahat as th

PACKAGE = Path(th.__file__).parent
INSTEAD = {
    "again and again": "repeatedly",
    "anew": "again",
    "asked for": "requested",
    "brings? (its|their) own": "contains",
    "dear": "expensive",
    "goes? on": "continues",
    "honest": "unbiased",
    "learnt": "learned",
    "more are more": "a larger number is more",
    "(no|some|every)body": "no, some or every user",
    "out[- ]of[- ]core": "block by block",
    "shall": "should",
    "tell|tells|told": "report, or distinguish",
    "(?<!there )(are|is) no (column|density|estimator|metric|snapshot)": "is not a",
}
"""Words that readers have to read twice, as patterns, and what to write instead."""
ANY = re.compile(rf"\b({'|'.join(INSTEAD)})\b", re.IGNORECASE)


def texts(source: str) -> list[tuple[int, str]]:
    """The line and the content of every string of more than one word in some code."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            found.append((node.lineno, " ".join(node.value.split())))
    return found


def clever(source: str) -> list[str]:
    """The phrases of `INSTEAD` in the strings of some code, with what to write instead."""
    joined = re.sub(r"""(["'])\s+[a-z]{0,2}\1""", "", source)  # strings of several pieces
    if not ANY.search(" ".join(joined.split())):  # most files, which need not be parsed
        return []
    return [
        f"line {line}: {found.group()!r}; write {instead!r}"
        for line, text in texts(source)
        for pattern, instead in INSTEAD.items()
        for found in re.finditer(rf"\b({pattern})\b", text, re.IGNORECASE)
    ]


def test_phrases_are_found_in_docstrings_and_messages():
    source = 'def f():\n    """Learn it anew."""\n    raise ValueError(f"{1} is no column of X")\n'
    assert len(clever(source)) == 2
    assert "line 2: 'anew'; write 'again'" in clever(source)
    assert clever('f("columns asked "\n  f"for twice")') == [
        "line 1: 'asked for'; write 'requested'"
    ]


def test_docstrings_and_messages_are_plain():
    found = {
        path.relative_to(PACKAGE).as_posix(): words
        for path in PACKAGE.rglob("*.py")
        if (words := clever(path.read_text(encoding="utf-8")))
    }
    assert not found, found
