"""What a benchmark case is, and how all its contenders are measured in one run.

A contender is a function in three stages, so that each cost is counted where it belongs:
``load()`` imports the library and returns ``prepare``; ``prepare(data)`` does what a user does
once and returns ``call``; ``call()`` is what is timed, and returns the result that is judged.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.background_load import QUIET, BackgroundLoad

Data = Mapping[str, Any]
Call = Callable[[], Any]
Contender = Callable[[], Callable[[Data], Call]]

Judged = tuple[str, float | None, bool | None]
"""A bar's text, the value measured, whether it holds; None: the machine was busy, so who knows."""

OURS = "thetahat"
SETTLE_SECONDS = 0.05
"""Between two calls: the threads of the last library spin for a while before they sleep."""
SHORTEST_SAMPLE = 0.01
"""Seconds; shorter calls are repeated within one sample."""
LONGEST_IMPORT = 2.0
"""Seconds; a first call that takes less may owe its time to modules that it imports."""


@dataclass(frozen=True)
class Bar:
    """A promise: thetahat takes at most ``most`` times as long as ``against``."""

    against: str
    """A contender's name, or "limit"."""
    most: float

    def text(self, limit_name: str) -> str:
        other = limit_name if self.against == "limit" else self.against
        if self.most < 1:
            return f"at least {1 / self.most:.3g}× faster than {other}"
        return f"at most {self.most:.3g}× the time of {other}"


@dataclass(frozen=True)
class Case:
    """One task, the libraries that do it, and the measure of how well they did."""

    name: str
    data: Callable[[bool], Data]
    """``data(quick)``: the same arrays at every call; small ones when quick."""
    contenders: Mapping[str, Contender]
    quality: Callable[[Data, Any], float]
    """``quality(data, result)``: less is better."""
    quality_name: str
    limits: tuple[Contender, ...] = ()
    """Ways to do the step that cannot be avoided; the fastest of them is the limit."""
    limit_name: str = ""
    bars: tuple[Bar, ...] = ()
    slack: float = 1e-9
    """Relative difference in quality that rounding alone may make."""


@dataclass
class Measurement:
    """What one contender took and reached in one case; None where it was not measured."""

    contender: str
    import_seconds: float | None = None
    cold_seconds: float | None = None
    peak_bytes: int | None = None
    warm_seconds: float | None = None
    rounds: int = 0
    quality: float | None = None
    error: str = ""


@dataclass
class Result:
    """One case measured: thetahat first, its peers after it."""

    case: Case
    measurements: list[Measurement]
    limit_seconds: float | None = None
    cores_of_others: float | None = None
    """Cores kept busy by other processes meanwhile; None where it is unknown."""

    @property
    def was_quiet(self) -> bool:
        """Whether nobody else used the machine, as far as can be known."""
        return self.cores_of_others is None or self.cores_of_others <= QUIET

    @property
    def ours(self) -> Measurement | None:
        return next((m for m in self.measurements if m.contender == OURS), None)

    @property
    def peers(self) -> list[Measurement]:
        return [m for m in self.measurements if m.contender != OURS]

    def ratio(self, measurement: Measurement | None, against: str) -> float | None:
        """Warm time of `measurement` over that of a contender, of the limit or of the best peer."""
        if against == "limit":
            base = self.limit_seconds
        elif against == "fastest peer":
            base = min((p.warm_seconds for p in self.peers if p.warm_seconds), default=None)
        else:
            base = next((m.warm_seconds for m in self.measurements if m.contender == against), None)
        if measurement is None or not measurement.warm_seconds or not base:
            return None
        return measurement.warm_seconds / base

    @property
    def quality_holds(self) -> bool | None:
        """Whether thetahat's result is at least as good as every peer's; None: no peer."""
        others = [peer.quality for peer in self.peers if peer.quality is not None]
        if self.ours is None or self.ours.quality is None or not others:
            return None
        return self.ours.quality <= min(others) + self.case.slack * abs(min(others))

    def bars(self) -> list[Judged]:
        """Each bar: its text, the ratio measured, and whether it holds."""
        judged = []
        for bar in self.case.bars:
            ratio = self.ratio(self.ours, bar.against)
            holds = ratio is not None and ratio <= bar.most
            text = f"{self.case.name}: {bar.text(self.case.limit_name)}"
            judged.append((text, ratio, holds if self.was_quiet else None))
        return judged


@dataclass(frozen=True)
class Finding:
    """What a study found: rows of one table, and the bars it judged."""

    rows: list[dict[str, Any]]
    """Column → value, as kept in JSON; every row has the same columns."""
    show: Mapping[str, Callable[[Any], str]]
    """Column → how its values are printed, where ``str`` will not do."""
    bars: list[Judged]


