"""Printed progress of a mixture fit: ``verbose`` and ``verbose_interval``."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass
class Progress:
    """Prints starts and iterations; level 2 also the change of the lower bound and the time."""

    level: int
    interval: int
    started: float = field(default_factory=time.monotonic)

    def begin(self, number: int) -> None:
        if self.level:
            print(f"Initialization {number}")

    def step(self, step: int, change: float) -> None:
        if step % self.interval == 0:
            more = ""
            if self.level >= 2:
                elapsed = time.monotonic() - self.started
                more = f"\t time lapse {elapsed:.5f}s\t ll change {change:.5f}"
            print(f"  Iteration {step}{more}")

    def end(self, bound: float, converged: bool) -> None:
        if self.level:
            outcome = "converged" if converged else "did not converge"
            more = ""
            if self.level >= 2:
                elapsed = time.monotonic() - self.started
                more = f"\t time lapse {elapsed:.5f}s\t lower bound {bound:.5f}"
            print(f"Initialization {outcome}.{more}")
