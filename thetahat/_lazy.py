"""Modules whose names load on first use (PEP 562)."""

from collections.abc import Callable, Collection
from importlib import import_module
from typing import Any


def lazy(
    module: str,
    names: dict[str, str],
    namespaces: Collection[str] = (),
    remark: Callable[[str], str] = lambda name: "",
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of `module`, from each name and the module that defines it.

    A name among `namespaces` stands for the module itself. `remark` may add where to find a name
    that is not there.
    """

    def get(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}{remark(name)}")
        value: Any = import_module(names[name])
        if name not in namespaces:
            value = getattr(value, name)
        setattr(import_module(module), name, value)  # found without this function from now on
        return value

    return get, lambda: sorted(names)
