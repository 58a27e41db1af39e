"""Functions of a few numbers, recorded once with their derivatives and computed again cheaply.

A curve f(xᵢ; θ₁, …, θ_p) that is fitted to rows is evaluated for many θ and the same rows. Its
operations and those of its derivative rules (forward mode, one tangent per parameter that a value
depends on) are recorded without computing anything. The program that results has every operation
once, and runs without the function, the rules and the tracing.

A recording needs operations that act on each row alone, and values of θ must not be looked at: a
function with ``if a > 0`` may have other operations for another θ. Such functions are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.types import Array
from thetahat.mathematics.autodiff.trace import COMPARISONS, Primitive, Trace, Traced, belongs

SLAB = 16_384
"""Rows that are computed at once, so that the intermediate results stay in the cache."""
MOST_KEPT = 1 << 21
"""Numbers among the intermediate results of f up to which they are kept for its derivative."""
NUMBERS = (bool, int, float, np.number, np.bool_)


class Step(NamedTuple):
    """One operation on numbered places: memory[out] = run(memory[first], memory[second], …)."""

    run: Callable[..., Array]
    places: tuple[int, ...]
    out: int


class Recorder(Trace):
    """The record of a traced array is the place of its value in the memory of the program."""

    abstract = True

    def __init__(self, n_rows: int, n_numbers: int) -> None:
        super().__init__()
        self.n_rows = n_rows
        self.memory: list[Any] = [None] * n_numbers
        """Constants of the function; None where a value is computed."""
        self.steps: list[Step] = []
        self._made: dict[Any, Traced] = {}
        self._constants: dict[int, tuple[int, Any]] = {}
        number: Any = np.float64(np.nan)
        self._like: dict[tuple[bool, bool], Any] = {
            (False, False): number,
            (True, False): np.empty(n_rows),
            (False, True): np.False_,
            (True, True): np.empty(n_rows, dtype=bool),
        }
        """Arrays that have only the shapes and types of the values."""
        self.numbers = [Traced(number, self, place) for place in range(n_numbers)]

    def look(self) -> None:
        raise _refused("its operations may depend on the values of the parameters")

    def lift(
        self, primitive: Primitive, out: Array, args: list[Any], values: list[Any], options: Any
    ) -> Any:
        if not primitive.by_entry:
            raise _refused(f"{primitive.name} does not act on each row alone")
        if primitive.name == "multiply":
            for k in (0, 1):
                if type(values[k]) in (int, float) and values[k] == 1:
                    return args[1 - k]
        places, long = [], False
        for arg, value in zip(args, values, strict=True):
            mine = belongs(arg, self)
            long |= bool(value.ndim) if mine else self._is_long(value)
            places.append(arg.record if mine else self._constant(value))
        key = (primitive.name, *places, *(str(option) for option in options.values()))
        if key not in self._made:
            run = getattr(primitive.run, "in_numpy", primitive.run)
            here = len(self.memory)
            self.memory.append(None)
            self.steps.append(Step(partial(run, **options) if options else run, (*places,), here))
            shape = self._like[long, primitive.name in COMPARISONS]
            self._made[key] = Traced(shape, self, here)
        return self._made[key]

    def _is_long(self, value: Any) -> bool:
        if isinstance(value, NUMBERS):
            return False
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            if value.shape in ((), (self.n_rows,)):
                return value.ndim == 1
        raise _refused("it uses other arrays than one number per row")

    def _constant(self, value: Any) -> int:
        """The place of a constant: a copy, unless it cannot be changed."""
        if id(value) in self._constants:
            return self._constants[id(value)][0]
        place, is_array = len(self.memory), isinstance(value, np.ndarray) and value.ndim > 0
        fixed = not is_array or not value.flags.writeable
        self.memory.append(np.array(value) if is_array and not value.flags.c_contiguous else value)
        if fixed:
            self._constants[id(value)] = place, value
        elif self.memory[-1] is value:
            self.memory[-1] = value.copy()
        return place


class Columns(Trace):
    """The record of a traced array holds its tangent for each parameter that it depends on."""

    def lift(
        self, primitive: Primitive, out: Array, args: list[Any], values: list[Any], options: Any
    ) -> Any:
        known = [
            arg.record if belongs(arg, self) and k not in primitive.inert else {}
            for k, arg in enumerate(args)
        ]
        tangents = {
            j: primitive.forward([each.get(j) for each in known], out, *values, **options)
            for j in dict.fromkeys(j for each in known for j in each)
        }
        return Traced(out, self, tangents)


class Program:
    """f(x; θ) and ∂f/∂θ for fixed rows, as operations that are computed for any θ.

    Cost: that of the operations. The intermediate results of f for the last θ are kept, unless they
    are many, so that the derivative there does not compute them again.
    """

    def __init__(self, recorder: Recorder, value: int, columns: list[Any]) -> None:
        """Columns that depend on θ are given by their places, others by themselves."""
        self.n_rows, self._value, self._columns = recorder.n_rows, value, columns
        wanted = _needed(recorder.steps, {value})
        self._first = [step for step in recorder.steps if step.out in wanted]
        slopes = _needed(recorder.steps, {each for each in columns if type(each) is int}) - wanted
        self._second = [step for step in recorder.steps if step.out in slopes]
        self._slabs = [
            (slice(first, first + SLAB), [_part(each, first) for each in recorder.memory])
            for first in range(0, self.n_rows, SLAB)
        ]
        self._keeps = self.n_rows * len(self._first) <= MOST_KEPT
        self._kept_at = b""
        self._kept: list[list[Any]] = []

    def values(self, theta: Array) -> Array:
        """f(xᵢ; θ) for every row."""
        is_kept, whole, kept = self._is_kept(theta), np.empty(self.n_rows), []
        for k, (rows, constants) in enumerate(self._slabs):
            memory = self._kept[k] if is_kept else self._begun(constants, theta)
            whole[rows] = memory[self._value]
            if self._keeps:
                kept.append(memory)
        self._kept_at, self._kept = theta.tobytes(), kept
        return whole

    def slopes(self, theta: Array) -> Array:
        """∂f(xᵢ; θ)/∂θⱼ, shape (n, p), column by column."""
        whole = np.empty((self.n_rows, len(self._columns)), order="F")
        is_kept = self._is_kept(theta)
        for k, (rows, constants) in enumerate(self._slabs):
            memory = self._kept[k].copy() if is_kept else self._begun(constants, theta)
            _run(self._second, memory)
            for j, column in enumerate(self._columns):
                whole[rows, j] = (
                    memory[column] if type(column) is int else _part(column, rows.start)
                )
        return whole

    def _is_kept(self, theta: Array) -> bool:
        """Whether the intermediate results are those for this θ."""
        return bool(self._kept) and self._kept_at == theta.tobytes()

    def _begun(self, constants: list[Any], theta: Array) -> list[Any]:
        """The memory after the operations of f."""
        memory = [*theta, *constants[len(theta) :]]
        _run(self._first, memory)
        return memory


def record(function: Callable[[Any], Any], n_rows: int, n_numbers: int) -> Program:
    """The program of a function that takes a tuple of numbers and returns one number per row.

    Raises an error if the function cannot be recorded; see above.
    """
    recorder, columns = Recorder(n_rows, n_numbers), Columns()
    numbers: list[Any] = recorder.numbers
    out = function(tuple(Traced(each, columns, {j: 1.0}) for j, each in enumerate(numbers)))
    if not belongs(out, columns) or not belongs(out.value, recorder):
        raise _refused("its result does not depend on the parameters")
    tangents = [out.record.get(j, 0.0) for j in range(n_numbers)]
    return Program(
        recorder,
        out.value.record,
        [each.record if belongs(each, recorder) else np.asarray(each) for each in tangents],
    )


def _needed(steps: list[Step], results: set[int]) -> set[int]:
    """The places that must be computed for the results."""
    found = set(results)
    for step in reversed(steps):
        if step.out in found:
            found.update(step.places)
    return found


def _run(steps: list[Step], memory: list[Any]) -> None:
    for run, places, out in steps:
        if len(places) == 2:
            memory[out] = run(memory[places[0]], memory[places[1]])
        elif len(places) == 1:
            memory[out] = run(memory[places[0]])
        else:
            memory[out] = run(*[memory[place] for place in places])


def _part(value: Any, first: int) -> Any:
    is_long = isinstance(value, np.ndarray) and value.ndim
    return value[first : first + SLAB] if is_long else value


def _refused(why: str) -> CapabilityError:
    return CapabilityError(f"autodiff cannot record this function: {why}.")
