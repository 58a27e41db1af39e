"""The applications of the gallery: each script runs once, and the tests read what it computed."""

import contextlib
import io
import runpy
from functools import cache
from types import SimpleNamespace

import matplotlib
import pytest

from docs import pictures


@cache
def _run(name: str) -> SimpleNamespace:
    matplotlib.use("Agg")
    from matplotlib import pyplot

    output = io.StringIO()
    with contextlib.redirect_stdout(output), pytest.MonkeyPatch.context() as patch:
        patch.setattr(pyplot, "show", lambda: None)
        values = runpy.run_path(str(pictures.GALLERY / "applications" / f"plot_{name}.py"))
    pyplot.close("all")
    return SimpleNamespace(**values, printed=output.getvalue())


@pytest.fixture(scope="session")
def example():
    """Run a script of the section by name; what it defines, and what it printed."""
    return _run
