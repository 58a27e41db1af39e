"""Methods by name: ``solver="newton"``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

from thetahat.mathematics.optimizers.loop import Method
from thetahat.mathematics.parts import part_named


def named(solver: str | Method) -> Method:
    """Return the method with this name and its default parameters.

    A method is returned unchanged. For an unknown name the error suggests the nearest known one.
    Cost: O(number of methods).

    Parameters
    ----------
    solver : str or Method
        The name of a method ("newton", "lbfgs", "gradient_descent" or "gd", "stochastic_gradient"
        or "sgd", ...) or a method.

    Returns
    -------
    Method

    Examples
    --------
    >>> import thetahat as th
    >>> th.optimizers.named("newton")
    Newton()
    """
    return part_named("solver", solver, Method, _by_name())  # type: ignore[type-abstract]


@cache
def _by_name() -> dict[str, type[Method]]:
    """The methods of this package by name, looked up once."""
    return {kind.name: kind for kind in methods()}


def methods() -> Iterator[type[Method]]:
    """All concrete methods of this package."""
    _load_files()
    yield from _kinds_of(Method)  # type: ignore[type-abstract]


@cache
def _load_files() -> None:
    """Import the files of all methods: those in a folder below this one."""
    here = Path(__file__).parent
    for file in sorted(here.glob("*/*.py")):
        if file.stem != "__init__":
            import_module(f"{__package__}.{file.parent.name}.{file.stem}")


def _kinds_of(base: type[Method]) -> Iterator[type[Method]]:
    for kind in base.__subclasses__():
        yield from _kinds_of(kind)
        if hasattr(kind, "name") and kind.__module__.startswith(__package__):
            yield kind
