"""Tests of the tests: each has data of its own, and each can fail."""

import ast
import re
from pathlib import Path

from tests.test_layers import statements

HERE = Path(__file__).parent
TESTS = sorted(HERE.rglob("test_*.py"))
GENERATORS = ("default_rng", "RandomState")


def generators(tree):
    """Names of generators that a module makes once, for all its tests."""
    return {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        if getattr(node.value.func, "attr", "") in GENERATORS
        for target in node.targets
    }


def functions(tree):
    return [node for node in statements(tree.body) if isinstance(node, ast.FunctionDef)]


def names_in(node):
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def test_no_test_draws_from_a_generator_of_the_module():
    """Its data would depend on which tests ran before."""
    assert len(TESTS) > 400
    for path in TESTS:
        text = path.read_text(encoding="utf-8")
        if not re.search(rf"^\w.*({'|'.join(GENERATORS)})\(", text, re.MULTILINE):
            continue  # and no assignment of the module makes one
        tree = ast.parse(text)
        shared = generators(tree)
        drawing = [f.name for f in functions(tree) if shared & names_in(f)] if shared else []
        assert not drawing, f"{path}: give {drawing} a generator of their own"


def test_shared_generators_are_noticed():
    tree = ast.parse("R = np.random.default_rng(0)\ndef test(): R.random()\ndef other(): pass")
    assert [each.name for each in functions(tree) if generators(tree) & names_in(each)] == ["test"]


def without_handlers(node):
    """The node and all below it, but for the handlers of exceptions."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.ExceptHandler):
            yield from without_handlers(child)


def checks(node):
    called = node.func if isinstance(node, ast.Call) else None
    name = getattr(called, "attr", getattr(called, "id", ""))
    return isinstance(node, ast.Assert) or name.startswith(("assert", "raises", "warns"))


def returns_first(test):
    """Whether a test can return before it has checked anything: such a case counts as passed."""
    if not any(isinstance(each, ast.Return) for each in statements(test.body)):
        return False
    nodes = [each for each in without_handlers(test) if isinstance(each, ast.Return)]
    returns = [each.lineno for each in nodes if each.value is None]
    first_check = min((each.lineno for each in ast.walk(test) if checks(each)), default=0)
    return min(returns, default=first_check) < first_check


def test_no_test_returns_before_it_has_checked_anything():
    for path in TESTS:
        text = path.read_text(encoding="utf-8")
        if not re.search(r"^\s+return *(#.*)?$", text, re.MULTILINE):
            continue
        tree = ast.parse(text)
        early = [f.name for f in functions(tree) if f.name.startswith("test") and returns_first(f)]
        assert not early, f"{path}: leave those cases out of the parametrization of {early}"


def test_early_returns_are_noticed():
    tree = ast.parse("def test(x):\n    if x:\n        return\n    assert x == 0")
    assert returns_first(functions(tree)[0])
    tree = ast.parse("def test(x):\n    assert x >= 0\n    if x:\n        return\n    assert 1")
    assert not returns_first(functions(tree)[0])
