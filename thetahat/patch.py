"""Run a program written for scikit-learn with the models of this library.

    python -m thetahat.patch script.py [argument ...]
    python -m thetahat.patch -m module [argument ...]

`th.patch_sklearn` is called first; the program then runs as ``python script.py`` runs it.
"""

from __future__ import annotations

import builtins
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

USAGE = "usage: python -m thetahat.patch [--list | script.py | -m module] [argument ...]"


def main(arguments: Sequence[str]) -> int:
    """Patch scikit-learn, and run the program with its arguments. Cost: that of the program."""
    match list(arguments):
        case ["--list"]:
            print(_patch())
        case ["-h" | "--help"]:
            print(f"{__doc__}\n{USAGE}")
        case ["-m", module, *rest]:
            _patch()
            sys.argv = [module, *rest]
            sys.path.insert(0, "")
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        case [script, *rest] if not script.startswith("-"):
            if not Path(script).exists():
                print(f"There is no file {script}. {USAGE}", file=sys.stderr)
                return 2
            _patch()
            sys.argv = [script, *rest]
            _run(script)
        case _:
            print(USAGE, file=sys.stderr)
            return 2
    return 0


def _run(script: str) -> None:
    """Run a file as ``python script`` does, or a folder or archive with its ``__main__``.

    `runpy.run_path` makes ``__file__`` and ``sys.argv[0]`` equal. Python makes only the first of
    them absolute, so that a program finds its files after it changes the folder.
    """
    path = Path(script).absolute()
    if not path.is_dir():
        sys.path.insert(0, str(path.resolve().parent))
    if path.suffix != ".py":
        runpy.run_path(str(path), run_name="__main__")
        return
    module = sys.modules["__main__"] = ModuleType("__main__")
    vars(module).update(__file__=str(path), __builtins__=builtins)
    exec(compile(path.read_bytes(), str(path), "exec"), vars(module))


def _patch() -> object:
    """What was exchanged. Imported here, because scikit-learn takes seconds to load."""
    from thetahat.migration.patching import patch_sklearn

    return patch_sklearn()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
