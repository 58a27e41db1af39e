"""Stubs that let an editor complete lazy names: ``python -m tests.public_stub`` writes them."""

from importlib import import_module
from pathlib import Path

import thetahat
from thetahat import _public, errors

ROOT = Path(thetahat.__file__).parents[1]

TABLES = {
    "thetahat": lambda: _public.NAMES,
    "thetahat.errors": lambda: dict.fromkeys(errors.__all__, "thetahat.foundation.errors"),
    "thetahat.functions": lambda: _public.FUNCTIONS,
    "thetahat.results": lambda: _public.RESULTS,
    "thetahat.data": lambda: import_module("thetahat.data")._NAMES,
    "thetahat.models.neural": lambda: import_module("thetahat.models.neural")._NAMES,
    "thetahat.mathematics.distributions": lambda: (
        import_module("thetahat.mathematics.distributions")._NAMES
    ),
    "thetahat.mathematics.optimizers": lambda: (
        import_module("thetahat.mathematics.optimizers")._NAMES
    ),
}
"""The modules whose names load on first use, and their tables of names."""


def place(module: str) -> Path:
    """The file of a module's stub."""
    beside = Path(import_module(module).__file__)
    return beside.with_suffix(".pyi")


def stub(module: str) -> str:
    """Every name of a lazy module, imported from where it is defined."""
    names = TABLES[module]()
    lines = ["# Written by `python -m tests.public_stub`; do not edit.", ""]
    for name, origin in sorted(names.items(), key=lambda item: (item[1], item[0])):
        if module == "thetahat" and name in _public.NAMESPACES:
            parent, _, own = origin.rpartition(".")
            lines.append(f"from {parent} import {own} as {name}")
        else:
            lines.append(f"from {origin} import {name} as {name}")
    if module == "thetahat":
        lines += ["", "__version__: str"]
    lines += ["", "__all__ = [", *(f'    "{name}",' for name in sorted(names)), "]"]
    return "\n".join(lines) + "\n"


def main():
    for module in TABLES:
        place(module).write_text(stub(module), encoding="utf-8")


if __name__ == "__main__":
    main()
