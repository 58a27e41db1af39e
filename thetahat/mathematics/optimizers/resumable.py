"""`resumable`: iterative fits that continue after their process has ended."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextvars import ContextVar, Token
from dataclasses import replace
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from thetahat.data.arrays import to_host
from thetahat.data.snapshot import digest_of, digests_of_rows, read_snapshot, write_snapshot
from thetahat.data.source import Source
from thetahat.foundation.atomic_file import require_place, usable_path
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch

VERSION = 2
MARK = "resumable"
LARGEST = 1e150
"""Parameters above this size have squares that overflow, and come from a damaged file."""
FREE = ("max_iter", "n_jobs", "verbose", "verbose_interval")
"""Settings of an estimator that may differ when its fit is continued."""


class resumable:
    """Keep the parameters of fits in a file, and continue from it after a restart.

    If the process ends during the block, run the same program again: each fit starts from the
    parameters in the file instead of from the beginning. When the block ends without an error, the
    file is deleted.

    The fits of the block must be the same, in the same order, and on the same rows. A file of
    another estimator, of other rows or of other settings is refused; only ``max_iter``, ``n_jobs``
    and ``verbose`` may differ. The partitions of a Dask collection must be the same, too. Fits by
    Newton's method, by k-means and by expectation-maximisation (`GaussianMixture`) then take the
    same steps as without the interruption; other methods reach the same optimum to their
    tolerance. Steps before the interruption count in ``max_iter`` and ``n_iter_``; the last one is
    computed again. Fits without iterations, Bayesian mixtures and trees start from the beginning.
    Boosting and networks have the parameter ``checkpoint`` instead.

    Formula: θ⁽⁰⁾ of a fit is the last θ⁽ᵗ⁾ in the file. Cost: one file of the size of θ every
    `every` seconds, and one pass over the rows of each fit for their digest.

    Parameters
    ----------
    path : str or path
        The file, which need not exist. Its name should end with ".npz".
    every : float, default=10.0
        Seconds between two writes of the file. 0 writes it after every iteration. Must be at
        least 0.

    Examples
    --------
    >>> import tempfile
    >>> import thetahat as th
    >>> X = [[0.0], [1.0], [3.0], [7.0]]
    >>> with tempfile.TemporaryDirectory() as folder, th.resumable(f"{folder}/fit.npz"):
    ...     model = th.KMeans(2, random_state=0).fit(X)
    >>> round(model.inertia_, 4)
    4.6667
    """

    def __init__(self, path: str | PathLike[str], *, every: float = 10.0) -> None:
        self.path = usable_path(path).expanduser()
        if not every >= 0:
            raise ParameterError(f"resumable: every={every!r} must be a number of seconds ≥ 0.")
        self.every = float(every)
        self._token: Token[resumable | None] | None = None
        self._kept: dict[str, Array] = {}
        self._names: dict[str, str] = {}
        self._fits: list[dict[str, Any]] = []
        self._progress: dict[str, dict[str, Any]] = {}
        self._calls = self._noted = 0
        self._written = 0.0

    def __enter__(self) -> resumable:
        self._calls, self._noted, self._written = 0, 0, time.monotonic()
        require_place(self.path)
        if self.path.exists():
            facts, self._kept = read_snapshot(
                Path(self.path), version=VERSION, mark=MARK, who="resumable", role="the file "
            )
            self._names, self._fits = _fits_of(facts, self.path)
            _require_finite(self._kept, self.path)
            self._progress = _progress_of(facts, self._kept, self.path)
        self._token = _active.set(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._token is not None:
            _active.reset(self._token)
        if kind is None:
            self.path.unlink(missing_ok=True)
        elif self._kept:
            self._write()

    def note(self, fit: dict[str, Any]) -> None:
        """Compare the next fit of the block with the one in the file, or add it."""
        place = self._noted
        self._noted += 1
        if place == len(self._fits):
            self._fits.append(fit)
            return
        differs = "; ".join(_differences(self._fits[place], fit))
        if differs:
            raise DataError(
                f"resumable: the file {str(self.path)!r} contains a different fit at position "
                f"{place}: {differs}. Delete the file to start again, or use another path."
            )

    def next_run(self, name: str) -> Run:
        """The next run of a solver in the block; `name` identifies it."""
        number = str(self._calls)
        self._calls += 1
        before = self._names.get(number, name)
        if before != name:
            raise DataError(
                f"resumable: the file {str(self.path)!r} contains a different run at position "
                f"{number} ({before}, not {name}). Delete the file to start again, or use "
                "another path."
            )
        self._names[number] = name
        return Run(self, number)

    def keep(self, number: str, theta: Array, steps: int, trace: Sequence[float]) -> None:
        """Keep the parameters of a run after so many steps, and write them if it is time."""
        self._kept[number] = np.array(theta)
        self._progress[number] = {"steps": steps, "trace": list(trace)}
        if time.monotonic() - self._written >= self.every:
            self._write()

    def _write(self) -> None:
        progress = {
            number: {**each, "digest": digest_of(self._kept[number])}
            for number, each in self._progress.items()
        }
        facts = {
            "version": VERSION,
            "fingerprint": MARK,
            "runs": self._names,
            "fits": self._fits,
            "progress": progress,
        }
        write_snapshot(Path(self.path), facts, self._kept)
        self._written = time.monotonic()


def note_fit(estimator: Any, source: Source) -> None:
    """Record the estimator and the rows of the fit that begins in an active block."""
    owner = _active.get()
    if owner is not None:
        rows = {"rows": source.n_rows, "columns": source.n_features}
        owner.note(
            {
                "estimator": type(estimator).__name__,
                "settings": _settings(estimator),
                "sizes": rows,
                "digests": digests_of_rows(source),
            }
        )


def _settings(estimator: Any) -> dict[str, str]:
    given = estimator.get_params(deep=False)
    return {name: _text(value) for name, value in sorted(given.items()) if name not in FREE}


def _text(value: Any) -> str:
    """A text that is the same for equal settings, also in another process."""
    if hasattr(value, "get_params") and not isinstance(value, type):
        return f"{type(value).__name__}({_settings(value)})"
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape} with digest {digest_of(value)}"
    return re.sub(r" at 0x[0-9A-Fa-f]+", "", repr(value))


def _differences(before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    """What differs between two fits, in words: the estimator, its settings, or the rows."""
    if before["estimator"] != now["estimator"]:
        yield f"{before['estimator']}, not {now['estimator']}"
        return
    old, new = before["settings"], now["settings"]
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) != new.get(name):
            yield f"{name}={old.get(name)}, not {new.get(name)}"
    for name, size in before["sizes"].items():
        if size != now["sizes"][name]:
            yield f"{size} {name}, not {now['sizes'][name]}"
    if before["sizes"] == now["sizes"]:
        old, new = before["digests"], now["digests"]
        roles = [role for role in ("X", "y", "sample_weight") if old.get(role) != new.get(role)]
        if roles:
            yield f"other values in {' and '.join(roles)}, or other partitions"


def _fits_of(facts: dict[str, Any], path: Path) -> tuple[dict[str, str], list[dict[str, Any]]]:
    names, fits = facts.get("runs"), facts.get("fits")
    needed = {"estimator": str, "settings": dict, "sizes": dict, "digests": dict}
    whole = isinstance(fits, list) and all(
        isinstance(fit, dict)
        and all(isinstance(fit.get(name), kind) for name, kind in needed.items())
        for fit in fits
    )
    if not isinstance(names, dict) or not isinstance(fits, list) or not whole:
        raise DataError(
            f"resumable: the file {str(path)!r} does not contain the names of its fits. Delete "
            "the file to start again, or use another path."
        )
    return dict(names), fits


def _require_finite(kept: dict[str, Array], path: Path) -> None:
    for number, theta in kept.items():
        if theta.dtype.kind not in "fiub" or not (np.abs(theta) < np.float64(LARGEST)).all():
            raise DataError(
                f"resumable: the file {str(path)!r} holds parameters of fit {number} that are not "
                f"finite numbers below {LARGEST:g}. Delete the file to start again, or use another "
                "path."
            )


def _progress_of(
    facts: dict[str, Any], kept: dict[str, Array], path: Path
) -> dict[str, dict[str, Any]]:
    """The steps and values of each run, whose parameters must be those that were written."""
    found = facts.get("progress")
    progress: dict[str, Any] = found if isinstance(found, dict) else {}
    for number, theta in kept.items():
        each = progress.get(number, {})
        sound = isinstance(each, dict) and each.get("digest") == digest_of(theta)
        if not (sound and isinstance(each.get("steps"), int) and type(each.get("trace")) is list):
            raise DataError(
                f"resumable: the file {str(path)!r} holds parameters of fit {number} that were "
                "changed after they were written. Delete the file to start again, or use another "
                "path."
            )
    return {number: progress[number] for number in kept}


class Run:
    """One run of a solver, whose parameters are kept."""

    def __init__(self, owner: resumable, number: str) -> None:
        self._owner, self._number = owner, number
        before = owner._progress.get(number, {"steps": 0, "trace": []})
        self.steps: int = before["steps"]
        """The steps before those of this process."""
        self.trace: list[float] = list(before["trace"])
        """The values of the objective before the parameters in the file were reached."""

    def start(self, given: Array) -> Array:
        """The parameters in the file, or those given."""
        kept = self._owner._kept.get(self._number)
        if kept is not None and kept.shape != given.shape:
            raise DataError(
                f"resumable: the file {str(self._owner.path)!r} holds a fit with parameters of "
                f"shape {kept.shape}, but this one has {given.shape}. Delete the file to start "
                "again, or use another path."
            )
        return given if kept is None else kept

    def watching(self, watch: Watch, start: Array, trace: list[float] | None) -> Watch:
        """A watch that keeps the parameters before every step, and then asks the given one.

        The last step is repeated when a run is continued, so that it ends where it would have
        ended.
        """
        last = [(self.steps, np.array(to_host(start)))]

        def on_step(step: int, theta: Any, value: float) -> bool:
            self.keep(last[0][1], last[0][0], () if trace is None else trace[:-2])
            last[0] = (step, np.array(to_host(theta)))
            return watch.on_step is not None and watch.on_step(step, theta, value)

        return replace(watch, on_step=on_step)

    def keep(self, theta: Array, steps: int, trace: Sequence[float]) -> None:
        """Keep the parameters that were reached after so many steps."""
        self._owner.keep(self._number, theta, steps, trace)


_active: ContextVar[resumable | None] = ContextVar("thetahat_resumable", default=None)


def begin_run(name: str) -> tuple[Run | None, Token[resumable | None] | None]:
    """The run to keep, if a block is active; runs inside of it are parts of it."""
    owner = _active.get()
    if owner is None:
        return None, None
    run = owner.next_run(name)
    return run, _active.set(None)


def end_run(token: Token[resumable | None] | None) -> None:
    """Let the block see the next run."""
    if token is not None:
        _active.reset(token)
