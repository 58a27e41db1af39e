"""Mutants of pickles and of model files end in an answer or an error, in processes of their own."""

import sys

import pytest

from tests.persistence import fuzz
from thetahat.catalog import estimators

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads memory from /proc")

SAMPLE = ("DecisionTreeClassifier", "AdaBoostRegressor", "gaussian density", "Ridge", "Whitening")
"""Models with structures that compiled code walks, and models of plain arrays."""


def require_no_faults(names, count, seed):
    results, faults = fuzz.run(names, count, seed)
    assert len(results) == count * len(names)
    assert not faults, faults[:5]
    ends = {each["outcome"] for each in results}
    assert {"answer", "load: DataError"} <= ends


@needs_linux
@pytest.mark.processes
def test_mutants_of_some_models():
    require_no_faults(SAMPLE, 12, seed=0)


@needs_linux
@pytest.mark.slow
def test_mutants_of_every_estimator():
    require_no_faults([*estimators(), *fuzz.VARIANTS], 20, seed=1)


def test_a_crash_a_hang_and_much_memory_are_noticed(monkeypatch):
    """The parent itself is tried, with workers that end as a broken model would."""
    commands = {
        "signal 11": "import os, signal; print('{\"start\": 0}', flush=True);"
        "os.kill(os.getpid(), signal.SIGSEGV)",
        "hang": "import time; print('{\"start\": 0}', flush=True); time.sleep(60)",
        "answer": 'print(\'{"start": 0}\\n{"number": 0, "outcome": "answer", "memory": 2,'
        ' "allowed": 1, "forbidden": 0}\')',
    }
    monkeypatch.setattr(fuzz, "SECONDS", 1)
    for ended, code in commands.items():
        monkeypatch.setattr(fuzz, "worker_command", lambda *_, code=code: ["-c", code])
        results, faults = fuzz.run(["Ridge"], 1, 0, report=lambda line: None)
        assert [each["outcome"] for each in results] == [ended]
        assert len(faults) == 1
