"""Solvers may work on rescaled or centred parameters; the watch sees them in the data's units."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch


@contextmanager
def watch_in_units(watch: Watch | None, back: Callable[[Array], Array]) -> Iterator[Watch | None]:
    """The watch, told of ``back(θ)``; the solution on an interrupt is turned back too."""
    inner = watch
    if watch is not None and watch.on_step is not None:
        tell = watch.on_step
        inner = replace(watch, on_step=lambda step, theta, value: tell(step, back(theta), value))
    try:
        yield inner
    except KeyboardInterrupt as interrupt:
        solution = getattr(interrupt, "solution", None)
        if solution is not None:
            interrupt.solution = replace(  # type: ignore[attr-defined]
                solution, theta=back(solution.theta)
            )
        raise
