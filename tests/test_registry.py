"""The registry is complete, and every name and test that it points at exists."""

import ast
from functools import cache
from pathlib import Path

import pytest

import thetahat
from thetahat import registry
from thetahat._public import NAMESPACES

ROOT = Path(thetahat.__file__).parents[1]

ROWS_BY_AREA = dict(
    zip(
        "ABCDEFGHIJKLMNOPQRSTUVW",
        (12, 6, 8, 9, 14, 6, 3, 14, 11, 5, 9, 6, 11, 9, 15, 13, 5, 8, 7, 7, 10, 6, 8),
        strict=True,
    )
)


def test_every_row_is_there():
    ids = [row.id for row in registry.rows()]
    assert len(ids) == len(set(ids)) == sum(ROWS_BY_AREA.values()) == 202


def test_areas_are_complete_and_rows_stand_in_their_order():
    letters = [row.area for row in registry.rows()]
    assert {letter: letters.count(letter) for letter in registry.areas()} == ROWS_BY_AREA
    assert letters == sorted(letters)


def test_rows_say_what_they_are():
    for row in registry.rows():
        assert row.worked in ("course", "mentioned"), row
        assert row.title, row
        assert row.tests or not row.names or row.partial, f"{row.id}: names without a test"


def pointing_rows():
    return [pytest.param(row, id=row.id) for row in registry.rows() if row.names or row.tests]


@pytest.mark.parametrize("row", pointing_rows())
def test_names_are_public(row):
    for name in row.names:
        first, *rest = name.split(".")
        assert first in thetahat.__all__, f"thetahat.{name}"
        value = getattr(thetahat, first)
        if first in NAMESPACES:
            assert rest, f"{name} is a namespace, not what serves a method"
            assert rest[0] in value.__all__, f"thetahat.{name}"
        for part in rest:
            assert not part.startswith("_"), f"thetahat.{name}"
            value = getattr(value, part)


@pytest.mark.parametrize("row", pointing_rows())
def test_tests_exist(row):
    for test in row.tests:
        assert is_defined(test), f"{row.id} points at {test}"


@pytest.mark.parametrize("row", pointing_rows())
def test_a_fast_test_proves_it(row):
    """One that `make test` runs, so that a broken method is noticed at once."""
    assert not row.tests or not all(map(is_slow, row.tests)), row.id


def definitions(test: str) -> list[ast.FunctionDef | ast.ClassDef]:
    """The class and the function that a path::function or path::Class::method names, if any."""
    path, *names = test.split("[")[0].split("::")
    scope, found = parsed(path).body if (ROOT / path).is_file() else [], []
    for name in names:
        found += [
            node
            for node in scope
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name
        ][:1]
        scope = found[-1].body if found else []
    return found if len(found) == len(names) else []


def is_defined(test: str) -> bool:
    """Whether the file defines that test: path::function, or path::Class::method."""
    return any(node.name.startswith(("test", "Test")) for node in definitions(test)[-1:])


def is_slow(test: str) -> bool:
    """Whether the test as a whole, and not only some of its cases, is marked as slow."""
    marks = [ast.unparse(mark) for node in definitions(test) for mark in node.decorator_list]
    return "pytest.mark.slow" in marks


@cache
def parsed(path: str) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"))


def test_slow_tests_are_noticed():
    laws = "tests/conformance/test_scikit_learn.py"
    assert is_slow(f"{laws}::test_scikit_learn_contract_under_array_dispatch")
    assert not is_slow(f"{laws}::test_scikit_learn_contract")


def test_a_missing_test_is_noticed():
    here = "tests/test_registry.py"
    assert is_defined(f"{here}::test_tests_exist[ols.qr]")
    assert not is_defined(f"{here}::test_that_nobody_wrote")
    assert not is_defined(f"{here}::pointing_rows")
    assert not is_defined("tests/test_nothing.py::test_tests_exist")


def test_served_means_names_and_tests_and_nothing_missing():
    def row(**fields):
        return registry.Row(id="x", title="x", area="A", worked="course", **fields)

    full = {"names": ("Ridge",), "tests": ("tests/t.py::test_t",)}
    assert row(**full).state is registry.State.SERVED
    assert row(**full, partial="the dual form").state is registry.State.PARTIAL
    assert row(names=("Ridge",)).state is registry.State.OPEN
    assert row(tests=("tests/t.py::test_t",)).state is registry.State.OPEN
    assert all(row.names and row.tests for row in registry.served())


def test_report_counts_what_it_lists():
    chosen = [row for row in registry.rows() if row.area in "QV"]
    lines = registry.report(chosen).splitlines()
    assert lines[-1] == f"{sum(row in registry.served() for row in chosen)} of 11 methods served"
    assert [line.split()[1] for line in lines if line.startswith("  ")] == [r.id for r in chosen]
    assert "\033" not in "".join(lines)
    assert "\033" in registry.report(chosen, color=True)
