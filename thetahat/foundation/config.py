"""Settings that hold for everything computed in a context: threads, time, memory."""

from __future__ import annotations

from contextvars import ContextVar, Token
from dataclasses import dataclass, fields, replace
from types import TracebackType

from thetahat.foundation.errors import ParameterError


@dataclass(frozen=True)
class Settings:
    """The values in force; `config` changes them."""

    threads: int | None = None
    """How many threads; None: the cores this process may use (or ``OMP_NUM_THREADS``)."""
    max_time: float | None = None
    """Seconds an iterative fit may take before it returns its best parameters so far."""
    memory: int | None = None
    """Bytes one operation may take; None: what the machine has free."""


_settings: ContextVar[Settings] = ContextVar("thetahat_settings", default=Settings())  # noqa: B039


def settings() -> Settings:
    """The settings in force here."""
    return _settings.get()


class config:
    """Change settings now, or for the length of a ``with`` block.

    No setting changes θ̂ = argmin Σℓ + R itself: results are bit-identical for any ``threads``, and
    ``max_time`` is reported by ``solution_.outcome``. Cost: O(1).

    Parameters
    ----------
    threads : int, optional
        Threads used by every kernel and matrix product.
    max_time : float, optional
        Seconds after which an iterative fit stops with its best parameters so far.
    memory : int, optional
        Bytes that one operation may allocate.

    Examples
    --------
    >>> import thetahat as th
    >>> with th.config(threads=1, max_time=60.0) as settings:
    ...     settings.threads
    1
    """

    def __init__(self, **changes: float | int | None) -> None:
        known = {field.name for field in fields(Settings)}
        for name, value in changes.items():
            if name not in known:
                raise ParameterError(
                    f"config has no setting {name!r}; it has {', '.join(sorted(known))}."
                )
            if value is not None and not value > 0:
                raise ParameterError(f"config({name}={value!r}): must be positive, or None.")
        self._token: Token[Settings] | None = _settings.set(replace(settings(), **changes))  # type: ignore[arg-type]

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