@dataclass(frozen=True)
class Study:
    """A measurement that is not a race: digits of precision, memory against rows."""

    name: str
    run: Callable[[bool, Callable[[str], None]], Finding]
    """``run(quick, say)``."""


def measure(
    family: str, case: Case, *, quick: bool = False, say: Callable[[str], None] = lambda _: None
) -> Result:
    """Measure every contender of a case: first each in its own process, then all in turn here."""
    neighbours = BackgroundLoad()
    measurements = []
    for name in case.contenders:
        say(f"{case.name}: {name}, first call in a new process")
        measurements.append(_in_new_process(family, case.name, name, quick))
    say(f"{case.name}: all in turn")
    limit_seconds = _in_turn(case, measurements, quick)
    return Result(case, measurements, limit_seconds, neighbours.cores_used())


def _in_new_process(family: str, case: str, contender: str, quick: bool) -> Measurement:
    try:
        arguments = [family, case, contender] + ["--quick"] * quick
        return Measurement(contender, **in_new_process("benchmarks.first_call", *arguments))
    except ProcessFailed as failure:
        return Measurement(contender, error=str(failure))


class ProcessFailed(Exception):
    """A new process ended with an error; the message is the last line it wrote."""


def in_new_process(module: str, *arguments: str) -> Any:
    """What ``python -m module`` prints as JSON in its last line.

    Compiled files are kept, as an installer leaves them, even where the caller writes none: else
    a library that is run from its sources would be compiled anew in every process.
    """
    command = [sys.executable, "-m", module, *arguments]
    run = subprocess.run(
        command,
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=Path(__file__).parents[1],
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": ""},
    )
    if run.returncode != 0:
        raise ProcessFailed((run.stderr.splitlines() or [f"exit code {run.returncode}"])[-1])
    return json.loads(run.stdout.splitlines()[-1])


def _in_turn(case: Case, measurements: list[Measurement], quick: bool) -> float | None:
    """Warm times and qualities, written into `measurements`; returns the time of the limit."""
    data = case.data(quick)
    calls: dict[str, Call] = {}
    for measurement in measurements:
        if not measurement.error:
            calls[measurement.contender] = case.contenders[measurement.contender]()(data)
    limits = [f"limit {number}" for number in range(len(case.limits))]
    calls |= {name: limit()(data) for name, limit in zip(limits, case.limits, strict=True)}
    results, samples = interleave(calls, rounds=2 if quick else 15, budget=0.5 if quick else 10.0)
    for measurement in measurements:
        if measurement.contender in calls:
            times = samples[measurement.contender]
            measurement.warm_seconds, measurement.rounds = min(times), len(times)
            measurement.quality = float(case.quality(data, results[measurement.contender]))
    return min((min(samples[name]) for name in limits), default=None)


def interleave(
    calls: Mapping[str, Call], rounds: int, budget: float
) -> tuple[dict[str, Any], dict[str, list[float]]]:
    """Results, and seconds per call: a sample of each in every round, so all meet the same weather.

    A call that has used up its budget of seconds sits out the rounds after its first sample.
    """
    results: dict[str, Any] = {}
    repeats: dict[str, int] = {}
    for name, call in calls.items():
        results[name], repeats[name] = _first(call)
    samples: dict[str, list[float]] = {name: [] for name in calls}
    order = list(calls)
    for _ in range(rounds):
        for name in order:
            if not samples[name] or sum(samples[name]) * repeats[name] < budget:
                samples[name].append(_sample(calls[name], repeats[name]))
        order = order[1:] + order[:1]  # nobody always follows the same neighbour from the start
    return results, samples


def _first(call: Call) -> tuple[Any, int]:
    """The result of a call, and how many calls make a sample long enough for the clock.

    The first call may import modules and start threads, so a second one says how long a call takes.
    """
    start = time.perf_counter()
    result = call()
    repeats, taken = 1, time.perf_counter() - start
    if taken < LONGEST_IMPORT:
        taken = _seconds(call, repeats)
    while taken < SHORTEST_SAMPLE and repeats < 1 << 20:
        repeats *= 2
        taken = _seconds(call, repeats)
    return result, repeats


def _sample(call: Call, repeats: int) -> float:
    """Mean seconds of one call, over `repeats` in a row after the last library has settled."""
    gc.collect()
    gc.disable()
    try:
        time.sleep(SETTLE_SECONDS)
        return _seconds(call, repeats) / repeats
    finally:
        gc.enable()


def _seconds(call: Call, repeats: int) -> float:
    """Seconds of `repeats` calls in a row."""
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return time.perf_counter() - start
