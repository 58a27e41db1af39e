"""Imports point down only, function-local ones included; importing thetahat stays light."""

import ast
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

import thetahat

PACKAGE = Path(thetahat.__file__).parent

LAYERS = [
    "_native",
    "foundation",
    "data",
    "mathematics",
    "objective",
    "estimator",
    "models",
    "evaluation",
    "theory",
    "persistence",
    "catalog",
    "registry",
    "migration",
    "sklearn",
    "patch",
    "interfaces",
    "__main__",
]
"""Bottom to top."""

MOST_FILES, MOST_LINES = 20, 400

DYNAMIC = ("import_module", "__import__")
LOADED_BY_DATA = {
    "thetahat._lazy",
    "thetahat._native",
    "thetahat._modules",
    "thetahat._public",
    "thetahat.sklearn",
    "thetahat.foundation.optional",
    "thetahat.persistence.classes",
    "thetahat.persistence.identities",
    "thetahat.migration.patching",
    "thetahat.migration.shared",
}
"""Modules that load others by a name from a table of public names, a file or a peer's package."""

ANYWHERE = {"__init__", "_lazy", "_modules", "_public", "errors", "functions", "results"}
"""The tables of public names point at every layer by string, and import none."""


def statements(body):
    """All statements, those inside of others included; expressions contain none."""
    for node in body:
        yield node
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from statements(getattr(node, part, ()))


@cache
def import_statements(path: Path):
    """The statements that import, and the calls that import by name."""
    text = (PACKAGE / path).read_text()
    tree = ast.parse(text)
    by_name = any(name in text for name in DYNAMIC)
    nodes = ast.walk(tree) if by_name else statements(tree.body)
    return [n for n in nodes if isinstance(n, ast.Import | ast.ImportFrom) or is_dynamic_import(n)]


def imported_names(path: Path):
    for node in import_statements(path):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: relative import"
            if node.module == "thetahat":
                yield from ((f"thetahat.{alias.name}", node.lineno) for alias in node.names)
            elif node.module:
                yield node.module, node.lineno


def modules():
    return sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))


def module_name(path):
    return ".".join((PACKAGE.name, *path.with_suffix("").parts)).removesuffix(".__init__")


def is_dynamic_import(node):
    called = node.func if isinstance(node, ast.Call) else None
    name = getattr(called, "id", None) or getattr(called, "attr", None)
    return name in DYNAMIC


def pattern_of(argument, folder):
    """The modules that a computed name may stand for, as a regular expression."""
    if not isinstance(argument, ast.JoinedStr):
        return rf"{folder}(\..*)?"
    parts = [
        re.escape(part.value)
        if isinstance(part, ast.Constant)
        else folder
        if getattr(part.value, "id", None) == "__package__"
        else r"[^.]+"
        for part in argument.values
    ]
    return "".join(parts)


def module_graph():
    """Module → the modules of the package that it imports anywhere, functions included.

    A name that is computed, as in ``import_module(__package__)``, stands for all files of the
    folder and below; in an f-string, for all that it can become.
    """
    names = {module_name(path): path for path in modules()}

    def imported(path):
        for node in import_statements(path):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                inside = (f"{node.module}.{alias.name}" for alias in node.names)
                yield from (name if name in names else node.module for name in inside)
            elif is_dynamic_import(node):
                yield from loaded(node.args[0], path)

    def loaded(argument, path):
        if isinstance(argument, ast.Constant):
            yield argument.value
        elif module_name(path) not in LOADED_BY_DATA:
            folder = re.escape(".".join((PACKAGE.name, *path.parent.parts)))
            pattern = pattern_of(argument, folder)
            yield from (name for name in names if re.fullmatch(pattern, name))

    return {name: {*imported(path)} & names.keys() - {name} for name, path in names.items()}


def circles(graph):
    """The strongly connected parts of more than one module."""
    order, low, open_, found = {}, {}, [], []

    def visit(name):
        order[name] = low[name] = len(order)
        open_.append(name)
        for other in graph[name]:
            if other not in order:
                visit(other)
            if other in open_:
                low[name] = min(low[name], low[other])
        if low[name] == order[name]:
            part = open_[open_.index(name) :]
            del open_[open_.index(name) :]
            found.extend([sorted(part)] if len(part) > 1 else [])

    for name in graph:
        if name not in order:
            visit(name)
    return found


def test_no_circle_between_files():
    """Imports inside functions and for type checkers count: they hide circles, and untie none."""
    assert circles(module_graph()) == []


