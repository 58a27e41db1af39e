"""Monitor a long fit: time limit, progress, interruption.

The solver loop calls a `Watch` once per step, and the watch returns whether to continue. It does
not depend on solvers or scikit-learn: the estimator layer passes an ``on_step`` that reports to
scikit-learn's callbacks.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeVar

from thetahat.foundation.config import config, settings

Task = TypeVar("Task")
Done = TypeVar("Done")


class Verdict(Enum):
    """The result of a watch after a step."""

    GO_ON = "go on"
    OUT_OF_TIME = "out of time"
    STOPPED = "stopped by a callback"


@dataclass
class Watch:
    """Called once per step as ``watch(step, theta, value)``; returns whether to continue."""

    on_step: Callable[[int, Any, float], bool] | None = None
    """Returns True to stop the fit here."""
    report: Callable[[int, float], None] | None = None
    """Shows the step and its value. Solvers take the same steps with and without it."""
    max_time: float | None = field(default_factory=lambda: settings().max_time)
    started: float = field(default_factory=time.monotonic)

    def __call__(self, step: int, theta: object, value: float) -> Verdict:
        if self.report is not None:
            self.report(step, value)
        if self.on_step is not None and self.on_step(step, theta, value):
            return Verdict.STOPPED
        return Verdict.OUT_OF_TIME if self.is_over else Verdict.GO_ON

    @property
    def is_over(self) -> bool:
        """Whether the time limit has passed."""
        return self.remaining < 0

    @property
    def remaining(self) -> float:
        """Seconds until the time limit, negative after it; infinite without a limit."""
        if self.max_time is None:
            return math.inf
        return self.max_time - (time.monotonic() - self.started)

    @property
    def is_idle(self) -> bool:
        """Whether it has neither a time limit nor a callback."""
        return self.on_step is None and self.max_time is None

    def in_time(self, work: Callable[[Task], Done]) -> Callable[[Task], Done]:
        """The same work with the remaining time as its limit, for fits inside a fit."""
        if self.max_time is None:
            return work

        def timed(task: Task) -> Done:
            with config(max_time=max(self.remaining, 1e-3)):
                return work(task)

        return timed
