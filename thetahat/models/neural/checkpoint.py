"""Snapshots of the training of a network, so that an interrupted fit can continue.

A snapshot is the state after an epoch: parameters, memory of the step rule, records, and the random
generator. A continued fit gives the same bits as an uninterrupted one.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from thetahat.data.snapshot import fingerprint, read_snapshot, write_snapshot
from thetahat.data.source import Source
from thetahat.foundation.atomic_file import require_place
from thetahat.foundation.errors import DataError
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
        if not at_once and time.monotonic() - self.written < SECONDS_BETWEEN:
            return
        assert training.progress is not None
        assert training.best is not None
        kept = training.memory
        memory = kept if isinstance(kept, tuple) else () if kept is None else (kept,)
        facts = {
            "version": VERSION,
            "fingerprint": self.mark,
            "start": start,
            "random": training.random,
            "several": isinstance(kept, tuple),
            "eta0": training.progress.rate.eta0,
            "progress": {name: getattr(training.progress, name) for name in PROGRESS},
            "counts": [training.steps, training.rows, training.epochs],
            "at_zero": training.at_zero,
        }
        arrays = {
            "theta": training.theta,
            "best": training.best,
            "curve": np.array(training.curve),
            "scores": np.array(training.scores),
            **{f"memory{number}": part for number, part in enumerate(memory)},
        }
        write_snapshot(self.path, facts, arrays)
        self.written = time.monotonic()

    def remove(self) -> None:
        """Delete the snapshot after the fit has ended."""
        self.path.unlink(missing_ok=True)

    def load(self, rate: LearningRate, size: int) -> tuple[Training, Any] | None:
        """The state and the first random state of the snapshot, or None if there is no file."""
        if not self.path.exists():
            return None
        facts, arrays = read_snapshot(self.path, version=VERSION, mark=self.mark, who=self.who)
        try:
            memory: Any = tuple(arrays[f"memory{number}"] for number in range(len(arrays) - 4))
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
                random=facts["random"],
            )
            if training.theta.shape != (size,) or not math.isfinite(training.theta.sum()):
                raise ValueError("its weights are not those of this network")
        except (KeyError, TypeError, ValueError) as failure:
            raise DataError(
                f"{self.who}: checkpoint={str(self.path)!r} is not a snapshot of a network "
                f"({failure}). Delete the file, or use another path."
            ) from failure
        return training, facts["start"]
