"""Imports point down only, function-local ones included; importing thetahat stays light."""

import ast
import subprocess
import sys
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
    "interfaces",
    "__main__",
]
"""Bottom to top."""

ANYWHERE = {"__init__", "_lazy", "_public", "results"}
"""The tables of public names point at every layer by string, and import none."""


def imported_names(tree: ast.AST):
    for node in ast.walk(tree):
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


@pytest.mark.parametrize("path", modules(), ids=str)
def test_imports_point_down(path):
    layer = path.parts[0].removesuffix(".py")
    if layer in ANYWHERE:
        return
    assert layer in LAYERS, f"{path} is in no layer of {LAYERS}"
    for name, line in imported_names(ast.parse((PACKAGE / path).read_text())):
        if name.startswith("thetahat."):
            other = name.split(".")[1]
            assert other in LAYERS or other in ANYWHERE, f"{path}:{line} imports {name}"
            if other in LAYERS:
                assert LAYERS.index(other) <= LAYERS.index(layer), f"{path}:{line} imports {name}"


def test_scikit_learn_only_through_public_modules():
    for path in modules():
        for name, line in imported_names(ast.parse((PACKAGE / path).read_text())):
            if name.startswith("sklearn"):
                assert not any(part.startswith("_") for part in name.split(".")), f"{path}:{line}"


def test_scipy_linalg_is_loaded_where_its_threads_are_governed():
    """Its BLAS is its own: loaded by the way, it would run on all cores and change the bits."""
    for path in modules():
        if path.parts[0] != "foundation":
            for name, line in imported_names(ast.parse((PACKAGE / path).read_text())):
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