def test_imports_inside_of_other_statements_are_noticed():
    inside = ("if 1:", "else:", "try:", "except E:", "finally:", "with a:", "def f():", "class A:")
    for line in inside:
        before = {"else:": "if 1:\n pass\n", "except E:": "try:\n pass\n"}.get(line, "")
        before = "try:\n pass\n" if line == "finally:" else before
        after = "\nfinally:\n pass" if line == "try:" else ""
        body = ast.parse(f"{before}{line}\n import os{after}").body
        assert any(isinstance(each, ast.Import) for each in statements(body)), line
    assert any(
        isinstance(each, ast.Import)
        for each in statements(ast.parse("match a:\n case 1:\n  import os").body)
    )


def test_circles_through_import_module_are_noticed(tmp_path, monkeypatch):
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "low.py").write_text("import_module(__package__)\n")
    (tmp_path / "part" / "high.py").write_text(
        f"import importlib\nfrom {tmp_path.name}.part import low\n"
    )
    (tmp_path / "part" / "aside.py").write_text(f"import_module('{tmp_path.name}.part.high')\n")
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    import_statements.cache_clear()
    inside = f"{tmp_path.name}.part"
    assert circles(module_graph()) == [[f"{inside}.aside", f"{inside}.high", f"{inside}.low"]]
    import_statements.cache_clear()


def test_circles_are_noticed():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [["b", "c"]]


@pytest.mark.parametrize("root", ["thetahat", "native", "tests", "benchmarks"])
def test_rooms_are_small_and_files_are_one_idea(root):
    folder = PACKAGE.parent / root
    files = [path for path in folder.rglob("*") if path.suffix in (".py", ".cpp", ".hpp")]
    rooms = Counter(path.parent for path in files if path.name != "__init__.py")
    assert max(rooms.values()) <= MOST_FILES, rooms.most_common(3)
    long = [path for path in files if path.read_text().count("\n") > MOST_LINES]
    assert not long, long


TESTED_ELSEWHERE = {
    "sklearn": "names of other modules in the layout of scikit-learn; see tests/migration",
}
"""Folders of the package without a folder in tests/, each with the reason."""


def without_tests(package, tests):
    """The folders with modules below one folder for which the other has no folder with tests."""
    folders = {path.parent.relative_to(package) for path in package.rglob("*.py")}
    tested = {path.relative_to(tests) for path in tests.rglob("*") if any(path.glob("test_*.py"))}
    above = {parent for path in tested for parent in path.parents}
    return {folder.as_posix() for folder in folders - tested - above}


def test_every_folder_has_its_tests_in_the_same_folder_of_tests():
    tests = Path(__file__).parent
    assert without_tests(PACKAGE, tests) == set(TESTED_ELSEWHERE)


def test_folders_without_tests_are_noticed(tmp_path):
    for name in ("package/one/deep/a.py", "package/two/b.py", "tests/one/deep/test_a.py"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    assert without_tests(tmp_path / "package", tmp_path / "tests") == {"two"}


def layer_of(path):
    return path.parts[0].removesuffix(".py")


def test_every_module_is_in_a_layer():
    assert {layer_of(path) for path in modules()} <= {*LAYERS, *ANYWHERE}


@pytest.mark.parametrize("layer", LAYERS)
def test_imports_point_down(layer):
    below = ANYWHERE.union(LAYERS[: LAYERS.index(layer) + 1])
    upward = [
        f"{path}:{line} imports {name}"
        for path in modules()
        if layer_of(path) == layer
        for name, line in imported_names(path)
        if name.startswith("thetahat.") and name.split(".")[1] not in below
    ]
    assert not upward, "\n".join(upward)


def test_scikit_learn_only_through_public_modules():
    for path in modules():
        for name, line in imported_names(path):
            if name.startswith("sklearn"):
                assert not any(part.startswith("_") for part in name.split(".")), f"{path}:{line}"


def test_scipy_linalg_is_loaded_where_its_threads_are_governed():
    """Its BLAS is its own: loaded by the way, it would run on all cores and change the bits."""
    for path in modules():
        if path.parts[0] != "foundation":
            for name, line in imported_names(path):
                remedy = "use thetahat.foundation.threads.scipy_linalg()"
                assert not name.startswith("scipy.linalg"), f"{path}:{line}: {remedy}"


def test_a_lasso_path_needs_no_scipy_and_draws_nothing():
    code = (
        "import sys, numpy as np; before = set(sys.modules); import thetahat as th;"
        "th.lasso_path(np.eye(30, 40), np.arange(30.0));"
        "unused = {'sklearn', 'scipy', 'joblib', 'numpy.random'};"
        "print([name for name in sys.modules if name in unused - before])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_import_is_light():
    """Measured in a new process: no scikit-learn, no SciPy, and well under 0.15 s."""
    code = (
        "import sys, time; start = time.perf_counter(); import thetahat;"
        "print(time.perf_counter() - start, 'sklearn' in sys.modules, 'scipy' in sys.modules)"
    )
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(3)
    ]
    seconds = min(float(run.stdout.split()[0]) for run in runs)
    assert runs[0].stdout.split()[1:] == ["False", "False"]
    assert seconds < 0.15
