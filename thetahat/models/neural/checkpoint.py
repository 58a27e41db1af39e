"""Snapshots of the training of a network, so that an interrupted fit can continue.

A snapshot is the state after an epoch: parameters, memory of the step rule, records, and the random
generator. A continued fit gives the same bits as an uninterrupted one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from thetahat.data.snapshot import fingerprint, read_snapshot, write_snapshot
from thetahat.data.source import Source
from thetahat.foundation.atomic_file import require_place
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.stochastic.learning_rates import LearningRate
from thetahat.objective.network.descent import Training
from thetahat.objective.stochastic.descent import Progress

SECONDS_BETWEEN = 5.0
VERSION = 1
NOT_IN_FINGERPRINT = {"checkpoint", "verbose", "max_iter", "warm_start"}
PROGRESS = ("best", "last", "gap", "idle")


@dataclass
class Checkpoint:
    """File for the snapshots of one fit."""

    path: Path
    mark: str
    who: str
    written: float
    earlier: list[list[Array]] | None = None
    """What the finished stages of a fit of several stages have found; None if it has one."""
    before: Any = None
    """The states of the random generators before the first stage."""
    is_last: bool = True
    """Whether the fit ends with this stage."""
    is_paused: bool = False
    """Whether the file stays as it is, because an earlier stage is not finished."""

    @classmethod
    def of(cls, model: Any, source: Source) -> Checkpoint:
        """The file of this fit."""
        parameters = {
            name: repr(value)
            for name, value in sorted(model.get_params(deep=False).items())
            if name not in NOT_IN_FINGERPRINT
        }
        if not isinstance(model.random_state, int | np.integer | None):
            parameters["random_state"] = "a generator, whose state is in the snapshot"
        place = require_place(model.checkpoint)
        mark = fingerprint(source, [type(model).__name__, parameters])
        return cls(place, mark, type(model).__name__, time.monotonic())

    def save(self, training: Training, start: Any, *, at_once: bool) -> None:
        """Write a snapshot, if it is wanted at once or the last one is old enough.

        `start` is the state of the random generator at the start of the fit.
        """
        if self.is_paused or (not at_once and time.monotonic() - self.written < SECONDS_BETWEEN):
            return
        assert training.progress is not None
        assert training.best is not None
        kept = training.memory
        memory = kept if isinstance(kept, tuple) else () if kept is None else (kept,)
        facts = {
            "start": start,
            "random": training.random,
            "several": isinstance(kept, tuple),
            "eta0": training.progress.rate.eta0,
            "progress": {name: getattr(training.progress, name) for name in PROGRESS},
            "counts": [training.steps, training.rows, training.epochs],
            "at_zero": training.at_zero,
            "shift": training.shift,
        }
        arrays = {
            "theta": training.theta,
            "best": training.best,
            "curve": np.array(training.curve),
            "scores": np.array(training.scores),
            **{f"memory{number}": part for number, part in enumerate(memory)},
        }
        self._write(facts, arrays)

    def _write(self, facts: dict[str, Any], arrays: dict[str, Array]) -> None:
        facts = {"version": VERSION, "fingerprint": self.mark, **facts}
        if self.earlier is not None:
            facts |= {"stage": len(self.earlier), "before": self.before}
            for stage, parts in enumerate(self.earlier):
                arrays |= {f"stage{stage}_{number}": part for number, part in enumerate(parts)}
        write_snapshot(self.path, facts, arrays)
        self.written = time.monotonic()

    def end(self) -> None:
        """Delete the snapshot if the fit has ended."""
        if self.is_last and not self.is_paused:
            self.path.unlink(missing_ok=True)

    def begin_stages(self, *generators: np.random.Generator) -> None:
        """Take the finished stages of the snapshot and set the generators as they were before.

        `earlier` stays None if the file is an old one, which has the last stage only. The stages
        before it are then repeated.
        """
        if not self.path.exists():
            self._start_stages(generators)
            return
        facts, arrays = read_snapshot(self.path, version=VERSION, mark=self.mark, who=self.who)
        if "stage" not in facts:
            return
        self._start_stages(generators)
        assert self.earlier is not None
        try:
            for stage in range(int(facts["stage"])):
                count = sum(name.startswith(f"stage{stage}_") for name in arrays)
                self.earlier.append([arrays[f"stage{stage}_{n}"] for n in range(count)])
            self.before = facts["before"]
            for each, state in zip(generators, self.before, strict=True):
                each.bit_generator.state = state
        except (KeyError, TypeError, ValueError) as failure:
            raise self._damaged(failure) from failure

    def _start_stages(self, generators: Sequence[np.random.Generator]) -> None:
        self.earlier, self.is_last = [], False
        self.before = [each.bit_generator.state for each in generators]

    def end_stage(self, *parts: Array) -> None:
        """Keep what a stage has found, from which the next one starts."""
        if self.earlier is not None and not self.is_paused:
            self.earlier.append([*parts])
            self._write({}, {})

    def load(self, rate: LearningRate, size: int) -> tuple[Training, Any] | None:
        """The state and the first random state of the snapshot, or None if there is none."""
        if self.is_paused or not self.path.exists():
            return None
        facts, arrays = read_snapshot(self.path, version=VERSION, mark=self.mark, who=self.who)
        if "stage" in facts and "start" not in facts:  # the stage has not begun
            return None
        try:
            count = sum(name.startswith("memory") for name in arrays)
            memory: Any = tuple(arrays[f"memory{number}"] for number in range(count))
            if not facts["several"]:
                memory = memory[0] if memory else None
            steps, rows, epochs = map(int, facts["counts"])
            training = Training(
                arrays["theta"],
                memory,
                steps,
                rows,
                arrays["curve"].tolist(),
                arrays["scores"].tolist(),
                epochs=epochs,
                best=arrays["best"],
                progress=Progress(replace(rate, eta0=float(facts["eta0"])), **facts["progress"]),
                at_zero=None if facts["at_zero"] is None else float(facts["at_zero"]),
                shift=float(facts.get("shift", 0.0)),  # older files have none
                random=facts["random"],
            )
            if training.theta.shape != (size,) or not math.isfinite(training.theta.sum()):
                raise ValueError("its weights are not those of this network")
        except (KeyError, TypeError, ValueError) as failure:
            raise self._damaged(failure) from failure
        return training, facts["start"]

    def _damaged(self, failure: Exception) -> DataError:
        return DataError(
            f"{self.who}: checkpoint={str(self.path)!r} is not a snapshot of a network "
            f"({failure}). Delete the file, or use another path."
        )
