"""Tests of the tests: each has data of its own, and each can fail."""

import ast
from pathlib import Path

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
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def names_in(node):
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def test_no_test_draws_from_a_generator_of_the_module():
    """Its data would depend on which tests ran before."""
    assert len(TESTS) > 400
    for path in TESTS:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        shared = generators(tree)
        drawing = [each.name for each in functions(tree) if shared & names_in(each)]
        assert not drawing, f"{path}: give {drawing} a generator of their own"


def test_shared_generators_are_noticed():
    tree = ast.parse("R = np.random.default_rng(0)\ndef test(): R.random()\ndef other(): pass")
    assert [each.name for each in functions(tree) if generators(tree) & names_in(each)] == ["test"]
