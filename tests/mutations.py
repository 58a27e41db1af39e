"""Break what each method of the registry serves, and see that one of its tests fails.

    python -m tests.mutations [row ...] [--seconds 60] [--limit 3600]

For every public name of a row, a forked process replaces the name by a broken one, runs the tests
of the row and counts those that fail:

- a function returns a spoiled result,
- an estimator is fitted to targets in another order (or to spoiled rows, if it has no targets),
  and its predictions are spoiled; a method `fit` or `partial_fit` that is named alone likewise,
- any other class returns spoiled results from its methods and properties, or keeps spoiled fields.

Spoiled numbers are multiplied by 1.37 and shifted by 0.61, counts are doubled, labels are moved by
one row, truth values are inverted, texts are reversed. Lists, tuples, dicts, iterators and
dataclasses are spoiled part by part; a list of objects that cannot be spoiled loses its last one.
Estimators among the results get spoiled predictions, functions give spoiled results.

The table has one line per row and name: what was broken, and how many tests failed ("3+" if the
time was over before all had run). A name is "survived" if all tests pass, "unused" if they never
run what was broken (or its result is a picture or another object that cannot be spoiled), and
"late" if no test failed within the time. Such a name shows where a test is missing. Tests that fail
with nothing broken are listed and do not count.
"""

from __future__ import annotations

import argparse
import copy
import dataclasses
import functools
import inspect
import os
import select
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

FITTING = ("fit", "partial_fit")
OUTPUTS = (
    "predict",
    "predict_proba",
    "decision_function",
    "predict_interval",
    "transform",
    "log_density",
    "sample",
)


