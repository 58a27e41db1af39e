"""A wheel for any x86-64 machine runs the kernels that were compiled for the machine at hand."""

import runpy
import sys
from pathlib import Path
from types import ModuleType

import pytest

import thetahat

CHOOSER = Path(thetahat.__file__).parent / "_native.py"


def chosen(monkeypatch, machine, asked=None):
    """The level of the kernels on a machine of this level."""
    for level in (1, 3):
        module = ModuleType(f"thetahat._native_v{level}")
        module.processor_level = lambda: machine
        module.kernel = lambda level=level: level
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.delenv("THETAHAT_LEVEL", raising=False)
    if asked:
        monkeypatch.setenv("THETAHAT_LEVEL", asked)
    names = runpy.run_path(str(CHOOSER), run_name="thetahat._native")
    assert names["__name__"] == "thetahat._native"
    return names["kernel"]()


@pytest.mark.parametrize("machine", [1, 3])
def test_the_level_of_the_machine_is_used(monkeypatch, machine):
    assert chosen(monkeypatch, machine) == machine


@pytest.mark.parametrize(("machine", "asked", "level"), [(3, "1", 1), (3, "3", 3), (1, "3", 1)])
def test_a_lower_level_can_be_asked_for(monkeypatch, machine, asked, level):
    assert chosen(monkeypatch, machine, asked) == level


def test_an_unknown_level_is_refused(monkeypatch):
    with pytest.raises(ImportError, match="THETAHAT_LEVEL='2'"):
        chosen(monkeypatch, 3, "2")
