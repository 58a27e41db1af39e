"""Settings for all computations in a context: threads, time, memory."""

from __future__ import annotations

from contextvars import ContextVar, Token
from dataclasses import dataclass, replace
from enum import Enum
from numbers import Integral, Real
from types import TracebackType
from typing import Any

from thetahat.foundation.errors import ParameterError


@dataclass(frozen=True)
class Settings:
    """The current settings; `config` changes them."""

    threads: int | None = None
    """Number of threads; None: the cores this process may use (or ``OMP_NUM_THREADS``)."""
    max_time: float | None = None
    """Seconds after which an iterative fit returns its best parameters so far."""
    memory: int | None = None
    """Bytes that one operation may allocate; None: the free memory of the machine."""


_settings: ContextVar[Settings] = ContextVar("thetahat_settings", default=Settings())  # noqa: B039


def settings() -> Settings:
    """The current settings."""
    return _settings.get()


MOST_THREADS = 1024
"""More threads help nowhere, and would use up the resources of the process."""


def _check(name: str, value: object) -> None:
    whole = name == "threads"
    kind = Integral if whole else Real
    if isinstance(value, bool) or not isinstance(value, kind) or not value > 0:  # type: ignore[operator]
        of = "whole number" if whole else "number"
        raise ParameterError(f"config: {name}={value!r} must be a positive {of}, or None.")
    if whole and value > MOST_THREADS:  # type: ignore[operator]
        raise ParameterError(
            f"config: threads={value!r} must be at most {MOST_THREADS}. Use about as many threads "
            "as the machine has cores."
        )


class Unchanged(Enum):
    """The default of a setting that is not given."""

    UNCHANGED = "unchanged"

    def __repr__(self) -> str:
        return self.value


UNCHANGED = Unchanged.UNCHANGED


class config:
    """Change settings permanently, or for the length of a ``with`` block.

    Formula: no setting changes the minimiser θ̂ = argmin Σℓ + R. Results are bit-identical for any
    number of ``threads``, and a fit that was stopped by ``max_time`` says so in
    ``solution_.outcome``. Cost: O(1).

    Parameters
    ----------
    threads : int or None, default=unchanged
        The number of threads used by all computations. None means the number of cores that this
        process may use, or ``OMP_NUM_THREADS`` if it is set. Left out, the setting does not change.
    max_time : float or None, default=unchanged
        Seconds after which an iterative fit stops with its best parameters so far. None sets no
        limit. Left out, the setting does not change.
    memory : int or None, default=unchanged
        The largest number of bytes that one operation may allocate. None means the free memory of
        the machine. Left out, the setting does not change.

    Examples
    --------
    >>> import thetahat as th
    >>> with th.config(threads=1, max_time=60.0) as settings:
    ...     settings.threads
    1
    """

    def __init__(
        self,
        *,
        threads: int | Unchanged | None = UNCHANGED,
        max_time: float | Unchanged | None = UNCHANGED,
        memory: int | Unchanged | None = UNCHANGED,
    ) -> None:
        given = {"threads": threads, "max_time": max_time, "memory": memory}
        changes: dict[str, Any] = {
            name: value for name, value in given.items() if value is not UNCHANGED
        }
        for name, value in changes.items():
            if value is not None:
                _check(name, value)
        self._token: Token[Settings] | None = _settings.set(replace(settings(), **changes))

    def __enter__(self) -> Settings:
        return settings()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._token is not None:
            _settings.reset(self._token)
            self._token = None