def spoil(value):
    """A value of the same kind that is wrong; the value itself if nothing in it can be spoiled."""
    if isinstance(value, bool | np.bool_):
        return type(value)(not value)
    if isinstance(value, int | np.integer):
        return type(value)(2 * value + 1)
    if isinstance(value, float | np.floating):
        return type(value)(1.37 * value + 0.61)
    if isinstance(value, str):
        return value[::-1]
    if isinstance(value, np.ndarray):
        return _spoiled_array(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(spoil, value))
    if isinstance(value, tuple | list):
        parts = [spoil(part) for part in value]
        same = all(part is old for part, old in zip(parts, value, strict=True))
        return type(value)(parts[:-1] if same else parts)
    if isinstance(value, Iterator):
        return map(spoil, value)
    if isinstance(value, dict):
        return {key: spoil(each) for key, each in value.items()}
    if inspect.isfunction(value):
        return functools.wraps(value)(lambda *given, **named: spoil(value(*given, **named)))
    if hasattr(value, "fit") and not isinstance(value, type):
        return _spoiled_outputs(copy.copy(value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _spoiled_fields(copy.copy(value))
    if hasattr(value, "tocsr") and hasattr(value, "nnz"):
        return value * 1.37
    return value


def _spoiled_array(value):
    if value.dtype == bool:
        return ~value
    if value.dtype.kind in "fc":
        return (1.37 * value + 0.61).astype(value.dtype)
    if value.size and (value == value.flat[0]).all():
        return value + 1 if value.dtype.kind in "iu" else value
    return np.roll(value, 1, axis=0) if value.ndim else value


def _spoiled_fields(instance):
    for field in dataclasses.fields(instance):
        if hasattr(instance, field.name):
            object.__setattr__(instance, field.name, spoil(getattr(instance, field.name)))
    return instance


def _spoiled_outputs(model):
    for name in OUTPUTS:
        if inspect.ismethod(output := getattr(model, name, None)):
            setattr(
                model, name, lambda *given, _output=output, **named: spoil(_output(*given, **named))
            )
    return model


class Breaking:
    """Replaces public names by broken ones, and counts how often they run."""

    def __init__(self):
        self.runs = 0

    def apply(self, name):
        value, holder = resolved(name), resolved(name.rpartition(".")[0])
        if inspect.isclass(value):
            broke = self._estimator if hasattr(value, "fit") else self._class
            broke(value)
        elif isinstance(value, property | functools.cached_property):
            setattr(holder, name.rpartition(".")[2], property(self._spoiling(_getter(value))))
        elif callable(value):
            fits = name.rpartition(".")[2] in FITTING
            broken = self._misled(value) if fits else self._spoiling(value)
            setattr(holder, name.rpartition(".")[2], broken)
            self._everywhere(value, broken)

    def _spoiling(self, function):
        @functools.wraps(function)
        def broken(*arguments, **options):
            right = function(*arguments, **options)
            wrong = spoil(right)
            self.runs += wrong is not right
            return wrong

        return broken

    def _everywhere(self, old, new):
        """In every module that holds the function, also under another name."""
        for name, module in list(sys.modules.items()):
            if name.split(".")[0] == "thetahat":
                for attribute, held in list(vars(module).items()):
                    if held is old:
                        setattr(module, attribute, new)

    def _misled(self, fit):
        """The method given targets in another order."""

        @functools.wraps(fit)
        def broken(model, X, y=None, *arguments, **options):
            self.runs += 1
            if y is None:
                X = spoil(np.asarray(X)) if isinstance(X, np.ndarray | list) else X
                return fit(model, X, *arguments, **options)
            return fit(model, X, _moved(y), *arguments, **options)

        return broken

    def _estimator(self, kind):
        kind.fit = self._misled(kind.fit)
        for name in OUTPUTS:
            found = inspect.getattr_static(kind, name, None)
            if inspect.isfunction(found):
                setattr(kind, name, self._spoiling(found))

    def _class(self, kind):
        for name, found in _members(kind).items():
            if name.startswith("_") and name not in ("__call__", "__iter__"):
                continue
            if inspect.isfunction(found):
                setattr(kind, name, self._spoiling(found))
            elif isinstance(found, property | functools.cached_property):
                setattr(kind, name, property(self._spoiling(_getter(found))))
        if kind.__module__.split(".")[1] in ("evaluation", "theory") or not _has_methods(kind):
            self._fields(kind)

    def _fields(self, kind):
        if not dataclasses.is_dataclass(kind):
            return
        made = kind.__init__

        @functools.wraps(made)
        def broken(instance, *arguments, **options):
            made(instance, *arguments, **options)
            self.runs += 1
            _spoiled_fields(instance)

        kind.__init__ = broken


def _getter(found):
    return found.fget if isinstance(found, property) else found.func


def _members(kind):
    """What a class holds, its own before that of its bases; `dir` omits properties of an Enum."""
    return {name: found for base in kind.__mro__[::-1] for name, found in vars(base).items()}


def _has_methods(kind):
    """Whether a class does something; to list and change its parameters is not enough."""
    return any(
        inspect.isfunction(found) and not name.startswith("_")
        for name, found in _members(kind).items()
        if name not in ("get_params", "set_params")
    )


def _moved(y):
    """Targets in another order, which has no period that the targets may have too."""
    try:
        order = np.random.default_rng(0).permutation(len(y))
    except TypeError:  # no targets that have rows
        return y
    return y.iloc[order] if hasattr(y, "iloc") else np.asarray(y)[order]


def resolved(name):
    """The public object of a name such as "losses.Huber"."""
    import thetahat

    found = thetahat
    for part in filter(None, name.split(".")):
        found = getattr(found, part)
    return found


class Result(NamedTuple):
    """What became of the tests of a row: the failing ones, and how the run ended."""

    failed: frozenset
    end: str  # "all" ran, "late", or "unused" if nothing broken ran

    def cell(self, known):
        """The entry of the table, without the tests that fail anyway."""
        failed = len(self.failed - known)
        if failed:
            return f"{failed}+" if self.end == "late" else str(failed)
        return "survived" if self.end == "all" else self.end


def result(row, name, seconds):
    """What becomes of the tests of a row when a name is broken (nothing if the name is empty)."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.setsid()
        _run_broken(row, name, writer)
    os.close(writer)
    lines, ended = _lines(reader, time.monotonic() + seconds)
    os.close(reader)
    if not ended:
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    failed = {line.removeprefix("failed ") for line in lines if line.startswith("failed ")}
    ends = [line.removeprefix("end ") for line in lines if line.startswith("end ")]
    if ended and not ends:
        return Result(frozenset({*failed, "the process died"}), "all")
    return Result(frozenset(failed), ends[0] if ended else "late")


def _lines(reader, deadline):
    """What the child wrote, line by line, and whether it ended in time."""
    written = b""
    while (left := deadline - time.monotonic()) > 0:
        if select.select([reader], [], [], left)[0]:
            part = os.read(reader, 65536)
            if not part:
                return written.decode().splitlines(), True
            written += part
    return written.decode().splitlines(), False


class _Failures:
    """A plugin of pytest that writes each failing test as soon as it fails."""

    def __init__(self, writer):
        self.writer = writer

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.write(f"failed {report.nodeid}")

    pytest_collectreport = pytest_runtest_logreport

    def write(self, line):
        os.write(self.writer, f"{line}\n".encode())


def _run_broken(row, name, writer):
    import pytest

    failures = _Failures(writer)
    try:
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        breaking = Breaking()
        if name:
            breaking.apply(name)
        pytest.main(["-q", "--tb=no", "-p", "no:cacheprovider", *row.tests], plugins=[failures])
        failures.write("end all" if breaking.runs else "end unused")
    finally:
        os._exit(0)


def main(arguments=None):
    import pytest  # noqa: F401  (loaded once, before the forks)
    import sklearn  # noqa: F401

    from thetahat import registry

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="*", help="ids of rows; all served rows by default")
    parser.add_argument("--seconds", type=float, default=60.0, help="time limit per name")
    parser.add_argument("--limit", type=float, default=np.inf, help="seconds for the whole run")
    chosen = parser.parse_args(arguments)
    rows = [row for row in registry.rows() if row.names and row.tests]
    for name in {name for row in rows for name in row.names}:
        resolved(name)
    totals, began = Counter(), time.monotonic()
    for row in rows:
        if chosen.rows and row.id not in chosen.rows:
            continue
        if time.monotonic() - began > chosen.limit:
            print(f"out of time before {row.id}")
            break
        known = result(row, "", 2 * chosen.seconds).failed
        for test in sorted(known):
            print(f"{row.id:24} fails with nothing broken: {test}")
        caught = 0
        for name in row.names:
            cell = result(row, name, chosen.seconds).cell(known)
            caught += cell[0].isdigit()
            print(f"{row.id:24} {name:40} {cell:>8}", flush=True)
        totals["caught" if caught == len(row.names) else "partly" if caught else "NOT CAUGHT"] += 1
    print(", ".join(f"{count} {state}" for state, count in totals.items()))
    return 1 if totals["NOT CAUGHT"] else 0


if __name__ == "__main__":
    sys.exit(main())
